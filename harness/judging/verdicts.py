"""Reads the verdict of a judge's reply: `formats` finds what has its form, one rule picks.

1. Full-width characters are folded, emphasis is dropped, reasoning (`<think>…</think>`) is cut off,
   and the text ends where it opens somebody else's turn (`<|im_start|>user`).
2. A reply that the provider held to a schema is JSON, and its member is the verdict.
3. Else the last match *in form* counts: alone on its line, after a label of up to three words and a
   colon, or after any colon or full stop where it ends the reply; without such, the last of all.
   `[[rating]]: 7` and `[[Rating: 7]]` match; a scale's end (`/10`, `out of [[10]]`) is part of it.
   Without any bracket, a reply that is nothing but the verdict, or ends with `Rating: 7`, is read.
4. If that match is joined or impossible (`[[1]]0`, `[[7]] out of 5`, `[[8]]?`, `[[7]] or [[8]]`,
   out of scale, or not in form beside another in its sentence), there is no verdict at all.
5. Where a judged answer holds the form itself, quotations and lines that repeat the answers are
   dropped first; if two different verdicts remain, there is none.
"""

import functools
import json
import re
import unicodedata
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

from harness.judging import likelihood
from harness.judging.formats import BETWEEN, FORMATS, Match
from harness.judging.forms import Form
from harness.judging.objects import objects
from harness.reasoning import split_reasoning
from harness.types import Reply


class Verdict(NamedTuple):
    """What a reply says, and why; `value` None: no verdict."""

    value: Any
    """A grade; "A", "B" or "tie"; a label; grades by dimension or side; points by number."""
    reason: str
    preference: float | None = None
    """Of 1, how much goes to the answer shown second."""


NO_VERDICT = "no verdict in the form that was asked for"
NO_TEXT = "there is no text, or nothing but reasoning"


def read(reply: Reply, form: Form, answers: Sequence[str] = ()) -> Verdict:
    """Return the verdict of a reply; `answers` are the texts that were judged, if known."""
    if form.by_logprobs and form.kind == "compare":
        share, why = likelihood.preference(reply, form.sides)
        if share is None:
            return Verdict(None, why)
        return Verdict("tie" if share == 0.5 else "A" if share < 0.5 else "B", why, share)
    if form.by_logprobs:
        return Verdict(*likelihood.expectation(reply, form.scale.least, form.scale.greatest))
    text = reply.text
    if form.kind == "checklist":
        return checklist(text, "\n".join(answers))
    if form.format == "patterns":
        verdict = _by_patterns(text, form.patterns)
    else:
        if form.schema is not None and reply.detail.sampling_applied.get("structured") is True:
            text = _member(text, form)
        verdict = choose(text, form, answers)
    if form.format in ("ranking", "preference", "patterns") and verdict.value is not None:
        return verdict._replace(preference=0.0 if verdict.value == "A" else 1.0)
    return verdict


def _member(text: str, form: Form) -> str:
    """Return the one grade or choice of a reply in JSON by the form's schema; else the text."""
    properties = (form.schema or {}).get("properties", {})
    names = [
        name
        for name, member in properties.items()
        if "enum" in member or member.get("type") in ("integer", "number")
    ]
    try:
        return str(json.loads(text)[names[0]]) if len(names) == 1 else text
    except (ValueError, RecursionError, KeyError, TypeError):
        return text


# The rule

_MARKS = " \t\"'`“”‘’«»「」()_#>-•–—$"
_CLOSERS = f"{_MARKS}.。!,;"
_NEAR = 200
"""Characters around a match that are looked at."""
_LABEL = re.compile(
    r"(?:^|[.!?。:;,(\[{|])[^\w\n]*(?:[\w'’-]+[^\w\n:=]+){0,2}[\w'’-]+[^\w\n:=]*[:=]\W*\Z"
)
_JOINED = re.compile(r"\d|[.,~–-]\d|\[\[|[\s\"'`)]{0,3}\?|,? or (?:[ABC]\b|\d)")
_SENTENCE = re.compile(r"[.!?。](?=\s|[\"'”)])|。|\n")
_QUOTATION = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]+`|\"[^\"\n]+\"|“[^”]+”|„[^“”]+[“”]|«[^»]+»|「[^」]+」"
    r"|^[ \t]*>[^\n]*",
    re.S | re.M,
)


def choose(text: str, form: Form, answers: Sequence[str] = ()) -> Verdict:
    """Return the verdict of a text by the rule above."""
    plain = _spoken(text)
    if not plain:
        return Verdict(None, NO_TEXT)
    planted = any(_holds(answer, _key(form)) for answer in answers)
    if planted:
        plain = _without_quotations(plain, form, list(map(fold, answers)))
    matches = _find(plain, form)
    if not matches:
        return Verdict(None, NO_VERDICT)
    if planted and len({str(match.value) for match in matches}) > 1:
        return Verdict(None, "two verdicts, and a judged answer holds the form itself")
    formed = [match for match in matches if _in_form(plain, match)]
    chosen = (formed or matches)[-1]
    words = " ".join(plain[chosen.start : chosen.end].split())[:80]
    if chosen.value is None:
        return Verdict(None, f"{words} is no possible verdict")
    if _JOINED.match(plain, chosen.end):
        return Verdict(None, f"{words} is joined to what follows, or asked")
    for match in matches:
        if match.value != chosen.value and _joined(plain, match, chosen, whole=not formed):
            return Verdict(None, f"{words} stands beside {plain[match.start : match.end]}")
    return Verdict(chosen.value, f"{words}, {'in form' if formed else 'the last one'}")


def fold(text: str) -> str:
    """Return a text in plain characters, without emphasis and escapes."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).replace("\u200b", "").replace("\ufeff", "")
        text = text.replace("【", "[").replace("】", "]")
    return text.replace("*", "").replace("\\", "")


_OTHERS_TURN = re.compile(
    r"\n(?:<\|im_start\|> ?(?:user|system)|<\|start_header_id\|> ?user|<start_of_turn> ?user"
    r"|<\|user\|>|\[INST\]|#{2,4} ?(?:User|Human|Instruction) ?:)",
    re.I,
)
"""At the start of a line; with the line break, which is searched for fast."""


def _spoken(text: str) -> str:
    """Return the folded text after the judge's reasoning; nothing if that is left open.

    It ends where it opens a turn of somebody else: what follows is no longer the judge's.
    """
    plain = split_reasoning(fold(text), cut=True).text.strip()
    turn = _OTHERS_TURN.search(f"\n{plain}")
    return plain if turn is None else plain[: turn.start()].rstrip()


def _find(text: str, form: Form) -> list[Match]:
    """Return the matches of a form in a folded text."""
    row = FORMATS[form.format]
    matches = row.find(text, form)
    return [match for match in matches if _in_form(text, match)] if row.strict else matches


_Key: TypeAlias = tuple[Any, ...]


def _key(form: Form) -> _Key:
    """Return what decides which verdicts a text holds."""
    return (form.format, form.scale, tuple(form.labels), form.dimensions, form.sides)


@functools.lru_cache(maxsize=4096)  # an answer is judged in many pairs, and twice in each
def _holds(answer: str, key: _Key) -> bool:
    """Return whether a judged answer holds the form of a verdict itself."""
    format_, scale, labels, dimensions, sides = key
    form = Form(
        format=format_,
        kind=FORMATS[format_].kind,
        scale=scale,
        labels=dict.fromkeys(labels, 0.0),
        dimensions=dimensions,
        sides=sides,
    )
    return any(not match.weak for match in _find(fold(answer), form))


def _in_form(text: str, match: Match) -> bool:
    if match.formed:
        return True
    above, _, before = text[max(0, match.start - _NEAR) : match.start].rpartition("\n")
    before, after = before.strip(_MARKS), text[match.end : match.end + _NEAR]
    if before:
        ends = match.end + _NEAR >= len(text) and not after.strip(f"{_CLOSERS}]}}\n")
        return _label(before) or (ends and before.endswith((":", "=", ".", "!", "。")))
    return not after.split("\n", 1)[0].strip(_CLOSERS) or _label(above.rstrip())


def _label(text: str) -> bool:
    return _LABEL.search(text[-90:].rpartition("\n")[2]) is not None


def _joined(text: str, match: Match, chosen: Match, whole: bool) -> bool:
    """Return whether two matches are joined by a word such as "or", or (whole) in a sentence."""
    first, second = sorted((match, chosen), key=lambda match: match.start)
    gap = text[first.end : second.start]
    return bool(BETWEEN.fullmatch(gap)) or (whole and not _SENTENCE.search(gap))


def _without_quotations(text: str, form: Form, answers: Sequence[str]) -> str:
    """Return a text without the quotations, and lines that repeat an answer, that hold a match."""
    judged = " ".join(" ".join(answer.split()) for answer in answers)
    text = _QUOTATION.sub(lambda match: "…" if _find(match[0], form) else match[0], text)
    lines = [
        "…" if _find(line, form) and " ".join(line.strip(_MARKS).split()) in judged else line
        for line in text.split("\n")
    ]
    return "\n".join(lines)


# Without the rule


def checklist(text: str, answer: str) -> Verdict:
    """Return by number whether each point is met, and the quotation; `met` None: not decided.

    A point is met only with a quotation that stands in the answer, marks and white space aside; `…`
    may leave words out.
    """
    points: dict[int, dict[str, Any]] = {}
    unfounded = 0
    entries = [place.members for place in objects(_spoken(text)) if "met" in place.members]
    for position, entry in enumerate(entries, 1):
        number, quote = str(entry.get("point", position)), str(entry.get("quote") or "")
        word = str(entry["met"]).strip().casefold()
        met = {"true": True, "yes": True, "false": False, "no": False}.get(word)
        if met and not _quoted(quote, answer):
            met = None
            unfounded += 1
        if number.isdecimal():
            points[int(number)] = {"met": met, "quote": quote}
    decided = sum(point["met"] is not None for point in points.values())
    reason = f"{decided} points decided"
    if unfounded:
        reason += f"; {unfounded} called met without a quotation from the answer"
    return Verdict(points if decided else None, reason)


def _quoted(quote: str, answer: str) -> bool:
    pieces = [_words(piece) for piece in re.split(r"\.{3}|…", quote)]
    return any(pieces) and all(piece in _words(answer) for piece in pieces)


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", fold(text).casefold()))


def _by_patterns(text: str, patterns: Sequence[str]) -> Verdict:
    """Return the side whose expression matches first: the rule of AlpacaEval's files."""
    places = [re.search(pattern, text) for pattern in patterns]
    first, second = (len(text) + 1 if place is None else place.start() for place in places)
    if first == second:
        return Verdict(None, "neither expression matches first")
    return Verdict("A" if first < second else "B", "the expression that matches first")
