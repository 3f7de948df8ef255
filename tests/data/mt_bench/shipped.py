"""The shipped questions and reference answers, for the proofs beside this file."""

import functools
import json
import pathlib
import re
from typing import Any

FOLDER = pathlib.Path(__file__).resolve().parents[3] / "data" / "mt_bench"


@functools.cache
def _rows(name: str) -> dict[int, dict[str, Any]]:
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    return {row["question_id"]: row for row in map(json.loads, lines)}


def question(question_id: int) -> dict[str, Any]:
    """Return the question's row: `turns`, `reference`, `category`, ..."""
    return _rows("question.jsonl")[question_id]


def reference(question_id: int) -> list[str]:
    """Return the worked answers of the question, one text a turn."""
    turns: list[str] = _rows("reference_answer/turnbench.jsonl")[question_id]["choices"][0]["turns"]
    return turns


def code_blocks(text: str, language: str = "python") -> list[str]:
    """Return the contents of the fenced code blocks of that language, in order."""
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)
