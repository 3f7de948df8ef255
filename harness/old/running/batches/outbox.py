"""The calls of a batch run: each puts its request into the outbox of its model and output file, which records due
requests and those at the provider, and waits for the result.
"""

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from harness.old.chat.batches import UNKNOWN_BATCH, Batches, Handed, Prepared
from harness.old.chat.parameters import RefusedParameterError
from harness.old.errors import ChatError, EndpointError, TransientError
from harness.old.records import Reply
from harness.old.running.batches.ledger import Ask, Batch, Ledger, custom_id, described, new_token
from harness.old.running.jobs import Course
from harness.old.running.lanes import Call, Lane, Work

log = logging.getLogger("turnbench")


@dataclass(slots=True)
class Outbox:
    """The requests of one model for one output file."""

    model: Batches[Any]
    ledger: Ledger
    earlier: dict[tuple[str, int], list[tuple[Batch, int]]] = field(default_factory=dict)
    """Requests that earlier runs have submitted and not collected, by job and place."""
    due: deque[Call] = field(default_factory=deque)
    flights: list[Batch] = field(default_factory=list)
    """The batches at the provider with results for this run."""
    room: int | None = None
    """The most requests that the provider queues; None: no limit was met yet."""
    outdated: dict[str, list[int]] = field(default_factory=dict)
    """Requests of earlier runs that have changed since, by the token of their batch."""

    def __post_init__(self) -> None:
        for parameter in self.ledger.unsupported:
            self.model.learn(parameter)
        for batch in self.ledger.batches.values():
            if batch.origin == self.model.origin:
                for number in batch.open:
                    ask = batch.asks[number]
                    self.earlier.setdefault((ask.job, ask.place), []).append((batch, number))

    @property
    def queued(self) -> int:
        """Requests that are at the provider."""
        return sum(len(batch.asks) for batch in self.flights)

    def has(self, course: Course[Any]) -> bool:
        """Return whether an earlier run has submitted the due request."""
        assert course.request is not None
        earlier = self.earlier.get((course.job.key, course.place), ())
        return any(batch.asks[number].content == course.request.content for batch, number in earlier)

    def settle_stored(self, course: Course[Any]) -> None:
        """Collect no result that a job has stored: an earlier run was killed between the reply and the note of it."""
        for place in range(course.place):
            for batch, number in self.earlier.pop((course.job.key, place), ()):
                self.ledger.settle(batch, [number])

    def put(self, call: Call) -> None:
        """Add a request: to the batch of an earlier run that contains it, or else to the due ones."""
        course, content, found = call.course, call.request.content, False
        for batch, number in self.earlier.pop((course.job.key, course.place), ()):
            if found or batch.asks[number].content != content:
                self.outdated.setdefault(batch.token, []).append(number)
                continue
            found = True
            batch.wanted[number] = call
            if batch not in self.flights:
                self.flights.append(batch)
        if not found:
            self.due.append(call)

    async def give_up_outdated(self) -> None:
        """Remove requests from earlier batches that are no longer needed; an empty batch is cancelled."""
        outdated, self.outdated = self.outdated, {}
        for token, numbers in outdated.items():
            batch = self.ledger.batches[token]
            log.warning("%s: %d of its requests have changed; old results are not used", described(batch), len(numbers))
            self.ledger.settle(batch, numbers)
            if not batch.open and batch.name is not None:
                with contextlib.suppress(ChatError):
                    await self.model.cancel(batch.name)

    def pack(self) -> tuple[Batch, list[Prepared]] | None:
        """Take as many due requests as fit into one batch, and record them; None if there is no room."""
        most = self.model.most_requests
        if self.room is not None:
            most = min(most, self.room - self.queued)
        token, size = new_token(), 0
        packed: list[Prepared] = []
        taken: list[Call] = []
        left: deque[Call] = deque()
        while self.due and len(packed) < most:
            call = self.due.popleft()
            prepared = self.model.prepare(custom_id(token, len(packed)), call.request)
            if packed and size + len(prepared.line) + 2 > self.model.most_bytes:
                left.append(call)
                break
            if packed and prepared.headers != packed[0].headers:
                left.append(call)
                continue
            size += len(prepared.line) + 2
            packed.append(prepared)
            taken.append(call)
        self.due.extendleft(reversed(left))
        if not packed:
            return None
        batch = self.ledger.plan(token, self.model.origin, list(map(_ask, taken, packed)))
        batch.wanted.update(enumerate(taken))
        self.flights.append(batch)
        return batch, packed

    def take_back(self, batch: Batch) -> None:
        """Make the requests of a batch that was never accepted due again."""
        self.flights.remove(batch)
        self.ledger.drop(batch)
        self.due.extend(batch.wanted.values())

    def repaired(self, batch: Batch, number: int, outcome: Reply | ChatError) -> bool:
        """Return whether a request that was refused for a parameter is due again without it."""
        if not isinstance(outcome, RefusedParameterError):
            return False
        call = batch.wanted[number]
        if not self.model.repair(Handed(call.request, batch.asks[number].names), outcome.parameter):
            return False
        self.ledger.learn(outcome.parameter)
        self.due.append(call)
        return True

    def explained(self, batch: Batch, error: EndpointError) -> EndpointError:
        """Return the error with what to do about it, if it is that the provider does not know a batch."""
        if error.kind != UNKNOWN_BATCH:
            return error
        how = f"use the key that it was submitted with, or remove {self.ledger.path} to submit its requests again"
        return EndpointError(f"{error}; it was {described(batch)}: {how}", kind=error.kind)


def _ask(call: Call, prepared: Prepared) -> Ask:
    course = call.course
    return Ask(course.job.key, course.place, call.request.content, prepared.names, course.job.row)


@dataclass(slots=True, eq=False, kw_only=True)
class BatchLane(Lane):
    """The lane of a model that is called by batches. It has no limits on its calls: the provider queues them."""

    outbox: Callable[[Course[Any]], Outbox]
    """Returns where a job's requests belong."""
    put: Callable[[Call], None]
    """Takes a request."""

    def started(self, course: Course[Any]) -> None:
        """Take note of the replies that a job has already."""
        if course.place:
            self.outbox(course).settle_stored(course)

    def reserves(self, course: Course[Any]) -> bool:
        """Return whether the next request still costs something: one that an earlier run has submitted is paid for."""
        return not self.outbox(course).has(course)

    def begin(self, work: Work, now: float, tokens: float) -> Call:
        """Put a request into the outbox."""
        call = Lane.begin(self, work, now, tokens)
        call.outcome = asyncio.get_running_loop().create_future()
        self.put(call)
        return call

    async def ask(self, call: Call) -> Reply:
        """Wait for the result."""
        assert call.outcome is not None
        outcome = await call.outcome
        if isinstance(outcome, ChatError):
            raise outcome
        return outcome

    def failed(self, call: Call, error: TransientError, now: float, *, reached: bool) -> None:
        """Record only the end: a request's failure in a batch says nothing about the endpoint's limits."""
        self._ended(call)
