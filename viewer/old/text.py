"""Text of models and people as safe HTML: Markdown with tables, code, formulas; angle brackets stay visible.

    List<int>, <div onclick=x>, ![](http://x/a.png), [a](javascript:x)

come out as the characters they are. Nothing in a text runs, and nothing is fetched: a picture is shown as its address,
a link leads out only when it is clicked and only to http, https or mail.
"""

import contextlib
import functools
import html
import re
from collections.abc import Iterable, Iterator
from contextvars import ContextVar

from viewer.old.limited import Limited, TooLong

MOST = 20_000
"""Characters of one text that are shown before "show all"."""
MOST_UNBROKEN = 4_000
"""The same for a text with words without end, which take a browser long to lay out."""
MOST_STYLED = 40_000
"""Characters of one text that are still laid out as Markdown; a longer one is shown as it stands."""
MOST_LINES = 500
"""Lines of one text that are shown before "show all"."""
SECONDS_OF_TEXT = 0.4
"""Processor time that laying one text out may take; then it is shown as it was written."""
SECONDS_OF_VIEW = 0.6
"""The same for all texts of a view together."""
_MOST_STYLED_LINE = 20_000
_MOST_KEPT = 256
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]"
    "|[\ud800-\udfff\U000e0000-\U000e007f]"
)
_HALF = re.compile("[\ud800-\udfff]")
_UNBROKEN = re.compile(r"\S{1000}")
_LINES = re.compile(rf"(?:[^\n]*\n){{{MOST_LINES}}}")
LINK = re.compile(r"(?:https?://|mailto:)[^\s\x00-\x1f]+", re.IGNORECASE)


def readable(text: str) -> str:
    """Return the text with every character shown that hides, turns or breaks others; newlines and tabs stay.

    >>> readable("a\\u202eb")
    'a\u27e8U+202E\u27e9b'
    """
    return _UNSEEN.sub(lambda found: f"\u27e8U+{ord(found[0]):04X}\u27e9", text.replace("\r\n", "\n"))


def escaped(text: object) -> str:
    """Return any value as text to read, for a place between tags or within a quoted attribute."""
    return html.escape(readable(str(text)), quote=True)


def exact(text: str) -> str:
    """Return a text from which it comes back as it is: for the value of a field, or to be copied; not to be read."""
    whole = _HALF.sub("\ufffd", text)  # half a character cannot be sent
    return html.escape(whole, quote=True).replace("\r", "&#13;").replace("\n", "&#10;")


_WORD = re.compile(r"\S+")


def markdown_html(text: str, *, whole: bool = False, more: str = "") -> str:
    """Return a text of a model or a person as HTML.

    Args:
        text: the text.
        whole: show it to its end; otherwise what is too long is cut, with a notice.
        more: HTML of the link that shows all, for the notice.
    """
    shown, notice = _cut(text, whole, more)
    return f'<div class="tb-text{_breaks(shown)}" dir="auto">{_styled(shown)}</div>{notice}'


def plain_html(text: str, *, whole: bool = False, more: str = "") -> str:
    """Return a text as it stands, in lines of equal width; for prompts and whatever is no Markdown."""
    shown, notice = _cut(text, whole, more)
    return f'<pre class="tb-plain{_breaks(shown)}" dir="auto">{escaped(shown)}</pre>{notice}'


def marked_html(text: str, spans: Iterable[tuple[int, int]], *, whole: bool = False, more: str = "") -> str:
    """Return a text as it stands, as `plain_html` does, with some places (`text[start:end]`) marked."""
    shown, notice = _cut(text, whole, more)
    parts, at = [], 0
    for start, end in sorted((max(0, start), min(end, len(shown))) for start, end in spans):
        if end > max(start, at):
            start = max(start, at)
            parts.append(f"{escaped(shown[at:start])}<mark>{escaped(shown[start:end])}</mark>")
            at = end
    marked = "".join(parts) + escaped(shown[at:])
    return f'<pre class="tb-plain{_breaks(shown)}" dir="auto">{marked}</pre>{notice}'


def unlike(text: str, other: str) -> list[tuple[int, int]]:
    """Return the places of a text's words that stand in no run of three words which the other text has too.

    Runs are looked up and not aligned: it takes no longer, whatever two models wrote.
    """
    words = list(_WORD.finditer(text))
    names, others = [found[0] for found in words], _WORD.findall(other)
    size = max(1, min(3, len(names), len(others)))
    there = {tuple(others[at : at + size]) for at in range(len(others) - size + 1)}
    alike: set[int] = set()
    for at in range(len(names) - size + 1):
        if tuple(names[at : at + size]) in there:
            alike.update(range(at, at + size))
    spans: list[tuple[int, int]] = []
    for at, found in enumerate(words):
        if at in alike:
            continue
        joined = bool(spans) and at - 1 not in alike
        spans[len(spans) - joined :] = [(spans[-1][0] if joined else found.start(), found.end())]
    return spans


def plain(text: str) -> str:
    """Return a text as it was written, without a notice."""
    return f'<pre class="tb-plain">{escaped(text)}</pre>'


def _cut(text: str, whole: bool, more: str) -> tuple[str, str]:
    """Return what is shown of a text, and the notice on what is not."""
    most = MOST_UNBROKEN if _UNBROKEN.search(text, 0, MOST) else MOST
    lines = _LINES.match(text, 0, most)
    end = lines.end() if lines else most
    if whole or len(text) <= end:
        return text, ""
    left = len(text) - end
    return text[:end], f'<p class="tb-cut">Cut here: {left:,} of {len(text):,} characters are not shown. {more}</p>'


def _breaks(text: str) -> str:
    """Return the class of a text that has words without end, which browsers take seconds to break at good places."""
    return " tb-unbroken" if _UNBROKEN.search(text) else ""


@contextlib.contextmanager
def time_of_view() -> Iterator[None]:
    """Give all texts that are laid out within the block `SECONDS_OF_VIEW` together."""
    token = _left.set([SECONDS_OF_VIEW])
    try:
        yield
    finally:
        _left.reset(token)


def _styled(text: str) -> str:
    if not text.strip():
        return '<p class="tb-quiet">(no text)</p>'
    if len(text) > MOST_STYLED or any(len(line) > _MOST_STYLED_LINE for line in text.splitlines()):
        return plain(text)
    try:
        return _laid_out(text)
    except TooLong:
        return _UNSTYLED + plain(text)


@functools.lru_cache(maxsize=_MOST_KEPT)
def _laid_out(text: str) -> str:
    """Return a text as HTML, or raise `TooLong` where its view has no time left, which another one may have."""
    left = _left.get() or [SECONDS_OF_TEXT]
    if left[0] <= 0:
        raise TooLong
    try:
        made, seconds = _styling().call(text, SECONDS_OF_TEXT)
    except TooLong:
        made, seconds = _UNSTYLED + plain(text), SECONDS_OF_TEXT
    left[0] -= seconds
    return made


@functools.cache
def _styling() -> Limited[str]:
    from viewer.old.styling import styled

    return Limited(styled)


_left: ContextVar[list[float] | None] = ContextVar("left", default=None)
_UNSTYLED = '<p class="tb-cut">Shown unformatted: formatting it takes too long.</p>'
