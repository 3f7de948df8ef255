"""Checkpoints from a hub: the real code of transformers against a hub on loopback, and one line where there is none."""

import contextlib
import hashlib
import http.server
import json
import os
import pathlib
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from harness.old import checkpoints
from harness.old.errors import UsageError

pytestmark = pytest.mark.models
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@contextlib.contextmanager
def hub(folder: pathlib.Path) -> Iterator[tuple[str, list[str]]]:
    """Serve a folder as the repository `someone/tiny`; yield the address, and the paths that are asked for."""
    asked: list[str] = []

    class Hub(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            asked.append(self.path)
            file = folder / self.path.rpartition("/")[2]
            there = self.path.startswith("/someone/tiny/resolve/") and file.is_file()
            body = file.read_bytes() if there else b"Not found"
            self.send_response(200 if there else 404)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("X-Repo-Commit", COMMIT)
            if there:
                self.send_header("ETag", f'"{hashlib.sha1(body).hexdigest()}"')
            else:
                self.send_header("X-Error-Code", "EntryNotFound")
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        do_GET = do_HEAD  # noqa: N815  (the server finds it by this name)

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", asked
        finally:
            server.shutdown()
            thread.join()


def in_process(code: str, home: pathlib.Path, **more: str) -> "subprocess.CompletedProcess[str]":
    """Run code in a process of its own: transformers reads the hub's address once, when it is imported."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "HF_HOME": str(home), "OMP_NUM_THREADS": "1", **more}
    return subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=300, check=False
    )


def test_a_model_comes_from_a_hub_and_is_known_by_its_commit(bert: pathlib.Path, tmp_path: pathlib.Path) -> None:
    code = (
        "import json\n"
        "from harness.old.metrics.setup import Setup\n"
        "from harness.old.metrics.table import load_metric\n"
        "metric = load_metric('bert_score', Setup(bert_model='someone/tiny', device='cpu'))\n"
        "print(json.dumps([metric.parameters['model'], metric('q', 'a d', 'a b').value]))"
    )
    with hub(bert) as (address, asked):
        done = in_process(code, tmp_path, HF_ENDPOINT=address)
    assert done.stderr == ""
    commit, value = json.loads(done.stdout)
    assert commit == COMMIT
    assert value == pytest.approx(0.5, abs=1e-6)
    assert f"/someone/tiny/resolve/{COMMIT}/model.safetensors" in asked


def test_without_a_network_it_is_one_line(tmp_path: pathlib.Path) -> None:
    code = (
        "from harness.old.errors import UsageError\n"
        "from harness.old.checkpoints import find\n"
        "try: find('someone/tiny')\n"
        "except UsageError as error: print(error)"
    )
    done = in_process(code, tmp_path, HF_HUB_OFFLINE="1")
    assert (
        done.stdout == "'someone/tiny' is not a folder here, and the Hugging Face hub cannot be reached; "
        "give a folder\n"
    )
    assert done.stderr == ""


def test_without_the_extra_it_is_one_line_that_names_it(tmp_path: pathlib.Path) -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from harness.old.cli.auto_metrics import main\n"
        "raise SystemExit(main(['--metrics', 'bert_score', '--bert-model', 'x']))"
    )
    done = in_process(code, tmp_path)
    assert done.returncode == 2
    assert done.stderr == (
        "auto_metrics: error: models that run here need the extra [models] (torch is missing): "
        "pip install 'turnbench[models]'\n"
    )


def test_a_folder_without_a_model_is_one_line(tmp_path: pathlib.Path, bert: pathlib.Path) -> None:
    with pytest.raises(UsageError, match=r"contains no model: config\.json is missing"):
        checkpoints.find(str(tmp_path))
    broken = tmp_path / "broken"
    shutil.copytree(bert, broken)
    (broken / "model.safetensors").write_bytes(b"nothing")
    checkpoint = checkpoints.find(str(broken))
    with pytest.raises(UsageError, match="broken holds no model that can be loaded: "):
        checkpoint.load("AutoModel", "cpu")


def test_texts_of_similar_length_go_together_and_come_back_in_order() -> None:
    batches: list[list[str]] = []

    def lengths(texts: list[str]) -> list[int]:
        batches.append(texts)
        return list(map(len, texts))

    assert checkpoints.in_batches(2, ["aaa", "b", "cc", "dddd", ""], lengths) == [3, 1, 2, 4, 0]
    assert batches == [["dddd", "aaa"], ["cc", "b"], [""]]
