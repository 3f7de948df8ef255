"""Lines of a judgment file -> columns: typed and fast where lines are as usual, and as `harness.rows` says where not.

The texts, nearly all of a file, are stepped over and never made into objects. Lines that the typed reading refuses (a
number in quotes, a field of ours that others use otherwise, half a character, no JSON at all) are read again the long
way, one by one, which alone decides what is an error and how it is told. So both ways must agree; the typed one only
refuses more. What it does not see is a number of over 4,300 digits in a field that nobody reads, and, past the first
block, rows that share a line or go over several: they count as the rows that they are.
"""

import pathlib
import sys
from array import array
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from io import FileIO
from operator import attrgetter
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias

import msgspec

from harness.errors import DataError
from harness.jsonl import row_of, value_of
from harness.records import Comparison, Rating
from harness.results.reading.columns import WINNERS, Asked, Case, Comparisons, Ratings
from harness.rows import (
    FAILED_WINNER,
    MOST_SCORE,
    comparison_from_row,
    grades_between,
    judge_set_text,
    question_id,
    rating_from_row,
    sampling_text,
)

Kind: TypeAlias = type[Ratings] | type[Comparisons]

_BLOCK = 1 << 17
"""Bytes that are decoded together; as many as stay in a processor's nearer caches."""
_PAIR = frozenset({"model_1", "model_2", "g1_winner", "g2_winner", "model_a", "model_b", "winner"})
_SINGLE = frozenset({"model", "score"})
_Absent: TypeAlias = Literal["\0"]
"""The type of a field that usual lines of one form do not have: whatever it holds, the line is refused."""
_BOUNDS = msgspec.Meta(ge=-MOST_SCORE, le=MOST_SCORE)
_Score: TypeAlias = Annotated[int, _BOUNDS] | Annotated[float, _BOUNDS]
"""A number that is a float or equals one."""
_Ends: TypeAlias = tuple[int | float, int | float]
"""Of a scale; whole numbers stay such in each line, which is faster."""
_Winner: TypeAlias = Literal["model_1", "model_2", "tie", "error"]


class _UnusualError(ValueError):
    """A line is not as usual; the long way says what it is."""


_REFUSALS = (_UnusualError, msgspec.MsgspecError, UnicodeDecodeError, OverflowError, RecursionError)


class _Sampling(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    temperature: int | float | msgspec.UnsetType = msgspec.UNSET
    max_tokens: int | msgspec.UnsetType = msgspec.UNSET
    top_p: int | float | msgspec.UnsetType = msgspec.UNSET
    seed: int | msgspec.UnsetType = msgspec.UNSET


class _MadeFrom(msgspec.Struct, frozen=True):
    question: str | None = None


_Judge: TypeAlias = tuple[str, str] | str
_NEEDED: Mapping[Kind, Mapping[str, Any]] = {
    Ratings: {"question_id": int | str, "model": str, "judge": _Judge, "score": _Score, "turn": int},
    Comparisons: {
        "question_id": int | str,
        "model_1": str,
        "model_2": str,
        "g1_winner": _Winner,
        "g2_winner": _Winner,
        "judge": _Judge,
        "turn": int,
    },
}
"""The fields of every row in their usual order, in which they are found soonest."""
_OF_BOTH: Mapping[str, Any] = {
    "judge_set": str | None,
    "judge_set_version": str | int | None,
    "criterion": str | None,
    "sample": int | None,
    "choice": int | str | None,
    "score_method": str | None,
    "sampling": _Sampling | None,
    "made_from": _MadeFrom | None,
}
_OURS: Mapping[Kind, Mapping[str, Any]] = {Ratings: {"scale": _Ends | None, **_OF_BOTH}, Comparisons: _OF_BOTH}
"""The fields that only our rows have. A file without any is read a tenth faster if they are not asked for."""


class _Form(NamedTuple):
    """How lines of one kind are taken apart."""

    decode: Callable[[bytes | memoryview], list[Any]]
    case: Callable[[Any], tuple[Any, ...]]
    asked: Callable[[Any], tuple[Any, ...]]
    verdicts: Callable[[Sequence[Any]], list[Any]]
    meaning: Callable[..., Case]


@cache
def _form(kind: Kind, *, ours: bool) -> _Form:
    """Return the form of the lines of one kind, with or without our own fields."""
    absent = sorted((_PAIR if kind is Ratings else {"model_a"}) | ({} if ours else _OURS[kind]).keys())
    fields: list[Any] = list(_NEEDED[kind].items())
    fields += [(name, of, None) for name, of in _OURS[kind].items() if ours]
    fields += [(name, _Absent, "\0") for name in absent]
    line = msgspec.defstruct("Line", fields, kw_only=True, gc=False)
    more = tuple(_OURS[kind]) if ours else ()
    models = ("model",) if kind is Ratings else ("model_1", "model_2")
    return _Form(
        msgspec.json.Decoder(line).decode_lines,
        attrgetter(*models, "turn", *more[:-1]),
        attrgetter("question_id", "judge", *more[-1:]),
        _scores if kind is Ratings else _games,
        _single_meant if kind is Ratings else _pair_meant,
    )


_winners = attrgetter("g1_winner", "g2_winner")
_CODES = {
    tuple(FAILED_WINNER if winner is None else winner for winner in both): code
    for code, both in enumerate(WINNERS)
    if len(both) == 2
}


def _scores(lines: Sequence[Any]) -> list[float]:
    return [line.score for line in lines]


def _games(lines: Sequence[Any]) -> list[int]:
    return list(map(_CODES.__getitem__, map(_winners, lines)))


def _single_meant(model: str, turn: int, ends: _Ends | None = None, *made: Any) -> Case:
    scale = None if ends is None else grades_between(*map(float, ends))
    return _case_meant((model,), turn, *made)._replace(scale=scale)


def _pair_meant(model_1: str, model_2: str, turn: int, *made: Any) -> Case:
    return _case_meant((model_1, model_2), turn, *made)


def _case_meant(
    models: tuple[str, ...],
    turn: int,
    judge_set: str | None = None,
    version: str | int | None = None,
    criterion: str | None = None,
    sample: int | None = None,
    choice: int | str | None = None,
    score_method: str | None = None,
    sampling: _Sampling | None = None,
) -> Case:
    """Return what a line means that holds this, or refuse it."""
    if turn < 1 or not all(map(str.strip, models)):
        raise _UnusualError
    stated = None if sampling is None else msgspec.structs.asdict(sampling)
    if stated is not None:
        stated = {name: value for name, value in stated.items() if value is not msgspec.UNSET}
    made = judge_set_text(judge_set, version), sampling_text(stated)
    names, method = tuple(map(sys.intern, models)), score_method or "text"
    return Case(names, turn, *made, sample or 0, criterion, method, str(choice or 0))


def _asked_meant(key: int | str, judge: _Judge, made_from: _MadeFrom | None = None) -> Asked:
    """Return what a line means that holds this, or refuse it."""
    name, template = (judge, None) if isinstance(judge, str) else judge
    if not name or (isinstance(key, str) and not key.strip()):
        raise _UnusualError
    return Asked(question_id(key), name, None, template, made_from.question if made_from else None)


class _Codes(dict[tuple[Any, ...], int]):
    """Numbers for what lines hold, each made once: as it stands -> the place of what it means in `known`."""

    def __init__(self, known: dict[Any, int], meaning: Callable[..., Any]) -> None:
        super().__init__()
        self.known, self.meaning = known, meaning

    def __missing__(self, key: tuple[Any, ...]) -> int:
        code = self.known.setdefault(self.meaning(*key), len(self.known))
        self[key] = code
        return code


class Torn(NamedTuple):
    """A line that is no JSON, and is left out if nothing follows it."""

    place: int
    """Where in the file it begins."""
    line: bytes


class Part:
    """The judgments on a range of lines of a file."""

    kind: Kind | None = None
    """None while there is no row."""
    torn: Torn | None = None

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self.columns: Ratings | Comparisons = Ratings()
        """What was read, but for its tables, which are `cases` and `asked`."""
        self.cases: dict[Case, int] = {}
        self.asked: dict[Asked, int] = {}
        self._asked_codes = _Codes(self.asked, _asked_meant)
        self._take_as(Ratings, ours=False)
        self._begun = False
        self._places: array[int] | None = None
        """Where each line begins, if the file cannot be read again to count lines when there is an error to tell."""

    def finished(self) -> Ratings | Comparisons:
        """Return what was read."""
        self.columns.cases, self.columns.asked = list(self.cases), list(self.asked)
        return self.columns

    def read(self, start: int, end: int | None) -> None:
        """Read the lines between two places of the file, both at the start of a line (None: to the end).

        Raises:
            DataError: the file cannot be read, or a line is not what it must be.
        """
        try:
            with self.path.open("rb", buffering=0) as file:
                if start:
                    file.seek(start)
                if not file.seekable():
                    self._places = array("q")
                self._read(file, start, sys.maxsize if end is None else end)
        except OSError as error:
            raise DataError(f"cannot be read: {error.strerror or error}", path=self.path) from error

    def number(self, place: int) -> int:
        """Return the number of the line that begins at that place of the file."""
        if self._places is not None:
            return bisect_left(self._places, place) + 1
        number = 1
        with self.path.open("rb") as file:
            while place > 0 and (block := file.read(min(_BLOCK, place))):
                number += block.count(b"\n")
                place -= len(block)
        return number

    def _read(self, file: FileIO, place: int, end: int) -> None:
        """Read blocks; what one holds of a line that goes on stays, as the beginning of the next."""
        buffer, rest = bytearray(_BLOCK), 0
        while True:
            if rest == len(buffer):
                buffer.extend(bytes(rest))
            with memoryview(buffer) as view:
                held = rest + file.readinto(view[rest : rest + end - place - rest])
                if held == rest:
                    break
                cut = buffer.rfind(b"\n", rest, held) + 1
                if cut:
                    with view[:cut] as lines:
                        self._take(lines, place, ascii_only=buffer.isascii())
                    view[: held - cut] = view[cut:held]
                place, rest = place + cut, held - cut
        self._take_one_by_one(bytes(buffer[:rest]), place)

    def _take(self, lines: memoryview, place: int, *, ascii_only: bool) -> None:
        """Add the judgments on lines, the first of which begins at that place of the file."""
        count = None if self._begun else bytes(lines).count(b"\n")
        self._begun = True
        one_by_one = self.torn is not None or self._places is not None
        if one_by_one or not self._take_usual(lines, count, ascii_only=ascii_only):
            self._take_one_by_one(bytes(lines), place)

    def _take_one_by_one(self, lines: bytes, place: int) -> None:
        for line in lines.removesuffix(b"\n").split(b"\n"):
            if self._places is not None:
                self._places.append(place)
            if line.strip():
                if self.torn is not None:  # a line follows it, so it is an error
                    value_of(self.path, self.number(self.torn.place), self.torn.line)
                if not self._take_usual(line, 1, ascii_only=line.isascii()):
                    self._take_long_way(line, place)
            place += len(line) + 1

    def _take_as(self, kind: Kind, *, ours: bool) -> None:
        self._form, self._ours = _form(kind, ours=ours), ours
        self._case_codes = _Codes(self.cases, self._form.meaning)

    def _take_usual(self, lines: bytes | memoryview, count: int | None, *, ascii_only: bool) -> bool:
        """Add the lines if all of them are as usual; else return False, and nothing has been added.

        `count` is how many rows there must be, if that is known.
        """
        form = self._form
        try:
            if not ascii_only:
                str(lines, "utf-8", "surrogatepass")
            read = form.decode(lines)
            if count is not None and len(read) != count:
                return False
            cases = list(map(self._case_codes.__getitem__, map(form.case, read)))
            asked = list(map(self._asked_codes.__getitem__, map(form.asked, read)))
        except _REFUSALS:
            return False
        if self.kind is None:
            self.kind = Ratings
        self._append(cases, asked, form.verdicts(read))
        return True

    def _take_long_way(self, line: bytes, place: int) -> None:
        """Add a line whatever its types are, or raise `DataError`."""
        try:
            value = value_of(self.path, 0, line)
        except DataError:
            self.torn = Torn(place, line)
            return
        try:
            self._add(value, 0)
        except DataError:
            self._add(value, self.number(place))

    def _add(self, value: Any, number: int) -> None:
        row = row_of(self.path, number, value).value
        choice = str(row.get("choice") or 0)
        record: Rating | Comparison
        kind: Kind
        if row.keys() & _PAIR:
            record = comparison_from_row(row, self.path, number)
            kind, verdict, parts = Comparisons, Comparisons.verdict(record), Comparisons.apart(record, choice)
        elif row.keys() & _SINGLE:
            record = rating_from_row(row, self.path, number)
            kind, verdict, parts = Ratings, Ratings.verdict(record), Ratings.apart(record, choice)
        else:
            what = "a grade (model, score), a pair (model_1, model_2, g1_winner, g2_winner)"
            raise DataError(f"neither {what} nor a vote (model_a, model_b, winner)", path=self.path, line=number)
        if self.kind is None:
            self.kind, self.columns = kind, kind()
        if kind is not self.kind:
            raise DataError("grades and pairs in one file; split it", path=self.path, line=number)
        ours = self._ours or not _OURS[kind].keys().isdisjoint(row)
        if self._form is not _form(kind, ours=ours):
            self._take_as(kind, ours=ours)
        case, asked = parts
        codes = self.cases.setdefault(case, len(self.cases)), self.asked.setdefault(asked, len(self.asked))
        self._append([codes[0]], [codes[1]], [verdict])

    def _append(self, cases: list[int], asked: list[int], verdicts: list[Any]) -> None:
        self.columns.add_cases(len(self.cases))
        order = array("i", cases)
        self.columns.order.extend(order)
        asked_of, verdicts_of = self.columns.asked_of, self.columns.verdicts_of
        for apart in (1, 2):  # rows of one case, or of two by turns, as files have them that go through the questions
            if order[apart:] == order[:-apart]:
                abouts, given = array("i", asked), array(self.columns.typecode, verdicts)
                for first, case in enumerate(cases[:apart]):
                    asked_of[case].extend(abouts[first::apart])
                    verdicts_of[case].extend(given[first::apart])
                return
        for case, about, verdict in zip(cases, asked, verdicts, strict=True):
            asked_of[case].append(about)
            verdicts_of[case].append(verdict)
