"""Where in a reply a check looks: selectors that narrow the place one after the other.

{"paragraph": 2}   {"sentence": -1}   {"line": [2, 4]}   {"after": "Reasons:"}   {"before": "P.S."}
{"between": ["First letter", "Second letter"]}   {"without": "code"}
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from harness.old.checks.check import Passage, Selector, Span, Split, Unit
from harness.old.checks.units import UNITS, full_name, plural, singular, spans_of
from harness.old.written import nearest

_TEXTS = ("after", "before")
_PLACES = (*_TEXTS, "between", "without")


class MissingPartError(ValueError):
    """The reply has no such part; the text says which."""


def validate(within: Selector | Sequence[Selector], *units: Unit | None) -> None:
    """Raise `ValueError` for a selector or a unit that there is not."""
    for unit in units:
        if unit is not None:
            known(unit)
    for selector in _steps(within):
        if len(selector) != 1:
            raise ValueError(f"a selector has one key, this is {selector}; give several as a list")
        (name, value) = next(iter(selector.items()))
        if name in _TEXTS:
            _require(isinstance(value, str) and value.strip(), name, "a text", value)
        elif name == "between":
            two = isinstance(value, list) and len(value) == 2 and all(isinstance(v, str) and v.strip() for v in value)
            _require(two, name, "a list of two texts", value)
        elif name == "without":
            _require(isinstance(value, str), name, "a unit", value)
            known(value)
        else:
            known(name, _PLACES)
            numbers = value if isinstance(value, list) else [value]
            whole = all(isinstance(n, int) and not isinstance(n, bool) and n for n in numbers)
            _require(whole and len(numbers) in (1, 2), name, "a number from 1, or from -1 at the end, or two", value)


def known(unit: Unit, also: Sequence[str] = ()) -> None:
    """Raise `ValueError` if there is no such unit, with the nearest."""
    if isinstance(unit, Split):
        _require(unit.split.strip(), "split", "a text", unit.split)
    elif full_name(unit) is None:
        raise ValueError(f"no unit {unit!r}; {nearest(unit, [*UNITS, *also])}")


def narrow(within: Selector | Sequence[Selector], passage: Passage) -> Passage:
    """Return the part of a passage that the selectors select.

    Raises:
        MissingPartError: there is no such part.
    """
    for selector in _steps(within):
        (name, value) = next(iter(selector.items()))
        if name == "after":
            passage = passage.part(Span(_find(passage, value).end, passage.span.end))
        elif name == "before":
            passage = passage.part(Span(passage.span.start, _find(passage, value).start))
        elif name == "between":
            passage = narrow([{"after": value[0]}, {"before": value[1]}], passage)
        elif name == "without":
            passage = _without(passage, value)
        else:
            passage = passage.part(_nth(passage, name, value))
    return passage


def place(within: Selector | Sequence[Selector], each: Unit | None) -> str:
    """Return a text about where a check looks: "" for the whole reply, " in paragraph 2", " in each sentence"."""
    said = "".join(_said(selector) for selector in _steps(within))
    return said + (f", in each {singular(each)}" if each is not None else "")


def _steps(within: Selector | Sequence[Selector]) -> Sequence[Selector]:
    return [within] if isinstance(within, dict) else within


def _require(holds: object, name: str, what: str, value: Any) -> None:
    if not holds:
        raise ValueError(f"{name} must be {what}, this is {value!r}")


def _find(passage: Passage, wanted: str) -> Span:
    """Return where a text first occurs in a passage, ignoring case."""
    # Case is folded letter by letter, since some letters become two.
    place = _folded(passage.said).find(_folded(wanted))
    if place < 0:
        raise MissingPartError(f"{wanted!r} is not there")
    return Span(passage.span.start + place, passage.span.start + place + len(wanted))


def _folded(text: str) -> str:
    lower = text.lower()
    return lower if len(lower) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def _nth(passage: Passage, unit: str, value: int | list[int]) -> Span:
    parts = spans_of(unit, passage)
    first, last = (value if len(value) == 2 else value * 2) if isinstance(value, list) else (value, value)
    begin, end = (n - 1 if n > 0 else len(parts) + n for n in (first, last))
    if not 0 <= begin <= end < len(parts):
        there = f"there are {len(parts)} {plural(unit)}" if len(parts) != 1 else f"there is 1 {singular(unit)}"
        raise MissingPartError(f"{there}, none is number {first if not 0 <= begin < len(parts) else last}")
    return Span(parts[begin].start, parts[end].end)


def _without(passage: Passage, unit: str) -> Passage:
    """Return a passage with all parts of a unit as spaces; places stay what they are."""
    pieces, begin = [], 0
    for start, end in spans_of(unit, passage):
        if start >= begin:
            pieces += [passage.text[begin:start], " " * (end - start)]
            begin = end
    text = "".join([*pieces, passage.text[begin:]])
    return replace(passage, text=text)


def _said(selector: Selector) -> str:
    (name, value) = next(iter(selector.items()))
    if name in _TEXTS:
        return f", {name} {value!r}"
    if name == "between":
        return f", between {value[0]!r} and {value[1]!r}"
    if name == "without":
        return f", {plural(value)} left out"
    if isinstance(value, list):
        return f", in {plural(name)} {value[0]} to {value[-1]}"
    which = {-1: "the last", 1: "the first"}.get(value)
    unit = singular(name)
    return f", in {which} {unit}" if which else f", in {unit} {value}"
