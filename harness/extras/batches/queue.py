"""Calls gathered into batches, submitted, polled, and handed back to those who wait."""

import asyncio
import hashlib
import json
import logging
import pathlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from harness.extras.batches.ledger import Ledger, Submitted
from harness.extras.batches.services import Result, Service, service_of
from harness.models import ChatModel, Endpoint
from harness.models.errors import Problem, Wire
from harness.models.remote import RemoteModel
from harness.options import Limits
from harness.types import Reply, Request

log = logging.getLogger("turnbench")

AT_ONCE = 20_000
"""Jobs that may wait for batches at once."""
_DAYS = 3 * 86_400.0
"""How long a call may take."""


@dataclass(slots=True)
class Pauses:
    """Seconds."""

    gather: float = 2.0
    """Without a further call, after which those that wait are submitted."""
    first: float = 5.0
    """Until a batch is looked at; it grows to the longest."""
    longest: float = 60.0


PAUSES = Pauses()
"""Tests set shorter ones."""


class BatchEngine:
    """Where calls are made: in the providers' batches."""

    fixed: int | None = AT_ONCE
    stays = "the batches stay at their provider"

    def __init__(self, limits: Limits, state: pathlib.Path) -> None:
        self._state = state

    def open(self, endpoint: Endpoint) -> ChatModel:
        """Return a chat model whose calls go into batches; built-in ones answer at once."""
        if endpoint.provider.startswith("builtin"):
            return endpoint.open()
        patient = msgspec.structs.replace(endpoint, timeout=_DAYS)
        model = patient.open()
        service = service_of(endpoint, model)  # type: ignore[arg-type]
        assert isinstance(model, RemoteModel)
        return BatchModel(model, _Queue(service, Ledger(endpoint, self._state)))

    async def close(self) -> None:
        """Do nothing: the chat models have stopped their polling."""


class BatchModel:
    """A remote chat model whose requests are sent in batches, and read and repaired as always."""

    def __init__(self, model: RemoteModel, queue: "_Queue") -> None:
        self.name = model.name
        self._model, self._queue = model, queue
        model.send = queue.send  # type: ignore[method-assign]

    async def reply(self, request: Request) -> Reply:
        """Return the reply, hours later perhaps."""
        reply = await self._model.reply(request)
        reply.detail = msgspec.structs.replace(reply.detail, batch=True)
        return reply

    async def close(self) -> None:
        """Stop polling and release connections; batches go on."""
        await self._queue.close()
        await self._model.close()


@dataclass(eq=False)
class _Queue:
    service: Service
    ledger: Ledger
    waiting: dict[str, tuple[Wire, asyncio.Future[Result]]] = field(default_factory=dict)
    """Requests that are in no batch yet."""
    expected: dict[str, asyncio.Future[Result]] = field(default_factory=dict)
    """Requests in batches, for whose results somebody waits."""
    asked: Counter[str] = field(default_factory=Counter)
    tasks: set[asyncio.Task[None]] = field(default_factory=set)
    polled: set[str] = field(default_factory=set)
    timer: asyncio.TimerHandle | None = None
    broken_off: bool = False

    def __post_init__(self) -> None:
        self.found = self.ledger.waiting
        """Requests of an earlier run whose results were not taken, each with its batch."""
        if self.found:
            log.info(
                "%s: %d requests are in batches of an earlier run",
                self.service.model.name,
                len(self.found),
            )

    async def send(self, wire: Wire) -> Any:
        """Return the answer to a request; what the service says of it is a `Problem`."""
        key = self._key(wire)
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        if key in self.found:
            self.expected[key] = future
            self._poll(self.found.pop(key))
        else:
            self.waiting[key] = wire, future
            self._submit_soon()
        try:
            result = await future
        except asyncio.CancelledError:
            self.broken_off = True
            raise
        finally:
            self.expected.pop(key, None)
            self.waiting.pop(key, None)
        self.ledger.use(key)
        if result.status == 0:
            raise Problem("outage", "the batch ended before this request was processed")
        if result.status >= 400:
            raise self.service.model.problem_of(result.status, result.body, {}, wire)
        return result.body

    async def close(self) -> None:
        """Stop polling. After a whole run nothing in its batches is needed any more."""
        if self.timer is not None:
            self.timer.cancel()
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        if not self.broken_off:
            for batch in self.polled:
                self.ledger.done(batch)
        self.ledger.close()

    def _key(self, wire: Wire) -> str:
        """Return a request's name: equal ones are told apart by a number."""
        text = json.dumps([wire.body, wire.headers], sort_keys=True)
        content = hashlib.sha256(text.encode()).hexdigest()[:32]
        while True:
            key = f"{content}-{self.asked[content]}"
            self.asked[content] += 1
            if key not in self.ledger.used:
                return key

    def _submit_soon(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
        full = len(self.waiting) >= self.service.most
        pause = 0.0 if full else PAUSES.gather
        self.timer = asyncio.get_running_loop().call_later(pause, self._submit_all)

    def _submit_all(self) -> None:
        """Submit what waits; requests with different headers cannot share a batch."""
        groups: dict[tuple[tuple[str, str], ...], list[tuple[str, Wire]]] = {}
        for key, (wire, future) in self.waiting.items():
            groups.setdefault(tuple(sorted(wire.headers.items())), []).append((key, wire))
            self.expected[key] = future
        self.waiting.clear()
        for group in groups.values():
            for start in range(0, len(group), self.service.most):
                self._run(self._submit(group[start : start + self.service.most]))

    async def _submit(self, wires: Sequence[tuple[str, Wire]]) -> None:
        keys = [key for key, _ in wires]
        try:
            name = await self.service.submit(wires)
        except Exception as error:
            self._fail(keys, self.service.model.problem(error, wires[0][1]) or error)
            return
        batch = Submitted(name, keys)
        self.ledger.submitted(batch)
        log.info("%s: submitted %d requests as %s", self.service.model.name, len(keys), name)
        self._poll(batch)

    def _poll(self, batch: Submitted) -> None:
        if batch.name not in self.polled:
            self.polled.add(batch.name)
            self._run(self._collect(batch))

    async def _collect(self, batch: Submitted) -> None:
        """Wait until a batch has ended, and hand its results to those who wait for them."""
        try:
            fault = await self._ended(batch.name)
            if fault:
                self._fail(batch.keys, Problem("bad request", f"the batch failed: {fault}"))
                return
            async for result in self.service.results(batch.name, batch.keys):
                future = self.expected.get(result.key)
                if future is not None and not future.done():
                    future.set_result(result)
        except Exception as error:
            self._fail(batch.keys, self.service.model.problem(error, Wire()) or error)
            return
        self._fail(batch.keys, Problem("outage", "the batch has no result for this request"))

    async def _ended(self, batch: str) -> str:
        """Return why a batch failed, once it has ended; empty: it did not."""
        pause = PAUSES.first
        while True:
            try:
                state = await self.service.state(batch)
            except Exception as error:
                problem = self.service.model.problem(error, Wire())
                if problem is None or problem.kind in ("key refused", "unknown model"):
                    raise
                log.warning("%s; asked again in %g s", problem.error(self._endpoint), pause)
            else:
                if state.ended:
                    return state.fault
            await asyncio.sleep(pause)
            pause = min(2 * pause, PAUSES.longest)

    @property
    def _endpoint(self) -> Endpoint:
        return self.service.model.endpoint

    def _fail(self, keys: Sequence[str], error: BaseException) -> None:
        """Raise an error in those who wait for these results."""
        for key in keys:
            future = self.expected.get(key)
            if future is not None and not future.done():
                future.set_exception(error)

    def _run(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
