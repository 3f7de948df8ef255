"""A page as one HTML file, and its tables for other pages.

The file needs nothing else and runs no script but the one that sorts tables; a content security
policy forbids everything else. All text is escaped. `table_html` is also what the viewer shows:
`table.css` and `sort.js` of `templates/` go with it.
"""

import pathlib
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from markupsafe import Markup

from harness.errors import StorageError
from harness.reporting.charts import departures
from harness.reporting.page import ABSENT, Column, Page, Range, Row, Table
from harness.reporting.templates import asset as asset
from harness.reporting.templates import render

Link: TypeAlias = Callable[[Row, Column], str | None]
"""Returns the address that a cell leads to; None: nowhere."""

_MARK = b'<meta name="generator" content="turnbench">'


def html(page: Page) -> str:
    """Return the page as a file that can be opened, mailed and printed."""
    sheets = ("colours.css", "page.css", "table.css", "chart.css")
    style, script = Markup("".join(map(asset, sheets))), Markup(asset("sort.js"))
    return render(
        "page.html",
        page=page,
        outcome=_outcome(page),
        style=style,
        script=script,
        table_html=table_html,
    )


def _outcome(page: Page) -> list[str]:
    return [*(page.outcome.splitlines() or [""]), *(cause.text for cause in page.causes)]


def fragment(page: Page) -> str:
    """Return outcome, tables and charts for a notebook, without scripts."""
    style = Markup("".join(map(asset, ("colours.css", "table.css", "chart.css"))))
    outcome = _outcome(page)
    return render("fragment.html", page=page, outcome=outcome, style=style, table_html=table_html)


def write_html(path: pathlib.Path | str, page: Page) -> None:
    """Write the page to a file; an earlier page there is replaced.

    Raises:
        StorageError: the file holds something else, or cannot be written.
    """
    path = pathlib.Path(path)
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
    names = [column.key for column in columns]
    naming = names.index("model") if "model" in names else 0
    kinds = ["tb-word" if column.to_the_left(rows) else "tb-number" for column in columns]
    body = []
    shades = departures(rows, [column for column in columns if column.draw == "shade"])
    for row, steps in zip(rows, shades, strict=True):
        cells = []
        for column, kind in zip(columns, kinds, strict=True):
            cell = _cell(column, row, rows)
            if step := steps.get(column):
                kind += f" tb-{'above' if step > 0 else 'below'}-{abs(step)}"
            cells.append({"kind": kind, "address": link(row, column), **cell})
        body.append(cells)
    return render(
        "table.html",
        table=table,
        columns=columns,
        kinds=kinds,
        naming=naming,
        body=body,
        shaded=any(shades),
    )


def _cell(column: Column, row: Row, rows: Sequence[Row]) -> dict[str, Any]:
    """Return what a cell shows, what it is sorted by, and what it says on hover."""
    by = column.value(row)
    by = by.first if isinstance(by, Range) else by
    cell: dict[str, Any] = {"text": column.cell(row), "by": None if by is None else str(by)}
    if column.draw == "whisker" and by is not None:
        cell |= {"tip": cell["text"], "whisker": _whisker(column, row, rows)}
    elif column.draw == "record":
        held = row.get(column.key) or {} if column.key else row
        counts = {name: held.get(name) or 0 for name in ("win", "tie", "loss")}
        cell |= {"text": ABSENT, "by": None}
        if any(counts.values()):
            cell |= {"text": "{win}/{tie}/{loss}".format(**counts), "by": str(counts["win"])}
            cell["tip"] = "{win} won, {tie} tied, {loss} lost".format(**counts)
            cell["record"] = counts
    elif column.draw == "shade":
        interval = column.interval.cell(row)
        cell["tip"] = f"95% interval {interval}" if interval != ABSENT else ""
    return cell


def _whisker(column: Column, row: Row, rows: Sequence[Row]) -> list[float]:
    """Return a number and the ends of its interval as parts of the axis that all rows share."""
    numbers = [end for r in rows for end in column.number(r) if end is not None]
    least, span = min(numbers), (max(numbers) - min(numbers)) or 1.0
    value, *ends = column.number(row)
    places = [value if end is None else end for end in (value, *ends)]
    return [(place - least) / span for place in places if place is not None]
