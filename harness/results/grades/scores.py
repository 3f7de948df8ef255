"""Grades -> for each model its mean by turn, over all, and by group, and the drop between turns, each with an interval.

    turn_t  = sum of the scores of turn t / how many there are
    average = sum of all scores / how many there are (FastChat's: pooled over ratings, not the mean of the turns' means)
    group   = the same average over the questions of one group (category)
    drop    = mean over the questions that have both turns of (score of turn 1 - score of turn 2)

Scores 8, 6, 7 in turn 1 and 5, 6, none in turn 2 of three questions: turn_1 = 7, turn_2 = 5.5, average = 32 / 5 = 6.4,
drop = (3 + 0) / 2 = 1.5 on two questions; n = 5.

Intervals come from resampling questions within groups (`bootstrap`): a question's turns, orders and repeats move
together. Left out are ratings in which the judge gave no score; a question without any drops out of that column, and
each estimate says on how many questions it rests. Several ratings of an answer (samples, choices) all count in a mean,
as in `single`; between models (`paired`) and turns every question counts once, by the mean of its ratings.

Source: FastChat `llm_judge/show_result.py` for the average; Miller (2024), arXiv 2411.00640, for questions as the unit.
"""

from collections.abc import Mapping
from typing import Any, Unpack

import numpy as np

from harness.results.grades.aggregates import POOLED
from harness.results.matrix import Floats, Matrix, difference_bounds, label, of_group, question_order
from harness.results.statistics.bootstrap import Estimates, Resampling, estimates
from harness.results.statistics.ranks import RankRange
from harness.results.table import Line


def scores(
    grades: Matrix,
    *,
    column: str = POOLED,
    ranks: Mapping[str, RankRange] | None = None,
    **how: Unpack[Resampling],
) -> list[Line]:
    """Return a line for each model, best average first (models without any score last, then by name), then by group.

    The average is called `column`; `ranks` are put beside it. Intervals of means end where the scale does, those of the
    drop at its length. The result depends neither on the order of rows nor on that of models.
    """
    order = question_order(grades.questions)
    values, counts, strata = grades.scores[order], grades.counts[order], _strata(grades, order)
    there = ~np.isnan(values)
    filled = np.where(there, values, 0.0)
    sums = filled * counts
    columns: dict[str, Estimates] = {
        f"turn_{turn}": estimates(sums[:, :, at], counts[:, :, at], strata, bounds=grades.scale, **how)
        for at, turn in enumerate(grades.turns)
    }
    columns[column] = average = _averages(grades, strata, **how)
    named = dict.fromkeys(map(label, grades.groups))
    groups = {group: _averages(of_group(grades, group), None, **how) for group in named}
    if {1, 2} <= set(grades.turns):
        first, second = grades.turns.index(1), grades.turns.index(2)
        both = there[:, :, first] & there[:, :, second]
        fall = np.where(both, filled[:, :, first] - filled[:, :, second], 0.0)
        bounds = difference_bounds(grades.scale, grades.scale)
        columns["drop"] = estimates(fall, both.astype(np.float64), strata, bounds=bounds, **how)
    best = sorted(range(len(grades.models)), key=lambda at: (*_best_first(float(average.value[at])), grades.models[at]))
    lines = []
    for at in best:
        model, found = grades.models[at], dict[str, Any]()
        for name, own in columns.items():
            found[name] = own[at]
            if name == column and ranks is not None:
                found["rank"] = str(ranks[model]) if model in ranks else None
        total = {"n": int(counts[:, at].sum()), "excluded": int(grades.excluded[at])}
        lines.append(Line(model, found | total))
    for at in best:
        for group, own in groups.items():
            lines.append(Line(grades.models[at], {column: own[at], "questions": own[at].questions}, group=group))
    return lines


def average_of(grades: Matrix, **how: Unpack[Resampling]) -> dict[str, Any]:
    """Return the average of each model alone, with the same digits as in `scores`."""
    found = _averages(grades, _strata(grades, question_order(grades.questions)), **how)
    return {model: found[at] for at, model in enumerate(grades.models)}


def by_turn(grades: Matrix, **how: Unpack[Resampling]) -> list[Line]:
    """Return every model at every turn, model by model: its score, and how far that is from its score of the first.

        score_t  = mean of the grades of turn t
        change_t = mean over the questions graded in turns 1 and t of (grade of turn t - grade of turn 1)

    Questions have different numbers of turns, so score_t of a late turn is of other questions than score_1; `change_t`
    is of the same ones. Grades 8, 7, 6 on one question and 4, 3 on another: score 6, 5, 6, change -1 and -2: the model
    falls, which the scores alone do not show.
    """
    order = question_order(grades.questions)
    values, strata = grades.scores[order], _strata(grades, order)
    bounds = difference_bounds(grades.scale, grades.scale)
    lines = []
    for place, model in enumerate(grades.models):
        own = values[:, place, :]
        there, counts = ~np.isnan(own), grades.counts[order][:, place, :]
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


def _averages(grades: Matrix, strata: Any, **how: Any) -> Estimates:
    """Return the average of each model, over all turns."""
    order = question_order(grades.questions)
    counts = grades.counts[order]
    sums: Floats = np.where(counts > 0, grades.scores[order] * counts, 0.0)
    return estimates(sums.sum(axis=2), counts.sum(axis=2), strata, bounds=grades.scale, **how)


def _strata(grades: Matrix, order: list[int]) -> list[Any] | None:
    return [grades.groups[at] for at in order] if grades.fixed_mix else None


def _best_first(value: float) -> tuple[bool, float]:
    return (True, 0.0) if np.isnan(value) else (False, -value)
