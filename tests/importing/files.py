"""Small invented files of other projects, and the rows that were made of them."""

import json
import pathlib
from collections.abc import Sequence
from typing import Any


def json_lines(path: pathlib.Path, records: Sequence[Any]) -> pathlib.Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def json_array(path: pathlib.Path, records: Sequence[Any]) -> pathlib.Path:
    path.write_text(json.dumps(records, indent=1), encoding="utf-8")
    return path


def rows(path: pathlib.Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def answers(path: pathlib.Path) -> dict[Any, list[str]]:
    """Return the turns of an answer file by question id."""
    return {row["question_id"]: row["choices"][0]["turns"] for row in rows(path)}


FEEDBACK = {
    "instruction": "###Task: grade this whole input",
    "output": "Clear. [RESULT] 4",
    "orig_instruction": "Explain rain.",
    "orig_response": "Water falls.",
    "orig_reference_answer": "Vapour condenses and falls.",
    "orig_criteria": "Is it clear?",
    **{f"orig_score{grade}_description": f"clear to degree {grade}" for grade in range(1, 6)},
    "orig_feedback": "Clear.",
    "orig_score": "4",
}
TARGETS = [
    {
        "category": "closed_qa",
        "instruction": "Which sea?",
        "input": "A text.",
        "output": "The North Sea.",
        "target": "The Baltic.",
        "id": 1,
    },
    {
        "category": "chat",
        "instruction": "Hello",
        "input": "",
        "output": "Hi",
        "target": "",
        "id": 2,
    },
]
OUTPUTS = [
    {"instruction": "Say hi.", "output": "hi", "generator": "base", "dataset": "helpful"},
    {"instruction": "Add.", "input": "1+1", "output": "2", "generator": "base", "dataset": "sums"},
]


def annotation(number: int, preference: Any, **more: Any) -> dict[str, Any]:
    """Return an annotation of AlpacaEval's."""
    return {
        "instruction": ("Name a tide.", "Bake bread.", "Draw a map.", "Play chess.")[number],
        "output_1": f"base {number}",
        "generator_1": "base",
        "dataset": "d",
        "output_2": f"mine {number}",
        "generator_2": "mine",
        "annotator": "weighted",
        "preference": preference,
        "price_per_example": 0.01,
        "time_per_example": 0.5,
        "raw_completion": {"text": "m", "logprobs": {"content": []}},
    } | more


ANNOTATIONS = [annotation(n, p) for n, p in enumerate((1.2, 1.5, None, 2.0))]


def messages(*texts: str) -> list[dict[str, str]]:
    """Return messages of user and assistant in turn."""
    roles = ("user", "assistant") * len(texts)
    return [{"role": role, "content": text} for role, text in zip(roles, texts, strict=False)]
