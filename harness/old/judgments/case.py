"""What the rows of judgment files share, and the joint outcome of a pair's games.

x, turn 1, score, by gpt-4 with mt_bench 1     a case: model, turn, metric and source
question 81                                    asked: what about
"""

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeAlias

from harness.old.records import Games, QuestionId, Scale, Source

SCORE, WIN = "score", "win"
"""The metrics of a grade and of a pair by no criterion."""
SHARE, CONFIDENCE = "share of the label", "stated confidence"
"""Metrics with a label: its value, and the answer's stated confidence, both from 0 to 1."""
FACTS = CORRECT, INCORRECT, NOT_ATTEMPTED = "CORRECT", "INCORRECT", "NOT_ATTEMPTED"
"""The labels of short facts."""
TOTAL = "grade of the whole"
"""The metric of the total of several dimensions."""
LOGPROBS = "logprobs"
"""The method of a verdict that was weighed by log-probabilities."""
OUTCOMES: tuple[Games, ...] = (
    (),
    *((one,) for one in (1.0, 0.0, 0.5, None)),
    *((one, other) for one in (1.0, 0.0, 0.5, None) for other in (1.0, 0.0, 0.5, None)),
)
"""The outcomes that nearly all pairs have; a weighted verdict has its own numbers."""
Numbers: TypeAlias = Mapping[str, float | None]


class Case(NamedTuple):
    """What an observation is about, and its source."""

    models: tuple[str, ...]
    """The one that was judged, or the two of a pair in the order of the row."""
    turn: int
    metric: str
    """Empty while rows are read whose one judgment gives several numbers."""
    source: Source


class Asked(NamedTuple):
    """What about."""

    question_id: QuestionId
    template: str | None = None
    content: str | None = None


def winner(games: Games) -> float | None:
    """Return 1 or 0 if all games were won or lost by the row's first model, 0.5 for a tie; None without a verdict.

    Two games that disagree are a tie: swapping the order changed the verdict. A weighed game is won above one half.
    """
    if not games or None in games:
        return None
    won = {1.0 if game > 0.5 else 0.0 if game < 0.5 else 0.5 for game in games if game is not None}
    return won.pop() if len(won) == 1 else 0.5


def changed(games: Games) -> bool:
    """Return whether swapping the two answers changed the verdict; False where a game gave none."""
    return len(games) == 2 and winner(games) is not None and winner(games[:1]) != winner(games[1:])


def outcome(games: Games, method: str) -> float | None:
    """Return the value of a pair: who won, or where the verdict was weighed the mean of the games' preferences."""
    if method == "text" or not games or None in games:
        return winner(games)
    return math.fsum(game for game in games if game is not None) / len(games)


def scale_text(scale: Scale) -> str:
    """Return a scale in words: "1 to 10"."""
    return f"{scale[0]:g} to {scale[1]:g}"


def hull(scales: Iterable[Scale | None]) -> Scale | None:
    """Return the scale that contains all known ones of these; None if none is known."""
    known = {scale for scale in scales if scale is not None}
    return (min(scale[0] for scale in known), max(scale[1] for scale in known)) if known else None


def key_of(case: Case) -> Case:
    """Return the case independent of the order of its two models, and of whether its rows state a scale."""
    if len(case.models) == 1:
        return case if case.source.scale is None else case._replace(source=case.source._replace(scale=None))
    return case._replace(models=tuple(sorted(case.models)))
