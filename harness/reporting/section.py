"""One kind of judgments on a page: its rows for programs, its tables for people, what it says.

A section is what one judge set, form, scale and sampling gives (`results.Panel`): grades, pairs,
labels, several criteria, votes or metrics. All are values of the same `summarize`; they differ in
columns and words.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from harness.errors import UsageError
from harness.reporting.outcome import Evidence, Measure
from harness.reporting.page import Chart, Column, Table, counted, listed, percent
from harness.results import Comparison, Estimate, Panel, Ranking, Scores
from harness.results.length_control import Controlled
from harness.results.summarize import Aggregate
from harness.types import UNSTATED

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
"""The field of a row that holds an aggregate."""


@dataclass(frozen=True)
class View:
    """How the judgments are to be shown."""

    bench: str = ""
    by: str | None = None
    """A field to group by; None: category, where the width allows."""
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
        return self.by or "category"

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
    row: dict[str, Any],
    key: str,
    estimate: Estimate | None,
    scale: tuple[float, float] | None = None,
) -> None:
    """Put a number and its interval, which does not leave the scale, into a row."""
    value = None if estimate is None or np.isnan(estimate.value) else estimate.value
    low = high = None
    if estimate is not None and (interval := estimate.interval) is not None:
        least, most = scale or (-np.inf, np.inf)
        low, high = max(interval.low, least), min(interval.high, most)
    row |= {key: value, f"{key}_low": low, f"{key}_high": high}


def interval_columns(key: str, title: str, form: str) -> list[Column]:
    """Return the columns of a number and of its interval."""
    about = "95% confidence interval over questions"
    ends = Column(key, "95% interval", f"interval{form}", about, always=True, draw="whisker")
    return [Column(key, title, form, always=True), ends]


def measure_of(panel: Panel) -> Measure:
    """Return how numbers are written; grades that do not say their scale are from 1 to 10."""
    if panel.form in ("pair", "vote"):
        weighed = panel.method.startswith("logprobs")  # preferences, as alpaca_eval shows them
        return Measure("pairs", (0, 1), places=1 if weighed else 2, percent=weighed)
    if panel.form == "metric":
        return Measure("numbers", places=3)
    if panel.form in ("label", "points"):
        noun = "of the points met" if panel.form == "points" else ""
        return Measure("labels", (0, 1), noun, places=0, percent=True)
    scale, values = panel.scale, panel.scores.value[panel.scores.valid]
    if scale is None and (not len(values) or (values.min() >= 1 and 5 < values.max() <= 10)):
        scale = (1, 10)
    return Measure("grades", scale)


def title(panel: Panel, view: View) -> str:
    """Return what a table is of: benchmark, scale, judges, judge set."""
    who, measure = listed(panel.judges), measure_of(panel)
    ends = "" if measure.scale is None else " from {:g} to {:g}".format(*measure.scale)
    against = f" against {view.baseline}" if view.baseline else ""
    what = {
        "metric": "computed by programs",
        "vote": f"votes of {counted(len(panel.judges), 'person', 'people')}",
        "pair": f"pairs{against} judged by {who}",
        "label": f"labelled by {who}",
        "points": f"checklists read by {who}",
    }
    parts = [view.bench, what.get(panel.form, f"graded{ends} by {who}")]
    parts += ["in percent"] if measure.percent else []
    judged = panel.form not in ("metric", "vote")
    if judged and panel.judge_set not in (UNSTATED, view.bench):
        parts.append(f"judge set {panel.judge_set}")
    if panel.drawn is not None:
        share = percent(panel.drawn, 0 if panel.drawn > 0.02 else 1)
        parts.append(f"{share} of the pairs, drawn at random")
    if view.aggregate is not None:
        parts.append(f"{AGGREGATED[view.aggregate].replace('_', ' ')} of each conversation")
    if judged and len(panel.judges) > 1:
        parts.append("the mean of the judges")
    return ", ".join(parts)


def caveats_of(panel: Panel, scores: Scores) -> list[str]:
    """Return what a reader must know of some of its scores, the most important first."""
    builtin = [judge for judge in panel.judges if judge.startswith("builtin/")]
    total, failed = len(panel.scores), int((~scores.valid).sum())
    outdated = panel.scores.outdated
    caveats = {
        f"Verdicts of {listed(builtin)} are for trying the tool out, not for judging models.": (
            builtin and panel.form != "metric"
        ),
        f"{panel.unknown} of the {total} judgments do not say their judge set.": (
            0 < panel.unknown < total
        ),
        f"Versions {listed(panel.versions)} of the judge set are together.": panel.versions[1:],
        f"Left out: {counted(failed, 'judgment')} without a verdict.": failed,
        f"{counted(panel.left_out, 'judgment')} that not all judges gave are left out.": (
            panel.left_out
        ),
        f"Left out: {counted(outdated, 'judgment')} of questions that are not in the benchmark, "
        "or were changed.": outdated,
    }
    return [caveat for caveat, holds in caveats.items() if holds]


def sorted_rows(rows: list[dict[str, Any]], view: View) -> list[dict[str, Any]]:
    """Return rows by the column of --sort: a field, a category, or a name as text shows it."""
    if view.sort is None or not rows:
        return rows
    names = (view.sort.replace(" ", "_"), f"{view.group}_{view.sort}", f"judge_{view.sort}")
    key = next((name for name in names if name in rows[0]), None)
    if key is None:
        columns = [name for name in rows[0] if not name.endswith(("_low", "_high"))]
        raise UsageError(
            f"--sort {view.sort}: there is no such column; there are {listed(columns, 9)}"
        )
    present = [row for row in rows if row.get(key) is not None]
    present.sort(key=lambda row: row[key], reverse=not isinstance(present[0][key], str))
    return present + [row for row in rows if row.get(key) is None]


def comparison_tables(ranking: Ranking, form: str) -> list[Table]:
    """Return the models compared with each other for --details; of many only neighbours."""
    columns = [
        Column("model_1", "model 1"),
        Column("model_2", "model 2"),
        *interval_columns("difference", "", form),
        Column("p_holm", "p (Holm)", "p", always=True),
        Column("smallest_detectable", "detectable", form),
        Column("questions"),
        Column("opponents"),
    ]
    pairs = ranking.comparisons.pairs
    shown = pairs if len(ranking.names) <= MANY else ranking.neighbours
    what = "by strength, in rating points" if ranking.strengths else "on what both did"
    title = f"Models compared {what}"
    return [
        Table(title, columns, _comparison_rows(shown)),
        Table("", columns, _comparison_rows(pairs), "compared", only="json"),
    ]


def _comparison_rows(pairs: Sequence[Comparison]) -> list[dict[str, Any]]:
    rows = []
    for pair in pairs:
        row: dict[str, Any] = {"model_1": pair.model_1, "model_2": pair.model_2}
        put(row, "difference", pair.difference)
        row |= {"p": pair.difference.p, "p_holm": pair.p, "better": pair.better}
        row |= {"smallest_detectable": pair.difference.detectable, "questions": pair.questions}
        rows.append(row | {"opponents": pair.opponents or None})
    return rows
