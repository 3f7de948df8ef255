"""A model's answers read one at a time, and of each only the requested parts; the rest of the file is skipped.

    stored = StoredAnswers(bench.answer_file("x"), "x")
    stored.questions              {81: ..., 82: ...}      of rows with equal ids the last valid one counts
    stored.texts(81)              its choices, without what is stored beside their texts
    stored.costs(81)              its replies without their texts, with the length of each

A file is scanned once for the offsets of its rows; an answer is decoded on request, and not kept. So
memory grows with the number of rows, not with their texts. A compressed file is unpacked into a
temporary file, which has no name and is deleted with the object.
"""

import contextlib
import pathlib
from dataclasses import replace
from typing import IO, Annotated, NamedTuple, Self, TypeAlias

import msgspec

from harness.old.errors import DataError
from harness.old.jsonl import files_of, row_of, value_of, warn_of_torn
from harness.old.jsonl.files import is_packed, lines_in, unreadable
from harness.old.records import Answer, FinishReason, QuestionId, Reply, Usage
from harness.old.rows import FAILED_TEXT, MOST_SCORE, answer_from_row, question_id

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


_id_of = msgspec.json.Decoder(_Id).decode
_row_of = msgspec.json.Decoder(_Row).decode
_REFUSALS = (msgspec.MsgspecError, UnicodeError, OverflowError, RecursionError)
"""What a row is that only `answer_from_row` reads, or says what is wrong with."""


class Said(NamedTuple):
    """A reply that the model wrote."""

    reply: Reply
    """Without its text."""
    characters: int


class _Place(NamedTuple):
    """Where the row of an answer is."""

    path: pathlib.Path
    line: int
    start: int
    length: int


class StoredAnswers:
    """A model's answers, by question; used as a context manager, which removes what was unpacked."""

    def __init__(self, path: pathlib.Path, model: str) -> None:
        """Scan the files for the offsets of rows; a broken last line is left out with a warning.

        Raises:
            DataError: a file cannot be read, or a line is not a row of an answer.
        """
        self.path, self.model = path, model
        self.questions: dict[QuestionId, _Place] = {}
        """For each question with an answer the place of its row."""
        self._unpacked: dict[pathlib.Path, IO[bytes]] = {}
        self._question: QuestionId | None = None
        self._texts: list[Texts] = []
        """The last requested answer."""
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
        except _REFUSALS:
            unsure = True
        if unsure:
            try:
                value = value_of(place.path, place.line, line)
            except DataError as error:
                return error
            answer = self._answer(place, value)
            if answer is None:
                return None
            key = answer.question_id
        self.questions[key] = place
        return None

    def _line(self, question: QuestionId) -> bytes:
        path, _, start, length = self.questions[question]
        try:
            copy = self._unpacked.get(path)
            with path.open("rb", buffering=0) if copy is None else contextlib.nullcontext(copy) as rows:
                rows.seek(start)
                return rows.read(length)
        except OSError as error:
            raise unreadable(path, error) from error

    def _whole(self, question: QuestionId, line: bytes) -> Answer:
        """Return the whole answer on a line, or what is wrong with the line."""
        place = self.questions[question]
        answer = self._answer(place, value_of(place.path, place.line, line))
        if answer is None:
            raise DataError("changed while it was read; run this again", path=place.path)
        return answer

    def _answer(self, place: _Place, value: object) -> Answer | None:
        row = row_of(place.path, place.line, value).value
        return answer_from_row(row, place.path, place.line, model=self.model)


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
