"""What one record of another project's file becomes: a question, its reference, answers, votes.

A format is one function `(record, source) -> Item`. It raises `BadRecord` (or another ValueError)
for a record that it cannot use; that record is left out and listed with file and line.
"""

import datetime
import pathlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from harness.types import Judgment, Question, QuestionId, Vote, as_question_id


class BadRecord(ValueError):  # noqa: N818  (no fault of the program)
    """A record that cannot be used; its text says why."""


class Source(NamedTuple):
    """Where a record comes from, and what the user says about it."""

    folder: pathlib.Path
    """The benchmark's."""
    stem: str = ""
    """The file's name without its ending."""
    file: int = 0
    """Which of the files: 0 is the first, which defines the questions."""
    model: str = ""
    """The model that `--model-id` names for the file; empty: none."""
    judge: str = ""
    """Who made the judgments, from `--judge-model`; empty: as the records say."""
    home: str = ""
    """The name of the folder that the file is in."""
    keep_input: bool = False
    """Whether a judge's whole input is kept, where a record has one."""


@dataclass(kw_only=True)
class Item:
    """What one record becomes."""

    turns: list[str] = field(default_factory=list)
    """The user's texts."""
    category: str | None = None
    """None: the record adds to a question that exists, which has this id or these turns."""
    question_id: QuestionId | None = None
    """The record's own id; None: its place among all records."""
    same_turns: bool = False
    """Whether records without an id that have the same turns are about one question, as long as no
    model would have two different answers to it."""
    reference: list[str] = field(default_factory=list)
    reference_note: str = ""
    """Where the reference is from, if not from a person."""
    answers: dict[str, list[str]] = field(default_factory=dict)
    """By model, a text for each turn."""
    reasoning: list[str | None] = field(default_factory=list)
    """What the model thought before each of its texts, where the record has it apart."""
    choice: int = 0
    """Which of a model's conversations about the question the answers are, from 0."""
    others: list[list[str]] = field(default_factory=list)
    """The model's further conversations about the question, where one record has several."""
    sampling: dict[str, Any] = field(default_factory=dict)
    """What the answers were sampled with, as far as it is known."""
    note: str = ""
    """What a reader of the answers should know."""
    votes: list[Vote | Judgment] = field(default_factory=list)
    """Verdicts of people; a vote without a voter is by somebody of its own."""
    judgments: list[Judgment] = field(default_factory=list)
    """Verdicts of judge models."""
    failed: bool = False
    """Whether the record is a judge's failure."""
    system: str = ""
    """The system prompt, of which a benchmark has one."""
    extra: dict[str, Any] = field(default_factory=dict)
    """Further fields of the question."""


def text_of(
    record: Mapping[str, Any], *names: str, empty: bool = False, default: str | None = None
) -> str:
    """Return the text, or number or date as text, in the first of these fields that has one.

    A blank text counts only with `empty`. Without a default, `BadRecord` if there is none.
    """
    for name in names:
        value = record.get(name)
        if isinstance(value, datetime.date):  # what readers of JSON make of the text "1969-07-20"
            value = value.isoformat().removesuffix("T00:00:00")
        number = isinstance(value, int | float) and not isinstance(value, bool) and value == value
        if (number or isinstance(value, str)) and (empty or str(value).strip()):
            return str(value)
    if default is None:
        raise BadRecord(f"there is no text in {' or '.join(names)}")
    return default


def id_of(record: Mapping[str, Any], *names: str) -> QuestionId | None:
    """Return the number or text in the first of these fields that the record has."""
    value = next((record[name] for name in names if name in record), None)
    if isinstance(value, bool) or not isinstance(value, int | str) or not str(value).strip():
        return None
    return as_question_id(value)


def other_fields(record: Mapping[str, Any], *without: str) -> dict[str, Any]:
    """Return the fields that a question can have besides its own, for tables to group by."""
    taken = {*Question.__struct_fields__, "rubric", "context", *without}
    return {
        name: value
        for name, value in record.items()
        if name and name not in taken and isinstance(value, str | int | float)
    }


def folded(name: str) -> str:
    """Return a name of theirs as ours are written.

    >>> folded("Language organization")
    'language_organization'
    """
    return "_".join(name.lower().split())
