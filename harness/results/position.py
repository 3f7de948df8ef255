"""Position bias: does the order of two answers change the verdict?

    consistent   both games of a pair have the same outcome
    to_first     both games were won by the answer shown first, so the winner flipped
    to_second    both games were won by the answer shown second
    one_sided    one of the two games is a tie
    rate         (to_first + to_second) / pairs judged in both orders with two verdicts
    first_share  games won by the answer shown first / games that were won

x won when shown first and y won when shown first: a flip to the first. Every judge's pair counts,
each sample too: of five pairs judged by two judges, one of which always flips, 5 of 10 flip. A
judge that guesses flips half of its decided pairs and has a first_share of one half.

Source: Zheng et al. 2023 (arXiv:2306.05685), table 2.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from harness.results.estimate import Bools, Estimate, ratio
from harness.results.scores import CONSISTENT, FLIPPED, ONCE, ONE_SIDED, Scores

KINDS = ("consistent", "to_first", "to_second", "one_sided")


@dataclass(frozen=True, eq=False)
class Flips:
    """What the two games of pairs show."""

    pairs: int
    """Judged in both orders with two verdicts: of these the shares are."""
    counts: Mapping[str, int]
    """Of each of the `KINDS`."""
    shares: Mapping[str, Estimate]
    flipped: int
    rate: Estimate
    """How many of the pairs flipped."""
    of_decided: Estimate
    """How many of those with one winner in both orders or a flip; half by guessing."""
    to_first: Estimate
    """How many of the flips went to the answer shown first."""
    first_games: int
    """Games won by the answer shown first."""
    decided_games: int
    first_share: Estimate
    errors: int
    """Pairs without a verdict."""


def flips(scores: Scores) -> Flips:
    """Return how often the verdict changed with the order, of each judge's pairs."""
    twice = scores.take(scores.flip != ONCE)
    flip, size = twice.flip, len(scores.questions)

    def share(which: Bools, of: Scores) -> Estimate:
        sums = np.bincount(of.question[which], minlength=size)
        return ratio(sums, np.bincount(of.question, minlength=size), share=True)

    is_flipped = flip == FLIPPED
    decided = is_flipped | (twice.value != 0.5)
    won_first = is_flipped & (twice.shown_first > 0.5)
    which = {
        "consistent": flip == CONSISTENT,
        "to_first": won_first,
        "to_second": is_flipped & ~won_first,
        "one_sided": flip == ONE_SIDED,
    }
    games = np.concatenate([twice.shown_first, 1 - twice.shown_second])
    both = twice.plus(twice).take(games != 0.5)
    first_won = games[games != 0.5] > 0.5
    return Flips(
        len(twice),
        {name: int(mask.sum()) for name, mask in which.items()},
        {name: share(mask, twice) for name, mask in which.items()},
        int(is_flipped.sum()),
        share(is_flipped, twice),
        share(is_flipped[decided], twice.take(decided)),
        share(won_first[is_flipped], twice.take(is_flipped)),
        int(first_won.sum()),
        len(both),
        share(first_won, both),
        int((~scores.valid).sum()),
    )
