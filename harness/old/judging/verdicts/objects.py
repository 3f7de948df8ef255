"""The JSON objects and lists of a judge's text, read as tolerantly as is safe.

    {"evaluation": "CORRECT"}      {'Clarity': 7, 'Overall': '6/10',}      [{model: m, rank: 1}, ...]

Python's quotes and words, bare words, a comma too many and line breaks inside texts are let pass; nothing is evaluated.
Objects do not overlap: what stands in a text inside an object is that text, not an object.
"""

import json
import re
from collections.abc import Callable, Iterable
from typing import Any

from harness.old.judging.verdicts.brackets import Fault, Reading
from harness.old.judging.verdicts.mentions import MISSING, Found, decide
from harness.old.judging.verdicts.shown import OBJECT, said
from harness.old.judgments.judgment import Parsed, Verdict
from harness.old.patterns import late_re

_DEEPEST = 8
_MOST_FOUND = 40
_MOST_FAILURES = 3_000
"""Openings that begin no object; a text with more is not a judge's."""

_OPENING = late_re(r"\{(?=\s{0,40}[\"'“}\w])|\[(?=\s{0,40}[\"'“{\[])")
_TOKEN = late_re(
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
_NAME = late_re(r"\s*:")

Place = tuple[int, int, Any]
"""Where an object or a list starts and ends, and what it holds."""


_SIGN = late_re(f"{OBJECT}([{chr(ord(OBJECT) + 1)}-{chr(ord(OBJECT) + _MOST_FOUND)}])")


def decide_by_objects(
    text: str,
    read: Callable[[Any], Reading],
    words: Callable[[str], Iterable[Found]] = lambda plain: (),
    *,
    is_bare: Callable[[str], bool] = lambda inside: False,
    places: Iterable[Place] | None = None,
    in_form: bool = False,
    missing: str = MISSING,
) -> Parsed:
    """Return the verdict of a text's objects, or where none says anything, of its words (see `mentions.decide`).

    `read` says what an object says of a verdict, `words` finds verdicts in what is said; `is_bare` knows one that has
    no other word beside it. `places` are the objects (default: all outermost ones).
    """
    pieces: list[str] = []
    readings: list[Verdict | Fault] = []
    place = 0
    for start, end, value in objects_in(text) if places is None else places:
        reading = read(value)
        if reading is None and not isinstance(value, dict):
            continue  # a list may be something else
        sign = ""  # an object that says nothing is left out
        if reading is not None:
            readings.append(reading)
            sign = OBJECT + chr(ord(OBJECT) + len(readings))
        pieces += [text[place:start], sign]
        place = end
    plain = said(
        "".join([*pieces, text[place:]]), lambda inside: _SIGN.fullmatch(inside) is not None or is_bare(inside)
    )
    found = [(sign.start(), sign.end(), readings[ord(sign[1]) - ord(OBJECT) - 1]) for sign in _SIGN.finditer(plain)]
    return decide(plain, found or words(plain), in_form=in_form, missing=missing)


def objects_in(text: str) -> list[Place]:
    """Return the outermost objects and lists of a text, in order; none of a text with more than a judge writes."""
    found: list[Place] = []
    place = failures = 0
    while failures < _MOST_FAILURES and len(found) <= _MOST_FOUND:
        opening = _OPENING.search(text, place)
        if opening is None:
            return found if len(found) <= _MOST_FOUND else []
        end, written = _as_json(text, opening.start())
        try:
            found.append((opening.start(), end, json.loads(written, object_pairs_hook=_once)))
        except ValueError:
            failures += 1
            end = opening.start() + 1
        place = end
    return []


def named(value: Any) -> dict[str, Any]:
    """Return the members of an object by their folded names; none for anything else."""
    return {folded_name(name): member for name, member in value.items()} if isinstance(value, dict) else {}


def folded_name(name: str) -> str:
    """Return a name as it is compared: without case, marks around it, and with one sign for spaces, hyphens and `_`."""
    return re.sub(r"[\s_-]+", "_", name.strip(" \t\n*`'\"“”").casefold())


def _as_json(text: str, start: int) -> tuple[int, str]:
    """Return where the object or list that starts here ends, and the strict JSON for it; no JSON if it is none."""
    pieces: list[str] = []
    place, depth = start, 0
    while depth or not pieces:
        token = _TOKEN.match(text, place)
        if token is None or depth > _DEEPEST:
            return place, ""
        place = token.end()
        sign, bare = token["sign"], token["number"] or token["word"]
        if sign:
            depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(sign, 0)
            if sign in "}]" and pieces[-1] == ",":
                pieces.pop()
            pieces.append(sign)
        elif bare and not _NAME.match(text, place):
            number = token["number"] and (float(bare) if "." in bare else int(bare))
            pieces.append(json.dumps(number if token["number"] else _WORDS.get(bare.casefold(), bare)))
        else:
            pieces.append(json.dumps(bare or _text(token)))
    return place, "".join(pieces)


def _once(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the members of an object; a name that stands twice says two things."""
    if len(made := dict(members)) < len(members):
        raise ValueError
    return made


def _text(token: re.Match[str]) -> str:
    """Return a quoted text with its escapes resolved."""
    inside = next(token[kind] for kind in ("double", "single", "curly") if token[kind] is not None)
    return re.sub(r"\\(u[0-9a-fA-F]{4}|.)", _unescaped, inside, flags=re.S) if "\\" in inside else inside


def _unescaped(escape: re.Match[str]) -> str:
    sign = escape[1]
    return chr(int(sign[1:], 16)) if len(sign) > 1 else _ESCAPES.get(sign, sign)
