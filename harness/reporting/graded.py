"""Grades, shares of a checklist, one metric; of several judges each beside their mean."""

import functools
from typing import Any

from harness.reporting import charts
from harness.reporting.page import Chart, Column, Table
from harness.reporting.ranked import MOST_IN_MATRIX, Ranked
from harness.reporting.section import (
    AGGREGATED,
    HEADINGS,
    KINDS,
    Section,
    View,
    measure_of,
    put,
    scale_of,
)
from harness.results import Panel, Ranking, compare


def graded(panel: Panel, view: View) -> Section:
    """Return the section of one column of grades, of one judge or a panel."""
    view, metric = view.on(panel), panel.metrics[0]
    scores = panel.combined.of(metric=metric)
    measure, form = measure_of(panel, scores)
    key = "average" if panel.form != "metric" else metric
    key = key if view.aggregate is None else AGGREGATED[view.aggregate]
    heading = HEADINGS.get(key, key) if len(panel.judges) < 2 else "all"
    column = Ranked(
        panel,
        view,
        metric,
        key=key,
        heading=heading,
        measure=measure,
        form=form,
        scale=scale_of(panel, scores),
    )
    columns = [*column.head(), *column.turn_columns(), *column.tail()]
    tables = [Table(column.title(), columns, column.rows)]
    disagreement = ""
    if column.judges and len(column.ranking.names) > 1:
        one, other, *_ = column.ranking.names
        table, disagreement = _judges_differ(column, (one, other))
        tables.append(table)
    tables += column.group_table(KINDS.get(panel.form, "score"))
    section = column.section(tables)
    section.said = disagreement
    section.charts += _differences(column.ranking)
    return section


def _differences(ranking: Ranking) -> list[Chart]:
    """Return the heat map of differences, paired by question."""
    if len(ranking.names) < 3:
        return []
    values = {}
    for pair in ranking.comparisons.pairs:
        if pair.questions:
            values[pair.model_1, pair.model_2] = pair.difference.value
            values[pair.model_2, pair.model_1] = -pair.difference.value
    names = ranking.names[:MOST_IN_MATRIX]
    label = "the row's model less the column's, paired by question"
    draw = functools.partial(charts.heat_map, names, names, values, label, middle=0.0)
    return [Chart("Differences", draw, "differences")]


def _judges_differ(column: Ranked, pair: tuple[str, str]) -> tuple[Table, str]:
    """Return the difference of two models by judge, and whether the judges agree on it."""
    panel, form = column.panel, column.form
    rows: list[dict[str, Any]] = []
    verdicts: dict[str, str | None] = {}
    for judge, scores in {"all": panel.combined, **panel.by_judge}.items():
        scores_of_judge = scores.of(metric=column.metric)
        compared = compare(scores_of_judge, pair).between(*pair)
        row: dict[str, Any] = {"judge": judge}
        put(row, "difference", compared.difference)
        for turn in column.turns:
            of_turn = compare(scores_of_judge.of(turns=[turn]), pair).between(*pair).difference
            row[f"turn_{turn}"] = of_turn.value if of_turn.n else None
        rows.append(row)
        verdicts[judge] = compared.better
    columns = [
        Column("judge", f"{pair[0]} less {pair[1]}"),
        Column("difference", format=form, always=True),
        Column("difference", "95% interval", f"interval{form}", always=True, draw="whisker"),
        *(Column(f"turn_{turn}", "", form, always=True) for turn in column.turns[:2]),
    ]
    table = Table("", columns, rows, name="by_judge")
    return table, _agreement(verdicts, pair)


def _agreement(verdicts: dict[str, str | None], pair: tuple[str, str]) -> str:
    """Return what is said where judges come to other results on the two leading models."""
    whole = verdicts["all"]
    each = [verdict for judge, verdict in verdicts.items() if judge != "all"]
    if all(verdict == whole for verdict in each):
        return ""
    results = []
    for model in pair:
        if count := each.count(model):
            results.append(
                f"{_number(count)} of them call{'s' if count == 1 else ''} {model} better"
            )
    if count := each.count(None):
        results.append(f"{_number(count)} see{'s' if count == 1 else ''} no difference")
    return f"The judges do not agree on {pair[0]} and {pair[1]}: {', '.join(results)}."


def _number(count: int) -> str:
    return ("no", "one", "two", "three", "four", "five")[count] if count < 6 else str(count)
