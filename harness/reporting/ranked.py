"""Columns of verdicts, ranked: one, as of grades, pairs and labels, or several side by side.

The rows of one column have the number with its interval and rank range, each judge's, each turn's
and each category's; the tables and charts show them.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from harness.reporting import charts
from harness.reporting.outcome import Evidence
from harness.reporting.page import Chart, Column, Table, interval_columns, put, row_of
from harness.reporting.section import Section, View, caveats_of, evidence_of, sorted_rows, title
from harness.results import Panel, Ranking, Scores, compare, conversations, summarize
from harness.results.compare import Comparison
from harness.results.gate import Gated
from harness.results.scores import POINTS, SCORE

Rows: TypeAlias = dict[str, dict[str, Any]]
"""Rows by model."""
MANY = 12
"""Models above which --details compares only neighbours."""
BARS = 12
"""Models of which bars are drawn, the first ones."""
Further: TypeAlias = Callable[[Scores], Rows]
"""Returns what else verdicts say of each model, such as wins and losses."""


@dataclass
class Ranked:
    """The rows of one column of a panel, and what is shown of them."""

    panel: Panel
    view: View
    key: str
    """The field of the rows that holds its number."""
    heading: str
    """What stands over it."""
    metric: str = ""
    """The column of the panel (default: the main one)."""
    others: Sequence[str] = ()
    """Columns of the panel whose numbers stand beside it, such as other labels."""
    further: Further = lambda scores: {}
    """Further fields of the rows."""

    def __post_init__(self) -> None:
        """Sum up the column."""
        panel, view = self.panel, self.view
        self.metric = self.metric or panel.metrics[0]
        self.rule = view.aggregates.get(panel.judge_set)
        if self.rule:
            self.key = f"{self.rule}_{'turn' if self.rule in ('first', 'last') else 'of_turns'}"
            self.heading = self.key.replace("_", " ")
        self.scores = self._column(panel.combined)
        self.evidence = evidence_of(panel, view, self.scores)
        self.measure, self.ranking = self.evidence.measure, self.evidence.ranking
        self.judges = panel.judges if len(panel.judges) > 1 and panel.form != "vote" else ()
        self.turns: list[Column] = []
        rows = self._rows_of(panel.combined)
        for model, row in rows.items():
            if len(rows) > 1:
                first, last = self.ranking.ranks.get(model, (None, None))
                rows[model] = {"model": model, "rank_first": first, "rank_last": last, **row}
            if self.ranking.strengths:
                put(rows[model], "strength", self.ranking.strengths[model])
        short = ".1" if self.measure.kind == "grades" else self.measure.form
        groups = self._split(rows, self.scores, view.group, short)
        self.groups = [replace(column, draw="shade") for column in groups]
        self.rows = self.all_rows = sorted_rows(list(rows.values()), view)
        if self.judges:
            together = [{"judge": "all together", **row} for row in self.rows]
            self.all_rows = []
            for judge in self.judges:
                for model, row in self._rows_of(panel.by_judge[judge]).items():
                    self.all_rows.append({"judge": judge, **row})
                    rows[model][f"judge_{judge}"] = row[self.key]
            self.all_rows += together

    def _column(self, scores: Scores) -> Scores:
        column = scores.of(metric=self.metric)
        return conversations(column, self.rule) if self.rule else column

    def _rows_of(self, scores: Scores) -> Rows:
        """Return a row for each ranked model, the best first: number, counts, turns."""
        column, scale = scores.of(metric=self.metric), self.measure.scale
        summaries = {group["model"]: group for group in summarize(self._column(scores))}
        rows: Rows = {name: {"model": name} for name in self.ranking.names if name in summaries}
        for name, row in rows.items():
            summary = summaries[name]
            put(row, self.key, summary.mean, scale)
            row |= {"n": summary.n, "questions": summary.questions, "failed": summary.failed}
        self.turns = self._split(rows, column, "turn", self.measure.form)
        if len(self.turns) > 2:
            for rule in ("first", "last"):
                for group in summarize(conversations(column, rule)):
                    put(rows.get(group["model"], {}), f"{rule}_turn", group.mean, scale)
        for metric in self.others:
            for group in summarize(scores.of(metric=metric)):
                put(rows.get(group["model"], {}), metric, group.mean)
        for name, fields in self.further(scores).items():
            rows.get(name, {}).update(fields)
        return rows

    def _split(self, rows: Rows, scores: Scores, field: str, form: str) -> list[Column]:
        """Put the number of each value of a field into the rows; return the columns, if several."""
        groups = [group for group in summarize(scores, ("model", field)) if group[field]]
        values = dict.fromkeys(str(group[field]) for group in groups)
        if len(values) < 2 and field != "turn":
            return []
        for row in rows.values():
            row |= {f"{field}_{value}": None for value in values}
        for group in groups:
            row = rows.get(group["model"], {})
            put(row, f"{field}_{group[field]}", group.mean, self.measure.scale)
        heads = {value: "" if field == "turn" else value for value in values}
        columns = [Column(f"{field}_{v}", head, form, always=True) for v, head in heads.items()]
        return columns if len(columns) > 1 else []

    def section(self, extra: Sequence[Column] = (), tables: Sequence[Table] = ()) -> Section:
        """Return the section, with columns after the number and tables below that of models."""
        form, field, groups, turns = self.measure.form, self.view.group, self.groups, self.turns
        ends = [replace(column, format=f"interval{column.format}") for column in (*turns, *groups)]
        if len(turns) > 2:
            turns = [Column(key, format=form, always=True) for key in ("first_turn", "last_turn")]
        columns = [
            *[Column("rank", format="ranks", always=True)] * (len(self.rows) > 2),
            Column("model"),
            *interval_columns(self.key, self.heading, form),
            Column("strength", format=".0", always=True),
            *[Column("questions", always=True)] * (self.panel.looks is not None),
            *extra,
            *(Column(n, n.lower().replace("_", " "), form, always=True) for n in self.others),
            *turns,
            *(Column(f"judge_{name}", name, form, always=True) for name in self.judges),
            *[Column("failed", hidden_in_text=True)] * any(row["failed"] for row in self.rows),
            *(replace(column, hidden_in_text=True) for column in groups),
        ]
        main = Table(title(self.panel, self.view), columns, self.rows)
        section = Section(self.panel, [self.evidence], self.all_rows, [main])
        section.caveats = caveats_of(self.panel, self.scores)
        if self.judges and len(self.ranking.complete) > 1:
            self._add_judges(section)
        section.tables += tables
        if groups:
            words = self.heading if self.measure.kind != "grades" else "grades"
            instead = "" if self.view.by else f"By {field}: --by {field}"
            rows = self.rows[:1] if self.evidence.head_to_head else self.rows
            columns = [Column("model", words), *groups]
            section.tables.append(Table("", columns, rows, only="text", instead=instead))
        if ends:
            columns = [Column("model"), *ends]
            section.more.append(Table("95% intervals", columns, self.rows, only="text"))
        section.more += compared(self.ranking, ".0" if self.ranking.strengths else form)
        section.charts = self._charts()
        return section

    def _add_judges(self, section: Section) -> None:
        """Add the difference of the two first models by judge, and a sentence if judges differ."""
        both = first, second = self.ranking.complete[:2]
        rows, better, turns = [], [], self.turns[:2]
        for judge, scores in {"all": self.panel.combined, **self.panel.by_judge}.items():
            column = scores.of(metric=self.metric)
            whole = compare(column, both, looks=self.panel.looks).pairs[0]
            row = row_of({"judge": judge}, difference=whole.difference)
            row |= ends_of(whole)
            for turn in turns:
                part = column.of(turns=[int(turn.key.removeprefix("turn_"))])
                put(row, turn.key, compare(part, both).pairs[0].difference)
            rows.append(row)
            better.append(whole.better)
        columns = [Column("judge", f"{first} less {second}")]
        columns += [*interval_columns("difference", "", self.measure.form), *turns]
        section.tables.append(Table("", columns, rows, name="by_judge"))
        together, *judges = better
        if set(judges) != {together}:
            words = {m: f"called {m} better" if m else "saw no difference" for m in (*both, None)}
            parts = [f"{judges.count(m)} of {len(judges)} {words[m]}" for m in words if m in judges]
            section.remark = f"The judges do not agree on {first} and {second}: {', '.join(parts)}."

    def _charts(self) -> list[Chart]:
        """Return the charts of models and of groups of questions."""
        rows, groups, scale = self.rows, self.groups, self.measure.scale
        name = self.heading if self.heading != "all" else "score"
        label = f"{name} by {self.view.group}"
        number = Column(self.key, format=self.measure.form)
        middle = 0.5 if self.measure.kind == "pairs" else None
        drawn = functools.partial(charts.marks, rows, [number], name, reference=middle)
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
    by_model: Rows = {}
    groups: dict[tuple[Any, ...], dict[str, Any]] = {}
    evidence: list[Evidence] = []
    numbers: list[Column] = []
    for panel in panels:
        main = panel.metrics[0]
        for metric in panel.metrics:
            scores = panel.combined.of(metric=metric)
            column = evidence_of(panel, view, scores, metric)
            if metric == main or not (main in (SCORE, POINTS) or panel.form == "metric"):
                evidence.append(column)  # a total stands for those beside it
            scale = column.measure.scale
            numbers.append(Column(metric, metric, column.measure.form, always=True))
            for summary in column.ranking.models:
                name = summary["model"]
                row = by_model.setdefault(name, {"model": name, "n": 0, "failed": 0})
                put(row, metric, summary.mean, scale)
                first, last = column.ranking.ranks.get(name, (None, None))
                row[f"{metric}_rank_first"], row[f"{metric}_rank_last"] = first, last
                row["n"] = max(row["n"], summary.n)
                row["failed"] += summary.failed
            for summary in summarize(scores, by=("model", view.group)):
                if summary[view.group]:
                    names = dict(zip(summary.by, summary.key, strict=True))
                    put(groups.setdefault(summary.key, names), metric, summary.mean, scale)
    evidence.sort(key=lambda item: -item.questions)
    if len(evidence) == 1:
        evidence = [replace(evidence[0], name="")]
    rows, model = sorted_rows(list(by_model.values()), view), Column("model")
    columns = [model, *numbers, Column("failed", hidden_in_text=True)]
    section = Section(panels[0], evidence, rows, [Table(title(panels[0], view), columns, rows)])
    columns = [model, Column(view.group, always=True), *numbers]
    by_group = Table(f"By {view.group}", columns, list(groups.values()), "groups")
    section.tables.append(by_group if view.by else replace(by_group, only="json"))
    section.caveats = [caveat for panel in panels for caveat in caveats_of(panel, panel.combined)]
    ends = [replace(column, format=f"interval{column.format}") for column in numbers]
    section.more = [Table("95% intervals", [model, *ends], rows, only="text")]
    ends_of_axis = evidence[0].measure.scale or ()
    draw = functools.partial(
        charts.marks, rows[:BARS], numbers, "score", scale=ends_of_axis, bar=True
    )
    section.charts = [Chart("Numbers", draw, "numbers")]
    return section


def ends_of(comparison: Comparison | Gated) -> dict[str, float | None]:
    """Return the ends of the interval that decides a comparison, as fields of its row."""
    low, high = comparison.interval or (None, None)
    return {"difference_low": low, "difference_high": high}


def compared_row(names: Mapping[str, Any], comparison: Comparison | Gated) -> dict[str, Any]:
    """Return a row of two models compared, or of two runs."""
    difference, p_holm = comparison.difference, comparison.p
    row = row_of(names, difference=difference) | ends_of(comparison)
    return row | {"p": difference.p, "p_holm": p_holm, "questions": difference.n}


def compared(ranking: Ranking, form: str) -> list[Table]:
    """Return every two models compared, for --details; of many only neighbours are shown."""
    rows = []
    for pair in ranking.comparisons.pairs:
        models = {"model_1": pair.model_1, "model_2": pair.model_2, "better": pair.better}
        row = compared_row(models, pair)
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
