"""A page in each format: one function each, by name in the registry's kind `format`.

text        for a terminal: fits the width, leaves out constant columns
markdown    for documents; html is in its own module
json        everything, unrounded; null where there is no number
csv, frame  the page's rows, unrounded
latex       tables for a paper, each number with its interval (package booktabs)
methods     the paragraph of a paper about how the numbers were made
"""

import csv as csv_module
import io
import re
import shutil
import textwrap
from collections.abc import Sequence
from typing import Any

import msgspec

from harness.errors import UsageError
from harness.reporting.page import ABSENT, Column, Page, Row, Table, columns_of, flat, shortened
from harness.words import printable

PROSE = 88
"""The most columns of a sentence, however wide the terminal."""


def text(page: Page, width: int | None = None) -> str:
    """Return the page for a terminal of `width` columns (default: that of this one, else 80)."""
    width = width or shutil.get_terminal_size((80, 24)).columns
    parts = [_wrapped(page.outcome, width)]
    causes = [
        "\n    ".join([f"  {cause.text}:" if cause.flag else f"  {cause.text}", *commands])
        for cause in page.causes
        for commands in [cause.flag.splitlines()]  # each on a line of its own, to be pasted
    ]
    parts.append("\n".join(printable(line) for cause in causes for line in cause.splitlines()))
    flags = []
    for table in page.tables:
        if table.rows and table.only in ("", "text"):
            body = text_table(table, width)
            parts += [_wrapped(table.title, width), body] if body else []
            flags += [] if body else [table.instead]
    flags += [note.flag for note in page.notes if not note.text]
    notes = [str(note) for note in page.notes if note.text]
    parts.append(_wrapped("\n".join([*notes, ". ".join(dict.fromkeys(flags))]), width))
    return "\n\n".join(filter(None, parts))


def text_table(table: Table, width: int) -> str:
    """Return a table for a terminal.

    One that is too wide loses its optional columns, then is divided, names of more than half the
    width shortened; one with something instead is empty.
    """
    columns = table.text_columns()
    body = _aligned(columns, table.rows, width)
    if body or table.instead:
        return body
    columns = [column for column in columns if not column.optional]
    words = [any(isinstance(column.value(row), str) for row in table.rows) for column in columns]
    name = words.index(True) if True in words else 0
    keys, others = columns[: name + 1], columns[name + 1 :]
    half = width // 2 - 1
    blocks: list[str] = []
    while others or not blocks:
        body, taken = "", len(others) + 1
        while not body:
            taken -= 1
            room = width if taken > 1 else 10_000
            body = _aligned([*keys, *others[:taken]], table.rows, room, half)
        blocks.append(body)
        keys, others = keys[-1:], others[taken:]
    return "\n\n".join(blocks)


def _aligned(columns: Sequence[Column], rows: Sequence[Row], width: int, most: int = 10_000) -> str:
    """Return the rows under their headings if they fit, two blanks between columns or one.

    Cells of more than `most` columns are shortened.
    """
    padded, total = [], 0
    for column in columns:
        cells = [column.heading, *(column.cell(row) for row in rows)]
        cells = [shortened(cell, most) for cell in cells]
        wide = max(map(columns_of, cells))
        blanks = [" " * (wide - columns_of(cell)) for cell in cells]
        pairs = zip(cells, blanks, strict=True)
        to_left = column.to_the_left(rows)
        padded.append([cell + blank if to_left else blank + cell for cell, blank in pairs])
        total += wide
    for gap in (2, 1):
        if total + gap * (len(columns) - 1) <= width:
            lines = zip(*padded, strict=True)
            return "\n".join((" " * gap).join(line).rstrip() for line in lines)
    return ""


def _wrapped(lines: str, width: int) -> str:
    """Return lines of prose in the width; one below a colon is a command, and stays whole."""
    fill = textwrap.TextWrapper(
        min(width, PROSE), break_long_words=False, break_on_hyphens=False
    ).fill
    written = [printable(line) for line in lines.splitlines()]
    before = ["", *written]
    return "\n".join(
        line if above.endswith(":") else fill(line)
        for above, line in zip(before, written, strict=False)
    )


def markdown(page: Page) -> str:
    """Return the page in Markdown, with tables as GitHub shows them."""
    parts = list(map(_escaped, page.outcome.splitlines()))
    for cause in page.causes:
        parts.append(_escaped(f"{cause.text}:" if cause.flag else cause.text))
        commands = map(printable, cause.flag.splitlines())
        parts += ["\n".join(["```sh", *commands, "```"])] if cause.flag else []
    for table in page.tables:
        if table.rows and table.only in ("", "text"):
            parts += [_escaped(table.title), _markdown_table(table)]
    parts += [_escaped(str(note)) for note in page.notes]
    return "\n\n".join(filter(None, parts))


def _markdown_table(table: Table) -> str:
    columns = table.text_columns()
    lines = [
        [_escaped(column.heading) for column in columns],
        [":--" if column.to_the_left(table.rows) else "--:" for column in columns],
        *([_escaped(column.cell(row)) for column in columns] for row in table.rows),
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _escaped(line: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>#|~$!&])", r"\\\1", printable(line))


def json(page: Page) -> str:
    """Return everything on the page as JSON: outcome, facts, notes, rows and named tables."""
    data: dict[str, Any] = {
        "outcome": page.outcome,
        **page.facts,
        "causes": list(map(str, page.causes)),
        "notes": list(map(str, page.notes)),
        "rows": page.all_rows,
    }
    data |= {table.name: list(map(flat, table.rows)) for table in page.tables if table.name}
    encoded = msgspec.json.encode(data, enc_hook=lambda number: number.item())  # of numpy
    return msgspec.json.format(encoded, indent=2).decode()


def csv(page: Page) -> str:
    """Return the page's rows; an absent value is empty."""
    rows, out = page.all_rows, io.StringIO()
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv_module.writer(out, lineterminator="\n")
    for row in [dict(zip(names, names, strict=True)), *rows] if names else []:
        writer.writerow([_csv_cell(row.get(name)) for name in names])
    return out.getvalue().rstrip("\n")


def _csv_cell(value: Any) -> Any:
    """Return a cell that no spreadsheet takes for a formula; an empty one for NaN."""
    if not isinstance(value, str):
        return "" if value != value else value
    risky = value.startswith(("=", "+", "-", "@", "\t", "\r"))
    return ("'" if risky else "") + printable(value)


def frame(page: Page) -> Any:
    """Return the page's rows as a pandas DataFrame."""
    import pandas as pd  # comes with gradio; slow to import

    return pd.DataFrame(page.all_rows)


def methods(page: Page) -> str:
    """Return the paragraph of a paper about how the numbers were made.

    Raises:
        UsageError: the page has none.
    """
    if page.methods is None:
        raise UsageError("--format methods is for the results of show_result, without another page")
    return "\n".join(printable(line) for line in page.methods().splitlines())


def latex(page: Page) -> str:
    """Return the page's tables for LaTeX with the package booktabs; its sentences as comments."""
    sentences = [*page.outcome.splitlines(), *(note.text for note in page.notes if note.text)]
    parts = ["\n".join(f"% {printable(line)}" for line in sentences)]
    parts += [_latex_table(t) for t in page.tables if t.rows and t.only in ("", "text")]
    return "\n\n".join(filter(None, parts))


def _latex_table(table: Table) -> str:
    columns = table.text_columns()
    numbers = {(c.key, c.of) for c in columns if not c.format.startswith("interval")}
    # An interval stands beside its number, so its own column goes.
    columns = [
        c for c in columns if not c.format.startswith("interval") or (c.key, c.of) not in numbers
    ]
    sides = "".join("l" if column.to_the_left(table.rows) else "r" for column in columns)
    lines = [
        [_tex(column.heading) for column in columns],
        *([_latex_cell(column, row) for column in columns] for row in table.rows),
    ]
    head, *body = [f"{' & '.join(line)} \\\\" for line in lines]
    caption = [f"\\caption{{{_tex(table.title)}}}"] if table.title else []
    return "\n".join(
        [
            "\\begin{table}",
            "\\centering",
            *caption,
            f"\\begin{{tabular}}{{{sides}}}",
            "\\toprule",
            head,
            "\\midrule",
            *body,
            "\\bottomrule",
            "\\end{tabular}",
            "\\end{table}",
        ]
    )


def _latex_cell(column: Column, row: Row) -> str:
    """Return a cell, with the interval of a number in small print behind it."""
    ends = column.interval.cell(row) if column.format else ABSENT
    small = "" if ends == ABSENT else f" {{\\scriptsize [{_tex(ends.replace(' to ', ', '))}]}}"
    return _tex(column.cell(row)) + small


_TEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "–": "--",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}


def _tex(line: str) -> str:
    """Return a text in which no character is a command of LaTeX."""
    return "".join(_TEX.get(sign, sign) for sign in printable(line))
