"""A model's answers read one at a time, the rest of the file is stepped over.

    stored = StoredAnswers(bench.answer_file("x"), "x")
    stored.questions              {81: ..., 82: ...}      of rows with equal ids the last good one counts
    stored.answer(81)             the answer to one of them

A file is looked through once for the places of its rows; an answer is decoded when it is asked for, and of all of them
the last one is kept. So memory grows with the number of rows, not with their texts. What is compressed is unpacked into
a temporary file, which has no name and goes with the object.
"""

import contextlib
import pathlib
from typing import IO, NamedTuple, Self

import msgspec

from harness.errors import DataError
from harness.jsonl import files_of, row_of, value_of, warn_of_torn
from harness.jsonl.files import is_packed, lines_in, unreadable
from harness.records import Answer, QuestionId
from harness.rows import FAILED_TEXT, answer_from_row, question_id

_FAILED = FAILED_TEXT.encode()


class _Id(msgspec.Struct, gc=False):
    question_id: int | str


_id_of = msgspec.json.Decoder(_Id).decode


class _Place(NamedTuple):
    """Where the row of an answer is."""

    path: pathlib.Path
    line: int
    start: int
    length: int


class StoredAnswers:
    """A model's answers, by question; used as a context manager, which removes what was unpacked."""

    def __init__(self, path: pathlib.Path, model: str) -> None:
        """Look through the files for the places of rows; a broken last line is left out with a warning.

        Raises:
            DataError: a file cannot be read, or a line is no row of an answer.
        """
        self.path, self.model = path, model
        self.questions: dict[QuestionId, _Place] = {}
        """For each question with an answer the place of its row."""
        self._unpacked: dict[pathlib.Path, IO[bytes]] = {}
        self._last: Answer | None = None
        with contextlib.ExitStack() as opened:
            for file in files_of(path) or [path]:
                self._look(file, opened)
            self._close = opened.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._close.close()

    def answer(self, question: QuestionId) -> Answer:
        """Return the answer to a question of `questions`.

        Raises:
            DataError: its row is not what it must be.
        """
        if self._last is None or self._last.question_id != question:
            place = self.questions[question]
            self._last = self._decoded(place, value_of(place.path, place.line, self._line(place)))
            if self._last is None:
                raise DataError("has changed while it was read; run this again", path=place.path)
        return self._last

    def _look(self, path: pathlib.Path, until: contextlib.ExitStack) -> None:
        """Note where the rows of a file begin."""
        import tempfile  # few files are packed

        start, torn = 0, None
        copy: IO[bytes] | None = until.enter_context(tempfile.TemporaryFile()) if is_packed(path) else None  # noqa: SIM115
        for number, line in enumerate(lines_in(path), 1):
            if line.strip():
                if torn is not None:
                    raise torn
                torn = self._take(_Place(path, number, start, len(line)), line)
            if copy is not None:
                copy.write(line)
            start += len(line)
        if torn is not None:
            warn_of_torn(torn)
        if copy is not None:
            self._unpacked[path] = copy

    def _take(self, place: _Place, line: bytes) -> DataError | None:
        """Note the place of a row; return what is wrong with a line that is no JSON."""
        try:
            key = question_id(_id_of(line).question_id)
            unsure = _FAILED in line
        except (msgspec.MsgspecError, UnicodeError, OverflowError, RecursionError):
            unsure = True
        if unsure:
            try:
                value = value_of(place.path, place.line, line)
            except DataError as error:
                return error
            answer = self._decoded(place, value)
            if answer is None:
                return None
            key = answer.question_id
        self.questions[key] = place
        return None

    def _line(self, place: _Place) -> bytes:
        try:
            copy = self._unpacked.get(place.path)
            with place.path.open("rb", buffering=0) if copy is None else contextlib.nullcontext(copy) as rows:
                rows.seek(place.start)
                return rows.read(place.length)
        except OSError as error:
            raise unreadable(place.path, error) from error

    def _decoded(self, place: _Place, value: object) -> Answer | None:
        row = row_of(place.path, place.line, value).value
        return answer_from_row(row, place.path, place.line, model=self.model)
