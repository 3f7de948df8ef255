"""One kind of judgments on a page: its rows for programs, its tables for people, what it says.

A section is what one judge set, form, scale and sampling gives (`results.Panel`): grades, pairs,
labels, several criteria, votes or metrics. All are values of the same `summarize`; they differ in
columns and words.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from harness.errors import UsageError
from harness.reporting.outcome import Evidence, Measure
from harness.reporting.page import Chart, Column, Table, counted, listed
from harness.results import Comparison, Estimate, Panel, Ranking, Scores
from harness.results.length_control import Controlled
from harness.results.summarize import Aggregate
from harness.types import UNSTATED

Rows: TypeAlias = dict[str, dict[str, Any]]
"""Rows by model."""
Scale: TypeAlias = tuple[float, float]

MANY = 12
"""Models above which --details compares only neighbours, and bars show the first."""
KINDS = {
    "grade": "grades",
    "dimensions": "grades",
    "pair": "pairs",
    "vote": "votes",
    "label": "labels",
    "points": "checklists",
    "metric": "numbers",
}
"""What people call the verdicts of a form."""

AGGREGATED = {
    "mean": "mean_of_turns",
    "min": "min_of_turns",
    "first": "first_turn",
    "last": "last_turn",
}
HEADINGS = {
    "average": "score",
    "mean_of_turns": "mean of turns",
    "min_of_turns": "lowest turn",
    "first_turn": "first turn",
    "last_turn": "last turn",
}


@dataclass(frozen=True)
class View:
    """How the judgments are to be shown."""

    bench: str = ""
    by: tuple[str, ...] = ()
    """Fields to group by; none: category, where the width allows."""
    models: tuple[str, ...] = ()
    baseline: str | None = None
    aggregate: Aggregate | None = None
    """One number a conversation; None: all turns pooled."""
    aggregates: Mapping[str, Aggregate] = field(default_factory=dict)
    """What judge sets say of it, by name."""
    sort: str | None = None
    details: bool = False
    noun: str = "question"
    controlled: Mapping[str, Controlled] = field(default_factory=dict)
    """Win rates at equal length."""

    @property
    def group(self) -> str:
        """The field of the tables by group."""
        return next(iter(self.by), "category")

    def on(self, panel: Panel) -> "View":
        """Return the view of a panel, with what its judge set says."""
        return replace(self, aggregate=self.aggregate or self.aggregates.get(panel.judge_set))


@dataclass
class Section:
    """One kind of judgments, ready for a page."""

    panel: Panel
    evidence: list[Evidence]
    """One for each column that is ranked; the first is the main one."""
    rows: list[dict[str, Any]]
    tables: list[Table]
    charts: list[Chart] = field(default_factory=list)
    more: list[Table] = field(default_factory=list)
    """For --details."""
    caveats: list[str] = field(default_factory=list)
    """What a reader must know, the most important first."""
    said: str = ""
    """A sentence after the outcome: flips, judges that do not agree."""

    @property
    def ranking(self) -> Ranking:
        """The main column's."""
        return self.evidence[0].ranking

    @property
    def trial(self) -> bool:
        """Whether its judges are built-in ones, for trying the tool out."""
        return all(judge.startswith("builtin/") for judge in self.panel.judges)

    @property
    def kind(self) -> str:
        """What it is of: grades, pairs, labels, …"""
        return KINDS.get(self.panel.form, self.panel.form)


def put(
    row: dict[str, Any], key: str, estimate: Estimate | None, scale: Scale | None = None
) -> None:
    """Put a number and its interval, which does not leave the scale, into a row."""
    value = None if estimate is None or np.isnan(estimate.value) else estimate.value
    ends: tuple[float | None, float | None] = (None, None)
    if estimate is not None and (interval := estimate.interval) is not None:
        least, most = scale or (-np.inf, np.inf)
        ends = max(interval.low, least), min(interval.high, most)
    row |= {key: value, f"{key}_low": ends[0], f"{key}_high": ends[1]}


def measure_of(panel: Panel, scores: Scores) -> tuple[Measure, str]:
    """Return how numbers are said in words, and how columns write them."""
    if panel.form == "metric":
        return Measure("numbers", places=3), ".3"
    if panel.form == "label":
        return Measure("labels", places=0, percent=True), "%"
    scale = scale_of(panel, scores)
    if panel.form == "points":
        return Measure("labels", noun="of the points met", places=0, percent=True), "%"
    return Measure("grades", top=None if scale is None else scale[1]), ".2"


def scale_of(panel: Panel, scores: Scores) -> tuple[float, float] | None:
    """Return the scale of grades; of rows that do not say it 1 to 10, if that can be."""
    if panel.scale is not None or panel.form not in ("grade", "dimensions"):
        return panel.scale
    valid = scores.value[scores.valid]
    within = not len(valid) or (valid.min() >= 1 and 5 < valid.max() <= 10)
    return (1, 10) if within else None


def title(panel: Panel, view: View, scores: Scores) -> str:
    """Return what a table is of: benchmark, scale, judges, judge set."""
    parts = [view.bench]
    who = listed(panel.judges)
    if panel.form == "metric":
        parts.append("computed by programs")
    elif panel.form == "vote":
        parts.append(f"votes of {counted(len(panel.judges), 'person', 'people')}")
    elif panel.form == "pair":
        against = f" against {view.baseline}" if view.baseline else ""
        percent = ", in percent" if panel.method.startswith("logprobs") else ""
        parts.append(f"pairs{against} judged by {who}{percent}")
    elif panel.form == "label":
        parts.append(f"labelled by {who}, in percent")
    else:
        scale = scale_of(panel, scores)
        ends = "" if scale is None else f" from {scale[0]:g} to {scale[1]:g}"
        parts.append(f"graded{ends} by {who}")
    if panel.judge_set not in (UNSTATED, view.bench) and panel.form not in ("metric", "vote"):
        parts.append(f"judge set {panel.judge_set}")
    if view.aggregate is not None:
        parts.append(f"{HEADINGS[AGGREGATED[view.aggregate]]} of each conversation")
    if len(panel.judges) > 1 and panel.form not in ("vote", "metric"):
        what = "" if panel.form == "label" else '"all" is '
        parts.append(f"{what}the mean of the judges")
    return ", ".join(parts)


def caveats_of(panel: Panel, scores: Scores) -> list[str]:
    """Return what a reader must know of these judgments, the most important first."""
    caveats = []
    builtin = [judge for judge in panel.judges if judge.startswith("builtin/")]
    if builtin and panel.form != "metric":
        caveats.append(
            f"Verdicts of {listed(builtin)} are for trying the tool out, not for judging models."
        )
    if panel.unknown and panel.unknown < len(panel.scores):
        caveats.append(
            f"{panel.unknown} of the {len(panel.scores)} judgments do not say their judge set."
        )
    if len(panel.versions) > 1:
        caveats.append(f"Versions {' and '.join(panel.versions)} of the judge set are together.")
    failed = int((~scores.valid).sum())
    if failed:
        caveats.append(f"Left out: {counted(failed, 'judgment')} without a verdict.")
    if panel.left_out:
        caveats.append(
            f"{counted(panel.left_out, 'judgment')} that not all judges gave are left out."
        )
    if panel.scores.outdated:
        caveats.append(
            f"Left out: {counted(panel.scores.outdated, 'judgment')} of questions that are not in "
            "the benchmark, or were changed."
        )
    return caveats


def sorted_rows(rows: list[dict[str, Any]], view: View) -> list[dict[str, Any]]:
    """Return rows by the column of --sort: a field, a category, or a name as text shows it."""
    if view.sort is None:
        return rows
    field_name = view.sort.replace(" ", "_")
    names = (field_name, f"{view.group}_{view.sort}", f"judge_{view.sort}")
    key = next((name for name in names if any(name in row for row in rows)), None)
    if key is None:
        columns = [name for name in rows[0] if not name.endswith(("_low", "_high"))] if rows else []
        raise UsageError(
            f"--sort {view.sort}: there is no such column; there are {listed(columns, 9)}"
        )
    words = any(isinstance(row.get(key), str) for row in rows)
    present = [row for row in rows if row.get(key) is not None]
    present.sort(key=lambda row: row[key], reverse=not words)
    return present + [row for row in rows if row.get(key) is None]


def comparison_tables(ranking: Ranking, form: str) -> list[Table]:
    """Return the models compared with each other for --details; of many only neighbours."""
    pairs = ranking.comparisons.pairs
    if not pairs:
        return []
    rows = [comparison_row(pair) for pair in pairs]
    columns = [
        Column("model_1", "model 1"),
        Column("model_2", "model 2"),
        Column("difference", format=form, always=True),
        Column("difference", "95% interval", f"interval{form}", always=True),
        Column("p_holm", "p (Holm)", "p", always=True),
        Column("smallest_detectable", "detectable", form),
        Column("questions"),
        Column("opponents"),
    ]
    if len(ranking.names) > MANY:
        shown = [comparison_row(pair) for pair in ranking.neighbours]
        title = "Each model compared with the next one"
        return [
            Table(title, columns, shown),
            Table("", columns, rows, name="compared", only="json"),
        ]
    what = "by strength, in rating points" if ranking.strengths else "on what both did"
    return [Table(f"Each two models compared {what}", columns, rows, name="compared")]


def comparison_row(pair: Comparison) -> dict[str, Any]:
    """Return a row about two models compared."""
    row: dict[str, Any] = {"model_1": pair.model_1, "model_2": pair.model_2}
    put(row, "difference", pair.difference if pair.questions else None)
    return row | {
        "p": pair.difference.p,
        "p_holm": pair.p,
        "better": pair.better,
        "smallest_detectable": pair.difference.detectable,
        "questions": pair.questions,
        "opponents": pair.opponents or None,
    }
