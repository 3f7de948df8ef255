"""Questions that renew themselves: templates with a seed, each of which proves its references.

    made = draw(find("drawer"), seed=7)
    made.question(1034, "math", canary), made.reference()

    template.py    a turn with one right result, its checks, checklist and note
    templates.py   templates by name; drawing until a draw is good
    words.toml     names and things to draw from
    filler.py      sentences about nothing, for the long texts
    book.py        numbered entries that may be void
    the others     one template each; its `QUESTION_ID` says which question of `mt_bench` it is

`mt_bench` has the questions of seed 0.
"""

import random
import uuid
from typing import Any, NamedTuple

from msgspec import to_builtins

from harness.types import Question
from turnbench_questions.templates import draw, find, shipped

__all__ = ["RenewedSet", "draw", "find", "make_set", "question_row", "reference_row", "shipped"]


class RenewedSet(NamedTuple):
    """The rows of a benchmark of all templates."""

    questions: list[dict[str, Any]]
    references: list[dict[str, Any]]
    canary: str


def make_set(seed: int, name: str, canary: str | None = None) -> RenewedSet:
    """Return the rows of a benchmark; without a canary it gets one of its own."""
    canary = canary or f"turnbench {name} canary {_uuid(seed)}"
    questions, references = [], []
    for template in shipped():
        made = draw(template, seed)
        question = made.question(template.question_id, template.category, canary)
        questions.append(question_row(question))
        if turns := made.reference():
            references.append(reference_row(template.question_id, turns, canary))
    return RenewedSet(questions, references, canary)


def question_row(question: Question) -> dict[str, Any]:
    """Return a question as it is written in `question.jsonl`."""
    row: dict[str, Any] = to_builtins(question)
    extra = row.pop("extra", {})
    return {**row, **extra}


def reference_row(question_id: int, turns: list[str], canary: str) -> dict[str, Any]:
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
