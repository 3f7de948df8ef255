"""JSON inside a judge's text, whoever wrote its commas.

{"ordered_models": [{"model": "m", "rank": 1}, {"model": "M", "rank": 2}]}     a ranking
{'clarity': 7, 'overall': '6/10',}                                             dimensions
{"points": [{"point": 1, "met": true, "quote": "by 1687"}]}                    a checklist
"""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

_OPENING = re.compile(r"\{(?=\s{0,40}[\"'“\w])|\[(?=\s{0,40}[\"'“{\[])")
_BRACKET = re.compile(r"[{}\[\]]")
_LONGEST = 20_000
_MOST_FAILURES = 100


class Object(NamedTuple):
    """An object, and where it or the value that contains it stands in a text."""

    members: dict[Any, Any]
    start: int
    end: int


def objects(text: str) -> list[Object]:
    """Return the objects of a text in order, each before those inside it.

    Python's quotes, bare words and a comma too many are let pass, as YAML reads them (every value
    is a text then).
    """
    result: list[Object] = []
    position = failures = 0
    for opening in _OPENING.finditer(text):
        start = opening.start()
        if start < position or failures > _MOST_FAILURES:
            continue
        try:
            value, end = json.JSONDecoder(strict=False).raw_decode(text, start)
        except (ValueError, RecursionError):
            end = _closing(text, start)
            try:
                value = _by_yaml(text[start:end])
            except (RecursionError, ValueError):
                failures += 1
                continue
        position = end
        result += [Object(members, start, end) for members in _inside(value)]
    return result


def _by_yaml(text: str) -> Any:
    """Return what YAML reads: texts, lists and dictionaries; ValueError: it is none."""
    import yaml

    try:
        return yaml.load(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error


def _closing(text: str, start: int) -> int:
    depth = 0
    for bracket in _BRACKET.finditer(text, start, start + _LONGEST):
        depth += 1 if bracket[0] in "{[" else -1
        if not depth:
            return bracket.end()
    return start + 1


def _inside(value: Any) -> Iterator[dict[Any, Any]]:
    if isinstance(value, dict):
        yield value
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _inside(inner)


def folded(name: Any) -> str:
    """Return a name as it is compared: no case, no marks, `_` for spaces and hyphens."""
    return re.sub(r"[\s_-]+", "_", str(name).strip(" \t\n`'\"“”.!。[]<>(){}").casefold())
