"""Grades -> one line for each model: means by turn, and FastChat's average.

    turn_t  = mean of the scores of turn t
    average = mean over all ratings of all turns, pooled: with n1 ratings of turn 1 and n2 of turn 2,
              (n1 * turn_1 + n2 * turn_2) / (n1 + n2), so a failed rating shifts it towards the other turn

Scores 8, 6 in turn 1 and 5, failed in turn 2: turn_1 = 7, turn_2 = 5, average = 19 / 3 = 6.33, n = 3, excluded = 1.

Source: FastChat `llm_judge/show_result.py`, which drops failed ratings; the published leaderboard of June 2023 counted
four of them as -1, which `count_failed` does too.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

import numpy as np

from harness.old.judgments.observations import Ints, Observations, numbered
from harness.old.judgments.sums import Sums
from harness.old.records import Observation, QuestionId
from harness.old.results.grades.aggregates import POOLED
from harness.old.results.table import Line, Row, best_first


def single_rows(grades: Sequence[Observation], *, column: str = POOLED, count_failed: bool = False) -> list[Line]:
    """Return a line for each model, best average first (models without any rating last, then by name).

    The average is called `column`, `n` is the number of ratings in it; a turn without any is None. With `count_failed`,
    a rating without score counts as -1 and none is excluded.
    """
    columns = Observations.of(grades)
    return _lines(columns, np.zeros(len(columns.asked), dtype=np.int64), 1, column, count_failed=count_failed)[-1]


def _lines(columns: Observations, group_of: Ints, groups: int, column: str, *, count_failed: bool) -> list[list[Line]]:
    """Return for each group of questions a line for each model that some of its judgments are about; last those of all
    questions, best average first.

    `group_of` is the number of its group for each of `columns.asked`.
    """
    models = list(dict.fromkeys(case.models[0] for case in columns.cases))
    turns = sorted({1, 2} | {case.turn for case in columns.cases})
    place = {model: at for at, model in enumerate(models)}
    cells = [place[case.models[0]] * len(turns) + turns.index(case.turn) for case in columns.cases]
    of_case, size = np.array(cells, dtype=np.int64), len(models) * len(turns)
    sums, every = Sums(groups * size), np.zeros(groups * size, dtype=np.int64)
    for part in columns.parts():
        cell = of_case[part.case_at] + size * group_of[part.asked_at]
        given = np.where(np.isnan(part.said), -1.0, part.said) if count_failed else part.said
        every += np.bincount(cell, minlength=len(every))
        good = ~np.isnan(given)
        sums.add(cell[good], given[good])
    judged: list[int] = every.tolist()

    def lines(numbers: range) -> Iterator[Line]:
        for at, model in enumerate(models):
            own = [[group * size + at * len(turns) + turn for group in numbers] for turn in range(len(turns))]
            both = list(chain.from_iterable(own))
            if there := sum(map(judged.__getitem__, both)):
                means = {f"turn_{turn}": sums.mean(some) for turn, some in zip(turns, own, strict=True)}
                n = sums.count(both)
                yield Line(model, {**means, column: sums.mean(both), "n": n, "excluded": there - n})

    return [
        *(list(lines(range(group, group + 1))) for group in range(groups)),
        best_first(lines(range(groups)), column),
    ]


def category_rows(
    grades: Sequence[Observation], categories: Mapping[QuestionId, str], *, count_failed: bool = False
) -> list[Row]:
    """Return each model's average by category, in the order of `single_rows`; `categories` maps questions to theirs."""
    columns = Observations.of(grades)
    names, category = numbered(categories.get(asked.question_id) for asked in columns.asked)
    lines = _lines(columns, np.array(category, dtype=np.int64), len(names), POOLED, count_failed=count_failed)
    by_category = {
        name: {line.model: line.fields[POOLED] for line in own} for name, own in zip(names, lines, strict=False)
    }
    present = [name for name in dict.fromkeys(categories.values()) if by_category.get(name)]
    return [
        {"model": line.model, **{name: by_category[name].get(line.model) for name in present}} for line in lines[-1]
    ]


def mean(values: Sequence[float]) -> float | None:
    """Return the arithmetic mean, or None of no values."""
    return math.fsum(values) / len(values) if values else None
