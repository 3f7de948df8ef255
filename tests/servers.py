"""A loopback server that speaks the protocols of chat models and answers by rules.

    with Server(Rule(status=429, times=2), Rule(say="Paris.")) as server:
        ...                                     # base_url=f"{server.url}/v1"
        assert len(server.calls) == 3

The first rule that holds answers; without one the reply is "Fine.". The protocol follows from the
path: chat completions (also as a stream), completions, responses, Anthropic's messages, Gemini's
generateContent.
"""

import http.server
import json
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self

Protocol = Literal["chat", "completions", "responses", "anthropic", "gemini"]

_PATHS: dict[str, Protocol] = {
    "/chat/completions": "chat",
    "/completions": "completions",
    "/responses": "responses",
    "/messages": "anthropic",
    ":generateContent": "gemini",
}


@dataclass(frozen=True)
class Call:
    """A request that the server received."""

    path: str
    headers: Mapping[str, str]
    """By lower-case names."""
    body: dict[str, Any]

    @property
    def protocol(self) -> Protocol:
        """The protocol by the path."""
        path = self.path.partition("?")[0]
        return next((name for end, name in _PATHS.items() if path.endswith(end)), "chat")

    @property
    def text(self) -> str:
        """The whole body as JSON text."""
        return json.dumps(self.body, ensure_ascii=False)

    @property
    def messages(self) -> list[tuple[str, str]]:
        """Role and text of each message, in whichever protocol; the system text first."""
        body = self.body
        system = body.get("system") or body.get("instructions") or body.get("systemInstruction")
        found = [("system", _plain(system))] if system else []
        said = body.get("messages") or body.get("input") or body.get("contents") or []
        if isinstance(body.get("prompt"), str):
            said = [{"role": "user", "content": body["prompt"]}]
        for message in said:
            role = "assistant" if message["role"] == "model" else message["role"]
            found.append((role, _plain(message.get("content") or message.get("parts"))))
        return found

    @property
    def has_system(self) -> bool:
        """Whether there is a system message."""
        return any(role in ("system", "developer") for role, _ in self.messages)


@dataclass
class Rule:
    """What is answered to the calls for which `when` holds."""

    say: str | Callable[[Call], str] = "Fine."
    when: Callable[[Call], bool] = lambda call: True
    status: int = 200
    body: Any = None
    """Sent in place of a reply: JSON, or a string as an HTML page."""
    content: str | None = None
    """Sent in place of a reply as if it were JSON."""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    """Seconds before the answer."""
    drop: Literal["", "before", "within"] = ""
    """Close the connection before the answer, or in the middle of its body."""
    times: int | None = None
    """How many calls the rule answers; None: any number."""
    finish: str | None = None
    """The protocol's own finish reason."""
    reasoning: str | None = None
    """In the protocol's own field for it."""
    message: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of the message (chat completions)."""
    logprobs: Sequence[tuple[str, float, Sequence[tuple[str, float]]]] | None = None
    """Token, log-probability and the likeliest tokens (chat completions, responses)."""
    usage: Mapping[str, Any] | None = None


class Server:
    """A server on a free port of 127.0.0.1, in a thread of its own."""

    def __init__(self, *rules: Rule) -> None:
        self.rules = list(rules)
        self.calls: list[Call] = []
        self.models: list[str] = []
        """What it lists at `/models`."""
        self.at_once = 0
        """The most calls that were answered at the same time."""
        self._now = 0
        self._lock = threading.Lock()
        self._http = _Http(("127.0.0.1", 0), _handler(self))
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    def rule_for(self, call: Call) -> Rule:
        """Return the rule that answers a call, and count it."""
        with self._lock:
            self.calls.append(call)
            self._now += 1
            self.at_once = max(self.at_once, self._now)
            for rule in self.rules:
                if rule.times != 0 and rule.when(call):
                    rule.times = None if rule.times is None else rule.times - 1
                    return rule
        return Rule()

    def done(self) -> None:
        """Count that a call is answered."""
        with self._lock:
            self._now -= 1


def unused_url() -> str:
    """Return an address on loopback where nothing listens."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{sock.getsockname()[1]}"


class _Http(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: clients that leave early are part of the tests."""


def _handler(server: Server) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

        def do_GET(self) -> None:  # the list of models
            models = [{"id": name, "object": "model"} for name in server.models]
            body = json.dumps({"object": "list", "data": models})
            self.answer(200, "application/json", body.encode(), {})

        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            call = Call(self.path, headers, json.loads(data))
            rule = server.rule_for(call)
            try:
                self.reply(call, rule)
            finally:
                server.done()

        def reply(self, call: Call, rule: Rule) -> None:
            time.sleep(rule.delay)
            if rule.drop == "before":
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            kind = "application/json"
            if rule.content is not None:
                content = rule.content
            elif isinstance(rule.body, str):
                kind, content = "text/html", rule.body
            elif rule.body is not None:
                content = json.dumps(rule.body)
            elif rule.status >= 400:
                content = json.dumps({"error": {"message": "no", "type": None, "code": None}})
            elif call.body.get("stream"):
                kind = "text/event-stream"
                events = [*map(json.dumps, chunks_of(call, rule)), "[DONE]"]
                content = "".join(f"data: {event}\n\n" for event in events)
            else:
                content = json.dumps(reply_of(call, rule))
            data = content.encode()
            if rule.drop == "within":
                self.answer(rule.status, kind, data[: len(data) // 2], rule.headers, len(data))
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)
            else:
                self.answer(rule.status, kind, data, rule.headers)

        def answer(
            self,
            status: int,
            kind: str,
            data: bytes,
            headers: Mapping[str, str],
            length: int | None = None,
        ) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            if "Content-Type" not in headers:
                self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data) if length is None else length))
            self.end_headers()
            self.wfile.write(data)
            self.wfile.flush()

    return Handler


def reply_of(call: Call, rule: Rule) -> dict[str, Any]:
    """Return the body of a reply in the protocol of the call."""
    text = rule.say(call) if callable(rule.say) else rule.say
    maker = {
        "chat": _chat,
        "completions": _completion,
        "responses": _response,
        "anthropic": _anthropic,
        "gemini": _gemini,
    }
    return maker[call.protocol](call, rule, text)


def chunks_of(call: Call, rule: Rule) -> list[dict[str, Any]]:
    """Return the events of a chat completion that is sent as a stream."""
    text = rule.say(call) if callable(rule.say) else rule.say
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": _model(call)}

    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    middle = len(text) // 2
    found = [chunk({"role": "assistant", "content": ""})]
    if rule.reasoning:
        found.append(chunk({"reasoning_content": rule.reasoning}))
    found += [chunk({"content": text[:middle]}), chunk({"content": text[middle:]})]
    found.append(chunk({}, rule.finish or "stop"))
    if (call.body.get("stream_options") or {}).get("include_usage"):
        found.append({**head, "choices": [], "usage": _counted(call, text, rule)})
    return found


def _model(call: Call) -> str:
    return str(call.body.get("model", "m"))


def _counted(call: Call, text: str, rule: Rule) -> dict[str, Any]:
    prompt = sum(len(said.split()) for _, said in call.messages)
    reply = len(text.split())
    counts = {"prompt_tokens": prompt, "completion_tokens": reply, "total_tokens": prompt + reply}
    return {**counts, **(rule.usage or {})}


def _places(rule: Rule) -> list[dict[str, Any]]:
    return [
        {
            "token": token,
            "logprob": logprob,
            "top_logprobs": [{"token": t, "logprob": p} for t, p in top],
        }
        for token, logprob, top in rule.logprobs or ()
    ]


def _chat(call: Call, rule: Rule, text: str) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": text, **rule.message}
    if rule.reasoning is not None:
        message["reasoning_content"] = rule.reasoning
    choice: dict[str, Any] = {
        "index": 0,
        "message": message,
        "finish_reason": rule.finish or "stop",
    }
    if rule.logprobs is not None:
        choice["logprobs"] = {"content": _places(rule)}
    return {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": _model(call),
        "choices": [choice],
        "usage": _counted(call, text, rule),
    }


def _completion(call: Call, rule: Rule, text: str) -> dict[str, Any]:
    return {
        "id": "c",
        "object": "text_completion",
        "created": 1,
        "model": _model(call),
        "choices": [{"index": 0, "text": text, "finish_reason": rule.finish or "stop"}],
        "usage": _counted(call, text, rule),
    }


def _response(call: Call, rule: Rule, text: str) -> dict[str, Any]:
    part: dict[str, Any] = {"type": "output_text", "text": text, "annotations": []}
    if rule.logprobs is not None:
        part["logprobs"] = _places(rule)
    output: list[dict[str, Any]] = []
    if rule.reasoning is not None:
        summary = [{"type": "summary_text", "text": rule.reasoning}]
        output.append({"type": "reasoning", "id": "r", "summary": summary})
    output.append({"type": "message", "id": "m", "role": "assistant", "content": [part]})
    counts = _counted(call, text, rule)
    made: dict[str, Any] = {
        "id": "resp",
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": _model(call),
        "output": output,
        "usage": {
            "input_tokens": counts["prompt_tokens"],
            "output_tokens": counts["completion_tokens"],
            "total_tokens": counts["total_tokens"],
            **(rule.usage or {}),
        },
    }
    if rule.finish:
        made |= {"status": "incomplete", "incomplete_details": {"reason": rule.finish}}
    return made


def _anthropic(call: Call, rule: Rule, text: str) -> dict[str, Any]:
    blocks: list[dict[str, Any]] = [{"type": "text", "text": text}]
    if rule.reasoning is not None:
        blocks.insert(0, {"type": "thinking", "thinking": rule.reasoning, "signature": "s"})
    counts = _counted(call, text, rule)
    return {
        "id": "msg",
        "type": "message",
        "role": "assistant",
        "model": _model(call),
        "content": blocks,
        "stop_reason": rule.finish or "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": counts["prompt_tokens"],
            "output_tokens": counts["completion_tokens"],
            **(rule.usage or {}),
        },
    }


def _gemini(call: Call, rule: Rule, text: str) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [{"text": text}]
    if rule.reasoning is not None:
        parts = [
            {"text": rule.reasoning, "thought": True},
            {"text": text, "thoughtSignature": "c2ln"},
        ]
    counts = _counted(call, text, rule)
    return {
        "candidates": [
            {
                "index": 0,
                "content": {"role": "model", "parts": parts},
                "finishReason": rule.finish or "STOP",
            }
        ],
        "modelVersion": call.path.rpartition("/models/")[2].partition(":")[0],
        "usageMetadata": {
            "promptTokenCount": counts["prompt_tokens"],
            "candidatesTokenCount": counts["completion_tokens"],
            "totalTokenCount": counts["total_tokens"],
            **(rule.usage or {}),
        },
    }


def _plain(content: Any) -> str:
    """Return the text of a message's content: a string, parts, or an object with parts."""
    if isinstance(content, str):
        return content
    parts = content.get("parts", []) if isinstance(content, Mapping) else content or []
    return "".join(str(part.get("text", "")) for part in parts)
