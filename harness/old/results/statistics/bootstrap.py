"""Sums and counts by question -> ratios, each with a 95% interval from resampling questions.

    estimate = sum of s_q / sum of c_q        s_q: what question q adds, c_q: how much it counts (0 where it is missing)

Questions are drawn with replacement, and all that belongs to a question moves with it. Where the mix of groups (of
categories) is taken as given, they are drawn within each group; then what is estimated is a mean for this very mix.

Percentile bootstrap, from 60 questions on of which 30 lie apart (see `_apart`): of the n_g questions of a group,
n_g - 1 are drawn and each draw weighs n_g / (n_g - 1). This is the n/(n-1) correction: drawing all n_g gives a variance
that is too small by (n_g - 1) / n_g. The interval runs from the 2.5% to the 97.5% quantile of the resampled estimates.

Symmetric studentized bootstrap, with fewer, from 5 on: each resampled estimate is measured in its own standard error,

    t* = |estimate* - estimate| / max(se*, se / 3)        interval = estimate ± (95% quantile of t*) * se
    se = sqrt( sum over groups of n_g / (n_g - 1) * sum of (r_q - mean of r)^2 ) / sum of c_q

where r_q = s_q - estimate * c_q, and se / 3 keeps resamples of nearly equal scores from making it endless. Below 5
questions there is no interval. Groups too small to be resampled alone (below 2 questions; below 5 for the studentized
form) are put together.

1,000 questions or more, of which 300 lie apart: estimate ± 1.96 se. The estimate is then as good as normal (the ends
differ by a few percent of the width from those of the percentile bootstrap, whose own chance is one percent), and
10,000 resamplings of 10,000 questions would take minutes for every table.

All n questions agree on v, on a scale from a to b: a share of other questions above s = 1 - 0.05^(1/n) would have been
seen in 95% of samples, so the interval is v - s * (v - a) to v + s * (b - v); on no known scale there is none. 80 of 80
won: s = 0.037, and the interval is 0.963 to 1 (one-sided as Clopper and Pearson's; the "rule of three"). Where nearly
all agree (`PEAKED`), the interval is made wider by s times the distance from the least value seen to a, and from the
greatest to b; not of differences, which hardly ever are as large as the scale (where all are equal: see `paired`).

Scores 2, 4, 6, 8, 10 of five questions in one group: estimate 6, se = sqrt(5 / 4 * 40) / 5 = 1.41, the 95% quantile
of t* is 3.21, and the interval 6 ± 4.54 (Student's t gives 6 ± 3.93).

How often these intervals miss in simulation, by design and number of questions: `benchmarks/README.md`.

Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapter 12; Rao and Wu (1988), J. Am. Stat.
Assoc. 83, 231, for the correction; Hall, The Bootstrap and Edgeworth Expansion (1992), for the symmetric form; Clopper
and Pearson (1934), Biometrika 26, 404.
"""

import functools
from collections.abc import Iterator, Sequence
from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt

from harness.old.results.matrix import Floats, Ints, label
from harness.old.results.statistics.estimate import NONE as NONE
from harness.old.results.statistics.estimate import Estimate as Estimate
from harness.old.results.statistics.estimate import Method as Method

RESAMPLINGS = 10_000
FEW = 60
"""With fewer questions than this, the percentile interval is too short and the studentized one is used."""
LEAST = 5
"""With fewer questions than this there is no interval."""
FEW_APART = 30
"""With fewer questions apart from the rest than this (see `_apart`), the studentized interval is used at any number."""
MANY = 1_000
"""From so many questions on, nothing is resampled: the interval is that of a normal distribution."""
MANY_APART = 300
"""With fewer questions apart from the rest than this, they are resampled at any number."""
PEAKED = 5.0
"""With a kurtosis above this, nearly all questions agree, and those that do not are few: others may be unseen."""
FLOOR = 1 / 3
"""The least standard error of a resample, as a share of the sample's."""
COVERAGE: dict[Method, str] = {
    "percentile": (
        "percentile bootstrap over questions; of its 95% intervals 4-8% missed in simulation (benchmarks/README.md)"
    ),
    "studentized": (
        "studentized bootstrap over questions; of its 95% intervals 4-9% missed in simulation, fewer where nearly all "
        "questions agree (benchmarks/README.md)"
    ),
    "bound": "where all questions agree, what a share of other questions too small to have been seen could change",
    "normal": f"1.96 standard errors over questions, which from {MANY:,} questions on is what resampling them gives",
}
"""What each method is and how often its 95% interval held the true value."""

LEVEL = 0.95
_METHODS: tuple[Method, ...] = ("percentile", "studentized", "bound", "normal")
_PERCENTILE, _STUDENTIZED, _BOUND, _NORMAL = range(4)
_REACH = 1.959964
"""The 97.5% quantile of the standard normal distribution."""
_BLOCK = 2_000_000
"""Numbers in one block of weights or of resampled estimates; bounds the memory (16 MB for each such array)."""
_KEPT = 20_000_000
"""Numbers of all resamplings together that are kept for the next table (20 MB)."""
_FAST = 200_000
"""Numbers in one block where smaller blocks cost nothing more; such arrays stay in the cache."""
_DRAWN = 50_000
"""Numbers that are drawn, and made weights of, together; memory of that size is used again, not asked for anew."""


class Resampling(TypedDict, total=False):
    """How questions are resampled: the words that whatever has intervals hands on to `estimates`."""

    resamplings: int
    """How many times (default: `RESAMPLINGS`)."""
    seed: int
    """Of the drawing (default: 0)."""


def estimates(
    sums: Floats,
    counts: Floats,
    groups: Sequence[Any] | None = None,
    *,
    resamplings: int = RESAMPLINGS,
    seed: int = 0,
    bounds: tuple[float, float] | None = None,
    method: Method | None = None,
) -> list[Estimate]:
    """Return the ratio of summed `sums` to summed `counts` for each column, with its 95% interval.

    Args:
        sums: questions × columns; what each question adds (0 where it is missing).
        counts: questions × columns; how much each question counts (0 where it is missing).
        groups: for each question, its group; questions are resampled within groups (default: all are one).
        resamplings: how many; 0: no intervals, which is much faster.
        seed: of the resampling; all columns see the same resampled questions.
        bounds: least and greatest possible value; intervals end there.
        method: of all intervals of fewer than `MANY` questions (default: by the number of questions).
    """
    total = counts.sum(axis=0)
    value = np.divide(sums.sum(axis=0), total, out=np.full(total.shape, np.nan), where=total > 0)
    questions = np.count_nonzero(counts > 0, axis=0)
    how, low, high = np.zeros(value.shape, dtype=np.int64), np.full(value.shape, np.nan), np.full(value.shape, np.nan)
    if resamplings:
        strata = [None] * len(sums) if groups is None else groups
        how, low, high = _intervals(sums, counts, value, questions, strata, resamplings, seed, bounds, method)
    numbers = ([None if own != own else own for own in each.tolist()] for each in (value, low, high))
    return [
        Estimate(own, below, above, n, None if below is None else _METHODS[at])
        for own, below, above, n, at in zip(*numbers, questions.tolist(), how.tolist(), strict=True)
    ]


def _intervals(
    sums: Floats,
    counts: Floats,
    value: Floats,
    questions: Ints,
    strata: Sequence[Any],
    resamplings: int,
    seed: int,
    bounds: tuple[float, float] | None,
    method: Method | None,
) -> tuple[Ints, Floats, Floats]:
    """Return for each column the place of its method in `_METHODS`, and the ends of its interval (NaN: none)."""
    residual = np.where(counts > 0, sums - value * counts, 0.0)
    spread = np.abs(residual).max(axis=0, initial=0.0) > 1e-9 * (1.0 + np.abs(value))
    apart = _apart(residual)
    few = (questions < FEW) | (apart < FEW_APART)
    how = few.astype(np.int64) if method is None else np.full(len(value), _METHODS.index(method))
    how = np.where((questions >= MANY) & (apart >= MANY_APART), _NORMAL, how)
    low, high = np.full(value.shape, np.nan), np.full(value.shape, np.nan)
    known = bounds if bounds is not None and np.isfinite(bounds).all() else None
    if known is not None:
        agree = ~spread & (questions >= LEAST)
        below, above = _unseen(value, value, questions, known)
        low, high = np.where(agree, value - below, np.nan), np.where(agree, value + above, np.nan)
    for each in (_PERCENTILE, _STUDENTIZED, _NORMAL):
        chosen = np.flatnonzero(spread & (questions >= LEAST) & (how == each))
        if not len(chosen):
            continue
        counting = np.asarray(counts[:, chosen].any(axis=1))
        resampled = _Resampled(strata, counting, each, resamplings, seed)
        width = max(1, (_FAST if resampled.drawn_once else _BLOCK) // resamplings)
        for start in range(0, len(chosen), width):
            columns = chosen[start : start + width]
            below, above = resampled.ends(residual[:, columns].T, counts[:, columns].T)
            low[columns], high[columns] = value[columns] + below, value[columns] + above
    if known is not None and known[0] != -known[1]:  # which differences have
        peaked = np.flatnonzero(spread & (questions > PEAKED * apart))
        there = counts[:, peaked] > 0
        means = np.divide(sums[:, peaked], counts[:, peaked], out=np.zeros(there.shape), where=there)
        least = np.where(there, means, np.inf).min(axis=0, initial=np.inf)
        most = np.where(there, means, -np.inf).max(axis=0, initial=-np.inf)
        below, above = _unseen(least, most, questions[peaked], known)
        low[peaked], high[peaked] = low[peaked] - below, high[peaked] + above
    if bounds is not None:
        low, high = np.maximum(low, bounds[0]), np.minimum(high, bounds[1])
    return np.where(spread, how, _BOUND), low, high


def jackknifed(
    value: Floats,
    without: Floats,
    groups: Sequence[Any] | None = None,
    *,
    present: npt.NDArray[np.bool_] | None = None,
    **how: Any,
) -> list[Estimate]:
    """Return the mean, which is the value but for rounding, of the pseudo-values n * value - (n - 1) * value without a
    question, and its interval.

    There is none where values without some question are missing.

    Args:
        value: of all questions.
        without: questions × values: without each question in turn.
        groups: for each question, its group, as in `estimates`.
        present: which questions count, or questions × values, which of them for each value (default: all).
        how: further words of `estimates`.
    """
    there = np.ones(without.shape, dtype=bool)
    if present is not None:
        there &= present.reshape(len(present), -1)
    n = np.count_nonzero(there, axis=0)
    known = ~np.isnan(value) & ~(np.isnan(without) & there).any(axis=0) & (n >= LEAST)
    center = np.where(there, without, 0.0).sum(axis=0) / np.maximum(n, 1)
    counts = (there & known).astype(np.float64)
    found = estimates(np.where(counts > 0, value + (n - 1) * (center - without), 0.0), counts, groups, **how)
    return [
        own if sure else Estimate(None if one != one else one, None, None, questions, None)
        for own, one, questions, sure in zip(found, value.tolist(), n.tolist(), known.tolist(), strict=True)
    ]


def _apart(residual: Floats) -> Floats:
    """Return for each column how many questions make its spread: all of n if half lie on either side, k if k lie apart.

    That is (sum of r^2)^2 / sum of r^4, n over the kurtosis; of normal values n / 3.
    """
    square = residual**2
    fourth = (square**2).sum(axis=0)
    apart: Floats = np.divide(square.sum(axis=0) ** 2, fourth, out=np.zeros(len(fourth)), where=fourth > 0)
    return apart


def _unseen(least: Floats, most: Floats, questions: Ints, bounds: tuple[float, float]) -> tuple[Floats, Floats]:
    """Return how far the share of other questions that so many miss in 5% of samples, all at a bound, would move the
    mean beyond the least and the greatest value seen."""
    share = 1 - (1 - LEVEL) ** (1 / np.maximum(questions, 1))
    return share * np.maximum(least - bounds[0], 0.0), share * np.maximum(bounds[1] - most, 0.0)


def question_weights(
    strata: Sequence[Ints], *, corrected: bool, resamplings: int = RESAMPLINGS, seed: int = 0
) -> Iterator[Floats]:
    """Yield blocks of weights, resamplings × questions: how much each question counts in each resampling.

    `corrected` draws one question less than a stratum has, and lets each draw weigh that much more; the variance of a
    resampled mean is then unbiased. A stratum of one question always weighs 1.
    """
    sizes = np.concatenate([np.full(len(own), len(own)) for own in strata])
    scale = np.empty(len(sizes))
    scale[np.concatenate(strata)] = sizes / np.maximum(1, sizes - corrected)
    key = tuple(own.tobytes() for own in strata), corrected, resamplings, seed
    few = len(sizes) * resamplings <= _KEPT
    rows = max(64, _DRAWN // len(sizes))
    for times in _kept_times(*key) if few else _times(*key):
        for start in range(0, len(times), rows):
            yield times[start : start + rows] * scale


def _times(strata: tuple[bytes, ...], corrected: bool, resamplings: int, seed: int) -> Iterator[npt.NDArray[Any]]:
    """Yield blocks of how often each question is drawn in each resampling."""
    generator = np.random.default_rng(seed)
    every = [np.frombuffer(own, np.int64) for own in strata]
    total = sum(map(len, every))
    size = max(1, _BLOCK // max(1, total))
    small = np.min_scalar_type(max(map(len, every)))
    for start in range(0, resamplings, size):
        rows = min(size, resamplings - start)
        times = np.ones((rows, total), dtype=small)
        for stratum in every:
            n = len(stratum)
            if n == 1:
                continue
            part = max(1, _DRAWN // n)
            for first in range(0, rows, part):
                own = times[first : first + part]
                drawn = generator.integers(0, n, size=(len(own), n - corrected))
                drawn += n * np.arange(len(own))[:, None]
                own[:, stratum] = np.bincount(drawn.ravel(), minlength=len(own) * n).reshape(len(own), n)
        yield times


@functools.lru_cache(2)
def _kept_times(*key: Any) -> list[npt.NDArray[Any]]:
    """Return the same, kept: the tables of one result, and its categories of one size, share them."""
    return list(_times(*key))


def strata_of(groups: Sequence[Any], least: int = 2) -> list[Ints]:
    """Return the indices of the questions of each group; groups of fewer than `least` questions are put together.

    If those together are still too few, the smallest of the other groups joins them.
    """
    places: dict[Any, list[int]] = {}
    for place, group in enumerate(groups):
        places.setdefault(label(group), []).append(place)
    large = [own for own in places.values() if len(own) >= least]
    rest = [place for own in places.values() if len(own) < least for place in own]
    if rest and len(rest) < least and large:
        smallest = min(large, key=len)
        large.remove(smallest)
        rest += smallest
    return [np.array(sorted(own), dtype=np.int64) for own in (*large, rest) if own]


class _Resampled:
    """The resampled questions of one method, drawn once if they are few, else again for each block."""

    def __init__(
        self, groups: Sequence[Any], counting: npt.NDArray[np.bool_], method: int, resamplings: int, seed: int
    ) -> None:
        """`method` is a place in `_METHODS`; groups without a question in `counting` would be drawn for nothing."""
        self.method = method
        self.resamplings = resamplings
        self.seed = seed
        strata = [own for own in strata_of(groups, LEAST if method == _STUDENTIZED else 2) if counting[own].any()]
        self.rows = np.sort(np.concatenate(strata))
        self.strata = [np.searchsorted(self.rows, own) for own in strata]
        self.drawn_once = len(self.rows) * resamplings <= _BLOCK

    def ends(self, residual: Floats, counts: Floats) -> tuple[Floats, Floats]:
        """Return how far below and above its estimate each interval ends; both arrays are columns × questions."""
        residual, counts = residual[:, self.rows], counts[:, self.rows]
        columns = len(residual)
        error = None
        if self.method != _PERCENTILE:
            one = np.ones((1, residual.shape[1]))
            error = self._errors(one, residual, counts, np.zeros((columns, 1)))
        if self.method == _NORMAL:
            assert error is not None
            reach = _REACH * error[:, 0]
            return -reach, reach
        shifts = np.empty((columns, self.resamplings))
        start = 0
        corrected = self.method == _PERCENTILE
        how: Resampling = {"resamplings": self.resamplings, "seed": self.seed}
        for weights in question_weights(self.strata, corrected=corrected, **how):
            stop = start + len(weights)
            with np.errstate(divide="ignore", invalid="ignore"):
                shift = residual @ weights.T
                shift /= self._totals(weights, counts)
                if error is not None:
                    errors = self._errors(weights, residual, counts, shift)
                    shift /= np.maximum(errors, FLOOR * error, out=errors)
                    np.abs(shift, out=shift)
            shifts[:, start:stop] = shift
            start = stop
        if error is None:
            below, above = _quantiles(shifts, (0.025, 0.975))
            return below, above
        [reach] = _quantiles(shifts, (0.95,)) * error[:, 0]
        return -reach, reach

    def _totals(self, weights: Floats, counts: Floats) -> Floats:
        """Return the resampled sums of counts; they are the same in all resamplings if no question is missing."""
        if (counts == counts[:, :1]).all():
            same: Floats = counts.sum(axis=1, keepdims=True)
            return same
        totals: Floats = counts @ weights.T
        return totals

    def _errors(self, weights: Floats, residual: Floats, counts: Floats, shift: Floats) -> Floats:
        """Return the standard error of each resampled estimate, columns × resamplings."""
        complete = bool((counts == counts[:, :1]).all())
        square: Floats = np.zeros((len(residual), len(weights)))
        for stratum in self.strata:
            n = len(stratum)
            own, r, c = weights[:, stratum].T, residual[:, stratum], counts[:, stratum]
            first, second = r @ own, r**2 @ own
            if not complete:  # the residuals from the resampled estimate; a constant shift cancels
                second += shift * (shift * (c**2 @ own) - 2 * ((r * c) @ own))
                first -= shift * (c @ own)
            first *= first
            first /= n
            second -= first
            second *= n / max(1, n - 1)
            square += second
        np.maximum(square, 0.0, out=square)
        np.sqrt(square, out=square)
        square /= self._totals(weights, counts)
        return square


def _quantiles(resampled: Floats, at: tuple[float, ...]) -> Floats:
    """Return quantiles of each row, over the resamplings in which there is an estimate; `resampled` is used up."""
    defined = np.isfinite(resampled).all(axis=1)
    result = np.full((len(at), len(resampled)), np.nan)
    if defined.all():
        result[:] = _between(resampled, at)
        return result
    for row, values in enumerate(resampled):
        if np.isfinite(values).any():
            result[:, row] = _between(values[None, np.isfinite(values)], at)[:, 0]
    return result


def _between(rows: Floats, at: tuple[float, ...]) -> Floats:
    """Return quantiles of each row, which is put in another order; numpy's own copies them and imports `numpy.ma`."""
    places = [(rows.shape[1] - 1) * share for share in at]
    below = [int(place) for place in places]
    above = [min(place + 1, rows.shape[1] - 1) for place in below]
    rows.partition(sorted({*below, *above}), axis=1)
    found = []
    for place, low, high in zip(places, below, above, strict=True):
        share, step = place - low, rows[:, high] - rows[:, low]
        found.append(rows[:, low] + step * share if share < 0.5 else rows[:, high] - step * (1 - share))
    return np.array(found)
