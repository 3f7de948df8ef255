"""Pairs -> the matrix of every model against every other, and each model's mean win rate over its opponents.

    cell (i, j)          win, loss, tie of i against j, n = win + loss + tie
                         win_rate_adjusted = (win + tie / 2) / n, so that cells (i, j) and (j, i) add up to 1
    mean over opponents  mean over the opponents j of i of win(i, j) / n(i, j), every opponent with equal weight

The mean does not count a tie as a win: it is the "win rate" of the paper's table by category (arXiv 2306.05685v4, Table
7), which this reproduces to every printed digit from the experts' votes, both turns pooled.

x against y: 6 wins, 2 losses, 2 ties, win_rate_adjusted = 7/10; x against z: 1 win of 2. The mean over opponents of x
is (6/10 + 1/2) / 2 = 0.55, where its pooled win rate is 7/12 = 0.583.

Both leave out pairs in which a game gave no verdict, and count them. Intervals resample questions within groups, all
pairs of a question together (see `bootstrap`). The mean over opponents is not a ratio of two sums, so its
interval is that of the mean of the questions' jackknife pseudo-values, n * mean - (n - 1) * mean without the question.
How often it misses in simulation: `benchmarks/README.md`.

Source: Zheng et al. 2023, Table 7; Tukey (1958), Ann. Math. Stat. 29, 614, for pseudo-values.
"""

from dataclasses import replace
from typing import Unpack

import numpy as np

from harness.old.results.matrix import Floats, Ints, Pairs, tally
from harness.old.results.pairs.rates import groups_of, in_order, of_group, rate_column
from harness.old.results.statistics.bootstrap import Estimate, Resampling, estimates, jackknifed
from harness.old.results.table import ALL, Line, Table, best_first

_NONE = 1e-9
"""A weight of this or less is none."""


def pair_matrix(pairs: Pairs, **how: Unpack[Resampling]) -> Table:
    """Return a line for each model against each other one, by opponent: wins, losses, ties, the pairs left out because
    a game gave no verdict, and the win rate in which a tie is half a win (of weighted verdicts, the mean preference).

    Models and opponents are sorted by pooled rate, best first (models without any last, then by name). The result
    depends neither on the order of rows nor on which of two models a row names first.
    """
    pairs = in_order(pairs)
    order = _best_first(pairs)
    wins, ties = (table[:, order][:, :, order] for table in tallies(pairs))
    sides = tallies(pairs._replace(weighed=None))
    excluded = _excluded(pairs)[np.ix_(order, order)].tolist()
    upper = np.triu_indices(len(order), 1)
    own, other = wins[:, *upper], wins.swapaxes(1, 2)[:, *upper]
    tied = ties[:, *upper]
    found = estimates(own + tied / 2, own + other + tied, pairs.strata, **how, bounds=(0.0, 1.0))
    names = [pairs.models[at] for at in order]
    won, drawn = (table.sum(axis=0)[np.ix_(order, order)].astype(int).tolist() for table in sides)
    rate = dict(zip(zip(*(side.tolist() for side in upper), strict=True), found, strict=True))
    rate |= {(j, i): _reversed(one) for (i, j), one in rate.items()}
    column = rate_column(pairs)
    counts = ("win", "loss", "tie", "excluded")
    lines = []
    for i, model in enumerate(names):
        for j, opponent in enumerate(names):
            if i != j:
                numbers = dict(zip(counts, (won[i][j], won[j][i], drawn[i][j], excluded[i][j]), strict=True))
                lines.append(Line(model, numbers | {column: rate[i, j]}, group=opponent))
    return Table(lines, "pairs", "opponent", how.get("seed", 0))


def mean_over_opponents(pairs: Pairs, **how: Unpack[Resampling]) -> list[Line]:
    """Return a line for each model with its mean win rate over its opponents, best first (models without any last, then
    by name), then by group."""
    order, pairs = groups_of(pairs), in_order(pairs)
    found = {ALL: _means(pairs, **how)}
    found |= {group: _means(of_group(pairs, group), **how) for group in order}
    return best_first(
        (
            Line(model, {"mean_over_opponents": own[at]}, group=group)
            for group, own in found.items()
            for at, model in enumerate(pairs.models)
        ),
        "mean_over_opponents",
    )


def tallies(pairs: Pairs) -> tuple[Floats, Floats]:
    """Return the wins and the ties by question, each questions × models × models; wins are of the row's model.

    A weighed verdict is a share of a win for either model, and no tie.
    """
    shape = (len(pairs.questions), len(pairs.models), len(pairs.models))
    if pairs.weighed is not None:
        at = ~np.isnan(pairs.weighed)
        one, other, share = pairs.model_1[at], pairs.model_2[at], pairs.weighed[at]
        row, column = np.concatenate([one, other]), np.concatenate([other, one])
        weights = np.concatenate([share, 1.0 - share])
        return tally(shape, np.tile(pairs.question[at], 2), row, column, weights=weights), np.zeros(shape)

    def those(outcome: float) -> Floats:
        at = pairs.outcome == outcome
        return tally(shape, pairs.question[at], pairs.model_1[at], pairs.model_2[at])

    ties = those(0.5)
    return those(1.0) + those(0.0).swapaxes(1, 2), ties + ties.swapaxes(1, 2)


def _excluded(pairs: Pairs) -> Ints:
    """Return how many pairs of each two models gave no verdict."""
    at = np.isnan(pairs.outcome)
    counts = tally((len(pairs.models),) * 2, pairs.model_1[at], pairs.model_2[at]).astype(np.int64)
    return counts + counts.T


def _best_first(pairs: Pairs) -> list[int]:
    wins, ties = (table.sum(axis=0) for table in tallies(pairs))
    n = (wins + wins.T + ties).sum(axis=1)
    rate = np.divide((wins + ties / 2).sum(axis=1), n, out=np.full(len(n), -1.0), where=n > 0)
    return sorted(range(len(n)), key=lambda at: (-rate[at], pairs.models[at]))


def _reversed(rate: Estimate) -> Estimate:
    """Return the same rate from the other model's side."""
    value, low, high = (None if number is None else 1 - number for number in (rate.value, rate.high, rate.low))
    return Estimate(value, low, high, rate.questions, rate.method)


def _means(pairs: Pairs, **how: Unpack[Resampling]) -> list[Estimate]:
    """Return the mean over opponents of each model, in the order of `pairs.models`."""
    wins, ties = tallies(pairs)
    met = wins + wins.swapaxes(1, 2) + ties
    value = _means_of(wins.sum(axis=0), met.sum(axis=0))
    without = _means_of(wins.sum(axis=0) - wins, met.sum(axis=0) - met)
    found = jackknifed(value, without, pairs.strata, present=met.sum(axis=2) > 0, **how, bounds=(0.0, 1.0))
    return [replace(own, value=None if mean != mean else mean) for own, mean in zip(found, value.tolist(), strict=True)]


def _means_of(wins: Floats, met: Floats) -> Floats:
    """Return the mean over the last axis of wins / met, over the opponents that were met; NaN where none was."""
    shares = np.divide(wins, met, out=np.zeros(met.shape), where=met > _NONE)
    opponents = np.count_nonzero(met > _NONE, axis=-1)
    means: Floats = np.divide(shares.sum(axis=-1), opponents, out=np.full(opponents.shape, np.nan), where=opponents > 0)
    return means
