"""Grades -> one line for each model: means by turn, and FastChat's average.

    turn_t  = mean of the scores of turn t
    average = mean over all ratings of all turns, pooled: with n1 ratings of turn 1 and n2 of turn 2,
              (n1 * turn_1 + n2 * turn_2) / (n1 + n2), so a failed rating shifts it towards the other turn

Scores 8, 6 in turn 1 and 5, failed in turn 2: turn_1 = 7, turn_2 = 5, average = 19 / 3 = 6.33, n = 3, excluded = 1.

Source: FastChat `llm_judge/show_result.py`, which drops failed ratings; the published leaderboard of June 2023 counted
four of them as -1, which `count_failed` does too.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain, pairwise

import numpy as np

from harness.judgments.observations import BLOCK, Ints, Observations, blocks
from harness.records import Observation, QuestionId
from harness.results.grades.aggregates import POOLED
from harness.results.table import Line, Row


def single_rows(grades: Sequence[Observation], *, column: str = POOLED, count_failed: bool = False) -> list[Line]:
    """Return a line for each model, best average first (models without any rating last, then by name).

    The average is called `column`, `n` is the number of ratings in it; a turn without any is None. With `count_failed`,
    a rating without score counts as -1 and none is excluded.
    """
    columns = Observations.of(grades)
    lines = []
    for models in _together(columns):
        own = np.array([case.models[0] in models for case in columns.cases], dtype=bool)
        lines += _rows(columns, np.flatnonzero(own[columns.case_at]), column, count_failed=count_failed)
    return sorted(lines, key=lambda line: (line.fields[column] is None, -(line.fields[column] or 0), line.model))


def _together(columns: Observations) -> list[set[str]]:
    """Return the models in groups, each of as many as have some hundred thousand rows: these are sorted and copied."""
    count = sum((np.bincount(columns.case_at[rows], minlength=len(columns.cases)) for rows in blocks(len(columns))), 0)
    of_model = Counter[str]()
    for case, own in zip(columns.cases, np.atleast_1d(count).tolist(), strict=False):
        of_model[case.models[0]] += own
    groups: list[set[str]] = []
    room = 0
    for model, own in of_model.items():
        if own > room:
            groups.append(set())
            room = BLOCK
        groups[-1].add(model)
        room -= own
    return groups


def _rows(columns: Observations, rows: Ints, column: str, *, count_failed: bool) -> list[Line]:
    """Return a line for each model that some of the judgments are about."""
    models = list(dict.fromkeys(case.models[0] for case in columns.cases))
    turns = sorted({1, 2} | {case.turn for case in columns.cases})
    place = {model: at for at, model in enumerate(models)}
    of_case = [place[case.models[0]] * len(turns) + turns.index(case.turn) for case in columns.cases]
    cell = np.array(of_case, dtype=np.int32)[columns.case_at[rows]]
    given = columns.said[rows]
    if count_failed:
        given = np.where(np.isnan(given), -1.0, given)
    good = ~np.isnan(given)
    every = np.bincount(cell, minlength=len(models) * len(turns)).reshape(len(models), len(turns)).sum(axis=1)
    order = np.argsort(cell, kind="stable")
    by_cell = given[order[good[order]]]
    ends = [0, *np.cumsum(np.bincount(cell[good], minlength=len(models) * len(turns))).tolist()]
    found = []
    for at, model in enumerate(models):
        own = ends[at * len(turns) : (at + 1) * len(turns) + 1]
        scores = [by_cell[start:end].tolist() for start, end in pairwise(own)]
        pooled = list(chain.from_iterable(scores))
        if every[at]:
            means = {f"turn_{turn}": mean(some) for turn, some in zip(turns, scores, strict=True)}
            counts = {"n": len(pooled), "excluded": int(every[at]) - len(pooled)}
            found.append(Line(model, {**means, column: mean(pooled), **counts}))
    return found


def category_rows(
    grades: Sequence[Observation], categories: Mapping[QuestionId, str], *, count_failed: bool = False
) -> list[Row]:
    """Return each model's average by category, in the order of `single_rows`; `categories` maps questions to theirs."""
    columns = Observations.of(grades)
    names, category = columns.of_asked(lambda asked: categories.get(asked.question_id))
    by_category = {
        name: {
            line.model: line.fields[POOLED]
            for line in _rows(columns, np.flatnonzero(category == at), POOLED, count_failed=count_failed)
        }
        for at, name in enumerate(names)
    }
    present = [name for name in dict.fromkeys(categories.values()) if by_category.get(name)]
    return [
        {"model": line.model, **{name: by_category[name].get(line.model) for name in present}}
        for line in single_rows(columns, count_failed=count_failed)
    ]


def mean(values: Sequence[float]) -> float | None:
    """Return the arithmetic mean, or None of no values."""
    return math.fsum(values) / len(values) if values else None
