"""What a command shows: an outcome in words, tables, charts and notes, made once for all formats.

    Page("gpt-4 is the best of 8 models ...",
         [Table("graded from 1 to 10", [Column("model"), Column("score", format=".2"),
                                        Column("score", "95% interval", format="interval.2")],
                [{"model": "gpt-4", "score": Cell(8.994, 8.6, 9.38)}])])

    model  score  95% interval
    gpt-4   8.99  8.60 to 9.38

A row holds values, unrounded: a number with its interval is one `Cell`. Numbers by names that users
choose, such as categories, are a mapping: `{"category": {"math": Cell(8.1)}}`, whose column is
`Column("category", of="math")`. Programs get rows that are flat: see `flat`. Every format takes a
page and returns text: see `formats`.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias
from unicodedata import combining, east_asian_width

from harness.errors import UsageError
from harness.words import dollars, p_value, printable, rounded

if TYPE_CHECKING:
    from harness.results import Estimate

ABSENT = "–"
"""What stands where there is no value."""

METRIC, RANK, JUDGES = "metric", "rank", "judges"
"""Fields of the numbers by criterion, label or metric, of a model's places, of each judge."""

Row: TypeAlias = Mapping[str, Any]


class Cell(NamedTuple):
    """A number and its interval."""

    value: float | None
    low: float | None = None
    high: float | None = None

    @classmethod
    def of(cls, estimate: "Estimate | None", scale: tuple[float, float] | None = None) -> "Cell":
        """Return an estimate with its interval, which does not leave the scale."""
        if estimate is None or math.isnan(estimate.value):
            return cls(None)
        if estimate.interval is None:
            return cls(estimate.value)
        least, most = scale or (-math.inf, math.inf)
        ends = estimate.interval
        return cls(estimate.value, max(ends.low, least), min(ends.high, most))


class Range(NamedTuple):
    """The places that a model may have."""

    first: int
    last: int


@dataclass(frozen=True)
class Column:
    """One column of a table, as people see it; programs get the rows' own fields."""

    key: str
    """The field of the rows that it shows."""
    title: str = ""
    """What stands over it (default: `of`, else the key)."""
    format: str = ""
    """How a value is written:

        ""           as it is; whole numbers with thousands separated; a range as 2-3
        ".2"         with 2 decimal places, halves rounded up
        "interval.2" the interval of a `Cell`; "interval%" of a share
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
    mean of the row's shaded columns; a bar of the row's `win`, `tie` and `loss`, which with a key
    are those of a mapping."""
    of: str = ""
    """Which of the values of a mapping it shows: a category, a criterion, a judge."""
    count: str = ""
    """The field of the counts that stand in brackets after its values, a mapping too."""

    @property
    def heading(self) -> str:
        """What stands over it."""
        return printable(self.title or self.of or self.key.replace("_", " "))

    @property
    def interval(self) -> "Column":
        """The column of the intervals of its numbers."""
        return replace(self, format=f"interval{self.format}")

    def number(self, row: Row) -> Cell:
        """Return the number of a row and its interval."""
        value = self._held(row)
        return value if isinstance(value, Cell) else Cell(value)

    def value(self, row: Row) -> Any:
        """Return what a row holds, without an interval."""
        value = self._held(row)
        return value.value if isinstance(value, Cell) else value

    def _held(self, row: Row) -> Any:
        value = row.get(self.key)
        return (value or {}).get(self.of) if self.of else value

    def fill(self, row: dict[str, Any], value: Any) -> None:
        """Put the value of this column into a row."""
        if self.of:
            row.setdefault(self.key, {})[self.of] = value
        else:
            row[self.key] = value

    def cell(self, row: Row) -> str:
        """Return what the cell of a row shows; see `format`.

        >>> row = {"score": Cell(8.995, 8.6, 9.38), "rank": Range(2, 3), "share": 0.725}
        >>> Column("score", format=".2").cell(row), Column("score", format="interval.1").cell(row)
        ('9.00', '8.6 to 9.4')
        >>> Column("rank").cell(row), Column("share", format="%.1").cell(row)
        ('2-3', '72.5')
        """
        kind, _, digits = self.format.partition(".")
        places, scale = int(digits or 0), 2 if kind.endswith("%") else 0
        if kind.startswith("interval"):
            _, low, high = self.number(row)
            if low is None or high is None:
                return ABSENT
            return f"{rounded(low, places, scale)} to {rounded(high, places, scale)}"
        value = self.value(row)
        if isinstance(value, Range):
            first, last = value
            return str(first) if first == last else f"{first}-{last}"
        if value is None or value != value or value == "":
            return ABSENT
        if kind == "$":
            return dollars(value)
        if kind == "p":
            return p_value(value)
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, int) and not digits and kind != "%":
            return f"{value:,}"
        if isinstance(value, int | float):
            count = f" ({row[self.count][self.of]:,})" if self.count else ""
            return (rounded(value, places, scale) if self.format else f"{value:.4g}") + count
        words = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
        return printable(words)

    def to_the_left(self, rows: Sequence[Row]) -> bool:
        """Return whether the column is set to the left: it holds words or ranges."""
        values = [self.value(row) for row in rows]
        is_interval = self.format.startswith("interval")
        return is_interval or any(isinstance(value, str | Range) for value in values)


@dataclass(frozen=True)
class Note:
    """A sentence about the numbers."""

    text: str
    flag: str = ""
    """The command or flag that it leads to; not shown on HTML pages."""

    def __str__(self) -> str:
        if self.text and self.flag and not self.flag.startswith("-"):
            return f"{self.text}:\n{self.flag}"  # a command, ready to copy
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
    """The rows for programs (default: the first table's)."""
    methods: Callable[[], str] | None = None
    """Returns the paragraph of a paper about how the numbers were made."""

    def _repr_html_(self) -> str:
        """Return the page for a notebook."""
        from harness.reporting.html import fragment  # jinja2 is slow to import

        return fragment(self)

    def __repr__(self) -> str:
        return f"<Page: {self.outcome[:100]!r}>"

    @property
    def all_rows(self) -> list[dict[str, Any]]:
        """What programs get, flat: csv, frames, `rows` of JSON."""
        if self.rows is not None:
            return list(map(flat, self.rows))
        return list(map(flat, self.tables[0].rows)) if self.tables else []


def row_of(names: Row, **numbers: "Estimate | None") -> dict[str, Any]:
    """Return a row of names and of numbers with their intervals."""
    return {**names, **{key: Cell.of(estimate) for key, estimate in numbers.items()}}


def flat(row: Row) -> dict[str, Any]:
    """Return a row with a field for each number, each end of an interval, each named value.

    >>> flat({"score": Cell(8.5, 8.0, 9.0), "rank": Range(1, 2)})
    {'score': 8.5, 'score_low': 8.0, 'score_high': 9.0, 'rank_first': 1, 'rank_last': 2}
    >>> flat({"category": {"math": 7}, "metric": {"bleu": 0.2}, "rank": {"bleu": Range(1, 1)}})
    {'category_math': 7, 'bleu': 0.2, 'bleu_rank_first': 1, 'bleu_rank_last': 1}

    Raises:
        UsageError: two values would have one field.
    """
    fields: dict[str, Any] = {}
    for key, value in row.items():
        values = value if isinstance(value, Mapping) else {"": value}
        for name, one in values.items():
            stem = _stem(key, str(name))
            ends: dict[str, Any] = {"": one}
            if isinstance(one, Cell):
                ends = {"": one.value, "_low": one.low, "_high": one.high}
            elif key == RANK:
                first, last = one or (None, None)
                ends = {"_first": first, "_last": last}
            for end, part in ends.items():
                if stem + end in fields:
                    raise UsageError(f"{name or key!r}: two columns would be called {stem + end}")
                fields[stem + end] = part
    return fields


def _stem(key: str, name: str) -> str:
    """Return what a value is called in flat rows: a criterion by its name alone."""
    if not name or key == METRIC:
        return name or key
    if key == RANK:
        return f"{name}_rank"
    return f"judge_{name}" if key == JUDGES else f"{key}_{name}"


def interval_columns(key: str, title: str, form: str) -> list[Column]:
    """Return the columns of a number and of its interval."""
    number = Column(key, title, form, always=True)
    return [number, interval_of(number)]


def interval_of(number: Column) -> Column:
    """Return the column of a number's interval."""
    return replace(
        number,
        title="95% interval",
        format=f"interval{number.format}",
        help="95% confidence interval over questions",
        draw="whisker",
    )


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
