"""One column of verdicts, ranked: what grades, pairs and labels have in common on a page.

The rows have the number with its interval and rank range, each judge's, each turn's and each
category's; the tables, charts and evidence are made of them.
"""

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from harness.reporting import charts
from harness.reporting.charts import Mark
from harness.reporting.outcome import Evidence
from harness.reporting.page import Chart, Column, Row, Table
from harness.reporting.section import (
    Section,
    View,
    caveats_of,
    interval_columns,
    measure_of,
    put,
    row_of,
    sorted_rows,
    title,
)
from harness.results import Panel, Ranking, Scores, Summary, compare, conversations, rank, summarize

Rows: TypeAlias = dict[str, dict[str, Any]]
"""Rows by model."""
Further: TypeAlias = Callable[[Scores], Rows]
"""Returns what else verdicts say of each model, such as wins and losses."""
MANY = 12
"""Models above which --details compares only neighbours, and bars show the first."""


class Ranked:
    """The rows of one column of a panel, and what is shown of them."""

    def __init__(
        self,
        panel: Panel,
        view: View,
        key: str,
        heading: str,
        *,
        metric: str = "",
        further: Further = lambda scores: {},
    ) -> None:
        """Sum up a column.

        Args:
            panel: whose verdicts.
            view: how they are to be shown.
            key: the field of the rows that holds its number.
            heading: what stands over it.
            metric: the column of the panel (default: the main one).
            further: further fields of the rows.
        """
        self.panel, self.view, self.further = panel, view, further
        self.key, self.heading, self.metric = key, heading, metric or panel.metrics[0]
        self.rule = view.aggregates.get(panel.judge_set)
        if self.rule:
            self.key = f"{self.rule}_{'turn' if self.rule in ('first', 'last') else 'of_turns'}"
            self.heading = self.key.replace("_", " ")
        self.measure = measure_of(panel)
        self.scores = self._column(panel.combined)
        self.ranking = rank(
            self.scores,
            models=view.models or None,
            baseline=view.baseline,
            drawn=panel.drawn is not None and view.baseline is None,
            looks=panel.looks,
        )
        if view.common:
            self.ranking = replace(self.ranking, missing=())
        self.turns: list[int] = np.unique(panel.combined.of(metric=self.metric).turn).tolist()
        self.judges = panel.judges if len(panel.judges) > 1 and panel.form != "vote" else ()
        rows = self._rows_of(panel.combined)
        for model, row in rows.items():
            if len(rows) > 1:
                first, last = self.ranking.ranks[model]
                rows[model] = {"model": model, "rank_first": first, "rank_last": last, **row}
            if self.ranking.strengths:
                put(rows[model], "strength", self.ranking.strengths[model])
        by_group = [
            group for group in summarize(self.scores, ("model", view.group)) if group[view.group]
        ]
        self.groups = list(dict.fromkeys(str(group[view.group]) for group in by_group))
        if len(self.groups) < 2:
            self.groups = []
        else:
            self._put(rows, f"{view.group}_{{}}", by_group)
        self.rows = self.all_rows = sorted_rows(list(rows.values()), view)
        if self.judges:
            by_judge = {judge: self._rows_of(panel.by_judge[judge]) for judge in self.judges}
            self.all_rows = [
                {"judge": judge, **row} for judge, own in by_judge.items() for row in own.values()
            ]
            self.all_rows += [{"judge": "all together", **row} for row in self.rows]
            for judge, own in by_judge.items():
                for model, row in own.items():
                    rows[model][f"judge_{judge}"] = row[self.key]

    def _column(self, scores: Scores) -> Scores:
        column = scores.of(metric=self.metric)
        return conversations(column, self.rule) if self.rule else column

    def _rows_of(self, scores: Scores) -> Rows:
        """Return a row for each ranked model, the best first: number, counts, turns."""
        rows: Rows = {name: {"model": name} for name in self.ranking.names}
        summaries = {group["model"]: group for group in summarize(self._column(scores))}
        self._put(rows, self.key, list(summaries.values()))
        rows = {name: row for name, row in rows.items() if name in summaries}
        for name, row in rows.items():
            summary = summaries[name]
            row |= {"n": summary.n, "questions": summary.questions, "failed": summary.failed}
            row |= {f"turn_{turn}": None for turn in self.turns}
        column = scores.of(metric=self.metric)
        self._put(rows, "turn_{}", summarize(column, ("model", "turn")))
        if len(self.turns) > 2:
            self._put(rows, "first_turn", summarize(conversations(column, "first")))
            self._put(rows, "last_turn", summarize(conversations(column, "last")))
        for name, fields in self.further(scores).items():
            rows.get(name, {}).update(fields)
        return rows

    def _put(self, rows: Rows, key: str, summaries: Sequence[Summary]) -> None:
        """Put the numbers of groups into the rows; `{}` in the key is the group's last field."""
        for summary in summaries:
            if summary["model"] in rows:
                name = key.format(summary.key[-1])
                put(rows[summary["model"]], name, summary.mean, self.measure.scale)

    def section(self, extra: Sequence[Column] = (), tables: Sequence[Table] = ()) -> Section:
        """Return the section, with columns after the number and tables below that of models."""
        form, field, measure = self.measure.form, self.view.group, self.measure
        short = ".1" if measure.kind == "grades" else form
        shaded = [Column(f"{field}_{name}", name, short, draw="shade") for name in self.groups]
        every_turn = [f"turn_{turn}" for turn in self.turns] if len(self.turns) > 1 else []
        turns = ["first_turn", "last_turn"] if len(every_turn) > 2 else every_turn
        columns = [Column("rank", format="ranks", always=True)] if len(self.rows) > 2 else []
        columns += [Column("model"), *interval_columns(self.key, self.heading, form)]
        if self.ranking.strengths:
            columns.append(Column("strength", format=".0", always=True))
        if self.panel.looks is not None:
            columns.append(Column("questions", always=True))
        columns += [*extra, *(Column(name, format=form, always=True) for name in turns)]
        columns += [Column(f"judge_{name}", name, form, always=True) for name in self.judges]
        if any(row["failed"] for row in self.rows):
            columns.append(Column("failed", hidden_in_text=True))
        columns += [replace(column, hidden_in_text=True) for column in shaded]
        questions = len(np.unique(self.scores.question[self.scores.valid]))
        evidence = Evidence(measure, self.ranking, questions, self.view.baseline)
        section = Section(
            self.panel,
            [evidence],
            self.all_rows,
            [Table(title(self.panel, self.view), columns, self.rows)],
            self._charts(),
            caveats=caveats_of(self.panel, self.scores),
        )
        if self.judges and len(self.rows) > 1:
            by_judge, section.said = self._judges_differ()
            section.tables.append(by_judge)
        section.tables += tables
        if self.groups:
            words = self.heading if measure.kind != "grades" else "grades"
            instead = "" if self.view.by else f"By {field}: --by {field}"
            columns = [Column("model", words), *(replace(own, always=True) for own in shaded)]
            rows = self.rows[:1] if evidence.head_to_head else self.rows
            section.tables.append(Table("", columns, rows, only="text", instead=instead))
        ends = [replace(Column(turn), format=f"interval{form}") for turn in every_turn]
        ends += [replace(column, format=f"interval{form}") for column in shaded]
        if ends:
            columns = [Column("model"), *ends]
            section.more.append(Table("95% intervals", columns, self.rows, only="text"))
        section.more += compared(self.ranking, ".0" if self.ranking.strengths else form)
        return section

    def _judges_differ(self) -> tuple[Table, str]:
        """Return the difference of the two first models by judge, and a sentence if they differ."""
        both = first, second = self.ranking.names[:2]
        turns = self.turns[:2] if len(self.turns) > 1 else []
        rows = []
        better: list[str | None] = []
        for judge, scores in {"all": self.panel.combined, **self.panel.by_judge}.items():
            column = scores.of(metric=self.metric)
            whole = compare(column, both, looks=self.panel.looks).pairs[0]
            row = row_of({"judge": judge}, difference=whole.difference)
            for turn in turns:
                part = compare(column.of(turns=[turn]), both).pairs[0]
                put(row, f"turn_{turn}", part.difference)
            rows.append(row)
            better.append(whole.better)
        form = self.measure.form
        columns = [Column("judge", f"{first} less {second}")]
        columns += interval_columns("difference", "", form)
        columns += [Column(f"turn_{turn}", format=form, always=True) for turn in turns]
        table = Table("", columns, rows, name="by_judge")
        judges = better[1:]
        if set(judges) == {better[0]}:
            return table, ""
        parts = []
        for model in (first, second, None):
            if count := judges.count(model):
                verdict = f"called {model} better" if model else "saw no difference"
                parts.append(f"{count} of {len(judges)} {verdict}")
        return table, f"The judges do not agree on {first} and {second}: {', '.join(parts)}."

    def _charts(self) -> list[Chart]:
        """Return the charts of models and categories."""
        scale, pairs = self.measure.scale, self.measure.kind == "pairs"
        percent = self.measure.percent or pairs
        name = self.heading if self.heading != "all" else "score"
        marks = {row["model"]: mark_of(row, self.key) for row in self.rows}
        middle = 0.5 if pairs else None
        draw = functools.partial(charts.dots, marks, name, percent=percent, reference=middle)
        pictures = [Chart(name.capitalize(), draw, "scores", in_table=True)]
        label, form = f"{name} by {self.view.group}", "%" if percent else ".1"
        cells = {
            row["model"]: {name: row.get(f"{self.view.group}_{name}") for name in self.groups}
            for row in self.rows
        }
        if self.groups:
            draw = functools.partial(charts.heat_map, cells, label, form)
            pictures.append(Chart(label.capitalize(), draw, "categories", in_table=True))
        if len(self.groups) > 2 and scale is not None:
            best = dict(list(cells.items())[: charts.SERIES])
            draw = functools.partial(charts.radar, best, label, scale=scale)
            pictures.append(Chart(f"{label.capitalize()}, the first models", draw, "radar"))
        return pictures


def mark_of(row: Row, key: str) -> Mark:
    """Return a number of a row with its interval, for charts."""
    return Mark(row.get(key), row.get(f"{key}_low"), row.get(f"{key}_high"))


def compared(ranking: Ranking, form: str) -> list[Table]:
    """Return the models compared with each other for --details; of many only neighbours."""
    rows = []
    for pair in ranking.comparisons.pairs:
        models = {"model_1": pair.model_1, "model_2": pair.model_2, "better": pair.better}
        row = row_of(models, difference=pair.difference)
        row |= {"p": pair.difference.p, "p_holm": pair.p, "questions": pair.questions}
        row |= {"smallest_detectable": pair.difference.detectable}
        rows.append(row | {"opponents": pair.opponents or None})
    neighbours = set(zip(ranking.names, ranking.names[1:], strict=False))
    many = len(ranking.names) > MANY
    shown = [row for row in rows if not many or (row["model_1"], row["model_2"]) in neighbours]
    columns = [
        Column("model_1", "model 1"),
        Column("model_2", "model 2"),
        *interval_columns("difference", "", form),
        Column("p_holm", "p (Holm)", "p", always=True),
        Column("smallest_detectable", "detectable", form),
        Column("questions"),
    ]
    what = "by strength, in rating points" if ranking.strengths else "on what both did"
    heading = f"Models compared {what}"
    return [Table(heading, columns, shown), Table("", columns, rows, "compared", only="json")]
