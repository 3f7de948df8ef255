"""Grades -> one row for each model: means by turn, and FastChat's average.

    turn_t  = mean of the scores of turn t
    average = mean over all ratings of all turns, pooled: with n1 ratings of turn 1 and n2 of turn 2,
              (n1 * turn_1 + n2 * turn_2) / (n1 + n2), so a failed rating shifts it towards the other turn

Scores 8, 6 in turn 1 and 5, failed in turn 2: turn_1 = 7, turn_2 = 5, average = 19 / 3 = 6.33, n = 3, excluded = 1.

Source: FastChat `llm_judge/show_result.py`, which drops failed ratings; the published leaderboard of June 2023 counted
four of them as -1, which `count_failed` does too.
"""

import math
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.judgments.observations import Observations, Said
from harness.records import Observation, QuestionId


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


def single_rows(grades: Sequence[Observation], *, count_failed: bool = False) -> list[SingleRow]:
    """Return a row for each model, best average first (models without any rating last, then by name).

    With `count_failed`, a rating without score counts as -1 and none is excluded.
    """
    return _rows(list(Observations.of(grades).by_case()), count_failed=count_failed)


def _rows(cases: Sequence[Said], *, count_failed: bool) -> list[SingleRow]:
    scores: dict[str, dict[int, array[float]]] = {}
    excluded: dict[str, int] = {}
    turns = {1, 2} | {case.turn for case, _, _ in cases}
    for case, _, given in cases:
        [model] = case.models
        good = array("d", [score for score in given if not math.isnan(score)])
        failed = len(given) - len(good)
        if count_failed:
            good.extend([-1.0] * failed)
            failed = 0
        scores.setdefault(model, {turn: array("d") for turn in turns})[case.turn].extend(good)
        excluded[model] = excluded.get(model, 0) + failed
    rows = []
    for model, by_turn in scores.items():
        pooled = array("d")
        for own in by_turn.values():
            pooled.extend(own)
        means = {turn: mean(by_turn[turn]) for turn in sorted(by_turn)}
        rows.append(SingleRow(model, means, mean(pooled), len(pooled), excluded[model]))
    return sorted(rows, key=lambda row: (row.average is None, -(row.average or 0), row.model))


@dataclass(frozen=True, slots=True)
class CategoryRow:
    """The average of one model in each category."""

    model: str
    averages: Mapping[str, float | None]


def category_rows(
    grades: Sequence[Observation], categories: Mapping[QuestionId, str], *, count_failed: bool = False
) -> list[CategoryRow]:
    """Return each model's average by category, in the order of `single_rows`; `categories` maps questions to theirs."""
    order = list(dict.fromkeys(categories.values()))
    cases = list(Observations.of(grades).by_case(lambda asked: categories.get(asked.question_id)))
    by_category = {
        category: {row.model: row.average for row in _rows(own, count_failed=count_failed)}
        for category in order
        for own in [[said for said in cases if said.group == category]]
    }
    present = [category for category in order if by_category[category]]
    return [
        CategoryRow(row.model, {category: by_category[category].get(row.model) for category in present})
        for row in _rows(cases, count_failed=count_failed)
    ]


def mean(values: Sequence[float]) -> float | None:
    """Return the arithmetic mean, or None of no values."""
    return math.fsum(values) / len(values) if values else None
