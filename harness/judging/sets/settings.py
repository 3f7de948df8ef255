"""What `judge_set.toml` says: checked file by file, laid over what the set extends, and made into a JudgeSet."""

import pathlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from harness.bench import nearest, read_toml
from harness.errors import DataError
from harness.judging.sets.judge_set import (
    DEFAULT,
    ORDERS,
    TURNS,
    Criterion,
    JudgeSet,
    JudgeTemplate,
    Turns,
    Wording,
)
from harness.judging.sets.keys import Keys, is_number
from harness.judging.sets.templates import filter_of, labels_of, template_from_file
from harness.records import Sampling, content_hash

_KEYS = (
    *(
        "name",
        "version",
        "title",
        "language",
        "extends",
        "fence",
        "attempts",
        "scale",
        "step",
        "sampling",
        "references",
    ),
    *("criteria", "categories", "questions", "turns", "order", "order_seed", "rubric", "labels"),
)
_REFERENCE_KEYS = ("required", "if_any", "never")
_SAMPLING_KEYS = ("temperature", "max_tokens", "top_p", "seed")
_WORDING_KEYS = ("definition", "steps", "rubric")
_CRITERION_KEYS = (*_WORDING_KEYS, "scale", "step", "categories", "by_category", "turns", "default", "reference")
_OF_ONE_SET = ("name", "version", "title", "extends")
"""Keys that a set which extends another does not take over."""


@dataclass(frozen=True, slots=True)
class Source:
    """A judge set as it was written: settings and templates, its own and those that it takes over."""

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
    """For FastChat's format: the hashes of the templates as they stand."""


def read_source(folder: pathlib.Path) -> Source:
    """Return what a folder of TOML says, each file checked by itself.

    Raises:
        DataError: something is not what it must be; the message names file and key.
    """
    path = folder / "judge_set.toml"
    settings = read_toml(path)
    check_settings(settings, path)
    templates = {f.stem: template_from_file(f) for f in sorted(folder.glob("*.toml")) if f.name != "judge_set.toml"}
    return Source(folder.name, folder, settings, templates)


def check_settings(settings: Mapping[str, Any], path: pathlib.Path) -> None:
    """Raise `DataError` unless every key of a set's settings is known and of the right type."""
    keys = Keys(settings, path, _KEYS)
    for key in ("version", "title", "language", "extends", "rubric"):
        keys.text(key)
    name = keys.text("name", "unnamed")
    if not name.strip():
        raise keys.wrong("name is empty")
    if "#" in name or "@" in name:
        raise keys.wrong(f"name holds # or @, which part the names of judgment files: {name!r}")
    keys.flag("fence", default=True)
    keys.whole("attempts", 1, 1, 20)
    keys.whole("order_seed", 0, 0, 2**31 - 1)
    keys.step(keys.scale("scale"))
    keys.one_of("order", ORDERS, "both")
    keys.one_of("turns", tuple(TURNS), "every")
    labels_of(keys)
    filter_of(keys, "questions")
    _sampling(keys)
    references = keys.inner("references", _REFERENCE_KEYS)
    for key in _REFERENCE_KEYS:
        references.texts(key, "categories")
    criteria = keys.inner("criteria")
    for name in criteria.table:
        _criterion(criteria, name)
    categories = keys.inner("categories")
    for name in categories.table:
        categories.texts(name, "criteria")


def laid_over(base: Source, own: Source) -> Source:
    """Return a source with what it takes over from another: own keys, criteria and templates replace those of the base.

    Tables are laid over each other key by key; a list, a text or a number is replaced as a whole.
    """
    inherited = {key: value for key, value in base.settings.items() if key not in _OF_ONE_SET}
    settings = {**_merged(inherited, own.settings)}
    for name, criterion in own.settings.get("criteria", {}).items():
        before = inherited.get("criteria", {}).get(name)
        if before is not None:
            settings["criteria"] = {**settings["criteria"], name: _merged(before, criterion)}
    base_name = str(base.settings.get("name", base.name))
    return replace(
        own,
        settings=settings,
        templates={**base.templates, **own.templates},
        extends=(base_name, *base.extends),
    )


def _merged(base: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    made = dict(base)
    for key, value in own.items():
        # A filter and a set of labels are meant as wholes: to add a label to a base's is to make another set of labels.
        whole = key in {"labels", "questions"}
        made[key] = _merged(made[key], value) if isinstance(value, dict) and key in made and not whole else value
    return made


def judge_set_of(source: Source) -> JudgeSet:
    """Return the judge set that a source makes, its pieces checked against each other.

    Raises:
        DataError: pieces do not fit together.
    """
    path = source.path / "judge_set.toml" if source.path.is_dir() else source.path
    keys = Keys(source.settings, path)
    if not source.templates:
        raise DataError("the set has no templates: put one TOML file for each beside it", path=path)
    references = keys.inner("references")
    scale = keys.scale("scale") or (1, 10)
    step = keys.step(scale)
    labels = labels_of(keys)
    templates = {name: _bound(template, scale, step, labels, path) for name, template in source.templates.items()}
    criteria = {name: _criterion(keys.inner("criteria"), name, scale) for name in keys.inner("criteria").table}
    made = JudgeSet(
        name=keys.text("name", source.name),
        version=keys.text("version", source.version or "1"),
        path=source.path,
        templates=templates,
        required=frozenset(references.texts("required")),
        if_any=frozenset(references.texts("if_any")),
        never=frozenset(references.texts("never")),
        fence=keys.flag("fence", default=True),
        attempts=keys.whole("attempts", 1, 1, 20),
        scale=scale,
        sampling=_sampling(keys),
        title=keys.text("title"),
        language=keys.text("language", "en"),
        criteria=criteria,
        categories={name: keys.inner("categories").texts(name) for name in keys.inner("categories").table},
        questions=filter_of(keys, "questions"),
        turns=_turns(keys),
        order=next(order for order in ORDERS if order == keys.one_of("order", ORDERS, "both")),
        order_seed=keys.whole("order_seed", 0, 0, 2**31 - 1),
        rubric=keys.text("rubric").strip("\n"),
        extends=source.extends,
    )
    _check_together(made, keys)
    shaping = [made.name, made.fence, made.attempts, [float(v) for v in made.scale], *([] if step is None else [step])]
    contents = source.contents or {name: content_hash(shape(t), shaping) for name, t in templates.items()}
    return replace(made, contents=contents)


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
    }
    stated = {key: value for key, value in more.items() if value}
    # Sets of the first days had nothing of this, and what they judged stays current.
    return [*plain, stated] if stated else plain


def _bound(
    template: JudgeTemplate,
    scale: tuple[float, float],
    step: float | None,
    labels: Mapping[str, float],
    path: pathlib.Path,
) -> JudgeTemplate:
    """Return a template with the set's scale, and with its labels if it names none itself."""
    form = replace(template.form, scale=scale, step=step)
    if form.kind == "label" and not form.labels:
        if len(labels) < 2:
            raise DataError(
                f"the template {template.name} asks for a label, so the table 'labels' (label = share) is needed, "
                "in the set or in the template, with two labels or more",
                path=path,
            )
        form = replace(form, labels=labels)
    return replace(template, form=form)


def _check_together(made: JudgeSet, keys: Keys) -> None:
    """Raise `DataError` unless criteria, categories and templates name each other rightly."""
    known = list(made.criteria)
    for category, names in made.categories.items():
        for name in names:
            if name not in known:
                hint = nearest(name, known) if known else "the set declares none"
                raise keys.wrong(f"categories.{category} names the unknown criterion {name!r}; {hint}")
    for template in made.templates.values():
        wanted = template.criterion
        if wanted is not None and wanted not in known:
            hint = nearest(wanted, known) if known else "the set declares none"
            raise keys.wrong(f"the template {template.name} is for the unknown criterion {wanted!r}; {hint}")
    if made.categories and DEFAULT not in made.categories:
        says = "which criteria every other category has; an empty list leaves those out"
        raise keys.wrong(f"categories.{DEFAULT} is missing: it says {says}")
    listed = {name for names in made.categories.values() for name in names}
    for criterion in made.criteria.values():
        if made.categories and criterion.default and not criterion.categories and criterion.name not in listed:
            raise keys.wrong(
                f"criteria.{criterion.name} is for no category: name it in the table 'categories', "
                "or give it a list 'categories' of its own"
            )
    for template in made.templates.values():
        if not made.criteria and "steps" in template.fields:
            raise keys.wrong(f"the template {template.name} holds {{steps}}, but the set declares no criteria")


def _criterion(criteria: Keys, name: str, usual: tuple[float, float] | None = None) -> Criterion:
    if not name.strip():
        raise criteria.wrong("criteria holds one without a name")
    keys = criteria.inner(name, _CRITERION_KEYS)
    others = keys.inner("by_category")
    scale = keys.scale("scale")
    return Criterion(
        name=name,
        wording=_wording(keys),
        scale=scale,
        step=keys.step(scale or usual),
        categories=frozenset(keys.texts("categories", "categories")),
        by_category={category: _wording(others.inner(category, _WORDING_KEYS)) for category in others.table},
        turns=_turns(keys),
        default=keys.flag("default", default=True),
        reference=keys.flag("reference", default=True),
    )


def _wording(keys: Keys) -> Wording:
    return Wording(*(keys.text(key).strip("\n") for key in _WORDING_KEYS))


def _turns(keys: Keys) -> Turns:
    return TURNS[keys.one_of("turns", tuple(TURNS), "every")]


def _sampling(keys: Keys) -> Sampling:
    table = keys.inner("sampling", _SAMPLING_KEYS)
    for key, value in table.table.items():
        if not is_number(value) or value < 0:
            raise keys.wrong(f"sampling.{key} must be a number from 0, this is {value!r}")
        if key in {"max_tokens", "seed"} and not isinstance(value, int):
            raise keys.wrong(f"sampling.{key} must be a whole number, this is {value!r}")
    real: dict[str, Any] = {
        key: float(value) if key in {"temperature", "top_p"} else value for key, value in table.table.items()
    }
    return Sampling(**real)
