"""Where in a JSON Lines file the rows of each question begin, so that one question is read without the rest.

The file is looked through once, without decoding its rows, and from there on only what was added to it. A row without
a newline at its end is still being written, and comes with the next look.
"""

import json
import os
import pathlib
import re
import threading
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from harness.errors import DataError
from harness.jsonl import Row, row_of, value_of
from harness.records import QuestionId
from harness.rows import question_id

_ID_FIRST = re.compile(rb'\s*\{\s*"question_id"\s*:\s*(?:(-?\d{1,18})\s*[,}]|"([^"\\]{1,200})")')
_LONGEST = 64 * 1024 * 1024
"""Bytes of a row that is still read."""


class Places:
    """The places of the rows of one file."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self.damaged: list[int] = []
        """Numbers of the lines in which no question's id can be found; those that are whole only."""
        self._rows: dict[QuestionId, list[tuple[int, int]]] = defaultdict(list)
        self._end = 0
        self._lines = 0
        self._file: tuple[int, int] | None = None
        self._lock = threading.Lock()

    def look(self) -> None:
        """Take in what was added to the file since the last look; everything anew if it is another file, or shorter.

        Raises:
            DataError: the file cannot be read.
        """
        with self._lock:
            try:
                now = self.path.stat()
                if self._file != (now.st_dev, now.st_ino) or now.st_size < self._end:
                    self._rows.clear()
                    self.damaged.clear()
                    self._end = self._lines = 0
                    self._file = (now.st_dev, now.st_ino)
                if now.st_size > self._end:
                    self._read_on()
            except OSError as error:
                raise DataError(f"cannot be read: {error.strerror or error}", path=self.path) from error

    def _read_on(self) -> None:
        with self.path.open("rb") as file:
            file.seek(self._end)
            at = self._end
            for line in file:
                if not line.endswith(b"\n") and not _is_whole(line):
                    break
                self._lines += 1
                if line.strip():
                    key = _id_of(line)
                    if key is None:
                        self.damaged.append(self._lines)
                    else:
                        self._rows[key].append((at, self._lines))
                at += len(line)
            self._end = at

    def __len__(self) -> int:
        """Return how many questions have a row."""
        return len(self._rows)

    def __contains__(self, key: object) -> bool:
        return key in self._rows

    def questions(self) -> set[QuestionId]:
        """Return the questions that have a row."""
        with self._lock:
            return set(self._rows)

    def rows(self, key: QuestionId) -> Iterator[Row | DataError]:
        """Yield the rows of a question as they stand in the file; for one that is damaged, what is wrong with it."""
        places = self._rows.get(key)
        if not places:
            return
        try:
            with self.path.open("rb") as file:
                for at, line in list(places):
                    file.seek(at)
                    yield self._row(line, file.readline(_LONGEST))
        except OSError as error:
            yield DataError(f"cannot be read: {error.strerror or error}", path=self.path)

    def _row(self, line: int, data: bytes) -> Row | DataError:
        try:
            return row_of(self.path, line, value_of(self.path, line, data))
        except DataError as error:
            return error


def stamp(path: pathlib.Path) -> tuple[int, int, int] | None:
    """Return what changes whenever the file does; None if there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return (found.st_ino, found.st_size, found.st_mtime_ns)


def _id_of(line: bytes) -> QuestionId | None:
    """Return the question's id on a line: from its beginning, where all tools write it, or else from all of it."""
    found = _ID_FIRST.match(line)
    if found:
        try:
            return int(found[1]) if found[1] else question_id(found[2].decode())
        except UnicodeDecodeError:
            return None
    value = _value(line)
    key: Any = value.get("question_id") if isinstance(value, dict) else None
    return question_id(key) if isinstance(key, int | str) and not isinstance(key, bool) else None


def _is_whole(line: bytes) -> bool:
    return isinstance(_value(line), dict)


def _value(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None
