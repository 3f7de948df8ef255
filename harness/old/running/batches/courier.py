"""Submits due requests and collects ready results, while the engine's calls wait for them.

The engine begins calls as usual, and each puts its request into an outbox. When nothing else can begin, all due
requests of one model are submitted together; so first all first turns are one batch, then all second turns, with
those that expired or failed temporarily before.

Submitted batches are recorded (see `ledger.py`), so the process may end at any moment: the next one finds the
batches again, by the names of their jobs and the content of their requests, and collects them.
"""

import asyncio
import contextlib
import itertools
import logging
import pathlib
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from harness.old.chat.batches import QUEUE_FULL, Handed, Prepared, Progress, open_batches
from harness.old.chat.endpoint import Endpoint
from harness.old.chat.model import ChatModel
from harness.old.errors import ChatError, EndpointError, TransientError
from harness.old.records import Reply
from harness.old.running.batches.ledger import Batch, Ledger, custom_id, described, ledger_beside
from harness.old.running.batches.outbox import BatchLane, Outbox
from harness.old.running.breaker import Breaker
from harness.old.running.jobs import Course
from harness.old.running.lanes import Call, Pool
from harness.old.running.limiter import fixed
from harness.old.running.rates import Rates
from harness.old.running.retry import RetryPolicy
from harness.old.running.watch import Tally, Watcher

log = logging.getLogger("turnbench")

YOUNG = 120.0
"""Seconds for which a submitted batch may be missing in the provider's list."""


@dataclass(frozen=True, slots=True)
class Pauses:
    """How long to wait between two looks at the batches, in seconds."""

    first: float = 5.0
    growth: float = 1.5
    longest: float = 120.0
    settling: float = 10.0
    """Seconds after which a submitted batch that is not found counts as never submitted."""

    def after(self, looks: int) -> float:
        """Return the pause after this many polls without news."""
        return min(self.longest, self.first * self.growth ** min(looks, 50))


PAUSES = Pauses()


class _Stopped(Exception):  # noqa: N818  (it is no fault)
    """The run is over; what is at the providers stays there."""


@dataclass
class Courier(contextlib.ExitStack):
    """The batches of one run; a context manager, which keeps the ledgers open."""

    models: Mapping[str, ChatModel]
    policy: RetryPolicy
    """How often the provider is asked again."""
    tally: Tally
    watch: Watcher
    sync: Callable[[], None]
    """Brings records to the disk."""

    def __post_init__(self) -> None:
        """Raise `UsageError` if a model has no batches."""
        super().__init__()
        self._takers = {name: open_batches(model) for name, model in self.models.items()}
        self._outboxes: dict[tuple[str, pathlib.Path], Outbox] = {}
        self._ledgers: dict[pathlib.Path, Ledger] = {}
        self._checked: set[tuple[str, str]] = set()
        """Addresses and models of which it is known that the server has batches."""
        self._unheard: dict[str, tuple[int, float]] = {}
        """How often in a row nothing was learnt of a batch, by its token, and since when."""
        self._waiting: set[Call] = set()
        """The calls without a result."""
        self._quiet = asyncio.Event()
        self._over = asyncio.Event()

    def pool(self, name: str, endpoint: Endpoint | None) -> Pool:
        """Return the pool of a model, with its one lane."""
        policy, unlimited = self.policy, fixed(sys.maxsize)
        lane = BatchLane(
            self.models[name], unlimited, Rates(), Breaker(policy), None, policy, outbox=self._outbox, put=self._put
        )
        return Pool(name, (lane,), endpoint.price if endpoint else None, answered=True)  # `_check` has called it

    @property
    def waiting(self) -> int:
        """Calls whose result has not come."""
        return len(self._waiting)

    @property
    def flights(self) -> list[Batch]:
        """The batches that are at a provider."""
        return [batch for outbox in self._outboxes.values() for batch in outbox.flights]

    def stays(self) -> str:
        """Return the message about the batches that continue at the provider."""
        count = sum(len(batch.wanted) for batch in self.flights)
        batches = f"{len(self.flights)} batches stay" if len(self.flights) > 1 else "1 batch stays"
        requests = f"{count} requests" if count > 1 else "1 request"
        return (
            f"stopped; {batches} with the provider, which continues to process them ({requests});"
            " now or in some days, run the same command again to continue"
        )

    def notice(self, *, quiet: bool, over: bool) -> None:
        """Take note that the engine has nothing else to do than to wait for results; that the run is to end."""
        if quiet:
            self._quiet.set()
        if over:
            self._over.set()

    async def work(self) -> None:
        """Submit and collect until the run is over.

        Raises:
            UsageError: a server has no batches; nothing was submitted.
            EndpointError: a provider can't be called.
        """
        looks = 0
        try:
            while True:
                await self._quiet.wait()
                if self._over.is_set():
                    raise _Stopped
                self.sync()
                for ledger in self._ledgers.values():
                    ledger.sync()
                outboxes = list(self._outboxes.values())
                for outbox in outboxes:
                    await self._check(outbox)
                handed_in = [await self._hand_in(outbox) for outbox in outboxes]
                ended = [await self._look(outbox) for outbox in outboxes]
                looks = 0 if any(handed_in) or any(ended) else looks + 1
                if not any(ended):
                    await self._pause(PAUSES.after(looks))
        except _Stopped:
            return
        except TransientError as error:
            raise EndpointError(str(error), kind=error.kind) from None
        finally:
            for call in self._waiting:
                assert call.outcome is not None
                call.outcome.cancel()
            self._waiting.clear()  # else they are counted as waiting when their calls have ended

    def _outbox(self, course: Course[Any]) -> Outbox:
        """Return where a job belongs: to its model and its output file."""
        kept = course.pending.path
        place = course.job.model, kept
        if place not in self._outboxes:
            if kept not in self._ledgers:
                self._ledgers[kept] = self.enter_context(Ledger(ledger_beside(kept)))
            self._outboxes[place] = Outbox(self._takers[course.job.model], self._ledgers[kept])
        return self._outboxes[place]

    def _put(self, call: Call) -> None:
        self._waiting.add(call)
        self._outbox(call.course).put(call)

    def _answer(self, call: Call, outcome: Reply | ChatError) -> None:
        """Give a call its result. From here on the engine has work to do, and nothing is submitted until it is done."""
        self._quiet.clear()
        self._waiting.discard(call)
        assert call.outcome is not None
        if not call.outcome.done():
            call.outcome.set_result(outcome)

    async def _check(self, outbox: Outbox) -> None:
        """See whether the server has batches at all."""
        if outbox.model.origin not in self._checked:
            await self._retrying(outbox.model.check, first_contact=True)
            self._checked.add(outbox.model.origin)

    async def _hand_in(self, outbox: Outbox) -> bool:
        """Hand in what is due, as far as there is room; return whether anything was."""
        await outbox.give_up_outdated()
        any_made = False
        while not self._over.is_set() and (packed := outbox.pack()):
            any_made = True
            await self._submit(outbox, *packed)
        return any_made

    async def _submit(self, outbox: Outbox, batch: Batch, prepared: list[Prepared]) -> None:
        """Submit a batch; without an answer, check whether it was accepted before submitting it again."""
        self._count()
        again = False

        async def submit() -> None:
            nonlocal again
            if again and not await self._missed(outbox, batch):
                return
            again = True
            outbox.ledger.made(batch, await outbox.model.submit(batch.token, prepared))

        try:
            await self._retrying(submit, " to submit a batch")
        except TransientError:
            raise
        except EndpointError:
            outbox.ledger.drop(batch)
            raise
        except ChatError as error:
            self._refused(outbox, batch, Progress(ended=True, fault=error))

    async def _missed(self, outbox: Outbox, batch: Batch) -> bool:
        """Return whether a batch without a name was certainly never taken; one that is found gets its name."""
        others = {other.name for other in outbox.ledger.batches.values() if other.name is not None}
        for pause in (PAUSES.settling, None):
            try:
                found = await outbox.model.find(batch.token, len(batch.asks), batch.at, others)
            except TransientError as error:
                self._failed_look(outbox, batch, error)
                return False
            if found.batch is not None:
                outbox.ledger.made(batch, found.batch)
                return False
            if not found.certain:
                return False
            if batch.age > YOUNG or pause is None:
                break
            await self._pause(pause)
        return True

    async def _look(self, outbox: Outbox) -> bool:
        """Look at every batch, and collect those that have ended; return whether there was one."""
        any_ended = False
        for batch in list(outbox.flights):
            if self._over.is_set():
                raise _Stopped
            if batch.name is None:
                if await self._missed(outbox, batch):
                    any_ended = True
                    outbox.take_back(batch)
                if batch.name is None:
                    continue
            try:
                progress = await outbox.model.progress(batch.name)
            except TransientError as error:
                self._failed_look(outbox, batch, error)
                continue
            except EndpointError as error:
                raise outbox.explained(batch, error) from None
            self._unheard.pop(batch.token, None)
            batch.processed = progress.processed
            self._count()
            if progress.ended:
                any_ended = True
                await self._collect(outbox, batch, progress)
        return any_ended

    def _failed_look(self, outbox: Outbox, batch: Batch, error: TransientError) -> None:
        """Take note that nothing was learnt of a batch; after too long leave it to the provider and to a later run."""
        self.tally.retries += 1
        times, since = self._unheard.get(batch.token, (0, time.monotonic()))
        self._unheard[batch.token] = times + 1, since
        if times + 1 < self.policy.tries or time.monotonic() - since < self.policy.patience:
            return
        left = f"given up after {self.policy.patience:g} s (--patience); {described(batch)} stays with the provider"
        for call in batch.wanted.values():
            self._answer(call, ChatError(f"{error}; {left}", kind=error.kind))
        outbox.flights.remove(batch)
        self._count()

    async def _collect(self, outbox: Outbox, batch: Batch, progress: Progress) -> None:
        """Give the results of a batch that has ended to the calls that wait for them."""
        if progress.fault is not None or progress.faults:
            self._refused(outbox, batch, progress)
            return
        left = {custom_id(batch.token, number): number for number in batch.wanted}
        try:
            await self._retrying(lambda: self._fetch(outbox, batch, left))
        except TransientError as error:
            # What is in a list that stays cut is paid for: it is not settled, so that the next run collects it.
            for number in left.values():
                self._answer(batch.wanted[number], ChatError(str(error), kind=error.kind))
        else:
            name, why = outbox.model.name, f"{described(batch)} ended without a result for this request"
            cancelled = ChatError(f"{name}: the batch was cancelled", kind="cancelled")
            for number in left.values():
                missing = TransientError(f"{name}: {why}", kind="no result")
                self._came(outbox, batch, number, cancelled if progress.cancelled else missing)
        outbox.flights.remove(batch)
        self._count()

    async def _fetch(self, outbox: Outbox, batch: Batch, left: dict[str, int]) -> None:
        """Take all results that can be read, out of `left`.

        Raises:
            TransientError: the list is cut, and something is left.
        """
        assert batch.name is not None
        handed = {name: Handed(batch.wanted[n].request, batch.asks[n].names) for name, n in left.items()}
        try:
            async for name, outcome in outbox.model.results(batch.name, handed):
                number = left.pop(name, None)
                if number is not None:
                    self._came(outbox, batch, number, outcome)
        except TransientError:
            if left:
                raise

    def _came(self, outbox: Outbox, batch: Batch, number: int, outcome: Reply | ChatError) -> None:
        """Take the result of one request."""
        settle = partial(outbox.ledger.settle, batch, [number])
        if outbox.repaired(batch, number, outcome):
            settle()
        else:
            batch.wanted[number].settle = settle
            self._answer(batch.wanted[number], outcome)

    def _refused(self, outbox: Outbox, batch: Batch, progress: Progress) -> None:
        """Take the refusal of a batch as a whole: nothing of it was done, nothing is paid."""
        outbox.flights.remove(batch)
        count = len(batch.asks)
        for number, call in batch.wanted.items():
            fault = progress.faults.get(number) or progress.fault
            if fault is None or (fault.kind == QUEUE_FULL and count > 1):
                outbox.due.append(call)  # there is nothing wrong with this request
            elif not outbox.repaired(batch, number, fault):
                self._answer(call, fault)
        if progress.fault is not None and progress.fault.kind == QUEUE_FULL and count > 1:
            outbox.room = max(outbox.queued, count // 2)
            log.warning("%s; submitted again in smaller batches", progress.fault)
        outbox.ledger.drop(batch)

    def _count(self) -> None:
        """Say how much is at the providers."""
        self.tally.batched = sum(len(batch.asks) for batch in self.flights)
        self.tally.processed = sum(batch.processed for batch in self.flights)
        self.watch(self.tally)

    async def _retrying(
        self, call: Callable[[], Awaitable[None]], what_for: str = "", *, first_contact: bool = False
    ) -> None:
        """Call until it does not fail, as long as the policy allows; at the first contact it is sooner given up.

        Raises:
            TransientError: the last failure, with the number of tries.
        """
        began = time.monotonic()
        for tried in itertools.count(1):
            try:
                await call()
                return
            except TransientError as error:
                wait = self.policy.wait(error, tried, time.monotonic() - began)
                most = self.policy.tries if error.connected else self.policy.connections
                if wait is None or (first_contact and tried >= most):
                    raise TransientError(f"{error} (tried {tried} times{what_for})", kind=error.kind) from None
                self.tally.retries += 1
                await self._pause(wait)

    async def _pause(self, seconds: float) -> None:
        """Wait until the time is over, or raise `_Stopped` if the run is."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._over.wait(), seconds)
        if self._over.is_set():
            raise _Stopped
