"""Numbers with errors over questions (`harness.results.estimate`), and the page of a report.

Values are pairs (question, value): two verdicts on question 81 are [(81, 0.5), (81, 1.0)].
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np

from harness.reporting import Column, Note, Page, Table
from harness.reporting.page import Row
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


def page(
    name: str,
    outcome: str,
    columns: Sequence[Column],
    rows: Sequence[Row],
    *more: Table,
    notes: Sequence[Note] = (),
    **facts: Any,
) -> Page:
    """Return the page of a report: one table, and more for --list."""
    facts = {"report": name, **facts}
    return Page(outcome, [Table("", columns, rows), *more], notes=notes, title=name, facts=facts)


def listing(title: str, name: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Table:
    """Return a table of items, for --list."""
    items = [dict(zip(columns, row, strict=True)) for row in rows]
    return Table(title, [Column(column) for column in columns], items, name)
