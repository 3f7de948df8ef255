"""Preference Collection: an instruction, two responses, a criterion, and which response is better.

orig_instruction → question               orig_criteria → rubric (its first line is all that comparing uses)
orig_response_A, orig_response_B → answers by `response_a` and `response_b`
orig_preference ("A", "B") → a vote       orig_feedback → that vote's text
"""

from collections.abc import Mapping
from typing import Any

from harness.importing.items import BadRecordError, Item, optional_text, text_of

NAME = "preference_collection"
RESPONSES = ("response_a", "response_b")
_WINNERS = {"A": "model_a", "B": "model_b"}


def item(value: Mapping[str, Any]) -> Item:
    """Return what a record becomes.

    Raises:
        BadRecordError: a field is missing or is not what it must be.
    """
    preference = str(value.get("orig_preference", "")).strip()
    if preference not in _WINNERS:
        raise BadRecordError(f"orig_preference must be A or B, this is {value.get('orig_preference')!r}")
    criteria = text_of(value, "orig_criteria")
    vote = {
        "model_a": RESPONSES[0],
        "model_b": RESPONSES[1],
        "winner": _WINNERS[preference],
        "judge": NAME,
        "turn": 1,
        "judgment": optional_text(value, "orig_feedback"),
    }
    reference = optional_text(value, "orig_reference_answer")
    texts = [text_of(value, f"orig_response_{side}", empty=True) for side in ("A", "B")]
    return Item(
        category=NAME,
        turns=(text_of(value, "orig_instruction"),),
        reference=(reference,) if reference.strip() else (),
        answers=dict(zip(RESPONSES, texts, strict=True)),
        votes=(vote,),
        extra={"rubric": f"[{criteria}]", "criteria": criteria},
    )
