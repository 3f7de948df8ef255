"""AlpacaEval's outputs: an instruction and one model's output, found again by the instruction.

{"instruction": "...", "output": "...", "generator": "gpt4_1106_preview", "dataset": "helpful_base"}

instruction → question       dataset → category       output → answer by `generator`
input → joined to the instruction: "{instruction}\\n\\n{input}"
"""

from collections.abc import Mapping
from typing import Any

from harness.old.importing.items import FurtherAnswer, Item, label_of, optional_text, text_of

NAME = "alpaca_eval"


def item(value: Mapping[str, Any]) -> Item:
    """Return what a record of the first file becomes.

    Raises:
        BadRecordError: a field is missing or is not what it must be.
    """
    found = answer(value)
    return Item(
        category=label_of(value, "dataset", usual=NAME),
        turns=(found.key,),
        answers={found.model or "": found.text},
        key=found.key,
    )


def answer(value: Mapping[str, Any]) -> FurtherAnswer:
    """Return what a record of any further file is.

    Raises:
        BadRecordError: a field is missing or is not what it must be.
    """
    text, generator = text_of(value, "output", empty=True), label_of(value, "generator")
    return FurtherAnswer(instruction_of(value), text, generator or None)


def instruction_of(value: Mapping[str, Any]) -> str:
    """Return the instruction, and below it the input that a record may have, as AlpacaEval's README joins them."""
    given = optional_text(value, "input")
    return text_of(value, "instruction") + (f"\n\n{given}" if given.strip() else "")
