"""How many there are, in which order, and whether they differ: `count`, `sorted`, `distinct`."""

import re
from itertools import pairwise
from typing import ClassVar, Literal

from harness.extras.checks.check import Bounds, Check
from harness.extras.checks.passage import PASSED, MissingPartError, Outcome, Passage, normal
from harness.extras.checks.units import after_mark, counted, parts, plural, singular

_NUMBER = re.compile(r"[-−]?(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?")


class Count(Bounds, frozen=True, kw_only=True, tag="count"):
    """So many of a unit: {"kind": "count", "of": "words", "between": [90, 110]}."""

    QUOTES: ClassVar[bool] = False
    of: str

    def __post_init__(self) -> None:
        """Raise `ValueError` for bounds that are missing."""
        super().__post_init__()
        if not self.bounded:
            raise ValueError("needs one of exactly, at_least, at_most, between")

    def requirement(self) -> str:
        """Return the requirement in words."""
        is_one = self.limits in ((1, 1), (1, None), (0, 1))
        return f"{self.many()} {singular(self.of) if is_one else plural(self.of)}"

    def test(self, passage: Passage) -> Outcome:
        """Count."""
        number = len(parts(self.of, passage.text))
        return Outcome(self.holds(number), counted(number, self.of))


class Sorted(Check, frozen=True, kw_only=True, tag="sorted"):
    """The parts are in order: {"of": "lines", "by": "number"}; equal ones may follow each other."""

    of: str
    by: Literal["alphabet", "number", "length"] = "alphabet"
    descending: bool = False

    def requirement(self) -> str:
        """Return the requirement in words."""
        return f"{plural(self.of)} in order of {self.by}{', descending' if self.descending else ''}"

    def test(self, passage: Passage) -> Outcome:
        """Find the first part that follows one that it should precede."""
        keys = [self._key(part) for part in parts(self.of, passage.text)]
        for number, (before, key) in enumerate(pairwise(keys), 2):
            if key > before if self.descending else key < before:
                return Outcome(False, f"{singular(self.of)} {number} is out of order")
        return PASSED

    def _key(self, part: str) -> tuple[float, str]:
        if self.by == "alphabet":
            return 0, after_mark(part).casefold()
        if self.by == "length":
            return len(part), ""
        match = _NUMBER.search(part)
        if match is None:
            raise MissingPartError(f"no number in “{part[:30]}”")
        return float(match[0].replace("−", "-").replace(",", "")), ""


class Distinct(Check, frozen=True, kw_only=True, tag="distinct"):
    """No two parts are the same: {"of": "items", "by": "first_letter"}; case does not count."""

    of: str
    by: Literal["text", "first_letter"] = "text"

    def requirement(self) -> str:
        """Return the requirement in words."""
        what = "" if self.by == "text" else " in the first letter"
        return f"no two {plural(self.of)} are the same{what}"

    def test(self, passage: Passage) -> Outcome:
        """Find the first part that was there before."""
        seen: dict[str, int] = {}
        for number, part in enumerate(parts(self.of, passage.text), 1):
            text = normal(part).casefold()
            key = after_mark(text)[:1] if self.by == "first_letter" else " ".join(text.split())
            if key in seen:
                return Outcome(False, f"{singular(self.of)} {number} is like {seen[key]}")
            seen[key] = number
        return PASSED
