"""Data in a reply: `json`, `csv` and `table`, well formed and equal to what is given."""

import csv
import json
import math
import re
from collections.abc import Sequence
from typing import Any, NoReturn

import msgspec

from harness.extras.checks.check import Check
from harness.extras.checks.passage import PASSED, Outcome, Passage, Span, normal
from harness.extras.checks.units import cells_of, code, tables


class Json(Check, frozen=True, kw_only=True, tag="json"):
    """Valid JSON, perhaps equal to a value: {"kind": "json", "at": "/0", "equals": {"a": 1}}."""

    around: bool = False
    """Whether text may surround the code block with the data; else the whole reply is JSON."""
    at: str = ""
    """A JSON pointer (RFC 6901) to the part that is compared."""
    keys: list[str] | None = None
    """Exactly these keys."""
    equals: Any = msgspec.UNSET

    def __post_init__(self) -> None:
        """Raise `ValueError` for a pointer that cannot be."""
        super().__post_init__()
        if self.at and not self.at.startswith("/"):
            raise ValueError(f"at must be a JSON pointer such as /a/0, this is {self.at!r}")

    def requirement(self) -> str:
        """Return the requirement in words."""
        place = f" at {self.at}" if self.at else ""
        keys = f" with the keys {', '.join(self.keys)}" if self.keys is not None else ""
        equal = "" if self.equals is msgspec.UNSET else " equal to the right value"
        return f"valid JSON{place}{keys}{equal}"

    def test(self, passage: Passage) -> Outcome:
        """Parse and compare."""
        span = _block(passage, self.around)
        try:
            value = _pointed(_read_json(passage.at(span)), self.at)
        except (ValueError, RecursionError) as error:
            return Outcome(False, f"not valid JSON: {_reason(error)}", (span,))
        if self.keys is not None and (not isinstance(value, dict) or set(value) != set(self.keys)):
            keys = ", ".join(value) if isinstance(value, dict) else "it is no object"
            return Outcome(False, f"keys: {keys}", (span,))
        difference = "" if self.equals is msgspec.UNSET else different(self.equals, value, self.at)
        return Outcome(False, difference, (span,)) if difference else PASSED


class _Grid(Check, frozen=True, kw_only=True):
    """Arguments of the kinds that have rows and columns."""

    columns: list[str] | None = None
    """The header; case and emphasis do not count."""
    rows: int | None = None
    """How many rows, the header left out."""
    equals: list[list[str | float]] | None = None
    """Header and rows."""

    def shape(self) -> str:
        """Return words for rows and columns."""
        header = f" with the columns {', '.join(self.columns)}" if self.columns else ""
        many = "" if self.rows is None else f"{' and' if header else ' with'} {self.rows} rows"
        equal = "" if self.equals is None else " equal to the given one"
        return f"{header}{many}{equal}"

    def compared(self, grid: Sequence[Sequence[str]], span: Span) -> Outcome:
        """Return whether the rows of a table are as they should be."""
        if not grid:
            return Outcome(False, "it is empty")
        for number, row in enumerate(grid):
            if len(row) != len(grid[0]):
                counts = f"row {number} has {len(row)} cells, the header {len(grid[0])}"
                return Outcome(False, counts, (span,))
        header: Sequence[str | float] = self.equals[0] if self.equals else grid[0]
        if not _same_cells(self.columns or header, grid[0]):
            return Outcome(False, f"columns: {', '.join(grid[0])}"[:80], (span,))
        rows = len(self.equals) - 1 if self.equals else self.rows
        if rows is not None and len(grid) - 1 != rows:
            return Outcome(False, f"{len(grid) - 1} rows", (span,))
        for number, expected in enumerate(self.equals[1:] if self.equals else (), 1):
            if not _same_cells(expected, grid[number]):
                return Outcome(False, f"row {number} is not as given", (span,))
        return PASSED


class Table(_Grid, frozen=True, kw_only=True, tag="table"):
    """One Markdown table: {"kind": "table", "columns": ["pair", "road"], "rows": 5}."""

    around: bool = True
    """Whether text may surround it."""

    def requirement(self) -> str:
        """Return the requirement in words."""
        return "one table" + self.shape()

    def test(self, passage: Passage) -> Outcome:
        """Parse the table and compare."""
        found = tables(passage)
        if len(found) != 1:
            places = tuple(Span(table[0].start, table[-1].end) for table in found[1:])
            return Outcome(False, f"{len(found)} tables", places)
        span = Span(found[0][0].start, found[0][-1].end)
        start, end = passage.span
        rest = passage.reply[start : span.start] + passage.reply[span.end : end]
        if not self.around and re.sub(r"```\w*", "", rest).strip():
            return Outcome(False, "there is text around the table")
        grid = [[passage.at(cell) for cell in cells_of(passage, row)] for row in found[0]]
        return self.compared(grid, span)


class Csv(_Grid, frozen=True, kw_only=True, tag="csv"):
    """Valid CSV: {"kind": "csv", "columns": ["name", "year"], "rows": 12}."""

    around: bool = False
    """Whether text may surround the code block with the data."""

    def requirement(self) -> str:
        """Return the requirement in words."""
        return "valid CSV" + self.shape()

    def test(self, passage: Passage) -> Outcome:
        """Parse and compare."""
        span = _block(passage, self.around)
        lines = passage.at(span).strip().splitlines()
        try:
            grid = [row for row in csv.reader(lines, strict=True) if row]
        except csv.Error as error:
            return Outcome(False, f"not valid CSV: {error}", (span,))
        return self.compared(grid, span)


def different(expected: Any, value: Any, at: str = "") -> str:
    """Return where a JSON value differs from another; "" if they are equal in any order of keys.

    1 and 1.0 are equal, true and 1 are not; numbers may differ by a billionth.
    """
    here = at or "the value"
    numbers = [
        isinstance(one, int | float) and not isinstance(one, bool) for one in (expected, value)
    ]
    if all(numbers):
        try:
            same = expected == value or math.isclose(expected, value, rel_tol=1e-9)
        except OverflowError:  # whole numbers beyond 1e308
            same = False
        return "" if same else f"{here} is {str(value)[:40]}, not {expected}"
    if type(expected) is not type(value):
        return f"{here} is another kind of value"
    if isinstance(expected, dict):
        if set(expected) != set(value):
            return f"{here} has the keys {', '.join(value) or 'none'}"
        parts = ((expected[key], value[key], f"{at}/{key}") for key in expected)
        return next(filter(None, (different(*part) for part in parts)), "")
    if isinstance(expected, list):
        if len(expected) != len(value):
            return f"{here} has {len(value)} elements, not {len(expected)}"
        pairs = enumerate(zip(expected, value, strict=True))
        return next(filter(None, (different(a, b, f"{at}/{n}") for n, (a, b) in pairs)), "")
    return "" if expected == value else f"{here} is {str(value)[:40]!r}"


def _same_cells(expected: Sequence[str | float], row: Sequence[str]) -> bool:
    return len(expected) == len(row) and all(map(_same_cell, expected, row))


def _same_cell(expected: str | float, cell: str) -> bool:
    if _cell(str(expected)) == _cell(cell):
        return True
    try:
        return math.isclose(float(expected), float(_cell(cell).replace(",", "")), rel_tol=1e-9)
    except ValueError:
        return False


def _cell(text: str) -> str:
    return " ".join(normal(text).strip().strip("*_`").split()).casefold()


def _block(passage: Passage, around: bool) -> Span:
    """Return the place of the data: the only fence, the last if text may surround it, else all."""
    blocks = code(passage)
    text = passage.text.strip()
    alone = len(blocks) == 1 and text.startswith(("```", "~~~")) and text.endswith(("```", "~~~"))
    return blocks[-1] if blocks and (around or alone) else passage.span


def _read_json(text: str) -> Any:
    """Return a JSON value; raises `ValueError` for anything outside RFC 8259."""
    return json.loads(text.strip(), parse_constant=_refuse, object_pairs_hook=_unique)


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
