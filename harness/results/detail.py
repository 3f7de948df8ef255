"""Grades or pairs of one table -> all that says how sure it is: intervals, rank ranges, pairs told apart, groups.

One function for every output, so that the table, json, the report and the viewer show the same numbers.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from harness.records import Comparison, QuestionId, Rating
from harness.results.grades.scores import ScoreRow, scores
from harness.results.judges.position import PositionRow, position_rows
from harness.results.pairs.bradley_terry import Ranking, ranking
from harness.results.pairs.matrix import Cell, MeanRow, mean_over_opponents, pair_matrix
from harness.results.pairs.rates import RateRow, rates
from harness.results.reading.arrays import grades, pairs
from harness.results.statistics.bootstrap import RESAMPLINGS, Estimate
from harness.results.statistics.paired import Paired, PairedTable, compare_runs, paired
from harness.results.statistics.ranks import RankRange, rank_ranges


@dataclass(frozen=True, slots=True)
class SingleDetail:
    """How sure the scores of a table are."""

    by: str
    """The field of the questions by which they are grouped, and within which they are resampled."""
    scores: list[ScoreRow]
    """In the order of the table."""
    ranks: dict[str, RankRange]
    """By model."""
    pairs: PairedTable
    seed: int

    def rows(self) -> list[dict[str, Any]]:
        """Return for each model its average, ranks and drop with their intervals, by column name."""
        return [
            {
                "model": row.model,
                **_named("average", row.average),
                "rank": shown_ranks(self.ranks[row.model]),
                **(_named("drop", row.drop) if row.drop is not None else {}),
                "n": row.n,
                "excluded": row.excluded,
            }
            for row in self.scores
        ]

    def group_rows(self) -> list[dict[str, Any]]:
        """Return for each model and group the average with its interval."""
        return [
            {"model": row.model, self.by: group, **_named("average", estimate), "questions": estimate.questions}
            for row in self.scores
            for group, estimate in row.groups.items()
        ]

    def pair_rows(self) -> list[dict[str, Any]]:
        """Return every two models compared."""
        return [pair_row(pair) for pair in self.pairs.pairs]

    def neighbours(self) -> list[Paired]:
        """Return each model compared with the next one of the table; model_1 is the one that stands higher."""
        found = {(pair.model_1, pair.model_2): pair for pair in self.pairs.pairs}
        found |= {(second, first): turned(pair) for (first, second), pair in found.items()}
        return [found[two] for two in itertools.pairwise(row.model for row in self.scores)]


@dataclass(frozen=True, slots=True)
class PairwiseDetail:
    """How sure the wins, losses and ties of a table are."""

    by: str
    rates: list[RateRow]
    """In the order of the table."""
    means: dict[str, MeanRow]
    """By model, the mean win rate over its opponents."""
    matrix: list[list[Cell]]
    """Each model against each other one."""
    strengths: Ranking
    """Bradley-Terry with ties."""
    position: list[PositionRow]
    """Whether the judge goes by the place of an answer; empty for votes, which have one game only."""
    seed: int

    def rows(self) -> list[dict[str, Any]]:
        """Return for each model its adjusted win rate, its mean over opponents and its strength, with intervals."""
        ratings = {row.model: row.rating for row in self.strengths.rows}
        return [
            {
                "model": row.model,
                **_named("win_rate_adjusted", row.overall.win_rate_adjusted),
                **(_named("mean_over_opponents", self.means[row.model].overall) if row.model in self.means else {}),
                **(_named("strength", ratings[row.model]) if row.model in ratings else {}),
                "n": row.overall.n,
                "excluded": row.overall.excluded,
            }
            for row in self.rates
        ]

    def group_rows(self) -> list[dict[str, Any]]:
        """Return for each model and group the adjusted win rate with its interval."""
        return [
            {"model": row.model, self.by: group, **_named("win_rate_adjusted", rates.win_rate_adjusted), "n": rates.n}
            for row in self.rates
            for group, rates in row.groups.items()
        ]

    def pair_rows(self) -> list[dict[str, Any]]:
        """Return each model against each other one."""
        return [
            {
                "model": cell.model,
                "opponent": cell.opponent,
                "win": cell.win,
                "loss": cell.loss,
                "tie": cell.tie,
                "excluded": cell.excluded,
                **_named("win_rate_adjusted", cell.win_rate_adjusted),
            }
            for row in self.matrix
            for cell in row
        ]


def pairwise_detail(
    comparisons: Sequence[Comparison],
    groups: Mapping[QuestionId, Any],
    *,
    by: str = "category",
    baseline: str | None = None,
    resamplings: int = RESAMPLINGS,
    seed: int = 0,
) -> PairwiseDetail:
    """Return how sure the results of one origin are; `groups` maps questions to the value of the field `by`."""
    table = pairs(comparisons, groups)
    played_twice = [pair for pair in comparisons if len(pair.winners) == 2]
    named = {question: str(group) for question, group in groups.items()}
    return PairwiseDetail(
        by=by,
        rates=rates(table, baseline=baseline, resamplings=resamplings, seed=seed),
        means={row.model: row for row in mean_over_opponents(table, resamplings=resamplings, seed=seed)},
        matrix=pair_matrix(table, resamplings=resamplings, seed=seed),
        strengths=ranking(table, anchor=baseline, resamplings=resamplings, seed=seed),
        position=position_rows(played_twice, categories=named or None, seed=seed) if played_twice else [],
        seed=seed,
    )


def single_detail(
    ratings: Sequence[Rating],
    groups: Mapping[QuestionId, Any],
    *,
    by: str = "category",
    scale: tuple[float, float] | None = None,
    resamplings: int = RESAMPLINGS,
    seed: int = 0,
) -> SingleDetail:
    """Return how sure the scores of one origin are; `groups` maps questions to the value of the field `by`."""
    table = grades(ratings, groups)
    compared = paired(table, resamplings=resamplings, seed=seed)
    return SingleDetail(
        by=by,
        scores=scores(table, resamplings=resamplings, seed=seed, scale=scale),
        ranks={rank.model: rank for rank in rank_ranges(compared)},
        pairs=compared,
        seed=seed,
    )


def against(
    new: Sequence[Rating],
    old: Sequence[Rating],
    groups: Mapping[QuestionId, Any],
    *,
    resamplings: int = RESAMPLINGS,
    seed: int = 0,
) -> PairedTable:
    """Return each model's new run compared with its old one, question by question.

    A file with a single model is compared with a single one of any name: a new checkpoint with the one before.
    """
    return compare_runs(grades(new, groups), grades(old, groups), resamplings=resamplings, seed=seed)


def pair_row(pair: Paired) -> dict[str, Any]:
    """Return a compared pair by column name."""
    return {
        "model_1": pair.model_1,
        "model_2": pair.model_2,
        "verdict": pair.verdict,
        **_named("difference", pair.difference),
        "p": pair.p,
        "p_holm": pair.p_holm,
        "n": pair.n,
        "left_out": pair.left_out,
        "smallest_detectable": pair.smallest_detectable,
        "questions_needed": pair.questions_needed,
    }


def turned(pair: Paired) -> Paired:
    """Return the same comparison with model_1 and model_2 exchanged."""
    value, low, high = (
        None if end is None else -end for end in (pair.difference.value, pair.difference.high, pair.difference.low)
    )
    difference = replace(pair.difference, value=value, low=low, high=high)
    return replace(pair, model_1=pair.model_2, model_2=pair.model_1, difference=difference)


def shown_ranks(rank: RankRange) -> str:
    """Return a range of ranks as people write it: 3, or 2-5."""
    return str(rank.first) if rank.first == rank.last else f"{rank.first}-{rank.last}"


def _named(name: str, estimate: Estimate) -> dict[str, float | None]:
    return {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}
