"""Commands in processes of their own, and a data folder to run them in."""

import json
import os
import pathlib
import subprocess
import sys
from collections.abc import Callable
from typing import Any, TypeAlias

import pytest

from tests.old.processes import Starter

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
Run: TypeAlias = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(tmp_path: pathlib.Path, starter: Starter) -> Run:
    """Return a function that runs `python -m harness.old.cli.NAME ...` in an empty folder, with stdin at its end.

    Where nothing is said of its environment and its files, the process starts without the imports.
    """

    def run_module(name: str, *arguments: str, **more: Any) -> "subprocess.CompletedProcess[str]":
        if not more:
            return starter.run(f"harness.cli.{'main' if name == 'turnbench' else name}", arguments, cwd=tmp_path)
        module = "harness.cli" if name == "turnbench" else f"harness.cli.{name}"
        options: dict[str, Any] = {
            "cwd": tmp_path,
            "env": {**os.environ, "PYTHONPATH": str(ROOT)},
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "encoding": "utf-8",
            "timeout": 60,
            **more,
        }
        return subprocess.run([sys.executable, "-m", module, *arguments], check=False, **options)

    return run_module


@pytest.fixture
def data(tmp_path: pathlib.Path) -> pathlib.Path:
    """Return a data folder with a benchmark `tiny` of two questions that two built-in models have answered."""
    from harness.cli.gen_answer import main

    folder = tmp_path / "data"
    write_questions(
        folder / "tiny",
        {"question_id": 1, "category": "writing", "turns": ["Name three rivers.", "Now name two lakes."]},
        {"question_id": 2, "category": "stem", "turns": ["What melts ice?", "And what freezes water?"]},
    )
    names = ["builtin/eliza", "builtin/outline"]
    assert main(["--data-dir", str(folder), "--bench-name", "tiny", "--model", *names, "-q"]) == 0
    return folder


def write_questions(folder: pathlib.Path, *rows: Any) -> None:
    """Write a benchmark's question file; a row that is a text is written as it stands."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    (folder / "question.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
