"""Lines of a judgment file -> columns: typed and fast where a line is as usual, and as `harness.rows` says where not.

The texts, nearly all of a file, are stepped over and never made into objects. A line that the typed reading refuses (a
number in quotes, a field of ours that others use otherwise, half a character, no JSON at all) is read again the long
way, which alone decides what is an error and how it is told. So both ways must agree; the typed one only refuses more.
What it cannot see is a number of over 4,300 digits in a field that nobody reads.
"""

import pathlib
import sys
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Annotated, Any, BinaryIO, Literal, NamedTuple, TypeAlias

import msgspec

from harness.errors import DataError
from harness.jsonl import row_of, value_of
from harness.results.columns import WINNERS, Asked, Case, Comparisons, Ratings
from harness.rows import (
    FAILED_WINNER,
    comparison_from_row,
    judge_set_text,
    question_id,
    rating_from_row,
    sampling_text,
)

Kind: TypeAlias = type[Ratings] | type[Comparisons]

_BLOCK = 1 << 17
"""Bytes of lines that are decoded together; as much as stays in a processor's nearer caches."""
_PAIR = frozenset({"model_1", "model_2", "g1_winner", "g2_winner", "model_a", "model_b", "winner"})
_SINGLE = frozenset({"model", "score"})
_Absent: TypeAlias = Literal["\0"]
"""The type of a field that makes the row one of another kind: whatever it holds, the line is refused."""
_Number: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**53), le=2**53)] | float
"""A score that is a float or equals one."""
_Winner: TypeAlias = Literal["model_1", "model_2", "tie", "error"]


class _RefusedError(ValueError):
    """A line is not as usual; the long way says what it is."""


_REFUSALS = (_RefusedError, msgspec.MsgspecError, UnicodeDecodeError, OverflowError, RecursionError)


class _Sampling(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    temperature: int | float | msgspec.UnsetType = msgspec.UNSET
    max_tokens: int | msgspec.UnsetType = msgspec.UNSET
    top_p: int | float | msgspec.UnsetType = msgspec.UNSET
    seed: int | msgspec.UnsetType = msgspec.UNSET


class _MadeFrom(msgspec.Struct, frozen=True):
    question: str | None = None


class _SingleLine(msgspec.Struct, gc=False, kw_only=True):
    """What is read of a grade, in the order and types in which rows usually have it."""

    question_id: int | str
    model: str
    judge: tuple[str, ...] | str
    score: _Number
    turn: int
    judge_set: str | None = None
    judge_set_version: str | int | None = None
    criterion: str | None = None
    sample: int | None = None
    choice: int | str | None = None
    sampling: _Sampling | None = None
    made_from: _MadeFrom | None = None
    model_1: _Absent = "\0"
    model_2: _Absent = "\0"
    g1_winner: _Absent = "\0"
    g2_winner: _Absent = "\0"
    model_a: _Absent = "\0"
    model_b: _Absent = "\0"
    winner: _Absent = "\0"


class _PairLine(msgspec.Struct, gc=False, kw_only=True):
    """What is read of a pair, likewise."""

    question_id: int | str
    model_1: str
    model_2: str
    g1_winner: _Winner
    g2_winner: _Winner
    judge: tuple[str, ...] | str
    turn: int
    judge_set: str | None = None
    judge_set_version: str | int | None = None
    criterion: str | None = None
    sample: int | None = None
    choice: int | str | None = None
    sampling: _Sampling | None = None
    made_from: _MadeFrom | None = None
    model_a: _Absent = "\0"


_MADE = ("turn", "choice", "sample", "criterion", "judge_set", "judge_set_version", "sampling")


class _Form(NamedTuple):
    """How lines of one kind are taken apart."""

    kind: Kind
    decode: Callable[[bytes], Any]
    case: Callable[[Any], tuple[Any, ...]]
    meaning: Callable[..., Case]
    verdicts: Callable[[Sequence[Any]], list[Any]]


class _Codes(dict[tuple[Any, ...], int]):
    """Numbers for what lines hold, each made once: as it stands -> the place of what it means in `known`."""

    def __init__(self, known: dict[Any, int], meaning: Callable[..., Any]) -> None:
        super().__init__()
        self.known, self.meaning = known, meaning

    def __missing__(self, key: tuple[Any, ...]) -> int:
        code = self.known.setdefault(self.meaning(*key), len(self.known))
        self[key] = code
        return code


def _asked_meant(key: int | str, judge: tuple[str, ...] | str, made_from: _MadeFrom | None) -> Asked:
    """Return what a line means that holds this, or refuse it."""
    name, template = (judge, None) if isinstance(judge, str) else (*judge, None, None)[:2]
    if not name or (isinstance(key, str) and not key.strip()):
        raise _RefusedError
    return Asked(question_id(key), name, None, template, made_from.question if made_from else None)


def _single_meant(model: str, *made: Any) -> Case:
    return _case((model,), *made)


def _pair_meant(model_1: str, model_2: str, *made: Any) -> Case:
    return _case((model_1, model_2), *made)


def _case(
    models: tuple[str, ...],
    turn: int,
    choice: int | str | None,
    sample: int | None,
    criterion: str | None,
    judge_set: str | None,
    version: str | int | None,
    sampling: _Sampling | None,
) -> Case:
    """Return what a line means that holds this, or refuse it."""
    if turn < 1 or not all(map(str.strip, models)):
        raise _RefusedError
    stated = None if sampling is None else msgspec.structs.asdict(sampling)
    if stated is not None:
        stated = {name: value for name, value in stated.items() if value is not msgspec.UNSET}
    made = judge_set_text(judge_set, version), sampling_text(stated)
    return Case(tuple(map(sys.intern, models)), turn, *made, sample or 0, criterion, str(choice or 0))


_winners = attrgetter("g1_winner", "g2_winner")
_VERDICT = {
    tuple(FAILED_WINNER if winner is None else winner for winner in both): code
    for code, both in enumerate(WINNERS)
    if len(both) == 2
}
_FORMS: Mapping[Kind, _Form] = {
    Ratings: _Form(
        Ratings,
        msgspec.json.Decoder(_SingleLine).decode,
        attrgetter("model", *_MADE),
        _single_meant,
        lambda lines: [line.score for line in lines],
    ),
    Comparisons: _Form(
        Comparisons,
        msgspec.json.Decoder(_PairLine).decode,
        attrgetter("model_1", "model_2", *_MADE),
        _pair_meant,
        lambda lines: list(map(_VERDICT.__getitem__, map(_winners, lines))),
    ),
}
_asked = attrgetter("question_id", "judge", "made_from")


def _next_lines(file: BinaryIO, end: int | None) -> list[bytes]:
    """Return the next lines before a place of the file, about a block of them; none if there are no more."""
    left = _BLOCK if end is None else min(_BLOCK, end - file.tell())
    # Lines are read until there are more bytes than asked for, and 0 asks for all.
    return file.readlines(left - 1) if left > 1 else [file.readline()] if left else []


class Torn(NamedTuple):
    """A line that is no JSON, and is left out if nothing follows it."""

    number: int
    line: bytes


class Part:
    """The judgments on a range of lines of a file."""

    kind: Kind | None = None
    """None while there is no row."""
    torn: Torn | None = None

    def __init__(self, path: pathlib.Path, lines_before: int = 0) -> None:
        self.path = path
        self.lines = lines_before
        """Lines of the file so far."""
        self.columns: Ratings | Comparisons = Ratings()
        """What was read, but for its tables, which are `cases` and `asked`."""
        self.cases: dict[Case, int] = {}
        self.asked: dict[Asked, int] = {}
        self._asked_codes = _Codes(self.asked, _asked_meant)
        self._take_as(_FORMS[Ratings])

    def read(self, start: int, end: int | None) -> None:
        """Read the lines between two places of the file, both at the start of a line (None: to the end).

        Raises:
            DataError: the file cannot be read, or a line is not what it must be.
        """
        try:
            with self.path.open("rb", buffering=2 * _BLOCK) as file:
                if start:
                    file.seek(start)
                while lines := _next_lines(file, end):
                    self.take(lines)
        except OSError as error:
            raise DataError(f"cannot be read: {error.strerror or error}", path=self.path) from error

    def take(self, lines: Sequence[bytes]) -> None:
        """Add the judgments on these lines, the next of the file."""
        if self.torn is not None or not self._take_usual(lines):
            for number, line in enumerate(lines, self.lines + 1):
                if line.strip():
                    self._no_longer_last()
                    if not self._take_usual((line,)):
                        self._take_long_way(number, line)
        self.lines += len(lines)

    def _no_longer_last(self) -> None:
        """Raise the error of a torn line that other lines follow."""
        if self.torn is not None:
            value_of(self.path, *self.torn)

    def finished(self) -> Ratings | Comparisons:
        """Return what was read."""
        self.columns.cases, self.columns.asked = list(self.cases), list(self.asked)
        return self.columns

    def _take_as(self, form: _Form) -> None:
        self._form = form
        self._case_codes = _Codes(self.cases, form.meaning)

    def _take_usual(self, lines: Sequence[bytes]) -> bool:
        """Add the lines if all of them are as usual; else return False, and nothing has been added."""
        form = self._form
        try:
            if not all(map(bytes.isascii, lines)):
                for line in lines:
                    line.decode("utf-8", "surrogatepass")
            read = list(map(form.decode, lines))
            cases = list(map(self._case_codes.__getitem__, map(form.case, read)))
            asked = list(map(self._asked_codes.__getitem__, map(_asked, read)))
        except _REFUSALS:
            return False
        self.kind = form.kind
        self._append(cases, asked, form.verdicts(read))
        return True

    def _take_long_way(self, number: int, line: bytes) -> None:
        """Add a line whatever its types are, or raise `DataError`."""
        try:
            value = value_of(self.path, number, line)
        except DataError:
            self.torn = Torn(number, line)
            return
        row = row_of(self.path, number, value).value
        choice = str(row.get("choice") or 0)
        if row.keys() & _PAIR:
            pair = comparison_from_row(row, self.path, number)
            self._add(number, Comparisons, *Comparisons.apart(pair, choice), Comparisons.verdict(pair))
        elif row.keys() & _SINGLE:
            rating = rating_from_row(row, self.path, number)
            self._add(number, Ratings, *Ratings.apart(rating, choice), Ratings.verdict(rating))
        else:
            what = "a grade (model, score), a pair (model_1, model_2, g1_winner, g2_winner)"
            raise DataError(f"neither {what} nor a vote (model_a, model_b, winner)", path=self.path, line=number)

    def _add(self, number: int, kind: Kind, case: Case, asked: Asked, verdict: float) -> None:
        if self.kind is None:
            self.kind, self.columns = kind, kind()
            self._take_as(_FORMS[kind])
        if kind is not self.kind:
            raise DataError("grades and pairs in one file; split it", path=self.path, line=number)
        codes = self.cases.setdefault(case, len(self.cases)), self.asked.setdefault(asked, len(self.asked))
        self._append([codes[0]], [codes[1]], [verdict])

    def _append(self, cases: list[int], asked: list[int], verdicts: list[Any]) -> None:
        self.columns.add_cases(len(self.cases))
        asked_of, verdicts_of = self.columns.asked_of, self.columns.verdicts_of
        for case, about, verdict in zip(cases, asked, verdicts, strict=True):
            asked_of[case].append(about)
            verdicts_of[case].append(verdict)
        self.columns.order.fromlist(cases)
