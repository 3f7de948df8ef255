"""Every two models -> a cell: the row's model against the column's.

Columns have the numbers of the rows, so that long names need no rotated heading. Blue cells favour the row's model,
orange ones the column's, and every cell has its number; a dash means that two models were never compared.
"""

import textwrap
from collections.abc import Callable, Sequence
from typing import NamedTuple

from harness.old.errors import UsageError
from harness.old.names import counted
from harness.old.results.statistics.paired import Paired, PairedTable
from harness.old.results.table import Table
from harness.old.showing.charts.sheet import INK, QUIET, SMALL, WIDTH, Sheet, text_width
from harness.old.showing.values import ABSENT, percent, rounded, to_places, with_interval

_NAME = 12.5
"""Ems that a name may take."""
_CELL = 22.0
"""Height of a cell."""
_FOR, _AGAINST = "var(--tb-for, #2166ac)", "var(--tb-against, #b35806)"
_NEUTRAL = "var(--tb-neutral, #f7f7f7)"


class _Shown(NamedTuple):
    """The contents of a cell."""

    text: str
    strength: float
    """From -1, all for the column's model, to 1, all for the row's."""
    tip: str
    bold: bool = False
    quiet: bool = False


def win_rate_chart(matrix: Table, column: str = "win_rate_adjusted") -> str:
    """Return the heat map of win rates in per cent, ties counting half, as SVG text.

    `matrix` is what `pair_matrix` returns: a line for each model and opponent.

    Raises:
        UsageError: there are fewer than two models.
    """
    models = list(dict.fromkeys(line.model for line in matrix.lines))
    line_of = {(line.model, line.group): line for line in matrix.lines}

    def shown(row: int, at: int) -> _Shown | None:
        line = line_of.get((models[row], models[at]))
        rate = None if line is None else line.fields[column]
        if line is None or rate is None or rate.value is None:
            return None
        n = sum(line.fields[name] for name in ("win", "loss", "tie"))
        tip = f"{line.model} against {line.group}: {with_interval(rate.value, rate.low, rate.high, percent)} of {n}"
        return _Shown(percent(rate.value).removesuffix("%"), 2 * rate.value - 1, tip)

    return _heat_map(models, shown, "win rate of the row's model against the column's, in %, ties half")


def difference_chart(table: PairedTable, *, order: Sequence[str] = ()) -> str:
    """Return the heat map of paired differences, as SVG: bold where they are significant, else grey and uncoloured.

    `order` is the order of the models (default: the table's).

    Raises:
        UsageError: there are fewer than two models.
    """
    there = list(order) or list(table.models)
    models = [model for model in there if model in table.models]
    pair_of = table.by_models()
    most = max((abs(pair.difference.value or 0.0) for pair in table.pairs), default=0.0) or 1.0

    def shown(row: int, column: int) -> _Shown | None:
        pair = pair_of.get((models[row], models[column]))
        if pair is None or pair.difference.value is None:
            return None
        value = pair.difference.value
        tip = f"{pair.model_1} less {pair.model_2}: {_known(pair)}"
        return _Shown(
            rounded(value, 1), value / most if pair.told_apart else 0.0, tip, pair.told_apart, not pair.told_apart
        )

    note = "the row's model less the column's; bold: significant"
    return _heat_map(models, shown, note)


def _known(pair: Paired) -> str:
    """Return what is known of a pair, for its tooltip."""
    estimate = pair.difference
    text = with_interval(estimate.value, estimate.low, estimate.high, to_places(2))
    p = "" if pair.p_holm is None else ", p < 0.001" if pair.p_holm < 0.0005 else f", p {rounded(pair.p_holm, 3)}"
    return f"{text} on {counted(pair.n, 'question')}{p}, {'' if pair.told_apart else 'not '}significant"


def _heat_map(models: Sequence[str], shown: Callable[[int, int], _Shown | None], note: str) -> str:
    """Return the chart."""
    if len(models) < 2:
        raise UsageError("a matrix needs at least two models")
    left = text_width(models, _NAME) + 34.0
    width = max(WIDTH, left + 27.0 * len(models) + 4.0)
    lines = textwrap.wrap(note, int((width - 8.0) / (0.55 * SMALL)))
    wide = min(64.0, (width - left - 4.0) / len(models))
    top = 26.0
    sheet = Sheet(
        width, top + _CELL * len(models) + 16.0 + 15.0 * len(lines), f"matrix of {len(models)} models: {note}"
    )
    for row, model in enumerate(models):
        y = top + _CELL * (row + 0.5)
        sheet.text(left - 30.0, y, model, anchor="end", ems=_NAME)
        sheet.text(left - 6.0, y, str(row + 1), anchor="end", size=SMALL, colour=QUIET)
        x = left + wide * (row + 0.5)
        sheet.text(x, top - 12.0, str(row + 1), anchor="middle", size=SMALL, colour=QUIET, tip=model)
        for column in range(len(models)):
            if row != column:
                _draw(sheet, shown(row, column), left + wide * column, top + _CELL * row, wide)
    for at, line in enumerate(lines):
        sheet.text(4.0, top + _CELL * len(models) + 16.0 + 15.0 * at, line, size=SMALL, colour=QUIET)
    return sheet.svg()


def _draw(sheet: Sheet, cell: _Shown | None, x: float, y: float, wide: float) -> None:
    """Draw one cell."""
    strength = 0.0 if cell is None else cell.strength
    if cell is not None:
        sheet.box(x + 0.5, y + 0.5, wide - 1.0, _CELL - 1.0, _NEUTRAL)
    if strength:
        colour = _FOR if strength > 0 else _AGAINST
        sheet.box(x + 0.5, y + 0.5, wide - 1.0, _CELL - 1.0, colour, opacity=min(1.0, abs(strength)))
    text, tip, bold, ink = ABSENT, None, False, QUIET
    if cell is not None:
        ink = QUIET if cell.quiet else "#ffffff" if abs(strength) > 0.62 else INK
        text, tip, bold = cell.text, cell.tip, cell.bold
    sheet.text(x + wide / 2, y + _CELL / 2, text, anchor="middle", size=SMALL, colour=ink, bold=bold, tip=tip)
