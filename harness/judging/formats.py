"""How verdicts are written: a row a format, with the function that finds it in a judge's text.

    name           kind     find                        write            logprobs  tie
    [[rating]]     grade    `Rating: [[7]]`, `8/10`     Rating: [[7]]    no        –
    [[A]]          compare  `[[B]]`, `[[助手A]]`        [[B]]            no        yes
    preference     compare  a name that ends the text   m                yes       no

A finder returns every match in a folded text; `verdicts` has the rule that picks one of them.
"""

import functools
import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from harness.judging.forms import Form, Kind, Scale
from harness.judging.objects import folded, objects


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


Find: TypeAlias = Callable[[str, Form], list[Match]]


class Format(NamedTuple):
    """One way to write a verdict."""

    kind: Kind
    find: Find
    write: str | None = None
    """How a built-in judge writes it: {0} and {1} are grades, {letter} and {side} the winner with
    and without ties, {better} and {worse} the names of the answers. None: they cannot."""
    logprobs: bool = False
    """Whether it is one token, so that its probability can be weighed."""
    tie: bool = False
    """Whether it can say that two answers are equally good."""
    strict: bool = False
    """Whether only matches in form count, since a verdict is an ordinary word."""


# Patterns. Their groups are n (with a total `of` or a scale's `end`), a and b, or side; with a
# label or mark beside a bracket the match is in form.

_NUMBER = r"-?\d{1,6}(?:[.,]\d{1,4})?"
_UNIT = r"(?: ?(?:points?|pts|pont|点|分|점))?"
NAME = r"(?:rating|score|grade|result|점수|평점|評価|评分|得分|分数|bewertung|értékelés)"
"""What a grade is called."""
_OF = r"(?: ?(?:/|out of) ?(?P<of>\d{1,4}(?:\.0+)?))?"
_SCALE_END = (
    r"(?:[\s\"']{0,3}(?:/|\b(?:out of|of|von|sur|de|su|az|из)\b)(?: [^\W\d]+){0,3} ?"
    r"\[{0,2}(?P<end>\d{1,4}(?:\.0+)?)(?!\d)\]{0,2})?"
)
_WORDS = r"[^\W\d]+(?: [^\W\d]+){0,2} ?[:=] ?"
_GRADE = re.compile(rf"(?i)(?:{_WORDS})?(?P<n>{_NUMBER}){_OF}{_UNIT}")
_BRACKET = (
    rf"(?im)\[(?:(?P<mark>\[ ?{NAME} ?\]\]\s?[:=]?\s?(?:{NAME} ?[:=] ?)?\[{{0,2}})"
    rf"| ?\[[\s\"']*(?P<label>{_WORDS})?)(?P<n>{_NUMBER}){_OF}{_UNIT}[\s\"']*"
    rf"(?(mark)\]{{0,2}}|\](?: ?\]|(?=[ .!。]*$))){_SCALE_END}|\[\[[\s\"']*\d[^\[\]\n]{{0,60}}\]\]"
)
"""`[[7]]`, `[[Rating: 7/10]]`, `[[rating]]: 8`, `[[7]`; last what can be no grade, `[[7-8]]`."""
_LABELLED = rf"(?P<label>(?<![a-z]){NAME}[^\w\n\[]{{1,4}}(?:(?:of|is)[^\w\n\[]{{1,4}})?)"
_LINE_BRACKET = rf"(?im)^[^\w\n\[]*{_LABELLED}\[(?P<n>{_NUMBER})\]{_OF}{_UNIT}[^\w\n]*$"
"""A line that is nothing but `Rating: [7]`."""
_LINE_GRADE = (
    rf"(?im)(?:{_LABELLED}|(?<![\w.,/\[=-]))(?P<open>\[)?(?P<n>{_NUMBER})(?(open)\]){_OF}{_UNIT}"
    r"(?=[\s.!。\"')}\]|]{0,9}$)"
)
"""A number that ends a line: `Score: 4`, `4/5`."""
_TAIL_GRADE = rf"(?P<open>\[)?(?P<n>{_NUMBER})(?(open)\]){_OF}{_UNIT}[\W_]{{0,20}}\Z"
_LABELLED_END = rf"(?im){_LABELLED}{_TAIL_GRADE}"
_LAST_GRADE = rf"(?im)(?:\A[^\w\[]*|{_LABELLED}|(?:^|[:=])[^\w\n\[]{{0,9}}(?=\[)){_TAIL_GRADE}"
"""A number that ends the text: all of it, after a word for grade, or `[7]` after a colon."""
_RESULT = (
    r"(?i)(?P<label>\[ ?(?:RESULT|SCORE|RATING|VERDICT) ?:? ?\]?(?:[\s:=>\"'(]|-(?!\d)){0,6}"
    r"(?:(?:score|rating|response|answer|assistant) ?[:=]? ?)?[\[(]{0,2})"
)
"""What stands before the verdict of `[RESULT] 4` and `[RESULT] B`."""
_RESULT_GRADE = rf"{_RESULT}(?P<n>{_NUMBER})[\])]{{0,2}}{_SCALE_END}"
_RESULT_SIDE = rf"{_RESULT}(?P<side>[AB])(?!\w)[\])]{{0,2}}"
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
_LONE_SIDE = rf"\A[\W_]*{_ANSWER}(?P<side>[ABC])[\W_]*\Z"
_TAIL = 200
"""Characters at a text's end; patterns with `\\Z` match within them, and are not tried before."""


def _numbers(*patterns: str, whole: bool = False) -> Find:
    """Return a finder of grades; of a `whole` format a scale without a step has whole numbers."""

    def find(text: str, form: Form) -> list[Match]:
        scale = form.scale
        if whole and scale.step is None:
            scale = Scale(scale.least, scale.greatest, 1)
        return _first_found(text, patterns, lambda groups: _grade(groups, scale))

    return find


def _grade(groups: Mapping[str, str | None], scale: Scale) -> float | None:
    return _number(groups["n"], scale, groups.get("of"), groups.get("end"))


def _two_scores(text: str, form: Form) -> list[Match]:
    """Find two grades beside each other, the first answer's first."""

    def value(groups: Mapping[str, str | None]) -> Any:
        scores = {"A": _number(groups["a"], form.scale), "B": _number(groups["b"], form.scale)}
        return None if None in scores.values() else scores

    return _first_found(text, (_TWO_SCORES, _NAMED_SCORES), value)


def _names(before: str = "", *, first: str = "") -> Find:
    """Return a finder of the answers' names: those that end the text, `before` them a label."""

    def find(text: str, form: Form) -> list[Match]:
        names = "|".join(map(re.escape, form.sides))
        last = (
            rf"(?:\A|\n|[:.!。])[\W_]{{0,9}}{before}{_ANSWER}\W{{0,4}}(?P<side>{names})"
            r"[\W_]{0,20}\Z"
        )
        sides = dict(zip(form.sides, "AB", strict=True))
        patterns = [first, last] if first else [last]
        return _first_found(text, patterns, lambda groups: sides[groups["side"] or ""])

    return find


def _first_found(
    text: str, patterns: Sequence[str], value: Callable[[Mapping[str, str | None]], Any]
) -> list[Match]:
    """Return the matches of the first pattern that has any."""
    for pattern in patterns:
        if pattern in _NEED_BRACKET and "[" not in text:
            continue
        start = max(0, len(text) - _TAIL) if pattern.endswith(r"\Z") else 0
        matches = []
        for place in _compiled(pattern).finditer(text, start):
            groups = place.groupdict()
            if place[0].startswith("[") and _is_code(text, place.start()):
                continue
            labelled = bool(groups.get("label") or groups.get("mark"))
            marked = "[" in place[0]
            at = place.start() if marked or not groups.get("n") else place.start("n")
            found = None if "n" in groups and not groups["n"] else value(groups)
            weak = not (labelled or marked)
            matches.append(Match(at, place.end(), found, labelled and marked, weak))
        if matches:
            return matches
    return []


_NEED_BRACKET = frozenset({_BRACKET, _LINE_BRACKET, _RESULT_GRADE, _RESULT_SIDE})
_compiled = functools.lru_cache(maxsize=256)(re.compile)
_JOINED_WORD = re.compile(r"(\w*[A-Za-z0-9_)\]])\Z")
_LABEL_WORD = re.compile(rf"(?i){NAME}|verdict|winner")


def _is_code(text: str, start: int) -> bool:
    """Return whether a bracket is joined to a word, as in `x[[3]]`; `Rating[[3]]` is a label."""
    word = _JOINED_WORD.search(text, max(0, start - 20), start)
    return word is not None and not _LABEL_WORD.fullmatch(word[1])


def _number(text: str | None, scale: Scale, *totals: str | None) -> float | None:
    """Return a number of the scale; None: it is none, or out of another total."""
    value = float((text or "nan").replace(",", "."))
    if not scale.allows(value) or any(total and float(total) != scale.greatest for total in totals):
        return None
    return int(value) if value.is_integer() else value


# Letters in brackets

_INSIDE = re.compile(r"\[\[([^\[\]\n]{1,40})\]\]")
_LETTERS = {"A": "A", "B": "B", "C": "tie", "А": "A", "В": "B", "С": "tie", "Α": "A", "Β": "B"}
"""Cyrillic and Greek letters too, which look the same."""
_LONE_LETTER = re.compile(
    rf"(?<![A-Za-z\u00c0-\u1fff])([{''.join(_LETTERS)}])(?![\w])(?: (?:is better|wins))?"
)
"""A letter that no word of an alphabet holds; Han, Kana and Hangul may stand before it."""
_TIES = frozenset(
    {
        "tie",
        "draw",
        "平局",
        "平手",
        "引き分け",
        "同点",
        "무승부",
        "비김",
        "empate",
        "égalité",
        "remis",
    }
    | {"unentschieden", "pareggio", "döntetlen", "ничья", "hòa", "berabere", "gelijkspel"}
)
_NO_SIDE = re.compile(r"(?i)(?:option |answer |assistant )?d|neither|none|not\b.*")


def _letters(text: str, form: Form) -> list[Match]:
    """Find `[[A]]`, `[[B]]`, `[[C]]`: letters alone name a side, whatever word stands before them.

    Nothing with = or > inside is a label (`[[A=B]]` is a tie elsewhere): that, both letters, and
    `[[neither]]` are no possible verdict.
    """
    matches = []
    for place in _INSIDE.finditer(text) if "[[" in text else ():
        if _is_code(text, place.start()):
            continue
        inside = place[1].strip(" \"'.!。”“’‘")
        known, value = True, None
        letters = _LONE_LETTER.findall(inside)
        if inside.upper() in _LETTERS:
            value = _LETTERS[inside.upper()]
        elif inside.casefold() in _TIES:
            value = "tie"
        elif _NO_SIDE.fullmatch(inside):
            value = None
        elif len(letters) != 1 or re.search("[=<>]", inside):
            known = bool(letters)
        else:
            ends = _LONE_LETTER.sub("\0", inside).endswith("\0")
            known, value = ends, _LETTERS[letters[0]]
        if known:
            matches.append(Match(*place.span(), value))
    if not matches and (lone := _compiled(_LONE_SIDE).match(text)):
        matches.append(Match(*lone.span(), _LETTERS[lone["side"]], weak=True))
    return matches


STEPS: Mapping[str, tuple[str, int]] = {
    "A>>B": ("A", 3),
    "A>B": ("A", 1),
    "A=B": ("tie", 1),
    "B>A": ("B", 1),
    "B>>A": ("B", 3),
}
"""The side and the weight of each of Arena-Hard's five verdicts: much better counts three times."""
_STEP = r"\[\[? ?(?P<a>[AB]) ?(?P<sign>[<>]{1,2}|=) ?(?P<b>[AB]) ?\]\]?"


def _five_steps(text: str, form: Form) -> list[Match]:
    """Find `[[A>>B]]` to `[[B>>A]]`; `[[B<A]]` is `[[A>B]]`, and `[[A>A]]` no possible verdict."""

    def value(groups: Mapping[str, str | None]) -> str | None:
        first, sign, second = (groups[name] or "" for name in ("a", "sign", "b"))
        if first == second or len(set(sign)) > 1:
            return None
        if sign == "=":
            return "A=B"
        better, worse = (first, second) if ">" in sign else (second, first)
        return f"{better}{'>' * len(sign)}{worse}"

    return _first_found(text, (_STEP,), value)


# Objects and labels


def _rankings(text: str, form: Form) -> list[Match]:
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


def _labels(text: str, form: Form) -> list[Match]:
    """Find the objects that hold a label; without any, the labels in words.

    Labels in one breath (`"CORRECT"/"INCORRECT"`) are the options, copied from the prompt.
    """
    names = {folded(label): label for label in form.labels}
    matches = []
    for place in objects(text):
        members = [
            value[0] if isinstance(value, list) and len(value) == 1 else value
            for value in place.members.values()
        ]
        if values := {names.get(folded(value)) for value in members} - {None}:
            value = values.pop() if len(values) == 1 else None
            matches.append(Match(place.start, place.end, value, formed=True))
    if matches:
        return matches
    longest = sorted(names, key=len, reverse=True)
    words = "|".join(re.escape(name).replace("_", r"[\s_-]?") for name in longest)
    places = _compiled(rf"(?i)(?<![\w-])({words})(?![\w-])").finditer(text)
    matches = [Match(*word.span(), names.get(folded(word[1]))) for word in places]
    copied = {
        match
        for pair in itertools.pairwise(matches)
        if pair[0].value != pair[1].value and BETWEEN.fullmatch(text[pair[0].end : pair[1].start])
        for match in pair
    }
    return [match for match in matches if match not in copied]


BETWEEN = re.compile(
    r"[\s\"'`]*(?:(?:[,、/&|~<>=–-]+|to|or|and|oder|und|vagy|或|和|또는|か)[\s\"'`]*)+", re.I
)
"""What joins two options."""


def _dimensions(text: str, form: Form) -> list[Match]:
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
        value = next((value[name] for name in value if re.fullmatch(NAME, name, re.I)), None)
    grade = _GRADE.fullmatch(str(value).strip(" []"))
    return _number(grade["n"], scale, grade["of"]) if grade else None


def _nothing(text: str, form: Form) -> list[Match]:
    """Find nothing: the format has a reader of its own in `verdicts`."""
    return []


FORMATS: Mapping[str, Format] = {
    "[[rating]]": Format(
        "grade", _numbers(_BRACKET, _LINE_BRACKET, _LAST_GRADE), "Rating: [[{0}]]"
    ),
    "[RESULT] n": Format("grade", _numbers(_RESULT_GRADE, _LABELLED_END, whole=True)),
    "grade": Format("grade", _numbers(_BRACKET, _LINE_GRADE), "Rating: [[{0}]]", logprobs=True),
    "[[A]]": Format("compare", _letters, "[[{letter}]]", tie=True),
    "[RESULT] A|B": Format(
        "compare", _names(r"(?i:result)\W{1,4}", first=_RESULT_SIDE), "[RESULT] {side}"
    ),
    "[[A>>B]]": Format("compare", _five_steps, tie=True),
    "two_scores": Format("compare", _two_scores, "{0} {1}", tie=True),
    "ranking": Format(
        "compare",
        _rankings,
        '[{{"model": "{better}", "rank": 1}}, {{"model": "{worse}", "rank": 2}}]',
    ),
    "preference": Format("compare", _names(), "{better}", logprobs=True),
    "label": Format("label", _labels, strict=True),
    "dimensions": Format("dimensions", _dimensions),
    "checklist": Format("checklist", _nothing),
}
"""The formats that a template may ask for; the first of a kind is its usual one. `patterns` (two
expressions) comes only with AlpacaEval's files."""


def formats_of(kind: Kind) -> list[str]:
    """Return the names of the formats of a kind, the usual one first."""
    return [name for name, row in FORMATS.items() if row.kind == kind]
