"""The brackets of a judge's text that say something about a verdict, each with its surroundings understood."""

import re
from bisect import bisect_right
from collections import deque
from dataclasses import dataclass, replace
from typing import Literal

from harness.judging.verdicts.brackets import Fault, Reader, Scale, folded
from harness.judging.verdicts.shown import SIGHT, Span, shown_passages
from harness.judging.verdicts.voice import (
    COLON,
    CORRECTED,
    GIVING,
    LABEL,
    OWN,
    SENTENCE_END,
    Voice,
    voice_of,
)
from harness.records import Label, Score, Scores, Verdict, Winner

MENTIONS_READ = 100
"""How many brackets, counted from the end, are looked at; bounds the work on hostile text."""


@dataclass(frozen=True, slots=True)
class Mention:
    """One bracket of the text: what it reads as, and who says it."""

    start: int
    end: int
    reading: Verdict | Fault
    double: bool
    voice: Voice
    label: Literal["", "plain", "other"]
    """`plain`: one such as `Final rating:` at the start. `other`: one that may name a part, such as `Style:`."""
    alone: bool
    """Nothing but a label stands before it in its sentence."""
    owned: bool
    """Words of judging in the first person, or of concluding, lead to it."""
    closing: bool
    """It is shown, and yet what the judge ends on: as a last line of its own, or led to in the judge's words."""
    idle: bool
    """It is a number within a sentence that nothing marks as a judgment."""
    weak: bool
    """It is shown, but its label or a word of correction is not, or the passage has no end: maybe the judge's own."""

    def __str__(self) -> str:
        match self.reading:
            case Score(value):
                return f"[[{value}]]"
            case Winner(side):
                return f"[[{'C' if side == 'tie' else side}]]"
            case Label(label):
                return f"[[{label}]]"
            case Scores(values):
                return f"[[{values['A']},{values['B']}]]"
        return "no verdict"


_BRACKET = re.compile(r"(\\?\[ ?\\?\[|\\?\[)([^\[\]\\]{0,60})(\\?\] ?\\?\]|\\?\])(?!\((?:https?:|#|/|www))")
_PREDICATE = re.compile(
    r"(?:\b(?:is|as|was|remains|ist|als)|[:=]|为|是)(?: (?:therefore|thus|clearly|simply|marked))?\W{0,4}$", re.I
)
_CLOSING = re.compile(r"(?:</?[a-z]{1,6}>|です|[\s\"'”“’‘`.!。~)\]}>」』»_|$\\])*")


def mentions_in(text: str, reader: Reader, scale: Scale) -> list[Mention]:
    """Return the brackets that say something about a verdict; of a text with very many, the last ones."""
    spans = shown_passages(text)
    starts = [span.start for span in spans]
    found: list[Mention] = []
    for match in deque(_BRACKET.finditer(text), maxlen=MENTIONS_READ):
        reading = reader(folded(match[2]), scale)
        index = bisect_right(starts, match.start()) - 1
        span = spans[index] if index >= 0 and spans[index].end >= match.end() else None
        mention = _mention(text, match, reading, span) if reading is not None else None
        if mention:
            found.append(_beside(text, found[-1], mention) if found else mention)
    return found


def _mention(text: str, match: re.Match[str], reading: Verdict | Fault, span: Span | None) -> Mention | None:
    """Return the bracket with its surroundings understood, or None if it is a citation or the like."""
    inline = span if span and span.kind in ("quotation", "code") else None
    start, end = (inline.start, inline.end) if inline else match.span()
    inner = re.sub(r"<\w{1,10}>", "", text[start : match.start()][-SIGHT:]).strip("\"'“„`«»「『 ")
    opening = span.start if span and span.kind == "fence" and _sole(text, span, match) else start
    intro, before = _led_by(text, start, opening)
    outside = LABEL.search(before)
    label = outside or LABEL.search(inner)
    lead = before[: outside.start()] if outside else before
    bare = not re.search(r"\w", lead)
    named: Literal["", "plain", "other"] = ""
    if label or COLON.search(before):
        named = "plain" if label and bare and not label["scope"] else "other"
    double = match[1].count("[") > 1 and match[3].count("]") > 1
    ends = _CLOSING.fullmatch(text[match.end() :][:SIGHT]) is not None
    if isinstance(reading, Fault) and reading.stray and not label:
        return None
    # `np.array([[5]])` and R's `x[[5]]` are program text.
    if not label and re.search(r"(?:^|[^\\])[A-Za-z0-9_]\(?$", text[max(0, start - 3) : start]):
        return None
    if not double and not (label and _sure(text, match, label[0])) and not (ends and not intro and _lone(text, match)):
        return None
    following = text[end : end + SIGHT].split("\n", 1)[0] + " "
    stop = SENTENCE_END.search(following)
    after = following[: stop.end()] if stop else following
    owned = outside is not None or OWN.search(lead) is not None
    voice = voice_of(intro, lead, after, named, owned)
    closing = (
        span is not None
        and voice == "own"
        and ends
        and (bare or owned)
        and _could_close(text, span, match, label, inner)
    )
    apart = inline is not None and outside is not None and named == "plain" and not inner
    corrected = CORRECTED.search(before) is not None
    weak = (apart and voice == "own") or (closing and (corrected or (span is not None and not span.closed)))
    idle = not (
        named
        or owned
        or bare
        or ends
        or corrected
        or GIVING.search(before)
        or isinstance(reading, Winner)
        or (isinstance(reading, Label) and _PREDICATE.search(before))
    )
    return Mention(
        start=match.start(),
        end=match.end(),
        reading=reading,
        double=double,
        voice="shown" if span else voice,
        label=named,
        alone=bare,
        owned=owned,
        closing=closing,
        idle=idle,
        weak=weak,
    )


def _led_by(text: str, start: int, opening: int) -> tuple[str, str]:
    """Return the line that announces a bracket (ending with a colon), and its sentence up to it."""
    left = text[max(0, start - SIGHT) : start]
    line = left[left.rfind("\n") + 1 :]
    before = SENTENCE_END.split(line)[-1].lstrip("#>|- ")
    label = LABEL.search(before)
    if re.search(r"\w", before[: label.start()] if label else before) or len(before) < len(line.lstrip("#>|- ")):
        return "", before
    above = text[max(0, opening - SIGHT) : opening] if opening < start else left[: left.rfind("\n") + 1]
    lines = [above_line for above_line in above.split("\n") if above_line.strip()]
    if not lines or lines[-1].rstrip()[-1] not in ":：":
        return "", before
    intro = SENTENCE_END.split(lines[-1])[-1]
    announced = LABEL.search(intro)
    if announced and not re.search(r"\w", intro[: announced.start()]):
        return "", intro + before
    return intro, before


def _sole(text: str, span: Span, match: re.Match[str]) -> bool:
    """Return whether the bracket's line is all that a code block holds."""
    inside = text[span.start : match.start()][-SIGHT:].split("\n")
    return len([line for line in inside[1:-1] if line.strip()]) == 0


def _could_close(text: str, span: Span, match: re.Match[str], label: re.Match[str] | None, inner: str) -> bool:
    """Return whether a judge may have set its own verdict in a passage of this kind."""
    if span.kind in ("quotation", "code"):
        return not inner or (label is not None and label.start() == 0)
    if span.kind == "fence":
        return not text[: span.start].strip() or not span.closed or _sole(text, span, match)
    return span.kind == "block quote"


def _sure(text: str, match: re.Match[str], label: str) -> bool:
    """Return whether a label makes a bracket that is not double a verdict: not the result, the total or a citation."""
    whole = len(match[1]) >= len(match[3]) and not re.match(r"[\w\[\](]", text[match.end() : match.end() + 1])
    says = re.search(r"(?::|\b(?:is|be|of|ist|lautet)|为|是|は)\W*$", label)
    return whole and says is not None and not re.search(r"marks?\b|note|conclusion|结论|結論", label, re.I)


def _lone(text: str, match: re.Match[str]) -> bool:
    """Return whether a single bracket stands alone on the last line, and is no citation."""
    line = text[max(0, match.start() - SIGHT) : match.start()].rsplit("\n", 1)[-1]
    again = text.find(match[0]) < match.start()
    listed = re.search(r"(?:references|sources|literatur|参考文献)\W*$", text[: match.start()][-40:], re.I)
    return not line.strip(" #>|-") and match[1] == "[" and match[3] == "]" and not again and not listed


def _beside(text: str, first: Mention, second: Mention) -> Mention:
    """Return the second of two brackets as the first makes it, as in "not [[A]] or [[B]]", "[[A]] is below [[B]]"."""
    between = text[first.end : second.start]
    if len(between) > SIGHT or "\n" in between or SENTENCE_END.search(between):
        return second
    if second.voice == "compared" and first.voice == "own":
        return replace(second, voice="own")
    # A comma without a space after it is Chinese or Japanese, where it parts less than "so" does.
    parted = (
        OWN.search(between)
        or CORRECTED.search(between)
        or re.search(r"\b(?:but|so|while|sondern|hanem)\b|[;:]", between)
    )
    listed = not parted and not re.search(r", (?!and |or )|而是", between)
    if second.voice == "own" and second.label != "plain" and first.voice in ("told", "supposed") and listed:
        return replace(second, voice=first.voice)
    return second
