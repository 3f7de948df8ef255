"""ColossalAI's chat evaluation: a target file, then one answer file for each model, matched by category and id.

{"category": "closed_qa", "instruction": "...", "input": "...", "output": "...", "target": "...", "id": 7}

instruction, a newline, input → question       target file: target → reference; where it is empty, output is the
answer file: output → answer                   reference, and its row says that a model made it
"""

from collections.abc import Mapping
from typing import Any

from harness.old.importing.items import BadRecordError, FurtherAnswer, Item, optional_text, text_of, turns_of

MADE_BY_MODEL = "made by a model: the record has no target, this is its output"


def item(value: Mapping[str, Any]) -> Item:
    """Return what a record of the target file becomes.

    Raises:
        BadRecordError: a field is missing or is not what it must be.
    """
    category, number = _place(value)
    instruction, more = text_of(value, "instruction"), optional_text(value, "input")
    target, output = optional_text(value, "target"), optional_text(value, "output")
    made = bool(output.strip()) and not target.strip()
    return Item(
        category=category,
        turns=(f"{instruction}\n{more}" if more.strip() else instruction,),
        reference=turns_of(target) or turns_of(output),
        reference_note=MADE_BY_MODEL if made else None,
        question_id=number,
        key=f"{category} {number}",
    )


def answer(value: Mapping[str, Any]) -> FurtherAnswer:
    """Return what a record of an answer file is.

    Raises:
        BadRecordError: a field is missing or is not what it must be.
    """
    category, number = _place(value)
    return FurtherAnswer(f"{category} {number}", text_of(value, "output", empty=True))


def _place(value: Mapping[str, Any]) -> tuple[str, int]:
    number = value.get("id")
    if isinstance(number, bool) or not isinstance(number, int):
        raise BadRecordError(f"id must be a whole number, this is {number!r}")
    return text_of(value, "category"), number
