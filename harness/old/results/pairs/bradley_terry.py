"""Pairs -> the strength of each model, by Bradley-Terry with ties (Davidson).

    P(i beats j) = p_i / D        P(tie) = nu * sqrt(p_i * p_j) / D        D = p_i + p_j + nu * sqrt(p_i * p_j)
    rating_i     = 1000 + 400 / ln 10 * (ln p_i - mean of ln p)

p and nu are maximum likelihood estimates (`davidson`); 400 points are odds of 10 to 1 of winning a game that is not
tied, as in Elo's scale. With an anchor, that model's rating is 1000 and the others are relative to it.

x against y: 6 wins, 2 losses, 2 ties. With two models the fit is exact: p_x / p_y = 6 / 2 = 3, nu = 2 / sqrt(6 * 2) =
0.577; ln 3 = 1.099, so the ratings are 1000 + 173.7 * 0.549 = 1095.4 and 904.6.

If the estimate does not exist (`existence`), `why_not` says why.

Every pair counts once; a tie is two ties or two games that disagree. Pairs in which a game gave no verdict are left
out and counted. Intervals: the model is fitted without each question in turn, all pairs of a question together, and the
pseudo-values of the questions, n * rating - (n - 1) * rating without the question, are resampled within groups
(studentized and symmetric, see `bootstrap`), so an interval always contains its estimate. If the fit without one
question does not exist, there is no interval; such fits are counted. It takes as many fits as there are questions: 100
models on 80 questions take seconds.

How often these intervals miss in simulation: `benchmarks/README.md`. If models are nearly
separated (one won all games of a pair), an estimate or an interval may not exist; a note says so.

Source: Bradley and Terry (1952), Biometrika 39, 324; Davidson (1970), J. Am. Stat. Assoc. 65, 317; Tukey (1958), Ann.
Math. Stat. 29, 614, for pseudo-values.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np

from harness.old.errors import UsageError
from harness.old.results.matrix import Floats, Pairs
from harness.old.results.pairs.davidson import STEPS, Fit, fit, inverse_curvature
from harness.old.results.pairs.existence import why_none
from harness.old.results.pairs.games import Games, games_of
from harness.old.results.pairs.rates import groups_of, in_order, of_group
from harness.old.results.statistics.bootstrap import LEAST, RESAMPLINGS, Resampling, jackknifed
from harness.old.results.table import Line, best_first

CENTER = 1000.0
"""The mean of all ratings, or the anchor's."""
POINTS = 400 / math.log(10)
"""Points for one unit of ln p."""
_BLOCK = 500_000
"""Numbers in one block of pairs of models, of several fits; bounds the memory (4 MB for each such array)."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """The models by strength, or why there is no estimate."""

    rows: Sequence[Line]
    """The strongest first: `rating` on the stated scale, of which the anchor has no interval, and `n`, the pairs that
    count; empty where there is no estimate."""
    nu: float | None
    """How common ties are: two equal models tie with probability nu / (2 + nu). None without an estimate."""
    why_not: str | None
    """Why there is no estimate; None if there is one."""
    missing: tuple[str, ...]
    """Models without any pair that counts; they have no rating."""
    anchor: str | None
    """The model whose rating is 1000; None if that is the mean of all."""
    n: int
    """Pairs that count."""
    excluded: int
    """Pairs left out because a game gave no verdict."""
    refits: int = 0
    """Fits behind the intervals, one without each question; 0 where there are no intervals."""
    without_estimate: int = 0
    """Of these, how many had no estimate."""

    @property
    def scale(self) -> str:
        """Return what the numbers mean, for the table."""
        center = f"{self.anchor} = 1000" if self.anchor else "mean 1000"
        return f"Bradley-Terry with ties (Davidson), {center}, 400 points = odds of 10 to 1"


def ranking(
    pairs: Pairs,
    *,
    anchor: str | None = None,
    resamplings: int = RESAMPLINGS,
    seed: int = 0,
) -> Ranking:
    """Return the models by strength; the same whatever the order of rows and which model a row names first.

    Raises:
        UsageError: there is no pair with the anchor.
    """
    if anchor is not None and anchor not in pairs.models:
        raise UsageError(f"no pair with the anchor {anchor!r}; the models are: {', '.join(sorted(pairs.models))}")
    pairs = in_order(pairs)
    excluded = int(np.isnan(pairs.outcome).sum())
    models, games = games_of(pairs)
    whole = games._replace(counts=games.counts.sum(axis=0, keepdims=True))
    missing = tuple(sorted({*pairs.models} - {*models}))
    none = Ranking((), None, why_none(models, whole, anchor), missing, anchor, len(pairs.outcome) - excluded, excluded)
    if none.why_not is not None:
        return none
    fitted = fit(whole, len(models))
    if np.isnan(fitted.nu[0]):
        return replace(none, why_not=f"the fit did not settle within {STEPS} steps")
    fixed = None if anchor is None else models.index(anchor)
    questions = np.flatnonzero(games.counts.any(axis=(1, 2)))
    groups = None if pairs.strata is None else [pairs.strata[at] for at in questions.tolist()]
    without = _without_each(games._replace(counts=games.counts[questions]), fitted, resamplings)
    rating, rest = _scaled(fitted.strengths, fixed)[0], np.full((len(questions), len(models)), np.nan)
    rest[: len(without)] = _scaled(without, fixed)
    how: dict[str, Any] = {"resamplings": resamplings, "seed": seed, "method": "studentized"}
    drawn = jackknifed(rating, rest, groups, **how)
    ratings = [replace(own, value=value) for own, value in zip(drawn, rating.tolist(), strict=True)]
    met = np.zeros(len(models))
    for side in (games.first, games.second):
        np.add.at(met, side, games.counts.sum(axis=(0, 2)))
    rows = [Line(model, {"rating": ratings[at], "n": int(met[at])}) for at, model in enumerate(models)]
    lost = int(np.isnan(without[:, 0]).sum())
    nu = float(fitted.nu[0])
    return replace(none, rows=best_first(rows, "rating"), nu=nu, refits=len(without), without_estimate=lost)


def rankings_by_group(
    pairs: Pairs, *, anchor: str | None = None, **how: Unpack[Resampling]
) -> list[tuple[Any, Ranking]]:
    """Return each group, in the order of the questions, with the ranking on its questions only."""
    parts = [(group, of_group(pairs, group)) for group in groups_of(pairs)]
    return [(group, ranking(own, anchor=anchor, **how)) for group, own in parts]


def _without_each(games: Games, fitted: Fit, resamplings: int) -> Floats:
    """Return the strengths fitted without each question in turn; none with too few questions."""
    n, models = len(games.counts), fitted.strengths.shape[1]
    if n < LEAST or resamplings < 1:
        return np.empty((0, models))
    total = games.counts.sum(axis=0, keepdims=True)
    inverse = inverse_curvature(games._replace(counts=total), fitted)
    rows = max(1, _BLOCK // max(len(games.first), models**2))
    found = [
        fit(games._replace(counts=total - games.counts[at : at + rows]), models, fitted.strengths[0], inverse).strengths
        for at in range(0, n, rows)
    ]
    return np.concatenate(found)


def _scaled(strengths: Floats, fixed: int | None) -> Floats:
    """Return ratings; strengths have mean 0."""
    zero = 0.0 if fixed is None else strengths[:, [fixed]]
    return CENTER + POINTS * (strengths - zero)
