"""Reads the verdict of a judge's reply: each form has a function that finds it, one rule picks.

1. Full-width characters are folded, emphasis is dropped, reasoning (`<think>…</think>`) is cut off.
2. A reply that the provider held to a schema is JSON, and its member is the verdict.
3. Else the last match *in form* counts: alone on its line, after a label of up to three words and a
   colon, or after any colon where it ends the reply; without such, the last match of all.
   `[[rating]]: 7` and `[[Rating: 7]]` match; a scale's end (`/10`, `out of [[10]]`) is part of it.
   Without any bracket, a reply that is nothing but the verdict, or ends with `Rating: 7`, is read.
4. If that match is joined or impossible (`[[1]]0`, `[[7]] out of 5`, `[[8]]?`, `[[7]] or [[8]]`,
   out of scale, or not in form beside another in its sentence), there is no verdict at all.
5. Options repeated in one breath (`[[A]], [[B]] or [[C]]`) are not counted.
6. Where a judged answer holds the form itself, quotations and lines that repeat the answers are
   dropped first; if two different verdicts remain, there is none.
"""

import itertools
import json
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from harness.judging import likelihood
from harness.judging.forms import Form, Scale
from harness.judging.objects import entries, first_of, folded, labelled, objects, values
from harness.models import split_reasoning
from harness.types import Reply

Value: TypeAlias = float | str | dict[str, float] | list[dict[str, Any]]


class Verdict(NamedTuple):
    """What a reply says, and why; `value` None: no verdict."""

    value: Value | None
    """A grade; "A", "B" or "tie"; a label; grades by dimension or side; the points of a list."""
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


Finder: TypeAlias = Callable[[str], list[Match]]

NO_VERDICT = "no verdict in the form that was asked for"


def read(reply: Reply, form: Form, answers: Sequence[str] = ()) -> Verdict:
    """Return the verdict of a reply; `answers` are the texts that were judged, if known."""
    if form.by_logprobs and form.kind == "compare":
        share, why = likelihood.preference(reply, form.sides, form.compatible)
        side = "tie" if share == 0.5 else "A" if (share or 0) < 0.5 else "B"
        return Verdict(None if share is None else side, why, share)
    if form.by_logprobs:
        return Verdict(*likelihood.expectation(reply, form.scale.least, form.scale.greatest))
    if form.format == "patterns":
        return _by_patterns(reply.text, form.patterns)
    if form.kind == "checklist":
        return checklist(reply.text, form.points, "\n".join(answers))
    if form.schema is not None and reply.detail.sampling_applied.get("structured") is True:
        member = _member(reply.text, form)
        if member is not None:
            return member
    verdict = choose(reply.text, finder(form), answers, _options(form))
    if form.format in ("ranking", "preference") and verdict.value is not None:
        return verdict._replace(preference=0.0 if verdict.value == "A" else 1.0)
    return verdict


def finder(form: Form) -> Finder:
    """Return the function that finds the matches of a form in a folded text."""
    scale, sides = form.scale, form.sides
    finders: dict[str, Finder] = {
        "[[rating]]": lambda text: grades(text, scale),
        "[[A]]": letters,
        "[[rating_a,rating_b]]": lambda text: bracketed_scores(text, scale),
        "[RESULT] n": lambda text: results(text, scale),
        "[RESULT] A|B": lambda text: results(text, None),
        "grade": lambda text: closing_grades(text, scale),
        "two_scores": lambda text: two_scores(text, scale),
        "ranking": lambda text: rankings(text, sides),
        "preference": lambda text: named_sides(text, sides),
        "label": lambda text: label_words(text, list(form.labels)),
        "dimensions": lambda text: dimensions(text, form.dimensions, scale),
    }
    return finders[form.format]


def _options(form: Form) -> int:
    """Return how many values a verdict of this form can have; 0: many."""
    return {"[[A]]": 3, "[RESULT] A|B": 2, "preference": 2, "label": len(form.labels)}.get(
        form.format, 0
    )


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
_LISTED = re.compile(r"[\s\"'”`)]*(?:[,;、/|=:-]|\b(?:or|if|for|when)\b)[^.\n]{0,80}")
_SENTENCE = re.compile(r"[.!?。](?=\s|[\"'”)])|。|\n")
_QUOTATION = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]+`|\"[^\"\n]+\"|“[^”]+”|„[^“”]+[“”]|«[^»]+»|「[^」]+」"
    r"|^[ \t]*>[^\n]*",
    re.S | re.M,
)


def choose(text: str, find: Finder, answers: Sequence[str] = (), options: int = 0) -> Verdict:
    """Return the verdict of a text by the rule above; `options` is how many values there are."""
    plain = spoken(text)
    if not plain:
        return Verdict(None, "there is no text, or nothing but reasoning")
    shown = [fold(answer) for answer in answers]
    held = any(not match.weak for answer in shown for match in find(answer))
    if held:
        plain = _without_quotations(plain, find, shown)
    matches = _counted(plain, find(plain), options)
    if not matches:
        return Verdict(None, NO_VERDICT)
    if held and len({str(match.value) for match in matches}) > 1:
        return Verdict(None, "two verdicts, and a judged answer holds the form itself")
    formed = [match for match in matches if _in_form(plain, match)]
    chosen = (formed or matches)[-1]
    words = " ".join(plain[chosen.start : chosen.end].split())[:80]
    if chosen.value is None:
        return Verdict(None, f"{words} is no possible verdict")
    if _JOINED.match(plain, chosen.end):
        return Verdict(None, f"{words} is joined to what follows, or asked")
    if other := _beside(plain, chosen, matches, within_sentence=not formed):
        return Verdict(None, f"{words} stands beside {plain[other.start : other.end]}")
    return Verdict(chosen.value, f"{words}, {'in form' if formed else 'the last one'}")


def fold(text: str) -> str:
    """Return a text in plain characters, without emphasis and escapes."""
    return unicodedata.normalize("NFKC", text).translate(_FOLDED)


def spoken(text: str) -> str:
    """Return the folded text after the judge's reasoning; nothing if that is left open."""
    return split_reasoning(fold(text), cut=True).text.strip()


def _in_form(text: str, match: Match) -> bool:
    if match.formed:
        return True
    start = text.rfind("\n", 0, match.start) + 1
    before = text[max(start, match.start - _NEAR) : match.start].strip(_MARKS)
    after = text[match.end : match.end + _NEAR]
    ends = match.end + _NEAR >= len(text) and not after.strip(f"{_CLOSERS}]}}\n")
    if before:
        return _label(before) or (ends and before.endswith((":", "=")))
    above = text[max(0, start - _NEAR) : start].rstrip().rpartition("\n")[2]
    return not after.split("\n", 1)[0].strip(_CLOSERS) or _label(above)


def _label(text: str) -> bool:
    return _LABEL.search(text[-90:]) is not None


def _counted(text: str, matches: Sequence[Match], options: int) -> list[Match]:
    """Return the matches without those that repeat the options in one breath."""
    if not options:
        return list(matches)
    kept: list[Match] = []
    for match in matches:
        kept.append(match)
        last = kept[-options:]
        if len({str(one.value) for one in last if one.value}) < options:
            continue
        gaps = [text[one.end : other.start] for one, other in itertools.pairwise(last)]
        if all(map(_LISTED.fullmatch, gaps)):
            del kept[-options:]
    return kept


def _beside(
    text: str, chosen: Match, matches: Sequence[Match], within_sentence: bool
) -> Match | None:
    """Return another verdict that the chosen one is joined to, or that its sentence names."""
    for match in matches:
        if match.value != chosen.value:
            first, second = sorted((match, chosen), key=lambda one: one.start)
            gap = text[first.end : second.start]
            if _BETWEEN.fullmatch(gap) or (within_sentence and not _SENTENCE.search(gap)):
                return match
    return None


def _without_quotations(text: str, find: Finder, answers: Sequence[str]) -> str:
    """Return a text without the quotations, and lines that repeat an answer, that hold a match."""
    held = " ".join(" ".join(answer.split()) for answer in answers)
    text = _QUOTATION.sub(lambda found: "…" if find(found[0]) else found[0], text)
    lines = [
        "…" if find(line) and " ".join(line.strip(_MARKS).split()) in held else line
        for line in text.split("\n")
    ]
    return "\n".join(lines)


# Numbers

_NUMBER = r"-?\d{1,6}(?:[.,]\d{1,4})?"
_UNIT = r"(?: ?(?:points?|pts|pont|点|分|점))?"
_NAME = r"(?:rating|score|grade|점수|평점|評価|评分|得分|分数|bewertung|értékelés)"
_GRADE = re.compile(
    rf"(?P<label>[^\W\d]+(?: [^\W\d]+){{0,2}} ?[:=] ?)?(?P<n>{_NUMBER})"
    rf"(?: ?(?:/|out of) ?(?P<of>\d{{1,4}}(?:\.0+)?))?{_UNIT}",
    re.I,
)
_BRACKET = re.compile(
    rf"\[\[ ?{_NAME} ?\]\]\s?[:=]?\s?(?:{_NAME} ?[:=] ?)?\[{{0,2}}(?P<named>{_NUMBER})\]{{0,2}}"
    r"|\[\[(?P<inside>[^\[\]\n]{1,60})\]\]",
    re.I,
)
_LONE_BRACKET = re.compile(rf"\[{{1,2}}(?P<n>{_NUMBER})\]{{1,2}}(?=[\W_]*\Z)")
_LONE_GRADE = re.compile(
    rf"(?:\A[^\w\[]*|(?:\A|\n)[^\w\[]*(?:(?:final|overall|total|최종|종합) )?{_NAME}[^\w\[\n]*)"
    rf"(?P<n>{_NUMBER})(?: ?(?:/|out of) ?(?P<of>\d+))?{_UNIT}[\W_]*\Z",
    re.I,
)
"""A number that is the whole reply, or all of its last line but a word for grade."""
_SCALE_END = re.compile(
    r"[\s\"']{0,3}(?:/|\b(?:out of|of|von|sur|de|su|az|из)\b)(?: [^\W\d]+){0,3} ?"
    r"\[{0,2}(?P<of>\d{1,4}(?:\.0+)?)(?!\d)\]{0,2}",
    re.I,
)


def _number(text: str, scale: Scale, of: str | None = None) -> float | None:
    """Return a number of the scale; None: it is none, or out of another total."""
    value = float(text.replace(",", "."))
    if (of is not None and float(of) != scale.greatest) or not scale.allows(value):
        return None
    return int(value) if value.is_integer() else value


def _with_end(text: str, match: Match, scale: Scale) -> Match:
    """Return a match together with a scale's end behind it, which has to be this scale's."""
    end = _SCALE_END.match(text, match.end)
    if end is None:
        return match
    return match._replace(
        end=end.end(), value=match.value if float(end["of"]) == scale.greatest else None
    )


def grades(text: str, scale: Scale) -> list[Match]:
    """Find `[[7]]`; if there is none, what ends the reply: `[7]`, `Rating: 7`, or 7 alone."""
    found: list[Match] = []
    for one in _BRACKET.finditer(text):
        if found and one.start() < found[-1].end:  # a scale's end
            continue
        inside = one["inside"] and _GRADE.fullmatch(one["inside"].strip(" \"'"))
        if one["named"]:
            match = Match(*one.span(), _number(one["named"], scale), True)
        elif inside:
            value = _number(inside["n"], scale, inside["of"])
            match = Match(*one.span(), value, inside["label"] is not None)
        elif one["inside"].strip()[:1].isdigit():
            match = Match(*one.span(), None)
        else:
            continue
        found.append(_with_end(text, match, scale))
        ends = [other.value for other in found[-2:]]
        if ends == [scale.least, scale.greatest] and one.start() - found[-2].end < 12:
            del found[-2:]  # "from [[1]] to [[10]]"
    if not found and (lone := _LONE_GRADE.search(text)):
        return [Match(*lone.span(), _number(lone["n"], scale, lone["of"]), weak=True)]
    if not found and (lone := _LONE_BRACKET.search(text)):
        match = Match(*lone.span(), _number(lone["n"], scale), weak=True)
        return [match] if _in_form(text, match) else []
    return found


_CLOSING_GRADE = re.compile(
    rf"(?P<label>{_NAME}\W{{1,4}})?(?<![\w.,/\[=-])(?P<n>{_NUMBER})"
    rf"(?: ?(?:/|out of) ?(?P<of>\d{{1,4}}))?{_UNIT}(?=[\s.!。\"')}}\]|]{{0,9}}$)",
    re.M | re.I,
)


def closing_grades(text: str, scale: Scale) -> list[Match]:
    """Find a number that ends a line: `Score: 4`, `4/5`; brackets come first."""
    if "[[" in text:
        return grades(text, scale)
    return [
        Match(one.start("n"), one.end(), _number(one["n"], scale, one["of"]), weak=not one["label"])
        for one in _CLOSING_GRADE.finditer(text)
    ]


_RESULT = re.compile(
    r"\[ ?(?:RESULT|SCORE|RATING|VERDICT) ?:? ?\]?(?:[\s:=>\"'(]|-(?!\d)){0,6}"
    r"(?:(?:score|rating|response|answer|assistant) ?[:=]? ?)?"
    rf"[\[(]{{0,2}}(?P<value>{_NUMBER}|[AB](?!\w))[\])]{{0,2}}",
    re.I,
)
_CLOSING_RESULT = re.compile(
    rf"\b(?:score|result|rating)(?: of| is)? ?:? ?(?P<n>{_NUMBER})(?: ?(?:/|out of) ?\d+)?[\W_]*\Z",
    re.I,
)


def results(text: str, scale: Scale | None) -> list[Match]:
    """Find `[RESULT] 4`, or without a scale `[RESULT] B`; else one that ends the text."""
    found: list[Match] = []
    for one in _RESULT.finditer(text):
        value = one["value"].upper()
        if scale is not None and value not in "AB":
            match = Match(*one.span(), _number(value, scale), True)
            found.append(_with_end(text, match, scale))
        elif scale is None and value in "AB":
            found.append(Match(*one.span(), value, True))
    if found:
        return found
    if scale is None:
        ending = re.search(rf"(?:\A|\n|: ?)[\W_]*{_ANSWER}(?P<side>[AB])[\W_]*\Z", text)
        side = ending and Match(ending.start("side"), len(text), ending["side"], weak=True)
        return [side] if side else []
    last = _CLOSING_RESULT.search(text)
    return [Match(*last.span(), _number(last["n"], scale), weak=True)] if last else []


_TWO_BRACKETED = re.compile(
    r"\[\[ ?(?:a ?[:=] ?)?(-?\d+(?:\.\d+)?) ?[,;、] ?(?:b ?[:=] ?)?(-?\d+(?:\.\d+)?) ?\]\]", re.I
)
_SCORE = r"(\d{1,4}(?:\.\d{1,3})?)(?: ?(?:/|out of) ?\d{1,3})?(?: ?(?:points?|分))?"
_TWO_ALONE = re.compile(
    rf"^[^\n\d]{{0,40}}?\(?{_SCORE}(?:[ \t]*[,;、|&][ \t]*|[ \t]+(?:and[ \t]+)?){_SCORE}[\s.)]*$",
    re.M,
)
_OF_SIDE = re.compile(
    r"(?:^|[,;])[^\w\n]*[^\W\d][^\n:=]{0,30}?\b(?P<side>[12AB])(?![0-9A-Za-z])[^\n:=\d]{0,15}[:=]\W*"
    rf"{_SCORE}",
    re.M | re.I,
)


def _both(first: str, second: str, scale: Scale) -> dict[str, float] | None:
    a, b = _number(first, scale), _number(second, scale)
    return None if a is None or b is None else {"A": a, "B": b}


def bracketed_scores(text: str, scale: Scale) -> list[Match]:
    """Find the scores of both answers in brackets: `[[8,6]]`."""
    return [
        Match(*one.span(), _both(one[1], one[2], scale)) for one in _TWO_BRACKETED.finditer(text)
    ]


def two_scores(text: str, scale: Scale) -> list[Match]:
    """Find a line of two numbers; without one, the last `Assistant 1: 8` and `Assistant 2: 6`."""
    found = [
        Match(*one.span(), _both(one[1], one[2], scale), True, True)
        for one in _TWO_ALONE.finditer(text)
    ]
    by_side = {one["side"].upper(): one for one in _OF_SIDE.finditer(text)}
    named = [by_side.get("1", by_side.get("A")), by_side.get("2", by_side.get("B"))]
    if found or None in named:
        return found
    a, b = (one for one in named if one is not None)
    return [Match(min(a.start(), b.start()), max(a.end(), b.end()), _both(a[2], b[2], scale), True)]


# Sides, labels, objects

_ANSWER = r"(?i:(?:assistant|answer|response|model|option|output|助手|アシスタント|어시스턴트) ?)?"
_SIDE = re.compile(
    rf"\[\[ ?(?:[\w ]{{1,20}}[:=] ?)?[\"']?{_ANSWER}(?:(?P<side>[abc]|tie)|d|neither|none"
    r"|[abc] ?(?:,|&|and|or) ?[abc])[\"']? ?\]\]",
    re.I,
)
_LONE_SIDE = re.compile(rf"[\W_]*{_ANSWER}(?P<side>[ABC])[\W_]*")
_LETTERS: Mapping[str, str] = {"a": "A", "b": "B", "c": "tie", "tie": "tie"}
_LOOKALIKES = str.maketrans("авсАВС", "abcABC")  # Cyrillic letters


def letters(text: str) -> list[Match]:
    """Find `[[A]]`, `[[B]]`, and `[[C]]` for a tie; else a letter that is the whole reply."""
    text = text.translate(_LOOKALIKES)
    lone = _LONE_SIDE.fullmatch(text)
    found = [lone] if lone else list(_SIDE.finditer(text))
    return [
        Match(*one.span(), _LETTERS.get((one["side"] or "").lower()), weak=lone is not None)
        for one in found
    ]


def named_sides(text: str, sides: tuple[str, str]) -> list[Match]:
    """Find the name of a side that ends a line or is in an object; `m` and `M` may be two sides."""
    inside = [
        Match(place.start, place.end, _side(member, sides), True)
        for place in objects(text)
        for member in place.value.values()
        if member in sides
    ]
    names = "|".join(map(re.escape, sides))
    word = rf"(?<![\w-]){_ANSWER}[\[(<\"'`]{{0,2}}(?<!\w)({names})[\])>\"'`]{{0,2}}(?=[^\w\n]*$)"
    return inside or [
        Match(*one.span(), _side(one[1], sides), weak=True) for one in re.finditer(word, text, re.M)
    ]


def rankings(text: str, sides: tuple[str, str]) -> list[Match]:
    """Find a list or an object that ranks the two."""
    if not all(side in text for side in sides):
        return []
    found = [
        Match(place.start, place.end, _side(first, sides), True)
        for place in values(text)
        if (first := first_of(place.value, sides)) is not None
    ]
    loose = objects(text)[-2:]  # two entries that only lack the list around them
    first = first_of([place.value for place in loose], sides)
    if found or first is None:
        return found
    return [Match(loose[0].start, loose[1].end, _side(first, sides), True)]


def _side(name: str, sides: tuple[str, str]) -> str:
    return "A" if name == sides[0] else "B"


_DENIED = re.compile(r"(?:\bnot|n't|\bnicht|\bnem|不是?|非)[\s\"'`_]*\Z", re.I)


def label_words(text: str, labels: Sequence[str]) -> list[Match]:
    """Find the objects that hold a label; without any, labels as whole words.

    A word counts if it is in form, or has three capital letters or more as the label itself.
    """
    names = {folded(label): label for label in labels}
    longest = sorted(labels, key=len, reverse=True)
    spelt = (r"[\s_-]?".join(map(re.escape, re.split(r"[\s_-]+", one))) for one in longest)
    words = list(re.finditer(rf"(?<![\w-])({'|'.join(spelt)})(?![\w-])", text, re.I))
    if not words:
        return []
    found = [
        Match(place.start, place.end, label, True)
        for place in objects(text)
        for label, speaks in [labelled(place.value, names)]
        if speaks
    ]
    if found:
        return found
    for one in words:
        label = names[folded(one[1])]
        match = Match(
            *one.span(),
            None if _DENIED.search(text[max(0, one.start() - 20) : one.start()]) else label,
        )
        if (one[1] == label and label.isupper() and len(label) > 2) or _in_form(text, match):
            found.append(match)
    return found


def dimensions(text: str, names: Sequence[str], scale: Scale) -> list[Match]:
    """Find the objects that have a grade for the dimensions."""
    wanted = {folded(name): name for name in names}
    found: list[Match] = []
    for place in objects(text) if re.search("|".join(map(re.escape, names)), text, re.I) else ():
        members = {folded(name): value for name, value in place.value.items()}
        if wanted.keys() & members.keys():
            given = {name: _member_grade(members.get(key), scale) for key, name in wanted.items()}
            value = None if None in given.values() else given
            found.append(Match(place.start, place.end, value, True))
    return found


def _member_grade(value: Any, scale: Scale) -> float | None:
    if isinstance(value, dict):
        inner = [one for name, one in value.items() if re.fullmatch(_NAME, name, re.I)]
        value = inner[0] if len(inner) == 1 else None
    found = None if isinstance(value, bool) else _GRADE.fullmatch(str(value).strip(" []"))
    return _number(found["n"], scale, found["of"]) if found else None


def checklist(text: str, count: int, answer: str) -> Verdict:
    """Return for each point whether it is met, and the quotation; `met` None: not decided.

    A point is met only with a quotation that stands in the answer, marks and white space aside; `…`
    may leave words out.
    """
    plain = spoken(text)
    if not plain:
        return Verdict(None, "there is no text, or nothing but reasoning")
    points: list[dict[str, Any]] = [{"met": None, "quote": ""} for _ in range(count)]
    unfounded = 0
    for number, met, quote in entries(plain):
        if 1 <= number <= count:
            pieces = [_words(piece) for piece in re.split(r"\.{3}|…", quote) if _words(piece)]
            founded = pieces and all(piece in _words(answer) for piece in pieces)
            unfounded += bool(met and not founded)
            points[number - 1] = {"met": None if met and not founded else met, "quote": quote}
    decided = sum(point["met"] is not None for point in points)
    reason = f"{decided} of {count} points decided"
    if unfounded:
        reason += f"; {unfounded} called met without a quotation from the answer"
    return Verdict(points if decided else None, reason)


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", fold(text).casefold()))


def _by_patterns(text: str, patterns: Sequence[str]) -> Verdict:
    """Return the side whose expression matches first: the rule of AlpacaEval's files."""
    found = [re.search(pattern, text) for pattern in patterns]
    first, second = (len(text) + 1 if one is None else one.start() for one in found)
    if first == second:
        return Verdict(None, "neither expression matches first")
    side, share = ("A", 0.0) if first < second else ("B", 1.0)
    return Verdict(side, "the expression that matches first", share)


def _member(text: str, form: Form) -> Verdict | None:
    """Return the verdict of a reply that is JSON by the form's schema: its number or its choice.

    None: it is not JSON, or the schema has not one such member, so the text is read.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    properties = (form.schema or {}).get("properties", {})
    grade = form.kind == "grade"
    names = [
        name
        for name, member in properties.items()
        if (member.get("type") in ("integer", "number") if grade else "enum" in member)
    ]
    given = value.get(names[0]) if isinstance(value, dict) and len(names) == 1 else None
    if given is None or form.kind not in ("grade", "compare"):
        return None
    if grade:
        chosen: Value | None = _member_grade(given, form.scale)
    else:
        chosen = (
            _side(given, form.sides) if given in form.sides else _LETTERS.get(str(given).lower())
        )
    return Verdict(chosen, f"the member {names[0]}: {str(given)[:40]}")
