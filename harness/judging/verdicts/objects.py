"""The JSON objects and lists of a judge's text, read as tolerantly as is safe.

    {"evaluation": "CORRECT"}      {'Clarity': 7, 'Overall': '6/10',}      [{model: m, rank: 1}, ...]

Python's quotes and words, bare words, a comma too many and line breaks inside texts are let pass; nothing is evaluated.
Objects do not overlap: what stands in a text inside an object is that text, not an object.
"""

import re
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from harness.judging.verdicts.shown import SIGHT, shown_passages
from harness.judging.verdicts.voice import ELSEWHERE, SENTENCE_END, TOLD, voice_of

_DEEPEST = 8
_MOST_FOUND = 40
_MOST_FAILURES = 3_000
"""Openings that begin no object; a text with more is not a judge's."""

_OPENING = re.compile(r"\{(?=\s{0,40}[\"'“}\w])|\[(?=\s{0,40}[\"'“{\[])")
_TOKEN = re.compile(
    r"\s*(?:(?P<sign>[{}\[\],:])"
    r"|\"(?P<double>[^\"\\]*(?:\\.[^\"\\]*)*)\""
    r"|'(?P<single>[^'\\]*(?:\\.[^'\\]*)*)'"
    r"|“(?P<curly>[^”]{0,5000})”"
    r"|(?P<number>-?[0-9]{1,20}(?:\.[0-9]{0,20})?)(?=\s*[,}\]])"
    r"|(?P<word>[^\W_][\w/. -]{0,60})(?=\s*[,:}\]]))",
    re.S,
)
_WORDS = {"true": True, "false": False, "none": None, "null": None}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_OF_JUDGING = re.compile(r"\b(?:evaluat|verdict|judge?ment|assess|grad|rating|scor|értékel|ítélet)|评|判|分", re.I)
_TAIL = re.compile(r"[\s`\"'.>)}\]~]*(?:json|python)?[\s`]*", re.I)


@dataclass(frozen=True, slots=True)
class Found:
    """An object or a list, where it stands, and whether the judge says it."""

    start: int
    end: int
    value: Any
    """A dictionary or a list of texts, numbers, truth values, None and further such."""
    own: bool
    """False: quoted, supposed, or told of the answer."""


class _Unreadable(Exception):  # noqa: N818  (never leaves this module)
    """What stands here is no object."""


def objects_in(text: str) -> list[Found]:
    """Return the outermost objects and lists of a text, in order; of very many, the last ones."""
    found: deque[tuple[int, int, Any]] = deque(maxlen=_MOST_FOUND)
    place = failures = 0
    while failures < _MOST_FAILURES:
        opening = _OPENING.search(text, place)
        if opening is None:
            return _with_voices(text, found) if found else []
        start = opening.start()
        try:
            value, place = _value(text, start, 0)
        except _Unreadable:
            failures += 1
            place = start + 1
            continue
        found.append((start, place, value))
    return []


def _with_voices(text: str, places: Iterable[tuple[int, int, Any]]) -> list[Found]:
    spans = [span for span in shown_passages(text) if span.kind in ("block quote", "quotation", "struck", "marked")]
    found: list[Found] = []
    before = 0
    for start, end, value in places:
        quoted = any(span.start < start and end <= span.end for span in spans)
        found.append(Found(start, end, value, not quoted and _is_own(text, before, start, end)))
        before = end
    return found


def named(value: Any) -> dict[str, Any]:
    """Return the members of an object by their folded names; none for anything else."""
    return {folded_name(name): member for name, member in value.items()} if isinstance(value, dict) else {}


def folded_name(name: str) -> str:
    """Return a name as it is compared: without case, marks around it, and with one sign for spaces, hyphens and `_`."""
    return re.sub(r"[\s_-]+", "_", name.strip(" \t\n*`'\"“”").casefold())


def _is_own(text: str, before: int, start: int, end: int) -> bool:
    """Return whether the judge says what stands here, by the sentence that leads to it from `before` on."""
    left = text[max(before, start - SIGHT) : start]
    lines = [line for line in left.split("\n") if line.strip() and not line.strip().startswith("```")]
    if not lines or _closes(text, left, end):
        return True
    lead = SENTENCE_END.split(lines[-1])[-1]
    sentence = re.split(r"[.!?\n]", text[end : end + SIGHT], maxsplit=1)[0] + " "
    if _OF_JUDGING.search(lead) and not TOLD.search(lead):
        return True
    return voice_of("", lead, sentence, "", False) == "own" and not ELSEWHERE.match(lead)


def _closes(text: str, left: str, end: int) -> bool:
    """Return whether an object is all of the last lines, after a whole sentence: what a judge ends on."""
    above, _, line = re.sub(r"\n[ \t]*```(?:json)?[ \t]*\n(?=\s*$)", "\n", left).rpartition("\n")
    begins = not line.strip() and above.rstrip().endswith((".", "!", "?", "\u3002", "\uff01", "\uff1f"))
    return begins and _TAIL.fullmatch(text, end) is not None


def _value(text: str, place: int, depth: int) -> tuple[Any, int]:
    """Return what stands at a place, and where it ends."""
    token, place = _next(text, place)
    if token["sign"] == "{":
        return _object(text, place, depth + 1)
    if token["sign"] == "[":
        return _list(text, place, depth + 1)
    if token["sign"]:
        raise _Unreadable
    if token["number"]:
        return float(token["number"]) if "." in token["number"] else int(token["number"]), place
    return (_text(token) if token["word"] is None else _WORDS.get(token["word"].casefold(), token["word"])), place


def _object(text: str, place: int, depth: int) -> tuple[dict[str, Any], int]:
    made: dict[str, Any] = {}
    token, place = _opened(text, place, depth)
    while token["sign"] != "}":
        if token["sign"]:
            raise _Unreadable
        name = token["number"] or token["word"] or _text(token)
        colon, place = _next(text, place)
        if colon["sign"] != ":" or name in made:  # a name that stands twice says two things
            raise _Unreadable
        made[name], place = _value(text, place, depth)
        token, place = _next(text, place)
        if token["sign"] == ",":
            token, place = _next(text, place)
        elif token["sign"] != "}":
            raise _Unreadable
    return made, place


def _list(text: str, place: int, depth: int) -> tuple[list[Any], int]:
    made: list[Any] = []
    token, after = _opened(text, place, depth)
    while token["sign"] != "]":
        value, place = _value(text, place, depth)
        made.append(value)
        token, after = _next(text, place)
        if token["sign"] == ",":
            place = after
            token, after = _next(text, place)
        elif token["sign"] != "]":
            raise _Unreadable
    return made, after


def _opened(text: str, place: int, depth: int) -> tuple[re.Match[str], int]:
    if depth > _DEEPEST:
        raise _Unreadable
    return _next(text, place)


def _next(text: str, place: int) -> tuple[re.Match[str], int]:
    token = _TOKEN.match(text, place)
    if token is None:
        raise _Unreadable
    return token, token.end()


def _text(token: re.Match[str]) -> str:
    """Return a quoted text with its escapes resolved."""
    inside = next(token[kind] for kind in ("double", "single", "curly") if token[kind] is not None)
    return re.sub(r"\\(u[0-9a-fA-F]{4}|.)", _unescaped, inside, flags=re.S) if "\\" in inside else inside


def _unescaped(escape: re.Match[str]) -> str:
    sign = escape[1]
    return chr(int(sign[1:], 16)) if len(sign) > 1 else _ESCAPES.get(sign, sign)
