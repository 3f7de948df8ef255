"""What a result consists of for its readers: a page of tables, charts and notes, made once and written in any format.

    Page("Results", {"mode": "single"}, [Table("", [{"model": "a", "average": Estimate(7.31, 6.80, 7.81)}])])

    text    model  average                    csv    model,average,average_low,average_high
            a      7.31 (6.80 to 7.81)               a,7.31,6.8,7.81

A number with its interval is one cell: an `Estimate`, or the three fields `x`, `x_low` and `x_high` of a row. People
see it in one column or in two, as the table's columns say; programs get the three fields.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from harness.old.names import printable
from harness.old.results.statistics.estimate import Estimate
from harness.old.showing.values import ABSENT, Form, interval_text, to_places, with_interval
from harness.old.showing.words import heading_of

Row: TypeAlias = Mapping[str, Any]


class Html(NamedTuple):
    """HTML that goes into a cell of a page as it is; any other value of a cell is escaped."""

    text: str
    number: bool = False
    """Whether it stands to the right, as numbers do."""

    def __str__(self) -> str:
        """Return it without tags, for formats that have none."""
        return re.sub("<[^>]*>", "", self.text)


class Column(NamedTuple):
    """One column as people see it."""

    name: str
    """The field of the rows."""
    heading: str | Html | None = None
    """What stands over it (default: the field's name in plain words)."""
    part: Literal["both", "value", "interval"] = "both"
    """Of a number that has an interval: which of the two is shown."""
    form: Form | None = None
    """How its numbers are written (default: with the table's decimal places)."""

    def cell(self, row: Row, places: int) -> str | Html:
        """Return what stands in the column's cell of a row."""
        form = self.form or to_places(places)
        value, low, high = (row.get(f"{self.name}{end}") for end in ("", "_low", "_high"))
        if self.part == "interval":
            return interval_text(low, high, form)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return with_interval(value, *((low, high) if self.part == "both" else (None, None)), form)
        return ABSENT if value is None else value if isinstance(value, Html) else printable(str(value))


class Cells(NamedTuple):
    """One column as text."""

    name: str
    """The field of the rows."""
    heading: str | Html
    words: bool
    """Whether it holds words, which stand to the left."""
    cells: list[str | Html]
    shares: list[float | None]
    """How far each number lies above (to 1) or below (to -1) the mean of its row, in halves of the scale."""


class Table(NamedTuple):
    """Rows of values under headings."""

    title: str
    rows: Sequence[Row]
    """Values by field, unrounded: numbers, texts, `Estimate`s, None."""
    columns: Sequence[Column] | None = None
    """What people see, from left to right (default: every field, an interval in the cell of its number)."""
    note: str | None = None
    """A sentence below."""
    places: int = 2
    """Decimal places of numbers that are not whole."""
    across: Literal["fields", "groups", "models"] = "fields"
    """What stands side by side: the fields of a row, groups of questions, or models that a row's is compared with."""
    scale: tuple[float, float] | None = None
    """The least and the greatest number that there can be, where numbers are to be shaded by how far they depart from
    the mean of their row: of all models the best would have the darkest row, and nothing would be seen of the rest.
    Where a table has intervals, a number without one is not shaded: it rests on few questions, and departs the most.
    Beside other models it is the middle of the scale that they depart from."""
    keys: int = 1
    """How many columns from the left say what a row is about; they are repeated where a table is divided."""

    def flat_rows(self) -> list[dict[str, Any]]:
        """Return the rows for programs: each `Estimate` as three fields."""
        return [flat(row) for row in self.rows]

    def shown(self) -> list[Cells]:
        """Return the columns as people see them."""
        rows = self.flat_rows()
        found = []
        columns = columns_of(rows) if self.columns is None else self.columns
        if self.across == "models" and self.scale is not None:  # as good as the other is the middle, whoever it meets
            means: list[float | None] = [sum(self.scale) / 2] * len(rows)
        else:
            means = [_mean([row.get(column.name) for column in columns[self.keys :]]) for row in rows]
        for at, column in enumerate(columns):
            heading = heading_of(column.name) if column.heading is None else column.heading
            values = [row.get(column.name) for row in rows]
            words = any(isinstance(value, str) for value in values) or (
                column.part != "value" and any(row.get(f"{column.name}_low") is not None for row in rows)
            )
            heading = printable(heading) if isinstance(heading, str) else heading
            few = [f"{column.name}_low" in row and row[f"{column.name}_low"] is None for row in rows]
            shares = [
                self._share(value, mean) if at >= self.keys and not bare else None
                for value, mean, bare in zip(values, means, few, strict=True)
            ]
            cells = [column.cell(row, self.places) for row in rows]
            found.append(Cells(column.name, heading, words, cells, shares))
        return found

    def _share(self, value: Any, mean: float | None) -> float | None:
        if self.scale is None or mean is None or not isinstance(value, int | float):
            return None
        low, high = self.scale
        return min(1.0, max(-1.0, 2 * (value - mean) / (high - low)))


def _mean(values: Sequence[Any]) -> float | None:
    numbers = [value for value in values if isinstance(value, int | float)]
    return sum(numbers) / len(numbers) if numbers else None


class Chart(NamedTuple):
    """A picture."""

    title: str
    draw: Callable[[], str]
    """Returns it as SVG, as the functions of `showing.charts` do."""
    note: str | None = None
    """A sentence below."""
    instead: Table | None = None
    """The same as a table, for formats without pictures (default: they show nothing)."""


class Note(NamedTuple):
    """A sentence between tables."""

    text: str


Item: TypeAlias = Table | Chart | Note


class Page(NamedTuple):
    """All that one command shows."""

    title: str
    """Of an HTML page."""
    facts: Mapping[str, str]
    """What the page is about, by what it is called; the first one needs no name."""
    items: Sequence[Item]
    """From top to bottom."""
    notes: Sequence[str] = ()
    """What a reader must know, a line each."""
    data: Any = None
    """The same for programs, as JSON shows it."""
    rows: Sequence[Row] = ()
    """The same as one table for programs, as csv and `frame` show it."""


def flat(row: Row) -> dict[str, Any]:
    """Return a row for programs: each `Estimate` `x` as the fields `x`, `x_low` and `x_high`."""
    found: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, Estimate):
            found |= {name: value.value, f"{name}_low": value.low, f"{name}_high": value.high}
        else:
            found[name] = value
    return found


def columns_of(rows: Sequence[Row], *without: str) -> list[Column]:
    """Return a column for each field of flat rows, an interval with its number."""
    names = dict.fromkeys(name for row in rows for name in row)
    ends = {f"{name}_{end}" for name in names for end in ("low", "high") if f"{name}_{end}" in names}
    return [Column(name) for name in names if name not in ends and name not in without]
