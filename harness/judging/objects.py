"""Verdicts in JSON: what the objects and lists of a judge's text say, whoever wrote their commas.

{"ordered_models": [{"model": "m", "rank": 1}, {"model": "M", "rank": 2}]}     a ranking
{'clarity': 7, 'overall': '6/10',}                                             dimensions
{"points": [{"point": 1, "met": true, "quote": "by 1687"}]}                    a checklist
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import yaml


class Place(NamedTuple):
    """An object or a list, and where it stands in a text."""

    value: Any
    start: int
    end: int


_OPENING = re.compile(r"\{(?=\s{0,40}[\"'“\w])|\[(?=\s{0,40}[\"'“{\[])")
_BRACKET = re.compile(r"[{}\[\]]")
_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""Makes texts, lists and dictionaries, and nothing else."""
_LONGEST = 20_000
_MOST_FAILURES = 100


def values(text: str) -> list[Place]:
    """Return the outermost objects and lists of a text, in order.

    Python's quotes, bare words and a comma too many are let pass, as YAML reads them (every value
    is a text then).
    """
    found: list[Place] = []
    failures = 0
    for opening in _OPENING.finditer(text):
        start = opening.start()
        if failures > _MOST_FAILURES or (found and start < found[-1].end):
            continue
        try:
            value, end = json.JSONDecoder(strict=False).raw_decode(text, start)
        except (ValueError, RecursionError):
            end = _closing(text, start)
            try:
                value = yaml.load(text[start:end], Loader=_LOADER)
            except (yaml.YAMLError, RecursionError, ValueError):
                failures += 1
                continue
        found.append(Place(value, start, end))
    return found


def objects(text: str) -> list[Place]:
    """Return the outermost objects of a text."""
    return [place for place in values(text) if isinstance(place.value, dict)]


def _closing(text: str, start: int) -> int:
    depth = 0
    for found in _BRACKET.finditer(text, start, start + _LONGEST):
        depth += 1 if found[0] in "{[" else -1
        if not depth:
            return found.end()
    return start + 1


def folded(name: Any) -> str:
    """Return a name as it is compared: no case, no marks, `_` for spaces and hyphens."""
    return re.sub(r"[\s_-]+", "_", str(name).strip(" \t\n`'\"“”.!。[]<>(){}").casefold())


def labelled(value: Mapping[str, Any], names: Mapping[str, str]) -> tuple[str | None, bool]:
    """Return the label that an object holds, and whether the object speaks of labels at all."""
    members = [
        member[0] if isinstance(member, list) and len(member) == 1 else member
        for member in value.values()
    ]
    texts = [member for member in members if isinstance(member, str)]
    given = {names[folded(text)] for text in texts if folded(text) in names}
    lone = len(value) == 1 and len(texts) == 1
    return (given.pop() if len(given) == 1 else None), bool(given) or lone


def first_of(value: Any, sides: tuple[str, str]) -> str | None:
    """Return which of two names a ranking puts first; None: it is no ranking of these two.

    A ranking is a list of both names, a list of entries with name and rank, an object of name and
    rank, or an object around one of these.
    """
    ranks: dict[str, int] = {}
    if isinstance(value, dict):
        inner = [first for one in value.values() if (first := first_of(one, sides)) is not None]
        if len(inner) == 1:
            return inner[0]
        ranks = {side: _rank(value.get(side)) for side in sides}
    elif isinstance(value, list) and len(value) == 2:
        if set(map(str, value)) == set(sides):
            return str(value[0])
        for entry in value:
            if not isinstance(entry, dict):
                return None
            both = [*entry.keys(), *entry.values()]
            names = [one for one in both if one in sides]
            places = [rank for one in both if (rank := _rank(one))]
            if len(names) == 1 and len(places) == 1:
                ranks[names[0]] = places[0]
    if sorted(ranks.get(side, 0) for side in sides) != [1, 2]:
        return None
    return min(sides, key=lambda side: ranks[side])


def _rank(value: Any) -> int:
    """Return a rank, 1 or 2; 0: it is none."""
    return int(float(value)) if str(value).strip() in ("1", "2", "1.0", "2.0") else 0


def entries(text: str) -> Iterator[tuple[int, bool | None, str]]:
    """Yield the points of a checklist's reply: number (the first is 1), met or not, quotation."""
    for place in values(text):
        for position, entry in enumerate(_entries(place.value), 1):
            number = str(entry.get("point", position))
            met = str(entry.get("met")).strip().casefold()
            decided = {"true": True, "yes": True, "false": False, "no": False}.get(met)
            yield int(number) if number.isdigit() else 0, decided, str(entry.get("quote") or "")


def _entries(value: Any) -> Sequence[Mapping[str, Any]]:
    if isinstance(value, dict):
        lists = [member for member in value.values() if isinstance(member, list)]
        return [value] if "met" in value else _entries(lists[0]) if len(lists) == 1 else []
    listed = value if isinstance(value, list) else []
    return [entry for entry in listed if isinstance(entry, dict) and "met" in entry]
