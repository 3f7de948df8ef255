"""JSON values and table cells that stand somewhere in a text."""

import functools
import json
import re
from typing import Any

from harness.chat.builtin.tokens import code_blocks


@functools.lru_cache(maxsize=2048)
def json_value(text: str) -> Any:
    """Return the first JSON array or object of a text, in a fenced block or bare, or None.

    The value may be shared between callers: read it, do not change it.
    """
    for block in (*code_blocks(text), text):
        start = re.search(r"[\[{]", block)
        if start is None:
            continue
        try:
            value, _ = json.JSONDecoder().raw_decode(block[start.start() :])
        except (ValueError, RecursionError):
            continue
        return value
    return None


def json_keys(value: Any) -> frozenset[str]:
    """Return every key of a JSON value, those of inner objects included."""
    found: set[str] = set()
    waiting = [value]
    while waiting:
        current = waiting.pop()
        if isinstance(current, dict):
            found.update(current)
            waiting.extend(current.values())
        elif isinstance(current, list):
            waiting.extend(current)
    return frozenset(found)


def rows(text: str) -> tuple[tuple[str, ...], ...]:
    """Return the rows of a Markdown table, the header first, without the line of dashes."""
    found: list[tuple[str, ...]] = []
    for line in text.splitlines():
        bare = line.strip()
        if bare.count("|") < 2 or re.fullmatch(r"[|\s:-]+", bare):
            continue
        found.append(tuple(cell.strip() for cell in bare.strip("|").split("|")))
    return tuple(found)


def cells(text: str) -> tuple[str, ...]:
    """Return the cells of a Markdown table below its header."""
    return tuple(cell for row in rows(text)[1:] for cell in row)
