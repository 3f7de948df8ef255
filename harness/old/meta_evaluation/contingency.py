"""The verdicts of two sides on the same items -> contingency tables by question, and measures of agreement on them.

A table counts how often the two sides gave each pair of values: questions × values × values. A measure is a function of
tables summed over questions, and `table_estimate` computes the interval of any of them. With x and y the values of two
sides, r(.) the rank with ties at their mean rank:

    agreed        = share with x = y
    kappa         = (agreed - chance) / (1 - chance),   chance = sum over values of share_1(value) * share_2(value)
    pearson       = cov(x, y) / (sd(x) * sd(y))         spearman = pearson of r(x), r(y)
    kendall tau-b = (C - D) / sqrt((C + D + X) * (C + D + Y))
                    C concordant pairs of items, D discordant, X tied in x only, Y tied in y only
    alpha         = 1 - (n - 1) * sum o[c,k] d(c,k) / sum n[c] n[k] d(c,k)      (Krippendorff; any number of judges)

For alpha, an item with values by m >= 2 judges adds 1 / (m - 1) to o[c,k] for every ordered pair (c, k) of values; n[c]
is the sum of row c and n that of all. d is (c - k)^2 (interval), the square of how many values lie from c to k, those
at both ends counted half (ordinal). Missing values are simply absent.

x = 1, 2, 3, 4 and y = 1, 3, 2, 4: pearson = spearman = 0.8, C = 5, D = 1, tau-b = 4 / 6 = 0.667, agreed = 0.5; for
alpha n = 8, interval 1 - 7 * 4 / 160 = 0.825.

Sources: Cohen 1960 (Educ. Psychol. Meas. 20, 37) for kappa; Kendall 1945 for tau-b; Krippendorff 2011, "Computing
Krippendorff's Alpha-Reliability".
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Literal, NamedTuple, TypeAlias, Unpack

import numpy as np

from harness.old.results.matrix import Floats, Ints
from harness.old.results.statistics.bootstrap import (
    FEW,
    LEAST,
    Estimate,
    Resampling,
    jackknifed,
    question_weights,
    strata_of,
)

Level: TypeAlias = Literal["ordinal", "interval"]
MOST_VALUES = 100
"""Grades of more different values are rounded to this many even steps, by less than half a per cent of their range."""
_SMALL = 64
"""So few values are compared two by two."""
_BLOCK = 1 << 21
"""The most numbers of resampled tables in memory at once (16 MB)."""


class Scale(NamedTuple):
    """The values that occur, in order."""

    values: Floats
    place: Mapping[float, int]
    """Of every grade, the place of its value."""
    rounded: bool
    """Whether there were more than `MOST_VALUES` different grades."""


def scale_of(grades: Iterable[float]) -> Scale:
    """Return the scale on which these grades are counted."""
    given = np.unique(np.array(list(grades), dtype=np.float64))
    if len(given) <= MOST_VALUES:
        return Scale(given, {value: at for at, value in enumerate(given.tolist())}, False)
    step = (given[-1] - given[0]) / (MOST_VALUES - 1)
    steps, places = np.unique(np.rint((given - given[0]) / step), return_inverse=True)
    return Scale(given[0] + step * steps, dict(zip(given.tolist(), places.tolist(), strict=True)), True)


def tabulated(met: Iterable[tuple[int, int, int, float]], questions: int, values: int) -> Floats:
    """Return the tables of comparisons, given as the places of question and of both values, and a weight."""
    tables = np.zeros((questions, values, values))
    for question, one, other, weight in met:
        tables[question, one, other] += weight
    return tables


def table_estimate(tables: Floats, statistic: Callable[[Floats], Floats], **how: Unpack[Resampling]) -> Estimate:
    """Return a statistic between -1 and 1 of summed tables (questions × n × n), with its 95% interval.

    From 30 questions on, the tables are resampled (percentile bootstrap); with fewer, the jackknife's pseudo-values of
    the questions are (studentized). Questions with an empty table, and resamples in which the statistic does not
    exist, are left out. How often the intervals miss in simulation: `benchmarks/README.md`.
    """
    present = np.flatnonzero(tables.sum(axis=(1, 2)) > 0)
    tables = tables[present]
    whole = tables.sum(axis=0)
    value = float(statistic(whole))
    n = len(present)
    none = Estimate(None if np.isnan(value) else value, None, None, n, None)
    if np.isnan(value) or n < LEAST:
        return none
    without = _statistics(np.ones((n, n)) - np.eye(n), tables, statistic)
    if np.isnan(without).any() or np.ptp(without) < 1e-12:
        return none
    if n < FEW:
        return jackknifed(np.array([value]), without[:, None], bounds=(-1.0, 1.0), **how)[0]
    low, high = np.quantile(resampled(tables, statistic, **how), (0.025, 0.975)).tolist()
    return Estimate(value, low, high, n, "percentile")


def resampled(tables: Floats, statistic: Callable[[Floats], Floats], **how: Unpack[Resampling]) -> Floats:
    """Return the statistic of the tables of resampled questions, where it exists."""
    weights = question_weights(strata_of([None] * len(tables)), corrected=True, **how)
    found: Floats = np.concatenate([_statistics(block, tables, statistic) for block in weights])
    return found[~np.isnan(found)]


def _statistics(weights: Floats, tables: Floats, statistic: Callable[[Floats], Floats]) -> Floats:
    """Return the statistic for each row of weights on the questions."""
    flat = tables.reshape(len(tables), -1)
    rows = max(1, _BLOCK // flat.shape[1])
    blocks = [weights[start : start + rows] @ flat for start in range(0, len(weights), rows)]
    return np.concatenate([statistic(block.reshape(-1, *tables.shape[1:])) for block in blocks])


def quotient(above: Floats, below: Floats) -> Floats:
    """Return the quotients; NaN where the denominator is 0."""
    found: Floats = np.divide(above, below, out=np.full(np.shape(above), np.nan), where=below > 0)
    return found


def agreed(table: Floats) -> Floats:
    """Return the share of equal values; NaN of nothing."""
    return quotient(np.trace(table, axis1=-2, axis2=-1), table.sum(axis=(-1, -2)))


def cohen_kappa(table: Floats) -> Floats:
    """Return Cohen's kappa of tables of counts (last two axes); NaN if agreement by chance is certain."""
    total = table.sum(axis=(-2, -1))
    agree = np.trace(table, axis1=-2, axis2=-1) * total
    chance = (table.sum(axis=-1) * table.sum(axis=-2)).sum(axis=-1)
    return quotient(agree - chance, total**2 - chance)


def pearson(values: Floats, counts: Floats) -> Floats:
    """Return Pearson's correlation of a table of counts (last two axes); NaN where a side does not vary."""
    rows, columns = _margins(counts)
    return _correlation(counts, _centred(values, rows), _centred(values, columns))


def spearman(counts: Floats) -> Floats:
    """Return Spearman's correlation, tied grades at their mean rank; NaN where a side does not vary."""
    rows, columns = _margins(counts)
    return _correlation(counts, *(_centred(np.cumsum(side, axis=-1) - side / 2, side) for side in (rows, columns)))


def mean_ranks(values: Floats) -> Floats:
    """Return ranks from 1 along the last axis, ties at their mean rank; NaN where one of the values is."""
    above = values[..., :, None] - values[..., None, :]
    ranks: Floats = (above > 0).sum(axis=-1) + ((above == 0).sum(axis=-1) + 1) / 2
    return np.where(np.isnan(values).any(axis=-1, keepdims=True), np.nan, ranks)


def kendall_tau_b(counts: Floats) -> Floats:
    """Return Kendall's tau-b; NaN where a side does not vary."""
    rows, columns = _margins(counts)
    above = _sum_beyond(_sum_beyond(counts, -1), -2)
    beside = _sum_beyond(_sum_beyond(counts[..., ::-1], -1), -2)[..., ::-1]
    surplus = (counts * (above - beside)).sum(axis=(-2, -1))
    n = rows.sum(axis=-1)
    untied = [(n**2 - (side**2).sum(axis=-1)) / 2 for side in (rows, columns)]
    return quotient(surplus, np.sqrt(untied[0] * untied[1]))


def alpha(values: Floats, coincident: Floats, level: Level) -> Floats:
    """Return Krippendorff's alpha of a table of coincidences (last two axes); NaN where no grade differs."""
    margin = coincident.sum(axis=-1)
    # Between two grades, the sum of n[c] from one to the other with both ends halved is a difference of mean ranks.
    scale = values if level == "interval" else np.cumsum(margin, axis=-1) - margin / 2
    apart = (scale[..., :, None] - scale[..., None, :]) ** 2
    observed = (coincident * apart).sum(axis=(-2, -1))
    expected = np.einsum("...c,...k,...ck->...", margin, margin, np.broadcast_to(apart, coincident.shape))
    found: Floats = 1 - (margin.sum(axis=-1) - 1) * quotient(observed, expected)
    return found


def exact_tau_b(x: Floats, y: Floats) -> float | None:
    """Return Kendall's tau-b of any grades; None where a side does not vary."""
    one, other = (np.unique(side, return_inverse=True)[1].astype(np.int64) for side in (x, y))
    n = len(one)
    pairs = n * (n - 1) // 2
    times = (np.unique(side, return_counts=True)[1] for side in (one, other, one * n + other))
    tied = [int((alike * (alike - 1) // 2).sum()) for alike in times]
    discordant = _falling(other[np.lexsort((other, one))])
    untied = (pairs - tied[0]) * (pairs - tied[1])
    if untied == 0:
        return None
    return float((pairs - tied[0] - tied[1] + tied[2] - 2 * discordant) / np.sqrt(float(untied)))


def _falling(values: Ints) -> int:
    """Return how many pairs are in falling order: those within the halves, and those between them."""
    if len(values) < _SMALL:
        return int(np.triu(values[:, None] > values).sum())
    left, right = np.array_split(values, 2)
    between = len(left) * len(right) - int(np.searchsorted(np.sort(left), right, "right").sum())
    return _falling(left) + _falling(right) + between


def _margins(counts: Floats) -> tuple[Floats, Floats]:
    return counts.sum(axis=-1), counts.sum(axis=-2)


def _centred(values: Floats, counts: Floats) -> Floats:
    return values - quotient((values * counts).sum(axis=-1), counts.sum(axis=-1))[..., None]


def _correlation(counts: Floats, x: Floats, y: Floats) -> Floats:
    rows, columns = _margins(counts)
    together = np.einsum("...c,...k,...ck->...", x, y, counts)
    spread = np.sqrt((x**2 * rows).sum(axis=-1) * (y**2 * columns).sum(axis=-1))
    # With a single value the centred grades are not exactly 0, and their quotient would be noise.
    varied = ((rows > 0).sum(axis=-1) > 1) & ((columns > 0).sum(axis=-1) > 1)
    return quotient(together, np.where(varied, spread, 0.0))


def _sum_beyond(counts: Floats, axis: int) -> Floats:
    """Return for each place the sum of the counts at all later places."""
    beyond: Floats = np.flip(np.cumsum(np.flip(counts, axis), axis), axis) - counts
    return beyond
