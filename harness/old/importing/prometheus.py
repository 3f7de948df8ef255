"""Prometheus's Feedback Collection and Preference Collection: an instruction, one response or two, and a verdict.

    orig_instruction → question          orig_criteria, orig_score1_description … → rubric
    orig_reference_answer → reference    instruction (the judge's whole input, if kept) → context
    orig_response → answer               orig_score → a vote to agree with
    orig_response_A, orig_response_B → answers by `response_a` and `response_b`      orig_preference ("A", "B") → a vote
    orig_feedback → the vote's text

Every graded record is a separate question: its five siblings share an instruction but not a response. The field
`group` is equal for all records with the same instruction and rubric. Comparisons use only the first line of a rubric.
"""

from collections.abc import Mapping
from typing import Any

from harness.old.importing.items import BadRecordError, Item, optional_text, text_of, turns_of
from harness.old.records import content_hash

GRADES = range(1, 6)


def graded(value: Mapping[str, Any]) -> Item:
    """Return what a record of the Feedback Collection becomes.

    Raises:
        BadRecordError: a field is missing or is not what it must be.
    """
    question, criteria = text_of(value, "orig_instruction"), text_of(value, "orig_criteria")
    descriptions = [text_of(value, f"orig_score{grade}_description") for grade in GRADES]
    lines = [f"Score {grade}: {text}" for grade, text in zip(GRADES, descriptions, strict=True)]
    rubric = "\n".join([f"[{criteria}]", *lines])
    score = value.get("orig_score")
    if isinstance(score, bool) or str(score).strip() not in map(str, GRADES):
        raise BadRecordError(f"orig_score must be a whole number from 1 to 5, this is {score!r}")
    vote = {"judge": "feedback_collection", "model": "response", "turn": 1, "score": int(str(score).strip())}
    answers = {"response": text_of(value, "orig_response", empty=True)}  # the collection does not say who wrote it
    group = content_hash(question, rubric)
    extra = {"rubric": rubric, "criteria": criteria, "score_descriptions": descriptions, "group": group}
    return _item(value, question, answers, vote, extra)


def compared(value: Mapping[str, Any]) -> Item:
    """Return what a record of the Preference Collection becomes; raises as `graded` does."""
    winner = {"A": "model_a", "B": "model_b"}.get(str(value.get("orig_preference", "")).strip())
    if winner is None:
        raise BadRecordError(f"orig_preference must be A or B, this is {value.get('orig_preference')!r}")
    criteria = text_of(value, "orig_criteria")
    answers = {f"response_{side.lower()}": text_of(value, f"orig_response_{side}", empty=True) for side in "AB"}
    sides = {"model_a": "response_a", "model_b": "response_b"}
    vote = {**sides, "winner": winner, "judge": "preference_collection", "turn": 1}
    extra = {"rubric": f"[{criteria}]", "criteria": criteria}
    return _item(value, text_of(value, "orig_instruction"), answers, vote, extra)


def _item(
    value: Mapping[str, Any],
    question: str,
    answers: Mapping[str, str],
    vote: Mapping[str, Any],
    extra: Mapping[str, Any],
) -> Item:
    return Item(
        category=vote["judge"],
        turns=(question,),
        reference=turns_of(optional_text(value, "orig_reference_answer")),
        answers=answers,
        votes=({**vote, "judgment": optional_text(value, "orig_feedback")},),
        extra=extra,
    )
