"""The server itself: HTTP/1.1 with keep-alive on 127.0.0.1, in a thread with an event loop of its own."""

import asyncio
import contextlib
import inspect
import json
import threading
import time
from collections import Counter
from collections.abc import Iterable
from http import HTTPStatus
from types import TracebackType

from tests.old.protocol import bodies
from tests.old.protocol.batches import BatchDesk
from tests.old.protocol.faults import Fault, Plan, Sent
from tests.old.protocol.messages import Asked, Responder, Said, parrot

_NEW_ANTHROPIC = "2026-10-21"


class ProtocolServer:
    """A context manager that serves all protocols and remembers everything that it was asked.

    `responder` makes a reply of a request: a text, a `Said`, or an awaitable of either. `faults` says which calls fail:
    by number, or by a function. `refuses` names parameters that are answered by a 400, `api_key` the only key
    accepted, `models` the only models known; `batches` takes batches.
    """

    def __init__(
        self,
        responder: Responder = parrot,
        *,
        faults: Plan | None = None,
        refuses: Iterable[str] = (),
        api_key: str | None = None,
        models: Iterable[str] | None = None,
        latency: float = 0.0,
        port: int = 0,
        batches: BatchDesk | None = None,
    ) -> None:
        self.responder = responder
        self.faults: Plan = {} if faults is None else faults
        self.refuses = frozenset(refuses)
        self.api_key = api_key
        self.models = None if models is None else list(models)
        self.latency = latency
        self.port = port
        self.batches = BatchDesk() if batches is None else batches
        self.connections = 0
        """How many connections were made."""
        self._asked: list[Asked] = []
        self._bodies: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._ready = threading.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._failure: BaseException | None = None

    @property
    def url(self) -> str:
        """The address without a path."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def openai_url(self) -> str:
        """What belongs into `--base-url` or OPENAI_BASE_URL."""
        return f"{self.url}/v1"

    @property
    def anthropic_url(self) -> str:
        """What belongs into ANTHROPIC_BASE_URL."""
        return self.url

    @property
    def requests(self) -> list[Asked]:
        """Everything that arrived so far, in order."""
        with self._lock:
            return list(self._asked)

    @property
    def statuses(self) -> Counter[int]:
        """How often each status was sent; 0 counts dropped connections."""
        return Counter(asked.status for asked in self.requests if asked.status is not None)

    @property
    def most_at_once(self) -> int:
        """The greatest number of calls that were in flight together."""
        steps = [(asked.arrived, 1) for asked in self.requests]
        steps += [(asked.answered, -1) for asked in self.requests if asked.answered is not None]
        most = now = 0
        for _, step in sorted(steps):
            now += step
            most = max(most, now)
        return most

    def __enter__(self) -> "ProtocolServer":
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="protocol server", daemon=True)
        self._thread.start()
        self._ready.wait()
        if self._failure is not None:
            raise self._failure
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        try:
            server = await asyncio.start_server(self._accepted, "127.0.0.1", self.port, backlog=2048)
        except OSError as error:
            self._failure = error
            self._ready.set()
            return
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve a connection, and close it even where the server stops before the first step of that."""
        self.connections += 1
        task = asyncio.create_task(self._serve_connection(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda done: writer.close())

    async def _serve_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):  # the client went away
            while await self._exchange(reader, writer):
                pass

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Read one request and answer it; return whether the connection stays open."""
        asked = await self._read(reader)
        if asked is None:
            return False
        fault = self._wrong(asked)
        if fault is not None and fault.how == "drop":
            self._done(asked, 0)
            writer.transport.abort()
            return False
        if fault is not None and fault.sends is not None:
            in_batch = asked.protocol == "batches"
            good = (await self.batches.take(asked, self._in_batch))[1] if in_batch else await self._good(asked, None)
            await self._send(writer, asked, fault.sends(good))
            return False
        request_id = f"req_{asked.number:06d}"
        status, body = 200, b""
        if asked.protocol == "batches" and (fault is None or fault.how == "lost"):
            status, body = await self.batches.take(asked, self._in_batch)
        if fault is not None and fault.how == "lost":
            self._done(asked, 0)
            writer.transport.abort()
            return False
        if asked.protocol == "models":
            body = bodies.encoded(bodies.models_body(self.models or ["test-model"]))
        elif asked.protocol == "batches" and fault is None:
            pass
        elif fault is None or (fault.how != "whole" and fault.body is None):
            body = await self._good(asked, fault)
        else:
            status, body = fault.status, bodies.error_body(asked, fault, request_id)
        headers = {
            "content-type": "application/json",
            "content-length": str(len(body)),
            "request-id" if asked.protocol == "messages" else "x-request-id": request_id,
            **(fault.headers if fault else {}),
        }
        reason = HTTPStatus(status).phrase if status in HTTPStatus._value2member_map_ else "Error"
        lines = [f"HTTP/1.1 {status} {reason}", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
        self._done(asked, status)
        writer.write("\r\n".join(lines).encode("latin-1"))
        await self._write(writer, asked, body, fault.seconds if fault and fault.how == "drip" else 0.0)
        return asked.headers.get("connection", "").lower() != "close"

    async def _read(self, reader: asyncio.StreamReader) -> Asked | None:
        """Return the next request of a connection; None at its end."""
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        except asyncio.IncompleteReadError:
            return None
        first, *lines = head.split("\r\n")
        method, path, _ = first.split(" ", 2)
        headers = {
            name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)
        }
        data = await reader.readexactly(int(headers.get("content-length", "0")))
        form = headers.get("content-type", "").startswith("multipart/")
        body = json.loads(data) if data and not form else {}
        asked = Asked(0, time.monotonic(), method, path, headers, body, data if form else b"")
        with self._lock:
            asked.number = len(self._asked)
            asked.tries = self._bodies[asked.digest]
            self._bodies[asked.digest] += 1
            self._asked.append(asked)
        return asked

    def _wrong(self, asked: Asked) -> Fault | None:
        """Return how this call fails, or None if it does not."""
        planned = self.faults(asked) if callable(self.faults) else self.faults.get(asked.number)
        if planned is not None:
            return planned
        if self.api_key is not None and asked.key != self.api_key:
            return bodies.wrong_key(asked)
        if asked.protocol == "other":
            return Fault(404, f"Unknown request URL: {asked.method} {asked.path}.")
        if asked.protocol == "batches":
            return None
        return self._refused(asked)

    def _refused(self, asked: Asked) -> Fault | None:
        """Return why a request cannot be answered, whether it came alone or in a batch."""
        if self.models is not None and asked.protocol != "models" and asked.model not in self.models:
            return bodies.unknown_model(asked)
        refused = [name for name in asked.fields if name in self.refuses]
        if asked.protocol == "messages" and asked.headers.get("anthropic-version") == _NEW_ANTHROPIC:
            refused += [name for name in ("temperature", "top_p", "top_k") if name in asked.body]
        if asked.protocol == "messages" and "max_tokens" not in asked.body:
            return Fault(400, "max_tokens: Field required")
        return bodies.unsupported(asked, refused[0]) if refused else None

    async def _in_batch(self, asked: Asked) -> bytes | Fault:
        """Return the reply to a request in a batch."""
        with self._lock:
            asked.tries = self._bodies[asked.digest]
            self._bodies[asked.digest] += 1
        return self._refused(asked) or await self._good(asked, None)

    async def _good(self, asked: Asked, fault: Fault | None) -> bytes:
        """Return the body of a reply, spoilt as the fault says."""
        answer = self.responder(asked)
        said = await answer if inspect.isawaitable(answer) else answer
        said = Said(said) if isinstance(said, str) else said
        latency = self.latency if said.latency is None else said.latency
        if latency:
            await asyncio.sleep(latency)
        reply = bodies.reply_body(asked, said)
        if fault is not None and fault.how == "empty":
            named = {"messages": "content", "gemini": "candidates"}.get(asked.protocol, "choices")
            reply[named] = None if named == "content" else []
        body = bodies.encoded(reply)
        return body[: len(body) // 2] if fault is not None and fault.how == "cut" else body

    async def _send(self, writer: asyncio.StreamWriter, asked: Asked, pieces: Iterable[Sent]) -> None:
        """Send these pieces of an answer, each at its time."""
        self._done(asked, 0)
        for piece in pieces:
            if piece is None:
                writer.transport.abort()
            elif isinstance(piece, float):
                await asyncio.sleep(piece)
            else:
                writer.write(piece)
                await writer.drain()

    async def _write(self, writer: asyncio.StreamWriter, asked: Asked, body: bytes, seconds: float) -> None:
        """Send the body of an answer, at once or byte by byte."""
        for piece in [body[i : i + 1] for i in range(len(body))] if seconds else [body]:
            writer.write(piece)
            await writer.drain()
            if seconds:
                await asyncio.sleep(seconds)

    def _done(self, asked: Asked, status: int) -> None:
        with self._lock:
            asked.status, asked.answered = status, time.monotonic()
