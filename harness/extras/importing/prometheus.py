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

from harness.extras.importing.items import (
    BadRecord,
    Item,
    Source,
    only_turn,
    optional,
    shown,
    text_of,
)
from harness.types import Judgment, Vote, content_hash

GRADES = range(1, 6)
FEEDBACK, PREFERENCE = "feedback_collection", "preference_collection"


def feedback_collection(record: Mapping[str, Any], source: Source) -> Item:
    """Return the question, response and grade of a record of the Feedback Collection."""
    question, criteria = text_of(record, "orig_instruction"), text_of(record, "orig_criteria")
    descriptions = [text_of(record, f"orig_score{grade}_description") for grade in GRADES]
    lines = [f"Score {grade}: {text}" for grade, text in zip(GRADES, descriptions, strict=True)]
    rubric = "\n".join([f"[{criteria}]", *lines])
    score = str(record.get("orig_score")).strip()
    if score not in map(str, GRADES):
        given = shown(record.get("orig_score"))
        raise BadRecord(f"orig_score must be a whole number from 1 to 5, this is {given}")
    vote = Judgment(
        question_id=0,
        model="response",
        judge=FEEDBACK,
        judgment=optional(record, "orig_feedback"),
        score=int(score),
        turn=1,
    )
    extra = {"rubric": rubric, "criteria": criteria, "score_descriptions": descriptions}
    return Item(
        category=FEEDBACK,
        turns=[question],
        reference=only_turn(optional(record, "orig_reference_answer")),
        answers={"response": [text_of(record, "orig_response", empty=True)]},
        votes=[vote],
        extra=extra | {"group": content_hash(question, rubric)} | _context(record, source),
    )


def preference_collection(record: Mapping[str, Any], source: Source) -> Item:
    """Return the question, both responses and the preference of a record."""
    winner = {"A": "model_a", "B": "model_b"}.get(str(record.get("orig_preference")).strip())
    if winner is None:
        raise BadRecord(
            f"orig_preference must be A or B, this is {shown(record.get('orig_preference'))}"
        )
    criteria = text_of(record, "orig_criteria")
    vote = Vote(
        question_id=0,
        model_a="response_a",
        model_b="response_b",
        winner=winner,
        judge=PREFERENCE,
        turn=1,
        judgment=optional(record, "orig_feedback"),
    )
    return Item(
        category=PREFERENCE,
        turns=[text_of(record, "orig_instruction")],
        reference=only_turn(optional(record, "orig_reference_answer")),
        answers={
            f"response_{side.lower()}": [text_of(record, f"orig_response_{side}", empty=True)]
            for side in "AB"
        },
        votes=[vote],
        extra={"rubric": f"[{criteria}]", "criteria": criteria} | _context(record, source),
    )


def _context(record: Mapping[str, Any], source: Source) -> dict[str, str]:
    given = optional(record, "instruction")
    return {"context": given} if source.keep_input and given else {}
