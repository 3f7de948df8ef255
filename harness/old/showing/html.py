"""A page as one HTML file that needs nothing else, for a browser, a phone, or paper; the one writer of HTML tables.

Everything that comes from a file is escaped, and a content security policy forbids scripts and whatever lies outside
the page. Colours are variables (`--tb-ink`, ...), so that tables and charts follow the light or dark page around them.
"""

import pathlib
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import TypeAlias

from harness.old.errors import UsageError
from harness.old.names import printable
from harness.old.showing.items import Cells, Chart, Html, Item, Note, Page, Row, Table
from harness.old.showing.values import ABSENT

_WRITTEN = re.compile(rb'<!DOCTYPE html>\s*<html lang="en">\s*<head>\s*<meta name="generator" content="turnbench">')
"""What a report begins with."""
Link: TypeAlias = Callable[[Row, str], str | None]
"""Returns the address that a row's cell in a column leads to; None: nowhere."""
_SHORT = 24
"""Letters; a column of words that are no longer than this has no line breaks."""
_COLUMN = 520
"""Pixels; a chart that is wider takes the width of the page."""


def html(page: Page) -> str:
    """Return the page, its notes first."""
    listed = "".join(f"<div><dt>{escaped(name)}</dt><dd>{bdi(fact)}</dd></div>" for name, fact in page.facts.items())
    body = [f"<header><h1>{bdi(page.title)}</h1><dl>{listed}</dl></header>"]
    if page.notes:
        notes = "".join(f"<li>{bdi(note)}</li>" for note in page.notes)
        body.append(f'<section class="tb-notes"><h2>Notes</h2><ul>{notes}</ul></section>')
    body.extend(_items(page.items))
    body.append("<footer>Made by turnbench. This page loads nothing from other hosts.</footer>")
    style = pathlib.Path(__file__).with_name("report.css").read_text(encoding="utf-8")
    return _PAGE.format(title=escaped(page.title), style=style, body="\n".join(body))


def check_report(path: pathlib.Path | str) -> None:
    """Raise `StorageError` unless a report can be written there: the file is free, or holds an earlier report."""
    from harness.old.jsonl import need_own  # it loads logging, which --help does without

    need_own(pathlib.Path(path), _WRITTEN, "a report")


def write_report(path: pathlib.Path | str, page: Page) -> None:
    """Write the page to a file, replacing an earlier page.

    Raises:
        StorageError: the file cannot be written, or holds something else.
    """
    from harness.old.jsonl import put_text

    check_report(path)
    put_text(pathlib.Path(path).resolve(), html(page))


_SHADED = {
    "groups": "Blue is above the mean of the row, orange below it.",
    "models": "Blue favours the row's model, orange the column's.",
}


def table_html(table: Table, *, label: str = "", link: Link | None = None) -> str:
    """Return a table in a box that scrolls sideways by itself; its first column stays.

    `label` says what it shows to those who cannot see it (default: its title); `link` says where a
    cell leads. Cells that are `Html` go in as they are. Behind numbers of a table with a scale is a shade.
    """
    columns = table.shown()
    if not columns or not table.rows:
        return '<p class="tb-quiet">There are no rows.</p>'
    names, kinds = [column.name for column in columns], [_kind(column) for column in columns]
    head = "".join(f'<th scope="col"{kind}>{_head(c.heading)}</th>' for c, kind in zip(columns, kinds, strict=True))
    lines = []
    for at, row in enumerate(table.rows):
        own = [
            _cell(c, at, link(row, c.name) if link and c.name not in names[:k] else None) for k, c in enumerate(columns)
        ]
        first = f'<th scope="row"{kinds[0]}><div>{own[0]}</div></th>'
        rest = "".join(f"<td{kind}>{cell}</td>" for kind, cell in zip(kinds[1:], own[1:], strict=True))
        lines.append(f"<tr>{first}{rest}</tr>")
    shaded = any(share is not None for column in columns for share in column.shares)
    return (
        f'<div class="tb-scroll" tabindex="0" role="group" aria-label="{escaped(label or table.title)}">'
        f'<table class="tb-table"><thead><tr>{head}</tr></thead>\n<tbody>{chr(10).join(lines)}</tbody></table></div>'
        + (f'<p class="tb-quiet">{_SHADED.get(table.across, _SHADED["groups"])}</p>' if shaded else "")
    )


def escaped(text: object) -> str:
    """Return the text for a place in which it can be nothing else."""
    return _quoted(printable(str(text)))


def _quoted(text: str) -> str:
    from html import escape  # it loads all names of characters, which other formats do without

    return escape(text, quote=True)


def bdi(text: object) -> str:
    """Return the text with its own writing direction, so that it turns nothing around it."""
    return f"<bdi>{escaped(text)}</bdi>"


def _items(items: Sequence[Item]) -> Iterator[str]:
    """Yield the sections; charts that follow each other share the width where there is room."""
    for is_chart, some in groupby(items, key=lambda item: isinstance(item, Chart)):
        if is_chart:
            charts = [item for item in some if isinstance(item, Chart)]
            inside = "\n".join(_chart(chart, alone=len(charts) == 1) for chart in charts)
            yield f'<div class="tb-charts">{inside}</div>'
            continue
        for item in some:
            if isinstance(item, Note):
                yield f"<section><p>{bdi(item.text)}</p></section>"
            elif isinstance(item, Table):
                note = f"<p>{bdi(item.note)}</p>" if item.note else ""
                yield f"<section><h2>{bdi(item.title or 'Results')}</h2>{table_html(item)}{note}</section>"


def _chart(chart: Chart, *, alone: bool) -> str:
    """Return the picture in a box that scrolls sideways by itself where it must."""
    try:
        svg = chart.draw()
    except UsageError as error:
        return f"<figure><h2>{bdi(chart.title)}</h2><p>{bdi(error)}</p></figure>"
    note = f"<p>{bdi(chart.note)}</p>" if chart.note else ""
    width = re.match(r'<svg[^>]* width="(\d+)"', svg)
    wide = ' class="tb-wide"' if alone or (width and int(width[1]) > _COLUMN) else ""
    inside = chart_html(svg, chart.title)
    return f"<figure{wide}><figcaption><h2>{bdi(chart.title)}</h2></figcaption>{inside}{note}</figure>"


def chart_html(svg: str, label: str) -> str:
    """Return a picture of `showing.charts` in a box that scrolls sideways where it must."""
    return f'<div class="tb-sheet" tabindex="0" role="group" aria-label="{escaped(label)}">{svg}</div>'


def _kind(column: Cells) -> str:
    """Return how a column is set: numbers to the right, short words and intervals on one line, long ones broken."""
    made = [cell for cell in column.cells if isinstance(cell, Html)]
    if made:
        return "" if all(cell.number for cell in made) else ' class="tb-word"'
    if not column.words:
        return ""
    return ' class="tb-word"' if max(map(len, map(str, column.cells))) > _SHORT else ' class="tb-word tb-short"'


def _cell(column: Cells, at: int, address: str | None) -> str:
    cell, share = column.cells[at], column.shares[at]
    if isinstance(cell, Html) or cell == ABSENT:
        return str(cell.text if isinstance(cell, Html) else cell)
    inside = bdi(cell) if address is None else f'<a href="{_quoted(address)}">{bdi(cell)}</a>'
    below = " tb-below" if share is not None and share < 0 else ""
    return inside if share is None else f'<div class="tb-heat{below}" style="--share: {abs(share):.2f}">{inside}</div>'


def _head(heading: str | Html) -> str:
    return heading.text if isinstance(heading, Html) else bdi(heading)


_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta name="generator" content="turnbench">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""
