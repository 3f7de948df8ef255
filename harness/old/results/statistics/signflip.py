"""Differences by question -> the exact two-sided p-value of the sign-flip test.

    p = P(|sum of e_q * d_q| >= |sum of d_q|),   e_q = +1 or -1 with equal chance, independently for each question q

If two models are equally good, each question's difference d_q might as well have had the other sign. The differences
stand on a grid (halves for the mean of two whole scores, 1/60 with several repeats), so the distribution of the sum is
found exactly, by adding one question at a time (convolution); no sign pattern is drawn at random.

d = 3, 1, -1, 2: the sum is 5. Of the 16 sign patterns the sums +7 (1 pattern), +5 (2), -5 (2), -7 (1) are at least as
far from 0, so p = 6 / 16 = 0.375.

Questions with d = 0 change nothing. With n others, no p is below 2 / 2^n: 5 questions cannot reach 0.05.

The count is exact if (places on the grid) * n is at most 10 million: always for 80 questions and a grid as fine as
1/300. Differences on no such grid are counted exactly too, for up to 30 questions, from the sums of either half of
them. Otherwise p is a saddlepoint approximation (`method` says so); on random differences it was within 2% of the exact
p from 30 questions on, within 0.4% at 80 and within 0.01% at 1,000.

Source: Fisher, The Design of Experiments (1935), section 21; Pagano and Tritchler (1983), J. Am. Stat. Assoc. 78, 435,
for the convolution; Robinson (1982), J. R. Stat. Soc. B 44, 91, and Lugannani and Rice (1980) for the saddlepoint.
"""

import math
import sys
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Literal, NamedTuple

import numpy as np

from harness.old.results.matrix import Floats, Ints

WORK = 10_000_000
"""Most additions for one p-value."""
FINEST = 1_000
"""The largest denominator of one score that counts as lying on a grid."""
MOST_OFF_GRID = 30
"""Most differences that are counted exactly if they lie on no grid."""
_NEAR = 1e-10
_SCALED = 1_000
"""After so many differences the counts are made smaller."""
_BLOCK = 100_000
"""Numbers in the counts that are made together; such an array stays in the cache."""
_SEVERAL = 16
"""Fewer than this in a block are quicker one by one: few are alike where the grid is fine."""


class SignFlip(NamedTuple):
    """A p-value and how it was found."""

    p: float
    method: Literal["exact", "saddlepoint"]


class _Counted(NamedTuple):
    """A p-value that is still to be counted, from the differences' places on their grid, ascending."""

    places: Ints
    reach: int
    """The most steps that the differences which turn negative may come to."""


def sign_flips(differences: Floats) -> list[SignFlip]:
    """Return the p-value of each column of differences (NaN where a question has none); those counted by convolution
    are counted together."""
    columns = np.where(np.isnan(differences), 0.0, differences).T
    every = denominator_of(columns)  # of all at once, where they all lie on a grid
    found = _on_grid(columns, every) if every is not None else [one for own in columns for one in _alike(own)]
    counts = iter(_convolved([one for one in found if isinstance(one, _Counted)]))
    return [SignFlip(next(counts), "exact") if isinstance(one, _Counted) else one for one in found]


def _alike(own: Floats) -> list[SignFlip | _Counted]:
    """Return the p-value of one column, or what it is to be counted from, where not all columns have one grid."""
    denominator = denominator_of(own)
    if denominator is not None:
        return _on_grid(own[None, :], denominator)
    sizes, observed = _sizes(own)
    if observed <= _NEAR * len(sizes):
        return [SignFlip(1.0, "exact")]
    if len(sizes) <= MOST_OFF_GRID:
        return [SignFlip(_met_in_the_middle(sizes, observed), "exact")]
    return [SignFlip(_saddlepoint(sizes, observed, 0.0), "saddlepoint")]


def _on_grid(columns: Floats, denominator: int) -> list[SignFlip | _Counted]:
    """Return for each row, all of whose differences become whole by the denominator, a p-value or what it is to be
    counted from."""
    signed = np.rint(columns * denominator).astype(np.int64)
    common = np.gcd.reduce(signed, axis=1)
    signed //= np.maximum(1, common)[:, None]
    places = np.sort(np.abs(signed), axis=1)
    observed = np.abs(signed.sum(axis=1))
    reaches, counts = (places.sum(axis=1) - observed) // 2, np.count_nonzero(places, axis=1)
    found: list[SignFlip | _Counted] = []
    for at, (reach, n) in enumerate(zip(reaches.tolist(), counts.tolist(), strict=True)):
        if not observed[at]:
            found.append(SignFlip(1.0, "exact"))
        elif (reach + 1) * n <= WORK:
            found.append(_Counted(places[at, len(places[at]) - n :], reach))
        else:
            step = int(common[at]) / denominator
            found.append(SignFlip(_saddlepoint(*_sizes(columns[at]), step), "saddlepoint"))
    return found


def _sizes(own: Floats) -> tuple[Floats, float]:
    """Return how large the differences are that are any, ascending, and how far from 0 their sum is."""
    return np.sort(np.abs(own[np.abs(own) > _NEAR])), abs(math.fsum(own))


def denominator_of(values: Floats) -> int | None:
    """Return a whole number by which all values become whole, or None if there is none.

    Values are taken for fractions with a denominator of at most 1,000 if they are within rounding of one.
    """
    values = values.ravel()
    denominator = 1
    while True:
        off = np.abs(values - np.rint(values * denominator) / denominator) > _NEAR
        if not off.any():
            return denominator
        value = float(values[int(np.argmax(off))])
        near = Fraction(value).limit_denominator(FINEST)
        if abs(float(near) - value) > _NEAR or denominator > FINEST**2:
            return None
        denominator = math.lcm(denominator, near.denominator)


def _convolved(counted: Sequence[_Counted]) -> list[float]:
    """Return for each the share of sign patterns in which the sum is at least as far from 0 as observed.

    A sum is that far up if the differences that turn negative come to at most `reach` steps, so the number of sets of
    differences with a sum of 0, 1, ..., `reach` is all that is counted; the other side has as many.
    """
    shares = [0.0] * len(counted)
    rest = sorted(range(len(counted)), key=lambda at: counted[at].reach)
    while rest:  # from the longest on, as many as fit into a block
        size = max(1, _BLOCK // (counted[rest[-1]].reach + 1))
        block, rest = rest[-size:], rest[:-size]
        own = [counted[at] for at in block]
        several = len(own) >= _SEVERAL and max(len(one.places) for one in own) < _SCALED
        for at, share in zip(block, _together(own) if several else map(_alone, own), strict=True):
            shares[at] = share
    return shares


def _together(counted: Sequence[_Counted]) -> Iterator[float]:
    """Yield the share of each, fewer than 1,000 differences each: `_alone` for all rows of one array.

    Differences are added in the same order, so the digits are the same. Of each size on the grid, the rows that have it
    most often come first: those that have it at least k times are a slice then.
    """
    reach = max(one.reach for one in counted)
    ways = np.zeros((len(counted), reach + 1))
    ways[:, 0] = 1.0
    places = np.concatenate([one.places for one in counted])
    row_of = np.repeat(np.arange(len(counted)), [len(one.places) for one in counted])
    within = places <= reach
    times = np.bincount((row_of * (reach + 1) + places)[within], minlength=ways.size).reshape(ways.shape)
    reached = np.zeros(len(counted), dtype=np.int64)  # the greatest sum so far; there is nothing to add beyond it
    for size in np.flatnonzero(times.any(axis=0)).tolist():
        left = np.count_nonzero(times[:, size])
        rows = np.argsort(-times[:, size], kind="stable")[:left]
        wanted, top = times[rows, size].tolist(), int(reached[rows].max())
        own = ways[rows, : top + size * wanted[0] + 1]
        for done in range(wanted[0]):
            while wanted[left - 1] <= done:
                left -= 1
            top += size
            own[:left, size : top + 1] += own[:left, : min(top, reach) + 1 - size]
        ways[rows, : own.shape[1]] = own
        reached[rows] += size * times[rows, size]
    for row, one in zip(ways, counted, strict=True):
        yield _share(row[: one.reach + 1], len(one.places))


def _alone(one: _Counted) -> float:
    """Return the share of one; `ways` has for each sum the number of sets of differences that come to it."""
    ways = np.zeros(one.reach + 1)
    ways[0] = 1.0
    top, scaled = 0, 0
    for done, size in enumerate(one.places.tolist(), 1):
        if size <= one.reach:
            top = min(one.reach, top + size)
            ways[size : top + 1] += ways[: top + 1 - size]
        if done % _SCALED == 0:  # stay far from the greatest float, 2^1024
            ways *= 2.0**-_SCALED
            scaled += _SCALED
    return _share(ways, len(one.places) - scaled)


def _share(ways: Floats, differences: int) -> float:
    p = math.ldexp(float(ways.sum()), 1 - differences)
    return min(1.0, max(p, sys.float_info.min))


def _met_in_the_middle(sizes: Floats, observed: float) -> float:
    """Return the same share from the sums of either half of the differences under all sign patterns."""
    half = len(sizes) // 2
    one, other = _sums(sizes[:half]), np.sort(_sums(sizes[half:]))
    needed = observed - _NEAR * len(sizes) - one
    as_far = len(other) * len(one) - int(np.searchsorted(other, needed, side="left").sum())
    return min(1.0, math.ldexp(float(as_far), 1 - len(sizes)))


def _sums(sizes: Floats) -> Floats:
    sums = np.zeros(1)
    for size in sizes:
        sums = np.concatenate([sums + size, sums - size])
    return sums


def _saddlepoint(sizes: Floats, observed: float, step: float) -> float:
    """Return Robinson's approximation; sums stand 2 * `step` apart (0: no grid)."""
    total = float(sizes.sum())
    if observed >= total - _NEAR * len(sizes):
        return max(math.ldexp(1.0, 1 - len(sizes)), sys.float_info.min)
    at = max(observed - step, 0.0)  # continuity: the observed sum counts itself
    point = _root(sizes, at)
    log_cosh = float(np.sum(np.logaddexp(point * sizes, -point * sizes) - math.log(2)))
    signed_root = math.sqrt(max(0.0, 2 * (point * at - log_cosh)))
    curvature = math.sqrt(float(np.sum(sizes**2 * (1 - np.tanh(point * sizes) ** 2))))
    slope = (math.sinh(point * step) / step if step else point) * curvature
    if signed_root < 1e-4:
        return 1.0
    density = math.exp(-(signed_root**2) / 2) / math.sqrt(2 * math.pi)
    tail = 0.5 * math.erfc(signed_root / math.sqrt(2)) + density * (1 / slope - 1 / signed_root)
    return min(1.0, max(2 * tail, sys.float_info.min))


def _root(sizes: Floats, at: float) -> float:
    """Return the t at which sum of size * tanh(t * size) is `at`, by bisection."""
    low, high = 0.0, 1.0 / float(sizes.max())
    while float(np.sum(sizes * np.tanh(high * sizes))) < at and high < 1e6:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        if float(np.sum(sizes * np.tanh(middle * sizes))) < at:
            low = middle
        else:
            high = middle
    return (low + high) / 2
