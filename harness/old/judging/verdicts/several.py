"""Several scores in one judgment: the dimensions of one answer, or one score for each of two answers.

    "{'Clarity': 7, 'Overall': 6}"                        -> Scores(Clarity 7, Overall 6)     (`dimensions`)
    "8 7\nThe first explains more, ..."                   -> Scores(A 8, B 7)                 (`two_scores`)
    "Assistant 1: 8/10\nAssistant 2: 7/10"                -> the same

A missing score, one that is not on the scale, or two statements that differ give no verdict at all.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from harness.old.judging.forms import VerdictForm
from harness.old.judging.verdicts.brackets import Fault, Scale, folded, read_score
from harness.old.judging.verdicts.mentions import Found
from harness.old.judging.verdicts.objects import decide_by_objects, folded_name, named
from harness.old.judgments.judgment import Parsed, Score, Scores
from harness.old.patterns import late_re

_NUMBER = r"[0-9]{1,4}(?:\.[0-9]{1,3})?(?: ?(?:/|out of) ?[0-9]{1,3})?(?: ?(?:points?|pont|分))?"
_TWO_ON_A_LINE = late_re(
    rf"(?:[^\n]*[:=] ?)?[\s#>\[(\"'`]*(?P<two>[\[(]{{0,2}}(?P<first>{_NUMBER})"
    rf"(?:[ \t]*[,;、|][ \t]*|[ \t]+(?:[^\W\d_]{{1,4}}|&)[ \t]+|和|[ \t]+)(?P<second>{_NUMBER}))[\s.\])\"'`]*"
)
_OF_ONE = late_re(
    rf"(?:^|[,;，])\W*[^\W\d][^\n:=]{{0,30}}?(?P<side>[12ABab])(?![0-9A-Za-z])"
    rf"[^\n:=]{{0,15}}[:=][ \t(\[]*(?P<number>{_NUMBER})[\W_]*?(?:$|(?=[,;，]))",
    re.M,
)
_BOTH = late_re(r"\W*(?:\w+ ?){1,2}[:=][^\n:=,;，]{1,20}[,;，] ?(?:\w+ ?){1,2}[:=][^\n:=]{1,20}")
"""Both on one line, without further words."""
_SIDES = {"1": "A", "2": "B", "a": "A", "b": "B"}
_PAIR_NAMES = late_re(
    r"(?:(?:score|rating)(?:_(?:of|for))?_?)?(?:(?:assistant|answer|response|model|output)_?)?(?P<side>[12ab])"
    r"(?:_?(?:score|rating))?"
)


def read_dimensions(text: str, form: VerdictForm) -> Parsed:
    """Return the score of every dimension, as the object of a text gives them."""
    wanted = {folded_name(name): name for name in form.dimensions}
    missing = "no object with scores by dimension"
    return decide_by_objects(text, lambda value: _by_dimension(named(value), wanted, form.scale), missing=missing)


def read_pair_of_scores(text: str, form: VerdictForm) -> Parsed:
    """Return the scores of the two answers: on a first or last line of two numbers, by name, or as an object."""

    def words(plain: str) -> Iterable[Found]:
        found = [*_lines(plain, form.scale), *_by_name(plain, form.scale)]
        return sorted(found, key=lambda one: one[0])

    return decide_by_objects(text, lambda value: _two_of(value, form.scale, form.sides), words, in_form=True)


def _lines(text: str, scale: Scale) -> Iterator[Found]:
    """Yield the two numbers of the first and of the last line."""
    lines = [line for line in re.finditer(r"[^\n]+", text) if line[0].strip(" \t`#>-")]
    for line in lines[:1] + lines[1:][-1:]:
        two = _TWO_ON_A_LINE.fullmatch(line[0])
        if two:
            yield (
                line.start() + two.start("two"),
                line.start() + two.end("two"),
                _numbers(two.group("first", "second"), scale),
            )


def _by_name(text: str, scale: Scale) -> list[Found]:
    """Return the scores that lines such as `Assistant 1: 8/10` give; none if only one of the answers has one."""
    lines = list(_OF_ONE.finditer(text))[-100:]
    given = {
        side: {folded(line["number"]) for line in lines if _SIDES[line["side"].casefold()] == side} for side in "AB"
    }
    if not given["A"] or not given["B"]:
        return []
    several = len(given["A"]) > 1 or len(given["B"]) > 1
    reading = Fault("several scores for one answer") if several else _numbers([*given["A"], *given["B"]], scale)
    start = lines[0].start() + len(lines[0][0]) - len(lines[0][0].lstrip())
    both = _BOTH.fullmatch(text, start, lines[-1].end())
    return [(start, (lines[-1] if both else lines[0]).end(), reading)]


def _by_dimension(members: Mapping[str, Any], wanted: Mapping[str, str], scale: Scale) -> Scores | Fault | None:
    """Return the score of each dimension; a fault names those that are missing or are no scores."""
    if not wanted.keys() & members.keys():
        return None
    missing = [name for folded, name in wanted.items() if folded not in members]
    if missing:
        return Fault(f"no score for {', '.join(missing)}", stray=True)
    values: dict[str, float] = {}
    for key, name in wanted.items():
        value = score_of(members[key], scale)
        if isinstance(value, Fault):
            return Fault(f"{name}: {value.reason}")
        values[name] = value
    return Scores(values)


def score_of(member: Any, scale: Scale) -> float | Fault:
    """Return the score that a member of an object holds: a number, a text such as "7/10", or an object around it."""
    if isinstance(member, dict):
        inner = [value for name, value in named(member).items() if name in {"score", "rating", "分数", "得分", "评分"}]
        member = inner[0] if len(inner) == 1 else None
    if isinstance(member, bool) or not isinstance(member, int | float | str):
        return Fault("no number")
    reading = read_score(folded(str(member)), scale)
    if isinstance(reading, Score):
        return reading.value
    return Fault(re.sub(r"\[\[|\]\]", "", reading.reason)) if isinstance(reading, Fault) else Fault("no number")


def _numbers(pair: Sequence[Any], scale: Scale) -> Scores | Fault:
    first, second = (score_of(member, scale) for member in pair)
    if isinstance(first, Fault):
        return first
    return second if isinstance(second, Fault) else Scores({"A": first, "B": second})


def _two_of(value: Any, scale: Scale, sides: tuple[str, str]) -> Scores | Fault | None:
    """Return the two scores of an object, by the names of the answers or as a list."""
    members = named(value)
    names = {folded_name(sides[0]): "A", folded_name(sides[1]): "B"}
    given: dict[str, Any] = {}
    for name, member in members.items():
        matched = _PAIR_NAMES.fullmatch(name)
        side = names.get(name) or (_SIDES[matched["side"]] if matched else None)
        if side in given:
            return Fault(f"two scores for {side}")
        if side is not None:
            given[side] = member
    if not given:
        inner = members.get("scores", members.get("ratings"))
        return _numbers(inner, scale) if isinstance(inner, list) and len(inner) == 2 else None
    if len(given) < 2:
        return Fault(f"no score for {'B' if 'A' in given else 'A'}")
    return _numbers((given["A"], given["B"]), scale)
