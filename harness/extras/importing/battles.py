"""Arena battles: a question, two answers, and which of them a person preferred.

    {"question": "...", "model_a": "x", "answer_a": "...", "model_b": "y", "answer_b": "...",
     "winner": "model_a"}

    question, prompt; or the user's turns of conversation_a              → question
    answer_a, response_a; or the replies of conversation_a               → answer by model_a
    winner: model_a, model_b, tie, tie (bothbad), both_bad, a model's name         → a vote
    winner_model_a, winner_model_b, winner_tie: which of them is 1       → the same
    judge → the voter; unnamed ones are numbered

Battles about one question are put together as long as each model has one answer to it.
"""

import contextlib
import json
from collections.abc import Mapping
from typing import Any

from harness.extras.importing.items import BadRecord, Item, Source, text_of
from harness.extras.importing.messages import conversation
from harness.types import VOTES, Vote

_FLAGS = {"winner_model_a": "model_a", "winner_model_b": "model_b", "winner_tie": "tie"}


def battles(record: Mapping[str, Any], source: Source) -> Item:
    """Return the question, both answers and the vote of a record."""
    # A record that names no models has two of its own.
    models = [text_of(record, f"model_{side}", default=f"answer_{side}") for side in "ab"]
    if models[0] == models[1]:
        raise BadRecord(f"both answers are by {models[0]}")
    if "conversation_a" in record:
        _, turns, first, _ = conversation(record["conversation_a"])
        _, again, second, _ = conversation(record["conversation_b"])
        if turns != again:
            raise BadRecord("the user's turns differ between conversation_a and conversation_b")
    else:
        turns = _turns(record, "question", "prompt")
        first = _turns(record, "answer_a", "response_a", empty=True)
        second = _turns(record, "answer_b", "response_b", empty=True)
    if not len(first) == len(second) == len(turns):
        raise BadRecord(f"the user has {len(turns)} turns, and an answer another number")
    turn = record.get("turn")
    vote = Vote(
        question_id=0,
        model_a=models[0],
        model_b=models[1],
        winner=_winner(record, models),
        judge=str(record.get("judge") or ""),
        turn=turn if isinstance(turn, int) and 1 <= turn <= len(turns) else len(turns),
    )
    language = text_of(record, "language", default="")
    return Item(
        category=text_of(record, "category", "dataset", default="battles"),
        turns=turns,
        same_turns=True,
        answers=dict(zip(models, (first, second), strict=True)),
        votes=[vote],
        extra={"language": language} if language else {},
    )


def _turns(record: Mapping[str, Any], *names: str, empty: bool = False) -> list[str]:
    """Return the turns in the first of these fields: a text, a list, or a list as JSON."""
    value = next((record[name] for name in names if name in record), None)
    if isinstance(value, str) and value.startswith('["'):
        with contextlib.suppress(ValueError):  # a text that begins like a list
            value = json.loads(value)
    if not isinstance(value, list):
        return [text_of(record, *names, empty=empty)]
    if not value or not all(isinstance(text, str) and (text.strip() or empty) for text in value):
        raise BadRecord(f"{' or '.join(names)} must be a text or a list of texts")
    return value


def _winner(record: Mapping[str, Any], models: list[str]) -> str:
    """Return the winner as a vote names it."""
    name = text_of(record, "winner", default="").strip()
    for flag, side in _FLAGS.items():
        if str(record.get(flag)) in ("1", "1.0", "True"):
            name = side
    if name in models:
        name = ("model_a", "model_b")[models.index(name)]
    if name not in VOTES:
        raise BadRecord(f"winner {name!r} must be one of {', '.join(VOTES)}")
    return name
