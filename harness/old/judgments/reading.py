"""Judgment and vote files -> observations, block by block; one way for every line.

A block of lines is decoded together. If that fails, its lines are read one by one, which finds the line and says what
is wrong with it. A broken last line is left out with a warning: a run that was killed may have left it, or one that
still writes.
"""

import math
import pathlib
import sys
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from msgspec import UNSET

from harness.old.errors import DataError
from harness.old.jsonl import files_of, open_bytes, row_of, value_of, warn_of_torn
from harness.old.jsonl.files import MOST_LINE, broken, is_bounded, is_packed, most_unpacked, too_long, too_much, unreadable
from harness.old.jsonl.kept import Kept
from harness.old.judgments import line as lines_of
from harness.old.judgments.case import CONFIDENCE, OUTCOMES, SHARE, TOTAL, Asked, Case, Numbers, key_of
from harness.old.judgments.line import (
    ASKED,
    CASE,
    FAILED_SCORE,
    LABEL,
    MADE_FROM,
    SAMPLING,
    SCORE_OF,
    SCORES,
    WINNERS,
    WrongError,
)  # fmt: skip
from harness.old.records import Form, Games
from harness.old.written import takes_only

if TYPE_CHECKING:  # it needs numpy, and the processes that read a part of a large file do not
    from harness.old.judgments.columns import Store
    from harness.old.judgments.observations import Observations

ROOM = 1 << 17
"""Rows in memory from which on they are moved to where there is room for many."""
_BLOCK = 1 << 18
"""Bytes that are decoded together; as many as fit into a processor's nearer caches."""
_VARIES = object()
"""In the place of what the rows of a block would share, where they differ."""
_REFUSALS = (WrongError, msgspec.MsgspecError, UnicodeError, OverflowError, RecursionError, TypeError)
_PLURAL: Mapping[Form, str] = {"grade": "grades", "pair": "pairs", "label": "labels", "dimensions": "dimensions"}


class Read(NamedTuple):
    """What a file holds."""

    observations: "Observations"
    """Of rows with equal keys the last one with a verdict."""
    replaced: int
    """Rows that others with the same key replaced."""
    form: Form | None
    """What a judgment of the file holds; None if there is no row."""
    turned: int = 0
    """Of these rows, those that name the two models of a pair the other way round."""


class Torn(NamedTuple):
    """A line that is no JSON, and is left out if nothing follows it."""

    place: int
    """Where in the file it begins."""
    line: bytes


class _Codes:
    """Numbers for what lines hold, each made once: fields as they are written -> the place in `known` of their meaning.

    Of the fields those that all rows of a block share, nearly all, are looked up once for the block.
    """

    def __init__(self, known: dict[Any, int], meaning: Callable[..., Any]) -> None:
        self.known, self.meaning = known, meaning
        self._of_shared: dict[tuple[Any, ...], _OfRest] = {}

    def of(self, columns: Sequence[Sequence[Any]], shared: Sequence[Any]) -> list[int]:
        """Return the number of each row, given its fields column by column, and what `_shared` has of each column."""
        key = tuple(shared)
        codes = self._of_shared.get(key) or self._of_shared.setdefault(key, _OfRest(self, key))
        rest = [column for column, one in zip(columns, shared, strict=True) if one is _VARIES]
        own = rest[0] if len(rest) == 1 else zip(*rest, strict=True) if rest else repeat((), len(columns[0]))
        return list(map(codes.__getitem__, own))


class _OfRest(dict[Any, int]):
    """The numbers of those rows that share some fields, by the others: the one other field alone, or a tuple."""

    def __init__(self, whole: _Codes, shared: Sequence[Any]) -> None:
        super().__init__()
        self.whole, self.shared = whole, shared

    def __missing__(self, rest: Any) -> int:
        varying = iter((rest,) if self.shared.count(_VARIES) == 1 else rest)
        known = self.whole.known
        meaning = self.whole.meaning(*(next(varying) if one is _VARIES else one for one in self.shared))
        code = self[rest] = known.setdefault(meaning, len(known))
        return code


@takes_only()
def read_judgments(path: pathlib.Path, *, faults: list[DataError] | None = None, every: bool = False) -> Read:
    """Return the observations of a judgment or vote file.

    With `faults`, lines that are not what they must be are left out and their errors added to it. With `every`, rows
    with equal keys all stay, and `replaced` says how many would have gone.

    Raises:
        DataError: the file cannot be read, or a line is not what it must be, or the file mixes grades and pairs.
    """
    files = files_of(path) or [path]
    return _kept.read((path, every), files, lambda: _read_files(path, files, faults, every=every))


_kept = Kept[Read]()


def _read_files(
    path: pathlib.Path, files: Sequence[pathlib.Path], faults: list[DataError] | None, *, every: bool
) -> tuple[Read, bool]:
    """Return what the files hold together, and whether nothing was wrong with them."""
    from harness.old.judgments.parts import read_whole

    part, sound = Part(path, faults, every=every), True
    for file in files:
        part.path = file
        read_whole(part)
        if part.torn is not None:
            sound = False
            try:
                value_of(file, part.number(part.torn.place), part.torn.line)
            except DataError as error:
                warn_of_torn(error)
            part.torn = None
    return part.finished(), sound and not faults


class Part:
    """The judgments on a range of lines of a file."""

    form: Form | None = None
    """None while there is no row."""
    torn: Torn | None = None

    def __init__(self, path: pathlib.Path, faults: list[DataError] | None = None, *, every: bool = False) -> None:
        self.path, self.faults, self.every = path, faults, every
        self._store: Store | None = None
        """All rows but the last ones, as numpy has them."""
        self.case_at, self.asked_at, self.said = array("i"), array("i"), array("d")
        """For each of the last rows the places of its case and of what was asked, and its score or the place of its
        games."""
        self.judged = array("Q")
        """For each row the hash of the conversation that was judged, 0 for none; shorter if the last rows have none."""
        self.cases: dict[Case, int] = {}
        self.asked: dict[Asked, int] = {}
        self.games: dict[Games, int] = {games: code for code, games in enumerate(OUTCOMES)}
        self.several: list[_Several] = []
        """Rows whose one judgment gives several numbers: labels and dimensions."""
        self._known: list[Case] = []
        """The cases as a list, to take them by their places."""
        self._case_codes = _Codes(self.cases, lambda *fields: lines_of.case_of(fields[:-1], fields[-1]))
        self._asked_codes = _Codes(self.asked, lines_of.asked_of)
        self._games_codes = _Codes(self.games, lambda voter, *won: (lines_of.games_of, lines_of.vote_of)[voter](*won))
        self._begun = False
        self._places: array[int] | None = None
        """Where each line begins, if the file cannot be read again to count lines when there is an error to tell."""

    def finished(self) -> Read:
        """Return what was read."""
        if self.several:
            kept, replaced = _latest_of(self.several)
            return Read(_each_number([*self.several] if self.every else kept), replaced, self.form)
        from harness.old.judgments.observations import Observations

        self.move()
        assert self._store is not None
        whole = Observations(list(self.cases), list(self.asked), self._store.whole(), list(self.games))
        latest, turned = whole.latest()
        return Read(whole if self.every else latest, len(whole) - len(latest), self.form, turned)

    def clear(self) -> None:
        """Forget the last rows, which are elsewhere."""
        for column in (self.case_at, self.asked_at, self.said, self.judged):
            del column[:]

    def move(self) -> None:
        """Move the last rows to where there is room for many."""
        import numpy as np

        from harness.old.judgments.columns import ROW, Store

        rows = np.zeros(len(self.said), ROW)
        rows["case"], rows["asked"], rows["said"] = self.case_at, self.asked_at, self.said
        rows["judged"][: len(self.judged)] = self.judged
        if self.form == "grade":
            rows["said"][rows["said"] == FAILED_SCORE] = math.nan
        self.clear()
        self._store = self._store or Store()
        self._store.add(rows)

    def read(self, start: int, end: int | None) -> None:
        """Read the lines between two places of the file, both at the start of a line (None: to the end).

        Raises:
            DataError: the file cannot be read, or a line is not what it must be.
        """
        try:
            with open_bytes(self.path) if is_packed(self.path) else self.path.open("rb", buffering=0) as file:
                if start:
                    file.seek(start)
                if not file.seekable():
                    self._places = array("q")
                self._read(file, start, sys.maxsize if end is None else end)
        except broken(self.path) as error:
            raise unreadable(self.path, error) from error

    def number(self, place: int) -> int:
        """Return the number of the line that begins at that place of the file."""
        if self._places is not None:
            return bisect_left(self._places, place) + 1
        number = 1
        with open_bytes(self.path) as file:
            while place > 0 and (block := file.read(min(_BLOCK, place))):
                number += block.count(b"\n")
                place -= len(block)
        return number

    def _read(self, file: Any, place: int, end: int) -> None:
        """Read blocks; what one holds of a line that goes on stays, as the beginning of the next."""
        buffer, rest = bytearray(_BLOCK), 0
        most = most_unpacked(self.path) if is_packed(self.path) else None
        bounded = is_bounded(self.path)
        while True:
            if most is not None and place > most:
                raise too_much(self.path)
            if rest == len(buffer):
                if rest >= MOST_LINE and bounded:
                    raise too_long(self.path, self.number(place))
                buffer.extend(bytes(rest))
            with memoryview(buffer) as view:
                held = rest + file.readinto(view[rest : rest + end - place - rest])
                if held == rest:
                    break
                cut = buffer.rfind(b"\n", rest, held) + 1
                if cut:
                    with view[:cut] as lines:
                        self._take_block(lines, place, ascii_only=buffer.isascii())
                    view[: held - cut] = view[cut:held]
                if len(self.said) >= ROOM:
                    self.move()
                place, rest = place + cut, held - cut
        self._take_one_by_one(bytes(buffer[:rest]), place)

    def _take_block(self, lines: memoryview, place: int, *, ascii_only: bool) -> None:
        """Add the judgments on lines, the first of which begins at that place of the file."""
        count = None if self._begun else bytes(lines).count(b"\n")
        self._begun = True
        if self.torn is not None or self._places is not None or not self._take_together(lines, count, ascii_only):
            self._take_one_by_one(bytes(lines), place)

    def _take_together(self, lines: memoryview, count: int | None, ascii_only: bool) -> bool:
        """Add the judgments on lines, `count` of them if that is known; or return False, and none has been added."""
        try:
            if not ascii_only:
                str(lines, "utf-8", "surrogatepass")
            read = lines_of.decode_lines(lines)
            # Rows that share a line, or go over several: only a look at each line tells.
            if count is not None and len(read) != count:
                return False
            self._take(read)
        except _REFUSALS:
            return False
        return True

    def _take_one_by_one(self, lines: bytes, place: int) -> None:
        for line in lines.removesuffix(b"\n").split(b"\n"):
            if self._places is not None:
                self._places.append(place)
            if line.strip():
                if self.torn is not None:  # a line follows it, so it is an error
                    torn, self.torn = self.torn, None
                    self._fault(torn.place, torn.line)
                self._take_line(line, place)
            place += len(line) + 1

    def _take_line(self, line: bytes, place: int) -> None:
        """Add what is on a line, keep it as torn if it is no JSON, or tell what is wrong with it."""
        try:
            value = value_of(self.path, 0, line)
        except DataError:
            self.torn = Torn(place, line)
            return
        try:
            self._take([lines_of.line_of(value)])
        except (*_REFUSALS, AttributeError) as error:
            self._fault(place, line, error)

    def _fault(self, place: int, line: bytes, error: Exception | None = None) -> None:
        """Raise what is wrong with a line, with its number, or add it to the faults where these are wanted.

        `error` is what came of it as a judgment; without one it is no JSON.
        """
        number = self.number(place)
        try:
            row = row_of(self.path, number, value_of(self.path, number, line)).value
            raise DataError(str(lines_of.wrong_of(row, error or ValueError())), path=self.path, line=number) from None
        except DataError as fault:
            if self.faults is None:
                raise
            self.faults.append(fault)

    def _take(self, rows: Sequence[Any]) -> None:
        """Add decoded lines; if one of them is not what it must be, raise and add none."""
        columns = list(zip(*map(lines_of.fields_of, rows), strict=True))
        if not columns:
            return
        shared = list(map(_shared, columns))
        none = SAMPLING(shared) is lines_of.NONE
        sampling = [b""] * len(rows) if none else list(map(bytes, SAMPLING(columns)))
        cases = self._case_codes.of((*CASE(columns), sampling), (*CASE(shared), _shared(sampling)))
        unsaid = MADE_FROM(shared) is UNSET
        judged = array("Q") if unsaid else lines_of.conversations_of(MADE_FROM(columns))
        content = [None] * len(rows) if unsaid else lines_of.questions_of(MADE_FROM(columns))
        asked = self._asked_codes.of((*ASKED(columns), content), (*ASKED(shared), _shared(content)))
        if len(self._known) < len(self.cases):
            self._known = list(self.cases)
        known = self._known
        sources = [known[case].source for case in dict.fromkeys(cases)]
        paired = {source.form == "pair" for source in sources}
        if paired == {True}:
            voter = [known[case].source.voter for case in cases]
            games = self._games_codes.of((voter, *WINNERS(columns)), (_shared(voter), *WINNERS(shared)))
            said = array("d", games)
            self._become("pair")
        elif True in paired:
            raise _mixed("grade", "pair")
        elif not (LABEL(shared) is SCORES(shared) is UNSET):
            self._take_several(rows, cases, known, asked, judged)
            return
        elif self.form == "dimensions":  # other tools write nothing but -1 where there is no verdict
            self._take_several(rows, cases, known, asked, judged, form="dimensions")
            return
        else:
            said = _grades(SCORE_OF(columns))
            self._become("grade")
        self.case_at.extend(array("i", cases))
        self.asked_at.extend(array("i", asked))
        if judged:
            self.fill_judged()
            self.judged.extend(judged)
        self.said.extend(said)

    def fill_judged(self) -> None:
        """Give the last rows no hash, so that each row has one or 0; until a row has one there is no such column."""
        self.judged.frombytes(bytes(8 * (len(self.said) - len(self.judged))))

    def _take_several(
        self,
        rows: Sequence[Any],
        cases: Sequence[int],
        known: Sequence[Case],
        asked: Sequence[int],
        judged: Sequence[int],
        form: Form | None = None,
    ) -> None:
        """Add judgments that give several numbers each: labels, dimensions."""
        about = list(self.asked)
        found = []
        for row, case, place, hashed in zip(rows, cases, asked, judged or [0] * len(rows), strict=True):
            own = form or lines_of.form_of(row.label, row.scores)
            if own == "grade" and not math.isnan(lines_of.score_of(row.score)):
                raise _mixed("grade", self.form or "dimensions")
            own = self.form or "dimensions" if own == "grade" else own
            numbers = lines_of.numbers_of(own, row)
            whole = known[case]._replace(metric="", source=known[case].source._replace(form=own))
            found.append(_Several(whole, about[place], numbers, hashed))
            self._become(own)
        self.several += found

    def _become(self, form: Form) -> None:
        """Note what the judgments of the file hold, or raise `WrongError` if others hold something else."""
        if self.form not in {None, form}:
            raise _mixed(self.form or form, form)
        self.form = form


def _mixed(one: Form, other: Form) -> WrongError:
    first, second = (_PLURAL[form] for form in sorted((one, other)))
    return WrongError(f"{first} and {second} in one file; split it")


def _shared(column: Sequence[Any]) -> Any:
    """Return what all rows have in a column, or `_VARIES`."""
    first = column[0]
    return first if first == column[-1] and column.count(first) == len(column) else _VARIES


def _grades(given: Sequence[Any]) -> "array[float]":
    """Return scores; one that is absent or null as NaN."""
    try:
        return array("d", given)
    except TypeError:
        return array("d", map(lines_of.score_of, given))


class _Several(NamedTuple):
    """A judgment that gives several numbers."""

    case: Case
    asked: Asked
    numbers: Numbers
    judged: int


def _latest_of(rows: Sequence[_Several]) -> tuple[list[_Several], int]:
    """Return, of rows with equal keys, the last one with a verdict, and how many others there were."""
    kept: dict[Any, _Several] = {}
    for row in rows:
        key = (key_of(row.case), row.asked.question_id)
        if row.numbers or key not in kept:
            kept[key] = row
    return list(kept.values()), len(rows) - len(kept)


def _each_number(rows: Sequence[_Several]) -> "Observations":
    """Return an observation for each number.

    One label excludes the set's others, so these are 0. A judgment without a verdict is one without a value for each
    metric that other judgments of the file name.
    """
    metrics = list(dict.fromkeys(name for row in rows for name in row.numbers)) or [""]
    judged: list[int] = []
    of_set = {name: 0.0 for name in metrics if name not in {SHARE, CONFIDENCE, TOTAL}}

    def each() -> Iterator[tuple[Case, Asked, float]]:
        for case, asked, numbers, hashed in rows:
            if not numbers:
                values: Mapping[str, float | None] = dict.fromkeys([*of_set, *({TOTAL} & set(metrics))] or metrics)
            else:
                values = {**of_set, **numbers} if case.source.form == "label" else numbers
            judged.extend([hashed] * len(values))
            for name, value in values.items():
                yield case._replace(metric=name), asked, math.nan if value is None else value

    from harness.old.judgments.observations import Observations

    found = Observations.from_rows(each())
    found.columns["judged"] = judged
    return found
