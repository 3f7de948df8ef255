"""Reads the verdict of a judge's reply: each form has a function that finds it, one rule picks.

1. Full-width characters are folded, emphasis is dropped, reasoning (`<think>…</think>`) is cut off.
2. A reply that the provider held to a schema is JSON, and its member is the verdict.
3. Else the last match *in form* counts: alone on its line, after a label of up to three words and a
   colon, or after any colon where it ends the reply; without such, the last match of all.
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
        side = "tie" if share == 0.5 else "A" if (share or 0) < 0.5 else "B"
        return Verdict(None if share is None else side, why, share)
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
        for name, one in properties.items()
        if "enum" in one or one.get("type") in ("integer", "number")
    ]
    try:
        return str(json.loads(text)[names[0]]) if len(names) == 1 else text
    except (ValueError, RecursionError, KeyError, TypeError):
        return text


# The rule

_FOLDED = str.maketrans("【】", "[]", "*\\\u200b\ufeff")
_MARKS = " \t\"'`“”‘’«»「」()_#>-•–—$"
_CLOSERS = f"{_MARKS}.。!,;"
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
    find, judged = FINDERS[form.format], list(map(fold, answers))
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
    above, _, before = text[: match.start].rpartition("\n")
    before, after = before.strip(_MARKS), text[match.end :]
    if before:
        ends = not after.strip(f"{_CLOSERS}]}}\n")
        return _label(before) or (ends and before.endswith((":", "=")))
    return not after.split("\n", 1)[0].strip(_CLOSERS) or _label(above.rstrip())


def _label(text: str) -> bool:
    return _LABEL.search(text[-90:].rpartition("\n")[2]) is not None


def _joined(text: str, match: Match, chosen: Match, whole: bool) -> bool:
    """Return whether two matches are joined by a word such as "or", or (whole) in a sentence."""
    first, second = sorted((match, chosen))
    gap = text[first.end : second.start]
    return bool(_BETWEEN.fullmatch(gap)) or (whole and not _SENTENCE.search(gap))


def _without_quotations(text: str, form: Form, answers: Sequence[str]) -> str:
    """Return a text without the quotations, and lines that repeat an answer, that hold a match."""
    find = FINDERS[form.format]
    judged = " ".join(" ".join(answer.split()) for answer in answers)
    text = _QUOTATION.sub(lambda match: "…" if find(match[0], form) else match[0], text)
    lines = [
        "…" if find(line, form) and " ".join(line.strip(_MARKS).split()) in judged else line
        for line in text.split("\n")
    ]
    return "\n".join(lines)


# Numbers

_NUMBER = r"-?\d{1,6}(?:[.,]\d{1,4})?"
_UNIT = r"(?: ?(?:points?|pts|pont|点|分|점))?"
_NAME = r"(?:rating|score|grade|result|점수|평점|評価|评分|得分|分数|bewertung|értékelés)"
_OF = r"(?: ?(?:/|out of) ?(?P<of>\d{1,4}(?:\.0+)?))?"
_SCALE_END = (
    r"(?:[\s\"']{0,3}(?:/|\b(?:out of|of|von|sur|de|su|az|из)\b)(?: [^\W\d]+){0,3} ?"
    r"\[{0,2}(?P<end>\d{1,4}(?:\.0+)?)(?!\d)\]{0,2})?"
)
_GRADE = re.compile(
    rf"(?P<label>[^\W\d]+(?: [^\W\d]+){{0,2}} ?[:=] ?)?(?P<n>{_NUMBER}){_OF}{_UNIT}", re.I
)
_BRACKET = re.compile(
    rf"(?:\[\[ ?{_NAME} ?\]\]\s?[:=]?\s?(?:{_NAME} ?[:=] ?)?\[{{0,2}}(?P<named>{_NUMBER})\]{{0,2}}"
    rf"|\[\[[\s\"']*(?P<inside>[^\[\]\n]{{1,60}}?)[\s\"']*\]\]){_SCALE_END}",
    re.I,
)
_LINE_GRADE = re.compile(
    rf"(?P<label>(?<![a-z]){_NAME}[^\w\n\[]{{1,4}}(?:(?:of|is)[^\w\n\[]{{1,4}})?)?"
    rf"(?<![\w.,/\[=-])(?P<open>\[?)(?P<n>{_NUMBER})(?(open)\]?){_OF}{_UNIT}"
    r"(?=[\s.!。\"')}\]|]{0,9}$)",
    re.M | re.I,
)
"""A number that ends a line, perhaps after a word for grade."""


def _number(text: str, scale: Scale, *ends: str | None) -> float | None:
    """Return a number of the scale; None: it is none, or out of another total."""
    value = float(text.replace(",", "."))
    if not scale.allows(value) or any(end and float(end) != scale.greatest for end in ends):
        return None
    return int(value) if value.is_integer() else value


def _value(text: str, scale: Scale, *ends: str | None) -> float | None:
    """Return the grade that a text is nothing but: `7`, `7/10`, `Rating: 7`."""
    match = _GRADE.fullmatch(text)
    return _number(match["n"], scale, match["of"], *ends) if match else None


def brackets(text: str, form: Form) -> list[Match]:
    """Find `[[7]]`; if there is none, what ends the reply: `[7]`, `Rating: 7`, or 7 alone."""
    scale = form.scale
    matches: list[Match] = []
    for place in _BRACKET.finditer(text):
        inside = place["named"] or place["inside"]
        grade = _GRADE.fullmatch(inside)
        if grade is None and not inside[0].isdigit():
            continue
        labelled = bool(place["named"] or (grade and grade["label"]))
        matches.append(Match(*place.span(), _value(inside, scale, place["end"]), labelled))
        ends = [match.value for match in matches[-2:]]
        if ends == [scale.least, scale.greatest] and place.start() - matches[-2].end < 12:
            del matches[-2:]  # "from [[1]] to [[10]]"
    return matches or _closing_grade(text, form)


def line_grades(text: str, form: Form) -> list[Match]:
    """Find a number that ends a line: `Score: 4`, `4/5`; double brackets come first."""
    return brackets(text, form) if "[[" in text else _line_grades(text, form.scale)


def _line_grades(text: str, scale: Scale) -> list[Match]:
    return [
        Match(
            place.start("open"),
            place.end(),
            _number(place["n"], scale, place["of"]),
            weak=not place["label"],
        )
        for place in _LINE_GRADE.finditer(text)
    ]


def _closing_grade(text: str, form: Form) -> list[Match]:
    """Find a number that ends the text: all of it, after a word for grade, or in brackets."""
    for match in _line_grades(text, form.scale):
        labelled = not match.weak or not re.search(r"\w", text[: match.start])
        bracketed = text[match.start] == "[" and _in_form(text, match)
        if (labelled or bracketed) and not re.search(r"\w", text[match.end :]):
            return [match._replace(weak=True)]
    return []


_RESULT = re.compile(
    r"\[ ?(?:RESULT|SCORE|RATING|VERDICT) ?:? ?\]?(?:[\s:=>\"'(]|-(?!\d)){0,6}"
    r"(?:(?:score|rating|response|answer|assistant) ?[:=]? ?)?"
    rf"[\[(]{{0,2}}(?P<value>{_NUMBER}|[AB](?!\w))[\])]{{0,2}}{_SCALE_END}",
    re.I,
)


def results(text: str, form: Form) -> list[Match]:
    """Find `[RESULT] 4`, or of two answers `[RESULT] B`; else one that ends the text."""
    matches: list[Match] = []
    for place in _RESULT.finditer(text):
        value = place["value"].upper()
        if form.kind == "compare" and value in "AB":
            matches.append(Match(*place.span("value"), value, formed=True))
        elif form.kind == "grade" and value not in "AB":
            number = _number(value, form.scale, place["end"])
            matches.append(Match(*place.span(), number, formed=True))
    last = _closing_grade if form.kind == "grade" else _closing_side
    return matches or last(text, form)


_SCORE = r"(\d{1,4}(?:\.\d{1,3})?)(?: ?(?:/|out of) ?\d{1,3})?(?: ?(?:points?|分))?"
_COLON = r"(?![0-9A-Za-z])[^\n:=\d]{0,15}[:=]\W*"
_TWO_SCORES = (
    re.compile(
        rf"^[^\n\d]{{0,40}}?\(?{_SCORE}"
        rf"(?:[ \t]*[,;、|&][ \t]*|[ \t]+(?:and[ \t]+)?){_SCORE}[\s.)]*$",
        re.M,
    ),
    re.compile(rf"\b[1A]{_COLON}{_SCORE}[^:=]{{0,80}}?\b[2B]{_COLON}{_SCORE}"),
)


def two_scores(text: str, form: Form) -> list[Match]:
    """Find a line of two numbers; without one, `Assistant 1: 8` and then `Assistant 2: 6`."""
    for pattern in _TWO_SCORES:
        matches = []
        for place in pattern.finditer(text):
            scores = [_number(score, form.scale) for score in place.groups()]
            value = None if None in scores else dict(zip("AB", scores, strict=True))
            weak = pattern is _TWO_SCORES[0]
            matches.append(Match(*place.span(), value, formed=True, weak=weak))
        if matches:
            return matches
    return []


# Sides, labels, objects

_ANSWER = r"(?i:(?:assistant|answer|response|model|option|output|助手|アシスタント|어시스턴트) ?)?"
_SIDE = re.compile(
    rf"\[\[ ?(?:[\w ]{{1,20}}[:=] ?)?[\"']?{_ANSWER}(?:(?P<side>[abc]|tie)|d|neither|none"
    r"|[abc] ?(?:,|&|and|or) ?[abc])[\"']? ?\]\]",
    re.I,
)
_LETTERS: Mapping[str, str] = {"a": "A", "b": "B", "c": "tie", "tie": "tie"}
_LOOKALIKES = str.maketrans("авсАВС", "abcABC")  # Cyrillic letters


def letters(text: str, form: Form) -> list[Match]:
    """Find `[[A]]`, `[[B]]`, and `[[C]]` for a tie; else a letter that is the whole reply."""
    text = text.translate(_LOOKALIKES)
    lone = re.fullmatch(rf"[\W_]*{_ANSWER}(?P<side>[ABC])[\W_]*", text)
    return [
        Match(*place.span(), _LETTERS.get((place["side"] or "").lower()), weak=lone is not None)
        for place in ([lone] if lone else _SIDE.finditer(text))
    ]


def _closing_side(text: str, form: Form) -> list[Match]:
    """Find the name of an answer alone on the last line, or after a colon there."""
    names = "|".join(map(re.escape, form.sides))
    place = re.search(rf"(?:\A|\n|: ?)[\W_]*{_ANSWER}[\W_]*({names})[\W_]*\Z", text)
    if place is None:
        return []
    side = "A" if place[1] == form.sides[0] else "B"
    return [Match(*place.span(1), side, weak=True)]


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
    return _value(str(value).strip(" []"), scale)


FINDERS: Mapping[str, Callable[[str, Form], list[Match]]] = {
    "[[rating]]": brackets,
    "[[A]]": letters,
    "[RESULT] n": results,
    "[RESULT] A|B": results,
    "grade": line_grades,
    "two_scores": two_scores,
    "ranking": rankings,
    "preference": _closing_side,
    "label": labels,
    "dimensions": dimensions,
}
"""By form, the function that finds its matches in a folded text."""


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
