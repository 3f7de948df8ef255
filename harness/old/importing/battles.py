"""Arena battles: a question, two answers, and which of them a person preferred.

{"question": "...", "model_a": "x", "answer_a": "...", "model_b": "y", "answer_b": "...", "winner": "model_a"}

question | prompt | instruction, or the user's turns of conversation_a and conversation_b → question
answer_a | response_a | output_1, or the assistant's turns of conversation_a              → answer by model_a
winner: model_a, model_b, tie, tie (bothbad), A, B, or the model's name                   → a vote on the last turn
preference: 1 (the first), 2, 1.5 or 0 (a tie)                                            → the same
winner_model_a, winner_model_b, winner_tie: which of them is 1                            → the same
judge | voter | annotator → the voter; unnamed ones are numbered

Battles on one question are merged as long as a model has one answer to it, so several people may vote on a pair.
"""

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.old.importing.items import BadRecordError, Item, label_of, optional_text, text_of

_QUESTIONS = ("question", "prompt", "instruction", "question_text")
_ANSWERS = (
    ("answer_a", "response_a", "output_a", "output_1", "completion_a"),
    ("answer_b", "response_b", "output_b", "output_2", "completion_b"),
)
_VOTERS = ("judge", "voter", "annotator", "user")
_FLAGS = {"winner_model_a": "model_a", "winner_model_b": "model_b", "winner_tie": "tie"}
_PREFERENCES = {1.0: "model_a", 2.0: "model_b", 1.5: "tie", 0.0: "tie"}


def item(value: Mapping[str, Any]) -> Item:
    """Return what a record becomes.

    Raises:
        BadRecordError: a field is missing or is not what it must be.
    """
    # A record that names no models has two of its own.
    models = tuple(label_of(value, f"model_{side}", usual=f"answer_{side}") for side in "ab")
    if models[0] == models[1]:
        raise BadRecordError(f"both answers are of {models[0]}")
    turns, answers = _said(value)
    vote = {
        "model_a": models[0],
        "model_b": models[1],
        "winner": _winner(value, models),
        "judge": next((str(value[name]) for name in _VOTERS if value.get(name) not in (None, "")), ""),
        "turn": len(turns),
    }
    language = optional_text(value, "language")
    return Item(
        category=label_of(value, "category", "dataset", usual="battles"),
        turns=turns,
        answers=dict(zip(models, answers, strict=True)),
        votes=(vote,),
        extra={"language": language} if language else {},
    )


def _said(value: Mapping[str, Any]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the user's turns, and the turns of both answers."""
    if "conversation_a" in value:
        (asked, one), (again, other) = (_conversation(value, side) for side in "ab")
        if asked != again:
            raise BadRecordError("the user's turns differ between conversation_a and conversation_b")
        return asked, [one, other]
    turns = _turns(value, _QUESTIONS)
    answers = [_turns(value, names, empty=True) for names in _ANSWERS]
    if any(len(own) != len(turns) for own in answers):
        raise BadRecordError(f"there are {len(turns)} turns of the user, and an answer has another number")
    return turns, answers


def _turns(value: Mapping[str, Any], names: Sequence[str], *, empty: bool = False) -> tuple[str, ...]:
    """Return the turns in the first of these fields: a text, a list of texts, or such a list as JSON."""
    name = next((name for name in names if name in value), names[0])
    found = value.get(name)
    if isinstance(found, str) and found.lstrip().startswith('["'):
        with contextlib.suppress(ValueError, RecursionError):
            found = json.loads(found)
    if not isinstance(found, list):
        return (text_of(value, name, empty=empty),)
    if not found or not all(isinstance(text, str) and (text.strip() or empty) for text in found):
        raise BadRecordError(f"{name} must be a text or a list of texts")
    return tuple(found)


def _conversation(value: Mapping[str, Any], side: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the turns of the user and of the assistant."""
    name = f"conversation_{side}"
    given = value.get(name)
    messages = [message for message in given if isinstance(message, dict)] if isinstance(given, list) else []
    said = [(message.get("role"), message.get("content")) for message in messages if message.get("role") != "system"]
    roles = [role for role, _ in said]
    if not said or roles != ["user", "assistant"] * (len(said) // 2) or not all(isinstance(t, str) for _, t in said):
        raise BadRecordError(f"{name} must be messages of user and assistant in turn")
    texts = [str(text) for _, text in said]
    if not all(map(str.strip, texts[::2])):
        raise BadRecordError(f"{name} contains an empty message of the user")
    return tuple(texts[::2]), tuple(texts[1::2])


def _winner(value: Mapping[str, Any], models: Sequence[str]) -> str:
    """Return the winner in the words of a vote."""
    for named in _winners_named(value):
        if named.startswith("tie") or named in ("bothbad", "both bad"):
            return named if named.startswith("tie") else "tie (bothbad)"
        for side, model in zip(("model_a", "model_b"), models, strict=True):
            if named in (side, side[-1], side[-1].upper(), model):
                return side
    given = value.get("winner", value.get("preference"))
    raise BadRecordError(f"winner must be model_a, model_b or tie, this is {given!r}")


def _winners_named(value: Mapping[str, Any]) -> Iterator[str]:
    """Yield the winner that the record states, in any of the fields."""
    if isinstance(value.get("winner"), str):
        yield value["winner"].strip()
    for name, winner in _FLAGS.items():
        if str(value.get(name)) in ("1", "1.0", "True"):
            yield winner
    try:
        yield _PREFERENCES.get(float(str(value.get("preference"))), "")
    except ValueError:
        return
