"""Arena battles: a question, two answers, and which of them a person preferred.

    {"question": "...", "model_a": "x", "answer_a": "...", "model_b": "y", "answer_b": "...",
     "winner": "model_a"}

    question, prompt; or the user's turns of conversation_a              → question
    answer_a, response_a; or the replies of conversation_a               → answer by model_a
    winner: model_a, model_b, tie, tie (bothbad), a model's name         → a vote
    winner_model_a, winner_model_b, winner_tie: which of them is 1       → the same
    judge → the voter; unnamed ones are numbered

Battles about one question are put together as long as each model has one answer to it.
"""

import contextlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from harness.extras.importing.items import BadRecord, Item, Source, optional, shown, text_of
from harness.extras.importing.messages import conversation
from harness.types import Vote

_QUESTIONS = ("question", "prompt")
_ANSWERS = (("answer_a", "response_a"), ("answer_b", "response_b"))
_FLAGS = {"winner_model_a": "model_a", "winner_model_b": "model_b", "winner_tie": "tie"}


def battles(record: Mapping[str, Any], source: Source) -> Item:
    """Return the question, both answers and the vote of a record."""
    # A record that names no models has two of its own.
    models = [optional(record, f"model_{side}", usual=f"answer_{side}") for side in "ab"]
    if models[0] == models[1]:
        raise BadRecord(f"both answers are by {models[0]}")
    turns, answers = _texts(record)
    turn = record.get("turn")
    vote = Vote(
        question_id=0,
        model_a=models[0],
        model_b=models[1],
        winner=_winner(record, models),
        judge=str(record.get("judge") or ""),
        turn=turn if isinstance(turn, int) and 1 <= turn <= len(turns) else len(turns),
    )
    language = optional(record, "language")
    return Item(
        category=optional(record, "category", "dataset", usual="battles"),
        turns=turns,
        same="answers",
        answers=dict(zip(models, answers, strict=True)),
        votes=[vote],
        vote_file="battles",
        extra={"language": language} if language else {},
    )


def _texts(record: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Return the user's turns, and the turns of both answers."""
    if "conversation_a" in record:
        (_, turns, first), (_, again, second) = (
            conversation(record.get(name), name) for name in ("conversation_a", "conversation_b")
        )
        if turns != again:
            raise BadRecord("the user's turns differ between conversation_a and conversation_b")
        answers = [first, second]
    else:
        turns = _turns(record, _QUESTIONS)
        answers = [_turns(record, names, empty=True) for names in _ANSWERS]
    if any(len(answer) != len(turns) for answer in answers):
        raise BadRecord(f"the user has {len(turns)} turns, and an answer another number")
    return turns, answers


def _turns(record: Mapping[str, Any], names: Sequence[str], *, empty: bool = False) -> list[str]:
    """Return the turns in the first of these fields: a text, a list, or a list as JSON."""
    name = next((name for name in names if name in record), names[0])
    value = record.get(name)
    if isinstance(value, str) and value.lstrip().startswith('["'):
        with contextlib.suppress(ValueError):  # a text that begins like a list
            value = json.loads(value)
    if not isinstance(value, list):
        return [text_of(record, name, empty=empty)]
    if not value or not all(isinstance(text, str) and (text.strip() or empty) for text in value):
        raise BadRecord(f"{name} must be a text or a list of texts")
    return value


def _winner(record: Mapping[str, Any], models: Sequence[str]) -> str:
    """Return the winner as a vote names it."""
    name = optional(record, "winner").strip()
    for flag, side in _FLAGS.items():
        if str(record.get(flag)) in ("1", "1.0", "True"):
            name = side
    if name in models:
        name = ("model_a", "model_b")[models.index(name)]
    if name not in ("model_a", "model_b") and not name.startswith("tie"):
        given = shown(record.get("winner"))
        raise BadRecord(f"winner must be model_a, model_b or tie, this is {given}")
    return name
