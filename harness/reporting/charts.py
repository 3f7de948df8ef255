"""Charts as SVG: dots with whiskers, bars, a heat map, a radar; all drawn on one kind of sheet.

Each function returns an `<svg>` element. Colours are classes of `chart.css`: a page brings that
sheet, `standalone` puts it into a file of its own, and both follow light and dark. Series have the
colours of Okabe and Ito (2008), which people with any kind of colour blindness can tell apart, and
never differ by colour alone. Names are text and nothing else; one that is too long is shortened in
the middle, whole on hover.
"""

import math
import pathlib
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple
from xml.etree import ElementTree

from harness.errors import StorageError
from harness.reporting.page import ABSENT, Page, printable, rounded

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
        self.root = ElementTree.Element(
            "svg",
            {
                "xmlns": "http://www.w3.org/2000/svg",
                "class": "tb-chart",
                "width": f"{width:.0f}",
                "height": f"{height:.0f}",
                "viewBox": f"0 0 {width:.0f} {height:.0f}",
                "role": "img",
                "aria-label": printable(label),
            },
        )

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
            scaled = [mark * (100 if percent else 1) for mark in self.marks]
            self.places = next(
                (n for n in range(6) if all(abs(v - round(v, n)) < 1e-9 for v in scaled)), 6
            )
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
    rows: Mapping[str, Mark],
    label: str,
    *,
    percent: bool = False,
    reference: float | None = None,
    places: int = 2,
) -> str:
    """Return a dot for each name with a whisker for its interval; a ring has no interval.

    Args:
        rows: by name, from top to bottom.
        label: what the numbers are, below the axis.
        percent: whether the numbers are shares, to be written as percentages.
        reference: a number to mark with a dashed line, such as one half.
        places: decimal places of the numbers beside the dots.
    """
    numbers = [number for mark in rows.values() for number in mark if number is not None]
    numbers += [reference] if reference is not None else []
    start, top = _name_width(rows) + 14.0, 8.0
    bottom = top + _ROW * len(rows)
    sheet = Sheet(WIDTH, bottom + 44.0, f"{label}: {len(rows)} rows with 95% intervals")
    axis = Axis(
        min(numbers, default=0.0),
        max(numbers, default=1.0),
        start + 6.0,
        WIDTH - 62.0,
        percent=percent,
    )
    sheet.axis(axis, top, bottom)
    if reference is not None:
        x = axis.at(reference)
        sheet.draw("line", "tb-reference", x1=x, x2=x, y1=top, y2=bottom)
    for at, (name, mark) in enumerate(rows.items()):
        y = top + _ROW * (at + 0.5)
        sheet.text(start - 6.0, y, name, anchor="end", ems=_NAME)
        if mark.value is None:
            sheet.text(WIDTH - 4.0, y, ABSENT, "tb-small", "end")
            continue
        sure = mark.low is not None and mark.high is not None
        if mark.low is not None and mark.high is not None:
            ends = axis.at(mark.low), axis.at(mark.high)
            sheet.draw("line", "tb-whisker", x1=ends[0], x2=ends[1], y1=y, y2=y)
        kind = "tb-fill-1" if sure else "tb-ring"
        sheet.draw("circle", kind, cx=axis.at(mark.value), cy=y, r=4.5)
        number = rounded(mark.value, max(0, places - 2) if percent else places, 2 * percent)
        sheet.text(WIDTH - 4.0, y, number + ("%" if percent else ""), "tb-small", "end")
    sheet.text((start + WIDTH - 62.0) / 2, bottom + 32.0, label, "tb-small", "middle", 38.0)
    return sheet.svg()


def bars(
    groups: Mapping[str, Mapping[str, Mark]],
    label: str,
    *,
    scale: tuple[float, float] | None = None,
    places: int = 2,
) -> str:
    """Return a bar for each model under each group's heading, with a whisker for its interval.

    Args:
        groups: by group, then by model.
        label: what the numbers are, below the axis.
        scale: the least and the greatest possible number (default: from 0 to the greatest).
        places: decimal places of the numbers beside the bars.
    """
    numbers = [
        n for marks in groups.values() for mark in marks.values() for n in mark if n is not None
    ]
    low, high = scale or (min(0.0, *numbers, 0.0), max([*numbers, 0.0]))
    models = list(dict.fromkeys(model for marks in groups.values() for model in marks))
    start, top, bar = _name_width(models) + 14.0, 6.0, 12.0
    bottom = top + sum(_ROW + 18.0 * len(marks) for marks in groups.values())
    sheet = Sheet(WIDTH, bottom + 44.0, f"{label}: {len(models)} models in {len(groups)} groups")
    axis = Axis(low, high, start, WIDTH - 52.0)
    sheet.axis(axis, top, bottom)
    y = top
    for group, marks in groups.items():
        sheet.text(2.0, y + 12.0, group, "tb-bold", ems=34.0)
        y += _ROW
        for model, mark in marks.items():
            middle = y + 9.0
            sheet.text(start - 6.0, middle, model, anchor="end", ems=_NAME)
            number = ABSENT if mark.value is None else rounded(mark.value, places)
            sheet.text(WIDTH - 4.0, middle, number, "tb-small", "end")
            if mark.value is not None:
                wide = max(axis.at(mark.value) - start, 1.0)
                kind = f"tb-fill-{models.index(model) % _SERIES + 1}"
                sheet.draw("rect", kind, x=start, y=middle - bar / 2, width=wide, height=bar)
            if mark.low is not None and mark.high is not None:
                ends = axis.at(mark.low), axis.at(mark.high)
                sheet.draw("line", "tb-whisker", x1=ends[0], x2=ends[1], y1=middle, y2=middle)
            y += 18.0
    sheet.text((start + WIDTH - 52.0) / 2, bottom + 32.0, label, "tb-small", "middle", 38.0)
    return sheet.svg()


def heat_map(
    rows: Sequence[str],
    columns: Sequence[str],
    values: Mapping[tuple[str, str], float],
    label: str,
    *,
    middle: float | None = None,
    percent: bool = False,
    places: int = 1,
) -> str:
    """Return a cell for each row and column; blue is above the middle, orange below.

    Args:
        rows: names from top to bottom; they have numbers where the columns are the same names.
        columns: names from left to right.
        values: by row and column; a pair that is missing is a dash.
        label: what the numbers are, below the map.
        middle: the number without colour (default: the mean of each row).
        percent: whether the numbers are shares; they are written without a sign.
        places: decimal places.
    """
    same = list(rows) == list(columns)
    start = _name_width(rows) + (38.0 if same else 14.0)
    heads = [str(at) for at in range(1, len(rows) + 1)] if same else list(columns)
    needed = max([34.0, *(11.0 * ems_of(shortened(head, 8.0)) + 8.0 for head in heads)])
    wide = max(needed, min(70.0, (WIDTH - start) / max(len(columns), 1)))
    width, top = max(WIDTH, start + wide * len(columns) + 4.0), 26.0
    bottom = top + _CELL * len(rows)
    sheet = Sheet(width, bottom + 26.0, f"{label}: {len(rows)} rows, {len(columns)} columns")
    for at, head in enumerate(heads):
        x = start + wide * (at + 0.5)
        sheet.text(x, top - 12.0, head, "tb-small", "middle", 8.0, tip=columns[at])
    departures = _departures(rows, columns, values, middle)
    most = max(map(abs, departures.values()), default=0.0) or 1.0
    for place, row in enumerate(rows):
        y = top + _CELL * (place + 0.5)
        name_end = start - (30.0 if same else 6.0)
        sheet.text(name_end, y, row, anchor="end", ems=_NAME)
        if same:
            sheet.text(start - 6.0, y, str(place + 1), "tb-small", "end")
        for at, column in enumerate(columns):
            value = values.get((row, column))
            x = start + wide * at
            if value is not None:
                step = round(5 * departures[row, column] / most)
                kind = "tb-cell-0" if not step else f"tb-{'above' if step > 0 else 'below'}"
                cell = sheet.draw(
                    "rect", kind, x=x + 0.5, y=y - _CELL / 2 + 0.5, width=wide - 1, height=_CELL - 1
                )
                if step:
                    cell.set("fill-opacity", f"{0.13 * abs(step):.2f}")
            elif same and at == place:
                continue
            text = ABSENT if value is None else rounded(value, places, 2 * percent)
            sheet.text(x + wide / 2, y, text, "tb-small-ink", "middle", tip=f"{row}, {column}")
    sheet.text(4.0, bottom + 14.0, label, "tb-small", ems=width / 11 - 2)
    return sheet.svg()


def _departures(
    rows: Sequence[str],
    columns: Sequence[str],
    values: Mapping[tuple[str, str], float],
    middle: float | None,
) -> dict[tuple[str, str], float]:
    departures: dict[tuple[str, str], float] = {}
    for row in rows:
        numbers = {column: v for column in columns if (v := values.get((row, column))) is not None}
        centre = (
            sum(numbers.values()) / len(numbers) if middle is None and numbers else middle or 0.0
        )
        departures |= {(row, column): value - centre for column, value in numbers.items()}
    return departures


def radar(
    series: Mapping[str, Mapping[str, float]], label: str, *, scale: tuple[float, float]
) -> str:
    """Return a line around a circle for each of up to four models, a spoke for each category.

    Args:
        series: by model, then by category; all with the same categories, at least three.
        label: what the numbers are, below.
        scale: the least and the greatest number: centre and rim.
    """
    shown = dict(list(series.items())[:_SERIES])
    spokes = list(dict.fromkeys(name for numbers in shown.values() for name in numbers))
    radius, middle = 130.0, (WIDTH / 2, 166.0)
    legend = 330.0
    height = legend + 20.0 * math.ceil(len(shown) / 2) + 24.0
    sheet = Sheet(WIDTH, height, f"{label}: {', '.join(shown)} by category")
    axis = Axis(*scale, 0.0, radius)
    if axis.marks[0] != scale[0] or axis.marks[-1] != scale[1]:  # 1 to 10 has no even round marks
        axis.marks = [scale[0], *[m for m in axis.marks if scale[0] < m < scale[1]], scale[1]]

    def at(spoke: int, value: float) -> tuple[float, float]:
        far, turn = axis.at(value), 2 * math.pi * spoke / max(len(spokes), 1)
        return middle[0] + far * math.sin(turn), middle[1] - far * math.cos(turn)

    def around(values: Sequence[float]) -> str:
        return " ".join(f"{x:.1f},{y:.1f}" for x, y in (at(k, v) for k, v in enumerate(values)))

    for mark in axis.marks[1:]:
        sheet.draw("polygon", "tb-web", points=around([mark] * len(spokes)))
    for mark in axis.marks:
        sheet.text(middle[0] + 4.0, middle[1] - axis.at(mark), axis.written(mark), "tb-small")
    for place, name in enumerate(spokes):
        x, y = at(place, axis.marks[-1])
        dx, dy = x - middle[0], y - middle[1]
        anchor: Literal["start", "middle", "end"]
        anchor = "middle" if abs(dx) < 1 else "start" if dx > 0 else "end"
        room = (WIDTH - x if dx > 0 else x) / 12.0 - 1.2
        sheet.text(
            x + dx * 0.07,
            y + dy * 0.07,
            name,
            anchor=anchor,
            ems=room if anchor != "middle" else 20,
        )
    for number, (model, numbers) in enumerate(shown.items(), 1):
        points = [numbers[name] for name in spokes if name in numbers]
        if len(points) == len(spokes):
            sheet.draw("polygon", f"tb-series-{number}", points=around(points))
        for place, name in enumerate(spokes):
            if name in numbers:
                x, y = at(place, numbers[name])
                sheet.draw("circle", f"tb-fill-{number}", cx=x, cy=y, r=3.0)
        x = 12.0 + (number - 1) % 2 * WIDTH / 2
        y = legend + 20.0 * ((number - 1) // 2)
        line = f"{x:.0f},{y:.0f} {x + 28:.0f},{y:.0f}"
        sheet.draw("polyline", f"tb-series-{number}", points=line)
        sheet.text(x + 36.0, y, model, ems=14.0)
    sheet.text(WIDTH / 2, height - 10.0, label, "tb-small", "middle", 40.0)
    return sheet.svg()


def standalone(svg: str) -> str:
    """Return a chart with its style sheet, as a file of its own."""
    folder = pathlib.Path(__file__).parent
    sheets = ("colours.css", "chart.css")
    style = "".join(folder.joinpath(name).read_text(encoding="utf-8") for name in sheets)
    start, _, rest = svg.partition(">")
    return f"{start}><style>{style}</style>{rest}\n"


def write_charts(folder: pathlib.Path, page: Page) -> list[pathlib.Path]:
    """Write the charts of a page as SVG files into a folder; return their paths.

    Raises:
        StorageError: they cannot be written.
    """
    paths = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for at, chart in enumerate(page.charts):
            taken = chart.name in [other.name for other in page.charts[:at]]
            path = folder / f"{chart.name}{f'_{at}' if taken else ''}.svg"
            path.write_text(standalone(chart.draw()), encoding="utf-8")
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
    if ems_of(text) <= ems:
        return text
    head = tail = 0
    while ems_of(text[: head + 1] + "…" + text[len(text) - tail :]) <= ems:
        head += 1
        if ems_of(text[:head] + "…" + text[len(text) - tail - 1 :]) > ems:
            break
        tail += 1
    return text[:head] + "…" + text[len(text) - tail :]


def ems_of(text: str) -> float:
    """Return about how wide a text is in a browser's usual font, in units of its size."""
    return sum(_em_of(char) for char in text)


def _em_of(char: str) -> float:
    if unicodedata.combining(char):
        return 0.0
    if unicodedata.east_asian_width(char) in "WF" or char in "mwMW@%…—":
        return 1.0
    if char in "iljtfrI.,:;|!'()[]/ -":
        return 0.4
    return 0.7 if char.isupper() else 0.62


def _name_width(names: Mapping[str, Mark] | Sequence[str]) -> float:
    return 12.0 * max((ems_of(shortened(printable(name), _NAME)) for name in names), default=0.0)
