"""Grades and pairs as arrays, the form in which all statistics are computed.

Axis 0 is always the question: it is the unit that is resampled, and all that belongs to a question (turns, orders,
repeats) moves with it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from harness.records import Comparison, QuestionId, Rating

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


def grades(ratings: Sequence[Rating], groups: Mapping[QuestionId, Any] | None = None) -> Grades:
    """Return the grades of one origin as an array; questions in the order of `groups`, else as they come.

    `groups` maps each question to the value that groups it; None puts all into one group.
    """
    present = dict.fromkeys(r.question_id for r in ratings)
    order = [q for q in groups if q in present] + [q for q in present if q not in groups] if groups else list(present)
    models = tuple(dict.fromkeys(r.model for r in ratings))
    turns = tuple(sorted({r.turn for r in ratings}))
    q_at, m_at, t_at = _index(order), _index(models), _index(turns)
    total = np.zeros((len(order), len(models), len(turns)))
    count = np.zeros(total.shape)
    excluded = np.zeros(len(models), dtype=np.int64)
    for rating in ratings:
        model = m_at[rating.model]
        if rating.score is None:
            excluded[model] += 1
            continue
        place = (q_at[rating.question_id], model, t_at[rating.turn])
        total[place] += rating.score
        count[place] += 1
    scores = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
    return Grades(tuple(order), _groups_of(order, groups), models, turns, scores, excluded)


def pairs(comparisons: Sequence[Comparison], groups: Mapping[QuestionId, Any] | None = None) -> Pairs:
    """Return the pairs of one origin as arrays; questions in the order of `groups`, else as they come."""
    present = dict.fromkeys(c.question_id for c in comparisons)
    order = [q for q in groups if q in present] + [q for q in present if q not in groups] if groups else list(present)
    models = tuple(dict.fromkeys(m for c in comparisons for m in (c.model_1, c.model_2)))
    q_at, m_at = _index(order), _index(models)
    value = {"model_1": 1.0, "model_2": 0.0, "tie": 0.5, None: np.nan}
    games = [[value[w] for w in c.winners] for c in comparisons]
    game_1 = np.array([g[0] for g in games], dtype=np.float64)
    game_2 = np.array([g[1] if len(g) > 1 else np.nan for g in games], dtype=np.float64)
    single = np.array([len(g) == 1 for g in games], dtype=bool)
    both = np.where(game_1 == game_2, game_1, 0.5)
    both[np.isnan(game_1) | np.isnan(game_2)] = np.nan
    return Pairs(
        questions=tuple(order),
        groups=_groups_of(order, groups),
        models=models,
        question=np.array([q_at[c.question_id] for c in comparisons], dtype=np.int64),
        turn=np.array([c.turn for c in comparisons], dtype=np.int64),
        model_1=np.array([m_at[c.model_1] for c in comparisons], dtype=np.int64),
        model_2=np.array([m_at[c.model_2] for c in comparisons], dtype=np.int64),
        game_1=game_1,
        game_2=game_2,
        outcome=np.where(single, game_1, both),
    )


def _groups_of(order: Sequence[QuestionId], groups: Mapping[QuestionId, Any] | None) -> tuple[Any, ...]:
    return tuple((groups or {}).get(question) for question in order)


def _index(names: Sequence[Any]) -> dict[Any, int]:
    return {name: place for place, name in enumerate(names)}
