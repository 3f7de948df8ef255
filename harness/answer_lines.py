"""A model's answers read one at a time, and of each only what is asked for; the rest of the file is stepped over.

    stored = StoredAnswers(bench.answer_file("x"), "x")
    stored.questions              {81: 0, 82: 1, ...}     of rows with equal ids the last good one counts
    stored.texts(81)              its choices, without what is stored beside their texts
    stored.costs(81)              its replies without their texts, with the length of each

A file is looked through once for the places of its rows; an answer is decoded when it is asked for, and not kept. So
memory grows with the number of rows by some bytes, not with their texts. What is compressed is unpacked into a
temporary file, which has no name and goes with the object.
"""

import contextlib
import pathlib
from array import array
from bisect import bisect_right
from dataclasses import replace
from itertools import islice
from operator import itemgetter
from typing import IO, Annotated, NamedTuple, Self, TypeAlias

import msgspec

from harness.errors import DataError
from harness.jsonl import files_of, row_of, value_of, warn_of_torn
from harness.jsonl.files import is_packed, lines_in, unreadable
from harness.records import Answer, FinishReason, QuestionId, Reply, Usage
from harness.rows import FAILED_TEXT, MOST_SCORE, answer_from_row, question_id

_FAILED = FAILED_TEXT.encode()
_Seconds: TypeAlias = Annotated[float, msgspec.Meta(ge=-MOST_SCORE, le=MOST_SCORE)]


class _Id(msgspec.Struct, gc=False):
    question_id: int | str


class _Details(msgspec.Struct, gc=False):
    finish_reason: FinishReason = "unstated"
    usage: Usage = Usage()
    seconds: _Seconds | None = None
    provider_model: str | None = None
    from_cache: bool = False
    batch: bool = False
    given: str | None = None


class Texts(msgspec.Struct, gc=False):
    """The texts of a choice; see `records.Choice`."""

    turns: list[str]
    """Of a conversation with a played user the one transcript."""
    index: int | None = None
    """None: its place among the choices."""
    history: list[str] = []
    user: bool | None = None
    """Whether a chat model played the user."""
    details: list[_Details] = []
    """Of each turn; none where another tool wrote the row."""

    def so_far(self, turn: int) -> list[str]:
        """Return the assistant's turns of the conversation that a turn's reply ends, that reply included."""
        before = self.history[: turn - 1]
        return [*before, *self.turns[len(before) : turn]]


class _Row(msgspec.Struct, gc=False):
    choices: list[Texts]


_MOST_OPEN = 256
"""Files that are kept open; systems allow a process about a thousand."""
_open: set[IO[bytes]] = set()
_id_of = msgspec.json.Decoder(_Id).decode
_row_of = msgspec.json.Decoder(_Row).decode
_REFUSALS = (msgspec.MsgspecError, UnicodeError, OverflowError, RecursionError)
"""What a row is that only `answer_from_row` reads, or says what is wrong with."""


class Said(NamedTuple):
    """A reply that the model wrote."""

    reply: Reply
    """Without its text."""
    characters: int


class _File(NamedTuple):
    """One of the files that hold a model's answers."""

    first: int
    """The number of its first row."""
    path: pathlib.Path
    size: int
    rows: IO[bytes] | None
    """Its rows unpacked; None: it is opened anew for each, since too many are open."""


class StoredAnswers:
    """A model's answers, by question; used as a context manager, which closes the files."""

    def __init__(self, path: pathlib.Path, model: str) -> None:
        """Look through the files for the places of rows; a broken last line is left out with a warning.

        Raises:
            DataError: a file cannot be read, or a line is no row of an answer.
        """
        self.path, self.model = path, model
        self.questions: dict[QuestionId, int] = {}
        """For each question with an answer the number of its row among all."""
        self._starts = array("q")
        """For each row where it begins in its file."""
        self._files: list[_File] = []
        self._question: QuestionId | None = None
        self._texts: list[Texts] = []
        """The answer that was asked for last."""
        with contextlib.ExitStack() as opened:
            for file in files_of(path) or [path]:
                self._look(file, opened)
            self._close = opened.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._close.close()

    def texts(self, question: QuestionId, choice: int) -> Texts:
        """Return a choice of the answer to a question of `questions`; where there is none of that number, the first.

        Raises:
            DataError: its row is not what it must be.
        """
        if question != self._question:
            self._question, self._texts = question, self._choices(self._line(question), question)
        if len(self._texts) == 1:
            return self._texts[0]
        of_number = (own for at, own in enumerate(self._texts) if choice == (at if own.index is None else own.index))
        return next(of_number, self._texts[0])

    def _choices(self, line: bytes, question: QuestionId) -> list[Texts]:
        return _decoded(line) or [
            Texts([own.transcript], own.index, [], user=True)
            if own.user
            else Texts(list(own.turns), own.index, list(own.history))
            for own in self._whole(question, line).choices
        ]

    def costs(self, question: QuestionId) -> list[Said]:
        """Return the replies of the answer to a question that the model wrote itself; raises as `texts` does."""
        line = self._line(question)
        if choices := _decoded(line):
            stated = ((own.turns, own.details or [_Details()] * len(own.turns)) for own in choices)
            each = (pair for own in stated for pair in zip(*own, strict=True))
            return [Said(_reply(about), len(text)) for text, about in each if about.given is None]
        replies = [reply for choice in self._whole(question, line).choices for reply in choice.replies]
        light = ((replace(reply, text="", reasoning=None), len(reply.text)) for reply in replies if reply.given is None)
        return [Said(*own) for own in light]

    def _look(self, path: pathlib.Path, until: contextlib.ExitStack) -> None:
        """Note where the rows of a file begin."""
        first, place, torn = len(self._starts), 0, None
        import tempfile  # few files are packed

        copy: IO[bytes] | None = until.enter_context(tempfile.TemporaryFile()) if is_packed(path) else None  # noqa: SIM115
        for number, line in enumerate(lines_in(path), 1):
            if line.strip():
                if torn is not None:
                    raise torn
                torn = self._take(path, number, line)
                self._starts.append(place)
            if copy is not None:
                copy.write(line)
            place += len(line)
        if torn is not None:
            warn_of_torn(torn)
        if copy is None and len(_open) < _MOST_OPEN:
            try:
                copy = until.enter_context(path.open("rb", buffering=0))
            except OSError as error:
                raise unreadable(path, error) from error
        if copy is not None:
            _open.add(copy)
            until.callback(_open.discard, copy)
        self._files.append(_File(first, path, place, copy))

    def _take(self, path: pathlib.Path, number: int, line: bytes) -> DataError | None:
        """Note the question of the row that comes next; return what is wrong with a line that is no JSON."""
        try:
            key = question_id(_id_of(line).question_id)
            unsure = _FAILED in line
        except _REFUSALS:
            unsure = True
        if unsure:
            try:
                value = value_of(path, number, line)
            except DataError as error:
                return error
            answer = answer_from_row(row_of(path, number, value).value, path, number, model=self.model)
            if answer is None:
                return None
            key = answer.question_id
        self.questions[key] = len(self._starts)
        return None

    def _line(self, question: QuestionId) -> bytes:
        number = self.questions[question]
        at = self._file(number)
        start = self._starts[number]
        own = self._files[at]
        last = number + 1 == (self._files[at + 1].first if at + 1 < len(self._files) else len(self._starts))
        length = (own.size if last else self._starts[number + 1]) - start
        try:
            with own.path.open("rb", buffering=0) if own.rows is None else contextlib.nullcontext(own.rows) as rows:
                rows.seek(start)
                return rows.read(length)
        except OSError as error:
            raise unreadable(own.path, error) from error

    def _file(self, number: int) -> int:
        """Return which of the files holds a row."""
        return bisect_right(self._files, number, key=itemgetter(0)) - 1

    def _whole(self, question: QuestionId, line: bytes) -> Answer:
        """Return the answer that a line holds with everything in it, or say what is wrong with the line."""
        first, path, *_ = self._files[self._file(self.questions[question])]
        with contextlib.suppress(DataError):
            if answer := answer_from_row(row_of(path, 0, value_of(path, 0, line)).value, path, 0, model=self.model):
                return answer
        rows = ((number, own) for number, own in enumerate(lines_in(path), 1) if own.strip())
        for number, line in islice(rows, self.questions[question] - first, None):
            answer_from_row(row_of(path, number, value_of(path, number, line)).value, path, number, model=self.model)
            break
        raise DataError("has changed while it was read; run this again", path=path)


def _decoded(line: bytes) -> list[Texts] | None:
    """Return the choices on a line, or None where only `answer_from_row` reads it or says what is wrong with it."""
    with contextlib.suppress(*_REFUSALS):
        choices = _row_of(line).choices
        if choices and all(
            own.turns and own.user is None and len(own.details) in {0, len(own.turns)} for own in choices
        ):
            return choices
    return None


def _reply(about: _Details) -> Reply:
    return Reply(
        text="",
        finish_reason=about.finish_reason,
        usage=about.usage,
        seconds=about.seconds,
        model=about.provider_model,
        from_cache=about.from_cache,
        batch=about.batch,
    )
