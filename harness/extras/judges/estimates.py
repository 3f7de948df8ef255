"""Numbers with errors over questions, and how reports show them (`harness.results.estimate`).

Values are pairs (question, value): two verdicts on question 81 are [(81, 0.5), (81, 1.0)].
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np

from harness.reporting import Column, Table
from harness.results.estimate import Estimate, jackknife, ratio
from harness.types import QuestionId

Values: TypeAlias = Iterable[tuple[QuestionId, float]]


def mean(values: Values, questions: Iterable[QuestionId] = (), *, share: bool = False) -> Estimate:
    """Return the mean; estimates that are subtracted from each other are of the same `questions`.

    `share`: the values are from 0 to 1.
    """
    sums = dict.fromkeys(questions, 0.0)
    counts = dict.fromkeys(sums, 0)
    for question, value in values:
        sums[question] = sums.get(question, 0.0) + value
        counts[question] = counts.get(question, 0) + 1
    return ratio(np.array(list(sums.values())), np.array(list(counts.values())), share=share)


def share(values: Values, questions: Iterable[QuestionId] = ()) -> Estimate:
    """Return the mean of shares, or how many of the values are true."""
    return mean(values, questions, share=True)


def over_questions(
    questions: Iterable[QuestionId], table: Any, statistic: Callable[..., float]
) -> Estimate:
    """Return a statistic of the columns of a table, with the jackknife over questions.

    `questions` has that of each row of the table, an array.
    """
    codes: dict[QuestionId, int] = {}
    places = np.array([codes.setdefault(question, len(codes)) for question in questions], dtype=int)

    def on(mask: Any) -> float:
        rows = table[mask[places]]
        return statistic(*rows.T) if len(rows) else math.nan

    return jackknife(on, len(codes))


def fields(**estimates: Estimate) -> dict[str, Any]:
    """Return estimates as fields: `name`, `name_low`, `name_high`; null where there is none."""
    row: dict[str, Any] = {}
    for name, estimate in estimates.items():
        row[name] = None if math.isnan(estimate.value) else estimate.value
        row[f"{name}_low"], row[f"{name}_high"] = estimate.interval or (None, None)
    return row


def interval_columns(name: str, title: str, form: str) -> list[Column]:
    """Return the columns of a number and its 95% interval."""
    ends = Column(name, "95% interval", format=f"interval{form}")
    return [Column(name, title, format=form), ends]


def listing(title: str, name: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Table:
    """Return a table of items, for --list."""
    items = [dict(zip(columns, row, strict=True)) for row in rows]
    return Table(title, [Column(column) for column in columns], items, name)


def words(estimate: Estimate, form: str = "%") -> str:
    """Return an estimate in a sentence: 68% (63 to 72)."""
    value, ends = (column.cell(fields(x=estimate)) for column in interval_columns("x", "", form))
    unit = "%" if form == "%" else ""
    return value + unit + (f" ({ends})" if estimate.interval else "")
