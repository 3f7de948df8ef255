"""Where a text or a pattern occurs: in questions, in answers, in the words of judges. Files are read line by line.

    rivers of Asia        the text, upper or lower case alike
    /rivers? of \\w+/      between slashes a regular expression of Python, upper or lower case alike

A line is decoded only if it may hold the text, so that a file of a gigabyte takes seconds. A pattern may take any time,
so it is looked for in a process of its own (`viewer.limited`).
"""

import contextlib
import functools
import json
import pathlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from harness.errors import DataError, UsageError
from harness.judgments.row import judged_row
from harness.records import Question, QuestionId
from harness.rows import question_id
from viewer.limited import Limited, TooLong

SECONDS = 30.0
"""Processor time that looking for a pattern may take."""
_WORDS = re.compile(r"[0-9a-z]+")
_MOST_LINE = 64 << 20


class Wanted(NamedTuple):
    """Where to look for what; it goes to another process."""

    text: str
    questions: Sequence[Question]
    answers: Sequence[pathlib.Path]
    judgments: Sequence[pathlib.Path]


class Occurs(NamedTuple):
    """Where a text occurs."""

    questions: set[QuestionId]
    answers: list[set[tuple[QuestionId, int]]]
    """For each file of answers, questions and turns."""
    judgments: list[set[tuple[QuestionId, int, frozenset[str]]]]
    """For each file of judgments, questions, turns and models."""


def is_pattern(text: str) -> bool:
    """Return whether a text is a regular expression between slashes."""
    return len(text) > 2 and text.startswith("/") and text.endswith("/")


def look(wanted: Wanted) -> Occurs:
    """Return where a text or a pattern occurs; a pattern that takes too long, or is none, is a `UsageError`."""
    if not is_pattern(wanted.text):
        return everywhere(wanted)
    try:
        re.compile(wanted.text[1:-1])
        return _apart().call(wanted, SECONDS).made
    except re.error as error:
        raise UsageError(f"{wanted.text} is no regular expression: {error}") from None
    except TooLong:
        message = f"looking for {wanted.text} takes over {SECONDS:.0f} seconds; look for a simpler pattern"
        raise UsageError(message) from None


def everywhere(wanted: Wanted) -> Occurs:
    """Return where a text or a pattern occurs, looked for in this process."""
    text = wanted.text
    return Occurs(
        in_questions(wanted.questions, text),
        [in_answers(path, text) for path in wanted.answers],
        [in_judgments(path, text) for path in wanted.judgments],
    )


@functools.cache
def _apart() -> "Limited[Wanted, Occurs]":
    return Limited(everywhere)


def _holds(text: str) -> Callable[[str], bool]:
    """Return whether a text holds what is looked for."""
    if is_pattern(text):
        pattern = re.compile(text[1:-1], re.IGNORECASE)
        return lambda said: pattern.search(said) is not None
    wanted = text.casefold()
    return lambda said: wanted in said.casefold()


def in_questions(questions: Iterable[Question], text: str) -> set[QuestionId]:
    """Return the questions in which the text occurs."""
    holds = _holds(text)
    return {q.question_id for q in questions if any(map(holds, q.turns))}


def in_answers(path: pathlib.Path, text: str) -> set[tuple[QuestionId, int]]:
    """Return the questions and turns in whose answers the text occurs."""
    found, holds = set(), _holds(text)
    for row in _rows(path, text):
        key = _key(row)
        choices = row.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            turns = choice.get("turns") if isinstance(choice, dict) else None
            for number, said in enumerate(turns if isinstance(turns, list) else (), 1):
                if key is not None and isinstance(said, str) and holds(said):
                    found.add((key, number))
    return found


def in_judgments(path: pathlib.Path, text: str) -> set[tuple[QuestionId, int, frozenset[str]]]:
    """Return the questions, turns and models in whose judgments the judge uses the text."""
    found, holds = set(), _holds(text)
    for row in _rows(path, text):
        with contextlib.suppress(DataError):
            judged = judged_row(row, path, 0)
            if any(words.judgment is not None and holds(words.judgment) for words in judged.words):
                found.add((judged.question_id, judged.turn, frozenset(judged.models)))
    return found


def _key(row: Mapping[str, Any]) -> QuestionId | None:
    value = row.get("question_id")
    return question_id(value) if isinstance(value, int | str) and not isinstance(value, bool) else None


def _rows(path: pathlib.Path, text: str) -> Iterator[Mapping[str, Any]]:
    """Yield the rows whose line may hold the text; damaged ones and a file that is not there are left out."""
    may_hold = _sieve(text)
    try:
        with path.open("rb") as file:
            while line := file.readline(_MOST_LINE):
                if may_hold(line):
                    try:
                        row = json.loads(line)
                    except (ValueError, RecursionError):
                        continue
                    if isinstance(row, dict):
                        yield row
    except OSError:
        return


def _sieve(text: str) -> Callable[[bytes], bool]:
    """Return whether a line may hold the text: whether its longest word of plain letters stands there.

    JSON may write any other character in several ways.
    """
    words = _WORDS.findall(text.lower()) if text.isascii() and not is_pattern(text) else []
    if not words:
        return lambda line: True
    word = max(words, key=len).encode()
    return lambda line: word in line.lower()
