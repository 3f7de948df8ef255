"""Arena battles: a question, two answers, and which of them a person preferred.

    {"question": "...", "model_a": "x", "answer_a": "...", "model_b": "y", "answer_b": "...",
     "winner": "model_a"}

    question, prompt, instruction; or the user's turns of conversation_a → question
    answer_a, response_a, output_1; or the replies of conversation_a     → answer by model_a
    winner: model_a, model_b, tie, tie (bothbad), A, B, a model's name   → a vote
    preference: 1 (the first), 2, 1.5 or 0 (a tie)                       → the same
    winner_model_a, winner_model_b, winner_tie: which of them is 1       → the same
    judge, voter, annotator → the voter; unnamed ones are numbered

Battles about one question are put together as long as each model has one answer to it.
"""

import contextlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from harness.extras.importing.items import BadRecord, Item, Source, optional, shown, text_of
from harness.extras.importing.messages import conversation
from harness.types import Vote

_QUESTIONS = ("question", "prompt", "instruction", "question_text")
_ANSWERS = {
    "a": ("answer_a", "response_a", "output_a", "output_1", "completion_a"),
    "b": ("answer_b", "response_b", "output_b", "output_2", "completion_b"),
}
_FLAGS = {"winner_model_a": "model_a", "winner_model_b": "model_b", "winner_tie": "tie"}
_PREFERENCES = {1.0: "model_a", 2.0: "model_b", 1.5: "tie", 0.0: "tie"}


def battles(record: Mapping[str, Any], source: Source) -> Item:
    """Return the question, both answers and the vote of a record."""
    # A record that names no models has two of its own.
    models = [optional(record, f"model_{side}", usual=f"answer_{side}") for side in "ab"]
    if models[0] == models[1]:
        raise BadRecord(f"both answers are by {models[0]}")
    turns, answers = _texts(record)
    turn = record.get("turn")
    voter = next((record[name] for name in ("judge", "voter", "annotator") if record.get(name)), "")
    vote = Vote(
        question_id=0,
        model_a=models[0],
        model_b=models[1],
        winner=_winner(record, models),
        judge=str(voter),
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
        answers = [_turns(record, names, empty=True) for names in _ANSWERS.values()]
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
    names = [optional(record, "winner").strip()]
    names += [
        side for flag, side in _FLAGS.items() if str(record.get(flag)) in ("1", "1.0", "True")
    ]
    with contextlib.suppress(ValueError):
        names.append(_PREFERENCES.get(float(str(record.get("preference"))), ""))
    for name in filter(None, names):
        if name.startswith("tie") or name in ("bothbad", "both bad"):
            return name if name.startswith("tie") else "tie (bothbad)"
        for side, model in zip(("model_a", "model_b"), models, strict=True):
            if name in (side, side[-1], side[-1].upper(), model):
                return side
    given = shown(record.get("winner", record.get("preference")))
    raise BadRecord(f"winner must be model_a, model_b or tie, this is {given}")
