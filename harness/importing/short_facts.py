"""Questions with one short true answer: SimpleQA, Chinese SimpleQA, HuSimpleQA and files of their shape.

    {"question": "...", "answer": "...", "hu_specific_dim": "history"}

    question or problem → question       answer → reference       every other field is kept and can be grouped by

The category is the first of the fields `category`, `primary_category`, `hu_specific_dim`, `topic` that is a text, else
`short_fact`.
"""

from collections.abc import Mapping
from typing import Any

from harness.importing.items import Item, text_of

NAME = "short_facts"
_CATEGORIES = ("category", "primary_category", "hu_specific_dim", "topic")
_OWN = {"question", "problem", "answer", "category", "question_id", "turns", "reference"}
"""Fields that are not kept under their names: they are read, or mean something else in a question file."""


def item(value: Mapping[str, Any]) -> Item:
    """Return what a record becomes.

    Raises:
        BadRecordError: a field is missing or is not what it must be.
    """
    texts = (value.get(name) for name in _CATEGORIES)
    category = next((text for text in texts if isinstance(text, str) and text.strip()), "short_fact")
    return Item(
        category=category,
        turns=(text_of(value, "question", "problem"),),
        reference=(text_of(value, "answer"),),
        extra={name: found for name, found in value.items() if name not in _OWN},
    )
