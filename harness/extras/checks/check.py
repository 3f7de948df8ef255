"""A check: one requirement on a reply that a program can decide.

    {"kind": "count", "of": "words", "at_most": 15, "each": "line", "in": {"paragraph": 2}}

A kind is a subclass of `Check`: its fields are the arguments, `test` looks at one part of the
reply, `requirement` says in words what is required. `in` narrows the place by selectors:

    {"paragraph": 2}   {"sentence": -1}   {"line": [2, 4]}   {"after": "Reasons:"}
    {"before": "P.S."}   {"between": ["First letter", "Second letter"]}
"""

from collections.abc import Sequence
from typing import Any, ClassVar, TypeAlias

from msgspec import Struct, field

from harness.extras.checks.passage import PASSED, Outcome, Passage
from harness.extras.checks.units import (
    UNITS,
    Split,
    Unit,
    counted,
    full_name,
    plural,
    singular,
    spans_of,
)

Selector: TypeAlias = dict[str, Any]
Selectors: TypeAlias = Selector | list[Selector]
SELECTORS = ("after", "before", "between")


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

    name: str | None = None
    """What the check is called in tables, where other than its kind."""
    within: Selectors = field(name="in", default_factory=list)
    """Where it looks; empty: in the whole reply."""
    each: Unit | None = None
    """It must hold for every part of this unit, and there must be one."""

    def __post_init__(self) -> None:
        """Raise `ValueError` for a selector or a unit that does not exist."""
        check_selectors(self.within)
        for unit in (self.each, getattr(self, "of", None)):
            if unit is not None:
                check_unit(unit)

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
        return self.requirement() + described(self.within, self.each)

    def runs_code(self) -> bool:
        """Return whether it can be decided only by running code of the reply."""
        return False

    def outcome(self, passage: Passage) -> Outcome:
        """Return what the check finds; of several parts, the first that breaks it."""
        try:
            place = narrowed(self.within, passage)
        except MissingPartError as missing:
            return Outcome(False, str(missing))
        if self.each is None:
            return self.test(place)
        parts = spans_of(self.each, place)
        if not parts:
            return Outcome(False, f"there is no {singular(self.each)}")
        outcomes = [self.test(place.part(*part)) for part in parts]
        broken = [number for number, outcome in enumerate(outcomes) if not outcome.passed]
        if not broken:
            return PASSED
        first = outcomes[broken[0]]
        where = f"{singular(self.each)} {broken[0] + 1}"
        reason = f"{where}: {first.reason}" if first.reason else where
        return Outcome(first.passed, reason, tuple(parts[number] for number in broken))


class Bounds(Check, frozen=True, kw_only=True):
    """Arguments of all kinds that compare a number with a least and a greatest."""

    exactly: int | None = None
    at_least: int | None = None
    at_most: int | None = None
    between: tuple[int, int] | None = None

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

    def check_bounds(self, *, needed: bool) -> None:
        """Raise `ValueError` for bounds that are missing, too many or impossible."""
        alone = [name for name in ("exactly", "between") if getattr(self, name) is not None]
        ends = [name for name in ("at_least", "at_most") if getattr(self, name) is not None]
        if len(alone) > 1 or (alone and ends):
            raise ValueError(f"{' and '.join(alone + ends)} exclude each other; give one")
        if needed and not alone and not ends:
            raise ValueError("needs one of exactly, at_least, at_most, between")
        least, most = self.limits()
        if least < 0 or (most is not None and most < least):
            raise ValueError(f"no number is from {least} to {most}")

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


def check_unit(unit: Unit) -> None:
    """Raise `ValueError` if there is no such unit, with the nearest."""
    if isinstance(unit, Split):
        _require(unit.split.strip(), "split", "a text", unit.split)
    elif full_name(unit) is None:
        raise ValueError(f"no unit {unit!r}; {nearest(unit, UNITS)}")


def check_selectors(selectors: Selectors) -> None:
    """Raise `ValueError` for a selector that does not exist."""
    for selector in _steps(selectors):
        if len(selector) != 1:
            raise ValueError(f"a selector has one key, this is {selector}; give several as a list")
        ((name, value),) = selector.items()
        if name in ("after", "before"):
            _require(isinstance(value, str) and value.strip(), name, "a text", value)
        elif name == "between":
            two = isinstance(value, list) and len(value) == 2
            texts = two and all(isinstance(text, str) and text.strip() for text in value)
            _require(texts, name, "a list of two texts", value)
        elif full_name(name) is None:
            raise ValueError(f"no selector {name!r}; {nearest(name, [*SELECTORS, *UNITS])}")
        else:
            numbers = value if isinstance(value, list) else [value]
            right = len(numbers) in (1, 2) and all(type(n) is int and n for n in numbers)
            _require(right, name, "a number from 1, or from -1 at the end, or two", value)


def narrowed(selectors: Selectors, passage: Passage) -> Passage:
    """Return the part of a passage that the selectors select.

    Raises:
        MissingPartError: there is no such part.
    """
    for selector in _steps(selectors):
        ((name, value),) = selector.items()
        start, end = passage.span
        if name == "after":
            passage = passage.part(_place_of(value, passage) + len(value), end)
        elif name == "before":
            passage = passage.part(start, _place_of(value, passage))
        elif name == "between":
            passage = narrowed([{"after": value[0]}, {"before": value[1]}], passage)
        else:
            passage = _numbered(name, value, passage)
    return passage


def described(selectors: Selectors, each: Unit | None) -> str:
    """Return words for the place: "" for the whole reply, ", in paragraph 2", ", in each line"."""
    places = "".join(_described(selector) for selector in _steps(selectors))
    return places + (f", in each {singular(each)}" if each is not None else "")


def nearest(name: str, known: Sequence[str] | dict[str, Any]) -> str:
    """Return advice on a wrong name: the near ones, else all."""
    from difflib import get_close_matches

    near = get_close_matches(name, list(known), 3, 0.6)
    return f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(known)}"


def _steps(selectors: Selectors) -> list[Selector]:
    return [selectors] if isinstance(selectors, dict) else selectors


def _require(holds: object, name: str, what: str, value: Any) -> None:
    if not holds:
        raise ValueError(f"{name} must be {what}, this is {value!r}")


def _place_of(text: str, passage: Passage) -> int:
    """Return where a text first occurs, ignoring case."""
    import re

    match = re.search(re.escape(text), passage.text, re.IGNORECASE)
    if match is None:
        raise MissingPartError(f"{text!r} is not there")
    return passage.span.start + match.start()


def _numbered(unit: str, value: int | list[int], passage: Passage) -> Passage:
    parts = spans_of(unit, passage)
    first, last = (value[0], value[-1]) if isinstance(value, list) else (value, value)
    begin, end = (n - 1 if n > 0 else len(parts) + n for n in (first, last))
    if not 0 <= begin <= end < len(parts):
        there = f"there {'is' if len(parts) == 1 else 'are'} {counted(len(parts), unit)}"
        missing = first if not 0 <= begin < len(parts) else last
        raise MissingPartError(f"{there}, none is number {missing}")
    return passage.part(parts[begin].start, parts[end].end)


def _described(selector: Selector) -> str:
    ((name, value),) = selector.items()
    if name in ("after", "before"):
        return f", {name} {value!r}"
    if name == "between":
        return f", between {value[0]!r} and {value[1]!r}"
    if isinstance(value, list):
        return f", in {plural(name)} {value[0]} to {value[-1]}"
    which = {-1: "the last", 1: "the first"}.get(value)
    return f", in {which} {singular(name)}" if which else f", in {singular(name)} {value}"
