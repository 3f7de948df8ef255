"""The result that a reply arrives at: `number` and `choice`."""

import re
from collections.abc import Iterator
from decimal import Decimal, DecimalException
from typing import Literal

from harness.old.checks.check import MET, Check, Finding, Passage, Span
from harness.old.checks.data import close
from harness.old.patterns import late_re

_NUMBER = late_re(
    r"\\[dt]?frac\s*\{\s*(?P<over>-?\d{1,40})\s*\}\s*\{\s*(?P<under>\d{1,40})\s*\}"
    r"|(?P<sign>(?<![\w)])[-−–])?\s?(?:"
    r"(?P<above>\d{1,40})\s?/\s?(?P<below>\d{1,40})(?![\d/])"
    r"|(?P<plain>\d+(?:(?:\{,\}|[.,'’·\u00a0\u202f\u2009 ])\d{3})*(?:[.,]\d+)?|[.,]\d+)"
    r"(?:[eE](?P<exponent>[+-]?\d{1,3})(?!\d)|\s?(?:×|x|\*|\\times|\\cdot|·)\s?10(?:\^\{?|\*\*)(?P<power>[+\-−]?\d{1,3})\}?)?)"
)
_CHINESE = late_re(r"负?[〇零一二两三四五六七八九十百千万亿]+(?:点[〇零一二三四五六七八九]+)?")
_DIGITS = {"〇": 0, "零": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}
_TENS = {"十": 10, "百": 100, "千": 1000}
_LARGE = {"万": 10**4, "亿": 10**8}
_CUE = late_re(
    r"(?:answer|choice|choose|option|correct|final|boxed|答案|选|選|故选|válasz|helyes|antwort|richtig|respuesta|réponse|"
    r"risposta|resposta|ответ|उत्तर)",
    re.IGNORECASE,
)
_CUE_REACH = 40
"""Characters after a cue in which the option is looked for."""


class Number(Check, frozen=True, kw_only=True, tag="number"):
    """The last number is this one: {"kind": "number", "equals": 12.5, "tolerance": 0.05}.

    Read as people write them: 1,234.5 and 1.234,5 and 1 234,5, 3/4, 2 × 10^5, 50% (as 50), 十二. Where a comma could be
    either, either reading will do.
    """

    equals: float
    tolerance: float = 0
    which: Literal["last", "first", "any"] = "last"

    def __post_init__(self) -> None:
        """Raise `ValueError` for a tolerance below 0."""
        super().__post_init__()
        if self.tolerance < 0:
            raise ValueError(f"tolerance must not be below 0, this is {self.tolerance}")

    def wanted(self) -> str:
        """Return the requirement as a text."""
        off = f" (±{self.tolerance:g})" if self.tolerance else ""
        return f"{'a' if self.which == 'any' else f'the {self.which}'} number is {self.equals:.15g}{off}"

    def measure(self, passage: Passage) -> Finding:
        """Read the numbers and compare."""
        found = list(numbers(passage))
        if not found:
            return Finding(False, "there is no number")
        chosen = found if self.which == "any" else [found[-1 if self.which == "last" else 0]]
        wanted = Decimal(repr(self.equals))
        if any(close(wanted, value, self.tolerance) for _, readings in chosen for value in readings):
            return MET
        span = chosen[-1][0]
        return Finding(False, f"it is {passage.at(span).strip()[:40]}", (span,))


class Choice(Check, frozen=True, kw_only=True, tag="choice"):
    """The option that the reply decides for: {"kind": "choice", "equals": "B", "options": ["A", "B", "C"]}.

    That is the one after the last word such as "answer" or "答案"; without one, the one that begins the last line or
    the first; else the last that is named.
    """

    equals: str
    options: list[str]

    def __post_init__(self) -> None:
        """Raise `ValueError` if the right one is not among the options."""
        super().__post_init__()
        if self.equals not in self.options:
            raise ValueError(f"equals must be one of the options, this is {self.equals!r}")

    def wanted(self) -> str:
        """Return the requirement as a text."""
        return f"decides for {self.equals}"

    def measure(self, passage: Passage) -> Finding:
        """Find the option."""
        span = self._decision(passage)
        if span is None:
            return Finding(False, "none of the options is named")
        chosen = passage.at(span)
        return MET if chosen.casefold() == self.equals.casefold() else Finding(False, f"decides for {chosen}", (span,))

    def _decision(self, passage: Passage) -> Span | None:
        # A single letter must be a capital, or every "a" would be option A.
        flags = 0 if any(len(option) == 1 for option in self.options) else re.IGNORECASE
        names = "|".join(re.escape(option) for option in sorted(self.options, key=len, reverse=True))
        option = re.compile(rf"(?<![A-Za-z0-9])(?:{names})(?![A-Za-z0-9])", flags)
        text, (start, end) = passage.text, passage.span
        for cue in reversed(list(_CUE.finditer(text, start, end))):
            if match := option.search(text, cue.end(), min(end, cue.end() + _CUE_REACH)):
                return Span(*match.span())
        said = passage.said.strip()
        for line in (said.rsplit("\n", 1)[-1], said.split("\n", 1)[0]):
            bare = line.lstrip(" *_#(>-")
            if bare and (match := option.match(bare)):
                place = text.index(line, start) + len(line) - len(bare) + match.start()
                return Span(place, place + len(match[0]))
        every = [Span(*match.span()) for match in option.finditer(text, start, end)]
        return every[-1] if every else None


def numbers(passage: Passage) -> Iterator[tuple[Span, tuple[Decimal, ...]]]:
    """Yield the numbers of a passage in their order, each with the values that it can be read as."""
    found: list[tuple[Span, tuple[Decimal, ...]]] = []
    for match in _NUMBER.finditer(passage.text, *passage.span):
        values = _readings(match)
        if values:
            found.append((Span(*match.span()), values))
    for match in _CHINESE.finditer(passage.text, *passage.span):
        found.append((Span(*match.span()), (chinese_number(match[0]),)))
    yield from sorted(found)


def chinese_number(text: str) -> Decimal:
    """Return the value of a number in Chinese characters: 三百零五 is 305, 二〇二六 is 2026."""
    negative, text = text.startswith("负"), text.removeprefix("负")
    whole, _, after = text.partition("点")
    if not set(whole) & {*_TENS, *_LARGE}:
        value = Decimal("".join(str(_DIGITS[c]) for c in whole) or "0")
    else:
        total = section = digit = 0
        for c in whole:
            if c in _DIGITS:
                digit = _DIGITS[c]
            elif c in _TENS:
                section += (digit or (1 if c == "十" else 0)) * _TENS[c]
                digit = 0
            else:
                total = (total + section + digit) * _LARGE[c]
                section = digit = 0
        value = Decimal(total + section + digit)
    if after:
        value += Decimal("0." + "".join(str(_DIGITS[c]) for c in after))
    return -value if negative else value


def _readings(match: re.Match[str]) -> tuple[Decimal, ...]:
    """Return the values that one number can stand for."""
    negative = bool(match["sign"])
    try:
        if match["over"] or match["above"]:
            over, under = (match["over"], match["under"]) if match["over"] else (match["above"], match["below"])
            return ((-1 if negative else 1) * Decimal(over) / Decimal(under),) if int(under) else ()
        shift = int((match["exponent"] or match["power"] or "0").replace("−", "-"))
        values = {Decimal(text).scaleb(shift) for text in _spellings(match["plain"].replace("{,}", ","))}
    except DecimalException:
        return ()
    return tuple(-value if negative else value for value in sorted(values))


def _spellings(text: str) -> set[str]:
    """Return a number as Python writes it, in each way that it can be read."""
    bare = re.sub(r"['’·\u00a0\u202f\u2009 ]", "", text)
    marks = [c for c in bare if c in ".,"]
    if not marks:
        return {bare}
    last = marks[-1]
    decimal = bare.replace("." if last == "," else ",", "")
    spellings = set()
    if decimal.count(last) == 1:
        spellings.add(decimal.replace(last, "."))
    tail = bare.rpartition(last)[2]
    if len(tail) == 3 and len(set(marks)) == 1 and not bare.startswith(("0", ".", ",")):
        spellings.add(bare.replace(last, ""))
    return spellings
