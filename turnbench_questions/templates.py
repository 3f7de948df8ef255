"""The templates: found by name, and drawn from until a draw is good.

A template is a module with `make(rng) -> Made` and `CATEGORY`; one that made a question of
`mt_bench` has its `QUESTION_ID` too. The registry has the names (kind `question_template`); other
packages add theirs by the entry points `turnbench.question_templates`.
"""

import importlib
import random
from collections.abc import Callable
from types import ModuleType
from typing import NamedTuple

from harness import registry
from harness.errors import UsageError
from turnbench_questions.template import Made, RedrawError

_DRAWS = 50_000
"""After so many bad draws a template is given up."""


class Template(NamedTuple):
    """A template and what its module says about it."""

    name: str
    category: str
    question_id: int
    make: Callable[[random.Random], Made]


def find(name: str) -> Template:
    """Return the template of a name."""
    make = registry.find("question_template", name)
    return _template(name, importlib.import_module(make.__module__))


def shipped() -> list[Template]:
    """Return the templates that made questions of `mt_bench`, in the order of their ids."""
    found = [find(name) for name in registry.names("question_template")]
    return sorted((one for one in found if one.question_id), key=lambda one: one.question_id)


def draw(template: Template, seed: int) -> Made:
    """Return the question that a template makes from a seed, with all that proves it.

    Raises:
        UsageError: no draw was good.
    """
    rng = random.Random(f"{seed} {template.name}")
    for _ in range(_DRAWS):
        try:
            return template.make(rng)
        except RedrawError:
            continue
    raise UsageError(
        f"the template {template.name} made no good question in {_DRAWS:,} draws of seed {seed}"
    )


def _template(name: str, module: ModuleType) -> Template:
    return Template(name, module.CATEGORY, getattr(module, "QUESTION_ID", 0), module.make)
