"""What is written where: `contains`, `not_contains`, `starts`, `ends`, `order`, `equals`.

Texts are looked for as they stand and in the normal form of `passage.normal`; either counts.
Words and texts become plain expressions, patterns are RE2's: all match in linear time.
"""

import functools
from typing import Any, ClassVar, TypeAlias

import regex

from harness.extras.checks.check import Bounds, Check
from harness.extras.checks.passage import Outcome, Passage, normal
from harness.extras.checks.units import CJK, LETTER

Texts: TypeAlias = str | list[str]
_BEFORE = r"[\s*_#>~\"'“”„«»「『‘’(\[\-–—•+]*"
"""What may precede the first word: Markdown marks, quotation marks."""
_AFTER = r"[\s*_~\"'“”«»」』’)\].,;:!?…。！？、-]*"
_AFTER_TEXT = r"[\s\"”’»」*_]*"
_ANYTHING = "(?s:.*)"
_NUMERALS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety"
)


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
        if [self.words, self.text, self.pattern].count(None) != 2:
            raise ValueError("needs one of words, text, pattern")
        if not self.entries or not all(entry.strip(" *") for entry in self.entries if self.words):
            raise ValueError("it has an empty text")
        if self.bounded and not self.COUNTS:
            raise ValueError(f"{self.kind} takes no bounds; contains does")
        for entry in self.entries:
            self.expression(entry)  # raises where a pattern is not valid

    @property
    def entries(self) -> list[str]:
        """What is looked for, one by one."""
        return _listed(self.words or self.text or self.pattern or [])

    def expression(self, entry: str, before: str = "", after: str = "") -> Any:
        """Return the compiled expression of an entry."""
        source = regex.escape(entry)
        if self.pattern is not None:
            source = entry
        elif self.words is not None:
            source = _words_source(entry)
            if self.COUNTS and not self.bounded and entry.isdecimal() and 20 <= int(entry) < 1e6:
                source += "|" + _spelled_source(int(entry))
        flags = "m" if self.match_case else "im"
        return compiled(f"(?{flags}){before}(?:{source}){after}", self.pattern is not None)

    def forms(self, entry: str, text: str) -> list[tuple[str, str]]:
        """Return an entry and a text as they stand, and both in the normal form."""
        plain = entry if self.pattern is not None else normal(entry) or entry
        return [(entry, text), (plain, normal(text))]

    def times(self, entry: str, text: str) -> int:
        """Return how often an entry occurs, in a text or in its normal form, whichever is more."""
        forms = self.forms(entry, text)
        return max(sum(1 for _ in self.expression(entry).finditer(text)) for entry, text in forms)

    def fits(self, text: str, before: str, after: str) -> bool:
        """Return whether a text is one of the entries between these expressions."""
        return any(
            self.expression(form, before, after).fullmatch(where)
            for entry in self.entries
            for form, where in self.forms(entry, text)
        )

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
            times = self.times(entry, passage.text)
            if not self.holds(times):
                reasons.append(f"“{entry}” is there {times} times")
        passed = len(reasons) < len(self.entries) if self.any else not reasons
        return Outcome(passed, ", ".join(reasons[:3]))


class NotContains(Searching, frozen=True, kw_only=True, tag="not_contains"):
    """None of these: {"kind": "not_contains", "text": "!"}."""

    def requirement(self) -> str:
        """Return the requirement in words."""
        return f"does not contain {self.quoted(' or ')}"

    def test(self, passage: Passage) -> Outcome:
        """Look for each of them."""
        broken = [f"“{entry}”" for entry in self.entries if self.times(entry, passage.text)]
        return Outcome(not broken, ", ".join(broken[:3]))


class Starts(Searching, frozen=True, kw_only=True, tag="starts"):
    """It begins with one of these: {"kind": "starts", "words": "Ground floor"}."""

    def requirement(self) -> str:
        """Return the requirement in words."""
        return f"begins with {self.quoted(' or ')}"

    def test(self, passage: Passage) -> Outcome:
        """Look at the beginning, marks before words passed over."""
        marks = _BEFORE if self.words is not None else r"\s*"
        passed = self.fits(passage.text, marks, _ANYTHING)
        return Outcome(passed, f"begins with “{_line(passage.text)[:30]}”")


class Ends(Searching, frozen=True, kw_only=True, tag="ends"):
    """It ends with one of these: {"kind": "ends", "words": "OVER"}."""

    def requirement(self) -> str:
        """Return the requirement in words."""
        return f"ends with {self.quoted(' or ')}"

    def test(self, passage: Passage) -> Outcome:
        """Look at the end, marks after words and texts passed over."""
        marks = _AFTER if self.words is not None else _AFTER_TEXT if self.text else r"\s*"
        passed = self.fits(passage.text, _ANYTHING, marks)
        return Outcome(passed, f"ends with “{_line(passage.text)[-30:]}”")


class Order(Searching, frozen=True, kw_only=True, tag="order"):
    """Each is first named after the one before: {"words": ["harbour", "market"]}."""

    def requirement(self) -> str:
        """Return the requirement in words."""
        return f"in this order: {self.quoted()}"

    def test(self, passage: Passage) -> Outcome:
        """Compare the first places, in the reply as it stands or else in its normal form."""
        forms = [self.forms(entry, passage.text) for entry in self.entries]
        reasons = [self._disorder(pairs) for pairs in zip(*forms, strict=True)]
        return Outcome("" in reasons, reasons[0])

    def _disorder(self, pairs: tuple[tuple[str, str], ...]) -> str:
        last = 0
        for entry, text in pairs:
            match = self.expression(entry).search(text)
            if match is None:
                return f"“{entry}” is not there"
            if match.start() < last:
                return f"“{entry}” comes too early"
            last = match.start()
        return ""


class Equals(Check, frozen=True, kw_only=True, tag="equals"):
    """It is one of these texts; spaces and a final full stop do not count: {"text": "Lisbon"}."""

    text: Texts

    def requirement(self) -> str:
        """Return the requirement in words."""
        return f"is {' or '.join(f'“{text}”' for text in _listed(self.text))}"

    def test(self, passage: Passage) -> Outcome:
        """Compare."""
        passed = _bare(passage.text) in map(_bare, _listed(self.text))
        return Outcome(passed, f"it is “{_line(passage.text)[:30]}”")


@functools.lru_cache(512)
def compiled(source: str, by_re2: bool) -> Any:
    """Return a compiled expression, of RE2 where a user wrote it.

    Raises:
        ValueError: it is not valid.
    """
    if not by_re2:
        return regex.compile(source)
    import re2

    options = re2.Options()
    options.log_errors = False  # it would write to stderr by itself
    try:
        return re2.compile(source, options)
    except re2.error as error:
        raise ValueError(f"the pattern is not valid for RE2: {error}") from None


def spelled(number: int) -> str:
    """Return a number below a million in English: 250 is "two hundred and fifty"."""
    numerals = _NUMERALS.split()
    if number < 20:
        return numerals[number]
    if number < 100:
        tens, rest = divmod(number, 10)
        return numerals[18 + tens] + (f"-{numerals[rest]}" if rest else "")
    size, name = (1000, "thousand") if number >= 1000 else (100, "hundred")
    above, rest = divmod(number, size)
    joint = " and " if 0 < rest < 100 else " "
    return f"{spelled(above)} {name}{joint + spelled(rest) if rest else ''}"


def _listed(texts: Texts) -> list[str]:
    return [texts] if isinstance(texts, str) else texts


def _line(text: str) -> str:
    return " ".join(text.split())


def _bare(text: str) -> str:
    return _line(normal(text)).strip("*_ .。").casefold()


def _spelled_source(number: int) -> str:
    source = spelled(number).replace(" and ", "(?: and)? ").replace("-", "[- ]")
    before, after = r"(?<![\w-]|hundred |thousand |and )", r"(?![\w-]| hundred| thousand)"
    return before + source + after


def _words_source(entry: str) -> str:
    """Return the expression for whole words: edges of words, any space, any apostrophe."""
    entry = entry.strip()
    core = entry.strip("*")
    inner = r"\s+".join(regex.escape(word).replace("'", "['’]") for word in core.split())
    letter = rf"[{LETTER}_]"
    # Chinese has no edges of words, and punctuation needs none.
    starts, ends = (regex.match(rf"(?![{CJK}]){letter}", edge) for edge in (core[0], core[-1]))
    # An edge before any beginning too: without it each letter of a long word would be tried.
    start = f"(?<!{letter}){letter}*" if entry[0] == "*" else f"(?<!{letter})" if starts else ""
    end = f"{letter}*" if entry[-1] == "*" else f"(?!{letter})" if ends else ""
    return start + inner + end
