"""A page as one HTML file, and its tables for other pages.

The file needs nothing else and runs no script but the one that sorts tables; a content security
policy forbids everything else. All text is escaped. `table_html` is also what the viewer shows:
`table.css` and `sort.js` beside this file go with it.
"""

import base64
import hashlib
import html as html_module
import pathlib
import re
from collections.abc import Callable, Sequence
from typing import TypeAlias

from harness.errors import StorageError
from harness.reporting.charts import WIDTH
from harness.reporting.charts import asset as asset
from harness.reporting.page import ABSENT, Chart, Column, Page, Row, Table, cell_text, printable

Link: TypeAlias = Callable[[Row, Column], str | None]
"""Returns the address that a cell leads to; None: nowhere."""

_SHADES = 5
"""Steps of a shade on each side."""
_MARK = '<meta name="generator" content="turnbench">'
_WHISKER, _RECORD = 120, 96
"""Widths of drawings in cells, in pixels."""


def html(page: Page) -> str:
    """Return the page as a file that can be opened, mailed and printed."""
    style = "".join(map(asset, ("colours.css", "page.css", "table.css", "chart.css")))
    script = asset("sort.js")
    first, *more = page.outcome.splitlines() or [""]
    parts = [f"<header><h1>{escaped(first)}</h1>"]
    more += [cause.text for cause in page.causes]
    parts += [f"<p>{escaped(line)}</p>" for line in more]
    parts.append("</header>")
    for table in page.tables:
        if table.rows and table.only in ("", "html"):
            title = f"<h2>{escaped(table.title)}</h2>" if table.title else ""
            parts.append(f"<section>{title}{table_html(table)}</section>")
    figures = [_figure(chart) for chart in page.charts if not chart.in_table]
    if figures:  # narrow ones first: they stand side by side
        figures.sort(key=lambda figure: "tb-wide" in figure[:30])
        parts.append(f'<div class="tb-charts">{"".join(figures)}</div>')
    if notes := "".join(f"<p>{escaped(note.text)}</p>" for note in page.notes if note.text):
        parts.append(f"<footer>{notes}</footer>")
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n'
        f'{_MARK}\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escaped(page.title)}</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(parts)
        + f"\n</main>\n<script>{script}</script>\n</body>\n</html>\n"
    )


def fragment(page: Page) -> str:
    """Return outcome and tables for a notebook, without scripts and charts."""
    parts = [f"<style>{asset('colours.css')}{asset('table.css')}</style>"]
    parts += [f"<p>{escaped(line)}</p>" for line in page.outcome.splitlines()]
    for table in page.tables:
        if table.rows and table.only in ("", "html"):
            parts.append(f"<p>{escaped(table.title)}</p>{table_html(table)}")
    return "\n".join(parts)


def write_html(path: pathlib.Path | str, page: Page) -> None:
    """Write the page to a file; an earlier page there is replaced.

    Raises:
        StorageError: the file holds something else, or cannot be written.
    """
    path = pathlib.Path(path)
    check_html(path)
    try:
        path.write_text(html(page), encoding="utf-8", errors="replace")
    except OSError as error:
        raise StorageError(f"{path}: cannot be written: {error.strerror}") from None


def check_html(path: pathlib.Path | str) -> None:
    """Raise StorageError unless a page can be written there: no file, or an earlier page."""
    path = pathlib.Path(path)
    if not path.parent.is_dir():
        raise StorageError(f"{path}: there is no folder {path.parent}")
    if path.is_dir() or (path.exists() and _MARK.encode() not in path.read_bytes()[:400]):
        raise StorageError(f"{path} is not a turnbench page; name another file")


def table_html(table: Table, link: Link | None = None) -> str:
    """Return a sortable `<table>` of all columns that are not empty, in a box that scrolls.

    Sorting is by `data-sort` of the cells, done by `sort.js`; without it the table stands as it is.
    """
    rows = table.rows
    columns = [c for c in table.columns if c.draw or any(c.cell(row) != ABSENT for row in rows)]
    naming = next((c for c in columns if c.key == "model"), columns[0])
    drawn = [_Drawn(column, rows, column is naming) for column in columns]
    shades = _shades([c for c in columns if c.draw == "shade"], rows)
    body = [
        f"<tr>{''.join(one.cell(row, link, own.get(one.column.key, 0)) for one in drawn)}</tr>"
        for row, own in zip(rows, shades, strict=True)
    ]
    head = "".join(one.head() for one in drawn)
    label = escaped(table.title or "results")
    return (
        f'<div class="tb-scroll" role="region" tabindex="0" aria-label="{label}">'
        f'<table class="tb-table"><thead><tr>{head}</tr></thead>\n'
        f"<tbody>{chr(10).join(body)}</tbody></table></div>"
    )


def escaped(text: object) -> str:
    """Return a text that is nothing but text, in an element or an attribute."""
    clean = printable(str(text)).encode("utf-8", "replace").decode()
    return html_module.escape(clean, quote=True)


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _inline(text: str) -> str:
    """Return an escaped text that does not turn the text around it."""
    return escaped(text) if text.isascii() or text == ABSENT else f"<bdi>{escaped(text)}</bdi>"


class _Drawn:
    """What the cells of one column share."""

    def __init__(self, column: Column, rows: Sequence[Row], naming: bool) -> None:
        self.column, self.naming = column, naming
        self.kind = "tb-word" if column.to_the_left(rows) else "tb-number"
        bounds = [row.get(f"{column.key}{end}") for row in rows for end in ("", "_low", "_high")]
        known = [value for value in bounds if value is not None] if column.draw == "whisker" else []
        self.least, self.most = min(known, default=0.0), max(known, default=1.0)

    def head(self) -> str:
        tip = f' title="{escaped(self.column.help)}"' if self.column.help else ""
        return f'<th scope="col" class="{self.kind}"{tip}>{_inline(self.column.heading)}</th>'

    def cell(self, row: Row, link: Link | None, shade: int) -> str:
        """Return the cell: text or drawing, what to sort it by, and what is said on hover."""
        column = self.column
        inside, tip = _inline(column.cell(row)), ""
        if column.draw == "whisker":
            inside, tip = self._whisker(row), column.cell(row)
        elif column.draw == "record":
            inside, tip = _record(column.key, row)
        elif column.draw == "shade":
            interval = cell_text(row, column.key, "interval" + (column.format or ".2"))
            tip = f"95% interval {interval}" if interval != ABSENT else ""
        address = link(row, column) if link is not None else None
        if address is not None:
            inside = f'<a href="{html_module.escape(address, quote=True)}">{inside}</a>'
        shaded = f" tb-{'above' if shade > 0 else 'below'}-{abs(shade)}" if shade else ""
        value = row.get(f"{column.key}_first" if column.format == "ranks" else column.key)
        by = "" if value is None else f' data-sort="{escaped(value)}"'
        title = f' title="{escaped(tip)}"' if tip else ""
        start, end = ('th scope="row"', "th") if self.naming else ("td", "td")
        return f'<{start} class="{self.kind}{shaded}"{by}{title}>{inside}</{end}>'

    def _whisker(self, row: Row) -> str:
        """Return a dot with its interval, on the axis that all rows share."""
        key, span = self.column.key, (self.most - self.least) or 1.0

        def at(value: float) -> str:
            return f"{4 + (_WHISKER - 8) * (value - self.least) / span:.1f}"

        value, low, high = (row.get(f"{key}{end}") for end in ("", "_low", "_high"))
        if value is None:
            return ABSENT
        line = ""
        if low is not None and high is not None:
            line = f'<line class="tb-line" x1="{at(low)}" x2="{at(high)}" y1="8" y2="8"/>'
        dot = f'<circle class="tb-dot" cx="{at(value)}" cy="8" r="3.5"/>'
        return f'<svg width="{_WHISKER}" height="16" aria-hidden="true">{line}{dot}</svg>'


def _record(key: str, row: Row) -> tuple[str, str]:
    """Return a bar of wins, ties and losses, and the same in words."""
    counts = [row.get(name) or 0 for name in (f"{key}win", f"{key}tie", f"{key}loss")]
    if not (total := sum(counts)):
        return ABSENT, ""
    parts, x = [], 0.0
    for name, count in zip(("win", "tie", "loss"), counts, strict=True):
        wide = _RECORD * count / total
        parts.append(f'<rect class="tb-{name}" x="{x:.1f}" width="{wide:.1f}" height="12"/>')
        x += wide
    words = "{} won, {} tied, {} lost".format(*counts)
    return f'<svg width="{_RECORD}" height="12" aria-hidden="true">{"".join(parts)}</svg>', words


def _shades(columns: Sequence[Column], rows: Sequence[Row]) -> list[dict[str, int]]:
    """Return for each row how far its shaded numbers are above or below their mean, from -5 to 5.

    The greatest departure in the table has the darkest shade.
    """
    departures = []
    for row in rows:
        known = {c.key: v for c in columns if (v := row.get(c.key)) is not None}
        mean = sum(known.values()) / len(known) if known else 0.0
        departures.append({key: value - mean for key, value in known.items()})
    most = max((abs(d) for row in departures for d in row.values()), default=0.0) or 1.0
    return [{key: round(_SHADES * d / most) for key, d in row.items()} for row in departures]


def _figure(chart: Chart) -> str:
    svg = chart.draw()
    width = re.search(r' width="(\d+)"', svg)
    wide = ' class="tb-wide"' if width and int(width[1]) > WIDTH else ""
    inside = f'<div class="tb-sheet" tabindex="0">{svg}</div>'
    return f"<figure{wide}><figcaption>{escaped(chart.title)}</figcaption>{inside}</figure>"
