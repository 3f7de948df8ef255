"""A page as one HTML file, and its tables for other pages; the templates are beside this file.

The file needs nothing else and runs no script but the one that sorts tables; a content security
policy forbids everything else. All text is escaped. `table_html` is also what the viewer shows:
`table.css` and `sort.js` beside this file go with it.
"""

import base64
import functools
import hashlib
import pathlib
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from harness.errors import StorageError
from harness.reporting.charts import asset as asset
from harness.reporting.charts import departures
from harness.reporting.page import ABSENT, Column, Page, Row, Table, cell_text, printable

Link: TypeAlias = Callable[[Row, Column], str | None]
"""Returns the address that a cell leads to; None: nowhere."""

_MARK = b'<meta name="generator" content="turnbench">'
_WHISKER, _RECORD = 120, 96
"""Widths of drawings in cells, in pixels."""


def html(page: Page) -> str:
    """Return the page as a file that can be opened, mailed and printed."""
    sheets = ("colours.css", "page.css", "table.css", "chart.css")
    outcome = [*(page.outcome.splitlines() or [""]), *(cause.text for cause in page.causes)]
    style = Markup("".join(map(asset, sheets)))
    script = Markup(asset("sort.js"))
    return _render("page.html", page=page, outcome=outcome, style=style, script=script)


def fragment(page: Page) -> str:
    """Return outcome and tables for a notebook, without scripts and charts."""
    style = Markup(asset("colours.css") + asset("table.css"))
    return _render("fragment.html", page=page, style=style)


def write_html(path: pathlib.Path, page: Page) -> None:
    """Write the page to a file; an earlier page there is replaced.

    Raises:
        StorageError: the file holds something else, or cannot be written.
    """
    check_html(path)
    try:
        path.write_text(html(page), encoding="utf-8")
    except OSError as error:
        raise StorageError(f"{path}: cannot be written: {error.strerror}") from None


def check_html(path: pathlib.Path) -> None:
    """Raise StorageError unless a page can be written there: no file, or an earlier page."""
    if not path.parent.is_dir():
        raise StorageError(f"{path}: there is no folder {path.parent}")
    if path.is_dir() or (path.exists() and _MARK not in path.read_bytes()[:400]):
        raise StorageError(f"{path} is not a turnbench page; name another file")


def table_html(table: Table, link: Link = lambda row, column: None) -> str:
    """Return a sortable `<table>` of all columns that are not empty, in a box that scrolls.

    Sorting is by `data-sort` of the cells, done by `sort.js`; without it the table stands as it is.
    """
    rows = table.rows
    columns = [c for c in table.columns if c.draw or any(c.cell(row) != ABSENT for row in rows)]
    kinds = ["tb-word" if column.to_the_left(rows) else "tb-number" for column in columns]
    names = [column.key for column in columns]
    naming = names.index("model") if "model" in names else 0
    shaded = [column.key for column in columns if column.draw == "shade"]
    shades = departures({key: row.get(key) for key in shaded} for row in rows)
    body = []
    for row, steps in zip(rows, shades, strict=True):
        cells = [
            _cell(column, kind, row, rows, steps) | {"address": link(row, column)}
            for column, kind in zip(columns, kinds, strict=True)
        ]
        cells[naming]["tag"] = Markup('th scope="row"')
        body.append(cells)
    heads = list(zip(columns, kinds, strict=True))
    return Markup(_render("table.html", heads=heads, body=body, title=table.title or "results"))


def _cell(
    column: Column, kind: str, row: Row, rows: Sequence[Row], steps: dict[str, int]
) -> dict[str, Any]:
    """Return what a cell shows, what it is sorted by, and what it says on hover."""
    inside: str = column.cell(row)
    tip = ""
    if column.draw == "whisker":
        inside, tip = _whisker(column.key, row, rows), inside
    elif column.draw == "record":
        inside, tip = _record(column.key, row)
    elif column.draw == "shade":
        interval = cell_text(row, column.key, f"interval{column.format}")
        tip = f"95% interval {interval}" if interval != ABSENT else ""
        if step := steps.get(column.key):
            kind += f" tb-{'above' if step > 0 else 'below'}-{abs(step)}"
    by = row.get(f"{column.key}_first" if column.format == "ranks" else column.key)
    return {"tag": Markup("td"), "kind": kind, "inside": inside, "tip": tip, "by": by}


def _whisker(key: str, row: Row, rows: Sequence[Row]) -> str:
    """Return a dot with its interval, on the axis that all rows share."""
    keys = (key, f"{key}_low", f"{key}_high")
    if (value := row.get(key)) is None:
        return ABSENT
    numbers = [each[k] for each in rows for k in keys if each.get(k) is not None]
    least, span = min(numbers), (max(numbers) - min(numbers)) or 1.0
    ends = [value if row.get(k) is None else row[k] for k in keys]
    x, x1, x2 = (f"{4 + (_WHISKER - 8) * (end - least) / span:.1f}" for end in ends)
    line = f'<line class="tb-line" x1="{x1}" x2="{x2}" y1="8" y2="8"/>'
    dot = f'<circle class="tb-dot" cx="{x}" cy="8" r="3.5"/>'
    return Markup(f'<svg width="{_WHISKER}" height="16" aria-hidden="true">{line}{dot}</svg>')


def _record(key: str, row: Row) -> tuple[str, str]:
    """Return a bar of wins, ties and losses, and the same in words."""
    counts = {name: row.get(f"{key}{name}") or 0 for name in ("win", "tie", "loss")}
    if not (total := sum(counts.values())):
        return ABSENT, ""
    parts, x = [], 0.0
    for name, count in counts.items():
        wide = _RECORD * count / total
        parts.append(f'<rect class="tb-{name}" x="{x:.1f}" width="{wide:.1f}" height="12"/>')
        x += wide
    words = "{win} won, {tie} tied, {loss} lost".format(**counts)
    svg = f'<svg width="{_RECORD}" height="12" aria-hidden="true">{"".join(parts)}</svg>'
    return Markup(svg), words


def _render(template: str, **values: Any) -> str:
    return _environment().get_template(template).render(**values)


@functools.cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(pathlib.Path(__file__).parent),
        autoescape=True,
        finalize=lambda value: printable(value) if type(value) is str else value,
    )
    environment.filters["digest"] = _digest
    environment.globals["table_html"] = table_html
    return environment


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
