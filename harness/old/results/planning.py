"""Questions × samples × judges -> the smallest difference between two models that they would detect, before a run.

    variance of a question's difference = between + noise / (samples * judges)
    smallest                            = (z + 0.84) * sqrt(variance / questions)

between: how much the difference of two models varies between questions; noise: how much the difference of two verdicts
varies when the same judge is asked again. The power is 80% at the level of the table: z is
the quantile for 0.05 / m, two-sided, for m pairs of models (`statistics.paired`).

80 questions, three models, between = 4, noise = 1, one sample: z = 2.39 and the smallest difference is
3.24 * sqrt(5 / 80) = 0.81; with two samples 0.77, with 120 questions 0.66.

Several judges count as samples, though part of their differences does not average out over questions.

Source: Brennan, Generalizability Theory (2001), chapter 4, for decision studies; Miller (2024), arXiv 2411.00640.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from harness.old.results.statistics.paired import reach

ASSUMED_BETWEEN, ASSUMED_NOISE = 0.22, 0.08
"""Standard deviations, as shares of the scale, assumed without judgments: typical of grades of chat models."""
MORE = 40
"""More questions, as the alternative to another sample."""


class Spread(NamedTuple):
    """Variances of the difference of two models on one question."""

    between: float
    """What another sample of the same judge does not change."""
    noise: float
    """What it does."""
    told_by: str
    """The source of these numbers."""

    def smallest(self, questions: int, samples: int = 1, judges: int = 1, *, family: int = 1) -> float:
        """Return the smallest difference that these would detect with a power of 80%, among `family` pairs."""
        return reach(family) * math.sqrt((self.between + self.noise / (samples * judges)) / questions)


PAIRS = Spread(
    0.6**2, 0.3**2, "assumed: standard deviations of 0.6 and 0.3; once there are judgments, their own are used"
)
"""What is usual of the win rates of two models on a question, a tie half."""


def assumed(length: float) -> Spread:
    """Return what is usual on a scale of this length."""
    told = "assumed: standard deviations of 22% and 8% of the scale; once there are judgments, their own are used"
    return Spread((ASSUMED_BETWEEN * length) ** 2, (ASSUMED_NOISE * length) ** 2, told)


def alternatives(spread: Spread, questions: int, samples: int) -> list[tuple[int, int]]:
    """Return designs to choose between: questions and samples; the first is the one that is planned.

    The second has another sample, if its gain is known.
    """
    again = [(questions, samples + 1)] if spread.noise else []
    return list(dict.fromkeys([(questions, samples), *again, (questions + MORE, samples), (2 * questions, samples)]))


def design_rows(
    spread: Spread, designs: Sequence[tuple[int, int]], *, judges: int = 1, family: int = 1
) -> list[dict[str, Any]]:
    """Return a row for each design: what it asks, and the smallest difference that it shows."""
    return [
        {
            "questions": questions,
            "samples": samples,
            "judges": judges,
            "smallest_difference": spread.smallest(questions, samples, judges, family=family),
        }
        for questions, samples in designs
    ]
