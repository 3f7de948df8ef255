"""Grades, shares of a checklist, one metric; of several judges each beside their mean."""

from dataclasses import replace
from typing import Any

import numpy as np

from harness.reporting.columns import (
    AGGREGATED,
    HEADINGS,
    KINDS,
    Section,
    View,
    base_rows,
    caveats_of,
    charts_of,
    comparison_tables,
    group_table,
    interval_tables,
    measure_of,
    put,
    put_groups,
    put_judges,
    put_turns,
    questions_of,
    rank_column,
    rows_by_judge,
    scale_of,
    shaded_columns,
    sorted_rows,
    title,
    turn_columns,
)
from harness.reporting.outcome import Evidence
from harness.reporting.page import Column, Table
from harness.results import Panel, Ranking, compare, conversations, rank


def graded(panel: Panel, view: View) -> Section:
    """Return the section of one column of grades, of one judge or a panel."""
    metric = panel.metrics[0]
    pooled = panel.combined.of(metric=metric)
    measure, form = measure_of(panel, pooled)
    key = "average" if panel.form != "metric" else metric
    scores = pooled
    if view.aggregate is not None:
        scores, key = conversations(pooled, view.aggregate), AGGREGATED[view.aggregate]
    ranking = rank(scores, models=view.models or None)
    rows = base_rows(ranking)
    for own in ranking.models:
        put(rows[own["model"]], key, own.mean)
    turns = put_turns(rows, pooled)
    for own in ranking.models:
        rows[own["model"]] |= {"n": own.n, "questions": own.questions, "failed": own.failed}
    judges = put_judges(rows, panel, metric, key, view)
    groups = put_groups(rows, scores, view.group)
    listed_rows = sorted_rows(list(rows.values()), view)
    kind = KINDS.get(panel.form, "score")
    model, score = Column("model"), Column(key, HEADINGS.get(key, key), form, always=True)
    if judges:
        score = Column(key, "all", form, always=True)
    interval = Column(key, "95% interval", f"interval{form}", always=True, draw="whisker")
    more = (
        [Column("failed", hidden_in_text=True)] if any(row["failed"] for row in listed_rows) else []
    )
    head = [*rank_column(ranking), model, score, interval]
    by_turn = turn_columns(turns, form)
    by_judge = [Column(f"judge_{name}", name, form, always=True) for name in judges]
    if judges:
        by_turn = [replace(column, optional=True) for column in by_turn]
    own_title = title(panel, view, scores)
    columns = [*head, *by_judge, *by_turn, *more, *shaded_columns(groups, view.group, ".1")]
    tables = [Table(own_title, columns, listed_rows)]
    pair = _leading(ranking)
    said = ""
    if judges and pair is not None:
        table, said = _judges_differ(panel, metric, pair, form)
        tables.append(table)
    tables += group_table(kind, listed_rows, groups, view, ".1" if form == ".2" else form)
    evidence = Evidence(measure, ranking, questions_of(scores), view.noun, len(panel.judges))
    made = Section(panel, [evidence], rows_by_judge(listed_rows, panel, metric, view), tables)
    made.said = said
    made.caveats = caveats_of(panel, scores)
    made.more = [
        *interval_tables(listed_rows, turns, groups, view, form),
        *comparison_tables(ranking, form),
    ]
    made.charts = charts_of(
        listed_rows, key, groups, view, measure, scale_of(panel, scores), ranking
    )
    return made


def _leading(ranking: Ranking) -> tuple[str, str] | None:
    """Return the two models at the top, whose difference is shown by judge."""
    return (ranking.names[0], ranking.names[1]) if len(ranking.names) > 1 else None


def _judges_differ(
    panel: Panel, metric: str, pair: tuple[str, str], form: str
) -> tuple[Table, str]:
    """Return the difference of two models by judge, and whether the judges agree on it."""
    rows, verdicts = [], {}
    for judge, scores in {"all": panel.combined, **panel.by_judge}.items():
        own = scores.of(metric=metric)
        compared = compare(own, pair).between(*pair)
        row: dict[str, Any] = {"judge": judge}
        put(row, "difference", compared.difference)
        for turn in np.unique(own.turn).tolist():
            of_turn = compare(own.of(turns=[turn]), pair).between(*pair).difference
            row[f"turn_{turn}"] = of_turn.value if of_turn.n else None
        rows.append(row)
        verdicts[judge] = compared.better
    turns = [name for name in rows[0] if name.startswith("turn_")]
    columns = [
        Column("judge", f"{pair[0]} less {pair[1]}"),
        Column("difference", format=form, always=True),
        Column("difference", "95% interval", f"interval{form}", always=True, draw="whisker"),
        *turn_columns([int(name[5:]) for name in turns], form),
    ]
    table = Table("", columns, rows, name="by_judge")
    return table, _agreement(verdicts, pair)


def _agreement(verdicts: dict[str, str | None], pair: tuple[str, str]) -> str:
    """Return what is said where judges come to other results on the two leading models."""
    whole = verdicts["all"]
    each = [verdict for judge, verdict in verdicts.items() if judge != "all"]
    if all(verdict == whole for verdict in each):
        return ""
    said = []
    for model in pair:
        if count := each.count(model):
            said.append(f"{_number(count)} of them call{'s' if count == 1 else ''} {model} better")
    if count := each.count(None):
        said.append(f"{_number(count)} see{'s' if count == 1 else ''} no difference")
    return f"The judges do not agree on {pair[0]} and {pair[1]}: {', '.join(said)}."


def _number(count: int) -> str:
    return ("no", "one", "two", "three", "four", "five")[count] if count < 6 else str(count)
