"""Several columns side by side: criteria, dimensions, metrics."""

import functools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from harness.reporting import charts
from harness.reporting.outcome import Evidence
from harness.reporting.page import Chart, Column, Table
from harness.reporting.ranked import Rows, mark_of
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
from harness.results import Panel, rank, summarize
from harness.results.scores import POINTS, SCORE


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
            evidence.append(Evidence(measure, ranking, questions, view.noun, name=metric))
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
    tables = [
        Table(title(panels[0], view), main, rows),
        Table(
            f"By {view.group}",
            grouped,
            list(groups.values()),
            "groups",
            only="" if view.by else "json",
        ),
    ]
    section = Section(panels[0], evidence, rows, tables)
    section.caveats = [caveat for panel in panels for caveat in caveats_of(panel, panel.combined)]
    ends = [replace(column, format=f"interval{column.format}") for column in numbers]
    section.more = [Table("95% intervals", [model, *ends], rows, only="text")]
    bars = {c.key: {row["model"]: mark_of(row, c.key) for row in rows[:MANY]} for c in numbers}
    draw = functools.partial(charts.bars, bars, "score", scale=measure_of(panels[0]).scale)
    section.charts = [Chart("Numbers", draw, "numbers")]
    return section
