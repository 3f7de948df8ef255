"""A loopback server that speaks the batch services of OpenAI, Anthropic and Gemini, with faults.

It counts what is submitted: `provider.paid` says how often each conversation was computed.
"""

import contextlib
import http.server
import json
import re
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import parse_qs, urlsplit

from tests.servers import Call, Rule, reply_of

Step = Literal["upload", "create", "poll", "results", "list"]
How = Literal["refuse", "lose", "cut", "html", "stall", "gone", "gone page", "break", "odd"]
PAGE = 2
"""Batches on a page of a list."""


@dataclass
class Fault:
    """What goes wrong at a step.

    refuse: a status, and nothing is done; lose: it is done and the connection closed; cut: half of
    the answer; html: a page with status 200; stall: no answer for a while; gone: 404 of the
    service, `gone page`: of something before it; break: the first line of the results is no JSON;
    odd: JSON of another shape. What is asked is done in all cases but `refuse` and the two `gone`.
    """

    step: Step
    how: How
    times: int = 1
    status: int = 503


@dataclass
class Batch:
    """What was submitted together."""

    name: str
    lines: list[tuple[str, dict[str, Any]]]
    label: Any = None
    polls: int = 0


def echo(body: dict[str, Any]) -> tuple[int, Any]:
    """Answer with all that was said."""
    kind = "/messages" if str(body.get("model")).startswith("claude") else "/chat/completions"
    if "contents" in body:
        kind = f"/{body['model']}:generateContent"
    call = Call(kind, {}, body)
    return 200, reply_of(call, Rule(" / ".join(text for _, text in call.messages)))


@dataclass
class Provider:
    """The services and what they know."""

    url: str = ""
    faults: list[Fault] = field(default_factory=list)
    answer: Callable[[dict[str, Any]], tuple[int, Any]] = echo
    """The status and body that a request gets; status 0: it expired, -1: it was cancelled."""
    polls: int = 1
    """How often a batch is looked at before it has ended."""
    ready: bool = True
    batches: dict[str, Batch] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    paid: Counter[str] = field(default_factory=Counter)
    polled: threading.Event = field(default_factory=threading.Event)
    asked: list[str] = field(default_factory=list)
    """Method and path of each request."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def counts(self) -> list[int]:
        """The number of requests of each batch."""
        return [len(batch.lines) for batch in self.batches.values()]

    @property
    def paid_twice(self) -> int:
        """How many computations were of a conversation that was computed before."""
        return sum(number - 1 for number in self.paid.values())

    def fault(self, step: Step) -> How | int | None:
        """Return what goes wrong now at a step; a number is a status."""
        for fault in self.faults:
            if fault.step == step and fault.times > 0:
                fault.times -= 1
                return fault.status if fault.how == "refuse" else fault.how
        return None

    def make(self, lines: list[tuple[str, dict[str, Any]]], label: Any) -> Batch:
        """Submit a batch."""
        batch = Batch(f"batch_{len(self.batches)}", lines, label)
        self.batches[batch.name] = batch
        for _, body in lines:
            if self.answer(body)[0] == 200:
                self.paid[json.dumps(body, sort_keys=True)] += 1
        return batch

    def ended(self, batch: Batch) -> bool:
        """Return whether a batch has ended."""
        return self.ready and batch.polls >= self.polls

    def handle(self, method: str, path: str, data: bytes) -> tuple[Step, Any]:
        """Return the step that a request is, and its answer; a text is a file of lines."""
        parts = urlsplit(path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        for pattern, work in (
            (r"POST /v1/files", self.upload),
            (r"POST /v1/batches", self.openai_create),
            (r"GET /v1/batches", self.any_list),
            (r"GET /v1/batches/(\w+)", self.any_poll),
            (r"GET /v1/files/(\w+)/content", self.openai_results),
            (r"POST /v1/messages/batches", self.anthropic_create),
            (r"GET /v1/messages/batches", self.anthropic_list),
            (r"GET /v1/messages/batches/(\w+)", self.anthropic_poll),
            (r"GET /v1/messages/batches/(\w+)/results", self.anthropic_results),
            (r"POST /v1/models/[\w.-]+:batchGenerateContent", self.gemini_create),
        ):
            if match := re.fullmatch(pattern, f"{method} {parts.path}"):
                with self._lock:
                    self.asked.append(f"{method} {parts.path}")
                    return work(*match.groups(), data=data, query=query)
        raise KeyError(path)

    def upload(self, *, data: bytes, query: Any) -> tuple[Step, Any]:
        name = f"file{len(self.files)}"
        lines = [line for line in data.decode().splitlines() if line.startswith('{"custom_id"')]
        self.files[name] = "\n".join(lines)
        return "upload", {"id": name, "object": "file"}

    def openai_create(self, *, data: bytes, query: Any) -> tuple[Step, Any]:
        body = json.loads(data)
        sent = [json.loads(line) for line in self.files[body["input_file_id"]].splitlines()]
        lines = [(line["custom_id"], line["body"]) for line in sent]
        return "create", self.openai(self.make(lines, body.get("metadata")))

    def any_list(self, *, data: bytes, query: Any) -> tuple[Step, Any]:
        """List batches of OpenAI, or of Gemini: both have one path."""
        if "pageSize" not in query:
            return self.openai_list(data=data, query=query)
        return self.gemini_list(data=data, query=query)

    def any_poll(self, name: str, *, data: bytes, query: Any) -> tuple[Step, Any]:
        if isinstance(self.batches[name].label, str):
            return self.gemini_poll(name, data=data, query=query)
        return self.openai_poll(name, data=data, query=query)

    def openai_list(self, *, data: bytes, query: Any) -> tuple[Step, Any]:
        return "list", self.page([self.openai(b) for b in self.batches.values()], query, "after")

    def openai_poll(self, name: str, *, data: bytes, query: Any) -> tuple[Step, Any]:
        return "poll", self.openai(self.look(name))

    def openai_results(self, name: str, *, data: bytes, query: Any) -> tuple[Step, Any]:
        return "results", self.files[name]

    def openai(self, batch: Batch) -> dict[str, Any]:
        state = {"id": batch.name, "object": "batch", "metadata": batch.label}
        state |= {"created_at": int(time.time())}
        if not self.ended(batch):
            return {**state, "status": "in_progress"}
        lines: dict[str, list[str]] = {"output": [], "error": []}
        worst = 200
        for key, body in batch.lines:
            status, answer = self.answer(body)
            worst = min(worst, status)
            response = {"status_code": status, "body": answer} if status > 0 else None
            line = {"custom_id": key, "response": response}
            lines["output" if status == 200 else "error"].append(
                json.dumps(line, ensure_ascii=False)
            )
        state["status"] = {0: "expired", -1: "cancelled"}.get(worst, "completed")
        for kind, found in lines.items():
            if found:
                self.files[f"{kind}{batch.name}"] = "\n".join(reversed(found))
                state[f"{kind}_file_id"] = f"{kind}{batch.name}"
        return state

    def anthropic_create(self, *, data: bytes, query: Any) -> tuple[Step, Any]:
        lines = [(item["custom_id"], item["params"]) for item in json.loads(data)["requests"]]
        return "create", self.anthropic(self.make(lines, None))

    def anthropic_list(self, *, data: bytes, query: Any) -> tuple[Step, Any]:
        items = [self.anthropic(b) for b in self.batches.values()]
        for batch in self.batches.values():
            batch.polls += 1
        return "list", self.page(items, query, "after_id")

    def anthropic_poll(self, name: str, *, data: bytes, query: Any) -> tuple[Step, Any]:
        return "poll", self.anthropic(self.look(name))

    def anthropic(self, batch: Batch) -> dict[str, Any]:
        counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
        ended = self.ended(batch)
        counts["succeeded" if ended else "processing"] = len(batch.lines)
        elsewhere = "http://127.0.0.1:1/elsewhere"  # the SDK would send the key there
        return {
            "id": batch.name,
            "type": "message_batch",
            "processing_status": "ended" if ended else "in_progress",
            "request_counts": counts,
            "created_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "results_url": elsewhere if ended else None,
        }

    def anthropic_results(self, name: str, *, data: bytes, query: Any) -> tuple[Step, Any]:
        lines = []
        for key, body in self.batches[name].lines:
            status, answer = self.answer(body)
            result = {"type": "errored", "error": {"type": "error", **answer}} if answer else {}
            if status == 200:
                result = {"type": "succeeded", "message": answer}
            elif status <= 0:
                result = {"type": "canceled" if status else "expired"}
            lines.append(json.dumps({"custom_id": key, "result": result}, ensure_ascii=False))
        return "results", "\n".join(reversed(lines))

    def gemini_create(self, *, data: bytes, query: Any) -> tuple[Step, Any]:
        body = json.loads(data)["batch"]
        lines = [
            (item["metadata"]["key"], item["request"])
            for item in body["inputConfig"]["requests"]["requests"]
        ]
        return "create", self.gemini(self.make(lines, body["displayName"]))

    def gemini_list(self, *, data: bytes, query: Any) -> tuple[Step, Any]:
        jobs = [self.gemini(batch) for batch in self.batches.values()][::-1]
        start = int(query.get("pageToken", 0))
        page: dict[str, Any] = {"operations": jobs[start : start + PAGE]}
        if start + PAGE < len(jobs):
            page["nextPageToken"] = str(start + PAGE)
        return "list", page

    def gemini_poll(self, name: str, *, data: bytes, query: Any) -> tuple[Step, Any]:
        return "poll", self.gemini(self.look(name))

    def gemini(self, batch: Batch) -> dict[str, Any]:
        state = "BATCH_STATE_SUCCEEDED" if self.ended(batch) else "BATCH_STATE_RUNNING"
        about: dict[str, Any] = {"displayName": batch.label, "state": state}
        job = {"name": f"batches/{batch.name}", "metadata": about}
        if self.ended(batch):
            answers = []
            for key, body in batch.lines:
                status, answer = self.answer(body)
                result = {"response": answer} if status == 200 else {"error": answer}
                answers.append({"metadata": {"key": key}, **result})
            about["output"] = {"inlinedResponses": {"inlinedResponses": answers[::-1]}}
        return job

    def look(self, name: str) -> Batch:
        """Return a batch that is looked at."""
        self.polled.set()
        batch = self.batches[name]
        batch.polls += 1
        return batch

    def page(self, items: list[Any], query: dict[str, str], cursor: str) -> dict[str, Any]:
        """Return a page of a list, the newest first."""
        items = items[::-1]
        names = [item["id"] for item in items]
        start = names.index(query[cursor]) + 1 if cursor in query else 0
        page = items[start : start + PAGE]
        more = start + PAGE < len(items)
        ends = {"first_id": page[0]["id"], "last_id": page[-1]["id"]} if page else {}
        return {"object": "list", "data": page, "has_more": more, **ends}


_ODD: dict[Step, Any] = {step: ["odd"] for step in ("upload", "create", "poll", "list")}


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    provider: Provider

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        self.work(b"")

    def do_POST(self) -> None:
        self.work(self.rfile.read(int(self.headers["Content-Length"] or 0)))

    def work(self, data: bytes) -> None:
        step = self.step()
        how = self.provider.fault(step)
        error = {"type": "error", "error": {"type": "not_found_error", "message": "no such batch"}}
        if isinstance(how, int):
            error["error"] = {"type": "api_error", "message": "not now", "code": how}
            return self.send(how, json.dumps(error))
        if how == "gone":
            error["error"] |= {"code": 404}  # type: ignore[operator]
            return self.send(404, json.dumps(error))
        if how == "gone page":
            return self.send(404, "<html><title>nginx</title></html>", "text/html")
        step, answer = self.provider.handle(self.command, self.path, data)
        text = answer if isinstance(answer, str) else json.dumps(answer)
        if how == "lose":
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return None
        if how == "stall":
            time.sleep(0.5)
        if how == "html":
            return self.send(200, "<!doctype html><title>Sign in</title>", "text/html")
        if how == "odd":
            text = json.dumps(_ODD.get(step, 1))
        if how == "break":
            text = re.sub('^.*"custom_id"', '{"custom', text, count=1)
            text = text if isinstance(answer, str) else text[: len(text) // 2]
        kind = "application/x-jsonl" if isinstance(answer, str) else "application/json"
        return self.send(200, text, kind, cut=how == "cut")

    def step(self) -> Step:
        path = self.path.partition("?")[0]
        if self.command == "POST":
            return "upload" if path == "/v1/files" else "create"
        if path.endswith("/batches"):
            return "list"
        return "results" if path.endswith(("/results", "/content")) else "poll"

    def send(
        self, status: int, text: str, kind: str = "application/json", *, cut: bool = False
    ) -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[: len(data) // 2] if cut else data)
        if cut:
            self.close_connection = True
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)


class _Http(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: clients that leave early are part of the tests."""


@contextlib.contextmanager
def serving(provider: Provider) -> Iterator[Provider]:
    """Serve a provider on a free port of 127.0.0.1."""
    server = _Http(("127.0.0.1", 0), type("Handler", (_Handler,), {"provider": provider}))
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    provider.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()


def environment(url: str) -> dict[str, str]:
    """Return the variables by which the SDKs' calls go to an address."""
    return {
        "OPENAI_BASE_URL": f"{url}/v1",
        "OPENAI_API_KEY": "k",
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "k",
        "GOOGLE_GEMINI_BASE_URL": url,
        "GEMINI_API_KEY": "k",
    }
