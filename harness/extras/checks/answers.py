"""The result that a reply arrives at: `number` and `choice`."""

import math
import re
import unicodedata
from collections.abc import Iterator

from harness.extras.checks.check import Check
from harness.extras.checks.passage import Outcome, Passage, normal

_NUMBER = re.compile(
    r"(?P<sign>(?<![\w)])[-–])?\s?(?:(?P<over>\d{1,40})\s?/\s?(?P<under>0*[1-9]\d{,39})(?![\d/])"
    r"|(?P<plain>\d+(?:[.,'· ]\d{3})*(?:[.,]\d+)?|[.,]\d+))"
    r"|(?P<chinese>[〇零一二两三四五六七八九十百千万亿]{1,30})"
)
_CUE = re.compile(
    r"answer|choice|choose|option|correct|final|boxed|答案|选|選|故选|válasz|helyes|antwort|richtig|"
    r"respuesta|réponse|risposta|resposta|ответ|उत्तर",
    re.IGNORECASE,
)
_CUE_REACH = 40
"""Characters after a cue in which the option is looked for."""


class Number(Check, frozen=True, kw_only=True, tag="number"):
    """The last number is this one: {"kind": "number", "equals": 12.5, "tolerance": 0.05}.

    Numbers are read as people write them: 1,234.5 and 1.234,5 and 1 234,5, 3/4, 50% (as 50), 十二.
    Where a comma could be either, either reading will do.
    """

    equals: float
    tolerance: float = 0

    def requirement(self) -> str:
        """Return the requirement in words."""
        off = f" (±{self.tolerance:g})" if self.tolerance else ""
        return f"the last number is {self.equals:.15g}{off}"

    def test(self, passage: Passage) -> Outcome:
        """Read the numbers and compare."""
        matches = list(_NUMBER.finditer(normal(passage.text)))
        if not matches:
            return Outcome(False, "there is no number")
        # A tolerance of 0.1 lets 1.1 pass for 1, although 1.1 - 1 is a little more in binary.
        off = self.tolerance * (1 + 1e-9)
        passed = any(
            math.isclose(self.equals, value, rel_tol=1e-12, abs_tol=off)
            for value in _values(matches[-1])
        )
        return Outcome(passed, f"it is {matches[-1][0].strip()[:40]}")


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
        choice = self._decision(normal(passage.text))
        if choice is None:
            return Outcome(False, "none of the options is named")
        return Outcome(choice.casefold() == self.equals.casefold(), f"decides for {choice}")

    def _decision(self, text: str) -> str | None:
        # A single letter must be a capital, or every "a" would be option A.
        flags = 0 if any(len(option) == 1 for option in self.options) else re.IGNORECASE
        options = "|".join(map(re.escape, sorted(self.options, key=len, reverse=True)))
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


def _values(match: re.Match[str]) -> Iterator[float]:
    """Yield the values that a number can stand for."""
    sign = -1 if match["sign"] else 1
    if match["chinese"]:
        yield _chinese_number(match["chinese"])
    elif match["over"]:
        yield sign * int(match["over"]) / int(match["under"])
    else:
        for mark, group in (".,", ",."):  # the decimal mark, and what may part groups of digits
            text = re.sub(rf"(?<=\d)[{group}'· ](?=\d{{3}}(?!\d))", "", match["plain"])
            try:
                yield sign * float(text.replace(mark, "."))
            except ValueError:
                continue


def _chinese_number(text: str) -> int:
    """Return the value of a number in Chinese characters: 三百零五 is 305, 二〇二六 is 2026."""
    for unit in "亿万千百十":
        many, mark, rest = text.partition(unit)
        if mark:
            size = int(unicodedata.numeric(unit))
            return (_chinese_number(many) or 1) * size + _chinese_number(rest)
    digits = [str(int(unicodedata.numeric(digit))) for digit in text.replace("两", "二")]
    return int("".join(digits) or 0)
