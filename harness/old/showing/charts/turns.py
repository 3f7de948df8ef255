"""Estimates by turn -> a line for each of up to four names, from the first turn to the last, with 95% intervals.

Lines are shifted slightly, so that their intervals can be distinguished; a turn without estimate is a gap. A
ring is an estimate without interval.
"""

import math
from collections.abc import Callable, Mapping

from harness.old.errors import UsageError
from harness.old.results.statistics.bootstrap import Estimate
from harness.old.showing.charts.radar import MOST
from harness.old.showing.charts.sheet import COLOURS, DASHES, FAINT, QUIET, RULE, SMALL, WIDTH, Sheet, places_of, ticks
from harness.old.showing.values import rounded

_HIGH = 180.0
_NAME = 14.0
"""Ems that a name may take."""
_APART = 5.0
"""Pixels between the marks of two names at one turn."""


def turn_chart(
    curves: Mapping[str, Mapping[int, Estimate]], *, label: str = "score", reference: float | None = None
) -> str:
    """Return the chart of estimates by turn, as SVG text.

    Args:
        curves: by name, the estimates by turn; at most four names.
        label: what the numbers are.
        reference: a value to mark, such as 0 (default: none).

    Raises:
        UsageError: there is no estimate with a value, or there are too many names.
    """
    if len(curves) > MOST:
        raise UsageError(f"a chart by turn shows at most {MOST} models, not {len(curves)}; name fewer")
    found = [estimate for own in curves.values() for estimate in own.values()]
    known = [v for e in found for v in (e.low, e.value, e.high) if v is not None]
    if not known:
        raise UsageError("a chart by turn needs at least one turn with a value; there is none")
    known += [] if reference is None else [reference]
    marks = ticks(min(known), max(known) if max(known) > min(known) else min(known) + 1.0)
    turns = sorted({turn for own in curves.values() for turn in own})
    left, top = 46.0, 12.0
    legend = top + _HIGH + 44.0
    sheet = Sheet(WIDTH, legend + 20.0 * math.ceil(len(curves) / 2), f"{label} by turn of {', '.join(curves)}")
    step = (WIDTH - left - 24.0) / max(1, len(turns) - 1)

    def height(value: float) -> float:
        return top + _HIGH * (marks[-1] - value) / (marks[-1] - marks[0])

    for mark in marks:
        sheet.line([left - 8.0, WIDTH - 8.0], [height(mark)] * 2, RULE)
        sheet.text(left - 12.0, height(mark), rounded(mark, places_of(marks)), anchor="end", size=SMALL, colour=QUIET)
    if reference is not None:
        sheet.line([left - 8.0, WIDTH - 8.0], [height(reference)] * 2, FAINT, dashes=(3, 3))
    every = math.ceil(len(turns) / 12)
    for at, turn in enumerate(turns):
        if at % every == 0:
            sheet.text(left + at * step, top + _HIGH + 12.0, str(turn), anchor="middle", size=SMALL, colour=QUIET)
    sheet.text(WIDTH / 2, top + _HIGH + 28.0, f"{label} by turn, 95% interval", anchor="middle", size=SMALL)
    for kind, (name, own) in enumerate(curves.items()):
        aside = _APART * (kind - (len(curves) - 1) / 2)
        xs = [left + at * step + aside for at in range(len(turns))]
        ys = [_height_of(own.get(turn), height) for turn in turns]
        gaps = [math.nan if math.isnan(y) else x for x, y in zip(xs, ys, strict=True)]
        sheet.line(gaps, ys, COLOURS[kind], width=1.8, dashes=DASHES[kind])
        for x, y, turn in zip(xs, ys, turns, strict=True):
            estimate = own.get(turn)
            if estimate is None or math.isnan(y):
                continue
            if estimate.low is None or estimate.high is None:
                sheet.dot(x, y, 3.2, COLOURS[kind], hollow=True)
                continue
            sheet.line([x, x], [height(estimate.low), height(estimate.high)], COLOURS[kind], width=1.2)
            sheet.marker(x, y, kind, 3.2, COLOURS[kind])
        sheet.legend(kind, name, legend, _NAME if len(curves) > 1 else 2 * _NAME)
    return sheet.svg()


def _height_of(estimate: Estimate | None, height: Callable[[float], float]) -> float:
    return math.nan if estimate is None or estimate.value is None else height(estimate.value)
