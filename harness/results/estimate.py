"""One kind of number with an error: a value, and how much each question moves it.

    variance   = n/(n-1) · Σ influence²     n: the questions that contribute; influences sum to 0
    interval   = value ± t(n-1) · √variance     of shares Wilson's, with t for z
    a − b      = the difference of the values and of the influences, so paired by question

The mean of two turns' grades 8, 6 on one question and 9, 9 on another: value 8, sums 14 and 18,
counts 2 and 2, influences (14 - 8·2)/4 = -0.5 and 0.5, variance 2/1 · 0.5 = 1.

Nothing else is assumed about the verdicts of a question: turns, samples and opponents may depend
on each other in any way. Below five questions there is no interval and no test.

Sources: Miller 2024 (arXiv:2411.00640) for question-clustered errors and paired differences; Huber
1967 for the variance by influences; Wilson 1927 for shares, with the effective number of questions
as for cluster samples (Dean and Pagano 2015); Holm 1979; Tukey 1958 for the jackknife.
"""

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from harness.results.looks import NODES, WEIGHTS, nominal_level, sequential_p

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

LEAST = 5
"""Questions below which nothing is said about error: t intervals of four would span the scale."""
LEVEL = 0.05
"""Of tests, and what intervals leave out."""
POWER = 0.8416
"""The normal quantile of 80%: how often a difference of the detectable size is seen."""
_ALIKE = 1e-9
"""A standard error below this part of the value is rounding."""
_NONE: Floats = np.empty(0)


class Fixed(NamedTuple):
    """What is kept of an estimate without its influences."""

    n: int
    se: float
    p: float | None = None
    """Of the t-test at one look; None: not computed, or too few questions."""


class Interval(NamedTuple):
    """A 95% confidence interval over questions."""

    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Estimate:
    """A number that is computed from the verdicts on some questions."""

    value: float
    """NaN: there is nothing to compute it from."""
    influence: Floats
    """How much each question moves the value; NaN where it contributes nothing."""
    count: int = 0
    """The verdicts behind it."""
    share: bool = False
    """Whether it is a mean of numbers from 0 to 1, which has Wilson's interval."""
    fraction: float | None = None
    """Of a run that stops when it is decided: the part of the questions judged till then. Interval
    and p are those of `looks`, wider and larger than of a run of fixed size."""
    fixed: Fixed | None = None
    """Where the influences are not kept: of many comparisons they would fill the memory."""

    def __repr__(self) -> str:
        ends = self.interval
        span = f", {ends.low:.4g} to {ends.high:.4g}" if ends else ""
        return f"<Estimate {self.value:.4g}{span}, {self.n} questions>"

    @property
    def n(self) -> int:
        """The questions that contribute."""
        return (self.fixed or self._computed).n

    @property
    def se(self) -> float:
        """The question-clustered standard error; 0 where all are alike, NaN of a single one."""
        return (self.fixed or self._computed).se

    @functools.cached_property
    def _computed(self) -> Fixed:
        moves = self.influence[~np.isnan(self.influence)]
        n = len(moves)
        error = math.sqrt(float(moves @ moves) * n / (n - 1)) if n > 1 else math.nan
        return Fixed(n, 0.0 if error <= _ALIKE * max(1.0, abs(self.value)) else error)

    @property
    def interval(self) -> Interval | None:
        """The 95% interval; None for too few questions, and for a mean of equal numbers."""
        return self.interval_at(LEVEL)

    def interval_at(self, level: float) -> Interval | None:
        """Return the interval that leaves out a value with p < `level`, and no other."""
        if not self._testable:
            return None
        t, se = self._critical(level), self.se
        if self.share:
            return _wilson(self.value, self._effective, t)
        return None if se == 0 else Interval(self.value - t * se, self.value + t * se)

    @functools.cached_property
    def p(self) -> float | None:
        """The p-value of the value being 0: t-test; sign test where all questions say the same."""
        if self.fixed is not None and self.fixed.p is not None:
            return self._sequential(self.fixed.p)
        if not self._testable:
            return None
        n, se = self.n, self.se
        if se == 0 and abs(self.value) <= _ALIKE:
            return 1.0
        return self._sequential(t_tails(self.value / se, n - 1) if se else 2.0 ** (1 - n))

    @functools.cached_property
    def p_half(self) -> float | None:
        """The p-value of a share being one half: the level whose Wilson interval ends there."""
        if not self._testable:
            return None
        z = 2 * abs(self.value - 0.5) * math.sqrt(self._effective)
        return self._sequential(t_tails(z, self.n - 1))

    @property
    def _testable(self) -> bool:
        return self.n >= LEAST and not math.isnan(self.value)

    @property
    def _effective(self) -> float:
        """Of a share: of how many independent questions its error would be."""
        se = self.se
        return self.value * (1 - self.value) / se**2 if se else self.n

    def _critical(self, level: float) -> float:
        """Return how many standard errors from 0 a value has p = `level`."""
        nominal = level if self.fraction is None else nominal_level(self.fraction, level)
        return t_critical(nominal, self.n - 1)

    def _sequential(self, p: float) -> float:
        return p if self.fraction is None else sequential_p(p, self.fraction)

    @property
    def lower(self) -> float | None:
        """The lower end of the one-sided 95% interval; the value itself where all are alike."""
        return self.value - t_quantile(0.95, self.n - 1) * self.se if self._testable else None

    def __sub__(self, other: "Estimate") -> "Estimate":
        both = np.isnan(self.influence) & np.isnan(other.influence)
        influence = np.nan_to_num(self.influence) - np.nan_to_num(other.influence)
        influence[both] = np.nan
        return Estimate(self.value - other.value, influence, self.count + other.count)

    def scaled(self, factor: float, shift: float = 0.0) -> "Estimate":
        """Return factor · value + shift."""
        value, influence = self.value * factor + shift, self.influence * factor
        fixed = self.fixed
        if fixed is not None:
            fixed = Fixed(fixed.n, fixed.se * abs(factor), None if shift else fixed.p)
        return Estimate(value, influence, self.count, fraction=self.fraction, fixed=fixed)

    def without_influences(self) -> "Estimate":
        """Return it without its influences."""
        return replace(self, influence=_NONE, fixed=Fixed(self.n, self.se))


def ratio(sums: npt.NDArray[Any], counts: npt.NDArray[Any], *, share: bool = False) -> Estimate:
    """Return the pooled mean Σ sums / Σ counts, both by question."""
    total = float(counts.sum())
    value = float(sums.sum()) / total if total else math.nan
    contributes = counts > 0
    influence = np.where(contributes, (sums - value * counts) / (total or 1.0), np.nan)
    return Estimate(value, influence, round(total), share)


def ratios(sums: npt.NDArray[Any], counts: npt.NDArray[Any]) -> list[Estimate]:
    """Return `ratio` of each row without the influences: many comparisons at once."""
    total, n = counts.sum(axis=1), np.count_nonzero(counts, axis=1)
    value = np.divide(sums.sum(axis=1), total, out=np.full(len(sums), np.nan), where=total > 0)
    moves = sums - np.where(total > 0, value, 0.0)[:, None] * counts
    moves /= np.maximum(total, 1)[:, None]
    factor = np.divide(n, n - 1, out=np.full(len(n), np.nan), where=n > 1)
    se = np.sqrt(np.einsum("ij,ij->i", moves, moves) * factor)
    se[se <= _ALIKE * np.maximum(1.0, np.abs(value))] = 0.0
    p, tested = np.full(len(n), np.nan), (se > 0) & (n >= LEAST)
    p[tested] = t_tails(value[tested] / se[tested], n[tested] - 1)
    rows = zip(*(column.tolist() for column in (value, total, n, se, p)), strict=True)
    return [
        Estimate(of, _NONE, count, fixed=Fixed(size, error, None if math.isnan(tails) else tails))
        for of, count, size, error, tails in rows
    ]


def jackknife(statistic: Callable[[Bools], float], n: int) -> Estimate:
    """Return any statistic of n questions, with influences from leaving each of them out.

    `statistic` is given a mask over the questions.
    """
    value, places = statistic(np.ones(n, dtype=bool)), np.arange(n)
    without = np.array([statistic(places != place) for place in places])
    influence = (without.mean() - without) * (n - 1) / n if n else without
    return Estimate(value, influence, n)


class Tested(NamedTuple):
    """One of several tests, by Holm's method."""

    p: float | None
    """Adjusted for being several: the least times m, the next times m - 1, …"""
    level: float
    """What its own p is compared with: 0.05 / m of the least, 0.05 / (m - 1) of the next, … From
    the first that is not below its level on, all have that one's level."""


def holm(values: Sequence[float | None]) -> list[Tested]:
    """Return several tests' p-values adjusted for being several; None: not tested.

    >>> holm([0.01, 0.04, 0.03])  # 0.03 is not below 0.05 / 2, so 0.04 is not tested further
    [Tested(p=0.03, level=0.016666666666666666), Tested(p=0.06, level=0.025), \
Tested(p=0.06, level=0.025)]
    """
    ordered = sorted((p, at) for at, p in enumerate(values) if p is not None)
    tested = [Tested(None, LEVEL)] * len(values)
    largest, level, last, goes_on = 0.0, LEVEL, -1.0, True
    for rank, (p, at) in enumerate(ordered):
        left = len(ordered) - rank
        largest = max(largest, min(1.0, p * left))
        if goes_on and p > last:  # equal ones have one level, so that equal data read alike
            level = LEVEL / left
        goes_on, last = goes_on and p < level, p
        tested[at] = Tested(largest, level)
    return tested


def _wilson(share: float, n: float, z: float) -> Interval:
    """Return Wilson's interval; `z` is a quantile of t, as the error is estimated."""
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(max(share * (1 - share), 0) / n + z * z / (4 * n * n))
    return Interval(max(0.0, middle - half), min(1.0, middle + half))


@overload
def t_tails(t: float, df: float) -> float: ...
@overload
def t_tails(t: Floats, df: Ints) -> Floats: ...
def t_tails(t: float | Floats, df: float | Ints) -> float | Floats:
    """Return P(|T| ≥ |t|) of Student's t, of a number or of each in an array.

    It is an integral of sin^(df − 1), by Gauss and Legendre.
    """
    if isinstance(t, np.ndarray) and isinstance(df, np.ndarray):
        half = np.arctan2(np.sqrt(df), np.abs(t)) / 2
        power = np.sin(np.multiply.outer(half, NODES + 1)) ** (df - 1)[:, None]
        front = np.array([_front(each) for each in df.tolist()])
        areas: Floats = front * half * (power @ WEIGHTS)
        return areas
    assert not isinstance(t, np.ndarray)
    assert not isinstance(df, np.ndarray)
    angle = math.atan2(math.sqrt(df), abs(t)) / 2
    return _front(df) * angle * float(WEIGHTS @ np.sin(angle * (NODES + 1)) ** (df - 1))


@functools.lru_cache(maxsize=4096)
def _front(df: float) -> float:
    return 2 / math.sqrt(math.pi) * math.exp(math.lgamma((df + 1) / 2) - math.lgamma(df / 2))


@functools.lru_cache(maxsize=4096)
def t_critical(level: float, df: float) -> float:
    """Return the t with P(|T| ≥ t) = level.

    Newton's method from 0: the tails are convex, so no step goes too far.
    """
    t = 0.0
    while True:
        density = _front(df) / 2 / math.sqrt(df) * (1 + t * t / df) ** (-(df + 1) / 2)
        step = (t_tails(t, df) - level) / (2 * density)
        if step <= 1e-13 * t:
            return t
        t += step


def t_quantile(p: float, df: float) -> float:
    """Return the t with P(T ≤ t) = p, for p of at least one half."""
    return t_critical(2 * (1 - p), df)
