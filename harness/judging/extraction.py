"""The answer inside a reply in JSON, and the model's stated confidence.

    '{"answer": "1666", "confidence": 90}'                 "1666", 0.9
    "I think {'answer': 'Óbuda', 'confidence': '75%'}"     "Óbuda", 0.75
    "It was 1666."                                         "It was 1666.", none stated

`bench.toml` names the two fields. If no object has the field, or several have different answers,
the whole text is the answer.
"""

import json
import re
from typing import Any, NamedTuple

from harness.judging.objects import folded, objects
from harness.reasoning import split_reasoning

_NUMBER = re.compile(
    r"(?P<n>\d{1,3}(?:[.,]\d{1,6})?)\s*(?P<of>%|(?:/|out of)\s*(?P<full>100?(?:[.,]0+)?))?"
)


class Extracted(NamedTuple):
    """The part of a reply that a judge is shown, and the confidence stated in it."""

    answer: str
    confidence: float | None = None
    """From 0 to 1."""


def extract(text: str, answer_field: str, confidence_field: str | None = None) -> Extracted:
    """Return the answer in a field of a reply's JSON object, and the confidence in another."""
    answers: set[str] = set()
    stated: set[float | None] = set()
    for place in objects(split_reasoning(text, cut=True).text):
        members = {folded(name): value for name, value in place.members.items()}
        if folded(answer_field) in members:
            answers.add(_text(members[folded(answer_field)]))
            if folded(confidence_field or "") in members:
                stated.add(confidence_of(members[folded(confidence_field or "")]))
    if len(answers) != 1:
        return Extracted(text)
    return Extracted(answers.pop(), stated.pop() if len(stated) == 1 else None)


def confidence_of(value: Any) -> float | None:
    """Return a stated confidence as a share of 1; None where it is none.

    With a decimal point and no percent sign it is a fraction of 1 (0.9, 1.0), else a percentage.
    """
    match = None if isinstance(value, bool) else _NUMBER.fullmatch(str(value).strip(" ~≈"))
    if match is None:
        return None
    number = float(match["n"].replace(",", "."))
    if match["full"]:
        number /= float(match["full"].replace(",", "."))
    elif match["of"] or number > 1 or not re.search(r"[.,]", match["n"]):
        number /= 100
    return number if 0 <= number <= 1 else None


def _text(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return ", ".join(value)
    if isinstance(value, str):
        return value.strip()
    return "" if value is None else json.dumps(value, ensure_ascii=False)
