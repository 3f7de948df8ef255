"""The result of one imported record: a question, its reference, answers by models, votes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.old.rows import shown


class BadRecordError(ValueError):
    """A record that cannot become a question or an answer; its text says why."""


@dataclass(frozen=True, slots=True)
class Item:
    """What one record becomes, before it has a question id."""

    category: str
    turns: tuple[str, ...]
    reference: tuple[str, ...] = ()
    """The reference answer's turns; none where the record has none."""
    reference_note: str | None = None
    """Where the reference is from, if not from a person."""
    answers: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    """Answers by model: to the only turn, or one for each turn."""
    votes: tuple[Mapping[str, Any], ...] = ()
    """Rows for `human_judgment/`, without their question id; `judge` is the voter, empty if unknown."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of the question; tables can be grouped by them."""
    question_id: int | str | None = None
    """The record's own id, where questions keep it; None numbers them by position."""
    key: str = ""
    """By what further files find this question; empty: they can't."""


@dataclass(frozen=True, slots=True)
class FurtherAnswer:
    """One record of a further file: an answer to an existing question."""

    key: str
    text: str
    model: str | None = None
    """None: the model that the command names, or else the file's name."""


def text_of(value: Mapping[str, Any], *names: str, empty: bool = False) -> str:
    """Return the text in the first of these fields that the record has.

    Raises:
        BadRecordError: it has none of them, or no text there, or an empty one where that cannot be.
    """
    for name in names:
        if name in value:
            found = value[name]
            if isinstance(found, bool) or not isinstance(found, str | int | float):
                raise BadRecordError(f"{name} must be a text, this is {shown(found)}")
            text = str(found)
            if text.strip() or empty:
                return text
            raise BadRecordError(f"{name} is empty")
    raise BadRecordError(f"the field {' or '.join(map(repr, names))} is missing")


def id_of(value: Mapping[str, Any], *names: str) -> int | str | None:
    """Return the number or text in the first of these fields that the record has; None where it is none."""
    found = next((value[name] for name in names if name in value), None)
    named = isinstance(found, int | str) and not isinstance(found, bool) and str(found).strip()
    return found if named else None


def optional_text(value: Mapping[str, Any], name: str) -> str:
    """Return the text in a field, empty where there is none."""
    found = value.get(name)
    return found if isinstance(found, str) else ""


def label_of(value: Mapping[str, Any], *names: str, usual: str = "") -> str:
    """Return the text in the first of these fields that is not empty, stripped."""
    return next((text for name in names if (text := optional_text(value, name).strip())), usual)


def turns_of(text: str) -> tuple[str, ...]:
    """Return a text as the only turn; no turn if it is empty."""
    return (text,) if text.strip() else ()
