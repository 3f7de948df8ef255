"""Where a text stands: in questions, in answers, in the words of judges. Files are looked through line by line.

A line is decoded only if it may hold the text, so that a file of a gigabyte takes seconds.
"""

import json
import pathlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from harness.records import Question, QuestionId
from harness.rows import question_id

_WORDS = re.compile(r"[0-9a-z]+")
_MOST_LINE = 64 << 20
_JUDGED = ("judgment", "g1_judgment", "g2_judgment")


def in_questions(questions: Iterable[Question], text: str) -> set[QuestionId]:
    """Return the questions in which the text stands, upper or lower case alike."""
    wanted = text.casefold()
    return {q.question_id for q in questions if any(wanted in turn.casefold() for turn in q.turns)}


def in_answers(path: pathlib.Path, text: str) -> set[tuple[QuestionId, int]]:
    """Return the questions and turns in whose answers the text stands."""
    found = set()
    for row in _rows(path, text):
        key = _key(row)
        choices = row.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            turns = choice.get("turns") if isinstance(choice, dict) else None
            for number, said in enumerate(turns if isinstance(turns, list) else (), 1):
                if key is not None and isinstance(said, str) and text.casefold() in said.casefold():
                    found.add((key, number))
    return found


def in_judgments(path: pathlib.Path, text: str) -> set[tuple[QuestionId, int, frozenset[str]]]:
    """Return the questions, turns and models in whose judgments the judge uses the text."""
    found = set()
    wanted = text.casefold()
    for row in _rows(path, text):
        key, turn = _key(row), row.get("turn", 1)
        models = [row[name] for name in ("model", "model_1", "model_2") if isinstance(row.get(name), str)]
        said = (row.get(name) for name in _JUDGED)
        if (
            key is not None
            and isinstance(turn, int)
            and any(isinstance(s, str) and wanted in s.casefold() for s in said)
        ):
            found.add((key, turn, frozenset(models)))
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
    words = _WORDS.findall(text.lower()) if text.isascii() else []
    if not words:
        return lambda line: True
    word = max(words, key=len).encode()
    return lambda line: word in line.lower()
