"""Grades, shares of a checklist, one metric; labels and short facts."""

from collections.abc import Sequence
from typing import Any

from harness.reporting.outcome import Measure
from harness.reporting.page import Column, Table
from harness.reporting.ranked import Ranked, Rows
from harness.reporting.section import Section, View, put
from harness.results import Panel, Scores, summarize
from harness.results.facts import CORRECT, facts, is_facts
from harness.results.scores import SCORE
from harness.results.summarize import field_of
from harness.types import QuestionId


def graded(panel: Panel, view: View) -> Section:
    """Return the section of one column of grades, of one judge or a panel."""
    metric = panel.metrics[0]
    key = metric if panel.form == "metric" else "average"
    heading = "all" if len(panel.judges) > 1 else "score" if key == "average" else key
    return Ranked(panel, view, metric, key, heading).section()


def labels(panel: Panel, view: View) -> Section:
    """Return the section of labels: the share of each, the main one ranked."""
    known = is_facts(panel.combined)
    names = [name for name in panel.metrics if name != SCORE]
    main = CORRECT if known else SCORE if SCORE in panel.metrics else names[0]
    others = [] if known else [name for name in names if name != main]
    noun = "correct" if known else main.lower()

    def fill(rows: Rows, scores: Scores) -> None:
        for name in others:
            for summary in summarize(scores.of(metric=name)):
                if summary["model"] in rows:
                    put(rows[summary["model"]], name, summary.mean)

    column = Ranked(
        panel,
        view,
        main,
        "correct" if known else main,
        noun,
        Measure("labels", (0, 1), noun, places=0, percent=True),
        _put_facts if known else fill,
    )
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
