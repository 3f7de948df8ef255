"""Pairs -> how often each two models met and who won, the counts from which strengths are fitted.

x and y met on two questions, two wins of x on the first, a tie on the second: the counts of the two are [2, 0, 0] and
[0, 0, 1].
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from harness.old.results.matrix import Floats, Ints, Pairs
from harness.old.results.pairs.matrix import tallies

FIRST, SECOND, TIE = 0, 1, 2
NONE = 1e-9
"""A weight of this or less is none."""

Bools = npt.NDArray[np.bool_]


class Games(NamedTuple):
    """Counts for each two models that were compared: first[k] against second[k]."""

    first: Ints
    second: Ints
    counts: Floats
    """questions (or resamplings) × pairs of models × 3: wins of the first, wins of the second, ties."""


def games_of(pairs: Pairs) -> tuple[list[str], Games]:
    """Return the models of which a pair counts, and the counts by question of each two that met."""
    wins, ties = tallies(pairs)
    met = (wins + wins.swapaxes(1, 2) + ties).sum(axis=0)
    there = np.flatnonzero(met.any(axis=1))
    first, second = np.nonzero(np.triu(met[np.ix_(there, there)], 1))
    i, j = there[first], there[second]
    counts = np.stack([wins[:, i, j], wins[:, j, i], ties[:, i, j]], axis=2)
    return [pairs.models[at] for at in there.tolist()], Games(first, second, counts)
