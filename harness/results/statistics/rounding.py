"""Numbers and names as every table, chart and page shows them: the same text everywhere.

3.275 to 2 places = 3.28        half up, as published tables are; the digits count, not the binary fraction
-0.001 to 2 places = 0.00       no minus before a zero
None = –                        there is no number
"""

import decimal
from collections.abc import Mapping, Sequence
from typing import Any

from harness.names import printable

ABSENT = "–"


def rounded(value: float, places: int) -> str:
    """Return the number rounded half up, as published tables are: 3.275 is 3.28."""
    exact = decimal.Decimal(repr(float(value)))
    short = exact.quantize(decimal.Decimal(1).scaleb(-places), rounding=decimal.ROUND_HALF_UP)
    return str(short or abs(short))  # no minus before a zero


def percent(share: float) -> str:
    """Return the share in whole per cent, rounded half up: 0.645 is 65%."""
    return f"{rounded(float(decimal.Decimal(repr(float(share))).scaleb(2)), 0)}%"


def p_text(p: float | None) -> str:
    """Return a p value to three digits that count, however small it is: 0.0071, 3.98e-06."""
    return ABSENT if p is None else f"{p:.3g}"


def shown(value: Any, places: int) -> str:
    """Return the value of one cell: a float rounded, anything else as printable text, a dash for None."""
    if value is None:
        return ABSENT
    return rounded(value, places) if isinstance(value, float) else printable(str(value))


def interval_cells(rows: Sequence[Mapping[str, Any]], column: str, places: int = 2) -> list[dict[str, Any]]:
    """Return rows with the ends of a column's interval in one cell, and the first and last rank in one, both last."""
    found = []
    for row in rows:
        ends = (f"{column}_low", f"{column}_high", "rank_first", "rank_last")
        cells = {name: value for name, value in row.items() if name not in ends}
        if ends[0] in row:
            cells["95% interval"] = interval_text(row[ends[0]], row[ends[1]], places)
        if ends[2] in row:
            first, last = row[ends[2]], row[ends[3]]
            cells["rank"] = "–" if first is None else f"{first}" if first == last else f"{first}-{last}"
        found.append(cells)
    return found


def interval_text(low: float | None, high: float | None, places: int = 2) -> str:
    """Return an interval as people read it; a dash where there is none."""
    return "–" if low is None or high is None else f"{rounded(low, places)} to {rounded(high, places)}"


def with_interval(value: float | None, low: float | None, high: float | None, places: int = 2) -> str:
    """Return a number with its interval in one cell; a dash where there is no number."""
    if value is None:
        return ABSENT
    ends = "" if low is None or high is None else f" [{rounded(low, places)}, {rounded(high, places)}]"
    return rounded(value, places) + ends


def narrow_rows(rows: Sequence[Mapping[str, Any]], places: int = 2) -> list[dict[str, Any]]:
    """Return rows with the ends of every interval in the cell after its number."""
    found = []
    for row in rows:
        cells: dict[str, Any] = {}
        for name, value in row.items():
            stem = name.removesuffix("_low").removesuffix("_high")
            if stem != name and f"{stem}_low" in row and f"{stem}_high" in row:
                continue
            cells[name] = value
            if f"{name}_low" in row:
                wide = value is not None and abs(value) >= 100
                cells[f"{name}, 95%"] = interval_text(row[f"{name}_low"], row[f"{name}_high"], 0 if wide else places)
        found.append(cells)
    return found
