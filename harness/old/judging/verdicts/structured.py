"""A verdict in a reply that follows its form's JSON schema: the member that the schema makes the verdict.

    {"type": "object", "properties": {"explanation": {"type": "string"}, "score": {"type": "integer"}}}
    {"explanation": "...", "score": 4}        -> Score(4)

For a grade it is the schema's only number, for a comparison the only text out of an `enum` (the names of the sides, A,
B, C, tie), two numbers, or a ranking; labels and dimensions are found by their own names.
"""

import json
from collections.abc import Mapping
from typing import Any

from harness.old.judging.forms import VerdictForm
from harness.old.judging.verdicts.brackets import Fault, folded, read_winner
from harness.old.judging.verdicts.labels import read_label
from harness.old.judging.verdicts.ranking import read_ranking, won_by
from harness.old.judging.verdicts.several import read_dimensions, read_pair_of_scores, score_of
from harness.old.judgments.judgment import Parsed, Score, Winner


def read_structured(text: str, form: VerdictForm) -> Parsed:
    """Return the verdict of a reply that was held to the form's schema."""
    try:
        value = json.loads(text, parse_constant=str)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        return Parsed(None, "the reply is not the object that its schema asks for")
    if form.kind == "dimensions":
        return read_dimensions(text, form)
    names = _verdict_members(form.schema or {}, {"integer", "number"} if form.kind == "grade" else {"enum"})
    if form.kind == "label":
        return read_label(text, form, names[0] if len(names) == 1 else None)
    given = [name for name in names if name in value]
    if len(given) == 1:
        return (_grade if form.kind == "grade" else _winner)(given[0], value[given[0]], form)
    if form.kind == "grade":
        return Parsed(None, "the object does not hold one number as its schema has it")
    ranked = read_ranking(text, form)
    return ranked if ranked.verdict is not None else read_pair_of_scores(text, form)


def _verdict_members(schema: Mapping[str, Any], types: set[str]) -> list[str]:
    """Return the names of the schema's properties that are of one of these types (`enum` for a closed set of texts)."""
    properties = schema.get("properties")
    members = properties.items() if isinstance(properties, Mapping) else ()
    return [name for name, member in members if isinstance(member, Mapping) and _type(member) in types]


def _type(schema: Mapping[str, Any]) -> str:
    choices = schema.get("enum")
    if isinstance(choices, list) and choices:
        return "enum" if all(isinstance(choice, str) for choice in choices) else "number"
    return str(schema.get("type"))


def _grade(name: str, value: Any, form: VerdictForm) -> Parsed:
    score = score_of(value, form.scale)
    if isinstance(score, Fault):
        return Parsed(None, f"{name}: {score.reason}")
    return Parsed(Score(score), f"the member {name}")


def _winner(name: str, value: Any, form: VerdictForm) -> Parsed:
    given = str(value).strip()
    if given in form.sides:
        won = won_by(given, form.sides)
        graded = form.format in ("ranking", "preference", "patterns")
        return Parsed(won if graded else Winner(won.side), f"the member {name}")
    reading = read_winner(folded(given), form.scale)
    if isinstance(reading, Winner):
        return Parsed(reading, f"the member {name}")
    return Parsed(None, f"{name} says {given[:40]!r}, which is no side")
