"""The lane of a model that is called by batches: a call puts its request into an outbox and waits for the result."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from harness.errors import ChatError, TransientError
from harness.records import Reply
from harness.running.batches.outbox import Awaited, Outbox
from harness.running.jobs import Course
from harness.running.lanes import Call, Lane, Work


@dataclass(slots=True, eq=False, kw_only=True)
class BatchLane(Lane):
    """A lane without limits on its calls: the provider queues them."""

    outbox: Callable[[Course[Any]], Outbox]
    """Returns where a job's requests belong."""
    put: Callable[[Awaited], None]
    awaited: dict[Call, Awaited] = field(default_factory=dict)

    def started(self, course: Course[Any]) -> None:
        """Take note of the replies that a job has already."""
        if course.place:
            self.outbox(course).settle_stored(course)

    def reserves(self, course: Course[Any]) -> bool:
        """Return whether the next request costs anything yet: what an earlier run has handed in is paid for."""
        return not self.outbox(course).has(course)

    def begin(self, work: Work, now: float, tokens: float) -> Call:
        """Put a request into the outbox."""
        call = Lane.begin(self, work, now, tokens)
        awaited = self.awaited[call] = Awaited(work.course, asyncio.get_running_loop().create_future())
        self.put(awaited)
        return call

    async def ask(self, call: Call) -> Reply:
        """Wait for the result."""
        outcome = await self.awaited[call].outcome
        if isinstance(outcome, ChatError):
            raise outcome
        return outcome

    def failed(self, call: Call, error: TransientError, now: float, *, reached: bool) -> None:
        """Take note of the end only: a request's failure in a batch says nothing about the endpoint's limits."""
        self._ended(call)

    def dealt_with(self, call: Call) -> None:
        """Write down that a result was collected: not before the course has stored it, or a kill would lose it."""
        self.awaited.pop(call).settle()
