"""Questions that renew themselves: templates with a seed, each of which proves its references.

    made = make(1034, seed=7)
    made.question(1034, "math", canary), made.reference()

    template.py    a turn with one right result, its checks, checklist and note
    words.toml     names and things to draw from
    filler.py      sentences about nothing, for the long texts
    book.py        numbered entries that may be void
    the others     one template each; `TEMPLATES` says which question of `mt_bench` it is

`mt_bench` has the questions of seed 0.
"""

import contextlib
import importlib
import random
import uuid
from typing import Any, NamedTuple

from msgspec import to_builtins

from harness.extras.questions.template import Made, RedrawError
from harness.types import Question

TEMPLATES = {
    1006: ("writing", "measured"),
    1007: ("writing", "digits_prose"),
    1011: ("roleplay", "innkeeper"),
    1015: ("roleplay", "gatekeeper"),
    1022: ("reasoning", "undecided"),
    1023: ("reasoning", "lineup"),
    1024: ("reasoning", "smallest_repair"),
    1026: ("reasoning", "three_languages"),
    1034: ("math", "drawer"),
    1035: ("math", "paths"),
    1037: ("math", "take_game"),
    1039: ("math", "greedy_coins"),
    1041: ("coding", "what_prints"),
    1044: ("coding", "machine"),
    1046: ("coding", "sql_nulls"),
    1047: ("coding", "regex_groups"),
    1056: ("extraction", "daybook"),
    1058: ("extraction", "hold_null"),
    1059: ("extraction", "counter_claims"),
    1061: ("stem", "station_log"),
    1064: ("stem", "resistors"),
    1065: ("stem", "pedigree"),
    1071: ("humanities", "bylaw"),
    1075: ("humanities", "ballots"),
    1076: ("humanities", "inheritance"),
    1080: ("humanities", "language"),
}
"""Category and module of each template, by question id."""


class RenewedSet(NamedTuple):
    """The rows of a benchmark of all templates."""

    questions: list[dict[str, Any]]
    references: list[dict[str, Any]]
    canary: str


def make(question_id: int, seed: int) -> Made:
    """Return the question that a template makes from a seed, with all that proves it."""
    _, name = TEMPLATES[question_id]
    module = importlib.import_module(f"harness.extras.questions.{name}")
    rng = random.Random(f"{seed} {name}")
    while True:
        with contextlib.suppress(RedrawError):
            made: Made = module.make(rng)
            return made


def make_set(seed: int, name: str, canary: str | None = None) -> RenewedSet:
    """Return the rows of a benchmark; without a canary it gets one of its own."""
    canary = canary or f"turnbench {name} canary {_uuid(seed)}"
    questions, references = [], []
    for question_id, (category, _) in TEMPLATES.items():
        made = make(question_id, seed)
        questions.append(question_row(made.question(question_id, category, canary)))
        if turns := made.reference():
            references.append(reference_row(question_id, turns, canary))
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
