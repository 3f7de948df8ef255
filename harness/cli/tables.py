"""Rows as text: an aligned table, one with lines for terminals, markdown, latex, csv or json.

Everything that is drawn goes through `_cells`, so a number has the same digits in all of them.
"""

import csv
import io
import json
import os
import sys
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from harness.names import csv_cell, json_text
from harness.names import printable as printable
from harness.results.statistics.rounding import interval_cells as interval_cells
from harness.results.statistics.rounding import interval_text as interval_text
from harness.results.statistics.rounding import p_text as p_text
from harness.results.statistics.rounding import rounded as rounded
from harness.results.statistics.rounding import shown

Rows = Sequence[Mapping[str, Any]]
FORMATS = ("table", "json", "csv", "markdown", "latex")
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "–": "--",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}


class Drawing:
    """How the parts of an output look: headings, tables and notes, in one of the formats for people."""

    def __init__(self, form: str) -> None:
        """`form` is table, markdown or latex; a table for a terminal has lines."""
        self.form = form
        drawn: dict[str, Callable[..., str]] = {"markdown": as_markdown, "latex": as_latex}
        self._draw = drawn.get(form) or _table_here()

    def table(self, rows: Rows, *, places: int = 2) -> str:
        """Return a table."""
        return self._draw(rows, places=places)

    def heading(self, text: str) -> str:
        """Return what stands over everything."""
        if self.form == "latex":
            return f"\\textbf{{{_latex(text)}}}"
        return f"**{printable(text)}**" if self.form == "markdown" else printable(text)

    def line(self, text: str) -> str:
        """Return a sentence between tables."""
        return f"{_latex(text)}\n" if self.form == "latex" else printable(text)

    def notes(self, notes: Sequence[str]) -> str:
        """Return the notes below."""
        if self.form == "latex":
            return "\n\n".join(f"Note: {_latex(note)}" for note in notes)
        return "\n".join(f"{'-' if self.form == 'markdown' else 'note:'} {printable(note)}" for note in notes)


def as_table(rows: Rows, *, places: int = 2) -> str:
    """Return an aligned plain-text table, nothing where there is no row."""
    if not rows:
        return ""
    cells = _cells(rows, places)
    widths = [max(_width(row[k]) for row in cells) for k in range(len(cells[0]))]
    left = _words(rows)

    def line(row: Sequence[str]) -> str:
        gaps = [" " * (width - _width(cell)) for cell, width in zip(row, widths, strict=True)]
        padded = [cell + gap if first else gap + cell for cell, gap, first in zip(row, gaps, left, strict=True)]
        return "  ".join(padded).rstrip()

    return "\n".join(map(line, cells))


def as_terminal_table(rows: Rows, *, places: int = 2) -> str:
    """Return the table with a line below its head, in the width of the terminal and its colours, drawn by rich."""
    if not rows:
        return ""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    head, *lines = _cells(rows, places)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for at, (name, left) in enumerate(zip(head, _words(rows), strict=True)):
        table.add_column(Text(name), justify="left" if left else "right", overflow="fold", no_wrap=at > 0 and not left)
    for line in lines:
        table.add_row(*map(Text, line))
    out = io.StringIO()
    width = Console(file=sys.stdout).width
    console = Console(file=out, width=width, force_terminal=True, no_color="NO_COLOR" in os.environ or None)
    console.print(table)
    text = "\n".join(line.rstrip() for line in out.getvalue().splitlines())
    return text.strip("\n")


def as_markdown(rows: Rows, *, places: int = 2) -> str:
    """Return a Markdown table, nothing where there is no row; bars and tags inside names are escaped."""
    if not rows:
        return ""
    cells = [[cell.replace("|", "\\|").replace("<", "&lt;") for cell in row] for row in _cells(rows, places)]
    rule = [":--" if left else "--:" for left in _words(rows)]
    return "\n".join("| " + " | ".join(row) + " |" for row in [cells[0], rule, *cells[1:]])


def as_latex(rows: Rows, *, places: int = 2) -> str:
    """Return a tabular environment that needs no package, nothing where there is no row; names are escaped."""
    if not rows:
        return ""
    head, *lines = [" & ".join(map(_latex, row)) + r" \\" for row in _cells(rows, places)]
    columns = "".join("l" if left else "r" for left in _words(rows))
    body = [f"\\begin{{tabular}}{{{columns}}}", r"\hline", head, r"\hline", *lines, r"\hline", r"\end{tabular}"]
    return "\n".join(body)


def as_csv(rows: Rows) -> str:
    """Return the rows as csv, numbers unrounded, an absent value empty; nothing where there is no row.

    A name that a spreadsheet would take for a formula begins with an apostrophe.
    """
    if not rows:
        return ""
    out = io.StringIO()
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(map(csv_cell, names))
    writer.writerows([csv_cell(row.get(name)) for name in names] for row in rows)
    return out.getvalue().rstrip("\n")


def as_json(value: Any) -> str:
    """Return the value as indented JSON, absent values null, and characters that hide or reorder text escaped."""
    return json_text(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False))


def _table_here() -> Callable[..., str]:
    """Return how a table is drawn on this stdout: plain for a pipe or a file, so that lines can be parsed."""
    try:
        terminal = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    except (AttributeError, ValueError):
        terminal = False
    if not terminal:
        return as_table
    from importlib.util import find_spec

    return as_terminal_table if find_spec("rich") else as_table


def _words(rows: Rows) -> list[bool]:
    """Return for each column whether all that it holds are words."""
    return [all(isinstance(row.get(name), str) for row in rows) for name in _names(rows)]


def _names(rows: Rows) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


def _latex(text: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in printable(text))


def _width(text: str) -> int:
    """Return the columns that a text takes on a terminal: Chinese and the like take two each."""
    if text.isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text if not unicodedata.combining(c))


def _cells(rows: Rows, places: int) -> list[list[str]]:
    names = _names(rows)
    return [list(map(printable, names)), *([shown(row.get(name), places) for name in names] for row in rows)]
