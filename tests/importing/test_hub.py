"""Files on the Hugging Face Hub: the real client, against a server that speaks the hub's part."""

import hashlib
import http.server
import json
import pathlib
import threading
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest

import harness
from harness import fetch_bench, import_data
from harness.errors import MissingError, UsageError
from tests.importing.files import answers

COMMIT = "0123456789abcdef0123456789abcdef01234567"
PROMPTS = [
    {"prompt_id": 81, "prompt": ["Write.", "Shorter."], "category": "writing", "reference": []},
    {"prompt_id": 111, "prompt": ["2+2?", "+1?"], "category": "math", "reference": ["4", "5"]},
]
QUESTION = {"question_id": 1, "category": "c", "turns": ["Q"]}
REFERENCE = {"question_id": 1, "choices": [{"index": 0, "turns": ["R"]}]}
FILES = {
    "raw/prompts.jsonl": "".join(json.dumps(row) + "\n" for row in PROMPTS),
    "question.jsonl": json.dumps(QUESTION) + "\n",
    "bench.toml": 'title = "Ours"\n',
    "reference_answer/me.jsonl": json.dumps(REFERENCE) + "\n",
    "README.md": "# Ours\n",
}


class Hub(http.server.BaseHTTPRequestHandler):
    """Answers for one data set, `me/talk`, whose only revisions are `v1` and its commit."""

    seen: ClassVar[list[tuple[str, str | None]]] = []

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def _answer(self) -> None:
        self.seen.append((self.path, self.headers["Authorization"]))
        data, error = b"", ""
        parts = self.path.strip("/").split("/")
        if self.path.startswith("/api/"):
            owner, revision, name = "/".join(parts[2:4]), parts[5], None
            revision = revision.partition("?")[0]
            tree = [{"type": "file", "path": f, "size": 1, "oid": COMMIT} for f in FILES]
            data = json.dumps(tree).encode()
        else:
            owner, revision, name = "/".join(parts[1:3]), parts[4], "/".join(parts[5:])
            data = FILES.get(name, "").encode()
        if owner != "me/talk":
            error = "RepoNotFound"
        elif revision not in ("v1", "main", COMMIT):
            error = "RevisionNotFound"
        elif name is not None and name not in FILES:
            error = "EntryNotFound"
        self.send_response(404 if error else 200)
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("ETag", f'"{hashlib.sha1(data).hexdigest()}"')
        self.send_header("Content-Length", str(len(data)))
        if error:
            self.send_header("X-Error-Code", error)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(autouse=True)
def _hub(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_address[1]}")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("HF_TOKEN", raising=False)
    Hub.seen.clear()
    yield
    server.shutdown()
    server.server_close()


def test_two_turns_of_a_prompt_are_imported_and_the_commit_is_noted(
    tmp_path: pathlib.Path,
) -> None:
    address = "hf://datasets/me/talk@v1/raw/prompts.jsonl"
    report = import_data("messages", [address], "b", data_dir=tmp_path)
    assert report.questions == 2
    bench = harness.load_bench("b", tmp_path)
    asked = {question.question_id: question.turns for question in bench.questions}
    assert asked == {81: ["Write.", "Shorter."], 111: ["2+2?", "+1?"]}
    assert answers(tmp_path / "b" / "reference_answer" / "reference.jsonl") == {111: ["4", "5"]}
    assert bench.settings.source == f"hf://datasets/me/talk@{COMMIT}/raw/prompts.jsonl"


def test_a_benchmark_comes_with_its_settings_and_references(tmp_path: pathlib.Path) -> None:
    fetched = fetch_bench("hf://datasets/me/talk@v1/question.jsonl", data_dir=tmp_path)
    assert sorted(path.name for path in fetched.written) == [
        *("bench.toml", "me.jsonl", "question.jsonl"),
    ]
    bench = harness.load_bench("talk", tmp_path)
    references = bench.references()
    assert references is not None
    assert references.turns == {1: ["R"]}
    source = f"hf://datasets/me/talk@{COMMIT}/question.jsonl"
    assert (bench.settings.title, bench.settings.source) == ("Ours", source)
    assert fetch_bench("hf://datasets/me/talk@v1", data_dir=tmp_path).written == ()


@pytest.mark.parametrize(
    ("address", "error", "fault"),
    [
        pytest.param("me/talk", UsageError, "name a file of it", id="no file"),
        pytest.param("me/talk@v1/none.json", MissingError, "has no such file", id="file"),
        pytest.param("me/talk@v9/raw/prompts.jsonl", MissingError, "no revision v9", id="revision"),
        pytest.param("me/nothing/a.json", MissingError, "no such data set", id="data set"),
        pytest.param("talk/a.json x", UsageError, "write it hf://datasets/", id="form"),
    ],
)
def test_what_is_not_there_is_one_line(
    address: str, error: type[Exception], fault: str, tmp_path: pathlib.Path
) -> None:
    with pytest.raises(error, match=fault):
        import_data("messages", [f"hf://datasets/{address}"], "b", data_dir=tmp_path)


def test_a_hub_that_does_not_answer_is_no_missing_file(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", lambda _: None)
    with pytest.raises(MissingError, match="the hub does not answer"):
        import_data("messages", ["hf://datasets/me/talk/a.json"], "b", data_dir=tmp_path)


def test_a_token_comes_from_the_environment_alone(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetch_bench("hf://datasets/me/talk@v1", data_dir=tmp_path)
    assert {key for _, key in Hub.seen} == {None}
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "other"))
    fetch_bench("hf://datasets/me/talk@v1", data_dir=tmp_path / "again")
    assert {key for _, key in Hub.seen} == {None, "Bearer hf_secret"}
