"""Answers as shown to a judge, and their hash: a judgment is current as long as the hash is the same."""

import hashlib
from collections.abc import Iterable, Sequence

import msgspec

from harness.old.bench import Bench
from harness.old.judging.extraction import extracted
from harness.old.records import HASH_DIGITS, Answer, Choice, canonical


def said_json(model: str, turns: Sequence[str]) -> bytes:
    """Return a model's replies in the form that `hash_of_said` takes."""
    try:
        return msgspec.json.encode((model, turns))  # of texts the same as `canonical`, in a ninth of the time
    except UnicodeError:
        return canonical((model, turns))


def hash_of_said(said: Iterable[bytes]) -> str:
    """Return the `content_hash` of models' replies, in the order of their names."""
    return hashlib.sha256(b"[[" + b",".join(said) + b"]]").hexdigest()[:HASH_DIGITS]


def shown_turns(bench: Bench, choice: Choice, turn: int) -> tuple[str, ...]:
    """Return the turns so far of a choice as a judge sees them."""
    return as_shown(bench, [reply.text for reply in choice.so_far(turn)], played=bool(choice.user))


def as_shown(bench: Bench, said: Sequence[str], *, played: bool) -> tuple[str, ...]:
    """Return an assistant's turns as a judge sees them: for JSON objects the judged field.

    Replies to a simulated user (`played`) are shown whole.
    """
    field = bench.settings.answer_field
    return tuple(said) if field is None or played else tuple(extracted(text, field).answer for text in said)


def chosen(answer: Answer, choice: int) -> Choice:
    """Return a choice of an answer, or the first one where it has none of this number."""
    return next((own for own in answer.choices if own.index == choice), answer.choices[0])
