"""Charts as SVG: dots with whiskers, bars, a heat map, a radar; all drawn on one kind of sheet.

Each function returns an `<svg>` element. Colours are classes of `chart.css`: a page brings that
sheet, a file has it inside, and both follow light and dark. Series have the colours of Okabe and
Ito (2008), which people with any kind of colour blindness can tell apart, and never differ by
colour alone. Names are text and nothing else; one that is too long is shortened in the middle,
whole on hover.
"""

import math
import pathlib
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple
from xml.etree import ElementTree

from harness.errors import StorageError
from harness.reporting.page import Page, cell_text, columns_of, printable, rounded, shortened

WIDTH = 460.0
"""Of a chart, in pixels; a phone shows it whole, a little smaller."""
_ROW, _CELL, _NAME = 22.0, 24.0, 13.0
"""Heights of a row and of a cell in pixels; the most ems of a name."""
_EM = 0.64
"""Ems of a letter, about."""
SERIES = 4
"""Colours, dashes and markers that there are; charts of lines show no more models."""


class Mark(NamedTuple):
    """A number with its 95% interval."""

    value: float | None
    low: float | None = None
    high: float | None = None


class Sheet:
    """One drawing; x grows to the right and y downwards, in pixels."""

    def __init__(self, width: float, height: float, label: str) -> None:
        self.root = ElementTree.Element("svg", xmlns="http://www.w3.org/2000/svg")
        self.root.attrib |= {"class": "tb-chart", "role": "img", "aria-label": printable(label)}
        self.root.attrib |= {"width": f"{width:.0f}", "height": f"{height:.0f}"}
        self.root.set("viewBox", f"0 0 {width:.0f} {height:.0f}")

    def draw(self, tag: str, kind: str, **attributes: float | str) -> ElementTree.Element:
        """Add an element with a class; underscores in attribute names are hyphens."""
        element = ElementTree.SubElement(self.root, tag, {"class": kind})
        for name, value in attributes.items():
            text = f"{value:.2f}" if isinstance(value, float) else str(value)
            element.set(name.replace("_", "-"), text)
        return element

    def text(
        self, x: float, y: float, text: str, kind: str = "", anchor: str = "start", ems: float = 99
    ) -> None:
        """Write a text with its middle at y, shortened to so many ems."""
        part = self.draw("text", f"tb-{kind or 'text'}", x=x, y=y + 4.0, text_anchor=anchor)
        part.text = shortened(printable(text), ems / _EM)
        if part.text != text:
            ElementTree.SubElement(part, "title").text = printable(text)

    def svg(self) -> str:
        """Return the drawing."""
        return ElementTree.tostring(self.root, encoding="unicode")


class Axis:
    """Numbers to pixels, with round marks that are written exactly."""

    def __init__(self, marks: Sequence[float], start: float, end: float, percent: bool) -> None:
        self.marks, self.start, self.end, self.percent = marks, start, end, percent
        exact = [f"{mark * (100 if percent else 1):.6f}".rstrip("0") for mark in marks]
        self.places = max(len(mark.partition(".")[2]) for mark in exact)

    def at(self, value: float) -> float:
        """Return where a number lies; outside the axis at its end."""
        low, high = self.marks[0], self.marks[-1]
        part = (min(max(value, low), high) - low) / (high - low)
        return self.start + part * (self.end - self.start)

    def written(self, mark: float) -> str:
        """Return a mark with the decimal places that it needs: 0.725 is 72.5%."""
        return rounded(mark, self.places, 2 if self.percent else 0) + ("%" if self.percent else "")


def dots(
    rows: Mapping[str, Mark], label: str, *, percent: bool = False, reference: float | None = None
) -> str:
    """Return a dot for each name with a whisker for its interval.

    Args:
        rows: by name, from top to bottom.
        label: what the numbers are, below the axis.
        percent: whether the numbers are shares, to be written as percentages.
        reference: a number to mark with a dashed line, such as one half.
    """
    return _marks({"": rows}, label, [] if reference is None else [reference], percent)


def bars(
    groups: Mapping[str, Mapping[str, Mark]],
    label: str,
    *,
    scale: tuple[float, float] | None = None,
) -> str:
    """Return a bar for each model under each group's heading, with a whisker for its interval.

    Args:
        groups: by group, then by model.
        label: what the numbers are, below the axis.
        scale: the least and the greatest possible number (default: from 0 to the greatest).
    """
    return _marks(groups, label, scale or [0.0], percent=False, bar=True)


def _marks(
    groups: Mapping[str, Mapping[str, Mark]],
    label: str,
    reach: Sequence[float],
    percent: bool,
    bar: bool = False,
) -> str:
    """Return a line for each mark: name, dot or bar, whisker, number; the axis reaches `reach`."""
    marks = [mark for group in groups.values() for mark in group.values()]
    numbers = [n for mark in marks for n in mark if n is not None]
    numbers = [*reach, *numbers] if len(reach) < 2 else [*reach]
    names = list(dict.fromkeys(name for group in groups.values() for name in group))
    start, end, top = _name_width(names) + 14.0, WIDTH - 62.0, 8.0
    bottom = top + _ROW * (len(marks) + sum(map(bool, groups)))
    sheet = Sheet(WIDTH, bottom + 44.0, f"{label}: {len(names)} names with 95% intervals")
    low, high = min(numbers, default=0.0), max(numbers, default=1.0)
    axis = Axis(ticks(low, high), start + 6.0, end, percent)
    for tick in axis.marks:
        x = axis.at(tick)
        sheet.draw("line", "tb-grid", x1=x, x2=x, y1=top, y2=bottom)
        sheet.text(x, bottom + 12.0, axis.written(tick), "small", "middle")
    if reach and not bar:
        x = axis.at(reach[0])
        sheet.draw("line", "tb-reference", x1=x, x2=x, y1=top, y2=bottom)
    y = top + _ROW / 2
    for group, by_name in groups.items():
        if group:
            sheet.text(2.0, y, group, "bold", ems=34.0)
            y += _ROW
        for name, mark in by_name.items():
            sheet.text(start - 6.0, y, name, anchor="end", ems=_NAME)
            if mark.value is not None and bar:
                kind = f"tb-fill-{names.index(name) % SERIES + 1}"
                wide = max(axis.at(mark.value) - axis.start, 1.0)
                sheet.draw("rect", kind, x=axis.start, y=y - 6.0, width=wide, height=12.0)
            if mark.low is not None and mark.high is not None:
                x1, x2 = axis.at(mark.low), axis.at(mark.high)
                sheet.draw("line", "tb-whisker", x1=x1, x2=x2, y1=y, y2=y)
            if mark.value is not None and not bar:
                sheet.draw("circle", "tb-fill-1", cx=axis.at(mark.value), cy=y, r=4.5)
            number = cell_text({"": mark.value}, "", "%" if percent else ".2")
            sheet.text(WIDTH - 4.0, y, number, "small", "end")
            y += _ROW
    sheet.text((start + end) / 2, bottom + 32.0, label, "small", "middle", 38.0)
    return sheet.svg()


def heat_map(values: Mapping[str, Mapping[str, float | None]], label: str, form: str) -> str:
    """Return a cell for each row and column; blue is above the row's mean, orange below.

    Args:
        values: by row and column, from the top and the left; None is a dash.
        label: what the numbers are, below the map.
        form: how they are written, as of a `Column`.
    """
    columns = list(dict.fromkeys(column for row in values.values() for column in row))
    start, top = _name_width(values) + 14.0, 26.0
    least = max([34.0, *(11.0 * min(ems_of(head), 8.0) + 8.0 for head in columns)])
    wide = max(least, min(70.0, (WIDTH - start) / max(len(columns), 1)))
    bottom, width = top + _CELL * len(values), max(WIDTH, start + wide * len(columns) + 4.0)
    sheet = Sheet(width, bottom + 26.0, f"{label}: {len(values)} rows, {len(columns)} columns")
    for at, head in enumerate(columns):
        sheet.text(start + wide * (at + 0.5), top - 12.0, head, "small", "middle", 8.0)
    y = top + _CELL / 2
    for (row, cells), steps in zip(values.items(), departures(values.values()), strict=True):
        sheet.text(start - 6.0, y, row, anchor="end", ems=_NAME)
        for at, column in enumerate(columns):
            x, step = start + wide * at, steps.get(column)
            if step is not None:
                kind = "tb-cell-0" if not step else f"tb-{'above' if step > 0 else 'below'}"
                box = {"x": x + 0.5, "y": y - _CELL / 2 + 0.5}
                cell = sheet.draw("rect", kind, **box, width=wide - 1, height=_CELL - 1)
                cell.set("fill-opacity", f"{0.13 * abs(step) or 0.4:.2f}")
            sheet.text(x + wide / 2, y, cell_text(cells, column, form), "small-ink", "middle")
        y += _CELL
    sheet.text(4.0, bottom + 14.0, label, "small", ems=width / 11 - 2)
    return sheet.svg()


def departures(rows: Iterable[Mapping[str, float | None]]) -> list[dict[str, int]]:
    """Return how far each row's numbers are from their mean, from -5 to 5.

    The greatest departure in the table is 5 or -5.
    """
    differences = []
    for row in rows:
        numbers = {key: value for key, value in row.items() if value is not None}
        mean = sum(numbers.values()) / max(len(numbers), 1)
        differences.append({key: value - mean for key, value in numbers.items()})
    most = max((abs(value) for row in differences for value in row.values()), default=0.0) or 1.0
    return [{key: round(5 * value / most) for key, value in row.items()} for row in differences]


def radar(
    series: Mapping[str, Mapping[str, float | None]], label: str, *, scale: tuple[float, float]
) -> str:
    """Return a line around a circle for each of up to four models, a spoke for each category.

    Args:
        series: by model, then by category; all with the same categories, at least three. One
            that lacks a number has no line.
        label: what the numbers are, below.
        scale: the least and the greatest number: centre and rim.
    """
    spokes = list(dict.fromkeys(name for numbers in series.values() for name in numbers))
    radius, x0, y0, legend = 130.0, WIDTH / 2, 166.0, 330.0
    height = legend + 20.0 * math.ceil(len(series) / 2) + 24.0
    sheet = Sheet(WIDTH, height, label)
    inner = [mark for mark in ticks(*scale) if scale[0] < mark < scale[1]]
    axis = Axis([scale[0], *inner, scale[1]], 0.0, radius, percent=False)

    def polygon(kind: str, values: Sequence[float]) -> None:
        points = []
        for spoke, value in enumerate(values):
            far, turn = axis.at(value), 2 * math.pi * spoke / len(spokes)
            points.append(f"{x0 + far * math.sin(turn):.1f},{y0 - far * math.cos(turn):.1f}")
        sheet.draw("polygon", kind, points=" ".join(points))

    for mark in axis.marks:
        polygon("tb-web", [mark] * len(spokes))
        sheet.text(x0 + 4.0, y0 - axis.at(mark), axis.written(mark), "small")
    for spoke, name in enumerate(spokes):
        turn = 2 * math.pi * spoke / len(spokes)
        dx, dy = radius * math.sin(turn), -radius * math.cos(turn)
        anchor = "middle" if abs(dx) < 1 else "start" if dx > 0 else "end"
        room = 20.0 if anchor == "middle" else (x0 - abs(dx)) / 12.0 - 1.2
        sheet.text(x0 + dx * 1.07, y0 + dy * 1.07, name, anchor=anchor, ems=room)
    for number, (model, numbers) in enumerate(series.items()):
        present = [value for value in numbers.values() if value is not None]
        if len(present) == len(spokes):
            polygon(f"tb-series-{number + 1}", present)
        x, y = 12.0 + number % 2 * WIDTH / 2, legend + 20.0 * (number // 2)
        line = f"{x:.0f},{y:.0f} {x + 28:.0f},{y:.0f}"
        sheet.draw("polyline", f"tb-series-{number + 1}", points=line)
        sheet.text(x + 36.0, y, model, ems=14.0)
    sheet.text(x0, height - 10.0, label, "small", "middle", 40.0)
    return sheet.svg()


def asset(name: str) -> str:
    """Return one of the style sheets and scripts beside this module."""
    return pathlib.Path(__file__).with_name(name).read_text(encoding="utf-8")


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
            name = f"{chart.name}_{len(written)}" if chart.name in written else chart.name
            svg = chart.draw().replace(">", f">{style}", 1)
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


def ems_of(text: str) -> float:
    """Return about how wide a text is in a browser's usual font, in units of its size."""
    return _EM * columns_of(text)


def _name_width(names: Iterable[str]) -> float:
    return 12.0 * min(max(map(ems_of, map(printable, names)), default=0.0), _NAME)
