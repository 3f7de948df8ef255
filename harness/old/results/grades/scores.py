"""Grades -> for each model its mean by turn, over all, and by group, and the drop between turns, each with an interval.

    turn_t  = sum of the scores of turn t / how many there are
    average = sum of all scores / how many there are (FastChat's: pooled over ratings, not the mean of the turns' means)
    group   = the same average over the questions of one group (category)
    drop    = mean over the questions that have both turns of (score of turn 1 - score of turn 2)

Scores 8, 6, 7 in turn 1 and 5, 6, none in turn 2 of three questions: turn_1 = 7, turn_2 = 5.5, average = 32 / 5 = 6.4,
drop = (3 + 0) / 2 = 1.5 on two questions; n = 5.

Intervals are from a bootstrap of questions within groups (`bootstrap`): a question's turns, orders and repeats move
together. Judgments without a grade are left out; a question without any grade drops out of that column, and
each estimate states its number of questions. Several grades of an answer (samples, choices) all count in a mean,
as in `single`; between models (`paired`) and turns every question counts once, with the mean of its grades.

Source: FastChat `llm_judge/show_result.py` for the average; Miller (2024), arXiv 2411.00640, for questions as the unit.
"""

from collections.abc import Mapping
from typing import Any, Unpack

import numpy as np

from harness.old.results.grades.aggregates import POOLED
from harness.old.results.matrix import Floats, Matrix, difference_bounds, in_order, label, of_group
from harness.old.results.statistics.bootstrap import Estimate, Resampling, estimates
from harness.old.results.statistics.ranks import RankRange
from harness.old.results.table import Line, best_first


def scores(
    grades: Matrix,
    *,
    column: str = POOLED,
    ranks: Mapping[str, RankRange] | None = None,
    **how: Unpack[Resampling],
) -> list[Line]:
    """Return a line for each model, best average first (models without any score last, then by name), then by group.

    The average is named `column`; `ranks` are put beside it. Intervals of means end where the scale does, those of the
    drop at its length. The result depends neither on the order of rows nor on that of models.
    """
    named, grades = dict.fromkeys(map(label, grades.groups)), in_order(grades)
    counts, there = grades.counts, ~np.isnan(grades.scores)
    filled = np.where(there, grades.scores, 0.0)
    sums = filled * counts
    columns: dict[str, list[Estimate]] = {
        f"turn_{turn}": estimates(sums[:, :, at], counts[:, :, at], grades.strata, bounds=grades.scale, **how)
        for at, turn in enumerate(grades.turns)
    }
    columns[column] = _averages(grades, grades.strata, **how)
    groups = {group: _averages(of_group(grades, group), None, **how) for group in named}
    if {1, 2} <= set(grades.turns):
        first, second = grades.turns.index(1), grades.turns.index(2)
        both = there[:, :, first] & there[:, :, second]
        fall = np.where(both, filled[:, :, first] - filled[:, :, second], 0.0)
        bounds = difference_bounds(grades.scale, grades.scale)
        columns["drop"] = estimates(fall, both.astype(np.float64), grades.strata, bounds=bounds, **how)
    lines = []
    for at, model in enumerate(grades.models):
        found: dict[str, Any] = {}
        for name, own in columns.items():
            found[name] = own[at]
            if name == column and ranks is not None:
                found["rank"] = str(ranks[model]) if model in ranks else None
        total = {"n": int(counts[:, at].sum()), "excluded": int(grades.excluded[at])}
        lines.append(Line(model, found | total))
        for group, own in groups.items():
            lines.append(Line(model, {column: own[at], "questions": own[at].questions}, group=group))
    return best_first(lines, column)


def average_of(grades: Matrix, **how: Unpack[Resampling]) -> dict[str, Any]:
    """Return only the average of each model, with the same digits as in `scores`."""
    grades = in_order(grades)
    return dict(zip(grades.models, _averages(grades, grades.strata, **how), strict=True))


def by_turn(grades: Matrix, **how: Unpack[Resampling]) -> list[Line]:
    """Return the score of every model at every turn, and its change from the first turn.

        score_t  = mean of the grades of turn t
        change_t = mean over the questions graded in turns 1 and t of (grade of turn t - grade of turn 1)

    Questions have different numbers of turns, so score_t of a late turn is over other questions than score_1;
    `change_t` is over the same ones. Grades 8, 7, 6 on one question and 4, 3 on another: score 6, 5, 6, change -1 and
    -2: the model falls, which the scores alone do not show.
    """
    grades = in_order(grades)
    strata = grades.strata
    bounds = difference_bounds(grades.scale, grades.scale)
    lines = []
    for place, model in enumerate(grades.models):
        own = grades.scores[:, place, :]
        there, counts = ~np.isnan(own), grades.counts[:, place, :]
        change = own - own[:, :1]
        both = ~np.isnan(change)
        score = estimates(np.where(there, own * counts, 0.0), counts, strata, bounds=grades.scale, **how)
        less = estimates(np.where(both, change, 0.0), both * 1.0, strata, bounds=bounds, **how)
        lines += [
            Line(
                model,
                {"questions": score[at].questions, "score": score[at], "change": less[at] if at else None},
                turn=turn,
            )
            for at, turn in enumerate(grades.turns)
            if there[:, at].any()
        ]
    return lines


def _averages(grades: Matrix, strata: Any, **how: Any) -> list[Estimate]:
    """Return the average of each model, over all turns."""
    counts = grades.counts
    sums: Floats = np.where(counts > 0, grades.scores * counts, 0.0)
    return estimates(sums.sum(axis=2), counts.sum(axis=2), strata, bounds=grades.scale, **how)
