"""Charts as SVG: dots with whiskers, bars, a heat map, a radar.

Each function takes the rows and columns of a table and returns an `<svg>` element; the drawing is
in `templates/`. Colours are classes of `chart.css`: a page brings that sheet, a file has it inside,
and both follow light and dark. Series have the colours of Okabe and Ito (2008), which people with
any kind of colour blindness can tell apart, and never differ by colour alone. A name that is too
long is shortened in the middle, whole on hover.
"""

import math
import pathlib
from collections.abc import Sequence
from typing import Any

from harness.bench import file_stem
from harness.errors import StorageError
from harness.reporting.page import Column, Page, Row
from harness.reporting.templates import asset, ems_of, render

WIDTH = 460.0
"""Of a chart, in pixels; a phone shows it whole, a little smaller."""
SERIES = 4
"""Colours and dashes that there are; a radar shows no more models."""
_NAME = 13.0
"""The most ems of a name, of 12 pixels each."""


class Axis:
    """Numbers to pixels, with round marks that are written exactly."""

    def __init__(self, marks: Sequence[float], start: float, end: float, percent: bool) -> None:
        self.marks, self.start, self.end, self.percent = marks, start, end, percent

    def at(self, value: float | None) -> float | None:
        """Return where a number lies; outside the axis at its end."""
        if value is None:
            return None
        low, high = self.marks[0], self.marks[-1]
        part = (min(max(value, low), high) - low) / (high - low)
        return self.start + part * (self.end - self.start)

    def written(self, mark: float) -> str:
        """Return a mark with the decimal places that it needs: 0.725 is 72.5%."""
        return f"{100 * mark:.9g}%" if self.percent else f"{mark:.9g}"


def marks(
    rows: Sequence[Row],
    columns: Sequence[Column],
    label: str,
    *,
    name: str = "model",
    scale: Sequence[float] = (),
    reference: float | None = None,
    bar: bool = False,
) -> str:
    """Return a dot or bar for each row under each column's heading, with a whisker each.

    Args:
        rows: as of a table.
        columns: the numbers.
        label: what they are, below the axis.
        name: the field that names a row.
        scale: the least and the greatest possible number (default: those that there are).
        reference: a number to mark with a dashed line, such as one half.
        bar: whether bars are drawn, from 0.
    """
    cells = [column.number(row) for row in rows for column in columns]
    numbers = [end for cell in cells for end in cell if end is not None]
    numbers += [0.0] * bar + ([] if reference is None else [reference])
    numbers = list(scale) or numbers or [0.0, 1.0]
    start = _name_width([row[name] for row in rows]) + 20.0
    percent = columns[0].format.startswith("%")
    axis = Axis(ticks(min(numbers), max(numbers)), start, WIDTH - 62.0, percent)
    lines: list[dict[str, Any]] = []
    for column in columns:
        lines += [{"heading": column.heading}] if len(columns) > 1 else []
        for place, row in enumerate(rows):
            line = {"name": row[name], "number": column.cell(row), "series": place % SERIES + 1}
            for end, number in zip(("x", "low", "high"), column.number(row), strict=True):
                line[end] = axis.at(number)
            lines.append(line)
    values = {"label": label, "reference": reference, "bar": bar, "most": _NAME, "width": WIDTH}
    return render("marks.svg", axis=axis, lines=lines, **values)


def heat_map(rows: Sequence[Row], columns: Sequence[Column], label: str) -> str:
    """Return a cell for each row and column; blue is above the row's mean, orange below.

    Args:
        rows: as of a table of models.
        columns: the numbers, from the left.
        label: what they are, below the map.
    """
    start = _name_width([row["model"] for row in rows]) + 14.0
    least = max([34.0, *(11.0 * min(ems_of(column.heading), 8.0) + 8.0 for column in columns)])
    wide = max(least, min(70.0, (WIDTH - start) / len(columns)))
    width = max(WIDTH, start + wide * len(columns) + 4.0)
    lines = []
    for row, steps in zip(rows, departures(rows, columns), strict=True):
        cells = [(column.cell(row), steps.get(column)) for column in columns]
        lines.append((row["model"], cells))
    sizes = {"start": start, "wide": wide, "width": width, "most": _NAME}
    return render("heat_map.svg", label=label, columns=columns, rows=lines, **sizes)


def departures(rows: Sequence[Row], columns: Sequence[Column]) -> list[dict[Column, int]]:
    """Return how far each row's numbers are from their mean, from -5 to 5.

    The greatest departure in the table is 5 or -5.
    """
    differences = []
    for row in rows:
        numbers = {c: value for c in columns if (value := c.value(row)) is not None}
        mean = sum(numbers.values()) / max(len(numbers), 1)
        differences.append({key: value - mean for key, value in numbers.items()})
    most = max((abs(value) for row in differences for value in row.values()), default=0.0) or 1.0
    return [{key: round(5 * value / most) for key, value in row.items()} for row in differences]


def radar(
    rows: Sequence[Row], columns: Sequence[Column], label: str, *, scale: tuple[float, float]
) -> str:
    """Return a line around a circle for each of the first four models.

    Args:
        rows: as of a table of models; one that lacks a number has no line.
        columns: the numbers, at least three: the spokes.
        label: what they are, below.
        scale: the least and the greatest number: centre and rim.
    """
    inner = [mark for mark in ticks(*scale) if scale[0] < mark < scale[1]]
    axis = Axis([scale[0], *inner, scale[1]], 0.0, 130.0, percent=False)
    turns = [2 * math.pi * place / len(columns) for place in range(len(columns))]

    def polygon(numbers: Sequence[float | None]) -> str:
        points = []
        for number, turn in zip(numbers, turns, strict=True):
            if (far := axis.at(number)) is None:
                return ""
            x, y = WIDTH / 2 + far * math.sin(turn), 166.0 - far * math.cos(turn)
            points.append(f"{x:.1f},{y:.1f}")
        return " ".join(points)

    rings = [
        (polygon([mark] * len(turns)), axis.at(mark), axis.written(mark)) for mark in axis.marks
    ]
    lines = [
        (row["model"], polygon([column.value(row) for column in columns])) for row in rows[:SERIES]
    ]
    spokes = []
    for column, turn in zip(columns, turns, strict=True):
        x, y = axis.end * math.sin(turn), -axis.end * math.cos(turn)
        anchor = "middle" if abs(x) < 1 else "start" if x > 0 else "end"
        ems = 20.0 if anchor == "middle" else (WIDTH / 2 - abs(x)) / 12.0 - 1.2
        spokes.append({"x": x, "y": y, "name": column.heading, "anchor": anchor, "ems": ems})
    return render("radar.svg", label=label, width=WIDTH, rings=rings, spokes=spokes, lines=lines)


def write_charts(folder: pathlib.Path, page: Page) -> None:
    """Write the charts of a page as SVG files with their colours.

    Raises:
        StorageError: they cannot be written.
    """
    style = f"<style>{asset('colours.css')}{asset('chart.css')}</style>"
    written: list[str] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for chart in page.charts:
            name = file_stem(chart.name)
            name = f"{name}_{len(written)}" if name in written else name
            svg = str(chart.draw()).strip().replace(">", f">{style}", 1)
            (folder / f"{name}.svg").write_text(f"{svg}\n", encoding="utf-8")
            written.append(name)
    except OSError as error:
        raise StorageError(f"{folder}: charts cannot be written: {error.strerror}") from None


def ticks(low: float, high: float, most: int = 4) -> list[float]:
    """Return at most `most` + 1 round numbers, evenly spaced, that enclose low and high.

    >>> ticks(0.62, 0.71)
    [0.6, 0.65, 0.7, 0.75]
    """
    span = max(high - low, 1e-6 * max(1.0, abs(low), abs(high)))
    power = 10.0 ** math.floor(math.log10(span / most))
    for step in (power * size for size in (1, 2, 2.5, 5, 10, 20)):
        first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
        if last - first <= most:
            break
    return [round(at * step, 12) + 0.0 for at in range(first, max(last, first + 1) + 1)]


def _name_width(names: Sequence[str]) -> float:
    return 12.0 * min(max(map(ems_of, names), default=0.0), _NAME)
