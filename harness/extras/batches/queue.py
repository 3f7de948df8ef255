"""Calls gathered into batches, submitted, polled, and handed back to those who wait."""

import asyncio
import dataclasses
import logging
import pathlib
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import msgspec

from harness.errors import ChatError, EndpointError, TransientError, UsageError, ends_run
from harness.extras.batches.journal import Batch, Journal, key_of
from harness.extras.batches.services import SERVICES, Result, Service, Undecided
from harness.models import ChatModel, Endpoint
from harness.models.errors import REPAIRED, Problem, Wire
from harness.models.remote import RemoteModel
from harness.options import Limits
from harness.running.jobs import Engine
from harness.running.worker import patience_for
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
SETTLE = 10.0
"""Seconds after which a submission whose answer was lost is among the service's batches."""
READS = 3
"""How often results are read before a request without a readable one goes into another batch."""
GONE = 3
"""Polls in a row to which a service must say that it does not know a batch."""
TRIES = 3
"""Batches that a request goes into before it fails."""


class BatchEngine(Engine):
    """Where calls are made: in the providers' batches."""

    fixed = AT_ONCE
    stays = "the batches stay at their provider"

    def __init__(self, limits: Limits, state: pathlib.Path) -> None:
        self._limits, self._state = limits, state
        self._queues: list[BatchQueue] = []

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
        journal = Journal(endpoint, self._state, redo=self.redo)
        queue = BatchQueue(direct, service(direct), journal, self._limits.patience, self._may_pay)
        self._queues.append(queue)
        return BatchModel(type(direct)(endpoint, send=queue.send))

    async def close(self, *, orderly: bool) -> None:
        """Stop polling; batches go on."""
        for queue in self._queues:
            await queue.close(orderly=orderly)

    def _may_pay(self, question: str) -> bool:
        return self._limits.yes or self.agrees(question)


class BatchModel:
    """A remote chat model whose replies say that they come from a batch."""

    def __init__(self, model: RemoteModel) -> None:
        self.name, self._model = model.name, model

    async def reply(self, request: Request) -> Reply:
        """Return the reply, hours later perhaps.

        The run's own tries and patience are made for calls of minutes, so nothing is left to them.
        """
        for attempt in range(1, TRIES + 1):
            try:
                reply = await self._model.reply(request)
                break
            except TransientError as error:
                if attempt == TRIES:
                    text = f"{error} (in {TRIES} batches)"
                    raise ChatError(text, kind=error.kind, status=error.status) from None
        reply.detail = msgspec.structs.replace(reply.detail, batch=True)
        return reply

    async def close(self) -> None:
        """Do nothing: the engine closes the queue once rows are written."""


@dataclasses.dataclass(slots=True, eq=False)
class _Waiter:
    """A request for whose result somebody waits."""

    wire: Wire
    result: asyncio.Future[Result]
    batch: Batch | None = None
    """Where it is; None: it is to be submitted."""


class BatchQueue:
    """The transport of a remote chat model by its provider's batches.

    Whatever may pass (an outage, a page in place of a state, a cut download) is waited for here.
    """

    def __init__(
        self,
        direct: RemoteModel,
        service: Service,
        journal: Journal,
        patience: float | None,
        may_pay: Callable[[str], bool],
    ) -> None:
        self._direct, self._service, self._journal = direct, service, journal
        self._patience, self._may_pay = patience, may_pay
        self._waiting: dict[str, _Waiter] = {}
        self._collected: set[Batch] = set()
        """The batches that a task looks after."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._answered = False
        """Whether the service has answered once in this run."""
        self._failing: float | None = None
        """Since when no submission has succeeded."""
        self._pause = 0.0
        """Seconds until the next try to submit."""

    async def send(self, wire: Wire) -> Any:
        """Return the answer to a request, as a direct call's.

        Raises:
            Problem: what a direct call would have been told.
            TransientError: the batch has no result; sent again, the request goes into another one.
            ChatError: the service failed for good.
        """
        body = {name: value for name, value in wire.body.items() if name != "stream"}
        wire = dataclasses.replace(wire, body=body)  # a batch has none
        key = key_of(wire)
        while True:
            batch, result = await self._result(key, wire)
            if result.lost:
                error = ChatError if result.lost == "cancelled" else TransientError
                what = f"the result of this request in {batch} is {result.lost}"
                raise error(f"{self._direct.name}: {what}", kind="outage")
            if result.status < 300:
                self._direct.answered = True
                return result.body
            problem = self._direct.problem_of(result.status, result.body, {}, wire)
            # What an earlier run was refused is asked again, as with direct calls.
            if not batch.earlier or problem.kind in REPAIRED:
                raise problem

    async def close(self, *, orderly: bool) -> None:
        """Stop polling and release connections; batches go on."""
        if self._timer is not None:
            self._timer.cancel()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._journal.close(orderly=orderly)
        await self._direct.close()

    async def _result(self, key: str, wire: Wire) -> tuple[Batch, Result]:
        """Wait for a request's result, from the batch that has it already or from the next one."""
        waiter = _Waiter(wire, asyncio.get_running_loop().create_future())
        self._waiting[key] = waiter
        waiter.batch = self._journal.holder(key)
        if waiter.batch is None:
            self._submit_soon()
        else:
            self._look_after(waiter.batch)
        try:
            result = await waiter.result
        finally:
            del self._waiting[key]
        assert waiter.batch is not None
        waiter.batch.taken.add(key)
        return waiter.batch, result

    # Submitting

    def _submit_soon(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        unsent = sum(waiter.batch is None for waiter in self._waiting.values())
        pause = self._pause or (0.0 if unsent >= self._service.most else GATHER)
        self._timer = asyncio.get_running_loop().call_later(pause, self._submit_all)

    def _submit_all(self) -> None:
        """Submit what waits; requests with different headers cannot share a batch."""
        groups: dict[str, list[str]] = {}
        for key, waiter in self._waiting.items():
            if waiter.batch is None:
                groups.setdefault(repr(sorted(waiter.wire.headers.items())), []).append(key)
        for keys in groups.values():
            for start in range(0, len(keys), self._service.most):
                part = keys[start : start + self._service.most]
                batch = self._journal.intend(part)
                for key in part:
                    self._waiting[key].batch = batch
                wires = [(key, self._waiting[key].wire) for key in part]
                self._run(self._submit(batch, wires))

    async def _submit(self, batch: Batch, wires: Sequence[tuple[str, Wire]]) -> None:
        """Submit a batch that is written down, and look after it."""
        try:
            name = await self._service.submit(batch, wires)
        except Exception as error:
            problem, failure = self._meaning(error)
            if isinstance(error, ChatError) or (problem is not None and _is_refusal(problem)):
                self._journal.ended(batch, "refused")
                self._submit_again(batch, failure)
                return
            if problem is None:
                self._fail(batch, failure)
                return
            log.warning("%s; whether the submission arrived is looked up", failure)
        else:
            self._accepted(batch, name)
            log.info("%s: submitted %d requests as %s", self._direct.name, len(wires), name)
        self._look_after(batch)

    def _accepted(self, batch: Batch, name: str) -> None:
        self._journal.accepted(batch, name)
        self._failing, self._pause, self._answered = None, 0.0, True

    def _submit_again(self, batch: Batch, error: Exception | None = None) -> None:
        """Let the requests that wait for a batch go into another one.

        `error`: why the batch did not come to be; if that may pass, as long as patience lasts.
        """
        if error is not None:
            now = time.monotonic()
            if self._failing is None:
                self._failing = now
                log.warning("%s; submitted again until it succeeds", error)
            self._pause = min(2 * self._pause or FIRST_POLL, LONGEST_POLL)
            if not isinstance(error, TransientError):
                self._fail(batch, error)
            else:
                self._give_up(batch, error, now - self._failing + self._pause)
        for _, waiter in self._waiters(batch):
            waiter.batch = None
        self._submit_soon()

    def _give_up(self, batch: Batch, error: ChatError, seconds: float) -> None:
        """Fail the requests of a batch if it has failed for longer than patience lasts."""
        patience = patience_for(self._patience, error, answered=self._answered)
        if seconds > patience:
            kind, text = error.kind, f"{error}; given up after {patience:g} s (--patience)"
            final = ChatError(text, kind=kind, status=error.status)
            if ends_run(kind):
                final = EndpointError(text, kind=kind, status=error.status)
            self._fail(batch, final)

    # Collecting

    def _look_after(self, batch: Batch) -> None:
        if batch not in self._collected:
            self._collected.add(batch)
            self._run(self._collect(batch))

    async def _collect(self, batch: Batch) -> None:
        """Wait until a batch has ended, and hand its results to those who wait for them."""
        pause, reads, gone = FIRST_POLL, 0, 0
        failing: float | None = None
        while self._waiters(batch):
            try:
                if await self._poll(batch, last=reads + 1 >= READS):
                    reads += 1
                gone, failing, self._answered = 0, None, True
            except Undecided:
                pass
            except Exception as error:
                problem, failure = self._meaning(error)
                gone = gone + 1 if self._service.is_gone(error) else 0
                # A page with 404 is of something before the service.
                away = problem is not None and problem.status == 404 and (gone or self._answered)
                if gone >= GONE:
                    self._forget(batch)
                elif not (isinstance(failure, TransientError) or away):
                    self._fail(batch, failure)
                elif isinstance(failure, ChatError):
                    if failing is None:
                        failing = time.monotonic()
                        what = f"{self._direct.name}: the provider does not know {batch}"
                        log.warning("%s; asked again", what if gone else failure)
                    # Once the service has answered, a batch is waited for through any outage.
                    if not self._answered or ends_run(failure.kind):
                        self._give_up(batch, failure, time.monotonic() - failing + pause)
            if self._waiters(batch):
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_POLL)
        self._collected.discard(batch)

    async def _poll(self, batch: Batch, *, last: bool) -> bool:
        """Look at a batch once, and read its results if it has ended; return whether they were.

        `last`: requests without a readable result have none.
        """
        if not batch.name and not await self._find(batch):
            return False
        state = await self._service.state(batch.name)
        if state.failed is not None:
            self._journal.ended(batch, "failed")
            text = f"{self._direct.name}: {batch} failed: {state.failed}".rstrip(": ")
            self._fail(batch, ChatError(text, kind="error"))
        if not state.ended:
            return False
        results = await self._service.results(batch, state)
        # Replies first: refusals mean something else at an endpoint that has given no reply.
        for result in sorted(results, key=lambda result: result.status != 200):
            self._hand_over(batch, result)
        if last:
            for key, _ in self._waiters(batch):
                self._hand_over(batch, Result(key, 0, lost="unreadable"))
        return True

    async def _find(self, batch: Batch) -> bool:
        """Look for a submission whose answer was lost; return whether it arrived."""
        await asyncio.sleep(max(0.0, min(SETTLE, batch.time + SETTLE - time.time())))
        name = await self._service.find(batch, self._journal.names)
        if name:
            log.info("%s: found %s: %d requests", self._direct.name, name, len(batch.keys))
            self._accepted(batch, name)
            return True
        self._journal.ended(batch, "never arrived")
        what = f"{self._direct.name}: a submission of {len(batch.keys)} requests did not arrive"
        self._submit_again(batch, None if batch.earlier else TransientError(what))
        return False

    def _forget(self, batch: Batch) -> None:
        """Submit the requests of a batch that is gone again, if the user will pay for them."""
        count = len(self._waiters(batch))
        what = f"{self._direct.name}: the provider does not know {batch} any more"
        if not batch.name:
            what = f"{self._direct.name}: whether {batch} was submitted cannot be looked up"
        if self._may_pay(f"{what}; submit its {count} requests again, at their price?"):
            log.warning("%s; its %d requests are submitted again", what, count)
            self._journal.ended(batch, "gone")
            self._submit_again(batch)
        else:
            text = f"{what}; --yes submits its {count} requests again, at their price"
            self._fail(batch, ChatError(text, kind="error"))

    def _hand_over(self, batch: Batch, result: Result) -> None:
        """Give a result to the one who waits for it."""
        waiter = self._waiting.get(result.key)
        if waiter is not None and waiter.batch is batch and not waiter.result.done():
            waiter.result.set_result(result)

    # Both

    def _waiters(self, batch: Batch) -> list[tuple[str, _Waiter]]:
        """Return the requests that wait for a result of a batch."""
        waiters = [(key, self._waiting.get(key)) for key in batch.keys]
        return [
            (key, waiter)
            for key, waiter in waiters
            if waiter is not None and waiter.batch is batch and not waiter.result.done()
        ]

    def _meaning(self, error: Exception) -> tuple[Problem | None, Exception]:
        """Return the problem behind an exception of a service, and the harness's error for it."""
        problem = self._direct.problem(error, Wire())
        return problem, error if problem is None else problem.error(self._direct.endpoint)

    def _fail(self, batch: Batch, error: Exception) -> None:
        """Raise an error in those who wait for a batch."""
        for _, waiter in self._waiters(batch):
            waiter.result.set_exception(error)

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _is_refusal(problem: Problem) -> bool:
    """Return whether the service said no or was not reached: what was sent did not arrive."""
    refused = problem.status is not None and 400 <= problem.status < 500 and problem.status != 408
    return refused or problem.kind == "no connection"
