"""Data in a reply: `json`, `csv` and `table`, well formed and equal to what is given."""

import csv
import json
from collections.abc import Iterator, Sequence
from decimal import Decimal, DecimalException
from typing import Any, Literal, NoReturn

import msgspec

from harness.old.checks.check import MET, Check, Finding, Passage, Span
from harness.old.checks.units import cells_of, code, tables

_FLAWS = (ValueError, RecursionError, DecimalException)


class WrittenNumber(Decimal):
    """A number and how it is written."""

    written: str

    def __new__(cls, text: str) -> "WrittenNumber":
        """Keep the text."""
        number = super().__new__(cls, text)
        number.written = text
        return number


class Json(Check, frozen=True, kw_only=True, tag="json"):
    """Valid JSON, perhaps equal to a value: {"kind": "json", "equals": {"a": 1}, "key_order": true}."""

    around: bool = False
    """Whether text may surround the code block with the data; else the whole reply is JSON, with or without a fence."""
    at: str = ""
    """A JSON pointer (RFC 6901) to the part that is compared."""
    keys: list[str] | None = None
    """Exactly these keys."""
    equals: Any = msgspec.UNSET
    """The value; with `numbers` "written", its JSON as a text."""
    key_order: bool = False
    """Whether keys must be in the given order."""
    array_order: bool = True
    """Whether elements must be."""
    numbers: Literal["value", "written"] = "value"
    """Whether 1.50 is 1.5."""
    tolerance: float = 0

    def __post_init__(self) -> None:
        """Raise `ValueError` for a pointer or a value that cannot be."""
        super().__post_init__()
        if self.at and not self.at.startswith("/"):
            raise ValueError(f"at must be a JSON pointer such as /a/0, this is {self.at!r}")
        if self.numbers == "written" and self.equals is not msgspec.UNSET:
            if not isinstance(self.equals, str):
                raise ValueError('with "numbers": "written", equals is the JSON as a text')
            _read_json(self.equals)

    def wanted(self) -> str:
        """Return the requirement as a text."""
        there = f" at {self.at}" if self.at else ""
        keys = f" with the keys {', '.join(self.keys)}" if self.keys is not None else ""
        equal = "" if self.equals is msgspec.UNSET else " equal to the right value"
        return f"valid JSON{there}{keys}{equal}"

    def measure(self, passage: Passage) -> Finding:
        """Parse and compare."""
        span = _block(passage, self.around)
        try:
            value = _pointed(_read_json(passage.at(span)), self.at)
            if self.keys is not None and (not isinstance(value, dict) or sorted(value) != sorted(self.keys)):
                there = ", ".join(value) if isinstance(value, dict) else "it is no object"
                return Finding(False, f"keys: {there}", (span,))
            if self.equals is not msgspec.UNSET:
                wanted = self.equals if self.numbers == "written" else json.dumps(self.equals)
                difference = next(self.differences(_read_json(wanted), value, self.at), None)
                if difference is not None:
                    return Finding(False, difference, (span,))
        except _FLAWS as error:
            return Finding(False, f"not valid JSON: {_reason(error)}", (span,))
        return MET

    def differences(self, wanted: Any, value: Any, at: str = "") -> Iterator[str]:
        """Yield where a value differs from the one that is wanted."""
        here = at or "the value"
        if isinstance(wanted, WrittenNumber) and isinstance(value, WrittenNumber):
            same = (
                wanted.written == value.written if self.numbers == "written" else close(wanted, value, self.tolerance)
            )
            if not same:
                yield f"{here} is {value.written}, not {wanted.written}"
        elif type(wanted) is not type(value):
            yield f"{here} is another kind of value"
        elif isinstance(wanted, dict):
            if sorted(wanted) != sorted(value):
                yield f"{here} has the keys {', '.join(value) or 'none'}"
            elif self.key_order and list(wanted) != list(value):
                yield f"{here} has its keys in another order"
            else:
                for key in wanted:
                    yield from self.differences(wanted[key], value[key], f"{at}/{key}")
        elif isinstance(wanted, list):
            yield from self._elements(wanted, value, at)
        elif wanted != value:
            yield f"{here} is {str(value)[:40]!r}"

    def _elements(self, wanted: list[Any], value: list[Any], at: str) -> Iterator[str]:
        if len(wanted) != len(value):
            yield f"{at or 'the value'} has {len(value)} elements, not {len(wanted)}"
        elif self.array_order:
            for number, (one, other) in enumerate(zip(wanted, value, strict=True)):
                yield from self.differences(one, other, f"{at}/{number}")
        else:
            left = list(value)
            for one in wanted:
                like = next(
                    (n for n, other in enumerate(left) if next(self.differences(one, other, at), None) is None), None
                )
                if like is None:
                    yield f"{at or 'the value'} lacks an element"
                    return
                left.pop(like)


class _Grid(Check, frozen=True, kw_only=True):
    """Arguments of the kinds that have rows and columns."""

    columns: list[str] | None = None
    """The header; case and emphasis do not count."""
    rows: int | None = None
    """How many rows, the header left out."""
    equals: list[list[str | float]] | None = None
    """Header and rows."""
    row_order: bool = True
    tolerance: float = 0
    """How far numbers may be off."""

    def shape(self) -> str:
        """Return the required rows and columns as a text."""
        header = f" with the columns {', '.join(self.columns)}" if self.columns else ""
        many = "" if self.rows is None else f"{' and' if header else ' with'} {self.rows} rows"
        return header + many + (" equal to the given one" if self.equals else "")

    def compared(self, grid: Sequence[Sequence[str]], span: Span) -> Finding:
        """Return whether the rows of a table are as they must be."""
        if not grid:
            return Finding(False, "it is empty")
        for number, row in enumerate(grid):
            if len(row) != len(grid[0]):
                return Finding(False, f"row {number} has {len(row)} cells, the header {len(grid[0])}", (span,))
        header = [_cell(cell) for cell in grid[0]]
        columns = self.columns or (list(map(str, self.equals[0])) if self.equals else None)
        if columns is not None and header != [_cell(cell) for cell in columns]:
            return Finding(False, f"columns: {', '.join(grid[0])}"[:80], (span,))
        wanted_rows = len(self.equals) - 1 if self.equals else self.rows
        if wanted_rows is not None and len(grid) - 1 != wanted_rows:
            return Finding(False, f"{len(grid) - 1} rows", (span,))
        left = [list(row) for row in grid[1:]]
        for number, wanted in enumerate(self.equals[1:] if self.equals else (), 1):
            among = left[:1] if self.row_order else left
            like = next((row for row in among if _same_row(wanted, row, self.tolerance)), None)
            if like is None:
                return Finding(False, f"row {number} is not as given", (span,))
            left.remove(like)
        return MET


class Table(_Grid, frozen=True, kw_only=True, tag="table"):
    """One Markdown table: {"kind": "table", "columns": ["pair", "road"], "rows": 5}."""

    around: bool = True
    """Whether text may surround it."""

    def wanted(self) -> str:
        """Return the requirement as a text."""
        return "one table" + self.shape()

    def measure(self, passage: Passage) -> Finding:
        """Parse the table and compare."""
        found = tables(passage)
        if len(found) != 1:
            return Finding(False, f"{len(found)} tables", tuple(Span(t[0].start, t[-1].end) for t in found[1:]))
        span = Span(found[0][0].start, found[0][-1].end)
        rest = passage.text[passage.span.start : span.start] + passage.text[span.end : passage.span.end]
        if not self.around and rest.strip():
            return Finding(False, "there is text around the table")
        grid = [[passage.at(cell) for cell in cells_of(passage.text, row)] for row in found[0]]
        return self.compared(grid, span)


class Csv(_Grid, frozen=True, kw_only=True, tag="csv"):
    """Valid CSV: {"kind": "csv", "delimiter": ";", "columns": ["name", "year"], "rows": 12}."""

    around: bool = False
    """Whether text may surround the code block with the data."""
    delimiter: str = ","

    def __post_init__(self) -> None:
        """Raise `ValueError` for a delimiter that is not one character."""
        super().__post_init__()
        if len(self.delimiter) != 1 or self.delimiter in '"\r\n':
            raise ValueError(f"delimiter must be one character, this is {self.delimiter!r}")

    def wanted(self) -> str:
        """Return the requirement as a text."""
        return "valid CSV" + self.shape()

    def measure(self, passage: Passage) -> Finding:
        """Parse and compare."""
        span = _block(passage, self.around)
        lines = passage.at(span).strip().splitlines()
        try:
            grid = [row for row in csv.reader(lines, delimiter=self.delimiter, strict=True) if row]
        except csv.Error as error:
            return Finding(False, f"not valid CSV: {error}", (span,))
        return self.compared(grid, span)


def close(wanted: Decimal, value: Decimal, tolerance: float) -> bool:
    """Return whether two numbers are equal within the tolerance."""
    if wanted == value:
        return True
    if not tolerance or abs(value.adjusted() - wanted.adjusted()) > 30:
        return False
    # The tolerance as it is written: 0.1 must let 1.1 pass for 1.
    return abs(wanted - value) <= Decimal(repr(tolerance))


def same_json(wanted: Any, value: Any, tolerance: float) -> bool:
    """Return whether two JSON values are equal; numbers may be off by the tolerance, and 1 is not true."""
    try:
        one, other = (_read_json(json.dumps(each)) for each in (wanted, value))
        return next(Json(tolerance=tolerance).differences(one, other), None) is None
    except _FLAWS:
        return False


def _same_row(wanted: Sequence[str | float], row: Sequence[str], tolerance: float) -> bool:
    return len(wanted) == len(row) and all(map(_same_cell, wanted, row, [tolerance] * len(row)))


def _same_cell(wanted: str | float, cell: str, tolerance: float) -> bool:
    if _cell(str(wanted)) == _cell(cell):
        return True
    try:
        return close(Decimal(str(wanted)), Decimal(_cell(cell).replace(",", "")), tolerance)
    except DecimalException:
        return False


def _cell(text: str) -> str:
    return " ".join(text.strip().strip("*_`").split()).casefold()


def _block(passage: Passage, around: bool) -> Span:
    """Return the span of the data: the only fence, the last one if text may surround it, else everything."""
    blocks = code(passage)
    if blocks and (around or passage.said.strip().startswith(("```", "~~~"))):
        last = blocks[-1]
        alone = len(blocks) == 1 and passage.said.rstrip().endswith(("```", "~~~"))
        if around or alone:
            return last
    return passage.span


def _read_json(text: str) -> Any:
    """Return a JSON value, with numbers as written; raise `ValueError` for anything outside RFC 8259."""
    return json.loads(
        text.strip(),
        parse_float=WrittenNumber,
        parse_int=WrittenNumber,
        parse_constant=_refuse,
        object_pairs_hook=_unique,
    )


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        raise ValueError("a key stands twice in one object")
    return table


def _pointed(value: Any, pointer: str) -> Any:
    """Return the part of a value that a JSON pointer names, or raise `ValueError`."""
    for step in pointer.split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdecimal() and int(step[:9]) < len(value):
            value = value[int(step)]
        else:
            raise ValueError(f"there is nothing at {pointer}")
    return value


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at line {error.lineno}, column {error.colno}"
    return "it is nested too deep" if isinstance(error, RecursionError) else str(error)
