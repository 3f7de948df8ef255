"""ColossalAI's chat evaluation: a target file, then a file of answers for each model.

{"category": "closed_qa", "instruction": "...", "input": "...", "output": "...",
 "target": "...", "id": 7}

instruction, a newline, input → question      target → reference; where that is empty, the
output of an answer file → answer             target file's output, which a model made
"""

from collections.abc import Mapping
from typing import Any

from harness.extras.importing.items import BadRecord, Item, Source, optional, short_repr, text_of


def colossalai(record: Mapping[str, Any], source: Source) -> Item:
    """Return the question of a record of the first file, or the answer of one of a further file."""
    number = record.get("id")
    if isinstance(number, bool) or not isinstance(number, int):
        raise BadRecord(f"id must be a whole number, this is {short_repr(number)}")
    if source.file > 0:
        answer = text_of(record, "output", empty=True)
        return Item(question_id=number, answers={source.model or source.stem: [answer]})
    instruction, more = text_of(record, "instruction"), optional(record, "input")
    target = optional(record, "target")
    return Item(
        question_id=number,
        category=text_of(record, "category"),
        # As its graders join them. (Its battles join by a space, its UniEval by nothing.)
        turns=[f"{instruction}\n{more}" if more else instruction],
        reference=[target or optional(record, "output")],
        reference_note=""
        if target
        else "made by a model: the record has no target, this is its output",
    )
