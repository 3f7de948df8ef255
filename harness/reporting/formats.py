"""A page in each format: one function each, by name in the registry's kind `format`.

text      for a terminal: fits the width, leaves out constant columns
markdown, latex, html      for documents; html is in its own module
json      everything, unrounded; null where there is no number
csv, frame                 the page's rows, unrounded
"""

import csv as csv_module
import io
import re
import shutil
import textwrap
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from harness.errors import MissingError
from harness.reporting.page import Column, Note, Page, Row, Table, printable

PROSE = 88
"""The most columns of a sentence, however wide the terminal."""


def text(page: Page, width: int | None = None) -> str:
    """Return the page for a terminal of `width` columns (default: that of this one, else 80)."""
    width = width or shutil.get_terminal_size((80, 24)).columns
    parts = ["\n".join(_wrapped(line, width) for line in page.outcome.splitlines())]
    parts += ["\n".join(_cause(cause, width) for cause in page.causes)]
    pointers = []
    for table in page.tables:
        if table.only not in ("", "text"):
            continue
        if body := text_table(table, width):
            parts += [_wrapped(table.title, width)] if table.title else []
            parts.append(body)
        elif table.rows:
            pointers.append(table.instead)
    pointers += [note.flag for note in page.notes if not note.text]
    notes = [str(note) for note in page.notes if note.text]
    notes.append(". ".join(dict.fromkeys(pointers)))
    parts.append("\n".join(_wrapped(note, width) for note in notes if note))
    return "\n\n".join(part for part in parts if part)


def text_table(table: Table, width: int) -> str:
    """Return a table for a terminal.

    One that is too wide loses its optional columns, then is divided; one with something instead
    is empty.
    """
    if not table.rows:
        return ""
    columns = table.text_columns()
    body = _aligned(columns, table.rows, width)
    if body or table.instead:
        return body
    columns = [column for column in columns if not column.optional]
    words = [not column.format and column.to_the_left(table.rows) for column in columns]
    named = words.index(True) if True in words else 0
    keys, others = columns[: named + 1], columns[named + 1 :]
    blocks: list[str] = []
    while others or not blocks:
        taken = len(others)
        while not (block := _aligned([*keys, *others[:taken]], table.rows, width)) and taken > 1:
            taken -= 1
        blocks.append(block or _aligned([*keys, *others[:taken]], table.rows, 10_000))
        keys, others = keys[-1:], others[taken:]
    return "\n\n".join(blocks)


def _aligned(columns: Sequence[Column], rows: Sequence[Row], width: int) -> str:
    """Return the rows under their headings if they fit, two blanks between columns or one."""
    cells = [[column.heading, *(column.cell(row) for row in rows)] for column in columns]
    widths = [max(map(_columns_of, column)) for column in cells]
    gap = next((g for g in (2, 1) if sum(widths) + g * (len(widths) - 1) <= width), 0)
    if not gap:
        return ""
    padded = []
    for column, texts, most in zip(columns, cells, widths, strict=True):
        blanks = [" " * (most - _columns_of(text)) for text in texts]
        left = column.to_the_left(rows)
        both = zip(texts, blanks, strict=True)
        padded.append([text + blank if left else blank + text for text, blank in both])
    return "\n".join((" " * gap).join(line).rstrip() for line in zip(*padded, strict=True))


def _columns_of(cell: str) -> int:
    """Return how many columns of a terminal a text takes: two for a wide character."""
    if cell.isascii():
        return len(cell)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in cell)


def _wrapped(line: str, width: int) -> str:
    return textwrap.fill(
        printable(line), min(width, PROSE), break_long_words=False, break_on_hyphens=False
    )


def _cause(cause: Note, width: int) -> str:
    """Return a cause and its command, which is never broken: it is there to be pasted."""
    line = f"  {printable(cause.text)}: {cause.flag}" if cause.flag else f"  {cause.text}"
    if len(line) <= width:
        return line
    return f"  {_wrapped(cause.text, width - 2)}:\n    {cause.flag}"


def markdown(page: Page) -> str:
    """Return the page in Markdown, with tables as GitHub shows them."""
    return _document(page, _markdown_text, _markdown_table)


def _markdown_text(line: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>#|~$!&])", r"\\\1", line)


def _markdown_table(table: Table) -> str:
    columns = table.text_columns()
    lines = [
        [_markdown_text(column.heading) for column in columns],
        [":--" if column.to_the_left(table.rows) else "--:" for column in columns],
        *([_markdown_text(column.cell(row)) for column in columns] for row in table.rows),
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


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


def latex(page: Page) -> str:
    """Return the page as LaTeX that needs no package."""
    return _document(page, _latex_text, _latex_table)


def _latex_text(line: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in line)


def _latex_table(table: Table) -> str:
    columns = table.text_columns()
    kinds = "".join("l" if column.to_the_left(table.rows) else "r" for column in columns)
    lines = [[column.heading for column in columns]]
    lines += [[column.cell(row) for column in columns] for row in table.rows]
    head, *body = [" & ".join(map(_latex_text, line)) + r" \\" for line in lines]
    begin = rf"\begin{{tabular}}{{{kinds}}}"
    return "\n".join([begin, r"\hline", head, r"\hline", *body, r"\hline", r"\end{tabular}"])


def _document(
    page: Page, written: Callable[[str], str], table_written: Callable[[Table], str]
) -> str:
    """Return outcome, tables and notes in their order, as paragraphs."""
    parts = [*page.outcome.splitlines(), *map(str, page.causes)]
    parts = [written(printable(part)) for part in parts]
    for table in page.tables:
        if table.rows and table.only in ("", "text"):
            parts += [written(printable(table.title))] if table.title else []
            parts.append(table_written(table))
    parts += [written(printable(str(note))) for note in page.notes]
    return "\n\n".join(parts)


def json(page: Page) -> str:
    """Return everything on the page as JSON: outcome, facts, notes, rows and named tables."""
    data: dict[str, Any] = {
        "outcome": page.outcome,
        **page.facts,
        "causes": list(map(str, page.causes)),
        "notes": list(map(str, page.notes)),
        "rows": page.all_rows,
    }
    data |= {table.name: table.rows for table in page.tables if table.name}
    encoded = msgspec.json.encode(data, enc_hook=lambda number: number.item())  # of numpy
    return msgspec.json.format(encoded, indent=2).decode()


def csv(page: Page) -> str:
    """Return the page's rows; an absent value is empty."""
    rows, out = page.all_rows, io.StringIO()
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv_module.writer(out, lineterminator="\n")
    if names:
        writer.writerow(map(_csv_cell, names))
    writer.writerows([_csv_cell(row.get(name)) for name in names] for row in rows)
    return out.getvalue().rstrip("\n")


def _csv_cell(value: Any) -> Any:
    """Return a cell that no spreadsheet takes for a formula; an empty one for NaN."""
    if not isinstance(value, str):
        return "" if value != value else value
    risky = value.startswith(("=", "+", "-", "@", "\t", "\r"))
    return ("'" if risky else "") + printable(value)


def frame(page: Page) -> Any:
    """Return the page's rows as a pandas DataFrame.

    Raises:
        MissingError: pandas is not installed.
    """
    try:
        import pandas as pd
    except ImportError:
        raise MissingError("a frame needs pandas: pip install pandas") from None
    return pd.DataFrame(page.all_rows)
