"""A check: one requirement on a reply that a program can decide.

    {"kind": "count", "of": "words", "at_most": 15, "each": "line", "in": {"paragraph": 2}}

A kind is a subclass of `Check`: its fields are the arguments, `test` looks at one part of the
reply, `requirement` says in words what is required. `in` narrows the place:

    {"paragraph": 2}   {"sentence": -1}   {"line": [2, 4]}   {"after": "Reasons:"}
    {"between": ["First letter", "Second letter"]}
"""

import re
from dataclasses import replace
from typing import Any, ClassVar, TypeAlias

from msgspec import Struct, field
from msgspec.structs import asdict

from harness.extras.checks.passage import PASSED, MissingPartError, Outcome, Passage
from harness.extras.checks.units import counted, parts, plural, singular

Part: TypeAlias = int | tuple[int, int]
"""The number of a part, from 1, or from -1 at the end; or the first and the last of several."""


class Selector(Struct, frozen=True, forbid_unknown_fields=True):
    """A part of a reply; without any field, the whole."""

    after: str | None = None
    between: tuple[str, str] | None = None
    line: Part | None = None
    sentence: Part | None = None
    paragraph: Part | None = None
    item: Part | None = None
    bullet: Part | None = None

    def __post_init__(self) -> None:
        """Raise `ValueError` for more than one field."""
        if len(self.fields) > 1:
            raise ValueError(f"a selector has one key, this has {' and '.join(self.fields)}")

    @property
    def fields(self) -> dict[str, Any]:
        """The field that selects, if any."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    def text(self, text: str) -> str:
        """Return the part of a text.

        Raises:
            MissingPartError: there is no such part.
        """
        if self.after is not None:
            return _split(text, self.after)[1]
        if self.between is not None:
            first, second = self.between
            return _split(_split(text, first)[1], second)[0]
        for unit, part in self.fields.items():
            texts = parts(unit, text)
            numbers = part if isinstance(part, tuple) else (part, part)
            begin, end = (n - 1 if n > 0 else len(texts) + n for n in numbers)
            if not 0 <= begin <= end < len(texts):
                raise MissingPartError(f"only {counted(len(texts), unit)}")
            return "\n".join(texts[begin : end + 1])
        return text

    def __str__(self) -> str:
        """Return words for the place: "" for the whole reply, ", in paragraph 2"."""
        for name, value in self.fields.items():
            if name == "after":
                return f", after {value!r}"
            if name == "between":
                return f", between {value[0]!r} and {value[1]!r}"
            if isinstance(value, tuple):
                return f", in {plural(name)} {value[0]} to {value[1]}"
            which = {-1: "the last", 1: "the first"}.get(value)
            return f", in {which} {name}" if which else f", in {name} {value}"
        return ""


class Check(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind"):
    """One requirement on a reply; the fields are the arguments of every kind."""

    QUOTES: ClassVar[bool] = True
    """Whether a reason may quote the reply, so that a judge's prompt leaves it out."""
    RUNS_CODE: ClassVar[bool] = False
    """Whether it is decided by running code of the reply."""

    name: str | None = None
    """What the check is called in tables, where other than its kind."""
    within: Selector = field(name="in", default=Selector())
    """Where it looks."""
    each: str | None = None
    """It must hold for every part of this unit, and there must be one."""

    def __post_init__(self) -> None:
        """Raise `ValueError` for a unit that does not exist."""
        for unit in (self.each, getattr(self, "of", None)):
            if unit is not None:
                plural(unit)

    def test(self, passage: Passage) -> Outcome:
        """Return whether one part of a reply is as it should be."""
        raise NotImplementedError

    def requirement(self) -> str:
        """Return the requirement in words, without the place."""
        raise NotImplementedError

    @property
    def kind(self) -> str:
        """The kind's name."""
        return str(self.__struct_config__.tag)

    @property
    def statement(self) -> str:
        """The requirement in words, with the place."""
        each = f", in each {singular(self.each)}" if self.each else ""
        return f"{self.requirement()}{self.within}{each}"

    def outcome(self, passage: Passage) -> Outcome:
        """Return what the check finds; of several parts, the first that breaks it."""
        if not passage.text.strip():
            return Outcome(False, "the reply is empty")
        try:
            passage = replace(passage, text=self.within.text(passage.text))
            if self.each is None:
                return self.test(passage)
            texts = parts(self.each, passage.text)
            for number, text in enumerate(texts, 1):
                outcome = self.test(replace(passage, text=text))
                if not outcome.passed:
                    reason = f"{singular(self.each)} {number}: {outcome.reason}"
                    return replace(outcome, reason=reason)
        except MissingPartError as missing:
            return Outcome(False, str(missing))
        return PASSED if texts else Outcome(False, f"there is no {singular(self.each)}")


class Bounds(Check, frozen=True, kw_only=True):
    """Arguments of all kinds that compare a number with a least and a greatest."""

    exactly: int | None = None
    at_least: int | None = None
    at_most: int | None = None
    between: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        """Raise `ValueError` for bounds that exclude each other or every number."""
        super().__post_init__()
        ends = self.at_least is not None or self.at_most is not None
        if (self.exactly is not None) + (self.between is not None) + ends > 1:
            raise ValueError("of exactly, between, and at_least with at_most, give one")
        least, most = self.limits
        if least < 0 or (most is not None and most < least):
            raise ValueError(f"no number is from {least} to {most}")

    @property
    def bounded(self) -> bool:
        """Whether any bound is given."""
        return (self.exactly, self.at_least, self.at_most, self.between) != (None,) * 4

    @property
    def limits(self) -> tuple[int, int | None]:
        """The least and the greatest number that will do, None for no greatest."""
        if self.exactly is not None:
            return self.exactly, self.exactly
        if not self.bounded:
            return 1, None
        return self.between or (self.at_least or 0, self.at_most)

    def many(self) -> str:
        """Return the bounds in words: "exactly 8", "90 to 110", "at most 60"."""
        least, most = self.limits
        if least == most:
            return f"exactly {least}"
        if most is None:
            return f"at least {least}"
        return f"{least} to {most}" if least else f"at most {most}"

    def holds(self, number: int) -> bool:
        """Return whether a number is within the bounds."""
        least, most = self.limits
        return least <= number and (most is None or number <= most)


def _split(text: str, mark: str) -> tuple[str, str]:
    """Return what is before and after the first place of a mark, ignoring case."""
    match = re.search(re.escape(mark), text, re.IGNORECASE)
    if match is None:
        raise MissingPartError(f"{mark!r} is not there")
    return text[: match.start()], text[match.end() :]
