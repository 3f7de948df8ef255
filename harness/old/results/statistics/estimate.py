"""One number with its interval, as shown in tables and charts; `bootstrap` describes the methods."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Method: TypeAlias = Literal["percentile", "studentized", "bound", "normal"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """One number and how sure it is."""

    value: float | None
    """None where no question counts."""
    low: float | None
    """Lower end of the 95% interval; None where there are too few questions, or all agree on no known scale."""
    high: float | None
    """Upper end."""
    questions: int
    """Questions on which it rests."""
    method: Method | None
    """How the interval was made; `bootstrap.COVERAGE` says more. None without an interval."""


NONE = Estimate(None, None, None, 0, None)
"""Where nothing counts."""
