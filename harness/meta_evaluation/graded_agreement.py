"""Grades of two or more judges on the same answers -> how well they agree.

Of pairs of grades (x, y), r(.) being the rank with ties at their mean rank:

    pearson       = cov(x, y) / (sd(x) * sd(y))          spearman = pearson of r(x), r(y)
    kendall tau-b = (C - D) / sqrt((C + D + X) * (C + D + Y))
                    C concordant pairs of answers, D discordant, X tied in x alone, Y tied in y alone
    exact         = share with x = y                     within one = share with |x - y| <= 1
    alpha         = 1 - (n - 1) * sum o[c,k] d(c,k) / sum n[c] n[k] d(c,k)      (Krippendorff; any number of judges)

For alpha, an answer with m >= 2 grades adds 1 / (m - 1) to o[c,k] for every ordered pair (c, k) of its grades; n[c] is
the sum of row c and n that of all. d is (c - k)^2 (interval), the square of how many grades lie from c to k, those at
both ends counted half (ordinal), or 0 and 1 (nominal). Missing grades are simply absent.

x = 1, 2, 3, 4 and y = 1, 3, 2, 4: pearson = spearman = 0.8, C = 5, D = 1, tau-b = 4 / 6 = 0.667, exact = 0.5, within
one = 1; for alpha n = 8, interval 1 - 7 * 4 / 160 = 0.825.

The measures ask different things: a judge that is always one point milder has pearson 1 and exact 0. Intervals resample
questions: all answers to a question move together (see `bootstrap` and `agreement.table_estimate`). Sources: Kendall
1945 for tau-b; Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability".
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, permutations
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from harness.meta_evaluation.agreement import table_estimate
from harness.records import QuestionId
from harness.results.matrix import Floats, Ints, Matrix
from harness.results.statistics.bootstrap import RESAMPLINGS, Estimate, estimates

Level: TypeAlias = Literal["nominal", "ordinal", "interval"]
LEVELS: tuple[Level, ...] = ("ordinal", "interval")
MOST_VALUES = 100
"""Grades of more different values are rounded to this many even steps, by less than half a per cent of their range,
for the intervals and for all values but those of tau-b, exact and within one (tau-b would feel the new ties)."""
WITHIN = 1.0


class Answers(NamedTuple):
    """The grades of several judges on the same answers."""

    grades: Floats
    """Judges × answers; NaN where a judge gave none."""
    question: Ints
    """For each answer, the index of its question."""
    groups: tuple[Any, ...]
    """For each question, the value that groups it; resampling keeps the number of questions of each."""


class Tables(NamedTuple):
    """How often two grades met, by question."""

    values: Floats
    """The grades that occur, in order."""
    counts: Floats
    """Questions × values × values."""
    rounded: bool
    """Whether there were more than `MOST_VALUES` different grades."""


@dataclass(frozen=True, slots=True)
class GradedRow:
    """One measure of the agreement of two judges, or of all."""

    judges: tuple[str, ...]
    measure: str
    value: float | None
    """None where it does not exist, such as the correlation with a judge that gives everything the same grade."""
    low: float | None
    """95% interval; None on fewer than five questions, or where the questions do not differ."""
    high: float | None
    n: int
    """Answers that count: those with a grade of both judges, for alpha of several those with two grades or more."""
    left_out: int
    """Answers that at least one of these judges graded, and too few of the others."""


def graded_rows(judges: Mapping[str, Matrix], *, resamplings: int = RESAMPLINGS, seed: int = 0) -> list[GradedRow]:
    """Return every measure for every two judges, then alpha for all of them if they are more than two."""
    answers = aligned(judges)
    rows = []
    for at in combinations(range(len(judges)), 2):
        own = Answers(answers.grades[list(at)], answers.question, answers.groups)
        rows += _measured(tuple(list(judges)[place] for place in at), own, resamplings, seed)
    if len(judges) > 2:
        rows += _alphas(tuple(judges), answers, resamplings, seed)
    return rows


def _measured(names: tuple[str, ...], answers: Answers, resamplings: int, seed: int) -> list[GradedRow]:
    """Return every measure for two judges."""
    met = tables(answers)
    n, left_out = _counted(answers)
    found = {
        measure: table_estimate(met.counts, statistic, answers.groups, resamplings=resamplings, seed=seed)
        for measure, statistic in (
            ("pearson", partial(pearson, met.values)),
            ("spearman", spearman),
            ("kendall tau-b", kendall_tau_b),
        )
    }
    if met.rounded:
        found["kendall tau-b"] = _moved(found["kendall tau-b"], exact_tau_b(*answers.grades))
    found |= _shares(answers, resamplings, seed)
    rows = [GradedRow(names, measure, e.value, e.low, e.high, n, left_out) for measure, e in found.items()]
    return rows + _alphas(names, answers, resamplings, seed)


def _moved(estimate: Estimate, value: float | None) -> Estimate:
    """Return the estimate with its exact value, and its interval as far around that as it was around the old one."""
    if value is None or estimate.value is None or estimate.low is None or estimate.high is None:
        return replace(estimate, value=value)
    step = value - estimate.value
    return replace(estimate, value=value, low=estimate.low + step, high=min(1.0, estimate.high + step))


def _alphas(names: tuple[str, ...], answers: Answers, resamplings: int, seed: int) -> list[GradedRow]:
    met = coincidences(answers)
    n, left_out = _counted(answers)
    rows = []
    for level in LEVELS:
        statistic = partial(alpha, met.values, level=level)
        e = table_estimate(met.counts, statistic, answers.groups, resamplings=resamplings, seed=seed)
        rows.append(GradedRow(names, f"alpha ({level})", e.value, e.low, e.high, n, left_out))
    return rows


def _counted(answers: Answers) -> tuple[int, int]:
    """Return the answers with two grades or more, and those with one."""
    raters = (~np.isnan(answers.grades)).sum(axis=0)
    return int((raters > 1).sum()), int((raters == 1).sum())


def _shares(answers: Answers, resamplings: int, seed: int) -> dict[str, Estimate]:
    """Return exact agreement and agreement within one, on the grades as they are."""
    apart = np.abs(answers.grades[0] - answers.grades[1])
    both = ~np.isnan(apart)
    sums, counts = np.zeros((2, len(answers.groups), 2))
    np.add.at(sums, answers.question[both], apart[both, None] <= np.array([0.0, WITHIN]) + 1e-9)
    np.add.at(counts, answers.question[both], 1.0)
    found = estimates(sums, counts, answers.groups, resamplings=resamplings, seed=seed, bounds=(0.0, 1.0))
    return {"exact": found[0], "within one": found[1]}


def aligned(judges: Mapping[str, Matrix]) -> Answers:
    """Return every answer (question, model and turn) that at least one judge graded, with the grade of each judge."""
    places: dict[tuple[QuestionId, str, int], int] = {}
    groups: dict[QuestionId, Any] = {}
    found = []
    for judge in judges.values():
        groups |= dict(zip(judge.questions, judge.groups, strict=True))
        where = np.argwhere(~np.isnan(judge.scores))
        keys = [(judge.questions[q], judge.models[m], judge.turns[t]) for q, m, t in where.tolist()]
        found.append(([places.setdefault(key, len(places)) for key in keys], judge.scores[tuple(where.T)]))
    grades = np.full((len(found), len(places)), np.nan)
    for row, (place, scores) in zip(grades, found, strict=True):
        row[place] = scores
    index = {question: at for at, question in enumerate(groups)}
    return Answers(grades, np.array([index[key[0]] for key in places], dtype=np.int64), tuple(groups.values()))


def tables(answers: Answers) -> Tables:
    """Return how often a first judge's grade met a second's on one answer; answers without both are left out."""
    values, codes, rounded = _codes(answers.grades)
    counts = np.zeros((len(answers.groups), len(values), len(values)))
    both = (codes >= 0).all(axis=0)
    np.add.at(counts, (answers.question[both], *codes[:, both]), 1.0)
    return Tables(values, counts, rounded)


def coincidences(answers: Answers) -> Tables:
    """Return Krippendorff's coincidences of any number of judges; answers with fewer than two grades are left out."""
    values, codes, rounded = _codes(answers.grades)
    counts = np.zeros((len(answers.groups), len(values), len(values)))
    raters = (codes >= 0).sum(axis=0)
    for one, other in permutations(codes, 2):
        both = (one >= 0) & (other >= 0)
        np.add.at(counts, (answers.question[both], one[both], other[both]), 1.0 / (raters[both] - 1))
    return Tables(values, counts, rounded)


def _codes(grades: Floats) -> tuple[Floats, Ints, bool]:
    """Return the values in order, for each grade the place of its value (-1 for none), and whether it was rounded."""
    given = ~np.isnan(grades)
    values, places = np.unique(grades[given], return_inverse=True)
    rounded = len(values) > MOST_VALUES
    if rounded:
        step = (values[-1] - values[0]) / (MOST_VALUES - 1)
        steps, places = np.unique(np.rint((grades[given] - values[0]) / step), return_inverse=True)
        values = values[0] + step * steps
    codes = np.full(grades.shape, -1, dtype=np.int64)
    codes[given] = places
    return values, codes, rounded


def pearson(values: Floats, counts: Floats) -> Floats:
    """Return Pearson's correlation of a table of counts (last two axes); NaN where a side does not vary."""
    rows, columns = _margins(counts)
    return _correlation(counts, _centred(values, rows), _centred(values, columns))


def spearman(counts: Floats) -> Floats:
    """Return Spearman's correlation, tied grades at their mean rank; NaN where a side does not vary."""
    rows, columns = _margins(counts)
    return _correlation(counts, *(_centred(np.cumsum(side, axis=-1) - side / 2, side) for side in (rows, columns)))


def kendall_tau_b(counts: Floats) -> Floats:
    """Return Kendall's tau-b; NaN where a side does not vary."""
    rows, columns = _margins(counts)
    above = _sum_beyond(_sum_beyond(counts, -1), -2)
    beside = _sum_beyond(_sum_beyond(counts[..., ::-1], -1), -2)[..., ::-1]
    surplus = (counts * (above - beside)).sum(axis=(-2, -1))
    n = rows.sum(axis=-1)
    untied = [(n**2 - (side**2).sum(axis=-1)) / 2 for side in (rows, columns)]
    return _ratio(surplus, np.sqrt(untied[0] * untied[1]))


def alpha(values: Floats, coincident: Floats, level: Level) -> Floats:
    """Return Krippendorff's alpha of a table of coincidences (last two axes); NaN where no grade differs."""
    margin = coincident.sum(axis=-1)
    apart = _distance(values, margin, level)
    observed = (coincident * apart).sum(axis=(-2, -1))
    expected = np.einsum("...c,...k,...ck->...", margin, margin, np.broadcast_to(apart, coincident.shape))
    found: Floats = 1 - (margin.sum(axis=-1) - 1) * _ratio(observed, expected)
    return found


def _distance(values: Floats, margin: Floats, level: Level) -> Floats:
    if level == "nominal":
        return 1 - np.eye(len(values))
    # Between two grades, the sum of n[c] from one to the other with both ends halved is a difference of mean ranks.
    scale = values if level == "interval" else np.cumsum(margin, axis=-1) - margin / 2
    distance: Floats = (scale[..., :, None] - scale[..., None, :]) ** 2
    return distance


def exact_tau_b(x: Floats, y: Floats) -> float | None:
    """Return Kendall's tau-b of any grades, NaN for none given; None where a side does not vary."""
    both = ~np.isnan(x) & ~np.isnan(y)
    one, other = (np.unique(side[both], return_inverse=True)[1].astype(np.int64) for side in (x, y))
    n = len(one)
    pairs = n * (n - 1) // 2
    tied = [_tied_pairs(side) for side in (one, other, one * n + other)]
    discordant = _inversions(other[np.lexsort((other, one))])
    untied = (pairs - tied[0]) * (pairs - tied[1])
    if untied == 0:
        return None
    return float((pairs - tied[0] - tied[1] + tied[2] - 2 * discordant) / np.sqrt(float(untied)))


def _tied_pairs(values: Ints) -> int:
    times = np.unique(values, return_counts=True)[1]
    return int((times * (times - 1) // 2).sum())


def _inversions(values: Ints) -> int:
    """Return how many pairs stand in falling order: those between the halves of each block, block sizes doubling."""
    place = np.arange(len(values))
    found, width = 0, 1
    while width < len(values):
        block, right = place // (2 * width), place // width % 2
        order = np.lexsort((right, values, block))
        is_left = right[order] == 0
        lefts = np.cumsum(is_left)
        until_end = np.cumsum(np.bincount(block, weights=1 - right)).astype(np.int64)
        found += int((until_end[block[order]] - lefts)[~is_left].sum())
        width *= 2
    return found


def _margins(counts: Floats) -> tuple[Floats, Floats]:
    return counts.sum(axis=-1), counts.sum(axis=-2)


def _centred(values: Floats, counts: Floats) -> Floats:
    return values - _ratio((values * counts).sum(axis=-1), counts.sum(axis=-1))[..., None]


def _correlation(counts: Floats, x: Floats, y: Floats) -> Floats:
    rows, columns = _margins(counts)
    together = np.einsum("...c,...k,...ck->...", x, y, counts)
    spread = np.sqrt((x**2 * rows).sum(axis=-1) * (y**2 * columns).sum(axis=-1))
    # With a single value the centred grades are not exactly 0, and their quotient would be noise.
    varied = ((rows > 0).sum(axis=-1) > 1) & ((columns > 0).sum(axis=-1) > 1)
    return _ratio(together, np.where(varied, spread, 0.0))


def _sum_beyond(counts: Floats, axis: int) -> Floats:
    """Return for each place the sum of the counts at all later places."""
    beyond: Floats = np.flip(np.cumsum(np.flip(counts, axis), axis), axis) - counts
    return beyond


def _ratio(above: Floats, below: Floats) -> Floats:
    found: Floats = np.divide(above, below, out=np.full(np.shape(above), np.nan), where=below > 0)
    return found
