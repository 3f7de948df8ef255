"""Reads the verdict of a judge's reply: each form has a function that finds it, one rule picks.

1. Full-width characters are folded, emphasis is dropped, reasoning (`<think>…</think>`) is cut off.
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

import itertools
import json
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from harness.judging import likelihood
from harness.judging.forms import Form, Scale
from harness.judging.objects import folded, objects
from harness.models import split_reasoning
from harness.types import Reply


class Verdict(NamedTuple):
    """What a reply says, and why; `value` None: no verdict."""

    value: Any
    """A grade; "A", "B" or "tie"; a label; grades by dimension or side; points by number."""
    reason: str
    preference: float | None = None
    """Of 1, how much goes to the answer shown second."""


class Match(NamedTuple):
    """A place in a text that has the form of a verdict."""

    start: int
    end: int
    value: Any
    """None: no possible verdict."""
    formed: bool = False
    """Whether it is in form wherever it stands, since it brings its own label or is an object."""
    weak: bool = False
    """Whether it is nothing but a number or a name, so that an answer may well hold the like."""


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

_FOLDED = str.maketrans("【】", "[]", "*\\\u200b\ufeff")
_MARKS = " \t\"'`“”‘’«»「」()_#>-•–—$"
_CLOSERS = f"{_MARKS}.。!,;"
_NEAR = 200
"""Characters around a match that are looked at."""
_LABEL = re.compile(
    r"(?:^|[.!?。:;,(\[{|])[^\w\n]*(?:[\w'’-]+[^\w\n:=]+){0,2}[\w'’-]+[^\w\n:=]*[:=]\W*\Z"
)
_JOINED = re.compile(r"\d|[.,~–-]\d|\[\[|[\s\"'`)]{0,3}\?|,? or (?:[ABC]\b|\d)")
_BETWEEN = re.compile(
    r"[\s\"'`]*(?:[,、/&|~<>=–-]+|to|or|and|oder|und|vagy|或|和|또는|か)[\s\"'`]*", re.I
)
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
    find, judged = FINDERS.get(form.format, numbers_and_sides), list(map(fold, answers))
    planted = any(not match.weak for answer in judged for match in find(answer, form))
    if planted:
        plain = _without_quotations(plain, form, judged)
    matches = find(plain, form)
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
    return unicodedata.normalize("NFKC", text).translate(_FOLDED)


def _spoken(text: str) -> str:
    """Return the folded text after the judge's reasoning; nothing if that is left open."""
    return split_reasoning(fold(text), cut=True).text.strip()


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
    return bool(_BETWEEN.fullmatch(gap)) or (whole and not _SENTENCE.search(gap))


def _without_quotations(text: str, form: Form, answers: Sequence[str]) -> str:
    """Return a text without the quotations, and lines that repeat an answer, that hold a match."""
    find = FINDERS.get(form.format, numbers_and_sides)
    judged = " ".join(" ".join(answer.split()) for answer in answers)
    text = _QUOTATION.sub(lambda match: "…" if find(match[0], form) else match[0], text)
    lines = [
        "…" if find(line, form) and " ".join(line.strip(_MARKS).split()) in judged else line
        for line in text.split("\n")
    ]
    return "\n".join(lines)


# Numbers and sides: the groups of a pattern are n (with a total or scale's end), a and b, or side;
# with a label or mark beside a bracket the match is in form.

_NUMBER = r"-?\d{1,6}(?:[.,]\d{1,4})?"
_UNIT = r"(?: ?(?:points?|pts|pont|点|分|점))?"
_NAME = r"(?:rating|score|grade|result|점수|평점|評価|评分|得分|分数|bewertung|értékelés)"
_OF = r"(?: ?(?:/|out of) ?(?P<of>\d{1,4}(?:\.0+)?))?"
_SCALE_END = (
    r"(?:[\s\"']{0,3}(?:/|\b(?:out of|of|von|sur|de|su|az|из)\b)(?: [^\W\d]+){0,3} ?"
    r"\[{0,2}(?P<end>\d{1,4}(?:\.0+)?)(?!\d)\]{0,2})?"
)
_WORDS = r"[^\W\d]+(?: [^\W\d]+){0,2} ?[:=] ?"
_GRADE = rf"(?:{_WORDS})?(?P<n>{_NUMBER}){_OF}{_UNIT}"
_BRACKET = (
    rf"(?i)(?:(?P<mark>\[\[ ?{_NAME} ?\]\]\s?[:=]?\s?(?:{_NAME} ?[:=] ?)?\[{{0,2}})"
    rf"|\[\[[\s\"']*(?P<label>{_WORDS})?)(?P<n>{_NUMBER}){_OF}{_UNIT}[\s\"']*"
    rf"(?(mark)\]{{0,2}}|\]\]){_SCALE_END}|\[\[[\s\"']*\d[^\[\]\n]{{0,60}}\]\]"
)
"""`[[7]]`, `[[Rating: 7/10]]`, `[[rating]]: 8`; last what can be no grade, `[[7-8]]`."""
_LABELLED = rf"(?P<label>(?<![a-z]){_NAME}[^\w\n\[]{{1,4}}(?:(?:of|is)[^\w\n\[]{{1,4}})?)"
_LINE_GRADE = (
    rf"(?im)(?:{_LABELLED}|(?<![\w.,/\[=-]))(?P<open>\[)?(?P<n>{_NUMBER})(?(open)\]){_OF}{_UNIT}"
    r"(?=[\s.!。\"')}\]|]{0,9}$)"
)
"""A number that ends a line: `Score: 4`, `4/5`."""
_LAST_GRADE = (
    rf"(?im)(?:\A[^\w\[]*|{_LABELLED}|(?:^|[:=])[^\w\n\[]{{0,9}}(?=\[))"
    rf"(?P<open>\[)?(?P<n>{_NUMBER})(?(open)\]){_OF}{_UNIT}[\W_]{{0,20}}\Z"
)
"""A number that ends the text: all of it, after a word for grade, or `[7]` after a colon."""
_RESULT = (
    r"(?i)(?P<label>\[ ?(?:RESULT|SCORE|RATING|VERDICT) ?:? ?\]?(?:[\s:=>\"'(]|-(?!\d)){0,6}"
    r"(?:(?:score|rating|response|answer|assistant) ?[:=]? ?)?[\[(]{0,2})"
)
"""What stands before the verdict of `[RESULT] 4` and `[RESULT] B`."""
_SCORE = r"\d{1,4}(?:\.\d{1,3})?"
_FULL = r"(?: ?(?:/|out of) ?\d{1,3})?(?: ?(?:points?|分))?"
_COLON = r"(?![0-9A-Za-z])[^\n:=\d]{0,15}[:=]\W*"
_TWO_SCORES = (
    rf"(?m)^[^\n\d]{{0,40}}?\(?(?P<a>{_SCORE}){_FULL}"
    rf"(?:[ \t]*[,;、|&][ \t]*|[ \t]+(?:and[ \t]+)?)(?P<b>{_SCORE}){_FULL}[\s.)]*$"
)
"""A line of two numbers."""
_NAMED_SCORES = (
    rf"\b(?P<label>[1A]{_COLON})(?P<a>{_SCORE}){_FULL}[^:=]{{0,80}}?"
    rf"\b[2B]{_COLON}(?P<b>{_SCORE}){_FULL}"
)
"""`Assistant 1: 8` and then `Assistant 2: 6`."""
_ANSWER = r"(?i:(?:assistant|answer|response|model|option|output|助手|アシスタント|어시스턴트) ?)?"
_SIDE = (
    rf"(?i)\[\[ ?(?:[\w ]{{1,20}}[:=] ?)?[\"']?{_ANSWER}(?:(?P<side>[abcавс]|tie)|d|neither|none"
    r"|[abc] ?(?:,|&|and|or) ?[abc])[\"']? ?\]\]"
)
"""`[[A]]`, `[[B]]`, `[[C]]`; no side is in `[[neither]]`."""
_LONE_SIDE = rf"\A[\W_]*{_ANSWER}(?P<side>[ABC])[\W_]*\Z"
_LETTERS = {"a": "A", "b": "B", "c": "tie", "tie": "tie", "а": "A", "в": "B", "с": "tie"}
"""Cyrillic letters too, which look the same."""


def numbers_and_sides(text: str, form: Form) -> list[Match]:
    """Find what the first pattern of a form finds: numbers, pairs of numbers, names of sides."""
    names = "|".join(map(re.escape, form.sides))
    last_side = rf"(?:\A|\n|[:.!。])[\W_]{{0,9}}{_ANSWER}\W{{0,4}}(?P<side>{names})[\W_]{{0,20}}\Z"
    grammar = {
        "[[rating]]": (_BRACKET, _LAST_GRADE),
        "[RESULT] n": (rf"{_RESULT}(?P<n>{_NUMBER})[\])]{{0,2}}{_SCALE_END}", _LAST_GRADE),
        "grade": (_BRACKET, _LINE_GRADE),
        "two_scores": (_TWO_SCORES, _NAMED_SCORES),
        "[[A]]": (_SIDE, _LONE_SIDE),
        "[RESULT] A|B": (rf"{_RESULT}(?P<side>[AB])(?!\w)[\])]{{0,2}}", last_side),
        "preference": (last_side,),
    }
    for pattern in grammar[form.format]:
        matches: list[Match] = []
        for place in re.finditer(pattern, text):
            groups = place.groupdict()
            labelled = bool(groups.get("label") or groups.get("mark"))
            marked = "[" in place[0]
            start = place.start() if marked or not groups.get("n") else place.start("n")
            value, weak = _value(groups, form), not (labelled or marked)
            matches.append(Match(start, place.end(), value, labelled and marked, weak))
        if matches:
            return matches
    return []


def _value(groups: Mapping[str, str | None], form: Form) -> Any:
    """Return the verdict in the groups of a pattern; None: there is no such verdict."""
    if groups.get("a"):
        scores = {"A": _number(groups["a"], form.scale), "B": _number(groups["b"], form.scale)}
        return None if None in scores.values() else scores
    if "side" in groups:
        side = groups["side"] or ""
        return dict(zip(form.sides, "AB", strict=True)).get(side) or _LETTERS.get(side.lower())
    return _number(groups["n"], form.scale, groups.get("of"), groups.get("end"))


def _number(text: str | None, scale: Scale, *totals: str | None) -> float | None:
    """Return a number of the scale; None: it is none, or out of another total."""
    value = float((text or "nan").replace(",", "."))
    if not scale.allows(value) or any(total and float(total) != scale.greatest for total in totals):
        return None
    return int(value) if value.is_integer() else value


# Objects and labels


def rankings(text: str, form: Form) -> list[Match]:
    """Find two objects, each with the name and the rank of an answer."""
    matches = []
    for first, second in itertools.pairwise(objects(text)):
        ranks: dict[str, str] = {}
        for place in (first, second):
            words = [str(word) for word in (*place.members, *place.members.values())]
            names = [word for word in words if word in form.sides]
            numbers = [word for word in words if word in ("1", "2")]
            if len(names) == len(numbers) == 1:
                ranks[numbers[0]] = names[0]
        if len(set(ranks.values())) == 2:
            side = "A" if ranks["1"] == form.sides[0] else "B"
            matches.append(Match(first.start, second.end, side, formed=True))
    return matches


def labels(text: str, form: Form) -> list[Match]:
    """Find the objects that hold a label; without any, labels that are in form."""
    names = {folded(label): label for label in form.labels}
    matches = []
    for place in objects(text):
        values = {names.get(folded(value)) for value in place.members.values()} - {None}
        if values:
            value = values.pop() if len(values) == 1 else None
            matches.append(Match(place.start, place.end, value, formed=True))
    if matches:
        return matches
    longest = sorted(names, key=len, reverse=True)
    words = "|".join(re.escape(name).replace("_", r"[\s_-]?") for name in longest)
    for word in re.finditer(rf"(?<![\w-])({words})(?![\w-])", text, re.I):
        match = Match(*word.span(), names.get(folded(word[1])))
        matches += [match] if _in_form(text, match) else []
    return matches


def dimensions(text: str, form: Form) -> list[Match]:
    """Find the objects that have a grade for the dimensions."""
    matches = []
    for place in objects(text):
        members = {folded(name): value for name, value in place.members.items()}
        grades = {name: members.get(folded(name)) for name in form.dimensions}
        if any(value is not None for value in grades.values()):
            scores = {name: _member_grade(value, form.scale) for name, value in grades.items()}
            value = None if None in scores.values() else scores
            matches.append(Match(place.start, place.end, value, formed=True))
    return matches


def _member_grade(value: Any, scale: Scale) -> float | None:
    if isinstance(value, dict):
        value = next((value[name] for name in value if re.fullmatch(_NAME, name, re.I)), None)
    grade = re.fullmatch(_GRADE, str(value).strip(" []"), re.I)
    return _number(grade["n"], scale, grade["of"]) if grade else None


FINDERS: Mapping[str, Callable[[str, Form], list[Match]]] = {
    "ranking": rankings,
    "label": labels,
    "dimensions": dimensions,
}
"""By form, the function that finds its matches in a folded text; else `numbers_and_sides`."""


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
