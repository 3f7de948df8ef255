"""MT-Bench-101: dialogues by thirteen tasks.

    {"task": "CM", "id": 1, "history": [{"user": "...", "bot": "..."}, ...]}
    users → turns, bots → reference

Every turn is written and judged; with `--history reference` each continues from the record's own
earlier replies, as published.
"""

from collections.abc import Mapping
from typing import Any

from harness.extras.importing.items import Item, Source, id_of, text_of

TASKS: Mapping[str, str] = {
    "CM": "context_memory",
    "AR": "anaphora_resolution",
    "SI": "separate_input",
    "TS": "topic_shift",
    "CC": "content_confusion",
    "CR": "content_rephrasing",
    "FR": "format_rephrasing",
    "SC": "self_correction",
    "SA": "self_affirmation",
    "MR": "mathematical_reasoning",
    "GR": "general_reasoning",
    "IC": "instruction_clarification",
    "PI": "proactive_interaction",
}
"""MT-Bench-101's thirteen tasks, as categories."""


def mt_bench_101(record: Mapping[str, Any], source: Source) -> Item:
    """Return the dialogue of a record of MT-Bench-101, with its replies as the reference."""
    task, history = text_of(record, "task").strip(), record["history"]
    return Item(
        question_id=id_of(record, "id"),
        category=TASKS[task],
        turns=[text_of(turn, "user") for turn in history],
        reference=[text_of(turn, "bot") for turn in history],
        reference_note="MT-Bench-101's own replies",
        extra={"task": task},
    )
