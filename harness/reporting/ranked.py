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
from harness.reporting.outcome import Evidence, Measure
from harness.reporting.page import Chart, Column, Row, Table
from harness.reporting.section import (
    Section,
    View,
    caveats_of,
    comparison_tables,
    interval_columns,
    measure_of,
    put,
    row_of,
    sorted_rows,
    title,
)
from harness.results import Panel, Scores, Summary, compare, conversations, rank, summarize

Rows: TypeAlias = dict[str, dict[str, Any]]
"""Rows by model."""
STOPPED = (
    "Judged until decided: models whose comparisons were clear, or surely close, were judged no "
    "further. p and intervals of differences are those of a stopped run (O'Brien and Fleming); "
    "intervals of single numbers leave that out."
)


class Ranked:
    """The rows of one column of a panel, and what is shown of them."""

    def __init__(
        self,
        panel: Panel,
        view: View,
        metric: str,
        key: str,
        heading: str,
        measure: Measure | None = None,
        fill: Callable[[Rows, Scores], None] = lambda rows, scores: None,
    ) -> None:
        """Sum up a column.

        Args:
            panel: whose verdicts.
            view: how they are to be shown.
            metric: the column of the panel.
            key: the field of the rows that holds its number.
            heading: what stands over it.
            measure: how it is written (default: as all of its form).
            fill: puts what else the verdicts say of each model into its row.
        """
        self.panel, self.view, self.metric, self.fill = panel, view, metric, fill
        self.key, self.heading, self.aggregate = key, heading, view.aggregate_of(panel)
        if rule := self.aggregate:
            self.key = f"{rule}_turn" if rule in ("first", "last") else f"{rule}_of_turns"
            self.heading = self.key.replace("_", " ")
        self.measure = measure or measure_of(panel)
        self.scores = self._aggregated(panel.combined)
        self.ranking = rank(
            self.scores,
            models=view.models or None,
            baseline=view.baseline,
            drawn=panel.drawn is not None and view.baseline is None,
            looks=panel.looks,
        )
        self.names = self.ranking.names
        self.judges = panel.judges if len(panel.judges) > 1 and panel.form != "vote" else ()
        self.turns: list[int] = np.unique(panel.combined.of(metric=metric).turn).tolist()
        rows = self._rows_of(panel.combined, self.ranking.models)
        self.by_model = rows
        self.programs: list[dict[str, Any]] = []
        for judge in self.judges:
            own = self._rows_of(panel.by_judge[judge])
            self.programs += [{"judge": judge, **row} for row in own.values()]
            for model, row in own.items():
                rows[model][f"judge_{judge}"] = row[self.key]
        self.groups = self._put_groups()
        self.rows = sorted_rows(list(rows.values()), view)

    def _aggregated(self, scores: Scores) -> Scores:
        column = scores.of(metric=self.metric)
        return conversations(column, self.aggregate) if self.aggregate else column

    def _rows_of(self, scores: Scores, models: Sequence[Summary] = ()) -> Rows:
        """Return a row for each ranked model: rank range, number, turns, counts."""
        rows: Rows = {}
        for summary in models or summarize(self._aggregated(scores)):
            if (model := summary["model"]) in self.names:
                rows[model] = {"model": model}
                if models and len(models) > 1:
                    first, last = self.ranking.ranks[model]
                    rows[model] |= {"rank_first": first, "rank_last": last}
                put(rows[model], self.key, summary.mean, self.measure.scale)
                if models and self.ranking.strengths:
                    put(rows[model], "strength", self.ranking.strengths[model])
                counts = {"n": summary.n, "questions": summary.questions}
                rows[model] |= {**counts, "failed": summary.failed}
        column = scores.of(metric=self.metric)
        for row in rows.values():
            row |= {f"turn_{turn}": None for turn in self.turns}
        self._put(rows, "turn_{}", summarize(column, by=("model", "turn")))
        if len(self.turns) > 2:
            self._put(rows, "first_turn", summarize(conversations(column, "first")))
            self._put(rows, "last_turn", summarize(conversations(column, "last")))
        self.fill(rows, scores)
        return rows

    def _put(self, rows: Rows, key: str, summaries: Sequence[Summary]) -> None:
        """Put the numbers of groups into the rows; `{}` in the key is the group's last field."""
        for own in summaries:
            if own["model"] in rows:
                put(rows[own["model"]], key.format(own.key[-1]), own.mean, self.measure.scale)

    def _put_groups(self) -> list[str]:
        """Put the number of each group of questions into the rows; return the groups."""
        field = self.view.group
        by_group = [own for own in summarize(self.scores, by=("model", field)) if own[field]]
        names = list(dict.fromkeys(str(own[field]) for own in by_group))
        if len(names) < 2:
            return []
        self._put(self.by_model, f"{field}_{{}}", by_group)
        return names

    def section(
        self,
        extra: Sequence[Column] = (),
        tables: Sequence[Table] = (),
        *,
        table: Table | None = None,
        grouped: Sequence[Row] = (),
    ) -> Section:
        """Return the section.

        Args:
            extra: columns after the number and its interval.
            tables: what stands below the table of models.
            table: what text shows in place of the table of models.
            grouped: rows of the table by group (default: all).
        """
        form, field = self.measure.form, self.view.group
        short = ".1" if self.measure.kind == "grades" else form
        shaded = [Column(f"{field}_{name}", name, short, draw="shade") for name in self.groups]
        columns = [Column("model"), *interval_columns(self.key, self.heading, form)]
        if self.ranking.strengths:
            columns.append(Column("strength", format=".0", always=True))
        if self.panel.looks is not None:
            columns.append(Column("questions", always=True))
        columns += extra
        if len(self.names) > 2:
            columns.insert(0, Column("rank", format="ranks", always=True))
        every_turn = [f"turn_{turn}" for turn in self.turns] if len(self.turns) > 1 else []
        turns = ["first_turn", "last_turn"] if len(every_turn) > 2 else every_turn
        columns += [Column(name, format=form, always=True) for name in turns]
        columns += [Column(f"judge_{name}", name, form, always=True) for name in self.judges]
        columns += [Column("failed", hidden_in_text=True)] * any(r["failed"] for r in self.rows)
        columns += [replace(column, hidden_in_text=True) for column in shaded]
        heading = title(self.panel, self.view)
        shown = [Table(heading, columns, self.rows, only="html" if table else "")]
        shown += [replace(table, title=heading, only="text")] if table else []
        questions = len(np.unique(self.scores.question[self.scores.valid]))
        evidence = Evidence(self.measure, self.ranking, questions, self.view.baseline)
        section = Section(self.panel, [evidence], self.rows, shown, self._charts())
        section.caveats = caveats_of(self.panel, self.scores)
        if self.panel.looks is not None:
            section.caveats.insert(0, STOPPED)
        if self.judges:
            plain = [
                {k: v for k, v in row.items() if not k.startswith("judge_")} for row in self.rows
            ]
            section.rows = [*self.programs, *({"judge": "all together", **row} for row in plain)]
            if len(self.names) > 1:
                by_judge, section.said = self._judges_differ()
                section.tables.append(by_judge)
        section.tables += tables
        if self.groups and not tables:
            words = self.heading if self.measure.kind != "grades" else "grades"
            instead = "" if self.view.by else f"By {field}: --by {field}"
            columns = [Column("model", words), *(replace(own, always=True) for own in shaded)]
            rows = grouped or self.rows
            section.tables.append(Table("", columns, rows, only="text", instead=instead))
        ends = [Column(turn, "", f"interval{form}") for turn in every_turn]
        ends += [replace(column, format=f"interval{form}") for column in shaded]
        intervals = Table("95% intervals", [Column("model"), *ends], self.rows, only="text")
        places = ".0" if self.ranking.strengths else form
        section.more = [*([intervals] if ends else []), *comparison_tables(self.ranking, places)]
        return section

    def _judges_differ(self) -> tuple[Table, str]:
        """Return the difference of the two first models by judge, and a sentence if they differ."""
        one, other, *_ = self.names
        rows = []
        better: list[str | None] = []
        for judge, scores in {"all": self.panel.combined, **self.panel.by_judge}.items():
            column = scores.of(metric=self.metric)
            compared = compare(column, (one, other), looks=self.panel.looks).pairs[0]
            by_turn = {
                f"turn_{turn}": compare(column.of(turns=[turn]), (one, other)).pairs[0].difference
                for turn in self.turns[: 2 * (len(self.turns) > 1)]
            }
            rows.append(row_of({"judge": judge}, difference=compared.difference, **by_turn))
            better.append(compared.better)
        form = self.measure.form
        columns = [Column("judge", f"{one} less {other}")]
        columns += interval_columns("difference", "", form)
        columns += [Column(turn, "", form, always=True) for turn in by_turn]
        table = Table("", columns, rows, name="by_judge")
        whole, *each = better
        if all(verdict == whole for verdict in each):
            return table, ""
        results = [
            f"{each.count(model)} of {len(each)} "
            + (f"called {model} better" if model else "saw no difference")
            for model in (one, other, None)
            if model in each
        ]
        return table, f"The judges do not agree on {one} and {other}: {', '.join(results)}."

    def _charts(self) -> list[Chart]:
        """Return the charts of models and categories."""
        measure = self.measure
        percent = measure.percent or measure.kind == "pairs"
        name = self.heading if self.heading != "all" else "score"
        marks = {row["model"]: mark_of(row, self.key) for row in self.rows}
        middle = 0.5 if measure.kind == "pairs" else None
        draw = functools.partial(charts.dots, marks, name, percent=percent, reference=middle)
        pictures = [Chart(name.capitalize(), draw, "scores", in_table=True)]
        if not self.groups:
            return pictures
        label, form = f"{name} by {self.view.group}", "%" if percent else ".1"
        cells = {
            row["model"]: {g: row.get(f"{self.view.group}_{g}") for g in self.groups}
            for row in self.rows
        }
        grid = functools.partial(charts.heat_map, cells, label, form)
        pictures.append(Chart(label.capitalize(), grid, "categories", in_table=True))
        if len(self.groups) > 2 and measure.scale is not None:
            first = dict(list(cells.items())[: charts.SERIES])
            round_ = functools.partial(charts.radar, first, label, scale=measure.scale)
            pictures.append(Chart(f"{label.capitalize()}, the first models", round_, "radar"))
        return pictures


def mark_of(row: Row, key: str) -> Mark:
    """Return a number of a row with its interval, for charts."""
    return Mark(row.get(key), row.get(f"{key}_low"), row.get(f"{key}_high"))
