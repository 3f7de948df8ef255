"""Counts of games -> the strengths of greatest likelihood, with ties (Davidson), by Newton's method.

    P(i beats j) = p_i / D        P(tie) = nu * sqrt(p_i * p_j) / D        D = p_i + p_j + nu * sqrt(p_i * p_j)

x against y: 6 wins, 2 losses, 2 ties: p_x / p_y = 6 / 2 = 3 and nu = 2 / sqrt(6 * 2) = 0.577 fit exactly. Without ties
nu is 0, which is plain Bradley-Terry.

Source: Davidson (1970), J. Am. Stat. Assoc. 65, 317; Bach (2010), Electron. J. Stat. 4, 384, for the length of the
steps.
"""

from typing import NamedTuple

import numpy as np

from harness.old.results.matrix import Floats
from harness.old.results.pairs.existence import has_estimate
from harness.old.results.pairs.games import FIRST, NONE, SECOND, TIE, Games

STEPS = 200
_CHORD = 20
"""Steps with the curvature of a similar fit; fits that have not converged then continue with their own."""
_SETTLED = 1e-7
"""A change of the log odds of this or less is the last."""


class Fit(NamedTuple):
    """The greatest likelihood: strengths (ln p, mean 0) and nu, one row for each set of counts; NaN for no estimate."""

    strengths: Floats
    nu: Floats


def fit(games: Games, models: int, start: Floats | None = None, inverse: Floats | None = None) -> Fit:
    """Return strengths and nu of greatest likelihood for each row of counts, by damped Newton steps from `start`.

    With `inverse`, the inverse curvature of a fit to similar counts, the first steps use that one for all rows.
    """
    counts = games.counts
    strengths, nu = np.full((len(counts), models), np.nan), np.full(len(counts), np.nan)
    at = np.flatnonzero(has_estimate(games, models))
    ties, all_games = counts[at, :, TIE].sum(axis=1), counts[at].sum(axis=(1, 2))
    tied = ties > NONE
    here = np.tile(np.zeros(models + 1) if start is None else np.append(start, 0.0), (len(at), 1))
    here[:, models] = -np.inf
    here[tied, models] = np.log(2 * ties[tied] / (all_games - ties)[tied])
    for number in range(STEPS):
        if not len(at):
            break
        own = games if len(at) == len(counts) else games._replace(counts=counts[at])
        step = _step(own, here, inverse if number < _CHORD else None)
        done = damped(step) < _SETTLED
        here += step
        strengths[at[done]], nu[at[done]] = here[done, :models], np.exp(here[done, models])
        at, here = at[~done], here[~done]
    strengths -= strengths.mean(axis=1, keepdims=True)
    return Fit(strengths, nu)


def inverse_curvature(games: Games, fitted: Fit) -> Floats:
    """Return the inverse curvature at a fit to one row of counts, for fits to similar counts."""
    log_nu = np.log(np.where(fitted.nu > 0, fitted.nu, 1e-300))
    found = chances_of(games, np.column_stack([fitted.strengths, log_nu]))
    inverse: Floats = np.linalg.inv(curvature_of(games, fitted.strengths.shape[1], found))[0]
    return inverse


def damped(step: Floats) -> Floats:
    """Return how far steps of strengths and ln nu (last) change any log odds, and shorten the steps in place.

    A Newton step of size s is shortened to log(1 + s): the likelihood then never falls (Bach 2010, proposition 1).
    """
    change = np.ptp(step[:, :-1], axis=1)
    size: Floats = np.maximum(change, np.abs(step[:, -1]) + change / 2)
    step *= np.divide(np.log1p(size), size, out=np.ones(len(size)), where=size > 0)[:, None]
    return size


def _step(games: Games, here: Floats, inverse: Floats | None) -> Floats:
    """Return the Newton step of strengths and ln nu (last)."""
    models = here.shape[1] - 1
    found = chances_of(games, here)
    gradient = gradient_of(games, models, found)
    gradient[np.isinf(here[:, models]), models] = 0.0
    if inverse is not None:
        return np.asarray(gradient @ inverse)
    return np.asarray(np.linalg.solve(curvature_of(games, models, found), gradient[:, :, None])[:, :, 0])


def gradient_of(games: Games, models: int, found: tuple[Floats, Floats, Floats]) -> Floats:
    """Return the derivatives by strengths and ln nu (last) of the log-likelihood of each row."""
    counts = games.counts
    wins, losses, ties = found
    n = counts.sum(axis=2)
    slope = (counts[:, :, FIRST] - counts[:, :, SECOND] - n * (wins - losses)) / 2
    more_ties = (counts[:, :, TIE] - n * ties).sum(axis=1)
    whole: Floats = np.concatenate([_by_model(slope, games, models), more_ties[:, None]], axis=1)
    return whole


def curvature_of(games: Games, models: int, found: tuple[Floats, Floats, Floats]) -> Floats:
    """Return minus the second derivatives by strengths and ln nu (last) of the log-likelihood of each row.

    The mean of the strengths, on which nothing depends, and ln nu without ties have an arbitrary curvature.
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


def chances_of(games: Games, here: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the chances of every two models that met, by rows of strengths and ln nu (last)."""
    return chances(here[:, games.first] - here[:, games.second], here[:, -1:])


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
