"""Grades -> one row for each model: means by turn, and FastChat's average.

    turn_t  = mean of the scores of turn t
    average = mean over all ratings of all turns, pooled: with n1 ratings of turn 1 and n2 of turn 2,
              (n1 * turn_1 + n2 * turn_2) / (n1 + n2), so a failed rating shifts it towards the other turn

Scores 8, 6 in turn 1 and 5, failed in turn 2: turn_1 = 7, turn_2 = 5, average = 19 / 3 = 6.33, n = 3, excluded = 1.

Source: FastChat `llm_judge/show_result.py`, which drops failed ratings; the published leaderboard of June 2023 counted
four of them as -1, which `count_failed` does too.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.records import QuestionId, Rating


@dataclass(frozen=True, slots=True)
class SingleRow:
    """The scores of one model."""

    model: str
    turns: Mapping[int, float | None]
    """The mean score of each turn; None where a turn has no rating."""
    average: float | None
    n: int
    """Ratings in the average."""
    excluded: int
    """Ratings left out because the judge gave no score."""


def single_rows(ratings: Sequence[Rating], *, count_failed: bool = False) -> list[SingleRow]:
    """Return a row for each model, best average first (models without any rating last, then by name).

    With `count_failed`, a rating without score counts as -1 and none is excluded.
    """
    scores: dict[str, dict[int, list[float]]] = {}
    excluded: dict[str, int] = {}
    turns = {1, 2} | {rating.turn for rating in ratings}
    for rating in ratings:
        by_turn = scores.setdefault(rating.model, {turn: [] for turn in turns})
        score = -1.0 if rating.score is None and count_failed else rating.score
        if score is None:
            excluded[rating.model] = excluded.get(rating.model, 0) + 1
        else:
            by_turn[rating.turn].append(score)
    rows = []
    for model, by_turn in scores.items():
        pooled = [score for turn in sorted(by_turn) for score in by_turn[turn]]
        means = {turn: mean(by_turn[turn]) for turn in sorted(by_turn)}
        rows.append(SingleRow(model, means, mean(pooled), len(pooled), excluded.get(model, 0)))
    return sorted(rows, key=lambda row: (row.average is None, -(row.average or 0), row.model))


@dataclass(frozen=True, slots=True)
class CategoryRow:
    """The average of one model in each category."""

    model: str
    averages: Mapping[str, float | None]


def category_rows(
    ratings: Sequence[Rating], categories: Mapping[QuestionId, str], *, count_failed: bool = False
) -> list[CategoryRow]:
    """Return each model's average by category, in the order of `single_rows`; `categories` maps questions to theirs."""
    order = list(dict.fromkeys(categories.values()))
    by_category = {
        category: {row.model: row.average for row in single_rows(own, count_failed=count_failed)}
        for category in order
        for own in [[rating for rating in ratings if categories.get(rating.question_id) == category]]
    }
    present = [category for category in order if by_category[category]]
    return [
        CategoryRow(row.model, {category: by_category[category].get(row.model) for category in present})
        for row in single_rows(ratings, count_failed=count_failed)
    ]


def mean(values: Sequence[float]) -> float | None:
    """Return the arithmetic mean, or None of no values."""
    return math.fsum(values) / len(values) if values else None
