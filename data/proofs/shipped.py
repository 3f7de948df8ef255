"""The shipped questions and reference answers, for the proofs beside this file."""

import functools
import json
import pathlib
import re
import tomllib
from collections.abc import Iterable
from typing import Any

DATA = pathlib.Path(__file__).resolve().parents[1]
MT_BENCH_CATEGORIES = (
    *("writing", "roleplay", "reasoning", "math"),
    *("coding", "extraction", "stem", "humanities"),
)


def rows(bench: str, name: str = "question.jsonl") -> list[dict[str, Any]]:
    """Return the rows of a set's file."""
    return [json.loads(line) for line in (DATA / bench / name).read_text("utf-8").splitlines()]


@functools.cache
def _by_id(name: str) -> dict[int, dict[str, Any]]:
    found: dict[int, dict[str, Any]] = {}
    for bench in ("mt_bench", "mt_bench_zh", "chat_en", "chat_zh"):
        found |= {row["question_id"]: row for row in rows(bench, name)}
    return found


def question(question_id: int) -> dict[str, Any]:
    """Return the question's row: `turns`, `reference`, `category`, ..."""
    return _by_id("question.jsonl")[question_id]


def reference(question_id: int) -> list[str]:
    """Return the worked answers of the question, one text a turn."""
    turns: list[str] = _by_id("reference_answer/turnbench.jsonl")[question_id]["choices"][0][
        "turns"
    ]
    return turns


def references() -> dict[int, list[str]]:
    """Return the worked answers by question id."""
    rows = _by_id("reference_answer/turnbench.jsonl")
    return {number: row["choices"][0]["turns"] for number, row in rows.items()}


def asked(question_id: int) -> str:
    """Return the question's text."""
    text: str = question(question_id)["turns"][0]
    return text


def short(question_id: int) -> list[str]:
    """Return the short final answers."""
    answers: list[str] = question(question_id)["reference"]
    return answers


def stands(question_id: int, turn: int, in_answer: str, in_short: str) -> None:
    """Assert that a computed result stands in the worked answer and in the short reference."""
    assert in_answer in reference(question_id)[turn - 1]
    assert in_short in question(question_id)["reference"][turn - 1]


def canary(bench: str) -> str:
    """Return the text that identifies a set."""
    return str(tomllib.loads((DATA / bench / "bench.toml").read_text(encoding="utf-8"))["canary"])


def code_blocks(text: str, language: str = "python") -> list[str]:
    """Return the contents of the fenced code blocks of that language, in order."""
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def runs_of_eight(texts: Iterable[str]) -> set[tuple[str, ...]]:
    """Return the runs of eight words (of Chinese, characters) in each text."""
    found = set()
    for text in texts:
        words = re.findall(r"[\u4e00-\u9fff]|[^\W\u4e00-\u9fff]+", text.casefold())
        found |= {tuple(words[start : start + 8]) for start in range(len(words) - 7)}
    return found
