"""Rows as text: an aligned table, markdown, csv or json."""

import csv
import io
import json
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from harness.results.statistics.rounding import printable as printable
from harness.results.statistics.rounding import rounded as rounded
from harness.results.statistics.rounding import shown

Rows = Sequence[Mapping[str, Any]]


def as_table(rows: Rows, *, places: int = 2) -> str:
    """Return an aligned plain-text table, nothing where there is no row."""
    if not rows:
        return ""
    cells = _cells(rows, places)
    widths = [max(_width(row[k]) for row in cells) for k in range(len(cells[0]))]
    left = [all(isinstance(row.get(name), str) for row in rows) for name in rows[0]]

    def line(row: Sequence[str]) -> str:
        gaps = [" " * (width - _width(cell)) for cell, width in zip(row, widths, strict=True)]
        padded = [cell + gap if first else gap + cell for cell, gap, first in zip(row, gaps, left, strict=True)]
        return "  ".join(padded).rstrip()

    return "\n".join(map(line, cells))


def as_markdown(rows: Rows, *, places: int = 2) -> str:
    """Return a Markdown table, nothing where there is no row; bars and tags inside names are escaped."""
    if not rows:
        return ""
    cells = [[cell.replace("|", "\\|").replace("<", "&lt;") for cell in row] for row in _cells(rows, places)]
    rule = [":--" if isinstance(value, str) else "--:" for value in rows[0].values()]
    return "\n".join("| " + " | ".join(row) + " |" for row in [cells[0], rule, *cells[1:]])


def as_csv(rows: Rows) -> str:
    """Return the rows as csv, numbers unrounded, an absent value empty; nothing where there is no row."""
    if not rows:
        return ""
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().rstrip("\n")


def as_json(value: Any) -> str:
    """Return the value as indented JSON; an absent value is null."""
    return json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)


def _width(text: str) -> int:
    """Return the columns that a text takes on a terminal: Chinese and the like take two each."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text if not unicodedata.combining(c))


def _cells(rows: Rows, places: int) -> list[list[str]]:
    return [list(map(printable, rows[0])), *([shown(value, places) for value in row.values()] for row in rows)]
