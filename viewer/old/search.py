"""Where a text or a pattern occurs: in questions, answers and judges' texts. Files are read line by line.

    rivers of Asia        the text, upper or lower case alike
    /rivers? of \\w+/      between slashes a regular expression of Python, upper or lower case alike

Several processes share files that are large. A pattern may take any time, so it is searched for in a separate process
(`viewer.old.limited`).
"""

import functools
import json
import os
import pathlib
import re
import sys
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeAlias, TypeVar

import msgspec

from harness.old.errors import TurnbenchError, UsageError
from harness.old.jsonl import size_of
from harness.old.jsonl.copies import plain_copy
from harness.old.jsonl.files import is_plain
from harness.old.records import Question, QuestionId
from harness.old.rows import question_id
from viewer.old.limited import Limited, TooLong

Made = TypeVar("Made")
SECONDS = 30.0
"""Processor time that looking for a pattern may take."""
_BLOCK = 96 << 10
"""Bytes that are searched together; as many as fit into a processor's caches."""
_LARGE = 30 << 20
"""Bytes for which a further process pays, and of which a large file's parts are."""
_MOST = 4
"""Processes that share a search."""
_MOST_LINE = 64 << 20


class Lines(NamedTuple):
    """Lines of a file: those that begin from one place on, and before another."""

    path: pathlib.Path
    start: int = 0
    stop: int = sys.maxsize


class Wanted(NamedTuple):
    """Where to look for what; it goes to another process."""

    text: str
    ids: Sequence[QuestionId]
    """Of the questions that matter; what is found is said by their places in this."""
    questions: Sequence[Question]
    answers: Sequence[Lines]
    judgments: Sequence[Lines]


By: TypeAlias = "dict[tuple[int, frozenset[str]], array[int]]"
"""By turn and, of judgments, models: the places of the questions, some perhaps more than once."""


class Places(dict[int | str, int]):
    """Where questions stand, by their ids as rows have them; -1 for those that do not matter."""

    def __init__(self, ids: Iterable[QuestionId]) -> None:
        super().__init__({key: at for at, key in enumerate(ids)})

    def __missing__(self, key: int | str) -> int:
        own = question_id(key)
        place = self[key] = -1 if own == key else self[own]
        return place


class Occurs(NamedTuple):
    """Where a text occurs."""

    questions: "array[int]"
    """Their places."""
    files: dict[pathlib.Path, By]

    def add(self, questions: "array[int]", files: Iterable[tuple[pathlib.Path, By]]) -> None:
        """Add where else it occurs."""
        self.questions.extend(questions)
        for path, found in files:
            for which, places in found.items():
                self.files.setdefault(path, {}).setdefault(which, array("i")).extend(places)


def is_pattern(text: str) -> bool:
    """Return whether a text is a regular expression between slashes."""
    return len(text) > 2 and text.startswith("/") and text.endswith("/")


def look(wanted: Wanted) -> Occurs:
    """Return where a text or a pattern occurs; a pattern that takes too long, or is none, is a `UsageError`."""
    shares, pattern = _shares(wanted), is_pattern(wanted.text)
    if len(shares) == 1 and not pattern:
        return everywhere(wanted)
    try:
        if pattern:
            re.compile(wanted.text[1:-1])
        with ThreadPoolExecutor(len(shares)) as threads:
            found = list(threads.map(lambda at: _apart(at, pattern).call(shares[at], SECONDS).made, range(len(shares))))
    except re.error as error:
        raise UsageError(f"{wanted.text} is not a regular expression: {error}") from None
    except TooLong:
        message = f"searching for {wanted.text} takes over {SECONDS:.0f} seconds; use a simpler pattern"
        raise UsageError(message) from None
    for one in found[1:]:
        found[0].add(one.questions, one.files.items())
    return found[0]


def get_ready(files: Iterable[pathlib.Path]) -> None:
    """Start the processes that look through so much, which then are there when somebody searches."""
    shares = _shares(Wanted("", (), (), (), [Lines(path) for path in files]))
    for at in range(len(shares) if len(shares) > 1 else 0):
        _apart(at, False).call(shares[at]._replace(judgments=()), SECONDS)


def _shares(wanted: Wanted) -> list[Wanted]:
    """Return what each of several processes looks through, about equally much; the questions go to the first."""
    files = (wanted.answers, wanted.judgments)
    answers, judgments = ([part for lines in each for part in _parts(lines.path)] for each in files)
    size = sum(size_of(lines.path) for each in files for lines in each)
    count = max(1, min(_MOST, os.cpu_count() or 1, size // _LARGE))
    questions = [wanted.questions, *[()] * (count - 1)]
    shares = enumerate(questions)
    return [Wanted(wanted.text, wanted.ids, own, answers[at::count], judgments[at::count]) for at, own in shares]


def _parts(path: pathlib.Path) -> list[Lines]:
    """Return the parts of a file that several processes may share; one that is packed or split is one part."""
    starts = range(0, size_of(path), _LARGE) if is_plain(path) else ()
    parts = [Lines(path, start, start + _LARGE) for start in starts] or [Lines(path)]
    return [*parts[:-1], parts[-1]._replace(stop=sys.maxsize)]


def everywhere(wanted: Wanted) -> Occurs:
    """Return where a text or a pattern occurs, looked for in this process."""
    text, places = wanted.text, Places(wanted.ids)
    occurs = Occurs(array("i", (places[key] for key in in_questions(wanted.questions, text))), {})
    occurs.add(array("i"), ((lines.path, in_answers(lines, text, places)) for lines in wanted.answers))
    occurs.add(array("i"), ((lines.path, in_judgments(lines, text, places)) for lines in wanted.judgments))
    return occurs


@functools.cache
def _apart(number: int, pattern: bool) -> "Limited[Occurs]":
    """Return the process that looks through a share; each is kept, and no text waits for a pattern."""
    return Limited(everywhere)


def _holds(text: str) -> Callable[[str], bool]:
    """Return whether a text holds what is looked for."""
    if is_pattern(text):
        pattern = re.compile(text[1:-1], re.IGNORECASE)
        return lambda said: pattern.search(said) is not None
    wanted = text.casefold()
    return lambda said: wanted in said or wanted in said.casefold()


def in_questions(questions: Iterable[Question], text: str) -> set[QuestionId]:
    """Return the questions in which the text occurs."""
    holds = _holds(text)
    return {q.question_id for q in questions if any(map(holds, q.turns))}


def in_answers(lines: Lines, text: str, places: Places) -> By:
    """Return, by turn, the questions in whose answers the text occurs."""
    found: dict[int, array[int]] = defaultdict(_array)
    holds = _holds(text)
    for row in _rows(_answer, lines):
        for choice in row.choices:
            for at, said in enumerate(choice.turns, 1):
                if isinstance(said, str) and holds(said) and (place := places[row.question_id]) >= 0:
                    found[at].append(place)
    return {(at, frozenset()): own for at, own in found.items()}


def in_judgments(lines: Lines, text: str, places: Places) -> By:
    """Return, by turn and models, the questions in whose judgments the judge uses the text."""
    found: dict[tuple[int, Any, Any, Any], array[int]] = defaultdict(_array)
    holds = _holds(text)
    for row in _rows(_judgment, lines):
        one, other = row.g1_judgment, row.g2_judgment
        said = (row.judgment and holds(row.judgment)) or (one and holds(one)) or (other and holds(other))
        if said and (place := places[row.question_id]) >= 0:
            found[row.turn, row.model, row.model_1, row.model_2].append(place)
    every: By = defaultdict(_array)
    for (turn, model, *two), own in found.items():
        every[turn, frozenset(filter(None, (model,) if model else two))].extend(own)
    return dict(every)


_array = functools.partial(array, "i")


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


def _rows(decoder: "msgspec.json.Decoder[Made]", lines: Lines) -> "Iterator[Made]":
    """Yield the rows of the lines; none of a file that is not there."""
    try:
        for block in _blocks(*lines):
            try:
                yield from decoder.decode_lines(block)
            except (msgspec.MsgspecError, UnicodeError, RecursionError):
                # A line is damaged, or is what only the other decoder reads.
                decoded = (_decoded(decoder, line) for line in block.splitlines())
                yield from (row for row in decoded if row is not None)
    except (OSError, TurnbenchError):  # whoever shows the rows says so
        return


def _blocks(path: pathlib.Path, start: int, stop: int) -> Iterator[bytes]:
    """Yield whole lines, many at a time; perhaps also the first that begins at `stop`."""
    with plain_copy(path).open("rb") as file:
        if start:
            file.seek(start - 1)
            file.readline()
        while (at := file.tell()) < stop and (block := file.read(min(_BLOCK, stop - at))):
            yield block + file.readline(_MOST_LINE)
