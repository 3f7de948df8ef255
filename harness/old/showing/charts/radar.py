"""Scores of up to four models by category -> one closed line for each, on one spoke for each category.

The centre is the least score of the scale and the rim the greatest, so that the same page drawn twice can be laid side
by side. A model without score in a category has a gap there. Lines differ in colour, dashes and markers.
"""

import math
from collections.abc import Sequence

from harness.old.errors import UsageError
from harness.old.records import Scale
from harness.old.results.grades.aggregates import POOLED
from harness.old.results.table import Table
from harness.old.showing.charts.sheet import COLOURS, DASHES, QUIET, RULE, SMALL, WIDTH, Anchor, Sheet, places_of, ticks
from harness.old.showing.values import rounded

USUAL_SCALE: Scale = (1, 10)
MOST = 4
"""Models in one radar; more cover each other."""
_RADIUS = 118.0
_NAME = 14.0
"""Ems that a name may take."""


def radar_chart(
    table: Table, column: str = POOLED, *, models: Sequence[str] | None = None, scale: Scale | None = None
) -> str:
    """Return the radar of a column of the chosen models by category, as SVG text.

    Args:
        table: with lines by category.
        column: of what.
        models: which, in this order; at most four (default: the first four).
        scale: the judge's lowest and highest score (default: 1 and 10).

    Raises:
        UsageError: a model is missing, or there are too many models or too few categories.
    """
    scale = scale or USUAL_SCALE
    chosen = _chosen(table, models)
    of_group = {str(group): table.of_group(group).get(column, {}) for group in table.groups}
    spokes = [name for name, own in of_group.items() if any(model in own for model in chosen)]
    if len(spokes) < 3:
        raise UsageError(f"a radar needs at least three categories, and these scores have {len(spokes)}")
    if not scale[0] < scale[1]:
        raise UsageError(f"a scale from {scale[0]:g} to {scale[1]:g} holds no scores; name the least score first")
    centre = (WIDTH / 2, _RADIUS + 34.0)
    legend = centre[1] + _RADIUS + 40.0
    height = legend + 20.0 * math.ceil(len(chosen) / 2) + 4.0
    names = ", ".join(chosen)
    sheet = Sheet(WIDTH, height, f"average score by category of {names}")
    _web(sheet, spokes, centre, scale)
    for kind, model in enumerate(chosen):
        own = [of_group[spoke].get(model) for spoke in spokes]
        _line(sheet, [None if one is None else one.value for one in own], kind, centre, scale)
    for kind, model in enumerate(chosen):
        sheet.legend(kind, model, legend, _NAME)
    return sheet.svg()


def _chosen(table: Table, models: Sequence[str] | None) -> list[str]:
    """Return the models to draw."""
    there = [line.model for line in table.whole]
    if models is None:
        return there[:MOST]
    names = list(dict.fromkeys(models))
    if len(names) > MOST:
        raise UsageError(f"a radar shows at most {MOST} models, not {len(names)}; name fewer")
    absent = [name for name in names if name not in there]
    if absent:
        raise UsageError(f"no scores of {', '.join(absent)}; there are: {', '.join(there)}")
    return names


def _web(sheet: Sheet, spokes: Sequence[str], centre: tuple[float, float], scale: tuple[float, float]) -> None:
    """Draw rings, spokes and their names."""
    marks = [mark for mark in ticks(*scale, most=5) if scale[0] < mark < scale[1]] + [scale[1]]
    for mark in marks:
        ring = [_point(at, len(spokes), mark, centre, scale) for at in range(len(spokes))]
        sheet.line([x for x, _ in [*ring, ring[0]]], [y for _, y in [*ring, ring[0]]], RULE)
    for at, name in enumerate(spokes):
        x, y = _point(at, len(spokes), scale[1], centre, scale)
        sheet.line([centre[0], x], [centre[1], y], RULE)
        right, down = (x - centre[0]) / _RADIUS, (y - centre[1]) / _RADIUS
        anchor: Anchor = "middle" if abs(right) < 0.2 else "start" if right > 0 else "end"
        sheet.text(x + 9.0 * right, y + 13.0 * down, name, anchor=anchor, ems=18.0 if anchor == "middle" else 6.5)
    last = places_of(marks)
    for mark in marks:
        y = centre[1] - _RADIUS * (mark - scale[0]) / (scale[1] - scale[0])
        sheet.text(centre[0] + 4.0, y + 7.0, rounded(mark, last), size=SMALL, colour=QUIET)


def _line(
    sheet: Sheet,
    values: Sequence[float | None],
    kind: int,
    centre: tuple[float, float],
    scale: tuple[float, float],
) -> None:
    """Draw one model's values, one for each spoke."""
    points = [
        None if value is None else _point(at, len(values), value, centre, scale) for at, value in enumerate(values)
    ]
    closed = [point or (math.nan, math.nan) for point in [*points, points[0]]]
    sheet.line([x for x, _ in closed], [y for _, y in closed], COLOURS[kind], width=1.8, dashes=DASHES[kind])
    for point in points:
        if point:
            sheet.marker(*point, kind, 3.2, COLOURS[kind])


def _point(
    at: int, spokes: int, value: float, centre: tuple[float, float], scale: tuple[float, float]
) -> tuple[float, float]:
    """Return where a value lies on a spoke; the first spoke points up, the others follow clockwise."""
    far = _RADIUS * (min(max(value, scale[0]), scale[1]) - scale[0]) / (scale[1] - scale[0])
    turn = 2 * math.pi * at / spokes
    return centre[0] + far * math.sin(turn), centre[1] - far * math.cos(turn)
