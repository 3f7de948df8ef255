"""Observations as tests write them: a grade, or a pair with the winner of each game."""

from collections.abc import Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

from harness.old.judgments.case import SCORE, WIN, outcome
from harness.old.records import UNSTATED, Observation, QuestionId, Scale, Source

_GAMES = {"model_1": 1.0, "model_2": 0.0, "tie": 0.5, None: None}


class Origin(NamedTuple):
    """Who said it, and made how."""

    judge: str
    judge_set: str = UNSTATED
    sampling: str = UNSTATED
    sample: int = 0
    criterion: str | None = None
    score_method: str = "text"


def grade(
    question_id: QuestionId,
    turn: int,
    model: str,
    score: float | None,
    origin: Origin,
    template: str | None = None,
    question_content: str | None = None,
    scale: Scale | None = None,
) -> Observation:
    """Return a grade; None for a judgment without one."""
    source = _source(origin)._replace(scale=scale)
    value = None if score is None else float(score)
    return Observation(
        question_id, turn, model, None, origin.criterion or SCORE, value, (), source, template, question_content
    )


def pair(
    question_id: QuestionId,
    turn: int,
    model_1: str,
    model_2: str,
    winners: Sequence[str | None],
    origin: Origin,
    voter: str | None = None,
    template: str | None = None,
    question_content: str | None = None,
) -> Observation:
    """Return a pair; `winners` are model_1, model_2, tie or None for no verdict, one for each game."""
    games = tuple(_GAMES[winner] for winner in winners)
    source = _source(origin)._replace(form="pair")
    if voter is not None:
        source = source._replace(judge=voter, voter=True)
    value = outcome(games, source.method)
    metric = origin.criterion or WIN
    return Observation(question_id, turn, model_1, model_2, metric, value, games, source, template, question_content)


def _source(origin: Origin) -> Source:
    name, _, version = origin.judge_set.partition(" ")
    return Source(
        origin.judge,
        judge_set=name,
        version=version,
        sampling=origin.sampling,
        sample=origin.sample,
        method=origin.score_method,
    )


def exchanged(one: Observation, *, games_too: bool = True) -> Observation:
    """Return the same pair with its models exchanged; with `games_too`, the other way round each game is the same."""
    games = tuple(None if game is None else 1.0 - game for game in one.games) if games_too else one.games
    value = outcome(games, one.source.method)
    return one._replace(model=str(one.opponent), opponent=one.model, games=games, value=value)


def named(rows: Iterable[Mapping[str, Any]]) -> list[SimpleNamespace]:
    """Return rows of a report with their columns as fields."""
    return [SimpleNamespace(**row) for row in rows]
