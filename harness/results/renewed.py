"""Does a model do better on the shipped questions than on renewed ones of their templates?

    difference = mean over templates of (passed as shipped − mean passed of the renewed ones)

Shipped passed, renewed 1, 0, 0: 0.67. A model that never saw the shipped ones passes both alike,
as each pair is of one template and level. One-sided: the lower end of the 90% interval by templates
is above 0 in 5% of such models. Where nearly everything is passed, or nearly nothing, it is silent.

Source: Zhang et al. 2024 (GSM1k, arXiv:2405.00332) for measuring memorisation by fresh questions.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from harness.results.estimate import LEAST, Estimate, Interval, ratio
from harness.results.scores import Scores

TemplateLevel: TypeAlias = tuple[str, int]
"""A template and a level."""
SEEDS = 3
"""Renewed sets below which nothing is said."""
ONE_SIDED = 0.1
"""What a two-sided interval leaves out whose lower end alone is looked at."""


class Known(NamedTuple):
    """What is known of one model."""

    difference: Estimate
    """By template."""
    telling: int
    """Templates of which not everything is passed, and not everything failed."""

    @property
    def interval(self) -> Interval | None:
        """The interval whose lower end is looked at."""
        return self.difference.interval_at(ONE_SIDED)

    @property
    def silent(self) -> bool:
        """Whether too little varies to say anything."""
        return self.telling < LEAST

    @property
    def better(self) -> bool:
        """Whether the shipped questions are passed more often."""
        ends = self.interval
        alike = ends is None and self.difference.n >= LEAST and self.difference.value > 0
        return not self.silent and (alike or (ends is not None and ends.low > 0))


def by_place(passed: Scores, model: str) -> dict[TemplateLevel, float]:
    """Return the share of a model's conversations that pass, by template and level."""
    own = passed.of(models=[model])
    own = own.take(own.valid)
    values: dict[TemplateLevel, list[float]] = {}
    for code, value in zip(own.question.tolist(), own.value.tolist(), strict=True):
        extra = passed.questions[code].extra
        if extra.get("template"):
            values.setdefault((extra["template"], extra.get("level", 0)), []).append(value)
    return {place: sum(all_of) / len(all_of) for place, all_of in values.items()}


def compare_renewed(
    shipped: Mapping[TemplateLevel, float],
    renewed: Sequence[Mapping[TemplateLevel, float]],
    places: Sequence[TemplateLevel],
) -> Known:
    """Return how much better the shipped questions are passed than renewed ones.

    Args:
        shipped: the share passed, by template and level.
        renewed: the same of each renewed set.
        places: all templates and levels, so that models can be compared.
    """
    sums, counts, telling = np.zeros(len(places)), np.zeros(len(places), dtype=np.int64), 0
    for at, place in enumerate(places):
        others = [one[place] for one in renewed if place in one]
        if place in shipped and len(others) >= SEEDS:
            sums[at], counts[at] = shipped[place] - sum(others) / len(others), 1
            telling += not {*others, shipped[place]} <= {0.0} and {*others, shipped[place]} != {1.0}
    return Known(ratio(sums, counts), telling)
