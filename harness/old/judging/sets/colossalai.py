"""ColossalAI's prompt files for judges as judge sets, unchanged.

    battle:   [{"id": 1, "system_prompt": "...", "prompt_template": "{question} {answer_1} {answer_2} {prompt}",
                "prompt": "..."}]
    grading:  {"chat": {"id": 1, "category": "chat", "metrics": {"fidelity": "..."}, "CoT": {"fidelity": "..."},
                        "prompt": "{question} {answer} {metric} {steps}"}, "general": {...}}

A battle file compares: two scores from 1 to 10 on one line, here in both orders. A grading file makes one criterion of
each metric and one template of each category; `general` is for every category that the file does not name. It has no
prompt with reference (in ColossalAI that is code), so nothing is judged with one.
"""

import pathlib
from collections.abc import Mapping
from typing import Any, TypeVar

from harness.old.errors import DataError
from harness.old.judging.forms import VerdictForm
from harness.old.judging.sets.judge_set import DEFAULT, JudgeTemplate
from harness.old.judging.sets.placeholders import fault_of
from harness.old.judging.sets.settings import Source
from harness.old.judging.template import Template
from harness.old.records import content_hash
from harness.old.written import read_json, shown

BATTLE_FIELDS = ("system_prompt", "prompt_template", "prompt")
GRADING_FIELDS = ("metrics", "CoT", "prompt")
GENERAL = "general"
_BATTLE_NAMES = {"question": "question", "answer_1": "answer_a", "answer_2": "answer_b"}
_GRADING_NAMES = {"question": "question", "answer": "answer", "metric": "criterion", "steps": "steps"}
_Value = TypeVar("_Value")


def source_from_colossalai(path: pathlib.Path) -> Source:
    """Return the judge set that a battle or grading file makes, named after the file.

    Raises:
        DataError: the file is neither.
    """
    entries = _entries(read_json(path))
    if entries and all("prompt_template" in entry for entry in entries):
        return _battle(entries, path)
    if entries and all("metrics" in entry for entry in entries):
        return _grading(entries, path)
    raise DataError(
        f"contains no judge prompts; a battle file has the fields {', '.join(BATTLE_FIELDS)}, "
        f"a grading file by category {', '.join(GRADING_FIELDS)}",
        path=path,
    )


def _entries(content: Any) -> list[Mapping[str, Any]]:
    """Return the objects of a file, whether it is one, a list of them, or a table of them by category."""
    if isinstance(content, dict) and not {"prompt_template", "metrics"} & content.keys():
        content = [{"category": name, **entry} if isinstance(entry, dict) else entry for name, entry in content.items()]
    entries = content if isinstance(content, list) else [content]
    return entries if all(isinstance(entry, dict) for entry in entries) else []


def _battle(entries: list[Mapping[str, Any]], path: pathlib.Path) -> Source:
    if len(entries) > 1:
        raise DataError(f"holds {len(entries)} prompts; a battle has one", path=path)
    (entry,) = entries
    system, template, prompt = (_need(entry, field, str, path) for field in BATTLE_FIELDS)
    whole = Template.parse_named(template, _BATTLE_NAMES)
    # What {prompt} becomes is known already, and text like the rest: braces in it are no placeholders.
    user = Template(tuple((text.replace("{prompt}", prompt), name) for text, name in whole.pieces))
    literal = Template(((system, None),)) if system else None
    made = JudgeTemplate("battle", VerdictForm("two_scores", "compare"), "every", user, literal)
    return _source(path, {"scale": [1, 10], "sampling": {"temperature": 0.2, "max_tokens": 2048}}, {made.name: made})


def _grading(entries: list[Mapping[str, Any]], path: pathlib.Path) -> Source:
    templates: dict[str, JudgeTemplate] = {}
    categories: dict[str, list[str]] = {DEFAULT: []}
    criteria: dict[str, dict[str, Any]] = {}
    for entry in entries:
        category = _need(entry, "category", str, path)
        metrics, steps = _texts(entry, "metrics", path), _texts(entry, "CoT", path)
        general = category == GENERAL
        user = Template.parse_named(_need(entry, "prompt", str, path), _GRADING_NAMES)
        templates[category] = JudgeTemplate(
            category,
            VerdictForm("grade", "grade"),
            "every",
            user,
            questions={} if general else {"category": (category,)},
        )
        categories[category] = list(metrics)
        if general:
            categories[DEFAULT] = list(metrics)
        for name, definition in metrics.items():
            said = {"definition": definition, "steps": steps.get(name, "")}
            criterion = criteria.setdefault(name, {"by_category": {}, **said})
            criterion["by_category"][category] = said
            if general:
                criterion.update(said)
    settings = {
        "scale": [1, 5],
        "sampling": {"temperature": 0.0, "max_tokens": 64},
        "criteria": criteria,
        "categories": categories,
    }
    return _source(path, settings, templates)


def _source(path: pathlib.Path, settings: Mapping[str, Any], templates: Mapping[str, JudgeTemplate]) -> Source:
    for template in templates.values():
        fault = fault_of(template)
        if fault:
            raise DataError(f"{template.name}: {fault}", path=path)
    pieces = {name: [t.user.pieces, t.system and t.system.pieces] for name, t in templates.items()}
    version = content_hash(pieces, settings)[:8]
    return Source(path.stem, path, {"fence": False, **settings}, templates, version)


def _need(entry: Mapping[str, Any], field: str, of: type[_Value], path: pathlib.Path) -> _Value:
    value = entry.get(field)
    if not isinstance(value, of):
        where = f" of {entry['category']}" if isinstance(entry.get("category"), str) else ""
        wanted = "text" if of is str else "table"
        raise DataError(f"{field}{where} must be a {wanted}, this is {shown(value)}", path=path)
    return value


def _texts(entry: Mapping[str, Any], field: str, path: pathlib.Path) -> dict[str, str]:
    """Return a table of texts."""
    table: dict[str, Any] = _need(entry, field, dict, path)
    for name, text in table.items():
        if not isinstance(text, str):
            raise DataError(f"{field}.{name} of {entry['category']} must be a text, this is {shown(text)}", path=path)
    return table
