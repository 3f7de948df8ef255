"""Position rows -> a bar for each group: consistent, biased to first, biased to second, one-sided tie.

Shares are of the pairs with a verdict in both games; `n` counts those, and "no verdict" the pairs left out.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from harness.old.errors import UsageError
from harness.old.results.pairs.position import KINDS
from harness.old.results.table import Row
from harness.old.showing.charts.sheet import INK, QUIET, RULE, SHEET, SMALL, WIDTH, Sheet, text_width
from harness.old.showing.values import percent

_COLOURS = (
    "var(--tb-alike, #bcd5e8)",
    "var(--tb-first, #c04f00)",
    "var(--tb-second, #0072b2)",
    "var(--tb-one-sided, #d5d9de)",
)
_ON = (INK, "#ffffff", "#ffffff", INK)
_WORDS = ("consistent", "biased to first", "biased to second", "one-sided tie")
_BY = ("judge", "category", "turn")
_ROW = 26.0
_NAME = 11.0
"""Ems that a name may take."""


def position_chart(rows: Sequence[Row]) -> str:
    """Return the chart of the rows of all pairs and by judge, category and turn, in their order, as SVG text.

    Groups without any pair that has a verdict in both games have no bar. A grouping with one group
    would repeat the row of all pairs, and is left out.

    Raises:
        UsageError: there is no row.
    """
    groups = Counter(row["by"] for row in rows)
    chosen = [row for row in rows if row["by"] == "all" or (row["by"] in _BY and groups[row["by"]] > 1)]
    if not chosen:
        raise UsageError("no pairs to draw")
    names = [_name(row) for row in chosen]
    errors = any(row["errors"] for row in chosen)
    left = text_width(names, _NAME) + 12.0
    count = max(46.0, text_width([str(row["n"]) for row in chosen], _NAME, SMALL) + 14.0)
    right = count + (64.0 if errors else 0.0)
    top, wide = 64.0, WIDTH - left - right
    gaps = sum(one["by"] != other["by"] for one, other in pairwise(chosen))
    height = top + _ROW * len(chosen) + 8.0 * gaps + 28.0
    sheet = Sheet(WIDTH, height, "shares of pairs in which the judge was consistent, or biased by position")
    for at, word in enumerate(_WORDS):
        x, y = 4.0 + (at % 2) * WIDTH / 2, 12.0 + 20.0 * (at // 2)
        sheet.box(x, y - 6.0, 12.0, 12.0, _COLOURS[at])
        sheet.text(x + 18.0, y, word)
    heads = [("n", WIDTH - right + count - 4.0), *([("no verdict", WIDTH - 2.0)] if errors else [])]
    for head, x in heads:
        sheet.text(x, top - 10.0, head, anchor="end", size=SMALL, colour=QUIET)
    y, before = top, chosen[0]["by"]
    for row, name in zip(chosen, names, strict=True):
        y += 8.0 if row["by"] != before else 0.0
        before = row["by"]
        middle = y + _ROW / 2
        sheet.text(left - 8.0, middle, name, anchor="end", ems=_NAME)
        _bar(sheet, row, left, y + 3.0, wide)
        for number, (_, x) in zip((row["n"], row["errors"]), heads, strict=False):
            sheet.text(x, middle, str(number), anchor="end", size=SMALL, colour=QUIET)
        y += _ROW
    sheet.line([left, left], [top, y], RULE)
    for share in (0.0, 0.5, 1.0):
        sheet.text(left + wide * share, y + 12.0, percent(share), anchor="middle", size=SMALL, colour=QUIET)
    return sheet.svg()


def _name(row: Row) -> str:
    """Return what the row is about."""
    by, group = row["by"], row["group"]
    if by == "all":
        return "all pairs"
    if group is None:
        return f"no {by}"
    return f"turn {group}" if by == "turn" else str(group)


def _bar(sheet: Sheet, row: Row, left: float, y: float, wide: float) -> None:
    """Draw one bar, with the shares that fit into their parts."""
    if not row["n"]:
        return
    counts = [row[kind] for kind in KINDS]
    x = left
    for at, count in enumerate(counts):
        part = wide * count / row["n"]
        if count:
            sheet.box(x, y, part, _ROW - 6.0, _COLOURS[at])
        if x > left and count:
            sheet.line([x, x], [y, y + _ROW - 6.0], SHEET)
        if part > 30.0:
            middle = y + _ROW / 2 - 3.0
            text = percent(count / row["n"])
            sheet.text(x + part / 2, middle, text, anchor="middle", size=SMALL, colour=_ON[at])
        x += part
