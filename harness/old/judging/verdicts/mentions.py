r"""The rule by which one verdict is chosen: by its form and its place, never by the words around it.

    "The answer asks for [[10]].\nRating: [[2]]"     -> 2: in form; the other stands within a sentence
    "Rating: [[7]]\nRating: [[5]]"                   -> none: two in form
    "[[7]]\n\nNo, the sum is wrong.\n\n[[5]]"         -> 5: the closing paragraph
    "Rating: [[8]]? No."                             -> none: what is asked is not said
    "Rating: [[8]]. I take back the [[8]]."          -> none: named again, it may be taken back
    "Rating: [[3]]. It deserves no [[9]]."           -> 3: a better grade within a sentence takes nothing back
    "The sum is wrong, the unit too. I give [[4]]."  -> 4: the only one, in the last sentence
    "It is a poem about two trees. It wants [[10]]." -> none: the best grade is what an answer would ask for

A verdict is **in form** if before it in its sentence stands nothing, or a label of at most two words and a sign such as
a colon, and after it nothing of its clause. The one that is the closing paragraph, after sentences or a list of them,
is the verdict; else what all in form say, if the text does not end on another one, or on the same again. Without any in
form, the one of the last sentence counts, if an assessment leads to it (`Mention.led`).
"""

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from harness.old.judging.verdicts.brackets import Fault, Reader, Reading, Scale, folded
from harness.old.judging.verdicts.shown import ANNOUNCED, DECORATED, OBJECT, PLANTED, QUOTED, SHOWN
from harness.old.judgments.judgment import Parsed, Score, Verdict, Winner
from harness.old.patterns import late_re

Found = tuple[int, int, "Verdict | Fault"]
"""Where a verdict starts and ends, and what it says."""

MOST_MENTIONS = 200
"""A text with more verdicts outside of quotations is not a judgment."""
_SIGHT = 300
"""How many characters before and after a verdict bear on it."""
_LINE, _SHORT, _ASSESSMENT, _LONG = 10, 50, 70, 200
"""How many bytes of whole sentences make an assessment: seventy, a dozen English words or two dozen Chinese characters;
fewer do before a line of its own, or where nobody can be quoted; and how many make a long one."""
_MOST_WORDS = 2
"""Of a label. `Final verdict:` is one, `The answer ends with:` is not; three Chinese characters count as a word."""

WITHIN = "the only verdict, within the last sentence"
"""The reason for one that is not in form."""
SHORT = "the only verdict, within a sentence, where an answer may have asked for it"
"""The reason for one that counts where nobody can be quoted, or no answer would ask for it."""
OVER = "the only verdict in its form, and a better grade within the last sentence"
LONE = "stands within a sentence, behind a sign"
"""The end of the reason for one that counts only where nobody can be quoted, and no marks were taken off for it."""
DOUBTED = "stands within a sentence, not in the form asked for"
"""The end of the reason for one that is doubted, unless nobody can be quoted."""
MISSING = "no verdict in the form asked for"

_CJK = "\u3040-\u30ff\u3400-\u9fff"
_CHARACTER = rf"[^\W\d_{_CJK}]|[\u0900-\u0dff]"  # with the vowel signs of India
_WORD = late_re(rf"[{_CJK}]{{1,3}}|(?:{_CHARACTER})+(?:['’-](?:{_CHARACTER})+)*|[{SHOWN}{OBJECT}]")
_NO_LABEL = late_re(rf"\[\[|(?:\A|{ANNOUNCED}){ANNOUNCED}|(?:(?<!\w)|(?<=[{_CJK}]))[\"'‘’‚´`»›“„](?=\w)|\w *\|[^|]*\w")
"""Another verdict, a list below a colon, a quotation that nothing closes, another cell of a table."""
_SIGN = late_re(rf"[:=|>\]→⇒–—-][\s\"'`([{{|<{DECORATED}]*$")
_BREAK = late_re(
    r"(?=[.!?…。！？।\n])"  # looked at first: most characters end no sentence
    r"(?:(?<!\b\w\.\w)(?<!\b\w\. \w)(?<!\bvs)[.!?…]+[\"”’»)\]]*(?:\s|(?=\[\[?\w))"
    r"|[。！?!][\"”」』)]*(?=[^\s])|[。！।]|\n)"
)
"""Where a sentence ends; not after `e.g.`, `z. B.` and their like."""
_CLAUSE_ENDS = late_re(rf"[^\w\n?,/\[%{SHOWN}{QUOTED}{OBJECT}]*?(?:$|\n|[.!…。।;:(–—]|\s-+\s)")
_WHOLE_BEFORE = late_re(rf"(?:\A|[.!?。…)\"”])\s*{DECORATED}\Z")
_NEXT_SENTENCE = late_re(r"[ \t|/–—-]{1,4}[A-Z]")
"""How a sentence goes on after a verdict that nothing separates from it: `Rating: [[8]] The assistant ...`."""
_ASKED = late_re(r"[^.!。\n?]{0,150}\?")
_JOINED = late_re(r"[A-Za-z0-9%+^½¼¾]|[.,/'-]\d|-\s*(?:\n|\Z)| ?(?:[-–—~…]|\.{2,}) ?\[\[")
_JOINED_BEFORE = late_re(r": ?(?:[-–—]|[<>] ?)\Z")
"""What makes one a part of more: `[[1]]0`, `[[7]]+`, `[[7]] - [[8]]`; `Rating: -[[7]]`, `Rating: < [[7]]`."""
_FOR_A_TIE = late_re(r" for a tie\b")
"""Part of the form: prompts ask for `[[C]]` for a tie."""
_TAKEN = SHOWN + OBJECT + PLANTED + ANNOUNCED
_MARK = r"(?:[\"'`´″′’‘”“„«»›‹❞❜〟⟩⟫〉》」』]|(?:>|~~)(?!\s*\[\[))"
_CLOSED, _SHOWING = late_re(rf"[.!?…。]?{_MARK}"), late_re(f"{_MARK}|<")
"""What closes a quotation. One that opened on this line is a sign by now (`shown`), so this one opened before it."""
_PROSE = late_re(rf"(?!\W*(?:\w+ )?\w+[ \t]*:)(?=[^\n]*[^\W\d_])[^#|{ANNOUNCED}]*[.!?…。！？]\W*")
"""A paragraph of whole sentences that neither heads, nor announces, nor speaks in a part (`User: ...`)."""
_TOLD = late_re(rf"([:{ANNOUNCED}])\s*\w")
"""A colon within the sentence, and words before the verdict: `It says: give me [[10]]`."""
_GOES_ON = late_re(r",? [^\W\d_][^\n.!?。]{20}")
"""How a sentence goes on with reasons for the verdict that it began with."""
_PROGRAM = late_re(r"[A-Za-z0-9_]\(?\Z")

_BRACKET = late_re(r"\[\[\[?([^\[\]]{0,60})\]\]\]?(?!\((?:https?:|#|/|www))")
_SINGLE = late_re(r"(?<!\\)\[{1,2}([^\[\]\\]{0,40})\](?!\()")
_OUT_OF = late_re(r"[ (]{0,2}(?:/|(?:[^\W\d_]{1,12} ?){1,2}) ?(\d{1,4})(?![\d.,]\d)[^\W\d_]{0,6}\)?")


@dataclass(frozen=True, slots=True)
class Mention:
    """One verdict that a text names, and where it stands."""

    start: int
    end: int
    reading: Verdict | Fault
    form: bool
    """It stands in the form asked for; else within a sentence."""
    decorated: bool
    """It is alone in quotation marks or code, in the last sentence."""
    last: bool
    """It stands in the last sentence."""
    ends: bool
    """No word follows it."""
    led: int
    """What leads to it within a sentence: 0 nothing, 1 a sign, 2 an assessment or its place, 3 a long assessment."""


def decide(
    text: str, found: Iterable[Found], *, in_form: bool = False, missing: str = MISSING, best: float = math.inf
) -> Parsed:
    """Return the one verdict of a text (see `shown.said`) in which these are named, or none.

    `in_form`: one within a sentence is never the verdict, as its words are common ones. `missing` is the reason where
    none is named. One whose reason ends with `DOUBTED` counts only where nobody can be quoted.
    """
    rest = next((at for at, sign in enumerate(reversed(text)) if sign.isalnum() or sign in _TAKEN), len(text))
    end = len(text) - rest
    start = max((found.end() for found in _BREAK.finditer(text, 0, end)), default=0)
    made = filter(None, (_mention(text, range(start, end), *place) for place in found))
    mentions = list(islice(made, MOST_MENTIONS + 1))
    if len(mentions) > MOST_MENTIONS:
        return Parsed(None, f"more than {MOST_MENTIONS} verdicts")
    return _chosen(text, mentions, in_form, best) if mentions else Parsed(None, missing)


def brackets_in(text: str, reader: Reader, scale: Scale) -> Iterator[Found]:
    """Yield the double brackets of a text that say something; single ones after a label if there are no double ones."""
    read = [(bracket, reader(folded(bracket[1]), scale)) for bracket in _BRACKET.finditer(text)]
    if not read:
        single = [(bracket, reader(folded(bracket[1]), scale)) for bracket in islice(_SINGLE.finditer(text), 100)]
        read = [(bracket, reading) for bracket, reading in single if _is_verdict(text, bracket, reading)]
    for bracket, reading in read:
        if reading is None or _PROGRAM.search(text, max(0, bracket.start() - 2), bracket.start()):
            continue
        rest = (_OUT_OF if isinstance(reading, Score) else _FOR_A_TIE).match(text, bracket.end())
        if rest and isinstance(reading, Score) and float(rest[1]) != scale[1]:
            reading = Fault(f"out of {rest[1]}, not on the scale {scale[0]:g}-{scale[1]:g}")
        yield bracket.start(), rest.end() if rest else bracket.end(), reading


def _is_verdict(text: str, bracket: re.Match[str], reading: Reading) -> bool:
    """Return whether a single bracket may be a verdict; a number after two words is as often a result or a list."""
    line = text[max(0, bracket.start() - _SIGHT) : bracket.start()].rsplit("\n", 1)[-1]
    words = len(_WORD.findall(_sentence(line)))
    alone = not words and re.search(r"\S[^\S\n]*\n?\Z", text[: bracket.start()])
    return not isinstance(reading, Fault | None) and (
        not isinstance(reading, Score) or (words < _MOST_WORDS and not alone)
    )


def _chosen(text: str, mentions: list[Mention], in_form: bool, best: float) -> Parsed:
    """Return what the text closes with or all in form say, if it ends on no other; else what the last sentence says."""
    form = [mention for mention in mentions if mention.form]
    verdict = (form or mentions)[-1]
    others = [one for one in mentions if one.reading != verdict.reading]
    form = [verdict] if _closes(text, form, in_form) else form
    rivals = [one for one in others if one in form or one.ends or not form or verdict.decorated]
    equal = [one for one in rivals if not _yields(one, verdict, text, best)]
    if equal:
        one, other = (_written(text, each) for each in sorted((equal[-1], verdict), key=lambda each: each.start))
        return Parsed(None, f"two verdicts, {one} and {other}, and nothing says which is final")
    again = mentions[-1]
    taken_back = again not in (*form, *others) and again.last and again.led < 3 and again.end < len(text)
    if verdict.form and not in_form and taken_back:
        return Parsed(None, f"{_written(text, verdict)} is named again within the last sentence")
    if isinstance(verdict.reading, Fault):
        return Parsed(None, verdict.reading.reason)
    if verdict.form:
        only = "the only verdict" if len(mentions) == 1 else "the only verdict in its form"
        return Parsed(verdict.reading, OVER if rivals else only)
    whole = text[verdict.start] == OBJECT  # nobody denies an object, though one may be quoted
    led = 0 if in_form or PLANTED in text else verdict.led
    if led > 1:
        return Parsed(verdict.reading, WITHIN if led > 2 and not whole else SHORT)
    if led and not whole:
        return Parsed(verdict.reading, f"{_written(text, verdict)} {LONE}")
    return Parsed(verdict.reading if whole else None, f"{_written(text, verdict)} {DOUBTED}")


def _yields(one: Mention, verdict: Mention, text: str, best: float) -> bool:
    """Return whether one within a sentence is a grade asked for, denied or supposed, not the judge's.

    It is a better one than the verdict in form; where none is in form, the best there is, in an earlier sentence.
    """
    if one.form or not isinstance(one.reading, Score) or not isinstance(verdict.reading, Score):
        return False
    if verdict.form:
        return one.reading.value > verdict.reading.value
    return one.reading.value == best and _BREAK.search(text, one.end, verdict.start) is not None


def _written(text: str, mention: Mention) -> str:
    """Return a verdict as the text has it, with what is wrong with it."""
    written = "an object" if text[mention.start] == OBJECT else " ".join(text[mention.start : mention.end].split())
    return f"{written} ({mention.reading.reason})" if isinstance(mention.reading, Fault) else written


def _closes(text: str, form: list[Mention], in_form: bool) -> bool:
    """Return whether the last verdict is a closing paragraph of its own, after prose or a list of several verdicts."""
    if len(form) < 2 or not form[-1].last or (in_form and "\n\n" not in text):
        return False
    apart = re.compile(r"\n\s*\n" if "\n\n" in text else r"\n")
    _, *prose = apart.split(text[form[-2].end : form[-1].start])
    if len(prose) < 2:
        several = len(form) > 2 and "\n\n" in text and not apart.search(text, form[-3].end, form[-2].start)
        return several and bool(prose)
    label = prose.pop()
    return "\n" not in label.strip() and all(_PROSE.fullmatch(paragraph) for paragraph in prose)


def _mention(text: str, closing: range, start: int, end: int, reading: Verdict | Fault) -> Mention | None:
    """Return a verdict with its place understood; None if it is asked, an aside, or shown otherwise than to close.

    `closing` reaches from the start of the last sentence to the end of the last word.
    """
    left, rest = text[max(0, start - _SIGHT) : start], text[end : end + _SIGHT]
    decorated, whole = left.endswith(DECORATED), text[start] == OBJECT
    last = end > closing.start
    unopened = _CLOSED.match(rest) and _SHOWING.search(text, 0, start)
    if unopened or _ASKED.match(rest) or (decorated and not last and not whole):
        return None
    lead = _sentence(left)
    words = len(_WORD.findall(lead))
    bare = not any(sign.isalnum() or sign in _TAKEN for sign in lead)
    signed = _SIGN.search(lead) is not None
    label = 0 < words <= _MOST_WORDS and signed and lead.count(":") < 2 and not _NO_LABEL.search(lead)
    if decorated:  # closer to a quotation, so the label has one word, or a whole sentence comes before
        label, bare = label and words < _MOST_WORDS, bare and _WHOLE_BEFORE.search(left) is not None
    joined = _JOINED.match(rest) is not None or _JOINED_BEFORE.search(left) is not None
    if joined:
        reading = Fault("the verdict is joined to what is beside it")
    followed = _NEXT_SENTENCE.match(rest) is not None and len(rest.encode()) >= _SHORT
    ended = followed or _CLAUSE_ENDS.match(rest) is not None
    form = joined or ((bare or label) and ended)
    opened = lead.rfind("(")
    aside = opened > lead.rfind(")") and len(_WORD.findall(lead, opened)) > _MOST_WORDS
    before = left[: len(left) - len(lead)]
    goes_on = label and _GOES_ON.match(rest) is not None
    named = bare and text.startswith("[[", start) and isinstance(reading, Winner)
    said = len(before.encode())
    long = said >= _LONG
    placed = (
        ((signed if whole else goes_on or named) and start < _SIGHT and not before.strip())
        or (not whole and not decorated and (QUOTED in text or DECORATED in text))
        or (long and before.endswith("\n\n") and text.find("\n\n", end, closing.stop) < 0)
    )
    assessed = last and said >= (_LINE if before.endswith("\n") else _ASSESSMENT)
    led = 3 if last and long else 2 if assessed or placed else int((signed and ended) or (last and said >= _SHORT))
    told = _TOLD.search(lead)
    if told is not None:
        led = 2 if led == 3 and told[1] == ":" else 0
    shown = decorated and not (whole and led > 1)
    if not form and (shown or aside or (isinstance(reading, Fault) and reading.stray)):
        return None
    return Mention(start, end, reading, form, decorated, last, end >= closing.stop, led)


def _sentence(left: str) -> str:
    """Return the last sentence of what stands before a verdict."""
    return left[max((found.end() for found in _BREAK.finditer(left)), default=0) :]
