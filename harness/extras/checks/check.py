"""A check: one requirement on a reply that a program can decide.

    {"kind": "count", "of": "words", "at_most": 15, "each": "line", "in": {"paragraph": 2}}

A kind is a subclass of `Check`: its fields are the arguments, `test` looks at one part of the
reply, `requirement` says in words what is required. `in` narrows the place by a selector:

    {"paragraph": 2}   {"sentence": -1}   {"line": [2, 4]}   {"after": "Reasons:"}
    {"between": ["First letter", "Second letter"]}
"""

import re
from dataclasses import replace
from typing import Any, ClassVar, TypeAlias

from msgspec import Struct, field

from harness.extras.checks.passage import PASSED, Outcome, Passage
from harness.extras.checks.units import UNITS, counted, nearest, parts, plural, singular

Selector: TypeAlias = dict[str, Any]


class MissingPartError(ValueError):
    """The reply has no such part; the text says which."""


class Check(
    Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="kind",
    omit_defaults=True,
):
    """One requirement on a reply; the fields are the arguments of every kind."""

    QUOTES: ClassVar[bool] = True
    """Whether a reason may quote the reply, so that a judge's prompt leaves it out."""
    RUNS_CODE: ClassVar[bool] = False
    """Whether it is decided by running code of the reply."""

    name: str | None = None
    """What the check is called in tables, where other than its kind."""
    within: Selector = field(name="in", default_factory=dict)
    """Where it looks; empty: in the whole reply."""
    each: str | None = None
    """It must hold for every part of this unit, and there must be one."""

    def __post_init__(self) -> None:
        """Raise `ValueError` for a selector or a unit that does not exist."""
        check_selector(self.within)
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
    def label(self) -> str:
        """What the check is called in tables."""
        return self.name or self.kind

    @property
    def statement(self) -> str:
        """The requirement in words, with the place."""
        each = f", in each {singular(self.each)}" if self.each else ""
        return self.requirement() + described(self.within) + each

    def outcome(self, passage: Passage) -> Outcome:
        """Return what the check finds; of several parts, the first that breaks it."""
        try:
            text = narrowed(self.within, passage.text)
        except MissingPartError as missing:
            return Outcome(False, str(missing))
        if self.each is None:
            return self.test(replace(passage, text=text))
        texts = parts(self.each, text)
        if not texts:
            return Outcome(False, f"there is no {singular(self.each)}")
        for number, part in enumerate(texts, 1):
            outcome = self.test(replace(passage, text=part))
            if not outcome.passed:
                return replace(outcome, reason=f"{singular(self.each)} {number}: {outcome.reason}")
        return PASSED


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
        least, most = self.limits()
        if least < 0 or (most is not None and most < least):
            raise ValueError(f"no number is from {least} to {most}")

    @property
    def bounded(self) -> bool:
        """Whether any bound is given."""
        return (self.exactly, self.at_least, self.at_most, self.between) != (None,) * 4

    def limits(self, default: tuple[int, int | None] = (0, None)) -> tuple[int, int | None]:
        """Return the least and the greatest number that will do, None for no greatest."""
        if self.exactly is not None:
            return self.exactly, self.exactly
        if not self.bounded:
            return default
        return self.between or (self.at_least or 0, self.at_most)

    def many(self, default: tuple[int, int | None] = (0, None)) -> str:
        """Return the bounds in words: "exactly 8", "90 to 110", "at most 60"."""
        least, most = self.limits(default)
        if least == most:
            return f"exactly {least}"
        if most is None:
            return f"at least {least}"
        return f"{least} to {most}" if least else f"at most {most}"

    def holds(self, number: int, default: tuple[int, int | None] = (0, None)) -> bool:
        """Return whether a number is within the bounds."""
        least, most = self.limits(default)
        return least <= number and (most is None or number <= most)


def check_selector(selector: Selector) -> None:
    """Raise `ValueError` for a selector that does not exist."""
    if len(selector) > 1:
        raise ValueError(f"a selector has one key, this is {selector}")
    for name, value in selector.items():
        values = value if isinstance(value, list) else [value]
        if name in ("after", "between"):
            one = name == "after"
            right = isinstance(value, str if one else list) and len(values) == (1 if one else 2)
            right = right and all(isinstance(text, str) and text for text in values)
            form = "a text" if name == "after" else "a list of two texts"
        elif name in UNITS or f"{name}s" in UNITS:
            right = len(values) in (1, 2) and all(type(n) is int and n for n in values)
            form = "a number from 1, or from -1 at the end, or a list of two"
        else:
            raise ValueError(f"no selector {name!r}; {nearest(name, ['after', 'between', *UNITS])}")
        if not right:
            raise ValueError(f"{name} must be {form}, this is {value!r}")


def narrowed(selector: Selector, text: str) -> str:
    """Return the part of a text that a selector selects.

    Raises:
        MissingPartError: there is no such part.
    """
    for name, value in selector.items():
        if name == "after":
            return _split(text, value)[1]
        if name == "between":
            return _split(_split(text, value[0])[1], value[1])[0]
        first, last = value if isinstance(value, list) else (value, value)
        texts = parts(name, text)
        begin, end = (n - 1 if n > 0 else len(texts) + n for n in (first, last))
        if not 0 <= begin <= end < len(texts):
            missing = first if not 0 <= begin < len(texts) else last
            raise MissingPartError(f"none of {counted(len(texts), name)} is number {missing}")
        return "\n".join(texts[begin : end + 1])
    return text


def described(selector: Selector) -> str:
    """Return words for the place: "" for the whole reply, ", in paragraph 2"."""
    for name, value in selector.items():
        if name == "after":
            return f", after {value!r}"
        if name == "between":
            return f", between {value[0]!r} and {value[1]!r}"
        if isinstance(value, list):
            return f", in {plural(name)} {value[0]} to {value[-1]}"
        which = {-1: "the last", 1: "the first"}.get(value)
        return f", in {which} {singular(name)}" if which else f", in {singular(name)} {value}"
    return ""


def _split(text: str, mark: str) -> tuple[str, str]:
    """Return what is before and after the first place of a mark, ignoring case."""
    match = re.search(re.escape(mark), text, re.IGNORECASE)
    if match is None:
        raise MissingPartError(f"{mark!r} is not there")
    return text[: match.start()], text[match.end() :]
