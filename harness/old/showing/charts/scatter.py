"""Two numbers of each thing -> a point, numbered or marked by its series, with the names below.

A whisker is the 95% interval of the upright number. The dashed diagonal, where it is wanted, is where both are equal.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from harness.old.errors import UsageError
from harness.old.results.statistics.estimate import Estimate
from harness.old.showing.charts.sheet import COLOURS, FAINT, QUIET, RULE, SMALL, WIDTH, Sheet, places_of, ticks
from harness.old.showing.values import percent, rounded

MOST_SERIES = len(COLOURS)
"""Distinguishable series."""
_TALL = 260.0
_LEFT, _TOP, _LINE = 52.0, 26.0, 18.0
_NEAR = 11.0
"""Points that are this near in both directions would have their numbers on top of each other."""


class Point(NamedTuple):
    """One thing."""

    name: str
    x: float
    y: Estimate
    """Its interval may be missing; a point without a value is not drawn."""
    series: str = ""
    """Its series; empty: each point is separate and has a number."""


def scatter_chart(
    points: Sequence[Point],
    *,
    x_label: str,
    y_label: str,
    diagonal: bool = False,
    x_percent: bool = False,
    y_percent: bool = True,
    level: tuple[str, float] | None = None,
    frontier: Sequence[tuple[float, float]] = (),
) -> str:
    """Return the chart of the points as SVG text; a horizontal axis that is not in per cent begins at 0.

    `level` is a name and a height to mark with a dashed line (default: none); `frontier` are points that a line joins.

    Raises:
        UsageError: there is no point with both numbers.
    """
    drawn = [point for point in points if point.y.value is not None]
    if not drawn:
        raise UsageError(f"a chart of {y_label} against {x_label} needs a point that has both; there is none")
    series = list(dict.fromkeys(point.series for point in drawn))[:MOST_SERIES]
    names = [name for name in series if name] or [point.name for point in drawn]
    xs = [point.x for point in drawn]
    ys = [v for point in drawn for v in (point.y.low, point.y.value, point.y.high) if v is not None]
    ys += [level[1]] if level else []
    xs += [] if x_percent else [0.0]
    if diagonal:
        xs = ys = [*xs, *ys]
    across = ticks(*_ends(xs))
    up = ticks(*_ends(ys))
    sheet = Sheet(WIDTH, _TOP + _TALL + 52.0 + _LINE * (len(names) + bool(level)), f"{y_label} against {x_label}")
    wide = WIDTH - _LEFT - 14.0

    def x_of(value: float) -> float:
        return _LEFT + wide * (value - across[0]) / (across[-1] - across[0])

    def y_of(value: float) -> float:
        return _TOP + _TALL * (1 - (value - up[0]) / (up[-1] - up[0]))

    _axes(sheet, across, up, x_of, y_of, x_percent=x_percent, y_percent=y_percent)
    edge = sorted(frontier)
    if edge:
        sheet.line([x_of(x) for x, _ in edge], [y_of(y) for _, y in edge], FAINT, dashes=(2, 3))
    if diagonal:
        sheet.line([x_of(up[0]), x_of(up[-1])], [y_of(up[0]), y_of(up[-1])], FAINT, dashes=(4, 3))
    if level:
        sheet.line([_LEFT, _LEFT + wide], [y_of(level[1])] * 2, QUIET, dashes=(4, 3))
        y = _TOP + _TALL + 56.0 + _LINE * len(names)
        sheet.line([8.0, 24.0], [y, y], QUIET, dashes=(4, 3))
        sheet.text(30.0, y, level[0])
    sheet.text(_LEFT + wide / 2, _TOP + _TALL + 34.0, x_label, anchor="middle", size=SMALL, colour=QUIET)
    sheet.text(4.0, 6.0, y_label, size=SMALL, colour=QUIET)
    for point in drawn:
        if point.series in series:
            _draw(sheet, point, x_of(point.x), y_of, series.index(point.series))
    if series == [""]:
        _number(sheet, [(x_of(point.x), y_of(point.y.value or 0.0)) for point in drawn])
    for at, name in enumerate(names):
        y = _TOP + _TALL + 56.0 + _LINE * at
        if series == [""]:
            sheet.text(22.0, y, str(at + 1), anchor="end", size=SMALL, colour=QUIET)
        else:
            sheet.marker(16.0, y, at, 4.0, COLOURS[at])
        sheet.text(30.0, y, name, ems=30.0)
    return sheet.svg()


def _axes(
    sheet: Sheet,
    across: Sequence[float],
    up: Sequence[float],
    x_of: Callable[[float], float],
    y_of: Callable[[float], float],
    *,
    x_percent: bool,
    y_percent: bool,
) -> None:
    bottom, right = y_of(up[0]), x_of(across[-1])
    for value in up:
        sheet.line([_LEFT, right], [y_of(value)] * 2, RULE)
        text = percent(value) if y_percent else rounded(value, places_of(up))
        sheet.text(_LEFT - 6.0, y_of(value), text, anchor="end", size=SMALL, colour=QUIET)
    for value in across:
        text = percent(value) if x_percent else rounded(value, places_of(across))
        sheet.line([x_of(value)] * 2, [bottom, bottom + 4.0], FAINT)
        sheet.text(x_of(value), bottom + 14.0, text, anchor="middle", size=SMALL, colour=QUIET)


def _draw(sheet: Sheet, point: Point, x: float, y_of: Callable[[float], float], series: int) -> None:
    y, colour = y_of(point.y.value or 0.0), COLOURS[series]
    if point.y.low is not None and point.y.high is not None:
        sheet.line([x, x], [y_of(point.y.low), y_of(point.y.high)], colour, width=1.5)
    if point.series:
        sheet.marker(x, y, series, 4.0, colour)
        return
    sheet.dot(x, y, 3.5, colour)


def _number(sheet: Sheet, places: Sequence[tuple[float, float]]) -> None:
    """Write each point's number next to it; points at nearly the same place share a label."""
    labels: dict[tuple[float, float], list[str]] = {}
    for number, (x, y) in enumerate(places, 1):
        near = ((u, v) for u, v in labels if abs(u - x) < _NEAR and abs(v - y) < _NEAR)
        labels.setdefault(next(near, (x, y)), []).append(str(number))
    for (x, y), numbers in labels.items():
        to_left = x > WIDTH - 40.0
        at = x - 7.0 if to_left else x + 7.0
        sheet.text(at, y - 7.0, ", ".join(numbers), anchor="end" if to_left else "start", size=SMALL)


def _ends(known: Sequence[float]) -> tuple[float, float]:
    """Return the range of an axis, with some room if all values are equal."""
    low, high = min(known), max(known)
    return (low, high) if high - low > 1e-9 * max(1.0, abs(low)) else (max(0.0, low - 0.05), high + 0.05)
