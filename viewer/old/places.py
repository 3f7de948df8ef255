"""Where in a JSON Lines file the rows of each question begin, so that one question is read without the rest.

The file is scanned once, without decoding its rows, and from then on only its additions. A row without
a newline at its end is still being written, and comes with the next look.
"""

import contextlib
import io
import json
import os
import pathlib
import re
import threading
from array import array
from collections.abc import Iterable, Iterator
from itertools import accumulate
from operator import itemgetter
from typing import Any, NamedTuple

from harness.old.errors import DataError
from harness.old.jsonl import Row, files_of, row_of, value_of
from harness.old.jsonl.copies import plain_copy
from harness.old.records import QuestionId
from harness.old.rows import question_id

_ID_FIRST = re.compile(rb'\s*\{\s*"question_id"\s*:\s*(?:(-?\d{1,18})\s*[,}]|"([^"\\]{1,200})")')
_head = itemgetter(slice(0, 32))
"""The beginning of a line: long enough for most ids, and short enough to be the same for most rows of a question."""
_NONE = -1
"""Stands for the question of a line that names none."""
_BLOCK = 1 << 18
_SAME = 256
"""Bytes by which a file is known to hold still what it held."""
_LONGEST = 64 * 1024 * 1024
"""Bytes of a row that is still read."""


class End(NamedTuple):
    """How far a file was read, and what it is known by when it is looked at again."""

    file: tuple[int, int]
    place: int
    last: bytes
    """The bytes before the place."""

    def continues(self, path: pathlib.Path) -> bool:
        """Return whether the file still holds what was read of it, and nothing but more behind that."""
        try:
            return end_of(path, self.place) == self
        except OSError:
            return False


def end_of(path: pathlib.Path, place: int | None = None) -> End:
    """Return the end of what stands before a place of the file: before the last line that has no newline yet."""
    with path.open("rb") as file:
        found = os.fstat(file.fileno())
        if place is None:
            for back in (_BLOCK, _LONGEST):
                file.seek(max(0, found.st_size - back))
                behind = file.read(back).rpartition(b"\n")
                if behind[1]:
                    break
            place = file.tell() - len(behind[2])
        file.seek(max(0, place - _SAME))
        return End((found.st_dev, found.st_ino), place, file.read(min(place, _SAME)))


def ends_of(paths: Iterable[pathlib.Path]) -> dict[pathlib.Path, End]:
    """Return where files end that can be read."""
    ends = {}
    for path in paths:
        with contextlib.suppress(OSError):
            ends[path] = end_of(path)
    return ends


class _Numbers(dict[bytes, int]):
    """Numbers for questions, by the beginning of a line; one that shows no id is counted, and not kept."""

    def __init__(self) -> None:
        super().__init__()
        self.of: dict[QuestionId, int] = {}
        self.unknown = 0

    def __missing__(self, head: bytes) -> int:
        key = _id_at(head)
        if key is None:
            self.unknown += 1
            return _NONE
        self[head] = number = self.number(key)
        return number

    def number(self, key: QuestionId) -> int:
        """Return the number of a question, a new one for one that has none yet."""
        return self.of.setdefault(key, len(self.of))


class Places:
    """The places of the rows of one file."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self.damaged: list[int] = []
        """Numbers of the lines in which no question's id can be found; those that are whole only."""
        self._read_at = path
        """The file itself, or a copy of its parts joined and unpacked; lines are counted there."""
        self._read_to: End | None = None
        self._lock = threading.Lock()
        self._forget()

    def _forget(self) -> None:
        self.damaged.clear()
        self._numbers = _Numbers()
        self._starts = array("q")
        """For each line where it begins."""
        self._questions = array("i")
        """For each line the number of its question."""
        self._end = 0
        self._unended = False
        """Whether the last line that was taken had no newline yet."""

    def look(self) -> None:
        """Index what was added to the file since the last time; index it again if it is another file, or shorter.

        Raises:
            DataError: the file cannot be read.
        """
        with self._lock:
            try:
                self._read_at = plain_copy(self.path)
                if self._read_to is None or not self._read_to.continues(self._read_at):
                    self._forget()
                if self._read_at.stat().st_size > self._end:
                    self._read_on()
                self._read_to = end_of(self._read_at, self._end)
            except OSError as error:
                raise DataError(f"cannot be read: {error.strerror or error}", path=self.path) from error

    def _read_on(self) -> None:
        with io.BufferedReader(io.FileIO(self._read_at), _BLOCK) as file:
            file.seek(self._end)
            if self._unended and file.peek(1)[:1] == b"\n":
                self._end += len(file.read(1))
            self._unended = False
            while lines := file.readlines(_BLOCK):
                torn = not lines[-1].endswith(b"\n")  # what follows it by now comes with the next look
                self._unended = torn and _is_whole(lines[-1])
                self._take(lines[:-1] if torn and not self._unended else lines)
                if torn:
                    break

    def _take(self, lines: list[bytes]) -> None:
        starts = array("q", accumulate(map(len, lines), initial=self._end))
        unknown = self._numbers.unknown
        questions = array("i", map(self._numbers.__getitem__, map(_head, lines)))
        if self._numbers.unknown != unknown:
            for at, line in enumerate(lines):
                if questions[at] == _NONE and line.strip():
                    key = _id_of(line)
                    if key is None:
                        self.damaged.append(len(self._starts) + at + 1)
                    else:
                        questions[at] = self._numbers.number(key)
        self._end = starts.pop()
        self._starts.extend(starts)
        self._questions.extend(questions)

    def __len__(self) -> int:
        """Return how many questions have a row."""
        return len(self._numbers.of)

    def __contains__(self, key: object) -> bool:
        return key in self._numbers.of

    def questions(self) -> set[QuestionId]:
        """Return the questions that have a row."""
        with self._lock:
            return set(self._numbers.of)

    def rows(self, key: QuestionId) -> Iterator[Row | DataError]:
        """Yield the rows of a question as they stand in the file; for one that is damaged, what is wrong with it."""
        try:
            places = self._places_of(key)
            if not places:
                return
            with self._read_at.open("rb") as file:
                for at, line in places:
                    file.seek(at)
                    yield self._row(line, file.readline(_LONGEST))
        except OSError as error:
            yield DataError(f"cannot be read: {error.strerror or error}", path=self.path)

    def _places_of(self, key: QuestionId) -> list[tuple[int, int]]:
        """Return for each row of a question where it begins, and the number of its line."""
        import numpy as np

        with self._lock:
            number = self._numbers.of.get(key)
            if number is None:
                return []
            found = np.flatnonzero(np.array(self._questions) == number).tolist()
            return [(self._starts[at], at + 1) for at in found]

    def _row(self, line: int, data: bytes) -> Row | DataError:
        try:
            return row_of(self.path, line, value_of(self.path, line, data))
        except DataError as error:
            return error


def stamp(path: pathlib.Path) -> tuple[tuple[int, int, int], ...] | None:
    """Return what changes whenever the file, or a part of it, does; None if there is none."""
    try:
        found = [os.stat(file) for file in files_of(path)]
    except OSError:
        return None
    return tuple((file.st_ino, file.st_size, file.st_mtime_ns) for file in found) or None


def _id_at(line: bytes) -> QuestionId | None:
    """Return the question's id if a line begins with it, as all tools write it; the end of the line may be missing."""
    found = _ID_FIRST.match(line)
    if not found:
        return None
    try:
        return int(found[1]) if found[1] else question_id(found[2].decode())
    except UnicodeDecodeError:
        return None


def _id_of(line: bytes) -> QuestionId | None:
    """Return the question's id on a line, wherever it stands."""
    key: Any = _id_at(line)
    if key is None:
        value = _value(line)
        key = value.get("question_id") if isinstance(value, dict) else None
    return question_id(key) if isinstance(key, int | str) and not isinstance(key, bool) else None


def _is_whole(line: bytes) -> bool:
    return isinstance(_value(line), dict)


def _value(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None
