"""Benchmarks whose records are whole dialogues: MT-Bench-101, MultiChallenge, WildChat.

    MT-Bench-101     {"task": "CM", "id": 1, "history": [{"user": "...", "bot": "..."}, ...]}
                     users → turns, bots → reference
    MultiChallenge   {"QUESTION_ID": "...", "AXIS": "...", "CONVERSATION": [{"role": "user", ...}],
                     "TARGET_QUESTION": "...", "PASS_CRITERIA": "YES"}
                     users → turns, assistants → given replies, the question on the last → rubric
    WildChat         {"conversation_hash": "...", "conversation": [{"role": "user", ...}]}
                     users → turns, assistants → given replies but for the last

Every turn of MT-Bench-101 is written and judged; with `--history reference` each continues from
the record's own earlier replies, as published.
"""

from collections.abc import Mapping
from typing import Any

from harness.extras.importing.items import BadRecord, Item, Source, id_of, kept, text_of
from harness.extras.importing.messages import conversation, given_replies

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
    task, history = text_of(record, "task").strip(), record.get("history")
    if task not in TASKS:
        raise BadRecord(f"task must be one of {', '.join(TASKS)}, this is {task!r}")
    if not isinstance(history, list) or not all(isinstance(turn, dict) for turn in history):
        raise BadRecord("the field 'history' must be a list of turns")
    return Item(
        question_id=id_of(record, "id"),
        category=TASKS[task],
        turns=[text_of(turn, "user") for turn in history],
        reference=[text_of(turn, "bot") for turn in history],
        reference_note="MT-Bench-101's own replies",
        extra={"task": task},
    )


def multi_challenge(record: Mapping[str, Any], source: Source) -> Item:
    """Return the dialogue of a record; its rubric is the question that the last reply must pass."""
    turns, history = _given_dialogue(record, "CONVERSATION")
    verdict = text_of(record, "PASS_CRITERIA").strip().upper()
    if verdict not in {"YES", "NO"}:
        raise BadRecord(f"PASS_CRITERIA must be YES or NO, this is {verdict!r}")
    question = text_of(record, "TARGET_QUESTION").strip()
    rubric = f"{question}\nIt passes if the answer to this is {verdict}."
    own = kept(record, "QUESTION_ID", "AXIS", "TARGET_QUESTION", "PASS_CRITERIA")
    return Item(
        question_id=id_of(record, "QUESTION_ID"),
        category=text_of(record, "AXIS").strip().lower().replace(" ", "_").replace("-", "_"),
        turns=turns,
        extra={**own, **history, "rubric": rubric},
    )


def wildchat(record: Mapping[str, Any], source: Source) -> Item:
    """Return the dialogue of a record of WildChat, of which the model writes the last reply."""
    turns, history = _given_dialogue(record, "conversation")
    named = ("conversation_hash", "conversation_id", "turn", "model", "timestamp")
    return Item(
        question_id=id_of(record, "conversation_hash", "conversation_id"),
        category="chat",
        turns=turns,
        extra=kept(record, *named) | history,
    )


def _given_dialogue(
    record: Mapping[str, Any], name: str
) -> tuple[list[str], dict[str, list[str | None]]]:
    """Return the user's turns, and the replies to all but the last of them as `history`."""
    _, turns, replies = conversation(record.get(name), name)
    return turns, given_replies(replies[: len(turns) - 1])
