"""Pairs -> the strength of each model, by Bradley-Terry with ties (Davidson).

    P(i beats j) = p_i / D        P(tie) = nu * sqrt(p_i * p_j) / D        D = p_i + p_j + nu * sqrt(p_i * p_j)
    rating_i     = 1000 + 400 / ln 10 * (ln p_i - mean of ln p)

p and nu have the greatest likelihood, found by Newton's method; 400 points are odds of 10 to 1 that a game that is not
tied is won, as in Elo's scale. With an anchor, that model's rating is 1000 and the others are measured from it.

x against y: 6 wins, 2 losses, 2 ties. Two models are fitted exactly: p_x / p_y = 6 / 2 = 3, nu = 2 / sqrt(6 * 2) =
0.577; ln 3 = 1.099, so the ratings are 1000 + 173.7 * 0.549 = 1095.4 and 904.6.

The estimate exists if and only if

    every model reaches every other by "won or tied against", and
    if there are ties: some round of models (a, b, ..., back to a) has more wins than ties, each model having won
    or tied against the next

Without the first, one group of models is better than the rest without limit; without the second, ties crowd out all
else (a win and a tie, no loss: fitted ever better as nu and p_x / p_y grow together). Davidson's own condition, that
every model reaches every other by wins alone, implies both. Without ties nu is 0 (plain Bradley-Terry).

Where there is no estimate, `why_not` says so. `virtual_ties` = 0.5 (`HALF_A_TIE`) adds half a tie for each two models
that were compared, entered as a quarter of a win for either: entered as ties it would not help a model that never lost.

Every pair counts once; a tie is two ties or two games that disagree. Left out and counted are pairs in which a game
gave no verdict. Intervals resample questions within groups, all pairs of a question together (see `bootstrap`). From 30
questions on the model is fitted anew in each resampling (percentile bootstrap); those without an estimate are left out
and counted. With fewer, the jackknife's pseudo-values of the questions are resampled (studentized); leaving out a
question may then leave no estimate, which is counted, and there is no interval. Simulated coverage of the 95%
intervals, 300 samples of questions from the 80 of the published experts' votes and as many of the GPT-4 verdicts on six
models, mean over models, and in brackets the worst model: 97-98% (96%) with 5 questions, 97% (96%) with 10, 96% (94%)
with 20 to 29, 92-93% (90%) with 30, 95% (93%) with 80.

Source: Bradley and Terry (1952), Biometrika 39, 324; Davidson (1970), J. Am. Stat. Assoc. 65, 317; Ford (1957), Am.
Math. Monthly 64, 28, for the first condition; Bach (2010), Electron. J. Stat. 4, 384, for the length of the steps.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from harness.errors import UsageError
from harness.results.pairs.matrix import tallies
from harness.results.pairs.rates import groups_of, in_order, of_group
from harness.results.reading.arrays import Floats, Ints, Pairs
from harness.results.statistics.bootstrap import (
    FEW,
    LEAST,
    RESAMPLINGS,
    Estimate,
    Method,
    estimates,
    question_weights,
    strata_of,
)

CENTER = 1000.0
"""The mean of all ratings, or the anchor's."""
POINTS = 400 / math.log(10)
"""Points for one unit of ln p."""
HALF_A_TIE = 0.5
FIRST, SECOND, TIE = 0, 1, 2
_NONE = 1e-9
"""A weight of this or less is none."""
_SETTLED = 1e-7
"""A change of the log odds of this or less is the last."""
_EQUAL = 1e-6
"""Points that are no difference."""
_BLOCK = 500_000
"""Numbers in one block of resampled pairs of models; bounds the memory (4 MB for each such array)."""
_STEPS = 200
_CHORD = 20
"""Steps with the curvature of a similar fit; what has not settled then goes on with its own."""

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class StrengthRow:
    """How strong one model is."""

    model: str
    rating: Estimate
    """On the stated scale, with its interval; the anchor has none."""
    n: int
    """Pairs of this model that count."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """The models by strength, or why there is no such order."""

    rows: tuple[StrengthRow, ...]
    """The strongest first; empty where there is no estimate."""
    nu: float | None
    """How common ties are: two equal models tie with a chance of nu / (2 + nu). None where there is no estimate."""
    why_not: str | None
    """Why there is no estimate; None where there is one."""
    missing: tuple[str, ...]
    """Models without any pair that counts; they have no rating."""
    anchor: str | None
    """The model whose rating is 1000; None if that is the mean of all."""
    virtual_ties: float
    """Ties added for each two models that were compared."""
    n: int
    """Pairs that count."""
    excluded: int
    """Pairs left out because a game gave no verdict."""
    refits: int
    """Fits behind the intervals: resamplings, or questions left out one by one; 0 where there are no intervals."""
    without_estimate: int
    """Of these, how many had no estimate."""

    @property
    def scale(self) -> str:
        """Return what the numbers mean, for the table."""
        center = f"{self.anchor} = 1000" if self.anchor else "mean 1000"
        prior = "" if not self.virtual_ties else f"; prior: {self.virtual_ties:g} virtual ties for each compared pair"
        return f"Bradley-Terry with ties (Davidson), {center}, 400 points = odds of 10 to 1{prior}"


class Fit(NamedTuple):
    """The greatest likelihood: strengths (ln p, mean 0) and nu, one row for each set of counts; NaN for no estimate."""

    strengths: Floats
    nu: Floats


class Games(NamedTuple):
    """Counts for each two models that were compared: first[k] against second[k]."""

    first: Ints
    second: Ints
    counts: Floats
    """questions (or resamplings) × pairs of models × 3: wins of the first, wins of the second, ties."""


def ranking(
    pairs: Pairs,
    *,
    anchor: str | None = None,
    virtual_ties: float = 0.0,
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
    models, games = _games(pairs)
    prior = np.array([virtual_ties / 2, virtual_ties / 2, 0.0])
    whole = games._replace(counts=games.counts.sum(axis=0, keepdims=True) + prior)
    missing = tuple(sorted({*pairs.models} - {*models}))
    n = len(pairs.outcome) - excluded
    why_not = _why_not(models, whole, anchor)
    if why_not is not None:
        return Ranking((), None, why_not, missing, anchor, virtual_ties, n, excluded, 0, 0)
    fitted = fit(whole, len(models))
    if np.isnan(fitted.nu[0]):
        why_not = f"the fit did not settle within {_STEPS} steps"
        return Ranking((), None, why_not, missing, anchor, virtual_ties, n, excluded, 0, 0)
    fixed = None if anchor is None else models.index(anchor)
    refits = _refits(games, prior, fitted, len(models), pairs.groups, resamplings, seed)
    ratings = _ratings(_scaled(fitted.strengths, fixed)[0], refits, fixed, resamplings, seed)
    met = np.zeros(len(models))
    for side in (games.first, games.second):
        np.add.at(met, side, games.counts.sum(axis=(0, 2)))
    rows = [StrengthRow(model, ratings[at], int(met[at])) for at, model in enumerate(models)]
    rows.sort(key=lambda row: (-(row.rating.value or 0.0), row.model))
    lost = int(np.isnan(refits.strengths[:, 0]).sum())
    nu = float(fitted.nu[0])
    return Ranking(tuple(rows), nu, None, missing, anchor, virtual_ties, n, excluded, len(refits.strengths), lost)


def rankings_by_group(
    pairs: Pairs,
    *,
    anchor: str | None = None,
    virtual_ties: float = 0.0,
    resamplings: int = RESAMPLINGS,
    seed: int = 0,
) -> list[tuple[Any, Ranking]]:
    """Return each group, in the order of the questions, and the ranking on its questions alone."""
    parts = [(group, of_group(pairs, group)) for group in groups_of(pairs)]
    return [
        (group, ranking(own, anchor=anchor, virtual_ties=virtual_ties, resamplings=resamplings, seed=seed))
        for group, own in parts
    ]


def fit(games: Games, models: int, start: Floats | None = None, inverse: Floats | None = None) -> Fit:
    """Return strengths and nu of greatest likelihood for each row of counts, by damped Newton steps from `start`.

    With `inverse`, the inverse curvature of a fit to similar counts, the first steps use that one for all rows.
    """
    counts = games.counts
    strengths, nu = np.full((len(counts), models), np.nan), np.full(len(counts), np.nan)
    at = np.flatnonzero(has_estimate(games, models))
    ties, all_games = counts[at, :, TIE].sum(axis=1), counts[at].sum(axis=(1, 2))
    tied = ties > _NONE
    log_nu = np.full(len(at), -np.inf)
    log_nu[tied] = np.log(2 * ties[tied] / (all_games - ties)[tied])
    theta = np.zeros((len(at), models)) if start is None else np.tile(start, (len(at), 1))
    for number in range(_STEPS):
        if not len(at):
            break
        own = games if len(at) == len(counts) else games._replace(counts=counts[at])
        step, size = _step(own, theta, log_nu, inverse if number < _CHORD else None)
        theta += step[:, :models]
        log_nu += step[:, models]
        done = size < _SETTLED
        strengths[at[done]], nu[at[done]] = theta[done], np.exp(log_nu[done])
        at, theta, log_nu = at[~done], theta[~done], log_nu[~done]
    strengths -= strengths.mean(axis=1, keepdims=True)
    return Fit(strengths, nu)


def _step(games: Games, theta: Floats, log_nu: Floats, inverse: Floats | None) -> tuple[Floats, Floats]:
    """Return the step of strengths and ln nu (last), and how far it changes any log odds.

    A Newton step of size s is shortened to log(1 + s): the likelihood then never falls (Bach 2010, proposition 1).
    """
    first, second, counts = games
    rows, models = theta.shape
    found = chances(theta[:, first] - theta[:, second], log_nu[:, None])
    wins, losses, ties = found
    n = counts.sum(axis=2)
    slope = (counts[:, :, FIRST] - counts[:, :, SECOND] - n * (wins - losses)) / 2
    more_ties = np.where(np.isinf(log_nu), 0.0, (counts[:, :, TIE] - n * ties).sum(axis=1))
    gradient = np.concatenate([_by_model(slope, games, models), more_ties[:, None]], axis=1)
    if inverse is None:
        step: Floats = np.linalg.solve(_curvature(games, models, found), gradient[:, :, None])[:, :, 0]
    else:
        step = gradient @ inverse
    change = np.ptp(step[:, :models], axis=1)
    size = np.maximum(change, np.abs(step[:, models]) + change / 2)
    step *= np.divide(np.log1p(size), size, out=np.ones(rows), where=size > 0)[:, None]
    return step, size


def _curvature(games: Games, models: int, found: tuple[Floats, Floats, Floats]) -> Floats:
    """Return minus the second derivatives by strengths and ln nu (last) of the log-likelihood of each row.

    The mean of the strengths, on which nothing depends, and ln nu where there are no ties have a made-up curvature.
    """
    first, second, counts = games
    wins, losses, ties = found
    n = counts.sum(axis=2)
    curvature = np.zeros((len(n), models + 1, models + 1))
    between = n * (wins * losses + ties * (wins + losses) / 4)
    curvature[:, first, second] = curvature[:, second, first] = -between
    diagonal = np.arange(models)
    curvature[:, diagonal, diagonal] = -curvature[:, :models, :models].sum(axis=2)
    curvature[:, :models, :models] += curvature[:, diagonal, diagonal].mean(axis=1)[:, None, None] / models
    across = -_by_model(n * (wins - losses) / 2 * ties, games, models)
    curvature[:, :models, models] = curvature[:, models, :models] = across
    own = (n * ties * (wins + losses)).sum(axis=1)
    curvature[:, models, models] = np.where(own > 0, own, 1.0)
    return curvature


def chances(lead: Floats, log_nu: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the chances of win, loss and tie for a model whose ln p is greater by `lead`."""
    top = np.maximum(np.abs(lead) / 2, log_nu)
    win, loss, tie = np.exp(lead / 2 - top), np.exp(-lead / 2 - top), np.exp(log_nu - top)
    total = win + loss + tie
    return win / total, loss / total, tie / total


def _by_model(values: Floats, games: Games, models: int) -> Floats:
    """Return for each row the sum over pairs of models, added to the first and taken from the second."""
    signs = np.zeros((len(games.first), models))
    pair = np.arange(len(games.first))
    signs[pair, games.first] += 1
    signs[pair, games.second] -= 1
    summed: Floats = values @ signs
    return summed


def has_estimate(games: Games, models: int) -> Bools:
    """Return for each row of counts whether there are strengths of greatest likelihood."""
    rows = len(games.counts)
    if models < 2 or not len(games.first):
        return np.zeros(rows, dtype=bool)
    won, tied = _edges(games, models)
    one = np.zeros((rows, models), dtype=bool)
    one[:, 0] = True
    good = np.ones(rows, dtype=bool)
    for way in (won | tied, (won | tied).swapaxes(1, 2)):
        good &= _reached(one, way).all(axis=1)
    unclear = good & tied.any(axis=(1, 2)) & ~(won & won.swapaxes(1, 2)).any(axis=(1, 2))
    for at in np.flatnonzero(unclear):
        good[at] = _has_round(won[at], tied[at])
    return good


def _edges(games: Games, models: int) -> tuple[Bools, Bools]:
    """Return rows × models × models: whether the one beat the other, and whether they tied."""
    won = np.zeros((len(games.counts), models, models), dtype=bool)
    tied = np.zeros(won.shape, dtype=bool)
    there = games.counts > _NONE
    won[:, games.first, games.second] = there[:, :, FIRST]
    won[:, games.second, games.first] = there[:, :, SECOND]
    tied[:, games.first, games.second] = tied[:, games.second, games.first] = there[:, :, TIE]
    return won, tied


def _reached(start: Bools, edges: Bools) -> Bools:
    """Return the models that are reached from `start` along the edges, for each row."""
    numbers = edges.astype(np.float32)
    reached = start
    while True:
        further: Bools = reached | ((reached[:, None, :].astype(np.float32) @ numbers)[:, 0, :] > 0)
        if (further == reached).all():
            return reached
        reached = further


def _has_round(won: Bools, tied: Bools) -> bool:
    """Return whether some round of models has more wins than ties (Bellman and Ford, for the longest path)."""
    weight = np.where(won, 1.0, np.where(tied, -1.0, -np.inf))
    best = np.zeros(len(won))
    for _ in range(len(won) + 1):
        longer = np.maximum(best, (best[:, None] + weight).max(axis=0))
        if (longer == best).all():
            return False
        best = longer
    return True


def _why_not(models: Sequence[str], games: Games, anchor: str | None) -> str | None:
    """Return why there is no estimate, or None if there is one; `games` has one row of counts."""
    if len(models) < 2:
        return "fewer than two models were compared"
    if anchor is not None and anchor not in models:
        return f"no pair of the anchor {anchor} counts"
    if has_estimate(games, len(models))[0]:
        return None
    won, tied = _edges(games, len(models))
    met = np.zeros(won.shape, dtype=bool)
    met[:, games.first, games.second] = met[:, games.second, games.first] = True
    sets = [
        (told, [model for model, there in zip(models, row, strict=True) if there])
        for told, edges in (
            ("never compared with", met),
            ("never won or tied against", won | tied),
            ("never lost or tied against", (won | tied).swapaxes(1, 2)),
        )
        for row in _reached(np.eye(len(models), dtype=bool), np.repeat(edges, len(models), axis=0)).tolist()
    ]
    for told in ("never compared with", ""):
        apart = [own for own in sets if len(own[1]) < len(models) and own[0].startswith(told)]
        if apart:
            what, group = min(apart, key=lambda own: len(own[1]))
            rest = "the other" if len(models) - len(group) == 1 else "any of the others"
            return f"{', '.join(group)} {what} {rest}"
    return "no round of models, each of which won or tied against the next, has more wins than ties"


def _games(pairs: Pairs) -> tuple[list[str], Games]:
    """Return the models of which a pair counts, and the counts by question of each two that met."""
    wins, ties = tallies(pairs)
    met = (wins + wins.swapaxes(1, 2) + ties).sum(axis=0)
    there = np.flatnonzero(met.any(axis=1))
    first, second = np.nonzero(np.triu(met[np.ix_(there, there)], 1))
    i, j = there[first], there[second]
    counts = np.stack([wins[:, i, j], wins[:, j, i], ties[:, i, j]], axis=2)
    return [pairs.models[at] for at in there.tolist()], Games(first, second, counts)


def _scaled(strengths: Floats, fixed: int | None) -> Floats:
    """Return ratings; strengths have mean 0."""
    zero = 0.0 if fixed is None else strengths[:, [fixed]]
    return CENTER + POINTS * (strengths - zero)


class Refits(NamedTuple):
    """Fits on other sets of questions."""

    strengths: Floats
    """Refits × models; NaN where there is no estimate. Empty: too few questions."""
    questions: int
    """Questions of which a pair counts."""
    groups: tuple[Any, ...]
    """Their groups."""


def _refits(
    games: Games, prior: Floats, fitted: Fit, models: int, groups: Sequence[Any], resamplings: int, seed: int
) -> Refits:
    """Return fits on resampled questions, or with each left out where there are few."""
    on: list[int] = np.flatnonzero(games.counts.any(axis=(1, 2))).tolist()
    own, n = tuple(groups[at] for at in on), len(on)
    flat = games.counts[on].reshape(n, -1)
    if n < LEAST or resamplings < 1:
        return Refits(np.empty((0, models)), n, own)
    blocks: Iterable[Floats] = (
        [np.ones((n, n)) - np.eye(n)]
        if n < FEW
        else question_weights(strata_of(own), corrected=True, resamplings=resamplings, seed=seed)
    )
    rows = max(1, _BLOCK // max(len(games.first), models**2))
    whole = games._replace(counts=games.counts.sum(axis=0, keepdims=True) + prior)
    near, log_nu = fitted.strengths, np.log(np.where(fitted.nu > 0, fitted.nu, 1e-300))
    inverse = np.linalg.inv(_curvature(whole, models, chances(near[:, games.first] - near[:, games.second], log_nu)))
    found = [
        fit(games._replace(counts=(part @ flat).reshape(len(part), -1, 3) + prior), models, near[0], inverse[0])
        for weights in blocks
        for start in range(0, len(weights), rows)
        for part in [weights[start : start + rows]]
    ]
    return Refits(np.concatenate([one.strengths for one in found]), n, own)


def _ratings(value: Floats, refits: Refits, fixed: int | None, resamplings: int, seed: int) -> list[Estimate]:
    """Return each model's rating with its interval; none where all refits agree."""
    n = refits.questions
    good = refits.strengths[~np.isnan(refits.strengths[:, 0])]
    ratings = _scaled(good, fixed)
    low = high = np.full(len(value), np.nan)
    if n >= FEW and len(good):
        low, high = np.quantile(ratings, (0.025, 0.975), axis=0)
        low = np.where(np.ptp(ratings, axis=0) < _EQUAL, np.nan, low)
    elif len(good) and len(good) == len(refits.strengths):
        pseudo = value + (n - 1) * (ratings.mean(axis=0) - ratings)
        found = estimates(pseudo, np.ones(pseudo.shape), refits.groups, resamplings=resamplings, seed=seed)
        low, high = found.low, found.high
    method: Method = "percentile" if n >= FEW else "studentized"
    return [
        Estimate(own, None, None, n, None) if np.isnan(below) else Estimate(own, below, above, n, method)
        for own, below, above in zip(value.tolist(), low.tolist(), high.tolist(), strict=True)
    ]
