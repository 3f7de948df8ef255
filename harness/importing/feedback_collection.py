"""Feedback Collection: an instruction, one response, a rubric with five descriptions, a score with its feedback.

    orig_instruction → question          orig_criteria, orig_score1_description … → rubric
    orig_response → answer               orig_score → a vote to agree with; orig_feedback → that vote's text
    orig_reference_answer → reference    instruction (the judge's whole input, if kept) → context

Every record is a question of its own: its five siblings share an instruction but not a response. The field `group` is
equal for all records with the same instruction and rubric.
"""

from collections.abc import Mapping
from typing import Any

from harness.importing.items import BadRecordError, Item, optional_text, text_of
from harness.records import content_hash

NAME = "feedback_collection"
RESPONSE = "response"
"""The model under which the responses are filed; the collection does not say who wrote them."""
GRADES = range(1, 6)


def item(value: Mapping[str, Any]) -> Item:
    """Return what a record becomes.

    Raises:
        BadRecordError: a field is missing or is not what it must be.
    """
    question = text_of(value, "orig_instruction")
    rubric = rubric_of(value)
    score = _score(value.get("orig_score"))
    vote = {
        "judge": NAME,
        "model": RESPONSE,
        "turn": 1,
        "score": score,
        "judgment": optional_text(value, "orig_feedback"),
    }
    reference = optional_text(value, "orig_reference_answer")
    return Item(
        category=NAME,
        turns=(question,),
        reference=(reference,) if reference.strip() else (),
        answers={RESPONSE: text_of(value, "orig_response", empty=True)},
        votes=(vote,),
        extra={**rubric, "group": content_hash(question, rubric["rubric"])},
    )


def rubric_of(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a question that hold a record's rubric: whole, and in its parts."""
    criteria = text_of(value, "orig_criteria")
    descriptions = [text_of(value, f"orig_score{grade}_description") for grade in GRADES]
    lines = [f"Score {grade}: {text}" for grade, text in zip(GRADES, descriptions, strict=True)]
    return {
        "rubric": "\n".join([f"[{criteria}]", *lines]),
        "criteria": criteria,
        "score_descriptions": descriptions,
    }


def _score(value: Any) -> int:
    text = str(value).strip()
    if isinstance(value, bool) or text not in {str(grade) for grade in GRADES}:
        raise BadRecordError(f"orig_score must be a whole number from 1 to 5, this is {value!r}")
    return int(text)
