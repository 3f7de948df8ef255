"""Rows as text: an aligned table, markdown, csv or json."""

import csv
import decimal
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

Rows = Sequence[Mapping[str, Any]]


def as_table(rows: Rows, *, places: int = 2) -> str:
    """Return an aligned plain-text table."""
    cells = _cells(rows, places)
    widths = [max(len(row[k]) for row in cells) for k in range(len(cells[0]))]
    left = [all(isinstance(row.get(name), str) for row in rows) for name in cells[0]]
    lines = [
        "  ".join(cell.ljust(width) if first else cell.rjust(width) for cell, width, first in zip(row, widths, left, strict=True))
        for row in cells
    ]
    return "\n".join(line.rstrip() for line in lines)


def as_markdown(rows: Rows, *, places: int = 2) -> str:
    """Return a Markdown table; bars inside names are escaped."""
    cells = [[cell.replace("|", "\\|") for cell in row] for row in _cells(rows, places)]
    rule = [":--" if isinstance(value, str) else "--:" for value in rows[0].values()]
    return "\n".join("| " + " | ".join(row) + " |" for row in [cells[0], rule, *cells[1:]])


def as_csv(rows: Rows) -> str:
    """Return the rows as csv, numbers unrounded, an absent value empty."""
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().rstrip("\n")


def as_json(value: Any) -> str:
    """Return the value as indented JSON; an absent value is null."""
    return json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)


def rounded(value: float, places: int) -> str:
    """Return the number rounded half up, as published tables are: 3.275 is 3.28."""
    exact = decimal.Decimal(repr(float(value)))
    return str(exact.quantize(decimal.Decimal(1).scaleb(-places), rounding=decimal.ROUND_HALF_UP))


def _cells(rows: Rows, places: int) -> list[list[str]]:
    def shown(value: Any) -> str:
        if value is None:
            return "–"
        return rounded(value, places) if isinstance(value, float) else str(value)

    return [list(rows[0]), *([shown(value) for value in row.values()] for row in rows)]
