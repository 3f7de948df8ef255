"""One kind of judgments on a page: its rows for programs, its tables for people, what it says.

A section is what one judge set, form, scale and sampling gives (`results.Panel`): grades, pairs,
labels, several criteria, votes or metrics. All are values of the same `summarize`; they differ in
columns and words.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from harness.errors import UsageError
from harness.reporting import charts
from harness.reporting.charts import Mark
from harness.reporting.outcome import Evidence, Measure
from harness.reporting.page import Chart, Column, Note, Row, Table, counted, listed
from harness.results import (
    Comparison,
    Estimate,
    Panel,
    Ranking,
    Scores,
    conversations,
    summarize,
)
from harness.results.summarize import Aggregate
from harness.types import UNSTATED

MANY = 12
"""Models above which --details compares only neighbours, and charts show the first."""
KINDS = {"grade": "grades", "pair": "pairs", "vote": "votes", "metric": "numbers"}
"""What people call the verdicts of a form."""


@dataclass(frozen=True)
class View:
    """How the judgments are to be shown."""

    bench: str = ""
    by: tuple[str, ...] = ()
    """Fields to group by; none: category, where the width allows."""
    models: tuple[str, ...] = ()
    baseline: str | None = None
    aggregate: Aggregate | None = None
    sort: str | None = None
    details: bool = False
    noun: str = "question"

    @property
    def group(self) -> str:
        """The field of the tables by group."""
        return next((name for name in self.by if name != "turn"), "category")


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
    def kind(self) -> str:
        """What it is of: grades, pairs, labels, …"""
        return KINDS.get(self.panel.form, self.panel.form)


# Columns that several kinds share


def put(row: dict[str, Any], key: str, estimate: Estimate | None) -> None:
    """Put a number and its interval into a row."""
    value = None if estimate is None or np.isnan(estimate.value) else estimate.value
    interval = None if estimate is None else estimate.interval
    row[key] = value
    row[f"{key}_low"], row[f"{key}_high"] = interval or (None, None)


def base_rows(ranking: Ranking) -> dict[str, dict[str, Any]]:
    """Return a row for each model, in the order of ranks."""
    ranked = len(ranking.names) > 1
    rows = {}
    for name in ranking.names:
        rank_of = ranking.ranks[name]
        ends = {"rank_first": rank_of.first, "rank_last": rank_of.last} if ranked else {}
        rows[name] = {"model": name, **ends}
    return rows


def put_turns(rows: dict[str, dict[str, Any]], scores: Scores) -> list[int]:
    """Put the number of each turn into the rows; return the turns.

    Of conversations of more than two turns also that of the first and of the last one.
    """
    found = summarize(scores, by=("model", "turn"))
    turns = sorted({own["turn"] for own in found})
    for row in rows.values():
        row |= {f"turn_{turn}": None for turn in turns}
    for own in found:
        if own["model"] in rows and own.n:
            put(rows[own["model"]], f"turn_{own['turn']}", own.mean)
    if len(turns) > 2:
        rules: tuple[Aggregate, ...] = ("first", "last")
        for rule in rules:
            for own in summarize(conversations(scores, rule)):
                if own["model"] in rows and own.n:
                    put(rows[own["model"]], f"{rule}_turn", own.mean)
    return turns


def turn_columns(turns: Sequence[int], form: str) -> list[Column]:
    """Return turn 1 and turn 2; of longer conversations the first and the last."""
    if len(turns) == 2:
        return [Column(f"turn_{turn}", f"turn {turn}", form, always=True) for turn in turns]
    if len(turns) > 2:
        return [Column(f"{rule}_turn", f"{rule} turn", form) for rule in ("first", "last")]
    return []


def put_groups(rows: dict[str, dict[str, Any]], scores: Scores, field_name: str) -> list[str]:
    """Put the number of each group of questions into the rows; return the groups."""
    found = summarize(scores, by=("model", field_name))
    names = [str(name) for name in dict.fromkeys(own[field_name] for own in found) if name]
    for own in found:
        if own["model"] in rows and own[field_name]:
            put(rows[own["model"]], f"{field_name}_{own[field_name]}", own.mean)
    return names


def group_table(
    section_kind: str, rows: Sequence[Row], names: Sequence[str], view: View, form: str
) -> list[Table]:
    """Return the table by category for text; with --by it is divided where it is too wide."""
    asked = bool(view.by)
    if len(names) < 2:
        return []
    columns = [Column("model", section_kind)]
    columns += [Column(f"{view.group}_{name}", name, form, always=True) for name in names]
    instead = None if asked else Note("", f"By {view.group}: --by {view.group}")
    return [Table("", columns, rows, only="text", instead=instead)]


def rank_column(ranking: Ranking) -> list[Column]:
    """Return the column of rank ranges, from three models on."""
    return [Column("rank", format="ranks", always=True)] if len(ranking.names) > 2 else []


def shaded_columns(names: Sequence[str], group: str, form: str) -> list[Column]:
    """Return the columns by group that HTML shades."""
    return [
        Column(f"{group}_{name}", name, form, draw="shade", hidden_in_text=True) for name in names
    ]


def sorted_rows(rows: list[dict[str, Any]], view: View) -> list[dict[str, Any]]:
    """Return rows by the column of --sort: a field, a category, or a name as text shows it."""
    if view.sort is None:
        return rows
    wanted = view.sort.replace(" ", "_")
    names = (wanted, f"{view.group}_{view.sort}", f"judge_{view.sort}")
    key = next((name for name in names if any(name in row for row in rows)), None)
    if key is None:
        known = [name for name in rows[0] if not name.endswith(("_low", "_high"))] if rows else []
        raise UsageError(
            f"--sort {view.sort}: there is no such column; there are {listed(known, 9)}"
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
        Column("p_holm", "p (Holm)", always=True),
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
    return [Table("Each two models compared on what both did", columns, rows, name="compared")]


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


def measure_of(panel: Panel, scores: Scores) -> tuple[Measure, str]:
    """Return how numbers are said in words, and how columns write them."""
    if panel.form == "metric":
        return Measure("numbers", places=3), ".3"
    if panel.form == "label":
        return Measure("labels"), "%"
    scale = scale_of(panel, scores)
    if panel.form == "points":
        return Measure("labels", noun="of the points met"), "%"
    return Measure("grades", top=None if scale is None else scale[1]), ".2"


def scale_of(panel: Panel, scores: Scores) -> tuple[float, float] | None:
    """Return the scale of grades; of rows that do not say it 1 to 10, if that can be."""
    if panel.scale is not None or panel.form not in ("grade", "dimensions"):
        return panel.scale
    valid = scores.value[scores.valid]
    within = not len(valid) or (valid.min() >= 1 and 5 < valid.max() <= 10)
    return (1, 10) if within else None


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


def questions_of(scores: Scores) -> int:
    """Return how many questions have a verdict."""
    return len(np.unique(scores.question[scores.valid]))


def put_judges(
    rows: dict[str, dict[str, Any]], panel: Panel, metric: str, key: str, view: View
) -> list[str]:
    """Put each judge's number into the rows; return the judges, if there are several."""
    if len(panel.judges) < 2:
        return []
    for judge, scores in panel.by_judge.items():
        own = scores.of(metric=metric)
        own = own if view.aggregate is None else conversations(own, view.aggregate)
        for group in summarize(own, by=("model",)):
            if group["model"] in rows:
                rows[group["model"]][f"judge_{judge}"] = group.mean.value if group.n else None
    return list(panel.judges)


def rows_by_judge(
    rows: Sequence[dict[str, Any]], panel: Panel, metric: str, view: View
) -> list[dict[str, Any]]:
    """Return the rows for programs: of a panel one for each judge, and one for all together."""
    if len(panel.judges) < 2:
        return list(rows)
    by_judge: dict[str, dict[str, dict[str, Any]]] = {}
    for judge, scores in panel.by_judge.items():
        own = scores.of(metric=metric)
        by_judge[judge] = {}
        for group in summarize(own, by=("model",)):
            row = {"model": group["model"], "judge": judge}
            put(row, "average", group.mean)
            by_judge[judge][group["model"]] = row | {"n": group.n, "failed": group.failed}
        put_turns(by_judge[judge], own)
    found = []
    for row in rows:
        model = row["model"]
        found += [by_judge[judge][model] for judge in panel.judges if model in by_judge[judge]]
        plain = {name: value for name, value in row.items() if not name.startswith("judge_")}
        found.append({"model": model, "judge": "all together", **plain})
    return found


def interval_tables(
    rows: Sequence[Row], turns: Sequence[int], groups: Sequence[str], view: View, form: str
) -> list[Table]:
    """Return the intervals by turn and by group, for --details."""
    found = []
    for what, names in (
        ("turn", [f"turn_{turn}" for turn in turns if len(turns) > 1]),
        (view.group, [f"{view.group}_{name}" for name in groups]),
    ):
        if names:
            headings = [name.partition("_")[2] if what != "turn" else "" for name in names]
            columns = [Column("model")]
            columns += [
                Column(name, heading, f"interval{form}", always=True)
                for name, heading in zip(names, headings, strict=True)
            ]
            found.append(Table(f"95% intervals by {what}", columns, rows, only="text"))
    return found


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
        parts.append(f"pairs{against} judged by {who}")
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
        parts.append("`all` is the mean of the judges")
    return ", ".join(parts)


def caveats_of(panel: Panel, scores: Scores) -> list[str]:
    """Return what a reader must know of these judgments, the most important first."""
    found = []
    builtin = [judge for judge in panel.judges if judge.startswith("builtin/")]
    if builtin and panel.form != "metric":
        found.append(
            f"Verdicts of {listed(builtin)} are for trying the tool out, not for judging models."
        )
    if panel.unknown and panel.unknown < len(panel.scores):
        found.append(
            f"{panel.unknown} of the {len(panel.scores)} judgments do not say their judge set."
        )
    if len(panel.versions) > 1:
        found.append(f"Versions {' and '.join(panel.versions)} of the judge set are together.")
    failed = int((~scores.valid).sum())
    if failed:
        found.append(f"Left out: {counted(failed, 'judgment')} without a verdict.")
    if panel.left_out:
        found.append(
            f"{counted(panel.left_out, 'judgment')} that not all judges gave are left out."
        )
    if panel.scores.outdated:
        found.append(
            f"Left out: {counted(panel.scores.outdated, 'judgment')} of questions that are not in "
            "the benchmark, or were changed."
        )
    return found


def charts_of(
    rows: Sequence[Row],
    key: str,
    groups: Sequence[str],
    view: View,
    measure: Measure,
    scale: tuple[float, float] | None,
    ranking: Ranking,
) -> list[Chart]:
    """Return the charts of one column: models, categories, pairs."""
    percent = measure.kind in ("labels", "pairs")
    name = "win rate" if measure.kind == "pairs" else measure.noun or "score"
    marks = {row["model"]: mark_of(row, key) for row in rows}
    reference = 0.5 if measure.kind == "pairs" else None
    draw = functools.partial(charts.dots, marks, name, percent=percent, reference=reference)
    found = [Chart(name.capitalize(), draw, "scores")]
    cells = {
        (row["model"], group): row[f"{view.group}_{group}"]
        for row in rows
        for group in groups
        if row.get(f"{view.group}_{group}") is not None
    }
    label = f"{name} by {view.group}"
    if len(groups) > 1:
        draw = functools.partial(
            charts.heat_map,
            list(marks),
            groups,
            cells,
            label,
            percent=percent,
            places=0 if percent else 1,
        )
        found.append(Chart(label.capitalize(), draw, "categories"))
    if len(groups) > 2 and len({model for model, _ in cells} or ()) > 1:
        series = {
            model: {group: cells[model, group] for group in groups if (model, group) in cells}
            for model in list(marks)[:4]
        }
        ends = (0.0, 1.0) if percent else scale
        if ends is not None:
            draw = functools.partial(charts.radar, series, label, scale=ends)
            found.append(Chart(f"{label.capitalize()}, the first models", draw, "radar"))
    if len(ranking.names) > 2 and measure.kind == "grades":
        values = {}
        for pair in ranking.comparisons.pairs:
            if pair.questions:
                values[pair.model_1, pair.model_2] = pair.difference.value
                values[pair.model_2, pair.model_1] = -pair.difference.value
        names = ranking.names
        said = "the row's model less the column's"
        draw = functools.partial(charts.heat_map, names, names, values, said, middle=0.0)
        found.append(Chart("Differences", draw, "differences"))
    return found


def mark_of(row: Row, key: str) -> Mark:
    """Return a number of a row with its interval, for charts."""
    return Mark(row.get(key), row.get(f"{key}_low"), row.get(f"{key}_high"))
