"""What one bracket of a judge's text says: a reader for each verdict format, given the inside of the bracket.

"7/10" -> Score(7)      "assistant b" -> Winner("B")      "rating" -> None, the placeholder      "7-8" -> a fault
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from harness.old.judgments.judgment import Score, Scores, Verdict, Winner
from harness.old.patterns import late_re
from harness.old.records import Side

Scale: TypeAlias = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Fault:
    """A bracket that stands where a verdict should and is none; a stray one counts only after a label (`Rating:`)."""

    reason: str
    stray: bool = False


Reading: TypeAlias = Verdict | Fault | None
"""None: this bracket has nothing to do with a verdict (a link, a citation, an unfilled placeholder)."""
Reader: TypeAlias = Callable[[str, Scale], Reading]

_UNIT = r"(?: ?(?:/|out of|von|az?) ?([0-9]{1,9}))? ?(?:points?|pts|punkte|pont|分|点)?"
_POINT, _COMMA = r"(-?[0-9]{1,20}(?:\.[0-9]{0,20})?)" + _UNIT, r"(-?[0-9]{1,20}(?:\.[0-9]{0,20}|,[0-9]{1,2})?)" + _UNIT
"""A number, without and with a decimal comma."""
_NAMED = (
    r"(?:(?:(?:final|overall|my) )?"
    r"(?:rating|score|verdict|winner|better|评分|得分|评价|結論|評価|értékelés|bewertung) ?[:=] ?)?"
)
_SCORE = late_re(_NAMED + _COMMA)
_SIDE = late_re(_NAMED + r"(?:(?:assistant|answer|response|model|option|助手|アシスタント) ?)?([abc]|tie)")
_SIDED = r"(?:([ab]) ?[:=] ?)?"
_TWO = late_re(rf"{_SIDED}{_POINT} ?[,、] ?{_SIDED}{_POINT}")
_TWO_APART = late_re(rf"{_SIDED}{_COMMA} ?; ?{_SIDED}{_COMMA}")
_PLACEHOLDER = late_re(
    r"(?:your |the )?(?:(?:rating|score|verdict)(?:_[ab])?|x|n|number|#|a/b/c|a ?\| ?b ?\| ?c|评分|分数)"
    r"(?: ?, ?(?:rating|score)(?:_[ab])?)?"
)
_DECLINED = late_re(r"n/?a|none|null|unknown|error|\?+|-+|not applicable|cannot rate|无|d")
_LOOKALIKES = str.maketrans("авсαβ", "abcab")  # Cyrillic and Greek letters that a judge writing in them types


def read_score(inside: str, scale: Scale) -> Reading:
    """Return what a bracket says where one rating is wanted."""
    found = _SCORE.fullmatch(inside)
    if found:
        value = _on_scale(found[1], found[2], scale)
        return value if isinstance(value, Fault) else Score(value)
    if _PLACEHOLDER.fullmatch(inside):
        return None
    if _DECLINED.fullmatch(inside):
        return Fault(f"[[{inside}]] is not a rating")
    numbers = re.findall(r"[0-9]+", inside)
    if len(numbers) > 1 and re.fullmatch(r"[0-9. ]+ ?(?:-|–|—|~|to|or|bis|至|到|或|/) ?[0-9. ]+", inside):
        return Fault(f"[[{inside}]] is not one rating")
    return Fault(f"[[{inside}]] is not a rating", stray=True)


def read_winner(inside: str, scale: Scale) -> Reading:
    """Return what a bracket says where A, B or C is wanted."""
    sides: dict[str, Side] = {"a": "A", "b": "B", "c": "tie", "tie": "tie"}
    found = _SIDE.fullmatch(inside.translate(_LOOKALIKES))
    if found:
        return Winner(sides[found[1]])
    if _PLACEHOLDER.fullmatch(inside):
        return None
    if _DECLINED.fullmatch(inside) or re.fullmatch(
        r"[abc](?: ?(?:[/,&|<>=~]+|or|and|oder|vagy|或|和) ?[abc])+", inside
    ):
        return Fault(f"[[{inside}]] is none of A, B and C")
    return Fault(f"[[{inside}]] is none of A, B and C", stray=True)


def read_two_scores(inside: str, scale: Scale) -> Reading:
    """Return what a bracket says where a rating for each of two answers is wanted."""
    bare = re.sub(r"\b(?:rating|score|assistant|answer|model)[_ ]?(?=[ab]\b)", "", inside)
    found = _TWO.fullmatch(bare) or _TWO_APART.fullmatch(bare)
    if not found:
        if _PLACEHOLDER.fullmatch(inside):
            return None
        if _SCORE.fullmatch(inside):
            return Fault(f"[[{inside}]] is one rating where two are wanted")
        several = len(re.findall(r"[0-9]+", inside)) > 1 or _DECLINED.fullmatch(inside)
        return Fault(f"[[{inside}]] is not a pair of ratings", stray=not several)
    names = (found[1] or "a", found[4] or "b")
    if bool(found[1]) != bool(found[4]) or names[0] == names[1]:
        return Fault(f"[[{inside}]] does not say which rating is whose")
    values: dict[str, float] = {}
    for name, number, full in zip(names, found.group(2, 5), found.group(3, 6), strict=True):
        value = _on_scale(number, full, scale)
        if isinstance(value, Fault):
            return value
        values[name.upper()] = value
    return Scores({"A": values["A"], "B": values["B"]})


def _on_scale(number: str, full: str | None, scale: Scale) -> float | Fault:
    least, most = scale
    if full is not None and float(full) != most:
        return Fault(f"out of {full}, not on the scale {least:g}-{most:g}")
    value = float(number.replace(",", "."))
    if not least <= value <= most:
        return Fault(f"outside the scale {least:g}-{most:g}")
    return int(value) if value.is_integer() else value


def folded(inside: str) -> str:
    """Return a bracket's inside without mark-up, in lower case."""
    bare = re.sub(r"</?[a-z]{1,6}>", "", inside.casefold())
    bare = bare.strip(" \t\n_`'\"“”‘’„«»「」『』$(){}.。!")
    return " ".join((bare[1:-1] if bare[:1] + bare[-1:] == "<>" else bare).split())
