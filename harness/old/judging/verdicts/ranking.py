"""A ranking of two answers, as AlpacaEval's judges give it: a list of the two, or each with its rank.

    [{'model': 'model_2', 'rank': 1}, {'model': 'model_1', 'rank': 2}]    -> Winner B, preference 1
    {"ordered_models": [{"model": "m", "rank": 1}, ...]}                  -> Winner A, preference 0
    ["model_1", "model_2"]                                                -> Winner A: the best stands first

Ranks 1 and 2, each once; a tie is refused, as the form has none.
"""

import re
from collections.abc import Iterator
from typing import Any

from harness.old.judging.forms import VerdictForm
from harness.old.judging.verdicts.brackets import Fault
from harness.old.judging.verdicts.mentions import Found
from harness.old.judging.verdicts.objects import Place, decide_by_objects, named, objects_in
from harness.old.judgments.judgment import Parsed, Winner

_RANKS = ("rank", "ranking", "position", "place")
_NAMES = ("model", "name", "id", "identifier", "model_name", "model_identifier", "output", "assistant")


def read_ranking(text: str, form: VerdictForm) -> Parsed:
    """Return the answer that the ranking of a text puts first."""
    places = _joined(text, objects_in(text), form.sides)
    missing = "no ranking of the two in the form asked for"
    return decide_by_objects(text, lambda value: _reading(value, form.sides), places=places, missing=missing)


def read_named(text: str, form: VerdictForm) -> Parsed:
    """Return the side that a text names: as all of it, on a line of its own, or as the one member of an object.

    Names count letter by letter, since `m` and `M` may be two sides.
    """
    sides = form.sides
    names = "|".join(map(re.escape, sides))
    alone = re.compile(
        rf"(?i:(?<![\w-])(?:output|model|response|answer|assistant) )?[\[(<]{{0,2}}(?<!\w)(?P<name>{names})"
        r"[\])>]{0,2}(?=[^\w\n]*$)",
        re.M,
    )

    def words(plain: str) -> Iterator[Found]:
        for found in alone.finditer(plain):
            yield found.start(), found.end(), won_by(found["name"], sides)

    return decide_by_objects(
        text, lambda value: _member(value, sides), words, is_bare=lambda inside: inside in sides, in_form=True
    )


def read_by_patterns(text: str, form: VerdictForm) -> Parsed:
    """Return the side whose regular expression matches first, which is the rule of the set that brought them."""
    found = [re.search(pattern, text) for pattern in form.patterns]
    first, second = (len(text) + 1 if match is None else match.start() for match in found)
    if first == second:
        return Parsed(None, "both patterns match at the same place" if found[0] else "neither pattern matches")
    return Parsed(won_by("A" if first < second else "B"), "the first pattern that matches")


def won_by(name: str, sides: tuple[str, str] = ("A", "B")) -> Winner:
    """Return one of two sides as a winner without doubt, whose preference is 0 or 1."""
    return Winner("A", 0.0) if name == sides[0] else Winner("B", 1.0)


def _member(value: Any, sides: tuple[str, str]) -> Winner | Fault | None:
    """Return the side that is a member of an object."""
    given = {member for member in named(value).values() if isinstance(member, str) and member in sides}
    if not given:
        return None
    return won_by(given.pop(), sides) if len(given) == 1 else Fault("the object names both")


def _joined(text: str, places: list[Place], sides: tuple[str, str]) -> list[Place]:
    """Return the objects of a text, with two entries that only lack the list around them as one."""
    loose = [place for place in places if _entry(place[2], sides)]
    if len(loose) != 2 or text[loose[0][1] : loose[1][0]].strip(" ,\n"):
        return places
    return [(loose[0][0], loose[1][1], [loose[0][2], loose[1][2]])]


def _reading(value: Any, sides: tuple[str, str]) -> Winner | Fault | None:
    """Return what one object or list says; None if it is no ranking of these two."""
    ranked = _ranks(value, sides)
    if not ranked:
        return None
    ranks = dict(ranked)
    if len(ranked) != 2 or set(ranks) != set(sides):
        return Fault("the ranking does not name each of the two once")
    if ranks[sides[0]] is None or ranks[sides[1]] is None:
        return Fault("a rank is neither 1 nor 2")
    if ranks[sides[0]] == ranks[sides[1]]:
        return Fault("both have the same rank, and the form has no tie")
    return won_by(min(ranks, key=lambda name: ranks[name] or 0), sides)


def _ranks(value: Any, sides: tuple[str, str]) -> list[tuple[str, int | None]]:
    """Return the ranks that a value gives to the two: by name, in entries, or by their order in a list of names."""
    if isinstance(value, list):
        if value and all(isinstance(entry, str) for entry in value):
            return list(zip(value, (1, 2, None), strict=False)) if set(value) <= set(sides) else []
        entries = [_entry(entry, sides) for entry in value]
        return [rank for entry in entries for rank in entry or [("", None)]] if any(entries) else []
    if not isinstance(value, dict):
        return []
    if set(value) == set(sides):
        return [(name, _rank(value[name])) for name in sides]
    lists = [ranks for member in value.values() if isinstance(member, list) and (ranks := _ranks(member, sides))]
    return lists[0] if len(lists) == 1 else []


def _entry(value: Any, sides: tuple[str, str]) -> list[tuple[str, int | None]]:
    """Return the name and the rank of an entry; nothing if it is no entry about one of the two."""
    if not isinstance(value, dict):
        return []
    if len(value) == 1:
        (name, rank), *_ = value.items()
    else:
        name = next((value[key] for key in _NAMES if key in value), None)
        rank = next((value[key] for key in _RANKS if key in value), None)
    return [(name, _rank(rank))] if isinstance(name, str) and name in sides else []


def _rank(value: Any) -> int | None:
    return int(float(value)) if not isinstance(value, bool) and str(value).strip() in ("1", "2", "1.0", "2.0") else None
