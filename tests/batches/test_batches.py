"""Batch services on a loopback server; the SDKs are the real ones."""

import http.server
import json
import os
import pathlib
import re
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from harness import gen_answer
from harness.errors import Interrupted, UsageError
from harness.extras.batches import queue
from harness.store import latest
from harness.types import Answer
from tests.servers import Call, Rule, reply_of


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "GATHER", 0.05)
    monkeypatch.setattr(queue, "FIRST_POLL", 0.01)


class Provider:
    """OpenAI's and Anthropic's batch services, as far as the SDKs use them."""

    def __init__(self) -> None:
        self.batches: dict[str, dict[str, Any]] = {}
        self.files: dict[str, str] = {}
        self.requests: list[str] = []
        self.answer: Callable[[dict[str, Any]], tuple[int, Any]] = self.echo
        self.ready = True
        self.polled = threading.Event()

    @staticmethod
    def echo(body: dict[str, Any]) -> tuple[int, Any]:
        path = "/chat/completions" if "stop_reason" not in body else "/messages"
        path = "/messages" if body["model"].startswith("claude") else path
        call = Call(path, {}, body)
        return 200, reply_of(call, Rule(" / ".join(text for _, text in call.messages)))

    def get(self, path: str) -> Any:
        path = path.partition("?")[0]
        if match := re.fullmatch(r"/v1/batches/(\w+)", path):
            self.polled.set()
            return self.openai(match[1])
        if match := re.fullmatch(r"/v1/files/(\w+)/content", path):
            return self.files[match[1]]
        if match := re.fullmatch(r"/v1/messages/batches/(\w+)/results", path):
            return self.anthropic_results(match[1])
        if match := re.fullmatch(r"/v1/messages/batches/(\w+)", path):
            return self.anthropic(match[1])
        raise KeyError(path)

    def post(self, path: str, data: bytes) -> Any:
        if path == "/v1/files":
            name = f"file{len(self.files)}"
            lines = [line for line in data.decode().splitlines() if line.startswith('{"custom_id"')]
            self.files[name] = "\n".join(lines)
            return {"id": name, "object": "file"}
        body = json.loads(data)
        batch = f"batch{len(self.batches)}"
        self.batches[batch] = body
        if path == "/v1/batches":
            sent = [json.loads(line) for line in self.files[body["input_file_id"]].splitlines()]
            body["lines"] = [(line["custom_id"], line["body"]) for line in sent]
            return self.openai(batch)
        body["lines"] = [(item["custom_id"], item["params"]) for item in body["requests"]]
        return self.anthropic(batch)

    def openai(self, name: str) -> dict[str, Any]:
        body = self.batches[name]
        done = {"id": name, "object": "batch", "created_at": 2e9}
        if not self.ready:
            return {**done, "status": "in_progress"}
        lines = []
        for key, sent in body["lines"]:
            status, answer = self.answer(sent)
            response = {"status_code": status, "body": answer}
            lines.append(json.dumps({"custom_id": key, "response": response}))
        self.files[f"out{name}"] = "\n".join(reversed(lines))
        return {**done, "status": "completed", "output_file_id": f"out{name}"}

    def anthropic(self, name: str) -> dict[str, Any]:
        counts = dict.fromkeys(("processing", "errored", "canceled", "expired"), 0)
        return {
            "id": name,
            "type": "message_batch",
            "processing_status": "ended",
            "request_counts": {**counts, "succeeded": len(self.batches[name]["lines"])},
            "results_url": f"{self.url}/v1/messages/batches/{name}/results",
        }

    def anthropic_results(self, name: str) -> str:
        lines = []
        for key, sent in self.batches[name]["lines"]:
            result = {"type": "succeeded", "message": self.answer(sent)[1]}
            lines.append(json.dumps({"custom_id": key, "result": result}))
        return "\n".join(lines)

    url = ""

    @property
    def counts(self) -> list[int]:
        """The number of requests of each batch."""
        return [len(batch["lines"]) for batch in self.batches.values()]


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    service = Provider()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            pass

        def do_GET(self) -> None:
            self.send(service.get(self.path))

        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers["Content-Length"] or 0))
            self.send(service.post(self.path, data))

        def send(self, content: Any) -> None:
            data = (content if isinstance(content, str) else json.dumps(content)).encode()
            self.send_response(200)
            kind = "application/x-jsonl" if isinstance(content, str) else "application/json"
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    service.url = f"http://127.0.0.1:{server.server_address[1]}"
    monkeypatch.setenv("OPENAI_BASE_URL", f"{service.url}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", service.url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    yield service
    server.shutdown()
    server.server_close()


def bench(folder: pathlib.Path, questions: int = 3) -> None:
    (folder / "small").mkdir()
    rows = [
        {"question_id": n, "category": "math", "turns": [f"Q{n}", f"R{n}"]}
        for n in range(questions)
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "small" / "question.jsonl").write_text(text)


def answers(folder: pathlib.Path, model: str) -> dict[Any, list[str]]:
    rows = latest(folder / "small" / "model_answer" / f"{model}.jsonl", Answer)
    return {key: row.choices[0].turns for (key,), row in rows.items()}


@pytest.mark.parametrize("model", ["gpt-4o", "claude-sonnet-4-5"])
def test_a_batch_for_each_turn(provider: Provider, tmp_path: pathlib.Path, model: str) -> None:
    bench(tmp_path)
    report = gen_answer(model, "small", data_dir=str(tmp_path), batch=True)
    assert report.complete, report.outcome.causes()
    assert provider.counts == [3, 3]
    assert answers(tmp_path, model)[2] == ["Q2", "Q2 / Q2 / R2"]
    (row, *_) = latest(report.paths[0], Answer).values()
    assert row.choices[0].details[0].batch
    assert not list(tmp_path.rglob("batches/*.jsonl"))


def test_batches_stay_at_the_provider_and_the_next_run_collects_them(
    provider: Provider, tmp_path: pathlib.Path
) -> None:
    bench(tmp_path)
    provider.ready = False

    def interrupt() -> None:
        provider.polled.wait(20)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(Interrupted, match="the batches stay at their provider"):
        gen_answer("gpt-4o", "small", data_dir=str(tmp_path), batch=True)
    assert provider.counts == [3]
    provider.ready = True
    report = gen_answer("gpt-4o", "small", data_dir=str(tmp_path), batch=True)
    assert report.complete
    assert provider.counts == [3, 3]
    assert len(answers(tmp_path, "gpt-4o")) == 3


def test_a_refused_request_is_listed_and_the_others_are_kept(
    provider: Provider, tmp_path: pathlib.Path
) -> None:
    bench(tmp_path)

    def answer(body: dict[str, Any]) -> tuple[int, Any]:
        if body["messages"][-1]["content"] == "Q1":
            return 400, {"error": {"message": "no such thing"}}
        return provider.echo(body)

    provider.answer = answer
    report = gen_answer("gpt-4o", "small", data_dir=str(tmp_path), batch=True)
    assert [failure.where for failure in report.outcome.failures] == ["gpt-4o, question 1"]
    assert sorted(answers(tmp_path, "gpt-4o")) == [0, 2]


def test_a_provider_without_batches_is_wrong_use(tmp_path: pathlib.Path) -> None:
    bench(tmp_path)
    with pytest.raises(UsageError, match="has no batches; leave out --batch"):
        gen_answer(
            "m",
            "small",
            data_dir=str(tmp_path),
            base_url="http://127.0.0.1:1/v1",
            conv_template="vicuna_v1.1",
            batch=True,
        )
