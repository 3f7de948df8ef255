"""Prometheus's Feedback Collection and Preference Collection: a response or two, and a verdict.

    orig_instruction → question          orig_criteria, orig_score1_description … → rubric
    orig_reference_answer → reference    instruction (the judge's whole input) → context, if kept
    orig_response → answer               orig_score → a vote
    orig_response_A, orig_response_B → two answers         orig_preference (A or B) → a vote

Each record is a question of its own: the five records of one instruction differ in the response.
`group` is equal for records with the same instruction and rubric. A comparison is by the first
line of a rubric alone.
"""

from collections.abc import Mapping
from typing import Any

from harness.extras.importing.items import BadRecord, Item, Source, text_of
from harness.types import Judgment, Vote, content_hash

GRADES = range(1, 6)


def feedback_collection(record: Mapping[str, Any], source: Source) -> Item:
    """Return the question, response and grade of a record of the Feedback Collection."""
    criteria = text_of(record, "orig_criteria")
    descriptions = [text_of(record, f"orig_score{grade}_description") for grade in GRADES]
    lines = [f"Score {grade}: {text}" for grade, text in zip(GRADES, descriptions, strict=True)]
    rubric = "\n".join([f"[{criteria}]", *lines])
    score = str(record.get("orig_score")).strip()
    if score not in map(str, GRADES):
        raise BadRecord("orig_score must be a whole number from 1 to 5")
    item = _item(record, source, {"response": "orig_response"})
    group = content_hash(item.turns[0], rubric)
    item.extra |= {"rubric": rubric, "score_descriptions": descriptions, "group": group}
    item.votes = [
        Judgment(
            question_id=0,
            model="response",
            judge="feedback_collection",
            judgment=text_of(record, "orig_feedback", default=""),
            score=int(score),
            turn=1,
        )
    ]
    return item


def preference_collection(record: Mapping[str, Any], source: Source) -> Item:
    """Return the question, both responses and the preference of a record."""
    winner = {"A": "model_a", "B": "model_b"}.get(str(record.get("orig_preference")).strip())
    if winner is None:
        raise BadRecord("orig_preference must be A or B")
    item = _item(record, source, {"response_a": "orig_response_A", "response_b": "orig_response_B"})
    item.votes = [
        Vote(
            question_id=0,
            model_a="response_a",
            model_b="response_b",
            winner=winner,
            judge="preference_collection",
            turn=1,
            judgment=text_of(record, "orig_feedback", default=""),
        )
    ]
    return item


def _item(record: Mapping[str, Any], source: Source, responses: Mapping[str, str]) -> Item:
    """Return what both have: question, criteria, reference, and the responses of these fields."""
    criteria = text_of(record, "orig_criteria")
    judge_input = text_of(record, "instruction", default="")
    context = {"context": judge_input} if source.keep_input and judge_input else {}
    return Item(
        category="feedback_collection" if len(responses) == 1 else "preference_collection",
        turns=[text_of(record, "orig_instruction")],
        reference=[text_of(record, "orig_reference_answer", default="")],
        answers={name: [text_of(record, key, empty=True)] for name, key in responses.items()},
        extra={"rubric": f"[{criteria}]", "criteria": criteria, **context},
    )
