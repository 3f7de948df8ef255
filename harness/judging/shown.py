"""Answers as a judge is shown them, and the hash of what is shown: a judgment is done as long as it is the same."""

import hashlib
from collections.abc import Iterable, Sequence

import msgspec

from harness.bench import Bench
from harness.judging.extraction import extracted
from harness.records import HASH_DIGITS, Answer, Choice, canonical


def as_shown(bench: Bench, texts: Iterable[str], *, played: bool) -> tuple[str, ...]:
    """Return turns as a judge sees them: of JSON objects the field that is judged; `played` users' are whole."""
    field = bench.settings.answer_field
    return tuple(texts) if field is None or played else tuple(extracted(text, field).answer for text in texts)


def said_json(model: str, turns: Sequence[str]) -> bytes:
    """Return what a model said as `hash_of_said` takes it."""
    try:
        return msgspec.json.encode((model, turns))  # of texts the same as `canonical`, in a ninth of the time
    except UnicodeError:
        return canonical((model, turns))


def hash_of_said(said: Iterable[bytes]) -> str:
    """Return the `content_hash` of what models said, in the order of their names."""
    return hashlib.sha256(b"[[" + b",".join(said) + b"]]").hexdigest()[:HASH_DIGITS]


def shown_turns(bench: Bench, answer: Answer, turn: int, choice: int) -> tuple[str, ...]:
    """Return the turns so far of a choice of an answer as a judge sees them."""
    own = chosen(answer, choice)
    return as_shown(bench, [said.text for said in own.so_far(turn)], played=bool(own.user))


def chosen(answer: Answer, choice: int) -> Choice:
    """Return a choice of an answer, or the first one where it has none of this number."""
    return next((own for own in answer.choices if own.index == choice), answer.choices[0])
