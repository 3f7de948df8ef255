"""Calls gathered into batches, submitted, polled, and handed back to those who wait."""

import asyncio
import hashlib
import json
import logging
import pathlib
from collections import Counter
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from harness.errors import TransientError, UsageError
from harness.extras.batches.services import SERVICES, Result, Service
from harness.extras.batches.submitted import Submitted
from harness.models import ChatModel, Endpoint
from harness.models.errors import Problem, Wire
from harness.models.remote import RemoteModel
from harness.options import Limits
from harness.running.jobs import Engine
from harness.types import Reply, Request

log = logging.getLogger("turnbench")

AT_ONCE = 20_000
"""Jobs that may wait for batches at once."""
HTTP_SECONDS = 60.0
"""How long the service may be silent in one HTTP call; a batch may take days."""
GATHER = 2.0
"""Seconds without a further call, after which those that wait are submitted."""
FIRST_POLL, LONGEST_POLL = 5.0, 60.0
"""Seconds until a batch is looked at; they grow from the first to the longest."""


class BatchEngine(Engine):
    """Where calls are made: in the providers' batches."""

    fixed = AT_ONCE
    stays = "the batches stay at their provider"

    def __init__(self, limits: Limits, state: pathlib.Path) -> None:
        self._state = state

    def open(self, endpoint: Endpoint) -> ChatModel:
        """Return a chat model whose calls go into batches; built-in ones answer at once.

        Raises:
            UsageError: the provider has no batches.
        """
        if endpoint.provider.startswith("builtin"):
            return endpoint.open()
        service = SERVICES.get(endpoint.provider)
        if service is None:
            raise UsageError(f"{endpoint.name}: its provider has no batches; leave out --batch")
        direct = msgspec.structs.replace(endpoint, timeout=HTTP_SECONDS).open()
        assert isinstance(direct, RemoteModel)
        return BatchModel(direct, service(direct), Submitted(endpoint, self._state))


class BatchModel:
    """A remote chat model whose requests are sent in batches, and read and repaired as always."""

    def __init__(self, direct: RemoteModel, service: Service, submitted: Submitted) -> None:
        self.name = direct.name
        self._direct, self._service, self._submitted = direct, service, submitted
        self._model = type(direct)(direct.endpoint, send=self._send)
        self._futures: dict[str, asyncio.Future[Result]] = {}
        """Requests for whose results somebody waits."""
        self._unsent: dict[str, Wire] = {}
        """Those of them that are in no batch yet."""
        self._counts: Counter[str] = Counter()
        """How often each request was made."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._polled: set[str] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._earlier = submitted.waiting
        """Requests of an earlier run whose results were not taken, each with its batch."""
        if self._earlier:
            count = len(self._earlier)
            log.info("%s: %d requests are in batches of an earlier run", self.name, count)

    async def reply(self, request: Request) -> Reply:
        """Return the reply, hours later perhaps."""
        reply = await self._model.reply(request)
        reply.detail = msgspec.structs.replace(reply.detail, batch=True)
        return reply

    async def close(self) -> None:
        """Stop polling and release connections; batches go on."""
        if self._timer is not None:
            self._timer.cancel()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._submitted.close()
        await self._model.close()
        await self._direct.close()

    async def _send(self, wire: Wire) -> Any:
        """Return the answer to a request; what the service says of it is a `Problem`."""
        body = {name: value for name, value in wire.body.items() if name != "stream"}
        wire = replace(wire, body=body)  # a batch has none
        key = self._key(wire)
        future = self._futures[key] = asyncio.get_running_loop().create_future()
        if key in self._earlier:
            self._poll(self._earlier.pop(key))
        else:
            self._unsent[key] = wire
            self._submit_soon()
        try:
            result = await future
        finally:
            del self._futures[key]
            self._unsent.pop(key, None)
        self._submitted.add([key])
        if result.status == 0:
            raise Problem("outage", "the batch ended before this request was processed")
        if result.status >= 400:
            raise self._direct.problem_of(result.status, result.body, {}, wire)
        return result.body

    def _key(self, wire: Wire) -> str:
        """Return a request's name: equal ones are told apart by a number."""
        text = json.dumps([wire.body, wire.headers], sort_keys=True)
        content = hashlib.sha256(text.encode()).hexdigest()[:32]
        while True:
            key = f"{content}-{self._counts[content]}"
            self._counts[content] += 1
            if key not in self._submitted.taken:
                return key

    def _submit_soon(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        pause = 0.0 if len(self._unsent) >= self._service.most else GATHER
        self._timer = asyncio.get_running_loop().call_later(pause, self._submit_all)

    def _submit_all(self) -> None:
        """Submit what waits; requests with different headers cannot share a batch."""
        groups: dict[str, list[tuple[str, Wire]]] = {}
        for key, wire in self._unsent.items():
            groups.setdefault(repr(sorted(wire.headers.items())), []).append((key, wire))
        self._unsent.clear()
        for group in groups.values():
            for start in range(0, len(group), self._service.most):
                self._run(self._submit(group[start : start + self._service.most]))

    async def _submit(self, wires: Sequence[tuple[str, Wire]]) -> None:
        keys = [key for key, _ in wires]
        try:
            batch = await self._service.submit(wires)
        except Exception as error:
            self._fail(keys, error)
            return
        self._submitted.add(keys, batch)
        log.info("%s: submitted %d requests as %s", self.name, len(keys), batch)
        self._poll(batch)

    def _poll(self, batch: str) -> None:
        if batch not in self._polled:
            self._polled.add(batch)
            self._run(self._collect(batch))

    async def _collect(self, batch: str) -> None:
        """Wait until a batch has ended, and hand its results to those who wait for them."""
        keys = self._submitted.batches[batch]
        try:
            await self._end_of(batch)
            async for result in self._service.results(batch, keys):
                self._hand_over(result)
        except Exception as error:
            if isinstance(error, Problem):  # the batch failed: it is not looked at again
                self._submitted.add(keys)
            self._fail(keys, error)
        for key in keys:
            self._hand_over(Result(key, 0, None))

    def _hand_over(self, result: Result) -> None:
        """Give a result to the one who waits for it."""
        future = self._futures.get(result.key)
        if future is not None and not future.done():
            future.set_result(result)

    async def _end_of(self, batch: str) -> None:
        """Wait until a batch has ended."""
        pause = FIRST_POLL
        while True:
            try:
                if await self._service.ended(batch):
                    return
            except Problem:
                raise
            except Exception as error:
                problem = self._direct.problem(error, Wire())
                failure = problem and problem.error(self._direct.endpoint)
                if not isinstance(failure, TransientError):
                    raise
                log.warning("%s; asked again in %g s", failure, pause)
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_POLL)

    def _fail(self, keys: Sequence[str], error: Exception) -> None:
        """Raise an error in those who wait for these results."""
        error = self._direct.problem(error, Wire()) or error
        for key in keys:
            future = self._futures.get(key)
            if future is not None and not future.done():
                future.set_exception(error)

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
