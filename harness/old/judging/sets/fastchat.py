"""FastChat's `judge_prompts.jsonl` as a judge set.

    {"name": "single-v1", "type": "single", "system_prompt": "...", "prompt_template": "...",
     "output_format": "[[rating]]"}

The file carries no rule: its `type` gives the mode, slots for reference answers make a template one with reference,
and `-multi-turn` in the name makes it turn 2's. Its `category` field is not to be trusted and is not read.
"""

import pathlib
from collections.abc import Mapping
from typing import Any

from harness.old.errors import DataError
from harness.old.jsonl import read_rows
from harness.old.judging.forms import Kind, VerdictForm
from harness.old.judging.parse import known_formats
from harness.old.judging.sets.judge_set import JudgeTemplate
from harness.old.judging.sets.placeholders import PLACEHOLDERS, fault_of
from harness.old.judging.sets.settings import Source, shape
from harness.old.judging.template import Template
from harness.old.judgments.file_name import OWN_JUDGE_SET
from harness.old.records import content_hash

FASTCHAT_REFERENCE_CATEGORIES = ("arena-hard-200", "coding", "math", "reasoning")
"""Where FastChat's own code uses a template with reference; its prompt file does not say."""
_KINDS: Mapping[str, Kind] = {"single": "grade", "pairwise": "compare"}


def source_from_fastchat(path: pathlib.Path, folder: str = "") -> Source:
    """Return the judge set that a FastChat `judge_prompts.jsonl` makes, named after its folder or else itself.

    Raises:
        DataError: a line is not a judge prompt, or there is none.
    """
    templates: dict[str, JudgeTemplate] = {}
    for line, row in read_rows(path, whole=True):
        try:
            template = _template(row)
        except ValueError as error:
            raise DataError(str(error), path=path, line=line) from None
        if template.name in templates:
            raise DataError(f"the name {template.name!r} occurs twice", path=path, line=line)
        templates[template.name] = template
    if not templates:
        raise DataError("contains no judge prompt", path=path)
    contents = {name: content_hash(shape(template)) for name, template in templates.items()}
    return Source(
        name=next(name for name in (folder, path.stem, "judge_prompts") if name and name != OWN_JUDGE_SET),
        path=path,
        settings={
            "fence": False,
            "references": {"required": list(FASTCHAT_REFERENCE_CATEGORIES)},
            "sampling": {"temperature": 0.0, "max_tokens": 2048},
        },
        templates=templates,
        version=content_hash(sorted(contents.items()))[:8],
        contents=contents,
    )


def _template(row: Mapping[str, Any]) -> JudgeTemplate:
    """Return the template on a line of the file, or raise `ValueError` that says what is wrong with it."""
    for key in ("name", "type", "prompt_template", "output_format"):
        if not isinstance(row.get(key), str):
            raise ValueError(f"the field {key!r} of a judge prompt must be a text")
    if row["type"] not in _KINDS:
        raise ValueError(f"type must be single or pairwise, this is {row['type']!r}")
    if row["output_format"] not in known_formats():
        raise ValueError(f"unknown output_format {row['output_format']!r}; known: {', '.join(known_formats())}")
    try:
        user = Template.parse_format(row["prompt_template"], PLACEHOLDERS)
    except ValueError as error:
        raise ValueError(f"prompt_template: unknown placeholder or unmatched brace: {error}") from None
    system = row.get("system_prompt") or None
    if not isinstance(system, str | None):
        raise ValueError("system_prompt must be a text")
    kind = _KINDS[row["type"]]
    template = JudgeTemplate(
        name=row["name"],
        form=VerdictForm(row["output_format"], kind),
        turns="second" if "-multi-turn" in row["name"] else "first",
        user=user,
        system=Template(((system, None),)) if system else None,
    )
    fault = fault_of(template)
    if fault is None and (row["output_format"] == "[[rating]]") != (kind == "grade"):
        fault = f"the verdict {row['output_format']} cannot be used to {kind}"
    if fault:
        raise ValueError(f"prompt_template: {fault}")
    return template
