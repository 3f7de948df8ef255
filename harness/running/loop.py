"""Runs jobs: one event loop, one task for each job that is under way.

A job's task holds a slot of its endpoint only while a call is under way: not while it waits for the
next try, for a job that warms the provider's cache, or between two turns. Jobs are drawn from the
plan as there is room for their calls. A row is written as soon as it is complete; before that each
reply that the job goes on from is kept, so that a kill loses only the calls under way.
"""

import asyncio
import contextlib
import logging
import pathlib
import signal
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import msgspec

from harness import registry
from harness.errors import ChatError, EndpointError, Interrupted, UsageError, require
from harness.models import Endpoint
from harness.options import Limits
from harness.running.budget import Budget
from harness.running.cache import Cache
from harness.running.jobs import Engine, Job, Outcome, Progress, never
from harness.running.pace import MOST, START, START_HERE, Bucket, Parallel
from harness.running.signs import Signs
from harness.running.worker import Member, Stopped, Worker, wait_for
from harness.store import Failure, Pending, Writer
from harness.types import Reply, Request, Row
from harness.words import counted, dollars

log = logging.getLogger("turnbench")

AHEAD = 2000
"""Jobs that may be under way or wait: a plan may be larger than memory."""
_BACKLOG = 8
"""Requests that wait for a slot although all are taken, so that the next call begins at once."""
_TICK = 0.5
"""Seconds between two looks at the files and the progress."""


def run(
    jobs: Iterable[Job],
    limits: Limits,
    *,
    state: pathlib.Path,
    total: int = 0,
    redo: bool = False,
    progress: Callable[[Progress], None] | None = None,
    agrees: Callable[[str], bool] = never,
) -> Outcome:
    """Run jobs to their end; a job that fails is listed in the outcome.

    `state` is the benchmark's `.turnbench/`, `total` the number of jobs where it is known. With
    `redo` completions that the cache has from before are not used. `progress` is called in the
    event loop whenever something has changed; `agrees` asks the user where something turns out to
    cost more than was said. Ctrl-C (SIGTERM, SIGHUP) once lets the calls under way end, twice stops
    at once; either way what was done is kept.

    Raises:
        EndpointError: no call to a model can succeed.
        Interrupted: the user stopped the run.
        StorageError: a file cannot be written.
        UsageError: the cost is limited and a price unknown; the engine cannot be used.
    """
    engine = _engine(limits, state)
    engine.redo, engine.agrees = redo, agrees
    work = _Run(iter(jobs), limits, state, total, engine, progress or (lambda _: None)).run
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work())
    with ThreadPoolExecutor(1, "turnbench") as thread:  # a loop is running here, as in a notebook
        return thread.submit(asyncio.run, work()).result()


class _Output(NamedTuple):
    """One file that rows go to."""

    writer: Writer[Any]
    pending: Pending


class _Run:
    def __init__(
        self,
        jobs: Iterator[Job],
        limits: Limits,
        state: pathlib.Path,
        total: int,
        engine: Engine,
        show: Callable[[Progress], None],
    ) -> None:
        self.jobs, self.limits, self.state, self.show = jobs, limits, state, show
        self.later = deque[Job]()
        self.progress = Progress(total=total)
        self.failures: list[Failure] = []
        self.engine = engine
        self.cache = _cache(limits, state, engine.redo)
        self.budget = Budget(limits.max_cost, batch=limits.batch)
        self.workers: dict[Any, Worker] = {}
        self.outputs: dict[pathlib.Path, _Output] = {}
        self.resources = contextlib.AsyncExitStack()
        self.tasks: set[asyncio.Task[None]] = set()
        self.warm: dict[Any, asyncio.Event] = {}
        self.changed = asyncio.Event()
        self.stopping = self.interrupted = False
        usual = (signal.SIG_DFL, signal.default_int_handler)  # a handler of another stays
        names = ("SIGINT", "SIGTERM", "SIGHUP")  # Windows has no SIGHUP
        numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
        self.signals = [number for number in numbers if signal.getsignal(number) in usual]
        self.error: BaseException | None = None

    def _handle(self, number: int) -> None:
        """Have a signal interrupt the run."""
        loop = asyncio.get_running_loop()
        try:
            loop.add_signal_handler(number, self._interrupt)
        except NotImplementedError:  # loops of Windows
            before = signal.signal(
                number, lambda *_: loop.call_soon_threadsafe(self._interrupt) and None
            )
            self.resources.callback(signal.signal, number, before)

    async def run(self) -> Outcome:
        if threading.current_thread() is threading.main_thread():  # only it gets signals
            for number in self.signals:
                self._handle(number)
        async with self.resources:
            self.resources.push_async_callback(self._close_engine)
            if self.cache is not None:
                self.resources.callback(self.cache.close)
            try:
                await self._begin_jobs()
                synced = time.monotonic()
                while self.tasks:
                    self.changed.clear()
                    await wait_for(self.changed, _TICK)
                    if time.monotonic() > synced + _TICK:
                        synced = time.monotonic()
                        for output in self.outputs.values():
                            output.writer.sync()
                    await self._begin_jobs()
                    self._show()
            finally:  # also where a plan fails as it reads files: the calls under way end
                self.stop()
                await asyncio.gather(*self.tasks, return_exceptions=True)
                superseded = sum(output.writer.compact() for output in self.outputs.values())
        self._show()
        for member in (member for worker in self.workers.values() for member in worker.members):
            for line in member.signs.said():
                log.warning("%s", line)
        if self.error is not None:
            raise self.error
        again = "run the same command"
        if self.interrupted:
            stays = self.engine.stays or "what was done is kept"
            raise Interrupted(f"stopped{self._left()}; {stays}, {again} again to continue")
        reason = None
        if self.budget.exceeded:
            most, spent = dollars(self.budget.most), dollars(self.budget.spent)
            reason = f"stopped before the cost could exceed {most} (so far {spent}){self._left()}"
            reason += f"; what was done is kept, {again} with a higher --max-cost"
        return Outcome(self.progress.done, self.failures, self.progress, superseded, reason)

    async def _close_engine(self) -> None:
        await self.engine.close(orderly=self.error is None and not self.interrupted)

    async def _begin_jobs(self) -> None:
        """Begin jobs as long as there is room for their calls."""
        most = max(AHEAD, self.engine.fixed or 0)
        while not self.stopping and len(self.tasks) < most:
            workers = self.workers.values()
            waiting = sum(worker.waiting for worker in workers)
            if waiting >= _BACKLOG and all(worker.spare <= 0 for worker in workers):
                break
            job = next(self.jobs, None) or (self.later.popleft() if self.later else None)
            if job is None:
                break
            task = asyncio.create_task(self._job(job))
            self.tasks.add(task)
            task.add_done_callback(self._ended)
            await asyncio.sleep(0)  # until it waits for its call

    async def _job(self, job: Job) -> None:
        output = self._output(job)
        replies = output.pending.replies(job.id)
        name = f"{job.path.parent.name}/{job.path.name} {job.id}"
        sent = Counter[str]()
        steps = job.steps()
        try:
            request = next(steps)
            while True:
                content = request.hash
                again, sent[content] = sent[content], sent[content] + 1
                asked = msgspec.structs.replace(request, ask=f"{name} {content} {again}")
                at = next((n for n, (key, _) in enumerate(replies) if key == content), None)
                try:
                    if at is not None:
                        reply = replies.pop(at)[1]
                    else:
                        reply = await self._reply(job, asked, again)
                except EndpointError:
                    raise
                except ChatError as error:
                    request = steps.throw(error)
                    continue
                request = steps.send(reply)
                if at is None:
                    output.pending.keep(job.id, content, reply)
        except StopIteration as end:
            row: Row = end.value
            with output.pending.completing(job.id):
                output.writer.append(row)
            self.progress.done += 1
            self.later.extend(job.then(row))
        except EndpointError:
            raise
        except ChatError as error:
            failure = Failure(
                kind=error.kind, message=str(error), where=job.where, status=error.status
            )
            output.pending.fail(job.id, failure)
            self.failures.append(failure)
            self.progress.failed += 1

    async def _reply(self, job: Job, request: Request, again: int) -> Reply:
        """Return the reply to a request of a job, from the cache if it has one.

        `again`: equal requests of the job before it.
        """
        endpoint = job.endpoint_of(request)
        key = None
        if self.cache is not None and not endpoint.provider.startswith("builtin"):
            key = self.cache.key(endpoint, request, again)
            reply = self.cache.get(key)
            if reply is not None:
                self.progress.from_cache += 1
                return reply
        # Of jobs that begin alike, one warms the provider's cache for the others.
        beginning = _key(job.endpoint), job.first
        if job.first and beginning in self.warm and not self.limits.batch:
            await self.warm[beginning].wait()
        warm = self.warm.setdefault(beginning, asyncio.Event())
        try:
            if self.stopping:
                raise Stopped
            reply = await self._worker(endpoint).reply(request)
        finally:
            warm.set()
        if key is not None and self.cache is not None:
            self.cache.put(key, reply)
        return reply

    def _ended(self, task: asyncio.Task[None]) -> None:
        self.tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            if not isinstance(error, Stopped):  # the budget
                self.error = self.error or error
            self.stop()
        self._show()
        self.changed.set()

    def stop(self) -> None:
        """Begin no call any more."""
        self.stopping = True
        for worker in self.workers.values():
            worker.stop()
        if self.engine.stays:
            self._cancel()

    def _interrupt(self) -> None:
        if self.interrupted:
            self._cancel()
        self.interrupted = True
        self.stop()
        self.changed.set()

    def _show(self) -> None:
        if self.interrupted:
            calls = counted(self.progress.in_flight, "call")
            self.progress.state = f"Ctrl-C again stops at once; {calls} under way"
        self.show(self.progress)

    def _cancel(self) -> None:
        for task in self.tasks:
            task.cancel()

    def _left(self) -> str:
        total = self.progress.total
        rest = total - self.progress.done - self.progress.failed
        return f", {rest:,} of {total:,} left" if total and rest > 0 else ""

    def _output(self, job: Job) -> _Output:
        output = self.outputs.get(job.path)
        if output is None:
            writer = self.resources.enter_context(Writer(job.path, job.kind, self.state))
            pending = self.resources.enter_context(Pending(job.path, self.state))
            output = self.outputs[job.path] = _Output(writer, pending)
        return output

    def _worker(self, endpoint: Endpoint) -> Worker:
        key = _key(endpoint)
        worker = self.workers.get(key)
        if worker is None:
            others = () if self.limits.batch else endpoint.pool
            alone = msgspec.structs.replace(endpoint, pool=())
            members = [self._member(member) for member in (alone, *others)]
            parts = self.limits, self.budget, self.progress, self.changed
            worker = self.workers[key] = Worker(members, *parts)
        return worker

    def _member(self, endpoint: Endpoint) -> Member:
        self.budget.check(endpoint)
        limits, stated = self.limits, endpoint.limits
        parallel = self.engine.fixed or (None if limits.parallel == "auto" else limits.parallel)
        most = min(filter(None, (parallel, stated.parallel)), default=MOST)
        # A server on this machine may serve two at once, and make the others wait for minutes.
        few = endpoint.base_url and endpoint.is_loopback and stated.parallel is None
        start = parallel or (START_HERE if few else START)
        pace = Parallel(min(most, start), most, fixed=parallel is not None)
        rpm, tpm = (
            min(filter(None, both), default=float("inf"))
            for both in ((limits.rpm, stated.rpm), (limits.tpm, stated.tpm))
        )
        model = self.engine.open(endpoint)
        self.resources.push_async_callback(model.close)
        return Member(endpoint, model, pace, Bucket(rpm), Bucket(tpm), Signs(endpoint))


def _key(endpoint: Endpoint) -> Any:
    """Return what endpoints with one set of limits have in common."""
    return endpoint.provider, endpoint.model, endpoint.base_url, endpoint.api_key_env


def check_limits(limits: Limits) -> None:
    """Refuse where calls cannot be made, before the first one and in a dry run too.

    Raises:
        UsageError: two flags exclude each other.
        MissingError: the extra [ray] is not installed.
    """
    if limits.batch and limits.ray is not None:
        raise UsageError("--batch and --ray exclude each other")
    if limits.ray is not None:
        require("ray", "ray")


def _engine(limits: Limits, state: pathlib.Path) -> Engine:
    check_limits(limits)
    engine = Engine()
    if limits.batch or limits.ray is not None:
        engine = registry.find("engine", "batch" if limits.batch else "ray")(limits, state)
    return engine


def _cache(limits: Limits, state: pathlib.Path, redo: bool) -> Cache | None:
    """Return the cache; what is done again is not taken from it."""
    if limits.cache is None:
        return None
    usual = state.parent.parent / state.name / "cache.sqlite"
    return Cache(pathlib.Path(limits.cache or usual), since=time.time() if redo else 0.0)
