"""One file of a judge set: a prompt template in TOML -> JudgeTemplate, checked."""

import json
import pathlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from harness.old.errors import DataError
from harness.old.judging.forms import LABELS, SHARE, Kind, ScoreMethod, VerdictForm
from harness.old.judging.parse import known_formats, scored_by_logprobs
from harness.old.judging.sets.judge_set import Filter, JudgeTemplate, TurnsWord
from harness.old.judging.sets.placeholders import PLACEHOLDERS, PLAIN_PLACEHOLDERS, TURN_PLACEHOLDERS, fault_of
from harness.old.judging.template import Template
from harness.old.written import FILLED, Wanted, decoded, nearest, read_toml

_USUAL: Mapping[Kind, str] = {
    "grade": "[[rating]]",
    "compare": "[[A]]",
    "label": "label",
    "dimensions": "dimensions",
}
"""The verdict format of a template that names none."""

_SIDES = Wanted("two names: of the answer shown first, and of the second", lambda sides: sides[0] != sides[1])


@dataclass(frozen=True, slots=True)
class _Settings:
    """The keys of a template's file; `judge_prompts/README.md` is its manual."""

    kind: Kind
    user: Annotated[str, Wanted("a text that is not empty: the prompt itself", FILLED.fits)]
    system: str = ""
    turn: str = ""
    turns: TurnsWord = "every"
    reference: bool | None = None
    verdict: str = ""
    description: str = ""
    criterion: str = ""
    questions: Mapping[str, Any] = field(default_factory=dict)
    labels: Annotated[Mapping[str, Annotated[float, SHARE]], LABELS] = field(default_factory=dict)
    dimensions: tuple[Annotated[str, FILLED], ...] = ()
    total: str = ""
    score_method: ScoreMethod = "text"
    top_logprobs: Annotated[int, Wanted("a whole number from 1 to 20", lambda number: 1 <= number <= 20)] = 20
    sides: Annotated[tuple[str, str], _SIDES] | None = None
    schema: Any = None


def template_from_file(path: pathlib.Path) -> JudgeTemplate:
    """Return the template in a file; its scale and, if it names none, its labels are those of the set.

    Raises:
        DataError: something in it is not what it must be.
    """
    settings = decoded(read_toml(path), _Settings, path)
    user = _prompt(settings.user.strip("\n"), "user", PLACEHOLDERS, path)
    assert user is not None
    template = JudgeTemplate(
        name=path.stem,
        form=_form(settings, path),
        turns=settings.turns,
        user=user,
        system=_prompt(settings.system.strip("\n"), "system", PLACEHOLDERS, path),
        turn=_prompt(settings.turn, "turn", TURN_PLACEHOLDERS, path),
        criterion=settings.criterion.strip() or None,
        questions=filter_of(settings.questions),
        top_logprobs=settings.top_logprobs,
    )
    if settings.reference not in (None, template.reference):
        holds = "contains" if template.reference else "does not contain"
        raise DataError(f"reference is {json.dumps(settings.reference)}, but the prompt {holds} one", path=path)
    fault = fault_of(template)
    if fault:
        raise DataError(fault, path=path)
    return template


def _form(settings: _Settings, path: pathlib.Path) -> VerdictForm:
    """Return the form of the verdict that a template asks for."""
    form = VerdictForm(
        format=settings.verdict or _USUAL[settings.kind],
        kind=settings.kind,
        labels=settings.labels,
        dimensions=settings.dimensions,
        total=settings.total.strip() or None,
        score_method=settings.score_method,
        sides=settings.sides or ("A", "B"),
        schema=_schema(settings.schema, path),
    )
    if fault := _fault_of(form, settings):
        raise DataError(fault, path=path)
    return form


def _fault_of(form: VerdictForm, settings: _Settings) -> str | None:
    """Return what in a verdict does not go with the rest of it."""
    if form.format not in known_formats():
        return f"unknown verdict format {form.format!r}; known: {', '.join(known_formats())}"
    if form.format not in known_formats(form.kind):
        such = ", ".join(known_formats(form.kind))
        return f"the verdict {form.format} cannot be used to {form.kind}; these can: {such}"
    for key, of in (("labels", "label"), ("dimensions", "dimensions"), ("total", "dimensions"), ("sides", "compare")):
        if getattr(settings, key) and form.kind != of:
            return f'{key} is given, but only templates of the kind "{of}" have it'
    if form.kind == "dimensions" and not form.dimensions:
        return "the key 'dimensions', the list of their names, is missing"
    if len(set(form.dimensions)) < len(form.dimensions):
        return f"dimensions names one twice: {', '.join(form.dimensions)}"
    if form.total is not None and form.total not in form.dimensions:
        return f"total is {form.total!r}, which is not one of the dimensions; {nearest(form.total, form.dimensions)}"
    if form.score_method == "logprobs" and form.format not in scored_by_logprobs():
        such = ", ".join(scored_by_logprobs())
        return f"score_method is logprobs, but the verdict {form.format} is not a single token; these are: {such}"
    return None


def filter_of(table: Mapping[str, Any]) -> Filter:
    """Return the filter of questions in a table: by field of a question, the values that it may have."""
    return {name: tuple(value) if isinstance(value, list) else (value,) for name, value in table.items()}


def _schema(value: Any, path: pathlib.Path) -> Mapping[str, Any] | None:
    """Return the JSON schema, written as a table or as JSON in a text."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError) as error:
            raise DataError(f"schema is not valid JSON: {error}", path=path) from None
    if value is not None and not (isinstance(value, dict) and value.get("type") == "object"):
        raise DataError('schema must be a JSON schema with "type": "object"', path=path)
    return value


def _prompt(text: str, key: str, known: frozenset[str], path: pathlib.Path) -> Template | None:
    if not text.strip():
        return None
    try:
        return Template.parse(text, known)
    except ValueError as error:
        hint = nearest(str(error), sorted(known & (PLAIN_PLACEHOLDERS | TURN_PLACEHOLDERS)))
        raise DataError(
            f"{key} contains the unknown placeholder {{{error}}}; {hint} (write {{{{ and }}}} for braces)", path=path
        ) from None
