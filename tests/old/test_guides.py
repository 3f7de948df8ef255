"""What a guide says to write is written, what it says to change is changed, and its commands run, on a copy."""

import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from harness.old.cli.main import COMMANDS

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
_FENCE = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A fenced block of a guide: its language, the file that it is about, and its text."""

    language: str
    file: str
    text: str


def chapters(name: str) -> dict[str, list[Block]]:
    """Return the blocks of a guide by chapter, those before the first one under an empty name."""
    text = (ROOT / "docs" / name).read_text(encoding="utf-8")
    parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    titled = zip(["", *parts[1::2]], parts[0::2], strict=True)
    return {title: [Block(*found) for found in _FENCE.findall(part)] for title, part in titled}


class Ollama(http.server.BaseHTTPRequestHandler):
    """Speaks as much of Ollama's protocol as the guide's provider does."""

    asked: list[dict[str, object]]

    def do_POST(self) -> None:
        """Answer one conversation."""
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.asked.append(body)
        said = json.dumps({"message": {"content": "Which parcel?"}, "done_reason": "stop", "eval_count": 3}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *words: object) -> None:
        """Say nothing."""


@pytest.fixture
def ollama() -> Iterator[str]:
    Ollama.asked = []
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Ollama) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def copy(tmp_path: pathlib.Path) -> pathlib.Path:
    """A copy of the repository that a guide may change, with the commands beside it."""
    for name in ("harness", "judge_prompts"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "bin").mkdir()
    for name in COMMANDS:
        command = tmp_path / "bin" / name
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m harness.old.cli.{name} "$@"\n', encoding="utf-8")
        command.chmod(0o755)
    return tmp_path


def changed(text: str, diff: str) -> str:
    """Return a text with a change applied; its lines must stand there once."""
    lines = diff.splitlines(keepends=True)
    old = "".join(line[1:] for line in lines if not line.startswith("+"))
    new = "".join(line[1:] for line in lines if not line.startswith("-"))
    assert text.count(old) == 1, old
    return text.replace(old, new)


def follow(blocks: list[Block], copy: pathlib.Path, **environment: str) -> str:
    """Do what the blocks say, in their order, and return what all commands printed."""
    home = {"PATH": f"{copy / 'bin'}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(copy), "HOME": str(copy)}
    printed = ""
    for block in blocks:
        if block.language == "sh":
            script = re.sub(r"^export (\w+)=.*$", "", block.text, flags=re.MULTILINE)
            words = ["sh", "-e", "-c", script]
            done = subprocess.run(words, cwd=copy, env=home | environment, capture_output=True, text=True, check=False)
            assert done.returncode == 0, f"{script}\n{done.stdout}\n{done.stderr}"
            printed += done.stdout + done.stderr
        elif block.language == "text":
            assert block.text.strip() in printed, printed
        elif block.language == "diff":
            path = copy / block.file
            path.write_text(changed(path.read_text(encoding="utf-8"), block.text), encoding="utf-8")
        elif block.file:
            path = copy / block.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
    return printed


@pytest.mark.parametrize("chapter", ["A provider", "A scale", "A metric", "A check"])
def test_an_example_of_extending_works_as_it_stands(chapter: str, copy: pathlib.Path, ollama: str) -> None:
    guide = chapters("extending.md")
    answered = [Block("sh", "", "gen_answer --model builtin/outline --bench-name shop\n")]
    before = guide[""] + (answered if chapter in {"A metric", "A check"} else [])
    follow(before, copy)
    follow(guide[chapter], copy, OLLAMA_HOST=ollama)
    if chapter == "A provider":
        assert [body["model"] for body in Ollama.asked] == ["tiny", "tiny"]
        assert Ollama.asked[0]["options"], "the sampling is sent under the server's names"
