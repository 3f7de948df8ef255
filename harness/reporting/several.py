"""Several columns side by side: criteria, dimensions, labels, short facts, metrics."""

import functools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from harness.reporting import charts
from harness.reporting.columns import (
    MANY,
    Section,
    View,
    base_rows,
    caveats_of,
    charts_of,
    comparison_tables,
    group_table,
    mark_of,
    measure_of,
    put,
    put_groups,
    questions_of,
    rank_column,
    scale_of,
    shaded_columns,
    sorted_rows,
    title,
)
from harness.reporting.outcome import Evidence, Measure
from harness.reporting.page import Chart, Column, Row, Table
from harness.results import Panel, Scores, rank, summarize
from harness.results.facts import CORRECT, facts, is_facts
from harness.results.scores import POINTS, SCORE

MAIN = (SCORE, POINTS)
"""Numbers that stand for all others beside them."""


def several(panels: Sequence[Panel], view: View) -> Section:
    """Return the section of criteria, dimensions or metrics; of metrics several panels together."""
    panel = panels[0]
    rows: dict[str, dict[str, Any]] = {}
    groups: dict[tuple[str, Any], dict[str, Any]] = {}
    evidence, names = [], []
    for own_panel in panels:
        for metric in own_panel.metrics:
            scores = own_panel.combined.of(metric=metric)
            measure, form = measure_of(own_panel, scores)
            ranking = rank(scores, models=view.models or None)
            about = Evidence(measure, ranking, questions_of(scores), view.noun, name=metric)
            first = own_panel.metrics[0]
            if metric == first or not (first in MAIN or own_panel.form == "metric"):
                evidence.append(about)
            names.append(metric)
            for own in ranking.models:
                row = rows.setdefault(own["model"], {"model": own["model"]})
                put(row, metric, own.mean)
                ranks = ranking.ranks[own["model"]]
                row |= {f"{metric}_rank_first": ranks.first, f"{metric}_rank_last": ranks.last}
                row["failed"] = row.get("failed", 0) + own.failed
            _put_groups(groups, scores, metric, view)
    listed_rows = sorted_rows(list(rows.values()), view)
    numbers = [Column(name, name, form, always=True) for name in names]
    failed = (
        [Column("failed", hidden_in_text=True)] if any(r["failed"] for r in listed_rows) else []
    )
    columns = [Column("model"), *numbers, *failed]
    tables = [Table(title(panel, view, panel.combined), columns, listed_rows)]
    by_group = Table(
        f"By {view.group}",
        [Column("model"), Column(view.group, always=True), *numbers],
        list(groups.values()),
        name="groups",
        only="" if view.by else "json",
    )
    evidence.sort(key=lambda own: -own.questions)
    if len(evidence) == 1:
        evidence = [replace(evidence[0], name="")]
    made = Section(panel, evidence, listed_rows, [*tables, by_group])
    made.caveats = [caveat for own in panels for caveat in caveats_of(own, own.combined)]
    intervals = [Column(name, name, f"interval{form}", always=True) for name in names]
    made.more = [Table("95% intervals", [Column("model"), *intervals], listed_rows, only="text")]
    made.charts = _bars(listed_rows, names, scale_of(panel, panel.combined), measure)
    return made


def _put_groups(
    groups: dict[tuple[str, Any], dict[str, Any]], scores: Scores, metric: str, view: View
) -> None:
    for own in summarize(scores, by=("model", view.group)):
        if own[view.group]:
            key = own["model"], own[view.group]
            put(groups.setdefault(key, {"model": key[0], view.group: key[1]}), metric, own.mean)


def _bars(
    rows: Sequence[Row], names: Sequence[str], scale: tuple[float, float] | None, measure: Measure
) -> list[Chart]:
    bars = {name: {row["model"]: mark_of(row, name) for row in rows[:MANY]} for name in names}
    grades = measure.kind == "grades"
    draw = functools.partial(charts.bars, bars, "grade" if grades else "value", scale=scale)
    return [Chart("By criterion" if grades else "Numbers", draw, "numbers")]


def labels(panel: Panel, view: View) -> Section:
    """Return the section of labels: the share of each, the main one ranked."""
    scores = panel.combined
    known = is_facts(scores)
    names = [name for name in panel.metrics if name != SCORE]
    main = CORRECT if known else SCORE if SCORE in panel.metrics else names[0]
    main_scores = scores.of(metric=main)
    ranking = rank(main_scores, models=view.models or None)
    rows = base_rows(ranking)
    noun = "correct" if known else main if main != SCORE else ""
    key = "correct" if known else main
    for own in ranking.models:
        put(rows[own["model"]], key, own.mean)
        rows[own["model"]] |= {"n": own.n, "questions": own.questions, "failed": own.failed}
    more: list[Column] = []
    confidence: list[Table] = []
    if known:
        more, confidence = _facts(rows, scores)
    else:
        for name in names:
            for group in summarize(scores.of(metric=name)):
                if group["model"] in rows:
                    put(rows[group["model"]], name, group.mean)
            if name != main:
                more.append(Column(name, name.lower().replace("_", " "), "%", always=True))
    groups = put_groups(rows, main_scores, view.group)
    listed_rows = sorted_rows(list(rows.values()), view)
    columns = [
        *rank_column(ranking),
        Column("model"),
        Column(key, noun.lower() or "score", "%", always=True),
        Column(key, "95% interval", "interval%", always=True, draw="whisker"),
        *more,
        *shaded_columns(groups, view.group, "%"),
    ]
    tables = [Table(title(panel, view, scores), columns, listed_rows), *confidence]
    kind = noun.lower() or "score"
    tables += group_table(kind, listed_rows, groups, view, "%")
    measure = Measure("labels", noun=kind)
    evidence = Evidence(measure, ranking, questions_of(main_scores), view.noun, len(panel.judges))
    made = Section(panel, [evidence], listed_rows, tables)
    made.caveats = caveats_of(panel, main_scores)
    made.more = comparison_tables(ranking, ".3")
    made.charts = charts_of(listed_rows, key, groups, view, measure, None, ranking)
    return made


def _facts(rows: dict[str, dict[str, Any]], scores: Scores) -> tuple[list[Column], list[Table]]:
    """Put the rates of short facts into the rows; return their columns and the confidence table."""
    stated = []
    for own in facts(scores):
        if own.model not in rows:
            continue
        row = rows[own.model]
        rates = {
            "incorrect": own.wrong,
            "not_attempted": own.not_tried,
            "given_attempted": own.of_tried,
            "f1": own.f1,
        }
        for name, estimate in rates.items():
            put(row, name, estimate)
        if own.confidence.n:
            row |= {
                "mean_confidence": own.confidence.value,
                "right_of_stated": own.right.value,
                "calibration_error": own.calibration_error,
            }
            stated.append(row)
    columns = [
        Column("incorrect", "wrong", "%", always=True),
        Column("not_attempted", "not tried", "%", always=True),
        Column("given_attempted", "of tried", "%", "", "correct of the answers tried", always=True),
        Column("f1", "F1", ".2", "", "harmonic mean of correct and of tried", always=True),
    ]
    confidence = [
        Column("model", "stated confidence"),
        Column("mean_confidence", "mean", "%", always=True),
        Column("right_of_stated", "correct", "%", always=True),
        Column("calibration_error", "error", "%", "", "expected calibration error", always=True),
    ]
    return columns, [Table("", confidence, stated)] if stated else []
