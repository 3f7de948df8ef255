"""Numbers and names as every table, chart and page shows them: the same text everywhere.

7.31 (6.80 to 7.81)             a number with its 95% interval
3.275 to 2 places = 3.28        half up, as published tables are; the digits count, not the binary fraction
-0.001 to 2 places = 0.00       no minus before a zero
None = –                        there is no number
"""

import decimal
from collections.abc import Callable
from typing import TypeAlias

ABSENT = "–"
Form: TypeAlias = Callable[[float], str]
"""How a number is written."""


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


def to_places(places: int) -> Form:
    """Return how a number is written with so many decimal places; a whole number has none."""
    return lambda value: str(value) if isinstance(value, int) else rounded(value, places)


def counted(number: float) -> str:
    """Return a whole number with its thousands apart: 61,000."""
    return f"{number:,.0f}"


def dollars(amount: float) -> str:
    """Return dollars with cents, or with more places where the amount needs them: $0.91, $0.0042."""
    places = 2 if amount >= 0.095 or amount == 0 else 3 if amount >= 0.01 else 4
    return f"${amount:,.{places}f}"


def interval_text(low: float | None, high: float | None, form: Form) -> str:
    """Return an interval as people read it; a dash where there is none."""
    return ABSENT if low is None or high is None else f"{form(low)} to {form(high)}"


def with_interval(value: float | None, low: float | None, high: float | None, form: Form) -> str:
    """Return a number with its interval in one cell; a dash where there is no number."""
    if value is None:
        return ABSENT
    return form(value) + ("" if low is None or high is None else f" ({interval_text(low, high, form)})")
