"""Results -> output for people and programs: a page of tables, charts and notes, made once, written in any format.

items.py             Table, Chart, Note, and the Page that holds them; a number with its interval is one cell
values.py, words.py  numbers, names and headings as every format shows them
text.py, markdown.py, latex.py, csv.py, json.py, html.py, frame.py      one format each: a function of a page
lines.py             the order of output in formats without pictures; pictures.py: charts as files
show_result.py, judge_report.py, judge_set.py, check_bench.py, status.py, costs.py   what each command shows, as a page
efficiency.py, first_turn.py, style.py, users.py                        the pages of flags of show_result
charts/              one picture for each file, as SVG
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from harness.old.showing.csv import csv as csv
from harness.old.showing.frame import frame as frame
from harness.old.showing.html import html as html
from harness.old.showing.items import Chart as Chart
from harness.old.showing.items import Column as Column
from harness.old.showing.items import Html as Html
from harness.old.showing.items import Note as Note
from harness.old.showing.items import Page as Page
from harness.old.showing.items import Table as Table
from harness.old.showing.json import json as json
from harness.old.showing.latex import latex as latex
from harness.old.showing.markdown import markdown as markdown
from harness.old.showing.text import text as text


class Format(NamedTuple):
    """A format, and all that who writes in it has to know."""

    write: Callable[[Page], str | bytes]
    for_programs: bool = False
    """Whether it is one table, without a place for notes or for another page behind it."""
    binary: bool = False
    """Whether it is bytes, which a terminal cannot show."""


FORMATS: Mapping[str, Format] = {
    "table": Format(text),
    "json": Format(json, for_programs=True),
    "csv": Format(csv, for_programs=True),
    "markdown": Format(markdown),
    "latex": Format(latex),
    "html": Format(html),
}
"""What --format takes. A new format is one function, and a line here."""
