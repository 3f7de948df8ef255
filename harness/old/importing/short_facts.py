"""Questions with one short true answer: SimpleQA, Chinese SimpleQA, HuSimpleQA and files of their shape.

    {"question": "...", "answer": "...", "hu_specific_dim": "history"}

    question or problem → question       answer → reference       every other field is kept and can be grouped by

SimpleQA keeps the topic and more in one field, `metadata`, an object or the text of one: what is a text or a number in
there becomes a field of the question as well. The category is the first of the fields `category`, `primary_category`,
`hu_specific_dim`, `topic` that is a text, else `short_fact`.
"""

import ast
import json
from collections.abc import Mapping
from typing import Any

from harness.old.importing.items import Item, text_of

_CATEGORIES = ("category", "primary_category", "hu_specific_dim", "topic")
_OWN = {"question", "problem", "answer", "category", "question_id", "turns", "reference"}
"""Fields that are not kept under their names: they are read, or mean something else in a question file."""
_LONGEST_METADATA = 20_000


def item(value: Mapping[str, Any]) -> Item:
    """Return what a record becomes.

    Raises:
        BadRecordError: a field is missing or is not what it must be.
    """
    known = _metadata(value.get("metadata")) | dict(value)
    texts = (known.get(name) for name in _CATEGORIES)
    category = next((text for text in texts if isinstance(text, str) and text.strip()), "short_fact")
    return Item(
        category=category,
        turns=(text_of(value, "question", "problem"),),
        reference=(text_of(value, "answer"),),
        extra={name: found for name, found in known.items() if name not in _OWN},
    )


def _metadata(held: Any) -> dict[str, Any]:
    """Return the texts and numbers of an object, or of the text of one as JSON or as Python writes it."""
    if isinstance(held, str) and held.lstrip().startswith("{") and len(held) <= _LONGEST_METADATA:
        for read in (json.loads, ast.literal_eval):
            try:
                held = read(held.strip())
                break
            except (ValueError, SyntaxError, RecursionError, MemoryError):
                continue
    if not isinstance(held, dict):
        return {}
    return {str(name): found for name, found in held.items() if isinstance(found, str | int | float) and name}
