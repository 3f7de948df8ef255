"""Numbers and names as every table, chart and page shows them: the same text everywhere.

3.275 to 2 places = 3.28        half up, as published tables are; the digits count, not the binary fraction
-0.001 to 2 places = 0.00       no minus before a zero
None = –                        there is no number
"""

import decimal
from typing import Any

ABSENT = "–"


def rounded(value: float, places: int) -> str:
    """Return the number rounded half up, as published tables are: 3.275 is 3.28."""
    exact = decimal.Decimal(repr(float(value)))
    short = exact.quantize(decimal.Decimal(1).scaleb(-places), rounding=decimal.ROUND_HALF_UP)
    return str(short or abs(short))  # no minus before a zero


def percent(share: float) -> str:
    """Return the share in whole per cent, rounded half up: 0.645 is 65%."""
    return f"{rounded(float(decimal.Decimal(repr(float(share))).scaleb(2)), 0)}%"


def printable(text: str) -> str:
    """Return the text with every character escaped that could move the cursor or hide something."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def shown(value: Any, places: int) -> str:
    """Return the value of one cell: a float rounded, anything else as printable text, a dash for None."""
    if value is None:
        return ABSENT
    return rounded(value, places) if isinstance(value, float) else printable(str(value))
