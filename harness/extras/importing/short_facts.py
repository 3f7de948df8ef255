"""Questions with one short true answer: SimpleQA, Chinese SimpleQA, HuSimpleQA and their like.

    {"question": "...", "answer": "...", "hu_specific_dim": "history"}

    question or problem → question      answer → reference      other texts and numbers are kept

SimpleQA keeps the topic and more in the field `metadata`, as an object or as Python writes one;
its texts and numbers become fields of the question.
"""

import ast
from collections.abc import Mapping
from typing import Any

from harness.extras.importing.items import Item, Source, other_fields, text_of


def short_facts(record: Mapping[str, Any], source: Source) -> Item:
    """Return the question and the true answer of a record."""
    fields = _metadata(record.get("metadata")) | dict(record)
    names = ("category", "primary_category", "hu_specific_dim", "topic")
    return Item(
        category=text_of(fields, *names, default="short_fact"),
        turns=[text_of(record, "question", "problem")],
        reference=[text_of(record, "answer")],
        extra=other_fields(fields, "question", "problem", "answer", "metadata"),
    )


def _metadata(value: Any) -> dict[str, Any]:
    """Return the texts and numbers of an object, or of its text in Python."""
    if isinstance(value, str):
        try:
            value = ast.literal_eval(value.strip())
        except (ValueError, SyntaxError):
            return {}
    return other_fields(value) if isinstance(value, dict) else {}
