"""ColossalAI's chat evaluation: a target file, then a file of answers for each model.

{"category": "closed_qa", "instruction": "...", "input": "...", "output": "...",
 "target": "...", "id": 7}

instruction, a newline, input → question      target → reference; where that is empty, the
output of an answer file → answer             target file's output, which a model made
"""

from collections.abc import Mapping
from typing import Any

from harness.extras.importing.items import Item, Source, id_of, text_of


def colossalai(record: Mapping[str, Any], source: Source) -> Item:
    """Return the question of a record of the first file, or the answer of one of a further file."""
    question_id = id_of(record, "id")
    if source.file > 0:
        answer = text_of(record, "output", empty=True)
        return Item(question_id=question_id, answers={source.model or source.stem: [answer]})
    instruction, more = text_of(record, "instruction"), text_of(record, "input", default="")
    target = text_of(record, "target", default="")
    return Item(
        question_id=question_id,
        category=text_of(record, "category"),
        # As its graders join them. (Its battles join by a space, its UniEval by nothing.)
        turns=[f"{instruction}\n{more}" if more else instruction],
        reference=[target or text_of(record, "output", default="")],
        reference_note=""
        if target
        else "made by a model: the record has no target, this is its output",
    )
