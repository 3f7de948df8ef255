"""Questions that renew themselves: templates with a seed, each of which proves its references.

    rows(find("drawer"), seed=7, level=5, question_id=1, canary="...").question


    template.py    a turn with one right result, its checks, checklist and note
    templates.py   templates by name; drawing until a draw is good
    words.toml     names and things to draw from
    filler.py      sentences about nothing, for the long texts
    book.py        numbered entries that may be void
    made_up.py     words of no language, which prove checks that count letters
    the others     one template each; its `QUESTION_ID` says which question of `mt_bench` it is

`mt_bench` has the questions of seed 0, each at the `LEVEL` of its template.
"""

import random
import uuid
from collections.abc import Sequence
from typing import Any, NamedTuple

from msgspec import to_builtins

from turnbench_questions.templates import Template, draw, find, of_bench, shipped

__all__ = [
    "RenewedSet",
    "Rows",
    "Template",
    "draw",
    "find",
    "make_set",
    "of_bench",
    "rows",
    "shipped",
]


class Rows(NamedTuple):
    """A question as a row of `question.jsonl`, and its worked answer as one of references."""

    question: dict[str, Any]
    reference: dict[str, Any] | None
    """None where no one result is right."""


class RenewedSet(NamedTuple):
    """The rows of a benchmark of some templates."""

    questions: list[dict[str, Any]]
    references: list[dict[str, Any]]
    canary: str


def rows(template: Template, seed: int, level: int, question_id: int, canary: str) -> Rows:
    """Return the rows of the question that a template makes from a seed at a level."""
    made = draw(template, seed, level)
    row = made.question(
        question_id,
        template.category,
        template=template.name,
        level=level,
        seed=seed,
        canary=canary,
    )
    question: dict[str, Any] = to_builtins(row)
    extra = question.pop("extra", {})
    turns = made.reference()
    return Rows({**question, **extra}, _reference(question_id, turns, canary) if turns else None)


def make_set(
    seed: int,
    name: str,
    level: int | None = None,
    canary: str | None = None,
    templates: Sequence[str] = (),
) -> RenewedSet:
    """Return the rows of a benchmark of some templates.

    Args:
        seed: what is drawn from.
        name: of the benchmark.
        level: of all questions; without it, each has that of its question in `mt_bench`.
        canary: without it, the benchmark gets one of its own.
        templates: names or files; without any, those of `mt_bench`.
    """
    canary = canary or f"turnbench {name} canary {_uuid(seed)}"
    used = [find(one) for one in templates] or shipped()
    made = [
        rows(one, seed, level or one.level, one.question_id or number, canary)
        for number, one in enumerate(used, 1)
    ]
    references = [row.reference for row in made if row.reference]
    return RenewedSet([row.question for row in made], references, canary)


def _reference(question_id: int, turns: list[str], canary: str) -> dict[str, Any]:
    """Return a worked answer as it is written in `reference_answer/turnbench.jsonl`."""
    return {
        "question_id": question_id,
        "answer_id": f"turnbench-{question_id}",
        "model_id": "turnbench",
        "choices": [{"index": 0, "turns": turns}],
        "tstamp": 1795219200.0,
        "canary": canary,
    }


def _uuid(seed: int) -> uuid.UUID:
    return uuid.UUID(int=random.Random(f"canary {seed}").getrandbits(128), version=4)
