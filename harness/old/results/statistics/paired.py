"""Grades -> for every two models their difference on the same questions, and whether it is significant.

    d_q         = mean over the turns that both have on question q of (score of model_1 - score of model_2)
    difference  = mean of d_q over the questions that both have, with an interval from resampling questions
    p           = exact sign-flip p-value of the d_q (`signflip`)
    p_holm      = that p adjusted for all pairs in the table: with the m p-values in ascending order, the i-th becomes
                  the largest of (m - j + 1) * p_j for j = 1..i, at most 1

    smallest_detectable = (z + 0.84) * sd / sqrt(n)            sd: of the d_q; z: of the level 0.05 / m, two-sided
    questions_needed    = ((z + 0.84) * sd / stated)^2         rounded up; stated: a difference that the user names

Two models differ significantly if p_holm <= 0.05; else they "cannot be told apart", or without a common question are
"not compared". Raw p-values 0.01, 0.04, 0.03 become 0.03, 0.06, 0.06: only the first is significant. With sd = 2.5 on
80 questions and one pair the smallest detectable difference is 2.8 * 2.5 / 8.94 = 0.78; a difference of 0.4 would need
307 questions. With ten pairs z is 2.81, and these are 1.02 and 521.

The last two figures are for a power of 80% at the level that the first of m pairs must reach, so the tests above
detect such a difference at least as often. The family of the Holm adjustment is all
pairs of one table: one column (the average, or one turn), or one category. With 561 pairs no p can reach it on fewer
than 15 questions. `difference` is in the units of the score and needs no agreement on a scale.

A pair uses only what both have: `n` says how many questions that are and `left_out` how many only one of the two has.

All n differences equal v, not 0: resampling them shows nothing, so the interval is that of the sign test, v - 2 s |v|
to v + 2 s |v|. s = 1 - 0.025^(1/n) is the share of other questions, with a difference as large but turned round, that n
questions miss in 2.5% of samples; so 0 is outside from 6 questions on, as p = 2 / 2^n is below 0.05 then. 12 of 12
differ by 1: s = 0.265, and the interval is 0.47 to 1.53. Where all are 0, no size was seen: see `bootstrap`.

With m pairs the least p is m * 2 / 2^n, so no difference is significant on fewer than 1 + log2(m / 0.05) questions, 6
of one pair and 8 of six (`least`).

Source: Holm (1979), Scand. J. Stat. 6, 65; Miller (2024), arXiv 2411.00640, for paired differences and power.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple, Unpack

import numpy as np

from harness.old.errors import UsageError
from harness.old.records import Scale
from harness.old.results.matrix import Floats, Ints, Matrix, aligned, difference_bounds, in_order, question_order
from harness.old.results.statistics.bootstrap import LEAST, Estimate, Resampling, estimates
from harness.old.results.statistics.signflip import sign_flips

LEVEL = 0.05
"""The chance, if all models are equally good, that any pair of a table differs significantly."""
POWER = 0.8
_ROUNDING = 1e-9
"""Up to this, numbers that ought to be equal may differ."""
_BLOCK = 2_000_000
"""Numbers in one block of differences; bounds the memory."""


class Paired(NamedTuple):
    """How two models compare on the questions that both have."""

    model_1: str
    model_2: str
    difference: Estimate
    """model_1 less model_2, positive if model_1 is better; the interval is this pair's own, without adjustment."""
    n: int
    """Questions that both have; of strengths (`pairs.comparing`) all on which pairs were judged that say something of
    them, be it by way of other models."""
    left_out: int
    """Questions that only one of the two has."""
    sd: float | None
    """Standard deviation of the differences by question; None below two questions."""
    p: float | None
    """Sign-flip p-value; None without a common question."""
    p_method: Literal["exact", "saddlepoint", "mixture"] | None
    """How p was found; `mixture` allows for pairs that were chosen by earlier results (`pairs.comparing`)."""
    p_holm: float | None
    """p adjusted for all pairs of the table."""
    family: int = 1
    """The tested pairs of the table."""
    stated: float | None = None
    """The difference that the user wants to see; None: none was named."""

    def turned(self) -> "Paired":
        """Return the same comparison with model_1 and model_2 exchanged."""
        own = self.difference
        value, low, high = (None if end is None else -end for end in (own.value, own.high, own.low))
        difference = replace(own, value=value, low=low, high=high)
        return self._replace(model_1=self.model_2, model_2=self.model_1, difference=difference)

    @property
    def told_apart(self) -> bool:
        """Whether one of the two is significantly better."""
        return self.p_holm is not None and self.p_holm <= LEVEL

    @property
    def better(self) -> Literal["model_1", "model_2"] | None:
        """The significantly better one of the two; None if they do not differ significantly."""
        if not self.told_apart:
            return None
        return "model_1" if (self.difference.value or 0) > 0 else "model_2"

    @property
    def at_odds(self) -> bool:
        """Whether the interval, of this pair alone and from other draws, does not say the same as the test."""
        low, high = self.difference.low, self.difference.high
        return low is not None and high is not None and (low > 0 or high < 0) != self.told_apart

    @property
    def verdict(self) -> str:
        """The result for model_1 against model_2, as a text."""
        if not self.n:
            return "not compared"
        return {None: "cannot be told apart", "model_1": "better", "model_2": "worse"}[self.better]

    @property
    def least(self) -> int:
        """How many questions it takes at least that a difference, however large, is significant among the pairs."""
        return least_of(self.family)

    @property
    def smallest_detectable(self) -> float | None:
        """The smallest true difference that this many questions would show with a power of 80%, where they are enough
        for any (`least`); None if none differ."""
        return reach(self.family) * self.sd / math.sqrt(self.n) if self.sd else None

    @property
    def questions_needed(self) -> int | None:
        """How many questions would show the stated difference with a power of 80%; None if none was stated."""
        if not self.sd or not self.stated:
            return None
        found = max(1, math.ceil((reach(self.family) * self.sd / self.stated) ** 2))
        return found if self.n >= self.least else max(self.least, found)

    @property
    def power(self) -> float | None:
        """The chance that this many questions show the stated difference; None if none was stated."""
        if not self.sd or not self.stated:
            return None
        if self.n < self.least:
            return 0.0
        from statistics import NormalDist

        z = NormalDist().inv_cdf(1 - LEVEL / 2 / self.family)
        return NormalDist().cdf(abs(self.stated) * math.sqrt(self.n) / self.sd - z)


def reach(family: int) -> float:
    """Return how many standard errors a difference must be to be detected among this many pairs with a power of 80%."""
    from statistics import NormalDist  # it loads random and hashlib, which a table without power does without

    normal = NormalDist()
    return normal.inv_cdf(1 - LEVEL / 2 / max(1, family)) + normal.inv_cdf(POWER)


def least_of(family: int) -> int:
    """Return on how many questions at least a difference, however large, is significant among so many pairs."""
    return math.ceil(1 + math.log2(max(1, family) / LEVEL))


class PairedTable(NamedTuple):
    """All pairs of one column; the family of the Holm adjustment."""

    models: tuple[str, ...]
    """The models compared, in the order of the pairs."""
    pairs: tuple[Paired, ...]

    @property
    def told_apart(self) -> int:
        """Pairs that differ significantly."""
        return sum(pair.told_apart for pair in self.pairs)

    @property
    def smallest_detectable(self) -> float | None:
        """The median over pairs of the smallest difference that the questions would show."""
        known = [own for pair in self.pairs if (own := pair.smallest_detectable) is not None]
        return float(np.median(known)) if known else None

    def by_models(self) -> dict[tuple[str, str], Paired]:
        """Return each pair by its two models, and the other way round."""
        turned = {(pair.model_2, pair.model_1): pair.turned() for pair in self.pairs}
        return turned | {(pair.model_1, pair.model_2): pair for pair in self.pairs}

    def with_stated(self, difference: float | None) -> "PairedTable":
        """Return the same table with the difference that the user wants to see."""
        return self._replace(pairs=tuple(pair._replace(stated=difference) for pair in self.pairs))


def paired(grades: Matrix, **how: Unpack[Resampling]) -> PairedTable:
    """Return every two models compared, in the order of the models; over the turns and questions of `grades`.

    For one turn or one category, pass `scores.of_turn(grades, 1)` or `scores.of_group(grades, "math")`. With
    `resamplings` 0 differences have no interval, which is much faster.
    """
    first, second = np.triu_indices(len(grades.models), k=1)
    grades = in_order(grades)
    bounds = difference_bounds(grades.scale, grades.scale)
    rows = _compared(grades.scores, grades.scores, (first, second), grades.strata, bounds, **how)
    names = [(grades.models[one], grades.models[other]) for one, other in zip(first, second, strict=True)]
    return PairedTable(grades.models, named_pairs(rows, names))


def compare_runs(
    new: Matrix, old: Matrix, names: Collection[str] | None = None, **how: Unpack[Resampling]
) -> PairedTable:
    """Return the models of one run compared with those of another on the questions and turns that both runs have.

    Models with equal names (of `names`, or all) are compared and, if each run has one model only, those two. model_1
    is of `new` and model_2 of `old`; `verdict` "worse" means that the new one is. Questions that only one run has are
    in `left_out`; turns that only one run has do not count.

    Raises:
        UsageError: the runs have no model or no question in common.
    """
    models = [(model, model) for model in new.models if model in old.models and (names is None or model in names)]
    if not models and len(new.models) == len(old.models) == 1:
        models = [(new.models[0], old.models[0])]
    if not models:
        raise UsageError(
            f"no model is in both runs; say which to compare: {', '.join(new.models)} with {', '.join(old.models)}"
        )
    turns = [turn for turn in new.turns if turn in old.turns]
    group_of = dict(zip((*old.questions, *new.questions), (*old.groups, *new.groups), strict=True))
    if not turns or len(group_of) == len(new.questions) + len(old.questions):
        raise UsageError(f"the two runs have no {'question' if turns else 'turn'} in common; nothing to compare")
    ids = tuple(group_of)
    questions = [ids[place] for place in question_order(ids)]
    one, other = (
        aligned(run, questions, names, turns) for run, names in zip((new, old), zip(*models, strict=True), strict=True)
    )
    index = np.arange(len(models))
    groups = [group_of[question] for question in questions] if new.fixed_mix else None
    bounds = difference_bounds(new.scale, old.scale)
    rows = _compared(one, other, (index, index), groups, bounds, **how)
    return PairedTable(tuple(dict.fromkeys(name for pair in models for name in pair)), named_pairs(rows, models))


def holm(p_values: Floats) -> Floats:
    """Return the p-values adjusted for being one family; NaN stays NaN and is not in the family."""
    adjusted = np.full(len(p_values), np.nan)
    tested = np.flatnonzero(~np.isnan(p_values))
    order = tested[np.argsort(p_values[tested], kind="stable")]
    factors = len(order) - np.arange(len(order))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(factors * p_values[order]))
    return adjusted


def _compared(
    one: Floats,
    other: Floats,
    sides: tuple[Ints, Ints],
    groups: Sequence[Any] | None,
    bounds: Scale | None,
    **how: Unpack[Resampling],
) -> list[Paired]:
    """Return pairs of models compared, still without names and without adjusted p-values.

    The scores of both sets of models are on the same questions and turns; of each pair, `sides` are its model in the
    one and in the other set.
    """
    rows: list[Paired] = []
    width = max(1, _BLOCK // max(1, len(one)))
    for start in range(0, len(sides[0]), width):
        means, left_out = _apart(one, other, *(side[start : start + width] for side in sides))
        rows += compared_columns(means, groups, left_out, **how, bounds=bounds)
    return rows


def _apart(one: Floats, other: Floats, first: Ints, second: Ints) -> tuple[Floats, Ints]:
    """Return questions × pairs, the mean difference over the turns that both have (NaN if none), and left_out."""
    total = np.zeros((len(one), len(first)))
    shared = np.zeros(total.shape)
    any_score = np.zeros(total.shape, dtype=bool)
    for turn in range(one.shape[2]):
        apart = one[:, first, turn] - other[:, second, turn]
        total += np.where(np.isnan(apart), 0.0, apart)
        shared += ~np.isnan(apart)
        any_score |= ~(np.isnan(one[:, first, turn]) & np.isnan(other[:, second, turn]))
    means = np.divide(total, shared, out=np.full(total.shape, np.nan), where=shared > 0)
    return means, (any_score & (shared == 0)).sum(axis=0).astype(np.int64)


def compared_columns(
    differences: Floats,
    groups: Sequence[Any] | None,
    left_out: Ints | None = None,
    *,
    bounds: Scale | None = None,
    **how: Unpack[Resampling],
) -> list[Paired]:
    """Return the mean and the test of each column of differences (questions × pairs; NaN where there is none).

    The rows have no names and no adjusted p-values yet (`named_pairs`).
    """
    there = ~np.isnan(differences)
    filled, counts = np.where(there, differences, 0.0), there.astype(float)
    found = estimates(filled, counts, groups, **how, bounds=bounds)
    n = there.sum(axis=0).tolist()
    missing = [0] * len(n) if left_out is None else left_out.tolist()
    tests = [test if own else None for test, own in zip(sign_flips(differences), n, strict=True)]
    spread = _spread(differences)
    if how.get("resamplings") != 0:
        found = [_of_equal(own, bounds) if sd == 0 else own for own, sd in zip(found, spread, strict=True)]
    return [
        Paired("", "", difference, own, lost, sd, test and test.p, test and test.method, None)
        for difference, own, lost, sd, test in zip(found, n, missing, spread, tests, strict=True)
    ]


def _of_equal(own: Estimate, bounds: Scale | None) -> Estimate:
    """Return a mean of differences that are all equal with the interval of the sign test, which says what p says.

    That other questions may lie as far off as the scale goes would be too much of differences: with it, the interval of
    12 questions that all differ by one point would hold 0, while their p is 0.0005.
    """
    if own.value is None or abs(own.value) <= _ROUNDING or own.questions < LEAST:
        return own
    reach = 2 * (1 - (LEVEL / 2) ** (1 / own.questions)) * abs(own.value)
    least, most = bounds or (-math.inf, math.inf)
    return replace(own, low=max(own.value - reach, least), high=min(own.value + reach, most), method="bound")


def _spread(differences: Floats) -> list[float | None]:
    """Return the standard deviation of each column, None below two questions; 0 where all but rounding is equal."""
    columns = np.ascontiguousarray(differences.T)  # questions together, so that they are summed as those of one column
    whole = columns.std(axis=1, ddof=1).tolist() if len(differences) > 1 else [math.nan] * len(columns)
    for at in np.flatnonzero(np.isnan(whole)).tolist():
        own = columns[at][~np.isnan(columns[at])]
        whole[at] = float(np.std(own, ddof=1)) if len(own) > 1 else None
    scale = _ROUNDING * (1 + np.nanmax(np.abs(columns), axis=1, initial=0.0))
    return [0.0 if sd is not None and sd <= least else sd for sd, least in zip(whole, scale.tolist(), strict=True)]


def named_pairs(rows: Sequence[Paired], names: Sequence[tuple[str, str]]) -> tuple[Paired, ...]:
    """Return the pairs with their names and with p-values adjusted for being one family."""
    adjusted = holm(np.array([np.nan if row.p is None else row.p for row in rows]))
    family = max(1, int(np.count_nonzero(~np.isnan(adjusted))))
    return tuple(
        row._replace(model_1=one, model_2=other, p_holm=None if math.isnan(p) else float(p), family=family)
        for row, (one, other), p in zip(rows, names, adjusted, strict=True)
    )
