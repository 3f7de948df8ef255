"""The result that a reply arrives at: `number` and `choice`."""

import math
import re
import unicodedata
from collections.abc import Iterator
from typing import Literal, NamedTuple

from harness.extras.checks.check import Check
from harness.extras.checks.passage import PASSED, Outcome, Passage, normal

_NUMBER = re.compile(
    r"(?P<sign>(?<![\w)])[-–])?\s?(?:"
    r"(?P<over>\d{1,40})\s?/\s?(?P<under>\d{1,40})(?![\d/])"
    r"|(?P<plain>\d+(?:[.,'·\u00a0 ]\d{3})*(?:[.,]\d+)?|[.,]\d+))"
)
_CHINESE = re.compile(r"[〇零一二两三四五六七八九十百千万亿]{1,30}")
_CUE = re.compile(
    r"answer|choice|choose|option|correct|final|boxed|答案|选|選|故选|válasz|helyes|antwort|richtig|"
    r"respuesta|réponse|risposta|resposta|ответ|उत्तर",
    re.IGNORECASE,
)
_CUE_REACH = 40
"""Characters after a cue in which the option is looked for."""


class Reading(NamedTuple):
    """A number in a text, and the values that it may stand for."""

    start: int
    text: str
    values: tuple[float, ...]


class Number(Check, frozen=True, kw_only=True, tag="number"):
    """The last number is this one: {"kind": "number", "equals": 12.5, "tolerance": 0.05}.

    Numbers are read as people write them: 1,234.5 and 1.234,5 and 1 234,5, 3/4, 50% (as 50), 十二.
    Where a comma could be either, either reading will do.
    """

    equals: float
    tolerance: float = 0
    which: Literal["last", "any"] = "last"

    def requirement(self) -> str:
        """Return the requirement in words."""
        off = f" (±{self.tolerance:g})" if self.tolerance else ""
        return f"{'a' if self.which == 'any' else 'the last'} number is {self.equals:.15g}{off}"

    def test(self, passage: Passage) -> Outcome:
        """Read the numbers and compare."""
        found = readings(passage.text)
        if not found:
            return Outcome(False, "there is no number")
        chosen = found if self.which == "any" else found[-1:]
        # A tolerance of 0.1 lets 1.1 pass for 1, although 1.1 - 1 is a little more in binary.
        off = self.tolerance * (1 + 1e-9)
        near = (
            math.isclose(self.equals, value, rel_tol=1e-12, abs_tol=off)
            for reading in chosen
            for value in reading.values
        )
        return PASSED if any(near) else Outcome(False, f"it is {chosen[-1].text.strip()[:40]}")


class Choice(Check, frozen=True, kw_only=True, tag="choice"):
    """The option that the reply decides for: {"equals": "B", "options": ["A", "B"]}.

    That is the one after the last word such as "answer" or "答案"; without one, the one that begins
    the last line or the first; else the last that is named.
    """

    equals: str
    options: list[str]

    def __post_init__(self) -> None:
        """Raise `ValueError` if the right one is not among the options."""
        super().__post_init__()
        if self.equals not in self.options:
            raise ValueError(f"equals must be one of the options, this is {self.equals!r}")

    def requirement(self) -> str:
        """Return the requirement in words."""
        return f"decides for {self.equals}"

    def test(self, passage: Passage) -> Outcome:
        """Find the option."""
        chosen = self._decision(normal(passage.text))
        if chosen is None:
            return Outcome(False, "none of the options is named")
        same = chosen.casefold() == self.equals.casefold()
        return PASSED if same else Outcome(False, f"decides for {chosen}")

    def _decision(self, text: str) -> str | None:
        # A single letter must be a capital, or every "a" would be option A.
        flags = 0 if any(len(option) == 1 for option in self.options) else re.IGNORECASE
        options = "|".join(re.escape(one) for one in sorted(self.options, key=len, reverse=True))
        option = re.compile(rf"(?<![A-Za-z0-9])(?:{options})(?![A-Za-z0-9])", flags)
        for cue in reversed(list(_CUE.finditer(text))):
            if match := option.search(text, cue.end(), cue.end() + _CUE_REACH):
                return match[0]
        lines = text.strip().split("\n")
        for line in (lines[-1], lines[0]):
            if match := option.match(line.lstrip(" *_#(>-")):
                return match[0]
        every = option.findall(text)
        return str(every[-1]) if every else None


def readings(text: str) -> list[Reading]:
    """Return the numbers of a text in their order."""
    text = normal(text)
    found = [Reading(m.start(), m[0], tuple(_values(m))) for m in _NUMBER.finditer(text)]
    for match in _CHINESE.finditer(text):
        found.append(Reading(match.start(), match[0], (chinese_number(match[0]),)))
    return sorted(reading for reading in found if reading.values)


def chinese_number(text: str) -> int:
    """Return the value of a number in Chinese characters: 三百零五 is 305, 二〇二六 is 2026."""
    numbers = [int(unicodedata.numeric(character)) for character in text.replace("两", "二")]
    if max(numbers) < 10:
        return int("".join(map(str, numbers)))
    total = section = digit = 0
    for number in numbers:
        if number < 10:
            digit = number
        elif number < 10_000:
            section += (digit or 1) * number
            digit = 0
        else:
            total = (total + section + digit) * number
            section = digit = 0
    return total + section + digit


def _values(match: re.Match[str]) -> Iterator[float]:
    """Yield the values that one number can stand for."""
    sign = -1 if match["sign"] else 1
    if match["over"]:
        if int(match["under"]):
            yield sign * int(match["over"]) / int(match["under"])
        return
    for text in _spellings(match["plain"]):
        yield sign * float(text)


def _spellings(text: str) -> set[str]:
    """Return a number as Python writes it, in each way that it can be read."""
    bare = re.sub(r"['·\u00a0 ]", "", text)
    marks = [c for c in bare if c in ".,"]
    if not marks:
        return {bare}
    last = marks[-1]
    decimal = bare.replace("." if last == "," else ",", "")
    spellings = {decimal.replace(last, ".")} if decimal.count(last) == 1 else set()
    tail = bare.rpartition(last)[2]
    if len(tail) == 3 and len(set(marks)) == 1 and not bare.startswith(("0", ".", ",")):
        spellings.add(bare.replace(last, ""))
    return spellings
