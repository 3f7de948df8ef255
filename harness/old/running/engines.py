"""Where the calls of a run are made. Queue, journal, limits, budget and retries always stay in this process.

    this process     the default
    processes.py     others of this machine, as soon as one is too slow for the endpoint      --processes N
    ray_cluster.py   workers of a Ray cluster, each with one local model, or calling APIs      --ray [ADDRESS]

Each is a worker with a `Desk`: a request goes there, a reply or an error comes back. To the engine a chat model that is
called elsewhere is a chat model like any other, with one lane and one limiter however many workers call it. A worker
that dies loses its calls in flight, which are made again by another.
"""

import asyncio
import logging
import os
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias

from harness.old.chat import ChatModel, Endpoint
from harness.old.chat.model import Origin
from harness.old.chat.standing import Allowance, Standing
from harness.old.errors import ChatError, EndpointError, TurnbenchError, UsageError
from harness.old.records import Reply, Request
from harness.old.running.desk import Answered
from harness.old.running.options import RunOptions

log = logging.getLogger("turnbench")
BUSY = 0.85
"""The share of a core that a process must use to count as what the calls wait for."""
WINDOW = 0.25
"""Seconds over which that is measured."""
LOSSES = 3
"""Workers that may die of one call: then it is the call that they die of."""
MOST_LOSSES = 20
"""Workers of a run that are replaced."""

Models: TypeAlias = Mapping[str, Sequence[ChatModel]]


class LostWorkerError(Exception):
    """A worker died with a call in flight."""


class Worker(Protocol):
    """A place other than this process where calls are made."""

    in_flight: int
    used: float
    """CPU seconds that it has used, as far as its replies report."""

    async def ask(self, place: int, request: Request) -> Answered:
        """Make a call to the chat model with this place in the list.

        Raises:
            LostWorkerError: the worker is gone.
        """
        ...

    async def close(self) -> None:
        """End it at once."""
        ...


Opener = Callable[[Sequence[Origin]], Awaitable[Worker]]
"""Starts a worker and returns it when it can make calls."""


def placed(models: Models, options: RunOptions) -> Models:
    """Return the chat models of a run with those replaced that are called elsewhere.

    Raises:
        TurnbenchError: the options cannot work together, or Ray is not there.
    """
    if options.ray is not None:
        from harness.old.running.ray_cluster import on_ray

        if options.batch:
            raise UsageError("--ray: batches wait at their provider and need no cluster; leave out --ray or --batch")
        return on_ray(models, options)
    most = _most(options)
    if options.batch or most < 2:
        return models
    origins = {model: origin_of(model) for several in models.values() for model in several}
    behind = [model for model, origin in origins.items() if origin is not None and calls_out(origin)]
    if not behind:
        return models
    from harness.old.running.processes import Spares

    for model in behind:
        getattr(model, "client", None)  # imports what a process that is forked would import as well
    spares = Spares(options.processes or 1)
    return Team(spares.open, start=options.processes or 0, most=most, on_closed=spares.close).instead_of(
        models, calls_out
    )


def calls_out(origin: Origin) -> bool:
    """Return whether a chat model is behind an endpoint, not weights of this process."""
    return origin.endpoint.weights is None


def _most(options: RunOptions) -> int:
    """Return how many processes may make calls."""
    if sys.platform == "win32":
        if (options.processes or 1) > 1:
            log.warning("--processes: not on Windows; all calls are made by this process")
        return 1
    return options.processes or (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )


@dataclass(eq=False)
class Team:
    """The workers that make the calls to some chat models."""

    opener: Opener
    start: int
    """Workers that are wanted at once; 0: as soon as this process is busy, and up to `most` while that pays."""
    most: int
    here: bool = True
    """Whether calls are made in this process until the first worker is ready, and after the last has ended."""
    on_closed: Callable[[], None] = lambda: None
    """Called when all are ended."""

    def __post_init__(self) -> None:
        self._members: list[ChatModel] = []
        self._workers: list[Worker] = []
        self._opening: set[asyncio.Task[None]] = set()
        self._more = asyncio.Event()
        """Set when a worker has come, or cannot come."""
        self._fault: Exception | None = None
        self._losses = 0
        self._told: set[str] = set()
        self._closed = False
        self._since, self._own = time.monotonic(), time.thread_time()
        self._theirs = self._before = 0.0
        """Seconds of the processor that the workers have used, now and when the window began."""
        self._busy = 0
        """Windows in a row in which this process was busy."""

    def instead_of(self, models: Models, which: Callable[[Origin], bool]) -> Models:
        """Return the chat models with those replaced that can be called elsewhere and that `which` wants."""
        return {name: tuple(self._member(model, which) for model in several) for name, several in models.items()}

    def _member(self, model: ChatModel, which: Callable[[Origin], bool]) -> ChatModel:
        origin = origin_of(model)
        if origin is None or not which(origin):
            return model
        self._members.append(model)
        return Distant(self, len(self._members) - 1, model)

    async def reply(self, place: int, request: Request) -> Reply:
        """Return the reply of the chat model with this place in the list.

        Raises:
            ChatError: as the chat model raises it; or no worker lives long enough to make the call.
        """
        last: LostWorkerError | None = None
        for _ in range(LOSSES):
            worker = await self._worker()
            if worker is None:
                try:
                    return await self._members[place].reply(request)
                finally:
                    self._weigh()
            worker.in_flight += 1
            try:
                answered = await worker.ask(place, request if request.facts is None else replace(request, facts=None))
            except LostWorkerError as lost:
                self._lose(worker, lost)
                last = lost
                continue
            finally:
                worker.in_flight -= 1
            return self._taken(place, worker, answered)
        raise ChatError(f"{LOSSES} workers died while they made this call; the last: {last}", kind="worker lost")

    async def close(self) -> None:
        """End the workers, and release what the chat models hold here."""
        if self._closed:
            return
        self._closed = True
        for task in self._opening:
            task.cancel()
        await asyncio.gather(*self._opening, return_exceptions=True)
        workers, self._workers = self._workers, []
        await asyncio.gather(*(worker.close() for worker in workers), return_exceptions=True)
        await asyncio.gather(*(model.close() for model in self._members), return_exceptions=True)
        self.on_closed()

    async def _worker(self) -> Worker | None:
        """Return the worker for the next call, None for this process; waits where there must be one."""
        while not self._workers:
            if self.here:
                return None
            if not self._opening:
                if self._fault is not None or self._losses >= MOST_LOSSES:
                    raise self._fault or EndpointError(f"{self._losses} workers died, and none is left")
                self._open(self.start)
            self._more.clear()
            await self._more.wait()
        return min(self._workers, key=lambda worker: worker.in_flight)

    def _open(self, number: int) -> None:
        self._opening |= {asyncio.create_task(self._opened()) for _ in range(number)}

    async def _opened(self) -> None:
        """Add a worker once it can make calls."""
        try:
            origins = [origin_of(model) for model in self._members]
            worker = await self.opener([origin for origin in origins if origin is not None])
        except Exception as error:
            self._fault = error if isinstance(error, TurnbenchError) else EndpointError(str(error), kind="worker lost")
            self.most = len(self._workers)
            if self.here or self._workers:
                log.warning("a worker cannot be started (%s); continuing without it", error)
        else:
            self._workers.append(worker)
            self._theirs, self._before = self._theirs + worker.used, self._before + worker.used
        self._opening.discard(asyncio.current_task())
        self._more.set()

    def _lose(self, worker: Worker, lost: LostWorkerError) -> None:
        """Take a dead worker out, and start another in its place; each of its calls comes here."""
        if worker not in self._workers or self._closed:
            return
        self._workers.remove(worker)
        self._theirs, self._before = self._theirs - worker.used, self._before - worker.used
        self._losses += 1
        log.warning("%s; the calls that it had in flight are made again", lost)
        if self._losses < MOST_LOSSES and self._fault is None:
            self._open(1)

    def _taken(self, place: int, worker: Worker, answered: Answered) -> Reply:
        """Return the reply that came, and pass on what came with it."""
        self._theirs += answered.used - worker.used
        worker.used = answered.used
        for text in answered.said:
            if text not in self._told:
                self._told.add(text)
                log.warning("%s", text)
        standing = getattr(self._members[place], "standing", None)
        if answered.allowances is not None and standing is not None:
            now = time.monotonic()
            for kind, (remaining, seconds) in answered.allowances.items():
                standing.allowances[kind] = Allowance(remaining, now + min(seconds, standing.longest))
            standing.notes += 1
        self._weigh()
        if isinstance(answered.outcome, Exception):
            raise answered.outcome
        return answered.outcome

    def _weigh(self) -> None:
        """Start the requested workers after the first reply; without a request, one worker if the CPU is the
        bottleneck.

        Not before the first reply: what it has shown about the endpoint is passed to the workers.
        """
        if self._opening or self._closed or self._fault is not None or not self.here:
            return
        if self.start:
            if not self._workers and not self._losses:
                self._open(self.start)
            return
        now, own = time.monotonic(), time.thread_time()
        if now - self._since < WINDOW:
            return
        seconds, number = now - self._since, len(self._workers)
        own_share = (own - self._own) / seconds
        share = (self._theirs - self._before) / seconds / number if number else own_share
        self._since, self._own, self._before = now, own, self._theirs
        self._busy = self._busy + 1 if share >= BUSY and (not number or own_share < BUSY) else 0
        if self._busy >= 2 and number < self.most:
            self._busy = 0
            self._open(1)


class Distant:
    """A chat model that is called elsewhere."""

    def __init__(self, team: Team, place: int, model: ChatModel) -> None:
        self.name = model.name
        self.endpoint: Endpoint | None = getattr(model, "endpoint", None)
        self.standing: Standing | None = getattr(model, "standing", None)
        self._team, self._place = team, place
        self.room = getattr(model, "room", 1) * max(1, team.start)
        """Calls that may be in flight, where that is a matter of the workers' number."""

    async def reply(self, request: Request) -> Reply:
        """Return a worker's reply."""
        return await self._team.reply(self._place, request)

    async def close(self) -> None:
        """End the workers."""
        await self._team.close()


def origin_of(model: ChatModel) -> Origin | None:
    """Return what another process needs to open a chat model; None if it only works in this process."""
    origin = getattr(model, "origin", None)
    return origin if isinstance(origin, Origin) else None
