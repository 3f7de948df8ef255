"""How many there are, in which order, and whether they differ: `count`, `sorted`, `distinct`."""

import re
from typing import ClassVar, Literal

from harness.extras.checks.check import Bounds, Check
from harness.extras.checks.passage import PASSED, Outcome, Passage, Span, normal
from harness.extras.checks.units import Unit, after_mark, counted, plural, singular, spans_of, words

_NUMBER = re.compile(r"[-−]?(\d{1,3}(?:,\d{3})+|\d{1,300})(\.\d{1,300})?")
_TIME = re.compile(r"([01]?\d|2[0-4])[:.h]([0-5]\d)")


class Count(Bounds, frozen=True, kw_only=True, tag="count"):
    """So many of a unit: {"kind": "count", "of": "words", "between": [90, 110]}."""

    QUOTES: ClassVar[bool] = False
    of: Unit

    def __post_init__(self) -> None:
        """Raise `ValueError` for a unit or bounds that cannot be."""
        super().__post_init__()
        self.check_bounds(needed=True)

    def requirement(self) -> str:
        """Return the requirement in words."""
        one = self.limits() in ((1, 1), (1, None), (0, 1))
        return f"{self.many()} {singular(self.of) if one else plural(self.of)}"

    def test(self, passage: Passage) -> Outcome:
        """Count; what is above the limit is the place that breaks it."""
        spans = spans_of(self.of, passage)
        most = self.limits()[1]
        over = most is not None and len(spans) > most
        places = (Span(spans[most or 0].start, spans[-1].end),) if over else ()
        return Outcome(self.holds(len(spans)), counted(len(spans), self.of), places)


class Sorted(Check, frozen=True, kw_only=True, tag="sorted"):
    """The parts are in order: {"of": "lines", "by": "time"}; equal ones may follow each other."""

    of: Unit
    by: Literal["alphabet", "number", "length", "time"] = "alphabet"
    descending: bool = False

    def requirement(self) -> str:
        """Return the requirement in words."""
        return f"{plural(self.of)} in order of {self.by}{', descending' if self.descending else ''}"

    def test(self, passage: Passage) -> Outcome:
        """Find the first part that follows one that it should precede."""
        last: tuple[float, str] | None = None
        for number, span in enumerate(spans_of(self.of, passage), 1):
            key = _order(passage.at(span), self.by)
            if key is None:
                return Outcome(False, f"no {self.by} in {singular(self.of)} {number}", (span,))
            if last is not None and (key > last if self.descending else key < last):
                return Outcome(False, f"{singular(self.of)} {number} is out of order", (span,))
            last = key
        return PASSED


class Distinct(Check, frozen=True, kw_only=True, tag="distinct"):
    """No two parts are the same: {"of": "items", "by": "first_letter"}; case does not count."""

    of: Unit
    by: Literal["text", "first_letter", "first_word", "last_word"] = "text"

    def requirement(self) -> str:
        """Return the requirement in words."""
        what = "" if self.by == "text" else f" in the {self.by.replace('_', ' ')}"
        return f"no two {plural(self.of)} are the same{what}"

    def test(self, passage: Passage) -> Outcome:
        """Find the first part that was there before."""
        seen: dict[str, int] = {}
        for number, span in enumerate(spans_of(self.of, passage), 1):
            key = _feature(normal(passage.at(span)), self.by).casefold()
            if key in seen:
                return Outcome(False, f"{singular(self.of)} {number} is like {seen[key]}", (span,))
            seen[key] = number
        return PASSED


def _order(text: str, by: str) -> tuple[float, str] | None:
    """Return what a part is ordered by; None if it has no such thing."""
    if by == "alphabet":
        return 0, after_mark(text).casefold()
    if by == "length":
        return len(text), ""
    if by == "time":
        time = _TIME.search(text)
        return (int(time[1]) * 60 + int(time[2]), "") if time else None
    number = _NUMBER.search(text)
    return (float(number[0].replace("−", "-").replace(",", "")), "") if number else None


def _feature(text: str, by: str) -> str:
    if by == "text":
        return " ".join(text.split())
    plain = after_mark(text)
    if by == "first_letter":
        return plain[:1]
    found = Passage.whole(plain)
    spans = words(found)
    return found.at(spans[0 if by == "first_word" else -1]) if spans else ""
