"""Sums of many numbers without rounding: of all that are added the exact sum, as `math.fsum` has it of a list.

    8.5 = 0.53125 * 2^4 = 4785074604081152 * 2^-49        a whole number, and a power of two that few numbers differ in

Whole numbers of one power are summed by cell as such; the sums of different powers meet as Python's numbers.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

_DIGITS, _HALF = 53, 26
"""Bits of a float; the lower of its two halves, whose sums over a million rows are exact in floats."""


class Sums:
    """The sums and counts of numbers in cells."""

    def __init__(self, cells: int) -> None:
        self._counts = np.zeros(cells, dtype=np.int64)
        self._halves: dict[int, npt.NDArray[np.int64]] = {}
        """For each power of two, the sums of the upper and of the lower halves by cell."""

    def add(self, cell: npt.NDArray[np.int64], values: npt.NDArray[np.float64]) -> None:
        """Add finite values, of which `cell` has the cells; up to some million at once."""
        size = len(self._counts)
        self._counts += np.bincount(cell, minlength=size)
        share, power = np.frexp(values)
        whole = np.ldexp(share, _DIGITS).astype(np.int64)
        least = power.min(initial=0)
        for own in (np.flatnonzero(np.bincount(power - least)) + least).tolist():
            there = power == own
            at, some = cell[there], whole[there]
            halves = self._halves.setdefault(own - _DIGITS, np.zeros((2, size), dtype=np.int64))
            for sums, half in zip(halves, (some >> _HALF, some & (1 << _HALF) - 1), strict=True):
                sums += np.bincount(at, weights=half, minlength=size).astype(np.int64)

    def count(self, cells: Sequence[int]) -> int:
        """Return how many values some cells have together, once all are added; and likewise."""
        return sum(map(self._counted.__getitem__, cells))

    def sum(self, cells: Sequence[int]) -> float:
        """Return the sum of the values of some cells, rounded once."""
        totals, power = self._totals
        total = sum(map(totals.__getitem__, cells))
        return total / (1 << -power) if power < 0 else float(total << power)

    def mean(self, cells: Sequence[int]) -> float | None:
        """Return the mean of the values of some cells, or None of no values."""
        count = self.count(cells)
        return self.sum(cells) / count if count else None

    @cached_property
    def _counted(self) -> list[int]:
        counts: list[int] = self._counts.tolist()
        return counts

    @cached_property
    def _totals(self) -> tuple[list[int], int]:
        """The sums by cell as whole numbers, and the power of two by which they are to be multiplied."""
        least = min(self._halves, default=0)
        totals = [0] * len(self._counts)
        for power, halves in self._halves.items():
            pairs = zip(totals, *halves.tolist(), strict=True)
            totals = [total + ((upper << _HALF) + lower << power - least) for total, upper, lower in pairs]
        return totals, least
