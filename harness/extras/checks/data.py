"""Data in a reply: `json`, `csv` and `table`, well formed and equal to what is given."""

import csv
import math
import re
from collections.abc import Sequence
from typing import Any

import msgspec

from harness.extras.checks.check import Check
from harness.extras.checks.passage import PASSED, Outcome, Passage, normal
from harness.extras.checks.units import cells_of, tables

FENCE = re.compile(
    r"^[ \t]*(`{3,}+|~{3,}+)[ \t]*+([^\s`{]*+)[^\n]*+\n(.*?)(?:^[ \t]*\1[`~]*[ \t]*$|\Z)",
    re.M | re.S,
)
"""A fenced block of code: its marks, its language, what is in it."""


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
        try:
            text = _block(passage.text, self.around)
            value = _pointed(msgspec.json.decode(text), self.at)
            fault = "" if self.equals is msgspec.UNSET else different(self.equals, value, self.at)
        except (ValueError, OverflowError, RecursionError) as error:
            return Outcome(False, f"not valid JSON: {error}")
        if self.keys is not None and (not isinstance(value, dict) or set(value) != set(self.keys)):
            keys = ", ".join(value) if isinstance(value, dict) else "it is no object"
            return Outcome(False, f"keys: {keys}")
        return Outcome(False, fault) if fault else PASSED


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

    def compared(self, grid: Sequence[Sequence[str]]) -> Outcome:
        """Return whether the rows of a table are as they should be."""
        if not grid:
            return Outcome(False, "it is empty")
        for number, row in enumerate(grid):
            if len(row) != len(grid[0]):
                reason = f"row {number} has {len(row)} cells, the header {len(grid[0])}"
                return Outcome(False, reason)
        header: Sequence[str | float] = self.equals[0] if self.equals else self.columns or []
        if header and not _same_cells(header, grid[0]):
            return Outcome(False, f"columns: {', '.join(grid[0])}"[:80])
        rows = len(self.equals) - 1 if self.equals else self.rows
        if rows is not None and len(grid) - 1 != rows:
            return Outcome(False, f"{len(grid) - 1} rows")
        for number, expected in enumerate(self.equals or ()):
            if not _same_cells(expected, grid[number]):
                return Outcome(False, f"row {number} is not as given")
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
        found = tables(passage.text)
        if len(found) != 1:
            return Outcome(False, f"{len(found)} tables")
        filled = [line for line in passage.text.splitlines() if line.strip()]
        if not self.around and len(filled) > len(found[0]) + 1:  # and the line below the header
            return Outcome(False, "there is text around the table")
        return self.compared([cells_of(row) for row in found[0]])


class Csv(_Grid, frozen=True, kw_only=True, tag="csv"):
    """Valid CSV: {"kind": "csv", "columns": ["name", "year"], "rows": 12}."""

    around: bool = False
    """Whether text may surround the code block with the data."""

    def requirement(self) -> str:
        """Return the requirement in words."""
        return "valid CSV" + self.shape()

    def test(self, passage: Passage) -> Outcome:
        """Parse and compare."""
        try:
            lines = _block(passage.text, self.around).splitlines()
            grid = [row for row in csv.reader(lines, strict=True) if row]
        except csv.Error as error:
            return Outcome(False, f"not valid CSV: {error}")
        return self.compared(grid)


def different(expected: Any, value: Any, at: str = "") -> str:
    """Return where a JSON value differs from another; "" if they are equal in any order of keys.

    1 and 1.0 are equal, true and 1 are not; numbers may differ by a billionth.
    """
    here = at or "the value"
    if all(isinstance(v, int | float) and not isinstance(v, bool) for v in (expected, value)):
        same = expected == value or math.isclose(expected, value, rel_tol=1e-9)
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


def _block(text: str, around: bool) -> str:
    """Return the data: the only fence, the last if text may surround it, else all."""
    blocks = [match[3] for match in FENCE.finditer(text)]
    text = text.strip()
    alone = len(blocks) == 1 and text.startswith(("```", "~~~")) and text.endswith(("```", "~~~"))
    return (blocks[-1] if blocks and (around or alone) else text).strip()


def _pointed(value: Any, pointer: str) -> Any:
    """Return the part of a value that a JSON pointer names, or raise `ValueError`."""
    for step in pointer.split("/")[1:]:
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            raise ValueError(f"there is nothing at {pointer}")
    return value
