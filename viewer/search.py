"""Where a text or a pattern occurs: in questions, in answers, in the words of judges. Files are read line by line.

    rivers of Asia        the text, upper or lower case alike
    /rivers? of \\w+/      between slashes a regular expression of Python, upper or lower case alike

A line is decoded only if it may hold the text, and several processes share files that are large. A pattern may take any
time, so it is looked for in a process of its own (`viewer.limited`).
"""

import functools
import json
import os
import pathlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

import msgspec

from harness.errors import TurnbenchError, UsageError
from harness.jsonl import size_of
from harness.jsonl.copies import plain_copy
from harness.records import Question, QuestionId
from harness.rows import question_id
from viewer.limited import Limited, TooLong

Made = TypeVar("Made")
SECONDS = 30.0
"""Processor time that looking for a pattern may take."""
_WORDS = re.compile(r"[0-9a-z]+|[\u0590-\u0fff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]+")
_BLOCK = 1 << 20
"""Bytes that are looked through together; as many as fit into a processor's caches."""
_LARGE = 30 << 20
"""Bytes for which a further process pays."""
_MOST = 4
"""Processes that share what is to be looked through."""
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
    answers: list[Mapping[int, set[QuestionId]]]
    """For each file of answers, by turn the questions."""
    judgments: list[Mapping[tuple[int, frozenset[str]], set[QuestionId]]]
    """For each file of judgments, by turn and models the questions."""


def is_pattern(text: str) -> bool:
    """Return whether a text is a regular expression between slashes."""
    return len(text) > 2 and text.startswith("/") and text.endswith("/")


def look(wanted: Wanted) -> Occurs:
    """Return where a text or a pattern occurs; a pattern that takes too long, or is none, is a `UsageError`."""
    shares = _shares(wanted)
    if len(shares) == 1 and not is_pattern(wanted.text):
        return everywhere(wanted)
    try:
        if is_pattern(wanted.text):
            re.compile(wanted.text[1:-1])
        with ThreadPoolExecutor(len(shares)) as threads:
            found = list(threads.map(lambda at: _apart(at).call(shares[at], SECONDS).made, range(len(shares))))
    except re.error as error:
        raise UsageError(f"{wanted.text} is no regular expression: {error}") from None
    except TooLong:
        message = f"looking for {wanted.text} takes over {SECONDS:.0f} seconds; look for a simpler pattern"
        raise UsageError(message) from None
    answers = {
        path: own
        for share, one in zip(shares, found, strict=True)
        for path, own in zip(share.answers, one.answers, strict=True)
    }
    judged = {
        path: own
        for share, one in zip(shares, found, strict=True)
        for path, own in zip(share.judgments, one.judgments, strict=True)
    }
    return Occurs(
        found[0].questions, [answers[path] for path in wanted.answers], [judged[path] for path in wanted.judgments]
    )


def _shares(wanted: Wanted) -> list[Wanted]:
    """Return what each of several processes looks through, about equally much; the questions go to the first."""
    sizes = {path: size_of(path) for path in (*wanted.answers, *wanted.judgments)}
    count = max(1, min(_MOST, os.cpu_count() or 1, len(sizes), sum(sizes.values()) // _LARGE))
    shares: list[list[pathlib.Path]] = [[] for _ in range(count)]
    for path in sorted(sizes, key=lambda path: -sizes[path]):
        min(shares, key=lambda share: sum(sizes[own] for own in share)).append(path)
    return [
        Wanted(
            wanted.text,
            () if at else wanted.questions,
            [p for p in wanted.answers if p in own],
            [p for p in wanted.judgments if p in own],
        )
        for at, own in enumerate(shares)
    ]


def everywhere(wanted: Wanted) -> Occurs:
    """Return where a text or a pattern occurs, looked for in this process."""
    text = wanted.text
    return Occurs(
        in_questions(wanted.questions, text),
        [in_answers(path, text) for path in wanted.answers],
        [in_judgments(path, text) for path in wanted.judgments],
    )


@functools.cache
def _apart(number: int) -> "Limited[Wanted, Occurs]":
    """Return the process that looks through a share; each is kept."""
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


def in_answers(path: pathlib.Path, text: str) -> dict[int, set[QuestionId]]:
    """Return, by turn, the questions in whose answers the text occurs."""
    found: dict[int, set[QuestionId]] = {}
    holds = _holds(text)
    for line in _lines(path, text):
        if (row := _decoded(_answer, line)) is None:
            continue
        for choice in row.choices:
            for at, said in enumerate(choice.turns, 1):
                if isinstance(said, str) and holds(said):
                    found.setdefault(at, set()).add(question_id(row.question_id))
    return found


def in_judgments(path: pathlib.Path, text: str) -> dict[tuple[int, frozenset[str]], set[QuestionId]]:
    """Return, by turn and models, the questions in whose judgments the judge uses the text."""
    found: dict[tuple[int, frozenset[str]], set[QuestionId]] = {}
    holds = _holds(text)
    for line in _lines(path, text):
        row = _decoded(_judgment, line)
        if row is not None and any(map(holds, filter(None, (row.judgment, row.g1_judgment, row.g2_judgment)))):
            models = (row.model,) if row.model else (row.model_1, row.model_2)
            which = row.turn, frozenset(filter(None, models))
            found.setdefault(which, set()).add(question_id(row.question_id))
    return found


class _Choice(msgspec.Struct, gc=False):
    turns: list[Any]


class _Answer(msgspec.Struct, gc=False):
    """What is needed of an answer's line; the rest of it is stepped over."""

    question_id: int | str
    choices: list[_Choice]


class _Judgment(msgspec.Struct, gc=False):
    """What is needed of a judgment's line."""

    question_id: int | str
    turn: int
    model: str | None = None
    model_1: str | None = None
    model_2: str | None = None
    judgment: str | None = None
    g1_judgment: str | None = None
    g2_judgment: str | None = None


_answer, _judgment = msgspec.json.Decoder(_Answer), msgspec.json.Decoder(_Judgment)


def _decoded(decoder: "msgspec.json.Decoder[Made]", line: bytes) -> "Made | None":
    """Return the row of a line; None for a damaged one, and for one that is something else."""
    try:
        return decoder.decode(line)
    except msgspec.ValidationError:
        return None
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        pass
    try:  # half a character, which the quicker decoder refuses
        return msgspec.convert(json.loads(line), decoder.type)
    except (ValueError, RecursionError):
        return None


def _lines(path: pathlib.Path, text: str) -> Iterator[bytes]:
    """Yield the lines that may hold the text; none of a file that is not there."""
    needles = _needles(text)
    rest = b""
    try:
        with plain_copy(path).open("rb") as file:
            while block := file.read(_BLOCK):
                end = block.rfind(b"\n") + 1
                if end:
                    yield from _holding(rest + block[:end], needles)
                    rest = block[end:]
                elif len(rest) < _MOST_LINE:
                    rest += block
        yield from _holding(rest, needles)
    except (OSError, TurnbenchError):  # whoever shows the rows says so
        return


def _holding(block: bytes, needles: Sequence[bytes]) -> Iterator[bytes]:
    """Yield the lines of a block in which one of the needles occurs; all lines if there are no needles."""
    if not needles:
        yield from block.splitlines()
        return
    small = block.lower()
    at = {needle: small.find(needle) for needle in needles}
    while there := [place for place in at.values() if place >= 0]:
        start = small.rfind(b"\n", 0, min(there)) + 1
        stop = small.find(b"\n", min(there))
        stop = len(small) if stop < 0 else stop
        yield block[start:stop]
        at = {needle: place if place >= stop or place < 0 else small.find(needle, stop) for needle, place in at.items()}


def _needles(text: str) -> list[bytes]:
    """Return what a line must hold one of, in small letters, if it holds the text: its longest plain word, or any.

    Plain are letters and digits of ASCII, and characters of scripts without capitals, which JSON may write as they are
    or as their numbers. Every other character may stand there in more ways than two.
    """
    words = [] if is_pattern(text) else _WORDS.findall(text.lower())
    plain = [word for word in words if word.isascii() or word == word.upper() == word.casefold()]
    if not plain:
        return []
    word = max(plain, key=len)
    return list(dict.fromkeys((word.encode(), json.dumps(word)[1:-1].encode())))
