"""Observations as arrays, the form in which all statistics are computed.

Axis 0 is always the question: it is the unit that is resampled, and all that belongs to a question (turns, orders,
repeats) moves with it.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from harness.old.judgments.case import LOGPROBS, hull
from harness.old.judgments.observations import Floats as Floats
from harness.old.judgments.observations import Ints as Ints
from harness.old.judgments.observations import Observations, weighed
from harness.old.records import Observation, QuestionId, Scale
from harness.old.results.about import is_fixed
from harness.old.results.common import few


class Matrix(NamedTuple):
    """The values of one metric: models on questions."""

    questions: tuple[QuestionId, ...]
    groups: tuple[Any, ...]
    """For each question, the value of the field that groups it (the category, unless another was chosen)."""
    models: tuple[str, ...]
    turns: tuple[int, ...]
    scores: Floats
    """Questions × models × turns; NaN where there is no value. Repeats of one observation are averaged."""
    excluded: Ints
    """For each model, the judgments left out because they gave no value."""
    scale: Scale | None = None
    """The least and the greatest value that there are; None where that is unknown."""
    fixed_mix: bool = False
    """Whether questions are resampled within groups, as if every sample of questions had this mix of them."""
    ratings: Ints | None = None
    """How many repeats each score is the mean of, of the same shape; None: one of each."""

    @property
    def strata(self) -> tuple[Any, ...] | None:
        """The groups within which questions are resampled; None: all are one."""
        return self.groups if self.fixed_mix else None

    @property
    def counts(self) -> Floats:
        """How much each score counts in a mean over ratings; 0 where there is none."""
        there = ~np.isnan(self.scores)
        return (there if self.ratings is None else np.where(there, self.ratings, 0)).astype(np.float64)


class Pairs(NamedTuple):
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
    outcome: Floats
    """Both games together: 1 or 0 if they agree, 0.5 for a tie or disagreement, NaN if either gave no verdict.

    Where verdicts were weighed: the side to which the mean preference of the games leans.
    """
    weighed: Floats | None = None
    """Where verdicts were weighed, the mean preference for model_1, from 0 to 1; None: they were not."""
    fixed_mix: bool = False
    """As of a `Matrix`."""

    @property
    def strata(self) -> tuple[Any, ...] | None:
        """The groups within which questions are resampled; None: all are one."""
        return self.groups if self.fixed_mix else None

    @property
    def share(self) -> Floats:
        """For each entry, what of 1 goes to model_1: the outcome, or of weighed verdicts the mean preference."""
        return self.outcome if self.weighed is None else self.weighed


def matrix(
    observations: Sequence[Observation], groups: Mapping[QuestionId, Any] | None = None, *, count_failed: bool = False
) -> Matrix:
    """Return the observations of one metric and source as an array; questions in the order of `groups`, else as they
    come.

    `groups` maps each question to the value that groups it; None puts all into one group. With `count_failed`, a
    judgment without a value counts as -1.
    """
    columns = Observations.of(observations)
    order = _order(columns, groups)
    models = tuple(dict.fromkeys(case.models[0] for case in columns.cases))
    turns = tuple(sorted({case.turn for case in columns.cases}))
    shape = (len(order), len(models), len(turns))
    model = places_of(models, [case.models[0] for case in columns.cases])
    of_case = model * shape[2] + places_of(turns, [case.turn for case in columns.cases])
    given = np.where(np.isnan(columns.said), -1.0, columns.said) if count_failed else columns.said
    good = ~np.isnan(given)
    excluded = np.bincount(model[columns.case_at[~good]], minlength=len(models)).astype(np.int64)
    # In place, and without copies where no value is absent: of ten million rows each such array takes 80 MB.
    cell = places_of(order, [asked.question_id for asked in columns.asked])[columns.asked_at]
    cell *= shape[1] * shape[2]
    cell += of_case[columns.case_at]
    if not good.all():
        cell, given = cell[good], given[good]
    size = shape[0] * shape[1] * shape[2]
    total = np.bincount(cell, weights=given, minlength=size).reshape(shape)
    count = np.bincount(cell, minlength=size).reshape(shape)
    del cell
    scores = np.divide(total, count, out=np.full(shape, np.nan), where=count > 0)
    scale = None if count_failed else common_scale([columns.scale()], scores)
    own = _groups_of(order, groups)
    ratings = count.astype(np.int64) if (count > 1).any() else None
    return Matrix(tuple(order), own, models, turns, scores, excluded, scale, is_fixed(groups), ratings)


def as_numbers(values: Iterable[float | None]) -> Floats:
    """Return values as an array; NaN where there is none."""
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def common_scale(scales: Iterable[Scale | None], scores: Floats) -> Scale | None:
    """Return the scale that contains all known ones of these; None if none is known.

    A score outside it shows that it is not the scale of these scores; then the result is None too.
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


def of_turn(grades: Matrix, turn: int) -> Matrix:
    """Return the grades of one turn only; `excluded` still counts all turns."""
    return _taken(grades, [grades.turns.index(turn)], axis=2)._replace(turns=(turn,))


def of_group(grades: Matrix, group: Any) -> Matrix:
    """Return the grades of the questions of one group only; `excluded` still counts all questions."""
    return of_questions(grades, [at for at, value in enumerate(grades.groups) if label(value) == label(group)])


def of_models(grades: Matrix, models: Sequence[str]) -> Matrix:
    """Return the grades of these models only, in this order."""
    places = [grades.models.index(model) for model in models]
    return _taken(grades, places, axis=1)._replace(models=tuple(models), excluded=grades.excluded[places])


def ranked(grades: Matrix) -> Matrix:
    """Return the grades of the models that were judged on enough questions to be ranked (`common`)."""
    judged = (~np.isnan(grades.scores)).any(axis=2).sum(axis=0)
    most = int(judged.max(initial=0))
    return of_models(grades, [m for m, n in zip(grades.models, judged.tolist(), strict=True) if not few(n, most)])


def in_order(grades: Matrix) -> Matrix:
    """Return the grades with the questions sorted by id, so that no digit depends on the order of rows."""
    return of_questions(grades, question_order(grades.questions))


def question_order(questions: Sequence[QuestionId]) -> list[int]:
    """Return the places of the questions sorted by id, so that resampling does not depend on the order of rows."""
    return sorted(range(len(questions)), key=lambda at: (isinstance(questions[at], str), questions[at]))


def of_questions(grades: Matrix, places: Sequence[int]) -> Matrix:
    """Return the grades of the questions at these places, in this order."""
    questions, groups = (tuple(names[at] for at in places) for names in (grades.questions, grades.groups))
    return _taken(grades, places, axis=0)._replace(questions=questions, groups=groups)


def _taken(grades: Matrix, places: Sequence[int], axis: int) -> Matrix:
    """Return the same with the scores at these places of an axis."""
    scores, ratings = grades.scores.take(places, axis), grades.ratings
    return grades._replace(scores=scores, ratings=None if ratings is None else ratings.take(places, axis))


def aligned(run: Matrix, questions: Sequence[QuestionId], models: Sequence[str], turns: Sequence[int]) -> Floats:
    """Return the scores of these turns, questions × models × turns as named; NaN where a name is not there."""
    padded = np.pad(run.scores, [(0, 1)] * 3, constant_values=np.nan)  # what is not there is in the last place
    axes: list[tuple[Sequence[QuestionId | str], Sequence[QuestionId | str]]]  # wanted and there, of each axis
    axes = [(questions, run.questions), (models, run.models), (turns, run.turns)]
    places = [(wanted, {name: at for at, name in enumerate(there)}) for wanted, there in axes]
    found: Floats = padded[np.ix_(*([place.get(name, -1) for name in wanted] for wanted, place in places))]
    return found


def label(group: Any) -> Any:
    """Return the value that groups a question, as text if it cannot be a key (a list of tags)."""
    try:
        hash(group)
    except TypeError:
        return repr(group)
    return group


def pairs(observations: Sequence[Observation], groups: Mapping[QuestionId, Any] | None = None) -> Pairs:
    """Return the pairs of one source as arrays; questions in the order of `groups`, else as they come."""
    columns = Observations.of(observations)
    order = _order(columns, groups)
    models = tuple(dict.fromkeys(model for case in columns.cases for model in case.models))
    soft = weighed(columns)
    share = columns.values(LOGPROBS if soft else "text")
    return Pairs(
        questions=tuple(order),
        groups=_groups_of(order, groups),
        models=models,
        question=places_of(order, [asked.question_id for asked in columns.asked])[columns.asked_at],
        turn=columns.of_cases(lambda case: case.turn),
        model_1=places_of(models, [case.models[0] for case in columns.cases])[columns.case_at],
        model_2=places_of(models, [case.models[1] for case in columns.cases])[columns.case_at],
        outcome=np.where(np.isnan(share), np.nan, (1.0 + np.sign(share - 0.5)) / 2),
        weighed=share if soft else None,
        fixed_mix=is_fixed(groups),
    )


def _order(columns: Observations, groups: Mapping[QuestionId, Any] | None) -> list[QuestionId]:
    """Return the questions in the order of `groups`, then those not in it, in the order given."""
    present = dict.fromkeys(asked.question_id for asked in columns.asked)
    return [*(q for q in groups or () if q in present), *(q for q in present if q not in (groups or ()))]


def _groups_of(order: Sequence[QuestionId], groups: Mapping[QuestionId, Any] | None) -> tuple[Any, ...]:
    return tuple((groups or {}).get(question) for question in order)


def tally(shape: Sequence[int], *at: Ints, weights: Floats | None = None) -> Floats:
    """Return how many items each cell of an array of this shape has, or the sum of their weights.

    Args:
        shape: of the array.
        at: for each of its dimensions the places of the items.
        weights: of the items (default: 1 each).
    """
    cells = np.ravel_multi_index(at, tuple(shape))
    counts = np.bincount(cells, weights, math.prod(shape))  # in a sixth of the time of add.at, in the same order
    return counts.reshape(shape).astype(np.float64, copy=False)


def places_of(names: Iterable[Any], wanted: Iterable[Any]) -> Ints:
    """Return for each that is wanted its place among the names."""
    place = {name: at for at, name in enumerate(names)}
    return np.array([place[name] for name in wanted], dtype=np.int64)
