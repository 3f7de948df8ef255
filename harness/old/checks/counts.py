"""How many there are, in which order, and whether they differ: `count`, `sorted`, `distinct`."""

from typing import ClassVar, Literal

from harness.old.checks.check import MET, Bounds, Check, Finding, Passage, Span, Unit
from harness.old.checks.units import first_letters, plural, singular, spans_of, words
from harness.old.patterns import late_re

_NUMBER = late_re(r"[-−]?(\d{1,3}(?:,\d{3})+|\d{1,300})(\.\d{1,300})?")
_TIME = late_re(r"([01]?\d|2[0-4])[:.h]([0-5]\d)")


class Count(Bounds, frozen=True, kw_only=True, tag="count"):
    """So many of a unit: {"kind": "count", "of": "words", "between": [90, 110]}."""

    QUOTES: ClassVar[bool] = False
    of: Unit

    def __post_init__(self) -> None:
        """Raise `ValueError` for a unit or bounds that cannot be."""
        super().__post_init__()
        self.check_bounds(needed=True)

    def wanted(self) -> str:
        """Return the requirement as a text."""
        one = self.limits() in ((1, 1), (1, None), (0, 1))
        return f"{self.many()} {singular(self.of) if one else plural(self.of)}"

    def measure(self, passage: Passage) -> Finding:
        """Count; what is above the limit is the place that breaks it."""
        spans = spans_of(self.of, passage)
        found = f"{len(spans)} {singular(self.of) if len(spans) == 1 else plural(self.of)}"
        if self.holds(len(spans)):
            return Finding(True, found)
        most = self.limits()[1]
        over = most is not None and len(spans) > most
        return Finding(False, found, (Span(spans[most or 0].start, spans[-1].end),) if over else ())


class Sorted(Check, frozen=True, kw_only=True, tag="sorted"):
    """The parts are in order: {"kind": "sorted", "of": "lines", "by": "time"}; equal ones may follow each other."""

    of: Unit
    by: Literal["alphabet", "number", "length", "time"] = "alphabet"
    descending: bool = False

    def wanted(self) -> str:
        """Return the requirement as a text."""
        return f"{plural(self.of)} in order of {self.by}{', descending' if self.descending else ''}"

    def measure(self, passage: Passage) -> Finding:
        """Find the first part that follows one that it should precede."""
        last: tuple[float, str] | None = None
        for number, span in enumerate(spans_of(self.of, passage), 1):
            key = _order(passage.at(span), self.by)
            if key is None:
                return Finding(False, f"no {self.by} in {singular(self.of)} {number}", (span,))
            if last is not None and (key > last if self.descending else key < last):
                return Finding(False, f"{singular(self.of)} {number} is out of order", (span,))
            last = key
        return MET


class Distinct(Check, frozen=True, kw_only=True, tag="distinct"):
    """No two parts are the same: {"kind": "distinct", "of": "items", "by": "first_letter"}; case does not count."""

    of: Unit
    by: Literal["text", "first_letter", "first_word", "last_word"] = "text"

    def wanted(self) -> str:
        """Return the requirement as a text."""
        what = "" if self.by == "text" else f"in the {self.by.replace('_', ' ')}"
        return f"no two {plural(self.of)} are the same {what}".rstrip()

    def measure(self, passage: Passage) -> Finding:
        """Find the first part that was there before."""
        seen: dict[str, int] = {}
        for number, span in enumerate(spans_of(self.of, passage), 1):
            key = _feature(passage.part(span), self.by).casefold()
            if key in seen:
                return Finding(False, f"{singular(self.of)} {number} is like {seen[key]}", (span,))
            seen[key] = number
        return MET


def _order(text: str, by: str) -> tuple[float, str] | None:
    """Return what a part is ordered by; None if it has no such thing."""
    if by == "alphabet":
        return 0, first_letters(text).casefold()
    if by == "length":
        return len(text), ""
    if by == "time":
        time = _TIME.search(text)
        return (int(time[1]) * 60 + int(time[2]), "") if time else None
    number = _NUMBER.search(text)
    return (float(number[0].replace("−", "-").replace(",", "")), "") if number else None


def _feature(part: Passage, by: str) -> str:
    if by == "text":
        return " ".join(part.said.split())
    if by == "first_letter":
        return first_letters(part.said)[:1]
    inside = words(part.part(Span(part.span.end - len(first_letters(part.said)), part.span.end)))
    if not inside:
        return ""
    chosen = inside[0 if by == "first_word" else -1]
    return part.at(chosen)
