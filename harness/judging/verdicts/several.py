"""Several scores in one judgment: the dimensions of one answer, or one score for each of two answers.

    "{'Clarity': 7, 'Overall': 6}"                        -> Scores(Clarity 7, Overall 6)     (`dimensions`)
    "8 7\nThe first explains more, ..."                   -> Scores(A 8, B 7)                 (`two_scores`)
    "Assistant 1: 8/10\nAssistant 2: 7/10"                -> the same

A missing score, one that is not on the scale, or two statements that differ give no verdict at all.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from harness.judging.verdicts.brackets import Fault, Scale, folded, read_score
from harness.judging.verdicts.objects import Found, folded_name, named, objects_in
from harness.records import Parsed, Score, Scores

_NUMBER = r"[0-9]{1,4}(?:\.[0-9]{1,3})?(?: ?(?:/|out of) ?[0-9]{1,3})?(?: ?(?:points?|pont|分))?"
_TWO_ON_A_LINE = re.compile(
    rf"[ \t#>\[(]*(?:(?:scores?|ratings?|评分|得分|分数|pontszámok)[ :=]{{1,3}})?[\[(]{{0,2}}(?P<first>{_NUMBER})"
    rf"(?:[ \t]*[,;、|][ \t]*|[ \t]+(?:and|und|és|vs\.?)[ \t]+|和|[ \t]+)(?P<second>{_NUMBER})[ \t.\])]*",
    re.I,
)
_WHOSE = r"(?:assistant|answer|response|model|output|asszisztens|válasz|助手|回答|答案|模型|ai助手|ai 助手)"
_OF_ONE = re.compile(
    rf"(?:\b{_WHOSE}|(?:助手|回答|答案|模型)) ?(?P<side>[12AB])(?![0-9A-Za-z])(?P<between>[^\n.:=0-9]{{0,60}}[:=]|"
    rf"[^\n.:=0-9]{{0,40}}(?:score|rat|receiv|get|earn|deserv|award|give)[^\n.:=0-9]{{0,30}})[ \t(\[]*"
    rf"(?P<number>{_NUMBER})(?![\w%]|[.,][0-9]|\s?[-–/]\s?[0-9])",
    re.I,
)
_SIDES = {"1": "A", "2": "B", "a": "A", "b": "B"}
_PAIR_NAMES = re.compile(
    r"(?:(?:score|rating)(?:_(?:of|for))?_?)?(?:(?:assistant|answer|response|model|output)_?)?(?P<side>[12ab])"
    r"(?:_?(?:score|rating))?"
)


def read_dimensions(text: str, dimensions: Sequence[str], scale: Scale) -> Parsed:
    """Return the score of every dimension, as the objects of a text give them."""
    wanted = {folded_name(name): name for name in dimensions}
    found = [one for one in objects_in(text) if wanted.keys() & named(one.value).keys()]
    if not found:
        return Parsed(None, "no object with scores by dimension")
    own = [one for one in found if one.own]
    if not own:
        return Parsed(None, "the only scores are quoted ones")
    readings = [_by_dimension(named(one.value), wanted, scale) for one in own]
    last = readings[-1]
    if isinstance(last, Fault):
        return Parsed(None, last.reason)
    if any(not isinstance(one, Fault) and one != last for one in readings):
        return Parsed(None, "two objects with different scores")
    return Parsed(last, f"a score for each of {len(wanted)} dimensions")


def read_pair_of_scores(text: str, scale: Scale, sides: tuple[str, str] = ("A", "B")) -> Parsed:
    """Return the scores of the two answers: on a line of two numbers, by name, or as an object."""
    statements: list[Scores | Fault] = _objects_of_two(text, scale, sides) if "{" in text or "[" in text else []
    lines = [line for line in text.split("\n") if line.strip(" \t`#>-")]
    for line in lines[:1] + lines[1:][-1:]:
        two = _TWO_ON_A_LINE.fullmatch(line.strip())
        if two:
            statements.append(_numbers(two.group("first", "second"), scale))
    statements += _by_name(text, scale)
    good = [one for one in statements if isinstance(one, Scores)]
    faults = [one for one in statements if isinstance(one, Fault)]
    if faults:
        return Parsed(None, faults[0].reason)
    if not good:
        return Parsed(None, "no two scores in the form asked for")
    if any(one != good[0] for one in good):
        return Parsed(None, "two statements of the scores differ")
    return Parsed(good[0], "two scores" if len(good) == 1 else "two scores, stated more than once")


def _by_dimension(members: Mapping[str, Any], wanted: Mapping[str, str], scale: Scale) -> Scores | Fault:
    """Return the score of each dimension; a fault names those that are missing or are no scores."""
    missing = [name for folded, name in wanted.items() if folded not in members]
    if missing:
        return Fault(f"no score for {', '.join(missing)}")
    values: dict[str, float] = {}
    for key, name in wanted.items():
        value = _score_of(members[key], scale)
        if isinstance(value, Fault):
            return Fault(f"{name}: {value.reason}")
        values[name] = value
    return Scores(values)


def _score_of(member: Any, scale: Scale) -> float | Fault:
    """Return the score that a member of an object holds: a number, a text such as "7/10", or an object around it."""
    if isinstance(member, dict):
        inner = [value for name, value in named(member).items() if name in {"score", "rating", "分数", "得分", "评分"}]
        member = inner[0] if len(inner) == 1 else None
    if isinstance(member, bool) or not isinstance(member, int | float | str):
        return Fault("no number")
    reading = read_score(folded(str(member)), scale)
    if isinstance(reading, Score):
        return reading.value
    return (
        Fault(reading.reason.replace("[[", "").replace("]]", "")) if isinstance(reading, Fault) else Fault("no number")
    )


def _objects_of_two(text: str, scale: Scale, sides: tuple[str, str]) -> list[Scores | Fault]:
    """Return what the objects and lists of two scores say."""
    made = [_two_of(one, scale, sides) for one in objects_in(text) if one.own]
    made += [_numbers(match.group(1, 2), scale) for match in _LIST_OF_TWO.finditer(text)][-20:]
    return [one for one in made if one is not None]


_LIST_OF_TWO = re.compile(r"\[\[? ?([0-9]{1,4}(?:\.[0-9]{1,3})?) ?, ?([0-9]{1,4}(?:\.[0-9]{1,3})?) ?\]\]?")


def _numbers(pair: Sequence[Any], scale: Scale) -> Scores | Fault:
    values = [_score_of(member, scale) for member in pair]
    faults = [value for value in values if isinstance(value, Fault)]
    if faults:
        return faults[0]
    first, second = (value for value in values if not isinstance(value, Fault))
    return Scores({"A": first, "B": second})


def _two_of(found: Found, scale: Scale, sides: tuple[str, str]) -> Scores | Fault | None:
    members = named(found.value)
    names = {folded_name(sides[0]): "A", folded_name(sides[1]): "B"}
    given: dict[str, Any] = {}
    for name, value in members.items():
        matched = _PAIR_NAMES.fullmatch(name)
        side = names.get(name) or (_SIDES[matched["side"]] if matched else None)
        if side in given:
            return Fault(f"two scores for {side}")
        if side is not None:
            given[side] = value
    if not given:
        inner = members.get("scores", members.get("ratings"))
        return _numbers(inner, scale) if isinstance(inner, list) and len(inner) == 2 else None
    if len(given) < 2:
        return Fault(f"no score for {'B' if 'A' in given else 'A'}")
    return _numbers((given["A"], given["B"]), scale)


def _by_name(text: str, scale: Scale) -> list[Scores | Fault]:
    """Return the scores that sentences such as `Assistant 1: 8/10` give; none if only one of the answers has one."""
    given: dict[str, set[str]] = {"A": set(), "B": set()}
    for found in list(_OF_ONE.finditer(text))[-100:]:
        given[_SIDES[found["side"].casefold()]].add(folded(found["number"]))
    if not given["A"] or not given["B"]:
        return []
    if len(given["A"]) > 1 or len(given["B"]) > 1:
        return [Fault("several scores for one answer")]
    return [_numbers((*given["A"], *given["B"]), scale)]
