"""Items and the questions that they are about -> one number with an interval that resamples the questions.

    ratio        sum of values / sum of counts, over all items
    jackknifed   a number that is no such ratio, from its values without each question in turn:
                 pseudo-value of question q = value + (n - 1) * (mean of the values without one - value without q)

The intervals are those of `results.statistics.bootstrap`: everything about a question moves together.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.results.matrix import Floats, Ints
from harness.results.pairs.games import Bools
from harness.results.statistics.bootstrap import Estimate, estimates


def ratio(
    question: Sequence[int] | Ints, values: Any, counts: Any, questions: int | None = None, **how: Any
) -> Estimate:
    """Return the sum of values over the sum of counts, of items, with an interval that resamples their questions.

    Args:
        question: for each item, the place of its question.
        values: what each item adds.
        counts: how much it counts, or the same for all.
        questions: how many there are (default: up to the last one with an item).
        how: further words of `estimates`.
    """
    places = np.asarray(question, dtype=np.int64)
    size = questions if questions is not None else int(places.max(initial=-1)) + 1
    sums, total = np.zeros((2, size, 1))
    np.add.at(sums[:, 0], places, values)
    np.add.at(total[:, 0], places, counts)
    return estimates(sums, total, **how)[0]


def jackknifed(value: Floats, without: Floats, present: Bools | None = None, **how: Any) -> list[Estimate]:
    """Return each value with an interval that resamples the jackknife's pseudo-values of the questions.

    Args:
        value: of all questions.
        without: questions × values: without each question in turn.
        present: which questions count (default: all).
        how: further words of `estimates`.
    """
    present = np.ones(len(without), dtype=bool) if present is None else present
    known = ~np.isnan(value)
    pseudo = value + (int(present.sum()) - 1) * (without[present].mean(axis=0) - without)
    pseudo = np.where(known, np.where(present[:, None], pseudo, 0.0), 0.0)
    found = estimates(pseudo, (present[:, None] & known).astype(np.float64), **how)
    return [found[at] for at in range(len(value))]
