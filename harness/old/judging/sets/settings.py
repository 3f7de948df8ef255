"""The settings in `judge_set.toml`: checked file by file, merged with the extended set, and made a JudgeSet."""

import pathlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from harness.old.errors import DataError
from harness.old.judging.forms import on_step
from harness.old.judging.sets.judge_set import DEFAULT, JudgeSet, JudgeTemplate, Settings
from harness.old.judging.sets.templates import filter_of, template_from_file
from harness.old.records import content_hash
from harness.old.written import decoded, nearest, read_toml

_OF_ONE_SET = ("name", "version", "title", "extends")
"""Keys that are not inherited from an extended set."""


@dataclass(frozen=True, slots=True)
class Source:
    """A judge set as written: settings and templates, its own and the inherited ones."""

    name: str
    """Its name if the settings give none."""
    path: pathlib.Path
    settings: Mapping[str, Any]
    templates: Mapping[str, JudgeTemplate]
    """Their forms without what the settings add: scale and labels."""
    version: str | None = None
    """For sets in others' formats: a version made from the content."""
    extends: tuple[str, ...] = ()
    contents: Mapping[str, str] = field(default_factory=dict)
    """For FastChat's format: the hashes of the unchanged templates."""


def read_source(folder: pathlib.Path) -> Source:
    """Return the settings in a folder of TOML, each file checked separately.

    Raises:
        DataError: a value is invalid; the message names file and key.
    """
    path = folder / "judge_set.toml"
    settings = read_toml(path)
    decoded(settings, Settings, path)
    templates = {f.stem: template_from_file(f) for f in sorted(folder.glob("*.toml")) if f.name != "judge_set.toml"}
    return Source(folder.name, folder, settings, templates)


def merged_into(base: Source, own: Source) -> Source:
    """Return a source with what it inherits from another: own keys, criteria and templates replace those of the base.

    Tables are merged key by key; a list, a text or a number is replaced as a whole.
    """
    # A filter and a set of labels are meant as wholes: to add a label to a base's is to make another set of labels.
    left = {*_OF_ONE_SET, *({"labels", "questions"} & own.settings.keys())}
    inherited = {key: value for key, value in base.settings.items() if key not in left}
    base_name = str(base.settings.get("name", base.name))
    return replace(
        own,
        settings=_merged(inherited, own.settings),
        templates={**base.templates, **own.templates},
        extends=(base_name, *base.extends),
    )


def _merged(base: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    made = dict(base)
    for key, value in own.items():
        made[key] = _merged(made[key], value) if isinstance(value, dict) and key in made else value
    return made


def judge_set_of(source: Source) -> JudgeSet:
    """Return the judge set that a source makes, its pieces checked against each other.

    Raises:
        DataError: pieces do not fit together.
    """
    path = source.path / "judge_set.toml" if source.path.is_dir() else source.path
    settings = decoded(source.settings, Settings, path)
    if not source.templates:
        raise DataError("the set has no templates: put one TOML file for each into its folder", path=path)
    bound = {name: _bound(template, settings, path) for name, template in source.templates.items()}
    said: dict[str, Any] = {own.name: getattr(settings, own.name) for own in fields(settings)}
    said |= {
        "name": settings.name or source.name,
        "version": settings.version or source.version or "1",
        "mode": settings.mode or (None if settings.baseline is None else "pairwise-baseline"),
        "questions": filter_of(settings.questions),
        "rubric": settings.rubric.strip("\n"),
    }
    made = JudgeSet(**said, path=source.path, templates=bound, bases=source.extends)
    _check_together(made, path)
    _check_step(settings.step, settings.scale, "", path)
    for name, criterion in settings.criteria.items():
        _check_step(criterion.step, criterion.scale or settings.scale, f"criteria.{name}.", path)
    shaping: list[Any] = [made.name, made.fence, made.attempts, [float(v) for v in made.scale]]
    shaping += [] if settings.step is None else [settings.step]
    shown = [asdict(example) for example in made.examples]
    contents = source.contents or {
        name: content_hash(shape(t), shaping, *([shown] if shown and t.kind == "compare" else []))
        for name, t in bound.items()
    }
    return replace(made, contents=contents)


def _check_step(step: float | None, scale: tuple[float, float], where: str, path: pathlib.Path) -> None:
    """Raise `DataError` unless a step divides its scale."""
    if step is not None and not on_step(scale[1], scale[0], step):
        least, greatest = scale
        raise DataError(f"{where}step must divide the scale {least:g}-{greatest:g}, this is {step!r}", path=path)


def shape(template: JudgeTemplate) -> list[Any]:
    """Return what shapes a template's prompts and verdicts, for its hash."""
    parts = (template.user, template.system, template.turn)
    plain = [template.verdict, *(part and part.pieces for part in parts)]
    form = template.form
    more = {
        "kind": "" if form.kind in ("grade", "compare") else form.kind,
        "labels": dict(form.labels) if form.kind == "label" else {},
        "dimensions": form.dimensions,
        "total": form.total,
        "score_method": "" if form.score_method == "text" else [form.score_method, template.top_logprobs],
        "sides": "" if form.sides == ("A", "B") else form.sides,
        "patterns": form.patterns,
        "compatible": form.compatible and form.score_method == "logprobs",
    }
    stated = {key: value for key, value in more.items() if value}
    # Sets of the first days had nothing of this, and what they judged stays current.
    return [*plain, stated] if stated else plain


def _bound(template: JudgeTemplate, settings: Settings, path: pathlib.Path) -> JudgeTemplate:
    """Return a template with the set's scale, and with its labels if it names none itself."""
    form = replace(template.form, scale=settings.scale, step=settings.step, compatible=settings.compatible)
    if form.kind == "label" and not form.labels:
        if len(settings.labels) < 2:
            raise DataError(
                f"the template {template.name} asks for a label, so the table 'labels' (label = value) is "
                "required, in the set or in the template, with two labels or more",
                path=path,
            )
        form = replace(form, labels=settings.labels)
    return replace(template, form=form)


def _check_together(made: JudgeSet, path: pathlib.Path) -> None:
    """Raise `DataError` unless criteria, categories and templates name each other rightly, and examples are whole."""
    for number, example in enumerate(made.examples, 1):
        lengths = {len(example.turns), len(example.answer_a), len(example.answer_b)}
        if lengths != {len(example.turns)} or not example.turns or len(example.reference) not in {0, *lengths}:
            raise DataError(
                f"examples[{number}] must have as many answers of each side, and references, as turns", path=path
            )
    known = list(made.criteria)
    named = [(f"categories.{key} names", name) for key, names in made.categories.items() for name in names]
    named += [(f"the template {one.name} is for", one.criterion) for one in made.templates.values() if one.criterion]
    for says, name in named:
        if name not in known:
            hint = nearest(name, known) if known else "the set declares none"
            raise DataError(f"{says} the unknown criterion {name!r}; {hint}", path=path)
    if made.categories and DEFAULT not in made.categories:
        says = "which criteria every other category has; an empty list leaves those out"
        raise DataError(f"categories.{DEFAULT} is missing: it says {says}", path=path)
    listed = {name for names in made.categories.values() for name in names}
    for name, criterion in made.criteria.items():
        if made.categories and criterion.default and not criterion.categories and name not in listed:
            raise DataError(
                f"criteria.{name} is for no category: name it in the table 'categories', "
                "or give it its own list 'categories'",
                path=path,
            )
    for template in made.templates.values():
        if not made.criteria and "steps" in template.fields:
            raise DataError(
                f"the template {template.name} holds {{steps}}, but the set declares no criteria", path=path
            )
