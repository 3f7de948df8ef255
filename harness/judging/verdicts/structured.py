"""A verdict in a reply that follows its form's JSON schema: the member that the schema makes the verdict.

    {"type": "object", "properties": {"explanation": {"type": "string"}, "score": {"type": "integer"}}}
    {"explanation": "...", "score": 4}        -> Score(4)

For a grade it is the schema's only number, for a comparison the only text out of an `enum` (the names of the sides, A,
B, C, tie), two numbers, or a ranking; labels and dimensions are found by their own names.
"""

import json
from collections.abc import Mapping
from typing import Any

from harness.judging.forms import VerdictForm
from harness.judging.verdicts.brackets import Fault, folded, read_winner
from harness.judging.verdicts.labels import read_label
from harness.judging.verdicts.ranking import read_ranking, won_by
from harness.judging.verdicts.several import read_dimensions, read_pair_of_scores, score_of
from harness.judgments.judgment import Parsed, Score, Winner
from harness.records import Side


def read_structured(text: str, form: VerdictForm) -> Parsed:
    """Return the verdict of a reply that was held to the form's schema."""
    try:
        value = json.loads(text, parse_constant=str)
    except (ValueError, RecursionError):
        return Parsed(None, "the reply is not the object that its schema asks for")
    if not isinstance(value, dict):
        return Parsed(None, "the reply is not the object that its schema asks for")
    if form.kind == "dimensions":
        return read_dimensions(text, form.dimensions, form.scale)
    if form.kind == "label":
        names = verdict_members(form.schema or {}, {"enum"})
        return read_label(text, form.labels, names[0] if len(names) == 1 else None)
    return _grade(value, form) if form.kind == "grade" else _comparison(text, value, form)


def verdict_members(schema: Mapping[str, Any], types: set[str]) -> list[str]:
    """Return the names of the schema's properties that are of one of these types (`enum` for a closed set of texts)."""
    properties = schema.get("properties")
    members: list[str] = []
    for name, schema in properties.items() if isinstance(properties, Mapping) else ():
        if isinstance(schema, Mapping) and ("enum" if _is_choice(schema) else _type(schema)) in types:
            members.append(name)
    return members


def _is_choice(schema: Mapping[str, Any]) -> bool:
    choices = schema.get("enum")
    return isinstance(choices, list) and all(isinstance(choice, str) for choice in choices)


def _type(schema: Mapping[str, Any]) -> str:
    choices = schema.get("enum")
    if isinstance(choices, list) and choices:
        return "number"
    return str(schema.get("type"))


def _grade(value: Mapping[str, Any], form: VerdictForm) -> Parsed:
    names = [name for name in verdict_members(form.schema or {}, {"integer", "number"}) if name in value]
    if len(names) != 1:
        return Parsed(None, "the object does not hold one number as its schema has it")
    score = score_of(value[names[0]], form.scale)
    if isinstance(score, Fault):
        return Parsed(None, f"{names[0]}: {score.reason}")
    return Parsed(Score(score), f"the member {names[0]}")


def _comparison(text: str, value: Mapping[str, Any], form: VerdictForm) -> Parsed:
    names = [name for name in verdict_members(form.schema or {}, {"enum"}) if name in value]
    if len(names) != 1:
        ranked = read_ranking(text, form.sides)
        return ranked if ranked.verdict is not None else read_pair_of_scores(text, form.scale, form.sides)
    given = str(value[names[0]]).strip()
    if given in form.sides:
        side: Side = "A" if given == form.sides[0] else "B"
        graded = form.format in ("ranking", "preference", "patterns")
        return Parsed(won_by(side) if graded else Winner(side), f"the member {names[0]}")
    reading = read_winner(folded(given), form.scale)
    if isinstance(reading, Winner):
        return Parsed(reading, f"the member {names[0]}")
    return Parsed(None, f"{names[0]} says {given[:40]!r}, which is no side")
