"""Charts as SVG: dots with whiskers, bars, a heat map, a radar; all drawn on one kind of sheet.

Each function returns an `<svg>` element. Colours are classes of `chart.css`: a page brings that
sheet, a file has it inside, and both follow light and dark. Series have the colours of Okabe and
Ito (2008), which people with any kind of colour blindness can tell apart, and never differ by
colour alone. Names are text and nothing else; one that is too long is shortened in the middle,
whole on hover.
"""

import math
import pathlib
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple
from xml.etree import ElementTree

from harness.errors import StorageError
from harness.reporting.page import Page, cell_text, printable, rounded

WIDTH = 460.0
"""Of a chart, in pixels; a phone shows it whole, a little smaller."""
_ROW, _CELL, _NAME = 22.0, 24.0, 13.0
"""Heights of a row and of a cell in pixels; the most ems of a name."""
_SERIES = 4
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
        size = {"width": f"{width:.0f}", "height": f"{height:.0f}"}
        box = f"0 0 {width:.0f} {height:.0f}"
        about = {"class": "tb-chart", "role": "img", "aria-label": printable(label)}
        self.root.attrib |= {**about, **size, "viewBox": box}

    def draw(self, tag: str, kind: str, **attributes: float | str) -> ElementTree.Element:
        """Add an element with a class; underscores in attribute names are hyphens."""
        values = {
            name.replace("_", "-"): f"{value:.2f}" if isinstance(value, float) else str(value)
            for name, value in attributes.items()
        }
        return ElementTree.SubElement(self.root, tag, {"class": kind, **values})

    def text(
        self,
        x: float,
        y: float,
        text: str,
        kind: str = "tb-text",
        anchor: Literal["start", "middle", "end"] = "start",
        ems: float = 99.0,
        tip: str = "",
    ) -> None:
        """Write a text with its middle at y, shortened to so many ems."""
        whole = printable(text)
        short = shortened(whole, ems)
        part = self.draw("text", kind, x=x, y=y + 4.0, text_anchor=anchor)
        part.text = short
        if tip or short != whole:
            ElementTree.SubElement(part, "title").text = printable(tip) or whole

    def axis(self, axis: "Axis", top: float, bottom: float) -> None:
        """Draw the lines and numbers of a horizontal axis."""
        for mark in axis.marks:
            x = axis.at(mark)
            self.draw("line", "tb-grid", x1=x, x2=x, y1=top, y2=bottom)
            self.text(x, bottom + 12.0, axis.written(mark), "tb-small", "middle")

    def svg(self) -> str:
        """Return the drawing."""
        return ElementTree.tostring(self.root, encoding="unicode")


class Axis:
    """Numbers to pixels, with round marks that are written exactly."""

    def __init__(
        self, low: float, high: float, start: float, end: float, *, percent: bool = False
    ) -> None:
        self.percent, self.start, self.end = percent, start, end
        for most in (6, 4, 3, 2):
            self.marks = ticks(low, high, most)
            exact = [f"{mark * (100 if percent else 1):.6f}".rstrip("0") for mark in self.marks]
            self.places = max(len(mark.partition(".")[2]) for mark in exact)
            wide = sum(11.0 * (ems_of(self.written(mark)) + 1.0) for mark in self.marks)
            if wide <= end - start:
                break

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
    numbers = [number for mark in rows.values() for number in mark if number is not None]
    numbers += [] if reference is None else [reference]
    ends = min(numbers, default=0.0), max(numbers, default=1.0)
    return _marks({"": rows}, label, ends, percent=percent, reference=reference)


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
    numbers = [
        n for marks in groups.values() for mark in marks.values() for n in mark if n is not None
    ]
    return _marks(groups, label, scale or (min([*numbers, 0.0]), max([*numbers, 0.0])), bar=True)


def _marks(
    groups: Mapping[str, Mapping[str, Mark]],
    label: str,
    ends: tuple[float, float],
    *,
    percent: bool = False,
    reference: float | None = None,
    bar: bool = False,
) -> str:
    """Return a line for each mark: name, dot or bar, whisker, number."""
    names = list(dict.fromkeys(name for marks in groups.values() for name in marks))
    start, end, top = _name_width(names) + 14.0, WIDTH - 62.0, 8.0
    bottom = top + _ROW * sum(len(marks) + bool(group) for group, marks in groups.items())
    sheet = Sheet(WIDTH, bottom + 44.0, f"{label}: {len(names)} names with 95% intervals")
    axis = Axis(*ends, start + 6.0, end, percent=percent)
    sheet.axis(axis, top, bottom)
    if reference is not None:
        x = axis.at(reference)
        sheet.draw("line", "tb-reference", x1=x, x2=x, y1=top, y2=bottom)
    y = top + _ROW / 2
    for group, marks in groups.items():
        if group:
            sheet.text(2.0, y, group, "tb-bold", ems=34.0)
            y += _ROW
        for name, mark in marks.items():
            sheet.text(start - 6.0, y, name, anchor="end", ems=_NAME)
            if mark.value is not None and bar:
                kind = f"tb-fill-{names.index(name) % _SERIES + 1}"
                wide = max(axis.at(mark.value) - axis.start, 1.0)
                sheet.draw("rect", kind, x=axis.start, y=y - 6.0, width=wide, height=12.0)
            if mark.low is not None and mark.high is not None:
                x1, x2 = axis.at(mark.low), axis.at(mark.high)
                sheet.draw("line", "tb-whisker", x1=x1, x2=x2, y1=y, y2=y)
            if mark.value is not None and not bar:
                sheet.draw("circle", "tb-fill-1", cx=axis.at(mark.value), cy=y, r=4.5)
            number = cell_text({"": mark.value}, "", "%" if percent else ".2")
            sheet.text(WIDTH - 4.0, y, number, "tb-small", "end")
            y += _ROW
    sheet.text((start + end) / 2, bottom + 32.0, label, "tb-small", "middle", 38.0)
    return sheet.svg()


def heat_map(
    values: Mapping[str, Mapping[str, float | None]],
    label: str,
    form: str,
    *,
    middle: float | None = None,
) -> str:
    """Return a cell for each row and column; blue is above the middle, orange below.

    Args:
        values: by row and column, from the top and the left; None is a dash.
        label: what the numbers are, below the map.
        form: how they are written, as of a `Column`.
        middle: the number without colour (default: the mean of each row).
    """
    columns = list(dict.fromkeys(column for row in values.values() for column in row))
    start, top = _name_width(values) + 14.0, 26.0
    needed = max([34.0, *(11.0 * ems_of(shortened(head, 8.0)) + 8.0 for head in columns)])
    wide = max(needed, min(70.0, (WIDTH - start) / max(len(columns), 1)))
    bottom = top + _CELL * len(values)
    width = max(WIDTH, start + wide * len(columns) + 4.0)
    sheet = Sheet(width, bottom + 26.0, f"{label}: {len(values)} rows, {len(columns)} columns")
    for at, head in enumerate(columns):
        sheet.text(start + wide * (at + 0.5), top - 12.0, head, "tb-small", "middle", 8.0)
    departures: dict[tuple[str, str], float] = {}
    for row, cells in values.items():
        numbers = {column: value for column, value in cells.items() if value is not None}
        mean = sum(numbers.values()) / max(len(numbers), 1)
        centre = mean if middle is None else middle
        departures |= {(row, column): value - centre for column, value in numbers.items()}
    most = max(map(abs, departures.values()), default=0.0) or 1.0
    for place, (row, cells) in enumerate(values.items()):
        y = top + _CELL * (place + 0.5)
        sheet.text(start - 6.0, y, row, anchor="end", ems=_NAME)
        for at, column in enumerate(columns):
            x = start + wide * at
            step = round(5 * departures.get((row, column), 0.0) / most)
            kind = "tb-cell-0" if not step else f"tb-{'above' if step > 0 else 'below'}"
            box = {"x": x + 0.5, "y": y - _CELL / 2 + 0.5, "width": wide - 1, "height": _CELL - 1}
            if cells.get(column) is not None:
                cell = sheet.draw("rect", kind, **box)
                cell.set("fill-opacity", f"{0.13 * abs(step) or 0.4:.2f}")
            text = cell_text(cells, column, form)
            sheet.text(x + wide / 2, y, text, "tb-small-ink", "middle", tip=f"{row}, {column}")
    sheet.text(4.0, bottom + 14.0, label, "tb-small", ems=width / 11 - 2)
    return sheet.svg()


def radar(
    series: Mapping[str, Mapping[str, float]], label: str, *, scale: tuple[float, float]
) -> str:
    """Return a line around a circle for each of up to four models, a spoke for each category.

    Args:
        series: by model, then by category; all with the same categories, at least three.
        label: what the numbers are, below.
        scale: the least and the greatest number: centre and rim.
    """
    spokes = list(dict.fromkeys(name for numbers in series.values() for name in numbers))
    radius, x0, y0, legend = 130.0, WIDTH / 2, 166.0, 330.0
    height = legend + 20.0 * math.ceil(min(len(series), _SERIES) / 2) + 24.0
    sheet = Sheet(WIDTH, height, label)
    axis = Axis(*scale, 0.0, radius)
    inner = [mark for mark in axis.marks if scale[0] < mark < scale[1]]
    axis.marks = [scale[0], *inner, scale[1]]  # 1 to 10 has no even round marks

    def at(spoke: int, value: float) -> tuple[float, float]:
        far, turn = axis.at(value), 2 * math.pi * spoke / len(spokes)
        return x0 + far * math.sin(turn), y0 - far * math.cos(turn)

    def polygon(kind: str, values: Sequence[float]) -> None:
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(at, range(len(values)), values))
        sheet.draw("polygon", kind, points=points)

    for mark in axis.marks:
        polygon("tb-web", [mark] * len(spokes))
        sheet.text(x0 + 4.0, y0 - axis.at(mark), axis.written(mark), "tb-small")
    for place, name in enumerate(spokes):
        x, y = at(place, scale[1])
        dx, dy = x - x0, y - y0
        anchor: Literal["start", "middle", "end"]
        anchor = "middle" if abs(dx) < 1 else "start" if dx > 0 else "end"
        room = 20.0 if anchor == "middle" else (x0 - abs(dx)) / 12.0 - 1.2
        sheet.text(x + dx * 0.07, y + dy * 0.07, name, anchor=anchor, ems=room)
    for number, (model, numbers) in enumerate(list(series.items())[:_SERIES]):
        if len(numbers) == len(spokes):
            polygon(f"tb-series-{number + 1}", [numbers[name] for name in spokes])
        x, y = 12.0 + number % 2 * WIDTH / 2, legend + 20.0 * (number // 2)
        line = f"{x:.0f},{y:.0f} {x + 28:.0f},{y:.0f}"
        sheet.draw("polyline", f"tb-series-{number + 1}", points=line)
        sheet.text(x + 36.0, y, model, ems=14.0)
    sheet.text(x0, height - 10.0, label, "tb-small", "middle", 40.0)
    return sheet.svg()


def asset(name: str) -> str:
    """Return one of the style sheets and scripts beside this module."""
    return pathlib.Path(__file__).with_name(name).read_text(encoding="utf-8")


def write_charts(folder: pathlib.Path, page: Page) -> list[pathlib.Path]:
    """Write the charts of a page as SVG files with their colours; return their paths.

    Raises:
        StorageError: they cannot be written.
    """
    style = f"<style>{asset('colours.css')}{asset('chart.css')}</style>"
    paths: list[pathlib.Path] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for at, chart in enumerate(page.charts):
            path = folder / f"{chart.name}.svg"
            path = folder / f"{chart.name}_{at}.svg" if path in paths else path
            path.write_text(chart.draw().replace(">", f">{style}", 1) + "\n", encoding="utf-8")
            paths.append(path)
    except OSError as error:
        raise StorageError(f"{folder}: charts cannot be written: {error.strerror}") from None
    return paths


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Return at most `most` + 1 round numbers, evenly spaced, that enclose low and high.

    >>> ticks(0.62, 0.71, 4)
    [0.6, 0.65, 0.7, 0.75]
    """
    span = max(high - low, 1e-6 * max(1.0, abs(low), abs(high)))
    power = 10.0 ** math.floor(math.log10(span / most))
    for step in (power * size for size in (1, 2, 2.5, 5, 10, 20)):
        first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
        if last - first <= most:
            break
    return [round(at * step, 12) + 0.0 for at in range(first, max(last, first + 1) + 1)]


def shortened(text: str, ems: float) -> str:
    """Return a text, or its beginning and end with an ellipsis between."""
    short, kept = text, len(text)
    while kept and ems_of(short) > ems:
        kept -= 1
        short = f"{text[: (kept + 1) // 2]}…{text[len(text) - kept // 2 :]}"
    return short


def ems_of(text: str) -> float:
    """Return about how wide a text is in a browser's usual font, in units of its size."""
    return sum(
        0.0
        if unicodedata.combining(char)
        else 1.0
        if unicodedata.east_asian_width(char) in "WF" or char in "mwMW@%…—"
        else 0.4
        if char in "iljtfrI.,:;|!'()[]/ -"
        else 0.66
        for char in text
    )


def _name_width(names: Iterable[str]) -> float:
    return 12.0 * max((ems_of(shortened(printable(name), _NAME)) for name in names), default=0.0)
