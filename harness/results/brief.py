"""Grades or pairs of one table -> what its first screen says of how sure it is: an interval and ranks for each model.

    interval   of the average, or of the adjusted win rate (ties half), from resampling questions (`bootstrap`)
    rank       1 + models told to be better, to M - models told to be worse (`paired`, `ranks`)

Pairs are ranked like grades: a model's grade on a question and turn is the mean of its outcomes there, 1 for a win, 1/2
for a tie, 0 for a loss. x wins two and ties one of three pairs on question 1: its grade there is 2.5 / 3 = 0.83.

The full detail (`detail`) has the same numbers: it draws the same questions.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from harness.results.grades.scores import average_of
from harness.results.matrix import Matrix, Pairs
from harness.results.pairs.rates import adjusted_rates, against
from harness.results.statistics.bootstrap import RESAMPLINGS, Estimate
from harness.results.statistics.paired import paired
from harness.results.statistics.ranks import RankRange, rank_ranges


@dataclass(frozen=True, slots=True)
class Brief:
    """An interval and a range of ranks for each model."""

    column: str
    """The column of the table that the intervals are of."""
    intervals: Mapping[str, Estimate]
    ranks: Mapping[str, RankRange]

    def fields(self, model: str) -> dict[str, Any]:
        """Return the further columns of a model's row; None where there is no interval or rank."""
        estimate, rank = self.intervals.get(model), self.ranks.get(model)
        return {
            f"{self.column}_low": estimate.low if estimate else None,
            f"{self.column}_high": estimate.high if estimate else None,
            "rank_first": rank.first if rank else None,
            "rank_last": rank.last if rank else None,
        }


def grades_brief(grades: Matrix, *, resamplings: int = RESAMPLINGS, seed: int = 0) -> Brief:
    """Return the interval of each average, and the ranks."""
    found = average_of(grades, resamplings=resamplings, seed=seed)
    return Brief("average", found, _ranks(grades))


def pairs_brief(pairs: Pairs, *, baseline: str | None = None, resamplings: int = RESAMPLINGS, seed: int = 0) -> Brief:
    """Return the interval of each adjusted win rate, and the ranks; a baseline has neither."""
    found = adjusted_rates(pairs, baseline=baseline, resamplings=resamplings, seed=seed)
    return Brief("win_rate_adjusted", found, _ranks(outcome_grades(pairs, baseline=baseline)))


def outcome_grades(pairs: Pairs, *, baseline: str | None = None) -> Matrix:
    """Return each model's mean outcome by question and turn, as grades from 0 to 1; the baseline has none."""
    if baseline is not None:
        pairs = against(pairs, baseline)
    turns = tuple(sorted(set(pairs.turn.tolist())))
    turn = np.searchsorted(np.array(turns, dtype=np.int64), pairs.turn)
    shape = (len(pairs.questions), len(pairs.models), len(turns))
    known = ~np.isnan(pairs.outcome)
    total, count = np.zeros(shape), np.zeros(shape)
    for side, value in ((pairs.model_1, pairs.outcome), (pairs.model_2, 1.0 - pairs.outcome)):
        at = (pairs.question[known], side[known], turn[known])
        np.add.at(total, at, value[known])
        np.add.at(count, at, 1.0)
    excluded = np.zeros(shape[1], dtype=np.int64)
    for side in (pairs.model_1, pairs.model_2):
        np.add.at(excluded, side[~known], 1)
    scores = np.divide(total, count, out=np.full(shape, np.nan), where=count > 0)
    found = Matrix(pairs.questions, pairs.groups, pairs.models, turns, scores, excluded, (0, 1))
    return found if baseline is None else _without(found, baseline)


def _without(grades: Matrix, model: str) -> Matrix:
    kept = [at for at, name in enumerate(grades.models) if name != model]
    return replace(
        grades,
        models=tuple(grades.models[at] for at in kept),
        scores=grades.scores[:, kept],
        excluded=grades.excluded[kept],
    )


def _ranks(grades: Matrix) -> dict[str, RankRange]:
    return {rank.model: rank for rank in rank_ranges(paired(grades, resamplings=0))}
