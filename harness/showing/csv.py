"""A page's rows as csv: numbers unrounded, an absent value empty."""

import csv as writing
import io
from typing import Any

from harness.showing.items import Page, flat
from harness.showing.values import printable


def csv(page: Page) -> str:
    """Return the rows; nothing where there is none."""
    rows = [flat(row) for row in page.rows]
    if not rows:
        return ""
    out = io.StringIO()
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer = writing.writer(out, lineterminator="\n")
    writer.writerow(map(_cell, names))
    writer.writerows([_cell(row.get(name)) for name in names] for row in rows)
    return out.getvalue().rstrip("\n")


def _cell(value: Any) -> Any:
    """Return a text as a spreadsheet takes it for text: one that looks like a formula gets an apostrophe in front."""
    if not isinstance(value, str):
        return value
    text = printable(value)
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text
