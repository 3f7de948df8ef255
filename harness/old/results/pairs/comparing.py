"""Pairs -> for every two models the difference of their strengths, and whether it is significant.

The two are compared within the Bradley-Terry model with ties (`davidson`), so it does not matter if they had different
opponents, or the same ones on different questions. For models i and j with a difference of strengths delta = ln p_i -
ln p_j:

    s_q         score of question q: derivative by delta of its log-likelihood at delta = 0 with the rest fitted, made
                independent of all other strengths and of nu (the efficient score)
    d_q         = s_q * 2 * n * I / (m * J)
    difference  = mean of d_q over the n questions          p = sign-flip p-value of the d_q (`signflip`), then Holm

J is the information on delta in all questions, I that in one match of i and of j with each of m opponents (all models;
with a baseline only that one). So d_q is in win rates: the difference of the mean outcomes if both had been compared
with every model. If both were, on every question, d_q is exactly that difference, and p is exact too.

x and y were compared with each other and with z on one question; x beat y and z, y tied with z: the mean outcomes are 1
and 0.25, and d_q = 0.75.

The other parameters are fitted with a normal prior of standard deviation 3.2 on each ln p and on ln nu, so that the
fit exists if a model won all its games; the efficient score does not depend on it to first order. Models that no chain
of pairs connects are not compared.

If some pairs were compared much more often than others (more than by chance in an even design), the
pairs may have been chosen by earlier results, and the usual p is too small: comparing until a difference appears is
optional stopping. Then p is that of a normal mixture, which is valid for any choice of pairs and any stopping rule:

    p = sqrt(1 + r) * exp(-z^2 / 2 * r / (1 + r)), at most 1        z: of the usual p, r = 12

For z = 3 the usual p is 0.003, and this one 0.057.

Simulated false verdicts and power by design: `benchmarks/coverage.py`.

Source: Hemerik, Goeman and Finos (2020), J. R. Stat. Soc. B 82, 841, for flipping the signs of efficient scores, which
does not need a correct variance; Robbins (1970), Ann. Math. Stat. 41, 1397,
for the mixture; Davidson (1970), J. Am. Stat. Assoc. 65, 317; Neyman (1959) for the independence.
"""

import math
import sys
from statistics import NormalDist
from typing import Unpack

import numpy as np

from harness.old.names import listed
from harness.old.results.common import few
from harness.old.results.matrix import Floats, Ints, Pairs
from harness.old.results.pairs.davidson import chances, chances_of, curvature_of, damped, gradient_of
from harness.old.results.pairs.existence import linked
from harness.old.results.pairs.games import FIRST, SECOND, TIE, Games, games_of
from harness.old.results.pairs.rates import against, in_order
from harness.old.results.statistics.bootstrap import Resampling
from harness.old.results.statistics.paired import PairedTable, compared_columns, named_pairs

PRECISION = 0.1
"""Of the prior on each ln p and on ln nu."""
_STEPS = 50
_SETTLED = 1e-4
"""A change of the log odds of this or less is the last; the efficient score hardly depends on it."""
_UNEVEN = 3.3
"""Standard deviations by which the dispersion of counts is beyond chance: one in a thousand even designs."""
_EQUAL = 0.9
"""A pair that met at least this share of how often the most frequent one did met as often: a few verdicts may fail."""
_MIXED = 12.0
"""r: the variance of the mixture, in those of the score; it is best for z of 3 to 4.5."""
_BLOCK = 500_000
"""Numbers in one block of curvatures or of scores by pair of models; bounds the memory (4 MB for each such array)."""


def compared_strengths(pairs: Pairs, *, baseline: str | None = None, **how: Unpack[Resampling]) -> PairedTable:
    """Return every two models compared by strength, in the order of the models; a baseline is in no pair, nor is
    a model that was judged on few questions (`ranked_models`), though its pairs count for the others.

    With `resamplings` 0 differences have no interval, which is faster.
    """
    if baseline is not None:
        pairs = against(pairs, baseline)
    names = ranked_models(pairs, baseline)
    first, second = np.triu_indices(len(names), k=1)
    wanted = [(names[one], names[other]) for one, other in zip(first, second, strict=True)]
    ordered = in_order(pairs)
    models, games = games_of(ordered)
    questions = np.flatnonzero(games.counts.any(axis=(1, 2)))
    games = games._replace(counts=games.counts[questions])
    columns = np.full((len(questions), len(wanted)), np.nan)
    place = {model: at for at, model in enumerate(models)}
    for reached in np.unique(linked(games, len(models)), axis=0):  # no chain of pairs leads from one group to another
        own = np.flatnonzero(reached)
        members = {models[at] for at in own.tolist()}
        chosen = [at for at, two in enumerate(wanted) if members.issuperset(two)]
        if not chosen:
            continue
        part = _of_models(games, own)
        inside = {int(at): k for k, at in enumerate(own)}
        one, other = (np.array([inside[place[wanted[at][side]]] for at in chosen], dtype=np.int64) for side in (0, 1))
        there = np.flatnonzero(part.counts.any(axis=(1, 2)))
        opponents = None if baseline is None else np.array([inside[place[baseline]]], dtype=np.int64)
        scores = _scores(part._replace(counts=part.counts[there]), len(own), one, other, opponents)
        columns[there[:, None], np.array(chosen)] = scores
    groups = None if ordered.strata is None else [ordered.strata[at] for at in questions.tolist()]
    rows = compared_columns(columns, groups, **how, bounds=(-1.0, 1.0))
    if uneven(games):
        rows = [row._replace(p=anytime(row.p), p_method="mixture") if row.p is not None else row for row in rows]
    return PairedTable(tuple(names), named_pairs(rows, wanted))


def ranked_models(pairs: Pairs, baseline: str | None = None) -> list[str]:
    """Return the models that were judged on enough questions to be ranked (`common`); a baseline is not."""
    good = ~np.isnan(pairs.outcome)
    sides = pairs.model_1[good], pairs.model_2[good]
    own = [pairs.question[good][(sides[0] == at) | (sides[1] == at)] for at in range(len(pairs.models))]
    judged = [len(np.unique(questions)) for questions in own]
    most = max((n for n, model in zip(judged, pairs.models, strict=True) if model != baseline), default=0)
    return [m for m, n in zip(pairs.models, judged, strict=True) if m != baseline and not few(n, most)]


def uneven(games: Games) -> bool:
    """Return whether the pairs that met did so more unequally often than chance makes of an even design."""
    counts = games.counts.sum(axis=(0, 2))
    freedom = len(counts) - 1
    if freedom < 1:
        return False
    dispersion = float(((counts - counts.mean()) ** 2).sum() / counts.mean())
    return dispersion > freedom + _UNEVEN * math.sqrt(2 * freedom)


def anytime(p: float) -> float:
    """Return the p-value that is valid for any choice of pairs, from the usual two-sided one."""
    z = NormalDist().inv_cdf(p / 2)
    return min(1.0, max(math.sqrt(1 + _MIXED) * math.exp(-(z**2) / 2 * _MIXED / (1 + _MIXED)), sys.float_info.min))


def meetings_note(pairs: Pairs, baseline: str | None = None) -> str | None:
    """Return a note on who was compared with whom, if the win rates of a table are over unequal opponents.

    With a baseline, the pairs are those against it, and only their numbers can be unequal.
    """
    models, games = games_of(in_order(pairs))
    counts = games.counts.sum(axis=(0, 2))
    met: dict[str, dict[str, int]] = {model: {} for model in sorted(pairs.models)}
    for one, other, count in zip(games.first.tolist(), games.second.tolist(), counts.tolist(), strict=True):
        met[models[one]][models[other]] = met[models[other]][models[one]] = int(count)
    sizes = {model: len(own) for model, own in met.items()}
    least, most = (int(counts.min()), int(counts.max())) if len(counts) else (0, 0)
    everybody = min(sizes.values(), default=0) == len(met) - 1
    if len(met) < 3 or not most or (least >= _EQUAL * most and (everybody or baseline is not None)):
        return None
    over = "unequal opponents"
    if baseline is not None:
        over, spread = "different questions", f"models were compared with the baseline {least} to {most} times"
    elif everybody:
        spread = f"two models were compared {least} to {most} times"
    else:
        few = sorted((model for model in sizes if sizes[model] < max(sizes.values())), key=lambda m: (sizes[m], m))
        few = few or sorted(sizes)
        told = "; ".join(f"{model} met {_listed(met[model])}" for model in few[:3])
        more = f"; {len(few) - 3} more met only some" if len(few) > 3 else ""
        spread = told + more
    chosen = "; tests allow for pairs that were chosen by earlier results" if uneven(games) else ""
    return f"win rates are over {over}, ranks and tests (by strength, Bradley-Terry) are not: {spread}{chosen}"


def _listed(met: dict[str, int]) -> str:
    if not met:
        return "nobody"
    shown = [f"{model} ({count})" for model, count in sorted(met.items(), key=lambda own: (-own[1], own[0]))]
    return f"only {listed(shown, 4)}"


def _scores(games: Games, models: int, one: Ints, other: Ints, opponents: Ints | None) -> Floats:
    """Return d_q, questions × pairs; `opponents` are those with which both are taken to be compared (None: all)."""
    total = games._replace(counts=games.counts.sum(axis=0, keepdims=True))
    start = _fitted(total, np.zeros((1, models + 1)), None)
    rows = max(1, _BLOCK // max(3 * len(games.first), (models + 1) ** 2))
    flat = games.counts.reshape(len(games.counts), -1)
    found = []
    for at in range(0, len(one), rows):
        contrast = np.zeros((len(one[at : at + rows]), models + 1))
        k = np.arange(len(contrast))
        contrast[k, one[at : at + rows]], contrast[k, other[at : at + rows]] = 1.0, -1.0
        null = _fitted(total, np.tile(start, (len(k), 1)), contrast)
        derivative = _by_outcome(total, null, contrast)
        # n * s_q / J is what question q says delta is, and 2 * I / m turns delta into a difference of mean outcomes
        unit = 2 * len(flat) * _round_robin(null, one[at : at + rows], other[at : at + rows], opponents)
        found.append((flat @ derivative.reshape(len(k), -1).T) * unit)
    return np.concatenate(found, axis=1)


def _fitted(games: Games, here: Floats, contrast: Floats | None) -> Floats:
    """Return ln p of all models and ln nu (last) of greatest posterior density, a row for each of those from which the
    steps begin; with contrast' (ln p, ln nu) = 0 where one is given."""
    models = here.shape[1] - 1
    held = _for_each(games, here)
    for _ in range(_STEPS):
        found = chances_of(games, here)
        gradient = gradient_of(held, models, found) - PRECISION * here
        curvature = curvature_of(held, models, found) + PRECISION * np.eye(models + 1)
        step = np.asarray(np.linalg.solve(curvature, gradient[:, :, None])[:, :, 0], dtype=np.float64)
        if contrast is not None:
            along = np.linalg.solve(curvature, contrast[:, :, None])[:, :, 0]
            off = ((here + step) * contrast).sum(axis=1) / (along * contrast).sum(axis=1)
            step -= along * off[:, None]
        size = damped(step)
        here += step
        if size.max(initial=0.0) < _SETTLED:
            break
    if contrast is not None:  # equal to the last digit, so that equal opponents cancel exactly
        k = np.arange(len(here))
        one, other = contrast[:, :models].argmax(axis=1), contrast[:, :models].argmin(axis=1)
        here[k, one] = here[k, other] = (here[k, one] + here[k, other]) / 2
    return here


def _for_each(games: Games, rows: Floats) -> Games:
    """Return the same counts for each of the rows."""
    return games._replace(counts=np.broadcast_to(games.counts, (len(rows), *games.counts.shape[1:])))


def _by_outcome(games: Games, null: Floats, contrast: Floats) -> Floats:
    """Return s / J of one game for each of its outcomes: rows × pairs of models × 3."""
    models = null.shape[1] - 1
    first, second = games.first, games.second
    found = chances_of(games, null)
    wins, _, ties = found
    curvature = curvature_of(_for_each(games, null), models, found)
    weight = np.linalg.solve(curvature, contrast[:, :, None])[:, :, 0]
    apart, tied = weight[:, first] - weight[:, second], weight[:, [models]]
    expected = wins + ties / 2
    derivative = np.empty((*expected.shape, 3))
    derivative[:, :, FIRST] = (1.0 - expected) * apart - ties * tied
    derivative[:, :, SECOND] = (0.0 - expected) * apart - ties * tied
    derivative[:, :, TIE] = (0.5 - expected) * apart + (1.0 - ties) * tied
    return derivative


def _round_robin(null: Floats, one: Ints, other: Ints, opponents: Ints | None) -> Floats:
    """Return I / m, for each row."""
    models = null.shape[1] - 1
    k = np.arange(len(null))
    wins, losses, ties = chances(null[k, one][:, None] - null[:, :models], null[:, models:])
    information = (wins * losses + ties * (wins + losses) / 4) / 2  # of one match of either with each model
    if opponents is not None:
        summed: Floats = information[:, opponents].sum(axis=1)
        return summed / len(opponents)
    information[k, other] *= 2  # the two themselves: counted once for both, and it tells twice as much
    information[k, one] = 0.0
    return np.asarray(information.sum(axis=1) / (models - 1), dtype=np.float64)


def _of_models(games: Games, own: Ints) -> Games:
    """Return the games of one group of models, numbered from 0."""
    chosen = np.flatnonzero(np.isin(games.first, own))
    place = np.full(int(own.max(initial=0)) + 1, -1, dtype=np.int64)
    place[own] = np.arange(len(own))
    return Games(place[games.first[chosen]], place[games.second[chosen]], games.counts[:, chosen])
