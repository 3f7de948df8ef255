"""A real server of the package transformers (`transformers serve`), with a tiny model."""

import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator

import pytest

from harness.store import latest
from harness.types import Answer
from tests.local.tiny_models import save_llama
from tests.servers import unused_url

pytestmark = [
    pytest.mark.models,
    pytest.mark.slow,
    pytest.mark.skipif(
        not all(map(importlib.util.find_spec, ("torch", "transformers", "uvicorn"))),
        reason="the extra [models] is not installed",
    ),
]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return save_llama(tmp_path_factory.mktemp("model"), longest=512)


@pytest.fixture(scope="module")
def url(model: str) -> Iterator[str]:
    """Return the address of a server of the one model."""
    address = unused_url()
    script = str(pathlib.Path(sys.executable).with_name("transformers"))
    port = address.rpartition(":")[2]
    command = [script, "serve", model, "--host", "127.0.0.1", "--port", port, "--device", "cpu"]
    quiet = subprocess.DEVNULL
    environment = os.environ | {"HF_HUB_OFFLINE": "1"}
    with subprocess.Popen(command, stdout=quiet, stderr=quiet, env=environment) as server:
        for _ in range(600):
            try:
                urllib.request.urlopen(f"{address}/v1/models", timeout=5).close()
                break
            except OSError:
                assert server.poll() is None, "the server ended"
                time.sleep(0.2)
        yield f"{address}/v1"
        server.kill()


def ask(folder: pathlib.Path, url: str, *flags: str) -> "subprocess.CompletedProcess[str]":
    """Let gen_answer ask two questions."""
    bench = folder / "small"
    bench.mkdir(exist_ok=True)
    rows = [{"question_id": n, "category": "x", "turns": [f"Say {n}.", "More?"]} for n in (1, 2)]
    (bench / "question.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = [sys.executable, "-m", "turnbench", "gen_answer", "--bench-name", "small"]
    command += ["--data-dir", str(folder), "--base-url", url, "--max-tokens", "30", *flags]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_a_server_that_decodes_greedily_is_noticed(
    tmp_path: pathlib.Path, url: str, model: str
) -> None:
    said = ask(tmp_path, url, "--model", model, "--num-choices", "3", "--temperature", "0.7")
    assert said.returncode == 0, said.stderr
    assert "at a temperature above 0 are equal, for 4 prompts" in said.stderr


def test_another_name_than_the_servers_ends_the_run(tmp_path: pathlib.Path, url: str) -> None:
    said = ask(tmp_path, url, "--model", "another")
    assert said.returncode == 2
    assert "Server is pinned to" in said.stderr
    assert not list((tmp_path / "small" / "model_answer").glob("*.jsonl"))


def test_a_stop_text_that_stays_in_the_reply_is_cut(
    tmp_path: pathlib.Path, url: str, model: str
) -> None:
    def turns(*flags: str) -> list[str]:
        said = ask(tmp_path, url, "--model", model, *flags)
        assert said.returncode == 0, said.stderr
        (file,) = (tmp_path / "small" / "model_answer").glob("*.jsonl")
        rows = latest(file, Answer).values()
        return next(row.choices[0].turns for row in rows if row.question_id == 1)

    whole = turns()[0]
    stop = max(re.findall("[A-Za-z]+", whole), key=len)
    cut = turns("--param", f"stop={stop}", "--redo")[0]
    assert stop not in cut
    assert whole.startswith(cut)
    assert cut
