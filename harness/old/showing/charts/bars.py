"""Numbers of models by group -> a bar for each model under each group's heading, with a whisker for its 95% interval.

    creativity                         the groups are criteria or metrics (a chart for each category), or
      model a  ▬▬▬▬▬▬▬▬▬|▬▬   3.8      categories (a chart for each metric)
      model b  ▬▬▬▬|▬         2.1

Every bar begins at the least value that there can be, or at 0 where that is not known.
"""

from collections.abc import Callable, Mapping

from harness.old.errors import UsageError
from harness.old.results.statistics.bootstrap import Estimate
from harness.old.showing.charts.sheet import COLOURS, INK, QUIET, RULE, SMALL, WIDTH, Sheet, places_of, text_width, ticks
from harness.old.showing.values import ABSENT, rounded

_ROW, _BAR, _HEADING = 18.0, 11.0, 20.0
_NAME = 12.5
"""Ems that a model's name may take."""
_NUMBER = 40.0
"""Width of the numbers beside the bars."""


def bar_chart(
    groups: Mapping[str, Mapping[str, Estimate]], *, label: str, scale: tuple[float, float] | None = None
) -> str:
    """Return the chart of each model's number in each group, in their order, as SVG text.

    Args:
        groups: by group, then by model.
        label: what the numbers are, in a few words.
        scale: the lowest and the highest possible number (default: from 0 to the highest that occurs).

    Raises:
        UsageError: there is no number.
    """
    shown = {name: own for name, own in groups.items() if any(one.value is not None for one in own.values())}
    known = [v for own in shown.values() for e in own.values() for v in (e.low, e.value, e.high) if v is not None]
    if not known:
        raise UsageError(f"a chart of {label} needs at least one number; there is none")
    least, greatest = scale or (min(0.0, *known), max(known))
    marks = ticks(least, greatest if greatest > least else least + 1.0)
    if scale is not None:
        marks = [mark for mark in marks if least <= mark <= greatest]
    ends = scale or (marks[0], marks[-1])
    models = list(dict.fromkeys(model for own in shown.values() for model in own))
    left, top, bottom = text_width(models, _NAME) + 12.0, 6.0, 22.0
    height = top + sum(_HEADING + _ROW * len(own) for own in shown.values()) + bottom
    sheet = Sheet(WIDTH, height, f"{label}: {len(models)} models, {', '.join(shown)}")
    span = WIDTH - _NUMBER - left

    def at(value: float) -> float:
        return left + span * (min(max(value, ends[0]), ends[1]) - ends[0]) / (ends[1] - ends[0])

    places = places_of(marks)
    for mark in marks:
        sheet.line([at(mark)] * 2, [top, height - bottom], RULE)
        sheet.text(at(mark), height - bottom + 12.0, rounded(mark, places), anchor="middle", size=SMALL, colour=QUIET)
    y = top
    for name, own in shown.items():
        sheet.text(2.0, y + _HEADING / 2 + 2.0, name, size=SMALL, bold=True, ems=34.0)
        y += _HEADING
        for model, estimate in own.items():
            colour = COLOURS[models.index(model) % len(COLOURS)]
            _bar(sheet, model, estimate, at, (left, ends[0]), y + _ROW / 2, colour)
            y += _ROW
    return sheet.svg()


def _bar(
    sheet: Sheet,
    model: str,
    estimate: Estimate,
    at: Callable[[float], float],
    begin: tuple[float, float],
    y: float,
    colour: str,
) -> None:
    """Draw one model's name, bar, whisker and number."""
    left, least = begin
    sheet.text(left - 8.0, y, model, anchor="end", ems=_NAME)
    number = ABSENT if estimate.value is None else rounded(estimate.value, 2)
    sheet.text(WIDTH - 2.0, y, number, anchor="end", size=SMALL)
    if estimate.value is None:
        return
    sheet.box(at(least), y - _BAR / 2, max(at(estimate.value) - at(least), 1.0), _BAR, colour, opacity=0.75)
    if estimate.low is not None and estimate.high is not None:
        sheet.line([at(estimate.low), at(estimate.high)], [y, y], INK, width=1.5)
