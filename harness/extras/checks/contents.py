"""What is written where: `contains`, `not_contains`, `starts`, `ends`, `order`, `equals`.

Texts are looked for as they stand and in the normal form of `passage.normal`; either counts.
Words and texts become plain expressions, patterns are RE2's: all match in linear time.
"""

import functools
from typing import Any, ClassVar, Literal, TypeAlias

import regex

from harness.extras.checks.check import Bounds, Check
from harness.extras.checks.passage import PASSED, Outcome, Passage, normal
from harness.extras.checks.units import CJK, LETTER

Texts: TypeAlias = str | list[str]
Edge: TypeAlias = Literal["begin", "end"]
_ONCE = (1, None)
_BEFORE = r"[\s*_#>~\"'“”„«»「『‘’(\[\-–—•+]*"
"""What may precede the first word: Markdown marks, quotation marks."""
_AFTER = r"[\s*_~\"'“”«»」』’)\].,;:!?…。！？、-]*"
_AFTER_TEXT = r"[\s\"”’»」*_]*"


class Searching(Bounds, frozen=True, kw_only=True):
    """Arguments of the kinds that look for something: one of `words`, `text` and `pattern`."""

    COUNTS: ClassVar[bool] = False
    """Whether it has bounds."""

    words: Texts | None = None
    """Whole words or phrases; `*` at an end stands for any ending, or beginning."""
    text: Texts | None = None
    """A text at any place."""
    pattern: Texts | None = None
    """RE2 regular expressions; ^ and $ match at lines."""
    match_case: bool = False

    def __post_init__(self) -> None:
        """Raise `ValueError` where not exactly one sort of text is given, or it is not valid."""
        super().__post_init__()
        given = [name for name in ("words", "text", "pattern") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(
                f"needs one of words, text, pattern{f', not {len(given)}' * bool(given)}"
            )
        if not all(entry.strip(" *" if self.words else None) for entry in self.entries or [""]):
            raise ValueError(f"{given[0]} has an empty text")
        if self.bounded and not self.COUNTS:
            raise ValueError(f"{self.kind} takes no bounds; contains does")
        for entry in self.entries:
            self.expression(entry)

    @property
    def entries(self) -> list[str]:
        """What is looked for, one by one."""
        given = self.words or self.text or self.pattern or []
        return [given] if isinstance(given, str) else given

    def expression(self, entry: str, before: str = "", after: str = "") -> Any:
        """Return the compiled expression of an entry."""
        if self.pattern is not None:
            return compiled(f"{before}(?:{entry}){after}", self.match_case)
        source = _words_source(entry) if self.words is not None else regex.escape(entry)
        return regex.compile(before + source + after, 0 if self.match_case else regex.IGNORECASE)

    def times(self, entry: str, text: str) -> int:
        """Return how often an entry occurs, in a text or in its normal form, whichever is more."""
        plain = normal(text)
        found = (self.expression(entry), text), (self.expression(self.plain(entry)), plain)
        return max(sum(1 for _ in expression.finditer(where)) for expression, where in found)

    def at_edge(self, entry: str, text: str, edge: Edge) -> bool:
        """Return whether a text begins or ends with an entry, marks around words passed over."""
        before = _BEFORE if self.words is not None else r"\s*"
        after = _AFTER if self.words is not None else _AFTER_TEXT if self.text else r"\s*"
        end = r"\z" if self.pattern is not None else r"\Z"  # RE2's and Python's
        around = (r"\A" + before, "") if edge == "begin" else ("", after + end)
        return bool(
            self.expression(entry, *around).search(text)
            or self.expression(self.plain(entry), *around).search(normal(text))
        )

    def plain(self, entry: str) -> str:
        """Return an entry in the normal form; a pattern is written for it already."""
        return entry if self.pattern is not None else normal(entry) or entry

    def quoted(self, joint: str = ", ") -> str:
        """Return words for what is looked for."""
        marks = "//" if self.pattern is not None else "“”"
        return joint.join(f"{marks[0]}{entry}{marks[1]}" for entry in self.entries)


class Contains(Searching, frozen=True, kw_only=True, tag="contains"):
    """Each of these, so often: {"kind": "contains", "words": ["harbour", "boat*"]}.

    With `any`, one of them is enough. Without bounds, a whole number among `words` may be spelled
    out in English, from twenty on: "two" and the like are too common.
    """

    COUNTS: ClassVar[bool] = True
    any: bool = False

    def requirement(self) -> str:
        """Return the requirement in words."""
        often = f" {self.many()} times" if self.bounded else ""
        return f"contains {self.quoted(' or ' if self.any else ', ')}{often}"

    def test(self, passage: Passage) -> Outcome:
        """Count each of them."""
        reasons = []
        for entry in self.entries:
            times = self.times(entry, passage.text) or self._spelled(entry, passage.text)
            if not self.holds(times, _ONCE):
                reasons.append(f"“{entry}” is there {times} times")
        passed = len(reasons) < len(self.entries) if self.any else not reasons
        return Outcome(passed, ", ".join(reasons[:3]))

    def _spelled(self, entry: str, text: str) -> bool:
        number = int(entry) if entry.isdecimal() and len(entry) <= 6 else 0
        if self.words is None or self.bounded or number < 20:
            return False
        source = spelled(number).replace(" and ", "(?: and)? ").replace("-", "[- ]")
        before, after = r"(?<![\w-]|hundred |thousand |and )", r"(?![\w-]| hundred| thousand)"
        return bool(regex.search(before + source + after, normal(text), regex.IGNORECASE))


class NotContains(Searching, frozen=True, kw_only=True, tag="not_contains"):
    """None of these: {"kind": "not_contains", "text": "!"}."""

    def requirement(self) -> str:
        """Return the requirement in words."""
        return f"does not contain {self.quoted(' or ')}"

    def test(self, passage: Passage) -> Outcome:
        """Look for each of them."""
        found = [f"“{entry}”" for entry in self.entries if self.times(entry, passage.text)]
        return Outcome(not found, ", ".join(found[:3]))


class _Edge(Searching, frozen=True, kw_only=True):
    """Kinds that look at the beginning or the end."""

    EDGE: ClassVar[Edge]

    def requirement(self) -> str:
        """Return the requirement in words."""
        return f"{self.EDGE}s with {self.quoted(' or ')}"

    def test(self, passage: Passage) -> Outcome:
        """Look there."""
        passed = any(self.at_edge(entry, passage.text, self.EDGE) for entry in self.entries)
        return Outcome(passed, f"{self.EDGE}s with “{excerpt(passage.text, self.EDGE)}”")


class Starts(_Edge, frozen=True, kw_only=True, tag="starts"):
    """It begins with one of these: {"kind": "starts", "words": "Ground floor"}."""

    EDGE = "begin"


class Ends(_Edge, frozen=True, kw_only=True, tag="ends"):
    """It ends with one of these: {"kind": "ends", "words": "OVER"}."""

    EDGE = "end"


class Order(Searching, frozen=True, kw_only=True, tag="order"):
    """Each is first named after the one before: {"words": ["harbour", "market"]}."""

    def requirement(self) -> str:
        """Return the requirement in words."""
        return f"in this order: {self.quoted()}"

    def test(self, passage: Passage) -> Outcome:
        """Compare the first places, in the reply as it stands or else in its normal form."""
        outcome = self._ordered(passage.text, self.entries)
        plain = self._ordered(normal(passage.text), [self.plain(entry) for entry in self.entries])
        return PASSED if plain.passed else outcome

    def _ordered(self, text: str, entries: list[str]) -> Outcome:
        last = -1
        for entry in entries:
            match = self.expression(entry).search(text)
            if match is None:
                return Outcome(False, f"“{entry}” is not there")
            if match.start() < last:
                return Outcome(False, f"“{entry}” comes too early")
            last = match.start()
        return PASSED


class Equals(Check, frozen=True, kw_only=True, tag="equals"):
    """It is one of these texts; spaces and a final full stop do not count: {"text": "Lisbon"}."""

    text: Texts

    def requirement(self) -> str:
        """Return the requirement in words."""
        return f"is {' or '.join(f'“{text}”' for text in self._texts)}"

    def test(self, passage: Passage) -> Outcome:
        """Compare."""
        passed = _bare(passage.text) in map(_bare, self._texts)
        return Outcome(passed, f"it is “{excerpt(passage.text, 'begin')}”")

    @property
    def _texts(self) -> list[str]:
        return [self.text] if isinstance(self.text, str) else self.text


@functools.lru_cache(512)
def compiled(pattern: str, match_case: bool) -> Any:
    """Return a pattern as RE2 has it.

    Raises:
        ValueError: it is not valid.
    """
    import re2

    options = re2.Options()
    options.log_errors = False  # it would write to stderr by itself
    try:
        return re2.compile(f"(?{'m' if match_case else 'im'}){pattern}", options)
    except re2.error as error:
        raise ValueError(f"pattern {pattern!r} is not valid for RE2: {error}") from None


def excerpt(text: str, edge: Edge, length: int = 30) -> str:
    """Return the first or last characters of a text, of one line, for a message."""
    text = text.strip()
    if edge == "begin":
        line = text[:length].split("\n")[0]
        return line.rstrip() + "…" * (len(line) == length)
    line = text[-length:].split("\n")[-1]
    return "…" * (len(line) == length) + line


# fmt: off
_SMALL = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
# fmt: on


def spelled(number: int) -> str:
    """Return a number below a million in English: 250 is "two hundred and fifty"."""
    if number < 20:
        return _SMALL[number]
    if number < 100:
        tens, rest = divmod(number, 10)
        return _TENS[tens - 2] + (f"-{_SMALL[rest]}" if rest else "")
    size, name = (1000, "thousand") if number >= 1000 else (100, "hundred")
    above, rest = divmod(number, size)
    joint = " and " if 0 < rest < 100 else " "
    return f"{spelled(above)} {name}{joint + spelled(rest) if rest else ''}"


def _bare(text: str) -> str:
    return " ".join(normal(text).split()).strip('*_ .。"').casefold()


def _words_source(entry: str) -> str:
    """Return the expression for whole words: edges of words, any space, any apostrophe."""
    entry = entry.strip()
    core = entry.strip("*")
    inner = r"\s+".join(regex.escape(word).replace("'", "['’]") for word in core.split())
    letter, han = rf"[{LETTER}_]", rf"[{CJK}]"
    open_start, open_end = (
        not regex.match(letter, edge) or regex.match(han, edge) for edge in (core[0], core[-1])
    )
    # An edge before any beginning too: without it each letter of a long word would be tried.
    start = f"(?<!{letter}){letter}*" if entry[0] == "*" else "" if open_start else f"(?<!{letter})"
    end = f"{letter}*" if entry[-1] == "*" else "" if open_end else f"(?!{letter})"
    return start + inner + end
