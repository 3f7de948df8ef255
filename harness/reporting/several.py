"""Several columns side by side: criteria, dimensions, labels, short facts, metrics."""

import functools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from harness.reporting import charts
from harness.reporting.outcome import Evidence, Measure
from harness.reporting.page import Chart, Column, Row, Table
from harness.reporting.ranked import Ranked, mark_of
from harness.reporting.section import (
    MANY,
    Rows,
    Section,
    View,
    caveats_of,
    measure_of,
    put,
    scale_of,
    sorted_rows,
    title,
)
from harness.results import Panel, Scores, rank, summarize
from harness.results.facts import CORRECT, facts, is_facts
from harness.results.scores import POINTS, SCORE
from harness.results.summarize import field_of
from harness.types import QuestionId

MAIN = (SCORE, POINTS)
"""Numbers that stand for all others beside them."""


def several(panels: Sequence[Panel], view: View) -> Section:
    """Return the section of criteria, dimensions or metrics; of metrics several panels together."""
    panel = panels[0]
    rows: dict[str, dict[str, Any]] = {}
    groups: dict[tuple[str, Any], dict[str, Any]] = {}
    evidence: list[Evidence] = []
    numbers: list[Column] = []
    for panel_ in panels:
        for metric in panel_.metrics:
            scores = panel_.combined.of(metric=metric)
            measure, form = measure_of(panel_, scores)
            ranking = rank(scores, models=view.models or None, looks=panel_.looks)
            questions = len(np.unique(scores.question[scores.valid]))
            about = Evidence(measure, ranking, questions, view.noun, name=metric)
            first = panel_.metrics[0]
            if metric == first or not (first in MAIN or panel_.form == "metric"):
                evidence.append(about)
            numbers.append(Column(metric, metric, form, always=True))
            for summary in ranking.models:
                row = rows.setdefault(summary["model"], {"model": summary["model"]})
                put(row, metric, summary.mean, scale_of(panel_, scores))
                ranks = ranking.ranks[summary["model"]]
                row |= {f"{metric}_rank_first": ranks.first, f"{metric}_rank_last": ranks.last}
                row["n"] = max(row.get("n", 0), summary.n)
                row["failed"] = row.get("failed", 0) + summary.failed
            _put_groups(groups, scores, metric, view)
    listed_rows = sorted_rows(list(rows.values()), view)
    columns = [Column("model"), *numbers, Column("failed", hidden_in_text=True)]
    tables = [Table(title(panel, view, panel.combined), columns, listed_rows)]
    by_group = Table(
        f"By {view.group}",
        [Column("model"), Column(view.group, always=True), *numbers],
        list(groups.values()),
        name="groups",
        only="" if view.by else "json",
    )
    evidence.sort(key=lambda item: -item.questions)
    if len(evidence) == 1:
        evidence = [replace(evidence[0], name="")]
    section = Section(panel, evidence, listed_rows, [*tables, by_group])
    section.caveats = [
        caveat for summary in panels for caveat in caveats_of(summary, summary.combined)
    ]
    intervals = [replace(column, format=f"interval{column.format}") for column in numbers]
    section.more = [Table("95% intervals", [Column("model"), *intervals], listed_rows, only="text")]
    section.charts = _bars(listed_rows, numbers, scale_of(panel, panel.combined), measure)
    return section


def _put_groups(
    groups: dict[tuple[str, Any], dict[str, Any]], scores: Scores, metric: str, view: View
) -> None:
    for summary in summarize(scores, by=("model", view.group)):
        if summary[view.group]:
            key = summary["model"], summary[view.group]
            put(groups.setdefault(key, {"model": key[0], view.group: key[1]}), metric, summary.mean)


def _bars(
    rows: Sequence[Row],
    numbers: Sequence[Column],
    scale: tuple[float, float] | None,
    measure: Measure,
) -> list[Chart]:
    bars = {c.key: {row["model"]: mark_of(row, c.key) for row in rows[:MANY]} for c in numbers}
    grades = measure.kind == "grades"
    draw = functools.partial(charts.bars, bars, "grade" if grades else "value", scale=scale)
    return [Chart("By criterion" if grades else "Numbers", draw, "numbers")]


def labels(panel: Panel, view: View) -> Section:
    """Return the section of labels: the share of each, the main one ranked."""
    names = [name for name in panel.metrics if name != SCORE]
    known = is_facts(panel.combined)
    main = CORRECT if known else SCORE if SCORE in panel.metrics else names[0]
    noun = "correct" if known else "score" if main == SCORE else main.lower()
    column = Ranked(
        panel,
        view,
        main,
        key="correct" if known else main,
        heading=noun,
        measure=Measure("labels", noun=noun, places=0, percent=True),
        form="%",
    )
    if known:
        shares, tables = _put_facts(column.by_model, panel.combined)
        for judge in column.judges:
            own = {row["model"]: row for row in column.programs if row["judge"] == judge}
            _put_facts(own, panel.by_judge[judge])
        tables += _facts_by_group(column, shares)
    else:
        shares, tables = _put_labels(column, names), column.group_table(noun)
    columns = [*column.head(), *shares, *column.tail()]
    return column.section([Table(column.title(), columns, column.rows), *tables])


def _put_labels(column: Ranked, names: Sequence[str]) -> list[Column]:
    """Put the shares of the other labels into the rows; return their columns."""
    others = [name for name in names if name != column.metric]
    for name in others:
        for summary in summarize(column.panel.combined.of(metric=name)):
            if summary["model"] in column.by_model:
                put(column.by_model[summary["model"]], name, summary.mean)
    return [Column(name, name.lower().replace("_", " "), "%", always=True) for name in others]


def _facts_by_group(column: Ranked, shares: Sequence[Column]) -> list[Table]:
    """Return the rates of short facts by group of questions; text has them with --by."""
    if not column.groups:
        return []
    view, scores = column.view, column.panel.combined
    questions: dict[str, list[QuestionId]] = {}
    for question in scores.questions:
        name = str(field_of(question, view.group))
        questions.setdefault(name, []).append(question.question_id)
    rows: list[dict[str, Any]] = []
    for name in column.groups:
        part = scores.of(questions=questions[name])
        by_model: Rows = {
            f.model: {"model": f.model, view.group: name, "n": f.n} for f in facts(part)
        }
        _put_facts(by_model, part)
        rows += list(by_model.values())
    rows.sort(key=lambda row: row["model"])
    columns = [Column("model"), Column(view.group, always=True)]
    columns += [Column("correct", format="%", always=True), *shares]
    only: Literal["", "json"] = "" if view.by else "json"
    return [Table(f"By {view.group}", columns, rows, "groups", only)]


def _put_facts(rows: Rows, scores: Scores) -> tuple[list[Column], list[Table]]:
    """Put the rates of short facts into the rows; return their columns and the confidence table."""
    stated = []
    for model in facts(scores):
        if model.model not in rows:
            continue
        row = rows[model.model]
        rates = {
            "correct": model.correct,
            "incorrect": model.wrong,
            "not_attempted": model.not_tried,
            "given_attempted": model.of_tried,
            "f1": model.f1,
        }
        for name, estimate in rates.items():
            put(row, name, estimate)
        if model.confidence.n:
            row |= {
                "mean_confidence": model.confidence.value,
                "right_of_stated": model.right.value,
                "calibration_error": model.calibration_error,
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
