"""The mock server: OpenAI's chat completions and Anthropic's messages on loopback, as fast as asyncio allows.

    python -m benchmarks.runner_parts.server --core 1      prints its port, serves until its stdin closes

Replies have 200 words, usage, and the verdict that the prompt asks for. `POST /control` with a JSON object of settings
(`median`, `sigma`, `seed`, `record`) returns what was seen since the last one and begins anew.
"""

import argparse
import asyncio
import contextlib
import json
import os
import random
import re
import sys
import threading
import time
from dataclasses import dataclass, field
from typing import Any

from benchmarks.runner_parts.latency import Latency

WORDS = tuple(
    "plain answer reason point detail first second clear short fair weak strong exact wrong right useful missing step "  # noqa: SIM905
    "order tone claim proof number name place reader writer list table room".split()
)
_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
_MARK = b"item-"


def words(count: int, seed: object) -> str:
    """Return a text of that many words, always the same for a seed."""
    drawn = random.Random(f"{seed}").choices(WORDS, k=count)
    return " ".join(f"{word}." if n % 12 == 11 else word for n, word in enumerate(drawn))


def judgment(count: int, seed: object) -> str:
    """Return a text as judges write it, for parsers: paragraphs, a list, quotations."""
    drawn = words(count, seed).split()
    quarter = count // 4
    parts = [drawn[n : n + quarter] for n in range(0, count, quarter)]
    for part in parts:
        part[3], part[8], part[10] = f"{part[3]}'s", f'"{part[8]}', f'{part[10]}"'
    parts[1] = [f"\n- {word}" if n % 10 == 0 else word for n, word in enumerate(parts[1])]
    return "\n\n".join(" ".join(part) for part in parts)


def _body(shape: str, text: str) -> bytes:
    """Return a reply's body with two places for numbers: prompt tokens and their sum with the reply's."""
    if shape == "openai":
        message: dict[str, Any] = {
            "role": "assistant",
            "content": text,
            "refusal": None,
            "annotations": [],
        }
        body: dict[str, Any] = {
            "id": "chatcmpl-mock",
            "object": "chat.completion",
            "created": 1767225600,
            "model": "mock-1",
            "choices": [
                {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
            ],
            "usage": {"prompt_tokens": "COUNT", "completion_tokens": 260, "total_tokens": "COUNT"},
        }
    else:
        body = {
            "id": "msg_mock",
            "type": "message",
            "role": "assistant",
            "model": "mock-1",
            "content": [{"type": "text", "text": text}],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": "COUNT", "output_tokens": 260},
        }
    return json.dumps(body).replace("%", "%%").replace('"COUNT"', "%d").encode()


@dataclass(slots=True)
class Seen:
    """What the server saw since it was last asked."""

    calls: int = 0
    first: float = 0.0
    """When the first request was there, on the machine's monotonic clock."""
    last: float = 0.0
    """When the last reply was written."""
    in_flight: int = 0
    most_in_flight: int = 0
    connections: int = 0


@dataclass(slots=True)
class State:
    """The server's settings and counts."""

    latency: Latency = field(default_factory=Latency)
    record: str | None = None
    """A file that request bodies are appended to, one a line."""
    seen: Seen = field(default_factory=Seen)
    recorded: list[bytes] = field(default_factory=list)

    def control(self, settings: dict[str, Any]) -> dict[str, Any]:
        """Return what was seen, and begin anew with these settings."""
        if self.record is not None and self.recorded:
            with open(self.record, "ab") as file:
                file.writelines(line + b"\n" for line in self.recorded)
        seen = {name: getattr(self.seen, name) for name in Seen.__slots__}
        self.seen, self.recorded = Seen(), []
        self.record = settings.pop("record", None)
        self.latency = Latency(**settings)
        return seen


def _verdict(body: bytes) -> int:
    """Return which reply a prompt asks for: 0 none, 1 a side, 2 and on a rating."""
    if b"[[A]]" in body:
        return 1
    return 2 + len(body) % 9 if b"[[" in body else 0


def replies(shape: str) -> list[bytes]:
    """Return the bodies of the replies, in the order of `_verdict`."""
    ends = ["", "\n\n[[A]]", *(f"\n\nRating: [[{score}]]" for score in range(1, 10))]
    return [_body(shape, judgment(200, n) + end) for n, end in enumerate(ends)]


class Connection(asyncio.Protocol):
    """One client's connection, kept alive."""

    def __init__(
        self, state: State, loop: asyncio.AbstractEventLoop, bodies: dict[str, list[bytes]]
    ) -> None:
        self.state, self.loop, self.bodies = state, loop, bodies
        self.buffer = b""
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.state.seen.connections += 1

    def connection_lost(self, error: Exception | None) -> None:
        """Forget the client."""
        self.transport = None

    def data_received(self, data: bytes) -> None:
        """Take what came, and answer every request that is whole."""
        self.buffer = self.buffer + data if self.buffer else data
        while self.buffer:
            end = self.buffer.find(b"\r\n\r\n")
            if end < 0:
                return
            length = _LENGTH.search(self.buffer, 0, end)
            size = end + 4 + (int(length[1]) if length else 0)
            if len(self.buffer) < size:
                return
            head, body, self.buffer = (
                self.buffer[:end],
                self.buffer[end + 4 : size],
                self.buffer[size:],
            )
            self._request(head.split(b" ", 2)[1], body)

    def _request(self, path: bytes, body: bytes) -> None:
        if path == b"/control":
            self._send(json.dumps(self.state.control(json.loads(body))).encode())
            return
        seen = self.state.seen
        if not seen.calls:
            seen.first = time.monotonic()
        seen.calls += 1
        seen.in_flight += 1
        seen.most_in_flight = max(seen.most_in_flight, seen.in_flight)
        if self.state.record is not None:
            self.state.recorded.append(body)
        shape = "anthropic" if path.endswith(b"/messages") else "openai"
        tokens = len(body) // 4
        template = self.bodies[shape][_verdict(body)]
        reply = template % ((tokens, tokens + 260) if shape == "openai" else (tokens,))
        latency = self.state.latency
        place = body.rfind(_MARK) + len(_MARK)
        wait = (
            latency.of(body[place : place + 8].decode("ascii", "replace"))
            if latency.sigma
            else latency.median
        )
        if wait:
            self.loop.call_later(wait, self._reply, reply, seen)
        else:
            self._reply(reply, seen)

    def _reply(self, body: bytes, seen: Seen) -> None:
        seen.in_flight -= 1
        self._send(body)
        seen.last = time.monotonic()

    def _send(self, body: bytes) -> None:
        if self.transport is not None:
            head = (
                b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
                % len(body)
            )
            self.transport.write(head + body)


async def serve() -> None:
    """Print the port, and serve until stdin closes, so that no server outlives whoever started it."""
    loop = asyncio.get_running_loop()
    state = State()
    bodies = {shape: replies(shape) for shape in ("openai", "anthropic")}
    server = await loop.create_server(
        lambda: Connection(state, loop, bodies), "127.0.0.1", 0, backlog=2048
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    closed = asyncio.Event()

    def wait_for_end() -> None:
        sys.stdin.buffer.read()
        loop.call_soon_threadsafe(closed.set)

    threading.Thread(target=wait_for_end, daemon=True).start()
    await closed.wait()


def main() -> None:
    """Run the server."""
    parser = argparse.ArgumentParser(description=serve.__doc__)
    parser.add_argument("--core", type=int, help="the processor core to stay on (default: any)")
    core = parser.parse_args().core
    if core is not None and hasattr(os, "sched_setaffinity"):
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, {core})
    asyncio.run(serve())


if __name__ == "__main__":
    main()
