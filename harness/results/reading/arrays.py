"""Grades and pairs as arrays, the form in which all statistics are computed.

Axis 0 is always the question: it is the unit that is resampled, and all that belongs to a question (turns, orders,
repeats) moves with it.
"""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from harness.records import Comparison, QuestionId, Rating, Scale
from harness.results.reading.columns import NO_SCORE, WINNERS, Comparisons, Ratings, hull

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Grades:
    """Scores of models on questions."""

    questions: tuple[QuestionId, ...]
    groups: tuple[Any, ...]
    """For each question, the value of the field that groups it (the category, unless another was chosen)."""
    models: tuple[str, ...]
    turns: tuple[int, ...]
    scores: Floats
    """Questions × models × turns; NaN where there is no score. Repeats of one judgment are averaged."""
    excluded: Ints
    """For each model, the ratings left out because the judge gave no score."""
    scale: Scale | None = None
    """The least and the greatest score that there are; None where that is unknown."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """Outcomes of pairs of models on questions, one entry for each judged pair and turn."""

    questions: tuple[QuestionId, ...]
    groups: tuple[Any, ...]
    """For each question, the value of the field that groups it."""
    models: tuple[str, ...]
    question: Ints
    """For each entry, the index of its question."""
    turn: Ints
    model_1: Ints
    """For each entry, the index of the model that the row names first."""
    model_2: Ints
    game_1: Floats
    """1 if model_1 won game 1 (in which it was shown first), 0 if model_2 did, 0.5 for a tie, NaN for no verdict."""
    game_2: Floats
    """The same for game 2, in which model_2 was shown first; NaN where only one order was judged or voted."""
    outcome: Floats
    """Both games together: 1 or 0 if they agree, 0.5 for a tie or disagreement, NaN if either gave no verdict."""


def grades(
    ratings: Sequence[Rating], groups: Mapping[QuestionId, Any] | None = None, *, count_failed: bool = False
) -> Grades:
    """Return the grades of one origin as an array; questions in the order of `groups`, else as they come.

    `groups` maps each question to the value that groups it; None puts all into one group. With `count_failed`, a rating
    without score counts as -1.
    """
    columns = Ratings.of(ratings)
    order = _order(columns, groups)
    models = tuple(dict.fromkeys(case.models[0] for case in columns.cases))
    turns = tuple(sorted({case.turn for case in columns.cases}))
    shape = (len(order), len(models), len(turns))
    question = _of_asked(columns, _places(order, (asked.question_id for asked in columns.asked)))
    model = _of_case(columns, _places(models, (case.models[0] for case in columns.cases)))
    turn = _of_case(columns, _places(turns, (case.turn for case in columns.cases)))
    given = _in_row_order(columns, columns.verdicts_of)
    good = (given != NO_SCORE) | count_failed
    cell = ((question * shape[1] + model) * shape[2] + turn)[good]
    size = shape[0] * shape[1] * shape[2]
    total = np.bincount(cell, weights=given[good], minlength=size).reshape(shape)
    count = np.bincount(cell, minlength=size).reshape(shape)
    excluded = np.bincount(model[~good], minlength=len(models)).astype(np.int64)
    scores = np.divide(total, count, out=np.full(shape, np.nan), where=count > 0)
    scale = None if count_failed else common_scale([columns.scale()], scores)
    return Grades(tuple(order), _groups_of(order, groups), models, turns, scores, excluded, scale)


def common_scale(scales: Iterable[Scale | None], scores: Floats) -> Scale | None:
    """Return the scale that holds all of these, those that are unknown aside; None if none is known.

    A score that lies outside shows that it is not the scale of these scores, and then there is none either.
    """
    whole = hull(scales)
    if whole is None:
        return None
    least, greatest = whole
    slack = 1e-9 * (greatest - least)  # a mean of repeats may be off by its rounding
    return None if ((scores < least - slack) | (scores > greatest + slack)).any() else (least, greatest)


def difference_bounds(one: Scale | None, other: Scale | None) -> Scale | None:
    """Return the least and the greatest that a score on one scale minus a score on another can be."""
    return None if one is None or other is None else (one[0] - other[1], one[1] - other[0])


def pairs(comparisons: Sequence[Comparison], groups: Mapping[QuestionId, Any] | None = None) -> Pairs:
    """Return the pairs of one origin as arrays; questions in the order of `groups`, else as they come."""
    columns = Comparisons.of(comparisons)
    order = _order(columns, groups)
    models = tuple(dict.fromkeys(model for case in columns.cases for model in case.models))
    value = {"model_1": 1.0, "model_2": 0.0, "tie": 0.5, None: np.nan}
    games = np.array([[value[w] for w in (*winners, None, None)[:2]] for winners in WINNERS])
    both = np.where(games[:, 0] == games[:, 1], games[:, 0], 0.5)
    both[np.isnan(games).any(axis=1)] = np.nan
    outcome = np.where([len(winners) == 1 for winners in WINNERS], games[:, 0], both)
    verdict = _in_row_order(columns, columns.verdicts_of).astype(np.int64)
    return Pairs(
        questions=tuple(order),
        groups=_groups_of(order, groups),
        models=models,
        question=_of_asked(columns, _places(order, (asked.question_id for asked in columns.asked))),
        turn=_of_case(columns, [case.turn for case in columns.cases]),
        model_1=_of_case(columns, _places(models, (case.models[0] for case in columns.cases))),
        model_2=_of_case(columns, _places(models, (case.models[1] for case in columns.cases))),
        game_1=games[verdict, 0],
        game_2=games[verdict, 1],
        outcome=outcome[verdict],
    )


def _order(columns: Ratings | Comparisons, groups: Mapping[QuestionId, Any] | None) -> list[QuestionId]:
    """Return the questions in the order of `groups`, those that it lacks after them as they come."""
    present = dict.fromkeys(asked.question_id for asked in columns.asked)
    return [*(q for q in groups or () if q in present), *(q for q in present if q not in (groups or ()))]


def _groups_of(order: Sequence[QuestionId], groups: Mapping[QuestionId, Any] | None) -> tuple[Any, ...]:
    return tuple((groups or {}).get(question) for question in order)


def _places(names: Sequence[Any], wanted: Iterable[Any]) -> list[int]:
    place = {name: at for at, name in enumerate(names)}
    return [place[name] for name in wanted]


def _of_case(columns: Ratings | Comparisons, values: Sequence[int]) -> Ints:
    """Return for each row the value of its case."""
    return np.array(values, dtype=np.int64)[np.array(columns.order, dtype=np.int64)]


def _of_asked(columns: Ratings | Comparisons, values: Sequence[int]) -> Ints:
    """Return for each row the value of what was asked."""
    return np.array(values, dtype=np.int64)[_in_row_order(columns, columns.asked_of).astype(np.int64)]


def _in_row_order(columns: Ratings | Comparisons, by_case: Sequence["array[Any]"]) -> Floats:
    """Return a column that is kept by case in the order of the rows."""
    ordered = np.empty(len(columns))
    ordered[np.argsort(np.array(columns.order), kind="stable")] = np.concatenate([np.empty(0), *by_case])
    return ordered
