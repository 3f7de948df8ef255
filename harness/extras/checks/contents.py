"""What is written where: `contains`, `starts`, `ends`, `order`, `equals`, `language`.

Texts are looked for as they stand and in the normal form of `passage.normal`; either counts.
Words and texts become plain expressions, patterns are RE2's: all match in linear time.
"""

import functools
from collections.abc import Sequence
from typing import Any, ClassVar, Literal, TypeAlias

import msgspec
import regex

from harness.extras.checks.check import Bounds, Check
from harness.extras.checks.passage import PASSED, Outcome, Passage, Span, normal
from harness.extras.checks.units import CJK, LETTER, words

Texts: TypeAlias = str | list[str]
_ONCE = (1, None)
_LONGEST_PATTERN = 2_000
_MOST_SPANS = 20
_BEFORE = r"[\s*_#>~\"'“”„«»「『‘’(\[\-–—•+]*"
"""What may precede the first word: Markdown marks, quotation marks."""
_AFTER = r"[\s*_~\"'“”«»」』’)\].,;:!?…。！？、-]*"


class Searching(Bounds, frozen=True, kw_only=True):
    """Arguments of the kinds that look for something: one of `words`, `text` and `pattern`."""

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
        if not self.entries or not all(
            entry.strip(" *" if self.words else None) for entry in self.entries
        ):
            raise ValueError(f"{given[0]} has an empty text")
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
        return _plain(before + source + after, self.match_case)

    def find(self, entry: str, passage: Passage) -> list[Span]:
        """Return the places of an entry; what only the normal form has is in the whole passage."""
        return self._spans(passage, [self.expression(entry), self.expression(self._same(entry))])

    def at_edge(self, entry: str, passage: Passage, edge: Literal["begin", "end"]) -> list[Span]:
        """Return where an entry begins or ends a passage, marks around words passed over."""
        before = _BEFORE if self.words is not None else r"\s*"
        after = _AFTER if self.words is not None else r"[\s\"”’»」*_]*" if self.text else r"\s*"
        end = r"\z" if self.pattern is not None else r"\Z"  # RE2's and Python's
        around = (r"\A" + before, "") if edge == "begin" else ("", after + end)
        entries = (entry, self._same(entry))
        return self._spans(passage, [self.expression(one, *around) for one in entries])

    def quoted(self, joint: str = ", ") -> str:
        """Return words for what is looked for."""
        marks = "//" if self.pattern is not None else "“”"
        return joint.join(f"{marks[0]}{entry}{marks[1]}" for entry in self.entries)

    def _same(self, entry: str) -> str:
        """Return an entry in the normal form; a pattern is written for it already."""
        return entry if self.pattern is not None else normal(entry) or entry

    def _spans(self, passage: Passage, expressions: Sequence[Any]) -> list[Span]:
        start, text = passage.span.start, passage.text
        found = [Span(start + m.start(), start + m.end()) for m in expressions[0].finditer(text)]
        plain = normal(text)
        more = 0 if plain == text else sum(1 for _ in expressions[1].finditer(plain)) - len(found)
        return found + [Span(*passage.span)] * more


class Contains(Searching, frozen=True, kw_only=True, tag="contains"):
    """Each of these, so often: {"kind": "contains", "words": ["harbour", "boat*"]}.

    With `any`, one of them is enough. Without bounds, a whole number among `words` may be spelled
    out in English, from twenty on: "two" and the like are too common.
    """

    any: bool = False

    def __post_init__(self) -> None:
        """Raise `ValueError` for impossible bounds."""
        super().__post_init__()
        self.check_bounds(needed=False)

    def requirement(self) -> str:
        """Return the requirement in words."""
        often = "" if self.limits(_ONCE) == _ONCE else f" {self.many()} times"
        return f"contains {self.quoted(' or ' if self.any else ', ')}{often}"

    def test(self, passage: Passage) -> Outcome:
        """Count each of them."""
        reasons: list[str] = []
        spans: list[Span] = []
        for entry in self.entries:
            places = self.find(entry, passage) or self._spelled(entry, passage)
            if self.holds(len(places), _ONCE):
                if self.any:
                    return PASSED
                continue
            times = f"is there {len(places)} times" if places else "is not there"
            reasons.append(f"“{entry}” {times}")
            most = self.limits(_ONCE)[1]
            spans += places[most:] if most is not None else []
        return Outcome(False, _listed(reasons), tuple(spans[:_MOST_SPANS])) if reasons else PASSED

    def _spelled(self, entry: str, passage: Passage) -> list[Span]:
        number = int(entry) if entry.isdecimal() and len(entry) <= 6 else 0
        if self.words is None or self.bounded or number < 20:
            return []
        source = spelled(number).replace(" and ", "(?: and)? ").replace("-", "[- ]")
        before, after = r"(?<![\w-]|hundred |thousand |and )", r"(?![\w-]| hundred| thousand)"
        found = _plain(before + source + after, False).search(normal(passage.text))
        return [passage.span] if found else []


class _Unbounded(Searching, frozen=True, kw_only=True):
    """Kinds that look for something written and do not count it."""

    def __post_init__(self) -> None:
        """Raise `ValueError` for bounds."""
        super().__post_init__()
        if self.bounded:
            raise ValueError(f"{self.kind} takes no bounds; contains does")


class NotContains(_Unbounded, frozen=True, kw_only=True, tag="not_contains"):
    """None of these: {"kind": "not_contains", "text": "!"}."""

    def requirement(self) -> str:
        """Return the requirement in words."""
        return f"does not contain {self.quoted(' or ')}"

    def test(self, passage: Passage) -> Outcome:
        """Look for each of them."""
        places = {entry: self.find(entry, passage) for entry in self.entries}
        spans = sorted(span for found in places.values() for span in found)
        if not spans:
            return PASSED
        exact = [passage.at(span).strip() for span in spans if span != passage.span]
        texts = dict.fromkeys(exact or [entry for entry, found in places.items() if found])
        return Outcome(False, _listed([f"“{text}”" for text in texts]), tuple(spans[:_MOST_SPANS]))


class _Edge(_Unbounded, frozen=True, kw_only=True):
    """Kinds that look at the beginning or the end."""

    EDGE: ClassVar[Literal["begin", "end"]]

    def requirement(self) -> str:
        """Return the requirement in words."""
        return f"{self.EDGE}s with {self.quoted(' or ')}"

    def test(self, passage: Passage) -> Outcome:
        """Look there."""
        if any(self.at_edge(entry, passage, self.EDGE) for entry in self.entries):
            return PASSED
        span, shown = excerpt(passage, self.EDGE)
        return Outcome(False, f"{self.EDGE}s with “{shown}”", (span,))


class Starts(_Edge, frozen=True, kw_only=True, tag="starts"):
    """It begins with one of these: {"kind": "starts", "words": "Ground floor"}."""

    EDGE = "begin"


class Ends(_Edge, frozen=True, kw_only=True, tag="ends"):
    """It ends with one of these: {"kind": "ends", "words": "OVER"}."""

    EDGE = "end"


class Order(_Unbounded, frozen=True, kw_only=True, tag="order"):
    """Each is first named after the one before: {"words": ["harbour", "market"]}."""

    def __post_init__(self) -> None:
        """Raise `ValueError` for fewer than two."""
        super().__post_init__()
        if len(self.entries) < 2:
            raise ValueError("order needs at least two texts")

    def requirement(self) -> str:
        """Return the requirement in words."""
        return f"in this order: {self.quoted()}"

    def test(self, passage: Passage) -> Outcome:
        """Compare the first places, in the reply as it stands or else in its normal form."""
        outcome = self._ordered(passage, self.entries)
        if outcome.passed:
            return outcome
        plain = Passage.whole(normal(passage.text))
        return PASSED if self._ordered(plain, [*map(self._same, self.entries)]).passed else outcome

    def _ordered(self, passage: Passage, entries: Sequence[str]) -> Outcome:
        last = -1
        for entry in entries:
            match = self.expression(entry).search(passage.text)
            if match is None:
                return Outcome(False, f"“{entry}” is not there")
            if match.start() < last:
                start = passage.span.start
                place = Span(start + match.start(), start + match.end())
                return Outcome(False, f"“{entry}” comes too early", (place,))
            last = match.start()
        return PASSED


class Equals(Check, frozen=True, kw_only=True, tag="equals"):
    """It is one of these texts; spaces and a final full stop do not count: {"text": "Lisbon"}."""

    text: Texts
    match_case: bool = False

    def requirement(self) -> str:
        """Return the requirement in words."""
        return f"is {' or '.join(f'“{text}”' for text in self._texts)}"

    def test(self, passage: Passage) -> Outcome:
        """Compare."""
        if self._plain(passage.text) in map(self._plain, self._texts):
            return PASSED
        return Outcome(False, f"it is “{excerpt(passage, 'begin')[1]}”", (passage.span,))

    @property
    def _texts(self) -> list[str]:
        return [self.text] if isinstance(self.text, str) else self.text

    def _plain(self, text: str) -> str:
        plain = " ".join(normal(text).split()).strip('*_ .。"')
        return plain if self.match_case else plain.casefold()


class Case(Check, frozen=True, kw_only=True, tag="case"):
    """Capital or small letters only, or every word with a capital: {"is": "lower"}."""

    case: Literal["upper", "lower", "capitalized"] = msgspec.field(name="is")

    def requirement(self) -> str:
        """Return the requirement in words."""
        letters = {"upper": "capital letters only", "lower": "small letters only"}
        return letters.get(self.case, "every word begins with a capital")

    def test(self, passage: Passage) -> Outcome:
        """Find the first words that are written otherwise."""
        text = passage.text
        if self.case != "capitalized" and text.upper() == text.lower():
            return Outcome(False, "there is no letter")
        wrong = [span for span in words(passage) if not self._right(passage.at(span))]
        if not wrong:
            return PASSED
        first = passage.at(wrong[0])
        return Outcome(False, f"“{first}”, {len(wrong)} words in all", tuple(wrong[:_MOST_SPANS]))

    def _right(self, word: str) -> bool:
        if self.case == "capitalized":
            return not word[0].islower()
        return not any(map(str.islower if self.case == "upper" else str.isupper, word))


class Language(Check, frozen=True, kw_only=True, tag="language"):
    """Written in a language: {"is": "hu"}; langdetect's codes, "zh" for both of Chinese."""

    code: str = msgspec.field(name="is")

    def __post_init__(self) -> None:
        """Raise `ValueError` for a language that cannot be detected."""
        import os

        from langdetect.detector_factory import PROFILES_DIRECTORY

        super().__post_init__()
        known = sorted({*os.listdir(PROFILES_DIRECTORY), "zh"})
        if self.code not in known:
            raise ValueError(f"no language {self.code!r}; known: {', '.join(known)}")

    def requirement(self) -> str:
        """Return the requirement in words."""
        return f"written in {self.code}"

    def test(self, passage: Passage) -> Outcome:
        """Detect it; a text without letters is in every language, as IFEval has it."""
        found = detected(passage.text)
        if found is None or self.code in (found, found.partition("-")[0]):
            return PASSED
        return Outcome(False, f"it reads as {found}", (passage.span,))


def detected(text: str) -> str | None:
    """Return langdetect's code of a text's language; None where there is nothing to go by."""
    import langdetect

    langdetect.DetectorFactory.seed = (
        0  # it draws at random otherwise, and would differ from run to run
    )
    try:
        return str(langdetect.detect(text))
    except langdetect.LangDetectException:
        return None


@functools.lru_cache(512)
def compiled(pattern: str, match_case: bool = True) -> Any:
    """Return a pattern as RE2 has it.

    Raises:
        ValueError: it is not valid, or longer than 2,000 characters.
    """
    import re2

    if len(pattern) > _LONGEST_PATTERN:
        raise ValueError(f"a pattern of {len(pattern)} characters; the most is {_LONGEST_PATTERN}")
    options = re2.Options()
    options.log_errors = False  # it would write to stderr by itself
    try:
        return re2.compile(f"(?{'m' if match_case else 'im'}){pattern}", options)
    except re2.error as error:
        reason = error.args[0] if error.args else ""
        reason = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else reason
        raise ValueError(f"pattern {pattern!r} is not valid for RE2: {reason}") from None


def excerpt(passage: Passage, edge: Literal["begin", "end"], length: int = 30) -> tuple[Span, str]:
    """Return the first or last characters of a passage, of one line, for a message."""
    text = passage.text
    start = passage.span.start + len(text) - len(text.lstrip())
    end = passage.span.start + len(text.rstrip())
    if edge == "begin":
        line = passage.reply[start : min(start + length, end)].split("\n")[0]
        span = Span(start, start + len(line))
        return span, line.rstrip() + "…" * (len(line) == length and span.end < end)
    line = passage.reply[max(end - length, start) : end].split("\n")[-1]
    return Span(end - len(line), end), "…" * (len(line) == length) + line


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


@functools.lru_cache(4096)
def _plain(source: str, match_case: bool) -> "regex.Pattern[str]":
    return regex.compile(source, 0 if match_case else regex.IGNORECASE)


def _listed(parts: Sequence[str], most: int = 3) -> str:
    """Return the first of several texts, and how many more there are."""
    rest = f" and {len(parts) - most} more" if len(parts) > most else ""
    return ", ".join(parts[:most]) + rest


_SMALL = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


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
