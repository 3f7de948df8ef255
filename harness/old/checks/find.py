"""Finding words, texts and patterns that people write, in time linear in the text.

Words and texts become plain regular expressions without a repeated group. Patterns are RE2's, which always match in
linear time; look-around and back references do not exist in it.
"""

import functools
import re
from collections.abc import Iterator
from typing import Any, TypeAlias

from harness.old.checks.check import Bounds, Passage, Span
from harness.old.checks.units import CJK, LETTER

Texts: TypeAlias = str | list[str]
_LONGEST_PATTERN = 2_000
_CJK = re.compile(f"[{CJK}]")
_BEFORE = r"[\s*_#>~\"'“”„«»「『‘’(\[\-–—•+]*"
"""What may precede the first word: Markdown markers, quotation marks."""
_AFTER = r"[\s*_~\"'“”«»」』’)\].,;:!?…。！？、-]*"


class Wanted(Bounds, frozen=True, kw_only=True):
    """Arguments of all kinds that look for something written: one of `words`, `text` and `pattern`."""

    words: Texts | None = None
    """Whole words or phrases; `*` at an end matches any ending, or any beginning."""
    text: Texts | None = None
    """A text at any place."""
    pattern: Texts | None = None
    """RE2 regular expressions; ^ and $ match at lines."""
    match_case: bool = False

    def __post_init__(self) -> None:
        """Raise `ValueError` where nothing, or more than one sort of thing, or no regular expression is given."""
        super().__post_init__()
        given = [name for name in ("words", "text", "pattern") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"needs one of words, text, pattern{f', not {len(given)}' if given else ''}")
        if not self.entries or not all(entry.strip(" *" if self.words else None) for entry in self.entries):
            raise ValueError(f"{given[0]} holds an empty text")
        for pattern in self.entries if self.pattern is not None else ():
            compiled(pattern, self.match_case)

    @property
    def entries(self) -> tuple[str, ...]:
        """What is looked for, one by one."""
        given = self.words or self.text or self.pattern or []
        return (given,) if isinstance(given, str) else tuple(given)

    def find(self, entry: str, passage: Passage) -> Iterator[Span]:
        """Yield the places of one entry."""
        for match in self._expression(entry).finditer(passage.said):
            yield _moved(match, passage)

    def begins(self, entry: str, passage: Passage) -> Span | None:
        """Return where an entry begins a passage, marks before the first word passed over; None if it does not."""
        if self.pattern is not None:
            match = compiled(rf"\s*(?:{entry})", self.match_case).match(passage.said)
        else:
            before = _BEFORE if self.words is not None else r"\s*"
            match = _plain(self._source(entry), self.match_case, before).match(passage.said)
        return None if match is None else _moved(match, passage)

    def finishes(self, entry: str, passage: Passage) -> Span | None:
        """Return where an entry ends a passage, marks after the last word passed over; None if it does not."""
        last: Span | None = None
        if self.pattern is not None:
            for match in compiled(rf"(?:{entry})\s*\z", self.match_case).finditer(passage.said):
                last = _moved(match, passage)
            return last
        said = passage.said.rstrip()
        for tail in (said, said.rstrip('"”’»」*_ \n')):
            length = len(tail)
            for match in self._expression(entry).finditer(said, max(0, length - 2 * len(entry) - 200), length):
                after = said[match.end() : length]
                if not after or (self.words is not None and re.fullmatch(_AFTER, after)):
                    last = _moved(match, passage)
        return last

    def quoted(self, joint: str = ", ") -> str:
        """Return a description of what is looked for."""
        return joint.join(f"/{e}/" if self.pattern is not None else f"“{e}”" for e in self.entries)

    def _source(self, entry: str) -> str:
        return _words_source(entry) if self.words is not None else re.escape(entry)

    def _expression(self, entry: str) -> Any:
        if self.pattern is not None:
            return compiled(entry, self.match_case)
        return _plain(self._source(entry), self.match_case, "")


def _moved(match: Any, passage: Passage) -> Span:
    start, end = match.span()
    return Span(passage.span.start + start, passage.span.start + end)


def _words_source(entry: str) -> str:
    """Return the expression for whole words: boundaries where a word begins or ends, any space, either apostrophe."""
    entry = entry.strip()
    core = entry.strip("*")
    inner = r"\s+".join(re.escape(word).replace("'", "['’]") for word in core.split())
    open_start = entry.startswith("*") or _CJK.match(core[0]) or not re.match(f"[{LETTER}]", core[0])
    open_end = entry.endswith("*") or _CJK.match(core[-1]) or not re.match(f"[{LETTER}]", core[-1])
    # The boundary before any beginning too: without it each letter of a long word would be tried as the first.
    start = f"(?<![{LETTER}])[{LETTER}]*" if entry.startswith("*") else "" if open_start else f"(?<![{LETTER}])"
    end = f"[{LETTER}]*" if entry.endswith("*") else "" if open_end else f"(?![{LETTER}])"
    return start + inner + end


@functools.lru_cache(maxsize=4096)
def _plain(source: str, match_case: bool, before: str) -> re.Pattern[str]:
    return re.compile(before + source, 0 if match_case else re.IGNORECASE)


@functools.lru_cache(maxsize=512)
def compiled(pattern: str, match_case: bool = True) -> Any:
    """Return a pattern as RE2 has it.

    Raises:
        ValueError: it is none, or longer than 2,000 characters.
    """
    import re2

    if len(pattern) > _LONGEST_PATTERN:
        raise ValueError(f"a pattern of {len(pattern)} characters; the most is {_LONGEST_PATTERN}")
    options = re2.Options()
    options.log_errors = False  # it would write to stderr by itself
    try:
        return re2.compile(f"(?{'m' if match_case else 'im'}){pattern}", options)
    except re2.error as error:
        why = error.args[0] if error.args else ""
        why = why.decode("utf-8", "replace") if isinstance(why, bytes) else str(why)
        raise ValueError(f"pattern {pattern!r} is not valid for RE2: {why}") from None
