"""The batches of all providers: OpenAI's files and batches, Anthropic's, Gemini's, and how each one goes.

desk = BatchDesk(Script(polls=2, outcome=lambda asked: "expired" if "2" in asked.texts[-1] else None))
with ProtocolServer(batches=desk) as server: ...
desk.made          # the batches that were handed in, in order
desk.answered      # every request that was answered in one, and has to be paid
"""

import json
import random
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias

from tests.old.protocol import bodies
from tests.old.protocol.faults import Fault
from tests.old.protocol.messages import Asked

Outcome: TypeAlias = Literal["expired", "cancelled", "missing"] | Fault | None
Answer: TypeAlias = Callable[[Asked], Awaitable[bytes | Fault]]


@dataclass(frozen=True)
class Script:
    """How one batch goes."""

    polls: int = 0
    """How often somebody looks, at it or at the list of batches, before it has ended."""
    outcome: Callable[[Asked], Outcome] = lambda asked: None
    """What a request comes to: expired, cancelled, no line at all, an error; None: the reply."""
    refusal: Sequence[Mapping[str, Any]] = ()
    """OpenAI's errors for the batch as a whole: code, message, and perhaps line and param."""
    cut: int = 0
    """How many of the first downloads of results stop halfway."""


@dataclass
class Made:
    """A batch that was handed in."""

    name: str
    kind: Literal["openai", "anthropic", "gemini"]
    requests: list[tuple[str, Asked]]
    script: Script
    metadata: Mapping[str, str] = field(default_factory=dict)
    created: float = field(default_factory=time.time)
    polls: int = 0
    downloads: int = 0
    cancelled: bool = False
    lines: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    """The results and which file they stand in, `output` or `error`, in no order."""

    @property
    def ended(self) -> bool:
        """Whether its results can be read."""
        return self.cancelled or self.polls > self.script.polls


class BatchDesk:
    """Takes batches, and answers all calls about them."""

    def __init__(self, script: Script | Callable[[int], Script] = Script(), *, supported: bool = True) -> None:
        self.script = script
        self.supported = supported
        self.files: dict[str, bytes] = {}
        self.made: list[Made] = []
        self.answered: list[Asked] = []
        """Every request that was answered with a reply."""

    async def take(self, asked: Asked, answer: Answer) -> tuple[int, bytes]:
        """Return status and body for a call; `answer` makes the reply of one request."""
        if not self.supported:
            return 404, b'{"error": {"message": "Not Found"}}'
        path = asked.path.partition("?")[0]
        for pattern, act in (
            (r"/v1/models/([^/:]+):batchGenerateContent", self._gemini),
            (r"/v1/(batches/[\w-]+):cancel", self._cancel),
            *([(r"/v1/(batches(?:/[\w-]+)?)", self._gemini_told)] if asked.of_google else []),
            (r"/v1/files", self._upload),
            (r"/v1/files/([\w-]+)/content", self._download),
            (r"/v1/batches", self._openai),
            (r"/v1/batches/([\w-]+)", self._openai_told),
            (r"/v1/batches/([\w-]+)/cancel", self._cancel),
            (r"/v1/messages/batches", self._anthropic),
            (r"/v1/messages/batches/([\w-]+)", self._anthropic_told),
            (r"/v1/messages/batches/([\w-]+)/cancel", self._cancel),
            (r"/v1/messages/batches/([\w-]+)/results", self._anthropic_results),
        ):
            match = re.fullmatch(pattern, path)
            if match:
                return await act(asked, match.groups(), answer)
        return 404, b'{"error": {"message": "No such path"}}'

    async def _upload(self, asked: Asked, _: Sequence[str], __: Answer) -> tuple[int, bytes]:
        boundary = asked.headers["content-type"].partition("boundary=")[2].encode()
        parts = [part.partition(b"\r\n\r\n") for part in asked.raw.split(b"--" + boundary)]
        (data,) = [content.removesuffix(b"\r\n") for head, _, content in parts if b"filename=" in head]
        name = f"file-{len(self.files)}"
        self.files[name] = data
        return _json({"id": name, "object": "file", "bytes": len(data), "purpose": "batch", "created_at": 1})

    async def _openai(self, asked: Asked, _: Sequence[str], answer: Answer) -> tuple[int, bytes]:
        if asked.method == "GET":
            return _json({"object": "list", "data": self._listed("openai"), "has_more": False})
        lines = [json.loads(line) for line in self.files[asked.body["input_file_id"]].splitlines()]
        requests = [(line["custom_id"], self._request(asked, line["url"], line["body"])) for line in lines]
        made = Made(f"batch_{len(self.made)}", "openai", requests, self._script(), asked.body.get("metadata") or {})
        await self._work(made, answer)
        return _json(_openai_body(made))

    async def _openai_told(self, asked: Asked, names: Sequence[str], _: Answer) -> tuple[int, bytes]:
        made = self._find(names[0])
        if made is None:
            return 404, b'{"error": {"message": "No batch found"}}'
        made.polls += 1
        return _json(_openai_body(made))

    async def _download(self, asked: Asked, names: Sequence[str], __: Answer) -> tuple[int, bytes]:
        batch, _, which = names[0].rpartition("-")
        made = self._find(batch)
        if made is None:
            return 404, b'{"error": {"message": "No such file"}}'
        return 200, self._read(made, [line for file, line in made.lines if file == which])

    async def _anthropic(self, asked: Asked, _: Sequence[str], answer: Answer) -> tuple[int, bytes]:
        if asked.method == "GET":
            listed = self._listed("anthropic")
            return _json({"data": listed, "has_more": False, "first_id": None, "last_id": None})
        requests = [
            (one["custom_id"], self._request(asked, "/v1/messages", one["params"])) for one in asked.body["requests"]
        ]
        made = Made(f"msgbatch_{len(self.made)}", "anthropic", requests, self._script())
        await self._work(made, answer)
        return _json(_anthropic_body(made))

    async def _anthropic_told(self, asked: Asked, names: Sequence[str], _: Answer) -> tuple[int, bytes]:
        made = self._find(names[0])
        if made is None:
            return 404, b'{"type": "error", "error": {"type": "not_found_error", "message": "No batch"}}'
        made.polls += 1
        return _json(_anthropic_body(made))

    async def _anthropic_results(self, asked: Asked, names: Sequence[str], _: Answer) -> tuple[int, bytes]:
        made = self._find(names[0])
        if made is None:
            return 404, b'{"type": "error", "error": {"type": "not_found_error", "message": "No batch"}}'
        return 200, self._read(made, [line for _, line in made.lines])

    async def _gemini(self, asked: Asked, names: Sequence[str], answer: Answer) -> tuple[int, bytes]:
        batch = asked.body["batch"]
        path = f"/v1/models/{names[0]}:generateContent"
        requests = []
        for one in batch["inputConfig"]["requests"]["requests"]:
            assert one["request"].pop("model") == f"models/{names[0]}"
            requests.append((one["metadata"]["key"], self._request(asked, path, one["request"])))
        made = Made(
            f"batches/gemini{len(self.made)}", "gemini", requests, self._script(), {"name": batch["displayName"]}
        )
        await self._work(made, answer)
        return _json(_gemini_body(made))

    async def _gemini_told(self, asked: Asked, names: Sequence[str], _: Answer) -> tuple[int, bytes]:
        if names[0] == "batches":
            return _json({"operations": self._listed("gemini")})
        made = self._find(names[0])
        if made is None:
            return 404, b'{"error": {"code": 404, "message": "Requested entity was not found.", "status": "NOT_FOUND"}}'
        made.polls += 1
        status, body = _json(_gemini_body(made))
        if made.ended:
            made.downloads += 1
            body = body[: len(body) // 2 + 1] if made.downloads <= made.script.cut else body
        return status, body

    async def _cancel(self, asked: Asked, names: Sequence[str], _: Answer) -> tuple[int, bytes]:
        made = self._find(names[0])
        if made is None:
            return 404, b'{"error": {"message": "No batch found"}}'
        made.cancelled = True
        return _json(_BODIES[made.kind](made))

    def _script(self) -> Script:
        return self.script(len(self.made)) if callable(self.script) else self.script

    def _find(self, name: str) -> Made | None:
        return next((made for made in self.made if made.name == name), None)

    def _listed(self, kind: str) -> list[dict[str, Any]]:
        newest = [made for made in reversed(self.made) if made.kind == kind]
        for made in newest:
            made.polls += 1
        return [_BODIES[made.kind](made) for made in newest]

    def _request(self, asked: Asked, path: str, body: Mapping[str, Any]) -> Asked:
        return Asked(-1, asked.arrived, "POST", path, asked.headers, body)

    async def _work(self, made: Made, answer: Answer) -> None:
        self.made.append(made)
        if made.script.refusal:
            return
        for custom_id, asked in made.requests:
            outcome = made.script.outcome(asked)
            if outcome == "missing":
                continue
            if outcome is None:
                reply = await answer(asked)
                outcome = reply if isinstance(reply, Fault) else None
                if outcome is None:
                    self.answered.append(asked)
                    assert isinstance(reply, bytes)
                    made.lines.append(("output", _replied(made, custom_id, json.loads(reply))))
                    continue
            made.lines.append(("error", _failed(made, custom_id, asked, outcome)))
        random.Random(made.name).shuffle(made.lines)

    def _read(self, made: Made, lines: list[dict[str, Any]]) -> bytes:
        data = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
        made.downloads += 1
        return data[: len(data) // 2 + 1] if made.downloads <= made.script.cut else data


def _replied(made: Made, custom_id: str, body: Any) -> dict[str, Any]:
    if made.kind == "gemini":
        return {"metadata": {"key": custom_id}, "response": body}
    if made.kind == "anthropic":
        return {"custom_id": custom_id, "result": {"type": "succeeded", "message": body}}
    response = {"status_code": 200, "request_id": "r", "body": body}
    return {"id": f"batch_req_{custom_id}", "custom_id": custom_id, "response": response, "error": None}


def _failed(made: Made, custom_id: str, asked: Asked, outcome: Outcome) -> dict[str, Any]:
    if made.kind == "gemini":
        fault = outcome if isinstance(outcome, Fault) else Fault(503, f"This request was not executed: {outcome}.")
        code = 1 if outcome == "cancelled" else _GOOGLE_CODES.get(fault.status, 13)
        error = {**bodies.google_error(fault), "code": code}
        return {"metadata": {"key": custom_id}, "error": error}
    if isinstance(outcome, Fault):
        body = json.loads(bodies.error_body(asked, outcome, "r"))
        if made.kind == "anthropic":
            return {"custom_id": custom_id, "result": {"type": "errored", "error": body}}
        response = {"status_code": outcome.status, "request_id": "r", "body": body}
        return {"id": f"batch_req_{custom_id}", "custom_id": custom_id, "response": response, "error": None}
    if made.kind == "anthropic":
        return {"custom_id": custom_id, "result": {"type": "canceled" if outcome == "cancelled" else "expired"}}
    error = {"code": f"batch_{outcome}", "message": f"This request could not be executed: {outcome}."}
    return {"id": f"batch_req_{custom_id}", "custom_id": custom_id, "response": None, "error": error}


def _openai_body(made: Made) -> dict[str, Any]:
    status = "completed" if made.ended else "in_progress"
    if made.script.refusal:
        status = "failed"
    elif made.cancelled:
        status = "cancelled"
    files = {file for file, _ in made.lines} if status == "completed" else set()
    done = len(made.lines) if status == "completed" else 0
    return {
        "id": made.name,
        "object": "batch",
        "endpoint": "/v1/chat/completions",
        "errors": {"object": "list", "data": list(made.script.refusal)} if made.script.refusal else None,
        "input_file_id": "file-0",
        "completion_window": "24h",
        "status": status,
        "output_file_id": f"{made.name}-output" if "output" in files else None,
        "error_file_id": f"{made.name}-error" if "error" in files else None,
        "created_at": int(made.created),
        "request_counts": {"total": len(made.requests), "completed": done, "failed": 0},
        "metadata": dict(made.metadata),
    }


def _anthropic_body(made: Made) -> dict[str, Any]:
    counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
    if made.ended:
        for _, line in made.lines:
            counts[line["result"]["type"]] += 1
    else:
        counts["processing"] = len(made.requests)
    created = datetime.fromtimestamp(made.created, UTC).isoformat()
    return {
        "id": made.name,
        "type": "message_batch",
        "processing_status": "ended" if made.ended else "in_progress",
        "request_counts": counts,
        "created_at": created,
        "expires_at": created,
        "ended_at": created if made.ended else None,
        "archived_at": None,
        "cancel_initiated_at": None,
        "results_url": f"/v1/messages/batches/{made.name}/results" if made.ended else None,
    }


def _gemini_body(made: Made) -> dict[str, Any]:
    state = "BATCH_STATE_SUCCEEDED" if made.ended else "BATCH_STATE_RUNNING"
    state = "BATCH_STATE_CANCELLED" if made.cancelled else "BATCH_STATE_FAILED" if made.script.refusal else state
    lines = [line for _, line in made.lines] if state == "BATCH_STATE_SUCCEEDED" else []
    created = datetime.fromtimestamp(made.created, UTC).isoformat().replace("+00:00", "Z")
    told = {"displayName": made.metadata["name"], "state": state, "createTime": created, "updateTime": created}
    output = {"output": {"inlinedResponses": {"inlinedResponses": lines}}} if lines else {}
    return {"name": made.name, "metadata": {**told, **output}}


_GOOGLE_CODES = {400: 3, 403: 7, 404: 5, 429: 8, 503: 14, 504: 4}
_BODIES: Mapping[str, Callable[[Made], dict[str, Any]]] = {
    "openai": _openai_body,
    "anthropic": _anthropic_body,
    "gemini": _gemini_body,
}


def _json(value: Mapping[str, Any]) -> tuple[int, bytes]:
    return 200, bodies.encoded(value)
