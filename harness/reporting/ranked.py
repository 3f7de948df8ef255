"""Columns of verdicts, ranked: one, as of grades, pairs and labels, or several side by side.

The rows of one column have the number with its interval and rank range, each judge's, each turn's
and each category's; the tables and charts show them.
"""

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from harness.errors import UsageError
from harness.reporting import charts
from harness.reporting.outcome import Evidence
from harness.reporting.page import (
    JUDGES,
    METRIC,
    RANK,
    Cell,
    Chart,
    Column,
    Range,
    Row,
    Table,
    interval_columns,
    interval_of,
)
from harness.reporting.section import Section, View, caveats_of, evidence_of, sorted_rows, title
from harness.results import Panel, Ranking, Scores, compare, conversations, summarize
from harness.results.compare import Comparison
from harness.results.gate import Gated
from harness.results.reach import Gap
from harness.results.scores import POINTS, SCORE
from harness.results.summarize import Summary

Key: TypeAlias = tuple[Any, ...]
"""Of a row: its model, and with --by the value of the field."""
Rows: TypeAlias = dict[Key, dict[str, Any]]
MANY = 12
"""Models above which --details compares only neighbours."""
BARS = 12
"""Models of which bars are drawn, the first ones."""
TOTAL = "total"
"""The value, in rows by a field, that stands for all of its values together."""
Further: TypeAlias = Callable[[Scores, Sequence[str]], Rows]
"""Returns what else verdicts say of each group by some fields, such as wins and losses."""


@dataclass
class Ranked:
    """The rows of one column of a panel, and what is shown of them."""

    panel: Panel
    view: View
    number: Column
    """The column of its number."""
    metric: str = ""
    """The metric of the panel (default: the main one)."""
    others: Sequence[str] = ()
    """Metrics of the panel whose numbers stand beside it, such as other labels."""
    further: Further = lambda scores, by: {}
    """Further fields of the rows."""
    extra: Sequence[Column] = ()
    """The columns of these."""

    def __post_init__(self) -> None:
        """Sum up the column."""
        panel, view = self.panel, self.view
        self.metric = self.metric or panel.metrics[0]
        self.rule = view.aggregates.get(panel.judge_set)
        if self.rule:
            end = "turn" if self.rule in ("first", "last") else "of_turns"
            self.number = Column(f"{self.rule}_{end}")
        self.scores = self._of_metric(panel.combined)
        self.evidence = evidence_of(panel, view, self.scores)
        self.measure, self.ranking = self.evidence.measure, self.evidence.ranking
        form = self.measure.form
        self.number = replace(self.number, format=form, always=True)
        self.judges = panel.judges if len(panel.judges) > 1 and panel.form != "vote" else ()
        self.turns: list[Column] = []
        rows = self._summarized(panel.combined)
        for (model,), row in rows.items():
            if len(self.ranking.names) > 1:
                place = self.ranking.ranks.get(model)  # None: not compared
                rows[(model,)] = {"model": model, RANK: place and Range(*place), **row}
            if self.ranking.strengths:
                rows[(model,)]["strength"] = Cell.of(self.ranking.strengths[model])
        short = ".1" if self.measure.kind == "grades" else form
        groups = self._split(rows, self.scores, view.group, short)
        self.groups = [replace(column, draw="shade") for column in groups]
        self.rows = sorted_rows(list(rows.values()), view)
        self.together = self._by_field(self.rows, panel.combined)
        names = {"judge": "all together"} if self.judges else {}
        together = [{**names, **row} for row in self.together]
        self.all_rows: list[Row] = []
        for judge in self.judges:
            of_judge = self._summarized(panel.by_judge[judge])
            by_field = self._by_field(list(of_judge.values()), panel.by_judge[judge])
            self.all_rows += [{"judge": judge, **row} for row in by_field]
            for key, row in of_judge.items():
                Column(JUDGES, of=judge).fill(rows[key], self.number.value(row))
        self.all_rows += together

    def _by_field(self, rows: Sequence[Row], scores: Scores) -> list[Row]:
        """Return the rows for programs: with --by one for each group of each model, all first."""
        field = self.view.by
        if field is None:
            return list(rows)
        return with_total(rows, self._summarized(scores, [field]), field)

    def _of_metric(self, scores: Scores) -> Scores:
        column = scores.of(metric=self.metric)
        return conversations(column, self.rule) if self.rule else column

    def _summarized(self, scores: Scores, by: Sequence[str] = ()) -> Rows:
        """Return a row for each ranked model, the best first, and group: number, counts, turns."""
        column, scale = scores.of(metric=self.metric), self.measure.scale
        fields = ("model", *by)
        focus = self.view.focus
        names = (focus,) if focus else self.ranking.names
        summaries = [
            group
            for group in summarize(self._of_metric(scores), fields)
            if group["model"] in names and group.is_named
        ]
        summaries.sort(key=lambda group: names.index(group["model"]))
        rows: Rows = {group.key: dict(zip(fields, group.key, strict=True)) for group in summaries}
        for group in summaries:
            row = rows[group.key]
            self.number.fill(row, Cell.of(group.mean, scale))
            row |= {"n": group.n, "questions": group.questions, "failed": group.failed}
        if "turn" not in by:
            turns = self._split(rows, column, "turn", self.measure.form, by)
            if not by:
                self.turns = turns
            if len(self.turns) > 2:
                for rule in ("first", "last"):
                    for group in summarize(conversations(column, rule), fields):
                        rows.get(group.key, {})[f"{rule}_turn"] = Cell.of(group.mean, scale)
        for metric in self.others:
            for group in summarize(scores.of(metric=metric), fields):
                Column(METRIC, of=metric).fill(rows.get(group.key, {}), Cell.of(group.mean))
        for key, more in self.further(scores, by).items():
            rows.get(key, {}).update(more)
        return rows

    def _split(
        self, rows: Rows, scores: Scores, field: str, form: str, by: Sequence[str] = ()
    ) -> list[Column]:
        """Put the number of each value of a field into the rows; return the columns, if several."""
        groups = [g for g in summarize(scores, ("model", *by, field)) if g.is_named]
        values = list(dict.fromkeys(str(group[field]) for group in groups))
        if len(values) < 2 and field != "turn":
            return []
        for row in rows.values():
            row[field] = dict.fromkeys(values)
        for group in groups:
            if group.key[:-1] in rows:
                rows[group.key[:-1]][field][str(group[field])] = Cell.of(
                    group.mean, self.measure.scale
                )
        heads = {value: f"turn {value}" if field == "turn" else value for value in values}
        columns = [Column(field, head, form, of=v, always=True) for v, head in heads.items()]
        return columns if len(columns) > 1 else []

    def section(self, tables: Sequence[Table] = ()) -> Section:
        """Return the section, with tables below that of models."""
        form, field, groups, turns = self.measure.form, self.view.group, self.groups, self.turns
        ends = [column.interval for column in (*turns, *groups)]
        if len(turns) > 2:
            turns = [Column(key, format=form, always=True) for key in ("first_turn", "last_turn")]
        labels = [
            Column(METRIC, name.lower().replace("_", " "), form, of=name, always=True)
            for name in self.others
        ]
        columns = [
            *[Column(RANK, always=True)] * (len(self.rows) > 2 or self.view.focus is not None),
            Column("model"),
            self.number,
            interval_of(self.number),
            Column("strength", format=".0", always=True),
            *[Column("questions", always=True)] * (self.panel.looks is not None),
            *self.extra,
            *labels,
            *turns,
            *(Column(JUDGES, name, form, of=name, always=True) for name in self.judges),
            *[Column("failed", hidden_in_text=True)] * any(row["failed"] for row in self.rows),
            *(replace(column, hidden_in_text=True) for column in groups),
        ]
        main = Table(title(self.panel, self.view), columns, self.rows)
        section = Section(self.panel, [self.evidence], self.all_rows, [main])
        section.caveats = caveats_of(self.panel)
        if self.judges and len(self.ranking.complete) > 1 and not self.view.focus:
            self._add_judges(section)
        if self.view.focus in self.ranking.complete:
            section.tables.append(self._others(self.view.focus))
        section.tables += tables
        if self.view.by and self.measure.kind == "labels":
            about = Column(field, field.replace("_", " "), always=True)
            number = [replace(self.number, title=self.number.heading), interval_of(self.number)]
            count = Column("n", "count", always=True)
            columns = [Column("model"), about, *number, *self.extra, *labels, count]
            section.tables.append(Table(f"By {field}", columns, self.together))
        elif groups:
            words = self.number.heading if self.measure.kind != "grades" else "grades"
            instead = "" if self.view.by else f"By {field}: --by {field}"
            rows = self.rows[:1] if self.evidence.head_to_head else self.rows
            columns = [Column("model", words), *groups]
            section.tables.append(Table("", columns, rows, only="text", instead=instead))
        if ends:
            columns = [Column("model"), *ends]
            section.more.append(Table("95% intervals", columns, self.rows, only="text"))
        if self.view.details:
            form = ".0" if self.ranking.strengths else form
            section.more += comparison_tables(self.ranking, form)
        section.charts = self._charts()
        return section

    def _add_judges(self, section: Section) -> None:
        """Add the difference of the two first models by judge."""
        both = first, second = self.ranking.complete[:2]
        rows, turns = [], self.turns[:2]
        for judge, scores in {"all": self.panel.combined, **self.panel.by_judge}.items():
            column = scores.of(metric=self.metric)
            whole = compare(column, both, looks=self.panel.looks).pairs[0]
            row = {"judge": judge, "difference": change_of(whole)}
            for turn in turns:
                part = column.of(turns=[int(turn.of)])
                turn.fill(row, change_of(compare(part, both).pairs[0]))
            rows.append(row)
        columns = [Column("judge", f"{first} less {second}")]
        columns += [*interval_columns("difference", "", self.measure.form), *turns]
        section.tables.append(Table("", columns, rows, name="by_judge"))

    def _others(self, model: str) -> Table:
        """Return one model compared with each of the others, M - 1 tests."""
        rows = []
        for pair in self.ranking.comparisons.against(model):
            verdict = "not decided"
            if pair.better is not None:
                verdict = "better" if pair.better == model else "worse"
            rows.append({**comparison_row({"model": pair.model_2}, pair), "verdict": verdict})
        form = ".0" if self.ranking.strengths else self.measure.form
        columns = [
            Column("model", f"{model} less"),
            *interval_columns("difference", "", form),
            Column("verdict", always=True),
        ]
        return Table("", columns, rows, name="against_others")

    def _charts(self) -> list[Chart]:
        """Return the charts of models and of groups of questions."""
        rows, groups, scale = self.rows, self.groups, self.measure.scale
        name = self.number.heading if self.number.heading != "all" else "score"
        label = f"{name} by {self.view.group}"
        middle = 0.5 if self.measure.kind == "pairs" else None
        drawn = functools.partial(charts.marks, rows, [self.number], name, reference=middle)
        pictures = [Chart(name.capitalize(), drawn, "scores", in_table=True)]
        if groups:
            drawn = functools.partial(charts.heat_map, rows, groups, label)
            pictures.append(Chart(label.capitalize(), drawn, "categories", in_table=True))
        if len(groups) > 2 and scale is not None:
            drawn = functools.partial(charts.radar, rows, groups, label, scale=scale)
            pictures.append(Chart(f"{label.capitalize()}, the first models", drawn, "radar"))
        return pictures


def several(panels: Sequence[Panel], view: View) -> Section:
    """Return the section of criteria, dimensions or metrics; of metrics several panels together."""
    by_model: dict[str, dict[str, Any]] = {}
    by_group: Rows = {}
    evidence: list[Evidence] = []
    numbers: list[Column] = []
    each: list[dict[str, Any]] = []  # for programs, with --by: a row for each number
    group = view.group
    for panel in panels:
        main, apart = panel.metrics[0], panel.form in ("grade", "metric")
        for metric in panel.metrics:
            scores = panel.combined.of(metric=metric)
            item = evidence_of(panel, view, scores, metric)
            if metric == main or not (main in (SCORE, POINTS) or panel.form == "metric"):
                evidence.append(item)  # a total stands for those beside it
            column = Column(METRIC, metric, item.measure.form, of=metric, always=True)
            numbers.append(column)
            for summary in item.ranking.models:
                name = summary["model"]
                row = by_model.setdefault(name, {"model": name, "n": 0, "failed": 0})
                one = _add_summary(row, column, summary, item.measure.scale, apart=apart)
                place = item.ranking.ranks.get(name)
                ranks = place and Range(*place)
                row.setdefault(RANK, {})[metric] = ranks
                each.append({"model": name, group: TOTAL, METRIC: metric, **one, RANK: ranks})
            for summary in summarize(scores, by=("model", group)):
                if summary.is_named:
                    names = dict(zip(summary.by, summary.key, strict=True))
                    row = by_group.setdefault(summary.key, {**names, "n": 0, "failed": 0})
                    one = _add_summary(row, column, summary, item.measure.scale, apart=apart)
                    each.append({**names, METRIC: metric, **one})
    evidence.sort(key=lambda item: -item.questions)
    if len(evidence) == 1:
        evidence = [replace(evidence[0], name="")]
    rows, model = sorted_rows(list(by_model.values()), view), Column("model")
    groups = with_total(rows, by_group, group)
    columns = [model, *numbers, Column("failed", hidden_in_text=True)]
    places = {(row["model"], row[group]): place for place, row in enumerate(groups)}
    each.sort(key=lambda row: places[row["model"], row[group]])
    all_rows = each if view.by else rows
    section = Section(panels[0], evidence, all_rows, [Table(title(panels[0], view), columns, rows)])
    columns = [model, Column(group, always=True), *numbers]
    table = Table(f"By {group}", columns, groups)
    every = Table(f"By {group}", columns, list(by_group.values()), "groups", only="json")
    section.tables += [table, every] if view.by else [every]
    section.caveats = [caveat for panel in panels for caveat in caveats_of(panel)]
    ends = [column.interval for column in numbers]
    section.more = [Table("95% intervals", [model, *ends], rows, only="text")]
    scale = evidence[0].measure.scale or ()
    draw = functools.partial(charts.marks, rows[:BARS], numbers, "score", scale=scale, bar=True)
    section.charts = [Chart("Numbers", draw, "numbers")]
    for value in dict.fromkeys(key[-1] for key in by_group):
        some = [row for key, row in by_group.items() if key[-1] == value][:BARS]
        judged = [c for c in numbers if any(c.value(row) is not None for row in some)]
        draw = functools.partial(charts.marks, some, judged, str(value), scale=scale, bar=True)
        section.charts.append(Chart(f"{group}: {value}", draw, f"{group}_{value}"))
    return section


def _add_summary(
    row: dict[str, Any],
    column: Column,
    summary: Summary,
    scale: tuple[float, float] | None,
    *,
    apart: bool,
) -> dict[str, Any]:
    """Put the number of a criterion or metric into a row, with its counts; return it alone.

    `apart`: each of the row's numbers is a judgment of its own.
    """
    number = Cell.of(summary.mean, scale)
    column.fill(row, number)
    row["n"] = max(row["n"], summary.n)
    row["failed"] = row["failed"] + summary.failed if apart else max(row["failed"], summary.failed)
    return {"average": number, "n": summary.n, "failed": summary.failed}


def with_total(rows: Sequence[Row], groups: Rows, field: str) -> list[Row]:
    """Return a row for each group of each model, after the one of all its groups together.

    Raises:
        UsageError: a question has the value that stands for all.
    """
    if any(key[-1] == TOTAL for key in groups):
        raise UsageError(f"--by {field}: a question has the value {TOTAL!r}; rename it")
    if any(row[field] != key[-1] for key, row in groups.items()):
        raise UsageError(f"--by {field}: every row has a field of this name already; rename it")
    by_group: list[Row] = []
    for row in rows:
        whole = {key: value for key, value in row.items() if key != field}
        by_group.append({"model": row["model"], field: TOTAL, **whole})
        by_group += [group for key, group in groups.items() if key[0] == row["model"]]
    return by_group


def change_of(comparison: Comparison | Gated | Gap) -> Cell:
    """Return the difference of two models or runs, with the interval that decides."""
    difference = comparison.difference
    if math.isnan(difference.value):
        return Cell(None)
    return Cell(difference.value, *(comparison.interval or ()))


def comparison_row(names: Mapping[str, Any], comparison: Comparison | Gated) -> dict[str, Any]:
    """Return a row of two models compared, or of two runs."""
    difference, p_holm = comparison.difference, comparison.p
    row = {**names, "difference": change_of(comparison)}
    return row | {"p": difference.p, "p_holm": p_holm, "questions": difference.n}


def comparison_tables(ranking: Ranking, form: str) -> list[Table]:
    """Return every two models compared, for --details; of many only neighbours are shown."""
    rows = []
    for pair in ranking.comparisons.pairs:
        models = {"model_1": pair.model_1, "model_2": pair.model_2, "better": pair.better}
        row = comparison_row(models, pair)
        rows.append(row | {"opponents": pair.opponents or None})
    columns = [
        Column("model_1", "model 1"),
        Column("model_2", "model 2"),
        *interval_columns("difference", "", form),
        Column("p_holm", "p (Holm)", "p", always=True),
        Column("questions"),
    ]
    what = "by strength, in rating points" if ranking.strengths else "on what both did"
    neighbours = {(pair.model_1, pair.model_2) for pair in ranking.neighbours}
    many = len(ranking.names) > MANY
    shown = [row for row in rows if not many or (row["model_1"], row["model_2"]) in neighbours]
    every = Table("", columns, rows, "compared", only="json")
    return [Table(f"Models compared {what}", columns, shown), every]
