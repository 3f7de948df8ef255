"""Items and the questions that they are about -> sum of values / sum of counts, with an interval.

The intervals are those of `results.statistics.bootstrap`: everything about a question moves together.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.results.matrix import Ints
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
