"""One model and output file in a run by batches: what of it is due, and what is at the provider."""

import contextlib
import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from harness.chat.batches import UNKNOWN_BATCH, BatchModel, Prepared
from harness.errors import ChatError, EndpointError
from harness.running.batches.ledger import Ask, Batch, Ledger, custom_id, described, new_token
from harness.running.jobs import Course

log = logging.getLogger("turnbench")


@dataclass(slots=True)
class Flight:
    """A batch of which this run wants something."""

    batch: Batch
    wanted: dict[int, Course[Any]]
    """The jobs that wait for it, by the number of their request in it."""
    reserved: dict[int, float] = field(default_factory=dict)
    """The dollars that were set aside for a request."""
    processed: int = 0


@dataclass(slots=True)
class Lane:
    """One model and output file: what of it is due and what is at the provider."""

    model: BatchModel
    ledger: Ledger
    earlier: dict[tuple[str, int], list[tuple[Batch, int]]]
    """What earlier runs have handed in and not collected, by job and place."""
    due: deque[Course[Any]] = field(default_factory=deque)
    flights: list[Flight] = field(default_factory=list)
    room: int | None = None
    """The most requests that the provider queues; None: no limit was met yet."""

    @property
    def queued(self) -> int:
        """Requests that are at the provider."""
        return sum(len(flight.batch.asks) for flight in self.flights)

    def served(self, course: Course[Any]) -> None:
        """Collect no more what a job has had: an earlier run stored the reply and was killed before it said so."""
        for place in range(course.place):
            for batch, number in self.earlier.pop((course.job.key, place), ()):
                self.ledger.settle(batch, [number])

    def recognise(self) -> dict[str, list[int]]:
        """Give the jobs that are due the batches of earlier runs that hold their requests.

        Return the requests in them, by the batch's token, that have changed since. One that this run does not come to
        stays for a later one.
        """
        flights = {flight.batch.token: flight for flight in self.flights}
        outdated: dict[str, list[int]] = {}
        due, self.due = self.due, deque()
        for course in due:
            wanted, found = content(course), False
            for batch, number in self.earlier.pop((course.job.key, course.place), ()):
                if batch.asks[number].content != wanted or found:
                    outdated.setdefault(batch.token, []).append(number)
                    continue
                found = True
                if batch.token not in flights:
                    flights[batch.token] = Flight(batch, {})
                    self.flights.append(flights[batch.token])
                flights[batch.token].wanted[number] = course
            if not found:
                self.due.append(course)
        return outdated

    async def give_up(self, batch: Batch, numbers: list[int]) -> None:
        """Take out of a batch what is no longer asked for; one of which nothing is left is cancelled."""
        log.warning("%s: %d of it changed since; the old results are not used", described(batch), len(numbers))
        self.ledger.settle(batch, numbers)
        if not batch.open and batch.name is not None:
            with contextlib.suppress(ChatError):
                await self.model.cancel(batch.name)

    def told_of_unknown(self, batch: Batch, error: EndpointError) -> EndpointError:
        """Return the error with what to do about it, if it is that the provider does not know a batch."""
        if error.kind != UNKNOWN_BATCH:
            return error
        how = f"use the key that it was handed in with, or remove {self.ledger.path} to hand its requests in anew"
        return EndpointError(f"{error}; it was {described(batch)}: {how}", kind=error.kind)

    def planned(self, reserved: Callable[[Course[Any]], float | None]) -> tuple[Flight | None, list[Prepared]]:
        """Take out of what is due as much as one batch may hold and can be paid, and write it down.

        `reserved` returns the dollars set aside for the request of a job that is due; None if the budget is used up.
        """
        most = self.model.most_requests
        if self.room is not None:
            most = min(most, self.room - self.queued)
        token = new_token()
        taken: list[tuple[Course[Any], Prepared, float]] = []
        left: deque[Course[Any]] = deque()
        size = 0
        while self.due and len(taken) < most:
            course = self.due.popleft()
            assert course.request is not None
            prepared = self.model.prepare(custom_id(token, len(taken)), course.request)
            other = bool(taken) and prepared.headers != taken[0][1].headers
            full = bool(taken) and size + len(prepared.line) + 2 > self.model.most_bytes
            dollars = None if other or full else reserved(course)
            if dollars is None:
                left.append(course)
                if full or not other:
                    break
                continue
            size += len(prepared.line) + 2
            taken.append((course, prepared, dollars))
        self.due.extendleft(reversed(left))
        if not taken:
            return None, []
        asks = [
            Ask(course.job.key, course.place, content(course), one.names, course.job.row) for course, one, _ in taken
        ]
        wanted = {number: course for number, (course, _, _) in enumerate(taken)}
        reserves = {number: dollars for number, (_, _, dollars) in enumerate(taken)}
        flight = Flight(self.ledger.plan(token, self.model.origin, asks), wanted, reserves)
        self.flights.append(flight)
        return flight, [one for _, one, _ in taken]


def opened(model: BatchModel, ledger: Ledger) -> Lane:
    """Return the lane of a model and an output file, with what earlier runs have left of it."""
    for parameter in ledger.unsupported:
        model.learn(parameter)
    lane = Lane(model, ledger, {})
    for batch in ledger.batches.values():
        if batch.origin == model.origin:
            for number in batch.open:
                lane.earlier.setdefault((batch.asks[number].job, batch.asks[number].place), []).append((batch, number))
    return lane


def content(course: Course[Any]) -> str:
    """Return the hash of the request that is due."""
    assert course.request is not None
    return course.request.content
