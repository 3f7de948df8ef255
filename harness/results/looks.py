"""Runs that stop when they are decided: five looks at the data, with O'Brien and Fleming's bounds.

    look k of 5    the first k fifths of the questions, which stand in a random order
    better         |z| ≥ 2.040 · √(5/k), that is 4.56, 3.23, 2.63, 2.28, 2.04
    interval       difference ± 2.040 · √(5/k) · standard error, right at all looks together
    p              P(max |B(j/5)| ≥ |z| · √(k/5)) over all looks j, B Brownian motion

Whoever looks five times with the bounds of one look calls equal models different in 14% of the
cases; with these in 5%. A model is judged no further when each of its comparisons is decided: one
of the two is better, or the interval lies within plus and minus the difference that matters.

Sources: O'Brien and Fleming 1979 for the bounds; Jennison and Turnbull, "Group Sequential Methods"
2000, chapters 2 (the constants), 9 (repeated confidence intervals) and 19 (the computation).
"""

import functools
import math
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from statistics import NormalDist

Floats = npt.NDArray[np.float64]
LOOKS = 5
CRITICAL = 2.04007317479703
"""O'Brien and Fleming's constant for five looks and 5%: Brownian motion crosses it in 5%."""


def _gauss_legendre(size: int) -> tuple[Floats, Floats]:
    """Return the nodes and weights of integrals from -1 to 1, by Newton's method.

    numpy's `leggauss` solves an eigenvalue problem, in ten times the time of this, at every start.
    Source: Abramowitz and Stegun 1964, 22.16.6 (the first guess), 25.4.29.
    """
    x = np.cos(np.pi * (np.arange(size, 0, -1) - 0.25) / (size + 0.5))
    for _ in range(4):
        before, value = np.ones(size), x
        for degree in range(2, size + 1):
            following = ((2 * degree - 1) * x * value - (degree - 1) * before) / degree
            before, value = value, following
        slope = size * (x * value - before) / (x * x - 1)
        x = x - value / slope
    return x, 2 / ((1 - x * x) * slope * slope)


NODES, WEIGHTS = _gauss_legendre(200)


@functools.cache
def _normal() -> "NormalDist":
    from statistics import NormalDist  # with fractions and decimal, and few commands need it

    return NormalDist()


def sequential_p(p: float, fraction: float) -> float:
    """Return the p-value of a comparison that ended at a look, over all five.

    Args:
        p: the p-value of the test as if nobody had looked before.
        fraction: the part of the questions that were judged, k/5.

    >>> round(sequential_p(0.0413, 1.0), 3), round(sequential_p(0.0084, 0.6), 3)
    (0.05, 0.05)
    """
    z = -_normal().inv_cdf(max(p, 1e-300) / 2)
    return max(p, _crossing(z * math.sqrt(fraction)))


@functools.lru_cache(maxsize=4096)
def nominal_level(fraction: float, level: float = 0.05) -> float:
    """Return the level of a test at a look so that all five together have `level`.

    >>> round(nominal_level(1.0), 4), round(nominal_level(0.6), 4)
    (0.0413, 0.0084)
    """
    bound = CRITICAL if level == 0.05 else _bound(level)
    return min(level, 2 * _normal().cdf(-bound / math.sqrt(fraction)))


@functools.lru_cache(maxsize=4096)
def _bound(level: float) -> float:
    """Return O'Brien and Fleming's constant for five looks and a level, by bisection."""
    low, high = 0.0, 6.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if _crossing(middle) > level else (low, middle)
    return (low + high) / 2


@functools.lru_cache(maxsize=4096)
def _crossing(bound: float) -> float:
    """Return the chance that Brownian motion is outside ± bound at one of the five looks."""
    if not 0 < bound < 6:
        return 1.0 if bound <= 0 else 0.0
    x, w, sd = NODES * bound, WEIGHTS * bound, math.sqrt(1 / LOOKS)
    step = np.exp(-(((x[:, None] - x[None, :]) / sd) ** 2) / 2) / (sd * math.sqrt(2 * math.pi))
    density = np.exp(-((x / sd) ** 2) / 2) / (sd * math.sqrt(2 * math.pi))
    for _ in range(LOOKS - 1):
        density = step @ (density * w)
    return min(1.0, max(0.0, 1 - float(density @ w)))
