"""Benchmarks whose records are whole dialogues: which turns the model writes, and which are supplied.

    MT-Bench-101     {"task": "CM", "id": 1, "history": [{"user": "...", "bot": "..."}, ...]}
                     users → turns     bots → reference     of six tasks the first bot → supplied, as it is not judged
    MultiChallenge   {"QUESTION_ID": "...", "AXIS": "...", "CONVERSATION": [{"role": "user", "content": "..."}, ...],
                     "TARGET_QUESTION": "...", "PASS_CRITERIA": "YES"}
                     users → turns     assistants → supplied, all but the last reply  the question on it → rubric
    WildChat         {"conversation_hash": "...", "model": "...", "language": "English", "toxic": false,
                     "conversation": [{"role": "user", "content": "..."}, {"role": "assistant", "content": "..."}]}
                     users → turns     assistants → supplied, all but the last reply

A record's further fields with texts, numbers or booleans are kept, and can be grouped by.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from harness.old.importing.items import BadRecordError, Item, id_of, text_of

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
_FIRST_GIVEN = frozenset({"FR", "CR", "AR", "SA", "SC", "CM"})
"""Tasks whose first reply only prepares the second turn; it is kept and not judged."""


def mt_bench_101(value: Mapping[str, Any]) -> Item:
    """Return what a record of MT-Bench-101 becomes.

    Raises:
        BadRecordError: a field is missing or is not what it must be.
    """
    task = text_of(value, "task").strip()
    if task not in TASKS:
        raise BadRecordError(f"task must be one of {', '.join(TASKS)}, this is {task!r}")
    dialogue = _list(value, "history")
    users = tuple(text_of(turn, "user") for turn in dialogue)
    bots = tuple(text_of(turn, "bot") for turn in dialogue)
    given = task in _FIRST_GIVEN and len(users) > 1
    return Item(
        category=TASKS[task],
        turns=users,
        reference=bots,
        reference_note="MT-Bench-101's own replies",
        extra={"task": task, **({"history": [bots[0], *[None] * (len(bots) - 1)]} if given else {})},
        question_id=id_of(value, "id"),
    )


def multi_challenge(value: Mapping[str, Any]) -> Item:
    """Return what a record of MultiChallenge becomes; raises as `mt_bench_101` does."""
    turns, history = _given_dialogue(value, "CONVERSATION")
    asked, wanted = text_of(value, "TARGET_QUESTION"), text_of(value, "PASS_CRITERIA").strip().upper()
    if wanted not in {"YES", "NO"}:
        raise BadRecordError(f"PASS_CRITERIA must be YES or NO, this is {wanted!r}")
    return Item(
        category=text_of(value, "AXIS").strip().lower().replace(" ", "_").replace("-", "_"),
        turns=turns,
        extra={
            **_plain(value, "QUESTION_ID", "AXIS", "TARGET_QUESTION", "PASS_CRITERIA"),
            **history,
            "rubric": f"{asked.strip()}\nIt passes if the answer to this is {wanted}.",
        },
        question_id=id_of(value, "QUESTION_ID"),
    )


def wildchat(value: Mapping[str, Any]) -> Item:
    """Return what a record of WildChat becomes; raises as `mt_bench_101` does."""
    turns, history = _given_dialogue(value, "conversation")
    return Item(
        category="chat",
        turns=turns,
        extra={**_plain(value, "conversation_hash", "conversation_id", "turn", "model", "timestamp"), **history},
        question_id=id_of(value, "conversation_hash", "conversation_id"),
    )


def _given_dialogue(value: Mapping[str, Any], name: str) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Return the user's turns, and the supplied replies as `history`: all but the last, which the model writes."""
    messages = _list(value, name)
    if messages and messages[-1].get("role") == "assistant":
        messages = messages[:-1]
    roles = [message.get("role") for message in messages]
    if not messages or roles != ["user", "assistant"] * (len(messages) // 2) + ["user"]:
        raise BadRecordError(f"{name} must begin with the user, alternate, and end with the user or one reply")
    said = [text_of(message, "content") for message in messages]
    history = [*said[1::2], None]
    return tuple(said[::2]), {"history": history} if len(history) > 1 else {}


def _list(value: Mapping[str, Any], name: str) -> Sequence[Mapping[str, Any]]:
    found = value.get(name)
    if not isinstance(found, list) or not found or not all(isinstance(one, dict) for one in found):
        raise BadRecordError(f"the field {name!r} must be a list of turns")
    return found


def _plain(value: Mapping[str, Any], *without: str) -> dict[str, Any]:
    """Return the fields that tables can be grouped by; none of ours has its meaning changed."""
    own = {"question_id", "category", "turns", "reference", "history", "checks", "note", "rubric", "user", *without}
    return {name: held for name, held in value.items() if isinstance(held, str | int | float) and name not in own}
