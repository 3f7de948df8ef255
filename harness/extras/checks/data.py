"""Data in a reply: `json`, `csv` and `table`, well formed and equal to what is given."""

import contextlib
import csv
import math
import re
from collections.abc import Sequence
from typing import Any, TypeAlias

import msgspec

from harness.extras.checks.check import Check
from harness.extras.checks.passage import PASSED, Outcome, Passage, normal
from harness.extras.checks.units import cells_of, tables

Grid: TypeAlias = list[list[str | float]]
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
            value = msgspec.json.decode(_block(passage.text, self.around))
            for step in self.at.split("/")[1:]:
                value = value[int(step) if isinstance(value, list) else step]
        except (ValueError, LookupError, TypeError, RecursionError) as error:
            return Outcome(False, f"not valid JSON{f' at {self.at}' if self.at else ''}: {error}")
        keys = value if isinstance(value, dict) else {}
        if self.keys is not None and set(keys) != set(self.keys):
            return Outcome(False, f"keys: {', '.join(keys)}")
        reason = "" if self.equals is msgspec.UNSET else different(self.equals, value, self.at)
        return Outcome(not reason, reason)


class Table(Check, frozen=True, kw_only=True, tag="table"):
    """One Markdown table: {"kind": "table", "columns": ["pair", "road"], "rows": 5}."""

    columns: list[str] | None = None
    """The header; case and emphasis do not count."""
    rows: int | None = None
    """How many rows, the header left out."""
    equals: Grid | None = None
    """Header and rows."""

    def requirement(self) -> str:
        """Return the requirement in words."""
        header = f" with the columns {', '.join(self.columns)}" if self.columns else ""
        many = "" if self.rows is None else f"{' and' if header else ' with'} {self.rows} rows"
        equal = "" if self.equals is None else " equal to the given one"
        return f"one table{header}{many}{equal}"

    def test(self, passage: Passage) -> Outcome:
        """Parse the table and compare."""
        blocks = tables(passage.text)
        if len(blocks) != 1:
            return Outcome(False, f"{len(blocks)} tables")
        grid = [cells_of(row) for row in blocks[0]]
        if self.columns and not _same_cells(self.columns, grid[0]):
            return Outcome(False, f"columns: {', '.join(grid[0])}"[:80])
        if self.rows is not None and len(grid) - 1 != self.rows:
            return Outcome(False, f"{len(grid) - 1} rows")
        return _compared(grid, self.equals)


class Csv(Check, frozen=True, kw_only=True, tag="csv"):
    """Valid CSV: {"kind": "csv", "equals": [["name", "year"], ["Ada", 1815]]}."""

    around: bool = False
    """Whether text may surround the code block with the data."""
    equals: Grid | None = None
    """Header and rows."""

    def requirement(self) -> str:
        """Return the requirement in words."""
        return "valid CSV" + ("" if self.equals is None else " equal to the given one")

    def test(self, passage: Passage) -> Outcome:
        """Parse and compare."""
        try:
            lines = _block(passage.text, self.around).splitlines()
            grid = [row for row in csv.reader(lines, strict=True) if row]
        except csv.Error as error:
            return Outcome(False, f"not valid CSV: {error}")
        return _compared(grid, self.equals)


def different(expected: Any, value: Any, at: str = "") -> str:
    """Return where a JSON value differs from another; "" if they are equal in any order of keys.

    1 and 1.0 are equal, true and 1 are not; numbers may differ by a billionth.
    """
    if isinstance(expected, dict) and isinstance(value, dict) and set(expected) == set(value):
        parts = ((expected[key], value[key], f"{at}/{key}") for key in expected)
        return next(filter(None, (different(*part) for part in parts)), "")
    if isinstance(expected, list) and isinstance(value, list) and len(expected) == len(value):
        pairs = enumerate(zip(expected, value, strict=True))
        return next(filter(None, (different(a, b, f"{at}/{n}") for n, (a, b) in pairs)), "")
    same = type(expected) is type(value) and expected == value
    if {type(expected), type(value)} == {int, float} or type(expected) is type(value) is float:
        with contextlib.suppress(OverflowError):  # an integer beyond all floats
            same = math.isclose(expected, value, rel_tol=1e-9)
    return "" if same else f"{at or 'the value'} is {str(value)[:40]}"


def _compared(grid: Sequence[Sequence[str]], expected: Grid | None) -> Outcome:
    """Return whether the rows of a table, its header the first, are whole and as expected."""
    if not grid or (expected is not None and len(grid) != len(expected)):
        return Outcome(False, f"{max(len(grid) - 1, 0)} rows")
    for number, row in enumerate(grid):
        if len(row) != len(grid[0]):
            reason = f"row {number} has {len(row)} cells, the header {len(grid[0])}"
            return Outcome(False, reason)
        if expected is not None and not _same_cells(expected[number], row):
            return Outcome(False, f"row {number} is not as given")
    return PASSED


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
    return " ".join(normal(text).strip(" *_`").split()).casefold()


def _block(text: str, around: bool) -> str:
    """Return the data: the only fence, the last if text may surround it, else all."""
    blocks = [match[3] for match in FENCE.finditer(text)]
    text = text.strip()
    alone = len(blocks) == 1 and text.startswith(("```", "~~~")) and text.endswith(("```", "~~~"))
    return (blocks[-1] if blocks and (around or alone) else text).strip()
