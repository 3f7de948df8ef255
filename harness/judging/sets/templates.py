"""One file of a judge set: a prompt template in TOML -> JudgeTemplate, checked."""

import json
import pathlib
from collections.abc import Mapping
from typing import Any, get_args

from harness.bench import nearest, read_toml
from harness.errors import DataError
from harness.judging.forms import KINDS, SCORE_METHODS, Kind, VerdictForm
from harness.judging.parse import known_formats, scored_by_logprobs
from harness.judging.sets.judge_set import TURNS, Filter, JudgeTemplate
from harness.judging.sets.keys import Keys, is_number
from harness.judging.sets.placeholders import PLACEHOLDERS, PLAIN_PLACEHOLDERS, TURN_PLACEHOLDERS, fault_of
from harness.judging.template import Template

_KEYS = (
    *("kind", "turns", "reference", "verdict", "description", "system", "user", "turn"),
    *("criterion", "questions", "labels", "dimensions", "total", "score_method", "top_logprobs", "sides", "schema"),
)
_USUAL: Mapping[Kind, str] = {
    "grade": "[[rating]]",
    "compare": "[[A]]",
    "label": "label",
    "dimensions": "dimensions",
}
"""The verdict format of a template that names none."""


def template_from_file(path: pathlib.Path) -> JudgeTemplate:
    """Return the template in a file; its scale and, if it names none, its labels are those of the set.

    Raises:
        DataError: something in it is not what it must be.
    """
    keys = Keys(read_toml(path), path, _KEYS)
    kind = _kind(keys)
    user = _prompt(keys, "user", PLACEHOLDERS)
    if user is None:
        raise keys.wrong("the key 'user', the prompt itself, is missing")
    template = JudgeTemplate(
        name=path.stem,
        form=_form(keys, kind),
        turns=TURNS[keys.one_of("turns", tuple(TURNS), "every")],
        user=user,
        system=_prompt(keys, "system", PLACEHOLDERS),
        turn=_prompt(keys, "turn", TURN_PLACEHOLDERS),
        criterion=keys.text("criterion").strip() or None,
        questions=filter_of(keys, "questions"),
        top_logprobs=keys.whole("top_logprobs", 20, 1, 20),
    )
    told = keys.table.get("reference", template.reference)
    if told is not template.reference:
        holds = "holds" if template.reference else "does not hold"
        raise keys.wrong(f"reference is {json.dumps(told)}, but the prompt {holds} one")
    fault = fault_of(template)
    if fault:
        raise keys.wrong(fault)
    return template


def _kind(keys: Keys) -> Kind:
    kind = keys.one_of("kind", KINDS)
    return next(known for known in get_args(Kind) if known == kind)


def _form(keys: Keys, kind: Kind) -> VerdictForm:
    """Return the verdict that a template asks for."""
    verdict = keys.text("verdict", _USUAL[kind])
    if verdict not in known_formats():
        raise keys.wrong(f"unknown verdict format {verdict!r}; known: {', '.join(known_formats())}")
    if verdict not in known_formats(kind):
        raise keys.wrong(f"the verdict {verdict} is not one to {kind} with; such are: {', '.join(known_formats(kind))}")
    dimensions = keys.texts("dimensions", "names of dimensions")
    total = keys.text("total").strip() or None
    for key, of in (("labels", "label"), ("dimensions", "dimensions"), ("total", "dimensions"), ("sides", "compare")):
        if key in keys.table and kind != of:
            raise keys.wrong(f'{key} is there, but only templates of the kind "{of}" have it')
    if kind == "dimensions" and not dimensions:
        raise keys.wrong("the key 'dimensions', the list of their names, is missing")
    if len(set(dimensions)) < len(dimensions):
        raise keys.wrong(f"dimensions names one twice: {', '.join(dimensions)}")
    if total is not None and total not in dimensions:
        raise keys.wrong(f"total is {total!r}, which is none of the dimensions; {nearest(total, list(dimensions))}")
    method = keys.one_of("score_method", SCORE_METHODS, "text")
    if method == "logprobs" and verdict not in scored_by_logprobs():
        weighed = ", ".join(scored_by_logprobs())
        raise keys.wrong(f"score_method is logprobs, but the verdict {verdict} is no single token; such are: {weighed}")
    return VerdictForm(
        format=verdict,
        kind=kind,
        labels=labels_of(keys),
        dimensions=dimensions,
        total=total,
        score_method=next(known for known in SCORE_METHODS if known == method),
        sides=_sides(keys),
        schema=_schema(keys),
    )


def labels_of(keys: Keys) -> dict[str, float]:
    """Return the labels that a template or a set names, each with its share."""
    labels = keys.inner("labels")
    for name, share in labels.table.items():
        if not name.strip() or not is_number(share) or not 0 <= share <= 1:
            raise keys.wrong(f"labels.{name} must be the label's share, a number from 0 to 1, this is {share!r}")
    if len({name.casefold() for name in labels.table}) < len(labels.table):
        raise keys.wrong("labels holds two that differ in capital letters only")
    return {name: float(share) for name, share in labels.table.items()}


def filter_of(keys: Keys, key: str) -> Filter:
    """Return the filter of questions under a key: by field of a question, the values that it may have."""
    table = keys.inner(key)
    return {name: tuple(value) if isinstance(value, list) else (value,) for name, value in table.table.items()}


def _sides(keys: Keys) -> tuple[str, str]:
    sides = keys.texts("sides", "two names: of the answer shown first, and of the second") or ("A", "B")
    if len(sides) != 2 or sides[0] == sides[1]:
        raise keys.wrong(f"sides must be two names: of the answer shown first, and of the second, this is {sides!r}")
    return sides[0], sides[1]


def _schema(keys: Keys) -> Mapping[str, Any] | None:
    """Return the JSON schema, written as a table or as JSON in a text."""
    value = keys.table.get("schema")
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except json.JSONDecodeError as error:
            raise keys.wrong(f"schema is not valid JSON: {error}") from None
    if value is not None and not (isinstance(value, dict) and value.get("type") == "object"):
        raise keys.wrong('schema must be a JSON schema with "type": "object"')
    return value


def _prompt(keys: Keys, key: str, known: frozenset[str]) -> Template | None:
    text = keys.text(key)
    text = text if key == "turn" else text.strip("\n")
    if not text.strip():
        return None
    try:
        return Template.parse(text, known)
    except ValueError as error:
        hint = nearest(str(error), sorted(known & (PLAIN_PLACEHOLDERS | TURN_PLACEHOLDERS)))
        raise DataError(
            f"{key} holds the unknown placeholder {{{error}}}; {hint} (write {{{{ and }}}} for braces)", path=keys.path
        ) from None
