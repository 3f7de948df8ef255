"""What a command shows: an outcome in words, tables, charts and notes, made once for all formats.

    Page("gpt-4 is the best of 8 models ...",
         [Table("graded from 1 to 10", [Column("model"), Column("score", format=".2"),
                                        Column("score", "95% interval", format="interval.2")],
                [{"model": "gpt-4", "score": 8.994, "score_low": 8.6, "score_high": 9.38}])])

    model  score  95% interval
    gpt-4   8.99  8.60 to 9.38

Rows hold plain values, unrounded; an interval of `score` is `score_low` and `score_high` beside it.
Every format takes a page and returns text: see `formats`.
"""

import decimal
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias
from unicodedata import combining, east_asian_width

from harness.words import dollars, printable

if TYPE_CHECKING:
    from harness.results import Estimate

ABSENT = "–"
"""What stands where there is no value."""

Row: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class Column:
    """One column of a table, as people see it; programs get the rows' own fields."""

    key: str
    """The field of the rows that it shows."""
    title: str = ""
    """What stands over it (default: the key)."""
    format: str = ""
    """How a value is written:

        ""           as it is; whole numbers with thousands separated
        ".2"         with 2 decimal places, halves rounded up
        "interval.2" `key_low` to `key_high`; "interval%" of a share
        "ranks"      `key_first`-`key_last`, or one number
        "%", "%.1"   a share as a percentage, without the sign
        "$"          dollars
        "p"          a p-value
    """
    help: str = ""
    """What the column is, on hover."""
    hidden_in_text: bool = False
    """Shown by formats for programs and in HTML only."""
    always: bool = False
    """Shown in text too where every row has the same value."""
    optional: bool = False
    """Left out of text where the table is too wide."""
    draw: Literal["", "whisker", "shade", "record"] = ""
    """What HTML draws: a whisker of the interval; a shade by how far the value departs from the
    mean of the row's shaded columns; a bar of `win`, `tie` and `loss`, with the key before them."""

    @property
    def heading(self) -> str:
        """What stands over it."""
        return printable(self.title or self.key.replace("_", " "))

    def cell(self, row: Row) -> str:
        """Return what the cell of a row shows; see `format`.

        >>> row = {"score": 8.995, "score_low": 8.6, "score_high": 9.38}
        >>> Column("score", format=".2").cell(row), Column("score", format="interval.1").cell(row)
        ('9.00', '8.6 to 9.4')
        >>> Column("rank", format="ranks").cell({"rank_first": 2, "rank_last": 3})
        '2-3'
        >>> Column("share", format="%.1").cell({"share": 0.725})
        '72.5'
        """
        kind, _, digits = self.format.partition(".")
        places, scale = int(digits or 0), 2 if kind.endswith("%") else 0
        if kind == "ranks":
            first, last = row.get(f"{self.key}_first"), row.get(f"{self.key}_last")
            return ABSENT if first is None else str(first) if first == last else f"{first}-{last}"
        if kind.startswith("interval"):
            low, high = row.get(f"{self.key}_low"), row.get(f"{self.key}_high")
            if low is None or high is None:
                return ABSENT
            return f"{rounded(low, places, scale)} to {rounded(high, places, scale)}"
        value = row.get(self.key)
        if value is None or value != value or value == "":
            return ABSENT
        if kind == "$":
            return dollars(value)
        if kind == "p":
            return "<0.001" if value < 0.0005 else rounded(value, 3)
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, int) and not digits and kind != "%":
            return f"{value:,}"
        if isinstance(value, int | float):
            return rounded(value, places, scale) if self.format else f"{value:.4g}"
        words = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
        return printable(words)

    def to_the_left(self, rows: Sequence[Row]) -> bool:
        """Return whether the column is set to the left: it holds words or ranges."""
        ranges = self.format == "ranks" or self.format.startswith("interval")
        return ranges or any(isinstance(row.get(self.key), str) for row in rows)


@dataclass(frozen=True)
class Note:
    """A sentence about the numbers."""

    text: str
    flag: str = ""
    """The command or flag that it leads to; not shown on HTML pages."""

    def __str__(self) -> str:
        return ": ".join(part for part in (self.text, self.flag) if part)


@dataclass(frozen=True)
class Table:
    """Rows of values under headings."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    name: str = ""
    """The table's name in JSON; without one it is in the page's rows already."""
    only: Literal["", "text", "html", "json"] = ""
    """The one kind of page that shows it: text (and Markdown), HTML or JSON."""
    instead: str = ""
    """What text says at the end if the table is too wide (default: it is divided)."""

    def text_columns(self) -> list[Column]:
        """Return the columns that text shows: the first, and those not hidden, empty, constant."""
        first, *others = [column for column in self.columns if not column.hidden_in_text]
        columns = [first]
        for column in others:
            cells = {column.cell(row) for row in self.rows}
            varies = len(cells) > 1 or len(self.rows) < 2 or column.always
            columns += [column] if varies and cells != {ABSENT} else []
        return columns


@dataclass(frozen=True)
class Chart:
    """A picture."""

    title: str
    draw: Callable[[], str]
    """Returns it as an `<svg>` element, as the functions of `charts` do."""
    name: str = "chart"
    """Of its file."""
    in_table: bool = False
    """Whether the HTML page's table draws the same, so that only a file has it."""


@dataclass(frozen=True)
class Page:
    """All that one command shows."""

    outcome: str
    """The answer in plain words; paragraphs are separated by line breaks."""
    tables: Sequence[Table] = ()
    charts: Sequence[Chart] = ()
    notes: Sequence[Note] = ()
    causes: Sequence[Note] = ()
    """Why there is no answer, with the command that helps; directly below the outcome."""
    title: str = "turnbench"
    """Of an HTML page."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Further fields for JSON, such as `mode` and `judge`."""
    rows: Sequence[Row] | None = None
    """What programs get: csv, frames, `rows` of JSON (default: the first table's)."""

    def __repr__(self) -> str:
        return f"<Page: {self.outcome[:100]!r}>"

    @property
    def all_rows(self) -> Sequence[Row]:
        """What programs get."""
        if self.rows is not None:
            return self.rows
        return self.tables[0].rows if self.tables else []


def put(
    row: dict[str, Any],
    key: str,
    estimate: "Estimate | None",
    scale: tuple[float, float] | None = None,
) -> None:
    """Put a number and its interval, which does not leave the scale, into a row."""
    value = low = high = None
    if estimate is not None:
        value = None if math.isnan(estimate.value) else estimate.value
        if ends := estimate.interval:
            least, most = scale or (-math.inf, math.inf)
            low, high = max(ends.low, least), min(ends.high, most)
    row |= {key: value, f"{key}_low": low, f"{key}_high": high}


def row_of(names: Row, **numbers: "Estimate | None") -> dict[str, Any]:
    """Return a row of names, numbers and their intervals."""
    row = dict(names)
    for key, estimate in numbers.items():
        put(row, key, estimate)
    return row


def interval_columns(key: str, title: str, form: str) -> list[Column]:
    """Return the columns of a number and of its interval."""
    about = "95% confidence interval over questions"
    ends = Column(key, "95% interval", f"interval{form}", about, always=True, draw="whisker")
    return [Column(key, title, form, always=True), ends]


def rounded(value: float, places: int, scale: int = 0) -> str:
    """Return a number times 10 ** scale, halves rounded up as in published tables.

    >>> rounded(3.275, 2), rounded(-0.001, 2), rounded(0.645, 0, 2)
    ('3.28', '0.00', '65')
    """
    exact = decimal.Decimal(repr(float(value))).scaleb(scale)
    short = exact.quantize(decimal.Decimal(1).scaleb(-places), rounding=decimal.ROUND_HALF_UP)
    return str(short or abs(short))  # no minus before a zero


def percent(share: float, places: int = 0) -> str:
    """Return a share as a percentage.

    >>> percent(0.344)
    '34%'
    """
    return f"{rounded(share, places, 2)}%"


def columns_of(text: str) -> int:
    """Return how many columns of a terminal a text takes: two for a wide character."""
    if text.isascii():
        return len(text)
    wide = (0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)
    return sum(wide)


def shortened(text: str, most: float) -> str:
    """Return a text of at most so many columns: its beginning and end with an ellipsis between.

    >>> shortened("a-model-with-a-long-name", 12)
    'a-mode…-name'
    """
    short, size = text, len(text)
    while size and columns_of(short) > most:
        size -= 1
        short = f"{text[: (size + 1) // 2]}…{text[len(text) - size // 2 :]}"
    return short
