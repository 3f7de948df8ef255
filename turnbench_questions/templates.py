"""The templates: found by name or file, and drawn from until a draw is good.

A template is a module:

    make(rng, level) -> Made   a question of a level from 1 (easy) to 10
    CATEGORY                   of its questions
    QUESTION_ID, LEVEL         those of its question in `mt_bench`, if it has one

The registry has the names (kind `question_template`); other packages add theirs by the entry points
`turnbench.question_templates`, and a benchmark's folder by a file `NAME.py`.
"""

import importlib
import importlib.util
import inspect
import pathlib
import random
import sys
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import NamedTuple

from harness import registry
from harness.errors import DataError, UsageError
from harness.types import Question
from turnbench_questions.template import LEVELS, Made, RedrawError

_DRAWS = 50_000
"""After so many bad draws a template is given up."""


class Template(NamedTuple):
    """A template and what its module says about it."""

    name: str
    category: str
    question_id: int
    """Of its question in `mt_bench`, or 0."""
    level: int
    """Of that question."""
    make: Callable[[random.Random, int], Made]


def find(name: str) -> Template:
    """Return the template of a name, or of a file that ends in `.py`."""
    if name.endswith(".py"):
        return _of_file(pathlib.Path(name))
    make = registry.find("question_template", name)
    return _of_module(name, importlib.import_module(make.__module__))


def shipped() -> list[Template]:
    """Return the templates that made questions of `mt_bench`, in the order of their ids."""
    found = [find(name) for name in registry.names("question_template")]
    return sorted((one for one in found if one.question_id), key=lambda one: one.question_id)


def of_bench(folder: pathlib.Path, questions: Iterable[Question]) -> list[Template]:
    """Return a benchmark's templates: those that its rows name, and the files in its folder.

    Raises:
        UsageError: it has none.
    """
    files = {path.stem: path for path in sorted(folder.glob("*.py"))}
    named = [str(q.extra["template"]) for q in questions if q.extra.get("template")]
    names = list(dict.fromkeys([*named, *files]))
    if not names:
        raise UsageError(
            f"{folder.name} has no question templates: no row has a `template`, and "
            f"{folder} has no file with make(rng, level)"
        )
    return [_of_file(files[name]) if name in files else find(name) for name in names]


def draw(template: Template, seed: int, level: int) -> Made:
    """Return the question that a template makes from a seed at a level, with all that proves it.

    Raises:
        UsageError: there is no such level, or no draw was good.
    """
    if level not in LEVELS:
        raise UsageError(f"no level {level}; levels are 1 (easy) to {LEVELS[-1]}")
    rng = random.Random(f"{seed} {template.name}")
    for _ in range(_DRAWS):
        try:
            return template.make(rng, level)
        except RedrawError:
            continue
    raise UsageError(
        f"the template {template.name} made no good question of level {level} in {_DRAWS:,} draws "
        f"from seed {seed}"
    )


def _of_file(path: pathlib.Path) -> Template:
    """Return the template that a file is; what its code raises is one line."""
    spec = importlib.util.spec_from_file_location(f"_turnbench_template_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look for their module there
    try:
        spec.loader.exec_module(module)
    except FileNotFoundError:
        raise UsageError(f"there is no file {path}") from None
    except Exception as error:
        raise DataError(f"{type(error).__name__}: {error}", path) from None
    return _of_module(path.stem, module, path)


def _of_module(name: str, module: ModuleType, path: pathlib.Path | None = None) -> Template:
    make = getattr(module, "make", None)
    where = path or f"the template {name} ({module.__name__})"
    if make is None or not hasattr(module, "CATEGORY"):
        lacks = "function make(rng, level)" if make is None else "CATEGORY"
        raise UsageError(f"{where} has no {lacks}; see docs/howto/own-template.md")
    if len(inspect.signature(make).parameters) != 2:
        raise UsageError(f"{where} has no levels: write make(rng, level), with level 1 to 10")
    question_id, level = getattr(module, "QUESTION_ID", 0), getattr(module, "LEVEL", 5)
    return Template(name, module.CATEGORY, question_id, level, make)
