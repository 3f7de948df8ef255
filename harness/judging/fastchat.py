"""FastChat's `judge_prompts.jsonl` as a judge set.

    {"name": "single-v1", "type": "single", "system_prompt": "...", "prompt_template": "...",
     "output_format": "[[rating]]"}

The file has no rule: `type` gives the mode, slots for reference answers make a template one with
reference, and `-multi-turn` in the name makes it turn 2's. Its `category` is not to be trusted.
"""

import json
import pathlib
from typing import Annotated, Literal

from msgspec import Meta, Struct

from harness import store
from harness.errors import DataError
from harness.judging import sets
from harness.judging.forms import Form, Kind
from harness.judging.templates import Template
from harness.types import Sampling, content_hash

REFERENCE_CATEGORIES = frozenset({"arena-hard-200", "coding", "math", "reasoning"})
"""Where FastChat's code uses a template with reference (`llm_judge/common.py`)."""


class _Prompt(Struct):
    name: Annotated[str, Meta(min_length=1)]
    type: Literal["single", "pairwise"]
    prompt_template: str
    output_format: str
    system_prompt: str | None = None


def load(path: pathlib.Path) -> sets.JudgeSet:
    """Return the set, named after the file.

    Raises:
        DataError: a line is not a judge prompt, or there is none.
    """
    templates: list[sets.JudgeTemplate] = []
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = store.convert(json.loads(line), _Prompt, f"{path}:{number}")
            user = Template.parse_format(row.prompt_template, sets.PLACEHOLDERS)
        except ValueError as error:
            fault = f"not JSON, or an unknown placeholder or brace: {error}"
            raise DataError(fault, path, number) from None
        kind: Kind = "grade" if row.type == "single" else "compare"
        template = sets.JudgeTemplate(
            name=row.name,
            form=Form(format=row.output_format, kind=kind),
            turns="second" if "-multi-turn" in row.name else "first",
            user=user,
            system=Template(((row.system_prompt, None),)) if row.system_prompt else None,
        )
        templates.append(template)
    contents = {template.name: content_hash(sets.shape(template)) for template in templates}
    settings = sets.Settings(
        name=path.stem if path.stem != "mt_bench" else "judge_prompts",  # not the shipped set
        version=content_hash(sorted(contents.items()))[:8],
        fence=False,
        references=sets.References(required=REFERENCE_CATEGORIES),
        sampling=Sampling(temperature=0.0, max_tokens=2048),
    )
    return sets.make_judge_set(path, settings, templates, contents=contents)
