"""Grades, metrics, checklists; labels and short facts; several criteria side by side."""

import functools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from harness.reporting import charts
from harness.reporting.outcome import Evidence
from harness.reporting.page import Chart, Column, Only, Table
from harness.reporting.ranked import Ranked, Rows, mark_of
from harness.reporting.section import (
    MANY,
    Section,
    View,
    caveats_of,
    measure_of,
    put,
    sorted_rows,
    title,
)
from harness.results import Panel, Scores, rank, summarize
from harness.results.facts import CORRECT, facts, is_facts
from harness.results.scores import POINTS, SCORE
from harness.results.summarize import field_of
from harness.types import QuestionId


def graded(panel: Panel, view: View) -> Section:
    """Return the section of one column of grades, of one judge or a panel."""
    metric = panel.metrics[0]
    key = metric if panel.form == "metric" else "average"
    heading = "all" if len(panel.judges) > 1 else "score" if key == "average" else key
    return Ranked(panel, view, metric, key, heading).section()


def several(panels: Sequence[Panel], view: View) -> Section:
    """Return the section of criteria, dimensions or metrics; of metrics several panels together."""
    by_model: Rows = {}
    groups: dict[tuple[str, Any], dict[str, Any]] = {}
    evidence: list[Evidence] = []
    numbers: list[Column] = []
    for panel, metric in [(each, metric) for each in panels for metric in each.metrics]:
        scores, measure = panel.combined.of(metric=metric), measure_of(panel)
        ranking = rank(scores, models=view.models or None, looks=panel.looks)
        first = panel.metrics[0]
        total = first in (SCORE, POINTS) or panel.form == "metric"  # stands for those beside it
        if metric == first or not total:
            questions = len(np.unique(scores.question[scores.valid]))
            evidence.append(Evidence(measure, ranking, questions, name=metric))
        numbers.append(Column(metric, metric, measure.form, always=True))
        for summary in ranking.models:
            row = by_model.setdefault(summary["model"], {"model": summary["model"]})
            put(row, metric, summary.mean, measure.scale)
            ranks = ranking.ranks[summary["model"]]
            row |= {f"{metric}_rank_first": ranks.first, f"{metric}_rank_last": ranks.last}
            row["n"] = max(row.get("n", 0), summary.n)
            row["failed"] = row.get("failed", 0) + summary.failed
        for summary in summarize(scores, by=("model", view.group)):
            if summary[view.group]:
                row = {"model": summary["model"], view.group: summary[view.group]}
                put(groups.setdefault(summary.key, row), metric, summary.mean, measure.scale)
    evidence.sort(key=lambda item: -item.questions)
    if len(evidence) == 1:
        evidence = [replace(evidence[0], name="")]
    rows, model = sorted_rows(list(by_model.values()), view), Column("model")
    main = [model, *numbers, Column("failed", hidden_in_text=True)]
    grouped = [model, Column(view.group, always=True), *numbers]
    only: Only = "" if view.by else "json"
    by = Table(f"By {view.group}", grouped, list(groups.values()), "groups", only)
    tables = [Table(title(panels[0], view), main, rows), by]
    section = Section(panels[0], evidence, rows, tables)
    section.caveats = [caveat for panel in panels for caveat in caveats_of(panel, panel.combined)]
    ends = [replace(column, format=f"interval{column.format}") for column in numbers]
    section.more = [Table("95% intervals", [model, *ends], rows, only="text")]
    bars = {c.key: {row["model"]: mark_of(row, c.key) for row in rows[:MANY]} for c in numbers}
    draw = functools.partial(charts.bars, bars, "score", scale=measure_of(panels[0]).scale)
    section.charts = [Chart("Numbers", draw, "numbers")]
    return section


def labels(panel: Panel, view: View) -> Section:
    """Return the section of labels: the share of each, the main one ranked."""
    known = is_facts(panel.combined)
    main = CORRECT if known else panel.metrics[0]
    others = [] if known else panel.metrics[1:]
    noun = "correct" if known else main.lower()

    def fill(rows: Rows, scores: Scores) -> None:
        for name in others:
            for summary in summarize(scores.of(metric=name)):
                if summary["model"] in rows:
                    put(rows[summary["model"]], name, summary.mean)

    measure, key = measure_of(panel)._replace(noun=noun), "correct" if known else main
    column = Ranked(panel, view, main, key, noun, measure, _put_facts if known else fill)
    if not known:
        shares = [Column(name, name.lower().replace("_", " "), "%", always=True) for name in others]
        return column.section(shares)
    confidence = [
        Column("model", "stated confidence"),
        Column("mean_confidence", "mean", "%", always=True),
        Column("right_of_stated", "correct", "%", always=True),
        Column("calibration_error", "error", "%", "expected calibration error", always=True),
    ]
    stated = [row for row in column.rows if "mean_confidence" in row]
    return column.section(_FACTS, [Table("", confidence, stated), *_facts_by_group(column)])


_FACTS = [
    Column("incorrect", "wrong", "%", always=True),
    Column("not_attempted", "not tried", "%", always=True),
    Column("given_attempted", "of tried", "%", "correct of the answers tried", always=True),
    Column("f1", "F1", ".2", "harmonic mean of correct and of tried", always=True),
]


def _put_facts(rows: Rows, scores: Scores) -> None:
    """Put the rates of short facts into the rows."""
    for model in facts(scores):
        if (row := rows.get(model.model)) is None:
            continue
        put(row, "correct", model.correct)
        put(row, "incorrect", model.wrong)
        put(row, "not_attempted", model.not_tried)
        put(row, "given_attempted", model.of_tried)
        put(row, "f1", model.f1)
        if model.confidence.n:
            row["mean_confidence"] = model.confidence.value
            row["right_of_stated"] = model.right.value
            row["calibration_error"] = model.calibration_error


def _facts_by_group(column: Ranked) -> Sequence[Table]:
    """Return the rates of short facts by group of questions; text has them with --by."""
    field, scores = column.view.group, column.panel.combined
    questions: dict[str, list[QuestionId]] = {}
    for question in scores.questions:
        name = str(field_of(question, field))
        questions.setdefault(name, []).append(question.question_id)
    rows: list[dict[str, Any]] = []
    for name in column.groups:
        part = scores.of(questions=questions[name])
        own = {f.model: {"model": f.model, field: name, "n": f.n} for f in facts(part)}
        _put_facts(own, part)
        rows += own.values()
    rows.sort(key=lambda row: row["model"])
    columns = [Column("model"), Column(field), Column("correct", format="%", always=True), *_FACTS]
    by = Table(f"By {field}", columns, rows, "groups", only="" if column.view.by else "json")
    return [by] if rows else []
