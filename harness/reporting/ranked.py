"""One column of verdicts, ranked: what grades, pairs and labels have in common on a page.

The rows have the number with its interval and rank range, each judge's, each turn's and each
category's; the tables, charts and evidence are made of them.
"""

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from harness.reporting import charts
from harness.reporting.charts import Mark
from harness.reporting.outcome import Evidence, Measure
from harness.reporting.page import Chart, Column, Note, Row, Table
from harness.reporting.section import (
    Rows,
    Scale,
    Section,
    View,
    caveats_of,
    comparison_tables,
    put,
    sorted_rows,
    title,
)
from harness.results import Panel, Scores, Summary, conversations, rank, summarize
from harness.results.summarize import Aggregate

STOPPED = (
    "Judged until decided: models whose comparisons were clear, or surely close, were judged no "
    "further; p and intervals of differences are those of a stopped run (O'Brien and Fleming)."
)
MOST_IN_MATRIX = 20
"""Models in a matrix of pairs; more would not fit a page."""


class Ranked:
    """The rows of one column of a panel, and what is shown of them."""

    def __init__(
        self,
        panel: Panel,
        view: View,
        metric: str,
        *,
        key: str,
        heading: str,
        measure: Measure,
        form: str,
        scale: Scale | None = None,
        fill: Callable[[dict[str, Any], Summary], None] = lambda row, summary: None,
    ) -> None:
        """Sum up a column.

        Args:
            panel: whose verdicts.
            view: how they are to be shown.
            metric: the column of the panel.
            key: the field of the rows that holds its number.
            heading: what stands over it.
            measure: how sentences write it.
            form: how tables write it.
            scale: the least and the greatest number that there can be.
            fill: puts what else is known of a model into its row.
        """
        self.panel, self.view, self.metric = panel, view, metric
        self.key, self.heading, self.measure, self.form = key, heading, measure, form
        self.scale, self.fill = scale, fill
        self.pooled = panel.combined.of(metric=metric)
        self.scores = self._aggregated(self.pooled)
        self.drawn = panel.drawn if view.baseline is None else None
        self.ranking = rank(
            self.scores,
            models=view.models or None,
            baseline=view.baseline,
            drawn=self.drawn is not None,
            looks=panel.looks,
        )
        self.judges = panel.judges if len(panel.judges) > 1 and panel.form != "vote" else ()
        by_model: Rows = {}
        for summary in self.ranking.models:
            ranks = self.ranking.ranks[summary["model"]]
            ends = {"rank_first": ranks.first, "rank_last": ranks.last}
            by_model[summary["model"]] = self._row(
                summary, ends if len(self.ranking.names) > 1 else {}
            )
        self.turns = self._put_turns(by_model, self.pooled)
        self.programs = self._by_judge(by_model)
        self.groups = self._put_groups(by_model)
        self.by_model = by_model
        self.rows = sorted_rows(list(by_model.values()), view)

    def _aggregated(self, scores: Scores) -> Scores:
        return conversations(scores, self.view.aggregate) if self.view.aggregate else scores

    def _row(self, summary: Summary, more: dict[str, Any]) -> dict[str, Any]:
        row = {"model": summary["model"], **more}
        put(row, self.key, summary.mean, self.scale)
        if self.ranking.strengths:
            put(row, "strength", self.ranking.strengths.get(summary["model"]))
        self.fill(row, summary)
        return row | {"n": summary.n, "questions": summary.questions, "failed": summary.failed}

    def _put_turns(self, rows: Rows, scores: Scores) -> list[int]:
        """Put the number of each turn into the rows; return the turns.

        Of conversations of more than two turns also that of the first and of the last one.
        """
        by_turn = summarize(scores, by=("model", "turn"))
        turns = sorted({summary["turn"] for summary in by_turn})
        for row in rows.values():
            row |= {f"turn_{turn}": None for turn in turns}
        for summary in by_turn:
            if summary["model"] in rows and summary.n:
                put(rows[summary["model"]], f"turn_{summary['turn']}", summary.mean, self.scale)
        rules: tuple[Aggregate, ...] = ("first", "last") if len(turns) > 2 else ()
        for rule in rules:
            for summary in summarize(conversations(scores, rule)):
                if summary["model"] in rows and summary.n:
                    put(rows[summary["model"]], f"{rule}_turn", summary.mean, self.scale)
        return turns

    def _by_judge(self, rows: Rows) -> list[dict[str, Any]]:
        """Put each judge's number into the rows; return a row for each, for programs."""
        programs = []
        for judge in self.judges:
            pooled = self.panel.by_judge[judge].of(metric=self.metric)
            own_rows: Rows = {}
            for summary in summarize(self._aggregated(pooled)):
                if summary["model"] in rows:
                    own_rows[summary["model"]] = self._row(summary, {"judge": judge})
                    rows[summary["model"]][f"judge_{judge}"] = own_rows[summary["model"]][self.key]
            self._put_turns(own_rows, pooled)
            programs += list(own_rows.values())
        return programs

    def _put_groups(self, rows: Rows) -> list[str]:
        """Put the number of each group of questions into the rows; return the groups."""
        field = self.view.group
        by_group = summarize(self.scores, by=("model", field))
        names = [
            str(name) for name in dict.fromkeys(summary[field] for summary in by_group) if name
        ]
        if len(names) < 2:
            return []
        for summary in by_group:
            if summary["model"] in rows and summary[field]:
                put(rows[summary["model"]], f"{field}_{summary[field]}", summary.mean, self.scale)
        return names

    # Columns

    def head(self) -> list[Column]:
        """Return rank from three models on, model, number and interval, each judge's number."""
        ranks = [Column("rank", format="ranks", always=True)]
        form = self.form
        return [
            *(ranks if len(self.ranking.names) > 2 else []),
            Column("model"),
            Column(self.key, self.heading, form, always=True),
            Column(self.key, "95% interval", f"interval{form}", always=True, draw="whisker"),
            *(Column(f"judge_{name}", name, form, always=True) for name in self.judges),
            *([Column("strength", format=".0", always=True)] if self.ranking.strengths else []),
            *([Column("questions", always=True)] if self.panel.looks is not None else []),
        ]

    def tail(self) -> list[Column]:
        """Return what only HTML shows: failed judgments, and the groups, shaded."""
        form = ".1" if self.form == ".2" and self.measure.kind == "grades" else self.form
        field = self.view.group
        shaded = [
            Column(f"{field}_{name}", name, form, draw="shade", hidden_in_text=True)
            for name in self.groups
        ]
        failed = [Column("failed", hidden_in_text=True)]
        return [*(failed if any(row["failed"] for row in self.rows) else []), *shaded]

    def turn_columns(self) -> list[Column]:
        """Return turn 1 and turn 2; of longer conversations the first and the last."""
        names = [f"turn_{turn}" for turn in self.turns]
        names = ["first_turn", "last_turn"] if len(names) > 2 else names if len(names) > 1 else []
        optional = bool(self.judges)
        return [Column(name, "", self.form, always=True, optional=optional) for name in names]

    # Tables

    def group_table(self, kind: str, rows: list[dict[str, Any]] | None = None) -> list[Table]:
        """Return the table by category for text; with --by it is divided where it is too wide."""
        if not self.groups:
            return []
        field = self.view.group
        columns = [replace(c, always=True, hidden_in_text=False) for c in self.tail()]
        columns = [Column("model", kind), *(c for c in columns if c.draw)]
        instead = None if self.view.by else Note("", f"By {field}: --by {field}")
        return [Table("", columns, self.rows if rows is None else rows, "", "text", instead)]

    def details(self) -> list[Table]:
        """Return the intervals by turn and by group, and the models compared."""
        field, form = self.view.group, f"interval{self.form}"
        by_turn = [Column(f"turn_{turn}", "", form, always=True) for turn in self.turns]
        by_group = [Column(f"{field}_{name}", name, form, always=True) for name in self.groups]
        tables = [
            Table(f"95% intervals by {what}", [Column("model"), *columns], self.rows, only="text")
            for what, columns in (("turn", by_turn), (field, by_group))
            if len(columns) > 1
        ]
        form = ".0" if self.drawn is not None else self.form
        return [*tables, *comparison_tables(self.ranking, form)]

    # Charts

    def charts(self) -> list[Chart]:
        """Return the charts of models and categories."""
        percent = self.measure.percent or self.measure.kind == "pairs"
        name = self.heading if self.heading != "all" else "score"
        marks = {row["model"]: mark_of(row, self.key) for row in self.rows}
        middle = 0.5 if self.measure.kind == "pairs" else None
        draw = functools.partial(charts.dots, marks, name, percent=percent, reference=middle)
        pictures = [Chart(name.capitalize(), draw, "scores", in_table=True)]
        cells = {
            (row["model"], group): value
            for row in self.rows
            for group in self.groups
            if (value := row.get(f"{self.view.group}_{group}")) is not None
        }
        if not cells:
            return pictures
        label, places = f"{name} by {self.view.group}", 0 if percent else 1
        models = list(marks)
        grid = functools.partial(
            charts.heat_map, models, self.groups, cells, label, percent=percent, places=places
        )
        pictures.append(Chart(label.capitalize(), grid, "categories", in_table=True))
        ends = (0.0, 1.0) if percent else self.scale
        if len(self.groups) > 2 and ends is not None:
            series = {
                model: {g: cells[model, g] for g in self.groups if (model, g) in cells}
                for model in models[:4]
            }
            round_ = functools.partial(charts.radar, series, label, scale=ends)
            pictures.append(Chart(f"{label.capitalize()}, the first models", round_, "radar"))
        return pictures

    # The section

    def evidence(self) -> Evidence:
        """Return what the outcome is said from."""
        questions = len(np.unique(self.scores.question[self.scores.valid]))
        baseline = self.view.baseline or ""
        return Evidence(self.measure, self.ranking, questions, self.view.noun, baseline)

    def title(self) -> str:
        """Return what stands over the table."""
        return title(self.panel, self.view, self.scores)

    def section(self, tables: list[Table]) -> Section:
        """Return the section with these tables."""
        rows = self.rows
        if self.judges:
            plain = [
                {k: v for k, v in row.items() if not k.startswith("judge_")} for row in self.rows
            ]
            rows = [*self.programs, *({"judge": "all together", **row} for row in plain)]
        section = Section(
            self.panel, [self.evidence()], rows, tables, self.charts(), self.details()
        )
        section.caveats = caveats_of(self.panel, self.scores)
        if self.panel.looks is not None:
            section.caveats.insert(0, STOPPED)
        return section


def mark_of(row: Row, key: str) -> Mark:
    """Return a number of a row with its interval, for charts."""
    return Mark(row.get(key), row.get(f"{key}_low"), row.get(f"{key}_high"))
