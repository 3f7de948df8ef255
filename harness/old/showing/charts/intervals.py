"""Estimates -> a dot for each, a whisker for its 95% interval, the number, and its number of questions.

A ring is an estimate without interval: too few questions, or all equal. Ranks, if given, are shown as ranges,
"3-7". n is shown for each if it differs, else once below.
"""

from collections.abc import Callable, Mapping, Sequence

from harness.old.errors import UsageError
from harness.old.results.grades.aggregates import POOLED
from harness.old.results.statistics.bootstrap import Estimate
from harness.old.results.statistics.ranks import RankRange
from harness.old.results.table import Table
from harness.old.showing.charts.sheet import (
    COLOURS,
    FAINT,
    INK,
    QUIET,
    RULE,
    SMALL,
    WIDTH,
    Sheet,
    places_of,
    shortened,
    text_width,
    ticks,
)
from harness.old.showing.values import ABSENT, percent, rounded
from harness.old.showing.words import heading_of

_ROW = 22.0
_NAME = 12.5
"""Ems that a name may take."""
_HEADS = {"value": 36.0, "rank": 44.0, "n": 32.0}
"""Width of the column next to the whiskers."""


def score_chart(
    table: Table,
    *,
    column: str = POOLED,
    ranks: Mapping[str, RankRange] | None = None,
) -> str:
    """Return the chart of one column of the scores, in the order of the table, as SVG text.

    Args:
        table: with a line for each model.
        column: `average`, `drop`, `turn_1` and so on.
        ranks: the ranges to show beside (default: none).

    Raises:
        UsageError: there is no such column.
    """
    found = {line.model: line.estimates().get(column) for line in table.whole}
    absent = next((line for line in table.whole if found[line.model] is None), None)
    if absent is not None:
        there = ", ".join(absent.estimates())
        raise UsageError(f"no column {column!r} in the scores of {absent.model}; there are: {there}")
    label = "average score" if column == POOLED else heading_of(column)
    shown = {model: own for model, own in found.items() if own is not None}
    return interval_chart(shown, label=label, ranks=ranks, reference=0.0 if column == "drop" else None)


def rate_chart(table: Table, column: str = "win_rate_adjusted") -> str:
    """Return the chart of win rates with ties as half, in the order of the table, as SVG text."""
    found = {line.model: line.fields[column] for line in table.whole}
    return interval_chart(found, label="win rate, ties half", as_percent=True, reference=0.5)


def interval_chart(
    estimates: Mapping[str, Estimate],
    *,
    label: str,
    ranks: Mapping[str, RankRange] | None = None,
    reference: float | None = None,
    as_percent: bool = False,
    of: str = "models",
    counted: str = "questions",
) -> str:
    """Return the chart of one estimate for each name, in their order, as SVG text.

    Args:
        estimates: by name; of models or anything else.
        label: what the numbers are, for the axis.
        ranks: the ranges to show beside (default: none).
        reference: a value to mark, such as 0 or one half (default: none).
        as_percent: whether the numbers are shares.
        of: what the names are of.
        counted: the unit of each estimate's n.

    Raises:
        UsageError: there is no estimate with a value.
    """
    known = [v for e in estimates.values() for v in (e.low, e.value, e.high) if v is not None]
    if not known:
        raise UsageError(f"a chart of the {label} needs at least one model with a value; there is none")
    left = text_width(list(estimates), _NAME) + 12.0
    counts = {estimate.questions for estimate in estimates.values()}
    heads = ["value", *(["rank"] if ranks else []), *(["n"] if len(counts) > 1 else [])]
    digits = text_width([str(count) for count in counts], _NAME, SMALL)
    room = {**_HEADS, "n": max(_HEADS["n"], digits + 10.0)}
    right = 8.0 + sum(room[head] for head in heads)
    top, bottom = 24.0, 40.0
    height = top + _ROW * len(estimates) + bottom
    sure = [own.low is not None for own in estimates.values() if own.value is not None]
    told = ", each with a 95% interval" if all(sure) else ", some with a 95% interval" if any(sure) else ""
    sheet = Sheet(WIDTH, height, f"{label} of {len(estimates)} {of}{told}")
    span = WIDTH - right - left - 8.0
    marks = ticks(*_ends(known if reference is None else [*known, reference]))
    widest = text_width([_number(mark, places_of(marks), as_percent) for mark in marks], _NAME, SMALL)
    if widest * len(marks) > span:
        marks = ticks(marks[0], marks[-1], most=3)

    def at(value: float) -> float:
        return left + 4.0 + span * (value - marks[0]) / (marks[-1] - marks[0])

    last = places_of(marks)
    for mark in marks:
        sheet.line([at(mark)] * 2, [top, height - bottom], RULE)
        text = _number(mark, last, as_percent)
        sheet.text(at(mark), height - bottom + 12.0, text, anchor="middle", size=SMALL, colour=QUIET)
    same = min(counts)
    below = f"n: {counted}" if len(counts) > 1 else f"n = {same} {counted.removesuffix('s') if same == 1 else counted}"
    interval = "without intervals" if not any(sure) else f"95% interval{'' if all(sure) else ' (ring: none)'}"
    sheet.text(WIDTH / 2, height - 10.0, f"{shortened(label, 18.0)}, {interval}, {below}", anchor="middle", size=SMALL)
    if reference is not None:
        sheet.line([at(reference)] * 2, [top, height - bottom], FAINT, dashes=(3, 3))
    edge = WIDTH - right
    ends = [edge + sum(room[head] for head in heads[: at + 1]) for at in range(len(heads))]
    for head, x in zip(heads, ends, strict=True):
        sheet.text(x, 10.0, head, anchor="end", size=SMALL, colour=QUIET)
    for place, (name, estimate) in enumerate(estimates.items()):
        y = top + _ROW * (place + 0.5)
        sheet.text(left - 8.0, y, name, anchor="end", ems=_NAME)
        _whisker(sheet, estimate, at, y)
        cells = {
            "value": ABSENT if estimate.value is None else _number(estimate.value, 2, as_percent),
            "rank": str((ranks or {}).get(name, ABSENT)),
            "n": str(estimate.questions),
        }
        for head, x in zip(heads, ends, strict=True):
            sheet.text(x, y, cells[head], anchor="end", size=SMALL, colour=INK if head == "value" else QUIET)
    return sheet.svg()


def _ends(known: Sequence[float]) -> tuple[float, float]:
    """Return the range of the axis, with some room if all values are equal."""
    low, high = min(known), max(known)
    return (low, high) if high - low > 1e-9 * max(1.0, abs(low)) else (low - 0.5, high + 0.5)


def _whisker(sheet: Sheet, estimate: Estimate, at: Callable[[float], float], y: float) -> None:
    """Draw one estimate: a whisker and a dot, or a ring without an interval."""
    if estimate.value is None:
        return
    if estimate.low is not None and estimate.high is not None:
        low, high = at(estimate.low), at(estimate.high)
        sheet.line([low, high], [y, y], COLOURS[0], width=2.0)
        for end in (low, high):
            sheet.line([end, end], [y - 4.0, y + 4.0], COLOURS[0], width=1.5)
    sheet.dot(at(estimate.value), y, 3.5, COLOURS[0], hollow=estimate.low is None)


def _number(value: float, places: int, as_percent: bool) -> str:
    return percent(value) if as_percent else rounded(value, places)
