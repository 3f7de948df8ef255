"""Journals in processes of their own, and what stands in their files."""

import json
import os
import pathlib
import subprocess
import sys
import textwrap
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[3]
JOURNAL = """
import pathlib, sys
from harness.old.errors import StorageError
from harness.old.jsonl import Journal
folder = pathlib.Path(sys.argv[1])
journal = Journal(folder / "model_answer" / "a.jsonl", folder / ".turnbench")
"""


def start(code: str, folder: pathlib.Path) -> "subprocess.Popen[str]":
    """Start a second process that has a journal on the same file."""
    return subprocess.Popen(
        [sys.executable, "-c", JOURNAL + textwrap.dedent(code), str(folder)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: "subprocess.Popen[str]") -> str:
    """Wait for the process to end well and return what it printed."""
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    return out


def written(folder: pathlib.Path, content: bytes) -> pathlib.Path:
    path = folder / "model_answer" / "a.jsonl"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    return path


def values(path: pathlib.Path) -> list[Any]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]
