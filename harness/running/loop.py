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
from collections.abc import Callable, Coroutine, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

import msgspec

from harness import registry
from harness.errors import ChatError, EndpointError, Interrupted, UsageError
from harness.models import ChatModel, Endpoint
from harness.options import Limits
from harness.running import worker as workers
from harness.running.budget import Budget
from harness.running.cache import Cache
from harness.running.jobs import Engine, Job, Outcome, Progress
from harness.running.pace import MOST, START, Bucket, Parallel
from harness.running.worker import Member, Stopped, Worker
from harness.store import Failure, Pending, Writer
from harness.types import Reply, Request, Row

log = logging.getLogger("turnbench")
T = TypeVar("T")


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
) -> Outcome:
    """Run jobs to their end; a job that fails is listed in the outcome.

    `state` is the benchmark's `.turnbench/`, `total` the number of jobs where it is known. With
    `redo` completions that the cache has from before are not used. `progress` is called in the
    event loop whenever something has changed. Ctrl-C (SIGTERM, SIGHUP) once lets the calls under
    way end, twice stops at once; either way what was done is kept.

    Raises:
        EndpointError: no call to a model can succeed.
        Interrupted: the user stopped the run.
        StorageError: a file cannot be written.
        UsageError: the cost is limited and a price unknown; the engine cannot be used.
    """
    running = _Run(jobs, limits, state, total, redo, progress)
    with _signals(running.interrupt):
        return _to_end(running.run)


class Direct:
    """The engine that makes calls in this process."""

    fixed: int | None = None
    stays = ""

    def open(self, endpoint: Endpoint) -> ChatModel:
        """Return the chat model of an endpoint."""
        return endpoint.open()

    async def close(self) -> None:
        """Do nothing."""


class _Output(NamedTuple):
    """One file that rows go to."""

    writer: Writer[Any]
    pending: Pending


class _Run:
    def __init__(
        self,
        jobs: Iterable[Job],
        limits: Limits,
        state: pathlib.Path,
        total: int,
        redo: bool,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self.limits, self.state = limits, state
        self.progress = Progress(total=total)
        self.show = progress or (lambda _: None)
        self.failures: list[Failure] = []
        self.stopping = False
        self.error: BaseException | None = None
        self.engine = _engine(limits, state)
        self.cache = _cache(limits, state, redo)
        self.budget = Budget(limits.max_cost, batch=limits.batch)
        self.workers: dict[Any, Worker] = {}
        self.outputs: dict[pathlib.Path, _Output] = {}
        self.files = contextlib.ExitStack()
        self.source: Iterator[Job] | None = iter(jobs)
        self.later: deque[Job] = deque()
        self.tasks: set[asyncio.Task[None]] = set()
        self.warming: dict[tuple[Any, str], asyncio.Future[None]] = {}
        self.loop: asyncio.AbstractEventLoop | None = None
        self.over: asyncio.Event | None = None

    async def run(self) -> Outcome:
        self.loop, self.over = asyncio.get_running_loop(), asyncio.Event()
        superseded = 0
        try:
            self.feed()
            while self.tasks:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self.over.wait(), _TICK)
                for output in self.outputs.values():
                    output.writer.sync()
                self.show(self.progress)
        finally:
            try:
                await self._close()
            finally:
                with self.files:
                    superseded = sum(output.writer.compact() for output in self.outputs.values())
        self.show(self.progress)
        if self.error is not None:
            raise self.error
        done, reason = self.progress.done, None
        if self.budget.exceeded:
            most, spent = (f"${dollars:,.2f}" for dollars in (self.budget.most, self.budget.spent))
            reason = f"stopped before the cost could exceed {most} (so far {spent}){self._left()}"
            reason += "; what was done is kept, run the same command with a higher --max-cost"
        elif self.stopping:
            stays = self.engine.stays or "what was done is kept"
            again = "run the same command again to continue"
            raise Interrupted(f"stopped{self._left()}; {stays}, {again}")
        return Outcome(done, self.failures, self.progress, superseded, reason)

    def feed(self) -> None:
        """Begin jobs as long as there is room for their calls; what fails in it ends the run."""
        try:
            self._feed()
        except Exception as problem:  # a plan's iterator reads files, a chat model is opened
            self.error = self.error or problem
            self.stop()

    def _feed(self) -> None:
        most = max(AHEAD, self.engine.fixed or 0)
        while not self.stopping and len(self.tasks) < most and self._has_room():
            job = self._next()
            if job is None:
                break
            worker = self._worker(job.endpoint)
            worker.waiting += 1  # until its task begins
            task = asyncio.ensure_future(self._job(job, worker))
            self.tasks.add(task)
            task.add_done_callback(self._ended)

    def _next(self) -> Job | None:
        if self.source is not None:
            for job in self.source:
                return job
            self.source = None
        return self.later.popleft() if self.later else None

    def _has_room(self) -> bool:
        workers = self.workers.values()
        return sum(w.waiting for w in workers) < _BACKLOG or any(w.spare > 0 for w in workers)

    async def _job(self, job: Job, worker: Worker) -> None:
        worker.waiting -= 1
        output = self._output(job)
        kept = output.pending.replies(job.id)
        asked: Counter[str] = Counter()
        steps = job.steps()
        try:
            request = next(steps)
            while True:
                reply = _kept(kept, request)
                fresh = reply is None
                try:
                    if reply is None:
                        reply = await self._reply(job, request, asked)
                except EndpointError:
                    raise
                except ChatError as error:
                    request = steps.throw(error)
                    continue
                answered, request = request, steps.send(reply)
                if fresh:
                    output.pending.keep(job.id, answered.hash, reply)
        except StopIteration as end:
            row: Row = end.value
            output.writer.append(row)
            output.pending.done(job.id)
            self.progress.done += 1
            self.later.extend(job.then(row))
        except EndpointError:
            raise
        except ChatError as error:
            self._failed(job, output, error)
        except Stopped:
            if not self.stopping:  # the budget
                self.stop()
        finally:
            self._warm(job)

    async def _reply(self, job: Job, request: Request, asked: Counter[str]) -> Reply:
        """Return the reply to a request of a job, from the cache if it has one."""
        endpoint = job.endpoint if request.to is None else job.others[request.to]
        key = None
        if self.cache is not None and not endpoint.provider.startswith("builtin"):
            key = self.cache.key(endpoint, request, asked[request.hash])
            asked[request.hash] += 1
            reply = self.cache.get(key)
            if reply is not None:
                self.progress.from_cache += 1
                return reply
        await self._behind(job)
        reply = await self._worker(endpoint).reply(request)
        self._warm(job)
        if key is not None and self.cache is not None:
            self.cache.put(key, reply)
        return reply

    async def _behind(self, job: Job) -> None:
        """Wait for the job that warms the provider's cache, or be that job."""
        if not job.first:
            return
        key = (_key(job.endpoint), job.first)
        warming = self.warming.get(key)
        if warming is None:
            self.warming[key] = asyncio.get_running_loop().create_future()
        elif not warming.done():
            self.feed()  # this one makes room for another
            await asyncio.shield(warming)

    def _warm(self, job: Job) -> None:
        """Let the jobs go on that wait for this one; one of them is enough to set them free."""
        warming = self.warming.get((_key(job.endpoint), job.first)) if job.first else None
        if warming is not None and not warming.done():
            warming.set_result(None)

    def _failed(self, job: Job, output: _Output, error: ChatError) -> None:
        failure = Failure(kind=error.kind, message=str(error), where=job.where, status=error.status)
        output.pending.fail(job.id, failure)
        self.failures.append(failure)
        self.progress.failed += 1

    def _ended(self, task: asyncio.Task[None]) -> None:
        self.tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self.error = self.error or error
            self.stop()
        self.feed()
        self.show(self.progress)
        if not self.tasks and self.over is not None:
            self.over.set()

    def stop(self) -> None:
        """Begin no call any more."""
        self.stopping = True
        for worker in self.workers.values():
            worker.stop()
        if self.engine.stays:
            self._cancel()

    def interrupt(self) -> None:
        """Take a Ctrl-C, in whichever thread it comes."""
        if self.loop is None:
            self.stopping = True
        elif not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self._interrupted)

    def _interrupted(self) -> None:
        if self.stopping:
            self._cancel()
            return
        self.progress.state = "stopping, Ctrl-C again to stop at once"
        self.stop()

    def _cancel(self) -> None:
        for task in self.tasks:
            task.cancel()

    def _left(self) -> str:
        total = self.progress.total
        left = total - self.progress.done - self.progress.failed
        return f", {left:,} of {total:,} left" if total and left > 0 else ""

    def _output(self, job: Job) -> _Output:
        output = self.outputs.get(job.path)
        if output is None:
            writer = self.files.enter_context(Writer(job.path, job.kind, self.state))
            pending = self.files.enter_context(Pending(job.path, self.state))
            output = self.outputs[job.path] = _Output(writer, pending)
        return output

    def _worker(self, endpoint: Endpoint) -> Worker:
        key = _key(endpoint)
        worker = self.workers.get(key)
        if worker is None:
            others = () if self.limits.batch else endpoint.pool
            own = msgspec.structs.replace(endpoint, pool=())
            members = [self._member(each) for each in (own, *others)]
            parts = self.limits, workers.RETRY, self.budget, self.progress, self.feed
            worker = self.workers[key] = Worker(endpoint.name, members, *parts)
        return worker

    def _member(self, endpoint: Endpoint) -> Member:
        self.budget.check(endpoint)
        limits, own = self.limits, endpoint.limits
        parallel = self.engine.fixed or (None if limits.parallel == "auto" else limits.parallel)
        if parallel is not None:
            most = min(parallel, own.parallel or parallel)
            pace = Parallel(most, most, fixed=True)
        else:
            pace = Parallel(START, own.parallel or MOST)
        rpm, tpm = (
            min(filter(None, both), default=float("inf"))
            for both in ((limits.rpm, own.rpm), (limits.tpm, own.tpm))
        )
        return Member(endpoint, self.engine.open(endpoint), pace, Bucket(rpm), Bucket(tpm))

    async def _close(self) -> None:
        self._cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        models = [member.model for worker in self.workers.values() for member in worker.members]
        await asyncio.gather(*(model.close() for model in models), return_exceptions=True)
        await self.engine.close()
        if self.cache is not None:
            self.cache.close()


def _kept(kept: list[tuple[str, Reply]], request: Request) -> Reply | None:
    """Take the first kept reply to this request out of a list."""
    if kept:
        asked = request.hash
        for at, (content, reply) in enumerate(kept):
            if content == asked:
                del kept[at]
                return reply
    return None


def _key(endpoint: Endpoint) -> Any:
    """Return what endpoints with one set of limits have in common."""
    return endpoint.provider, endpoint.model, endpoint.base_url, endpoint.api_key_env


def _engine(limits: Limits, state: pathlib.Path) -> Engine:
    if not limits.batch and limits.ray is None:
        return Direct()
    if limits.batch and limits.ray is not None:
        raise UsageError("--batch and --ray exclude each other")
    engine: Engine = registry.find("engine", "batch" if limits.batch else "ray")(limits, state)
    return engine


def _cache(limits: Limits, state: pathlib.Path, redo: bool) -> Cache | None:
    """Return the cache; what is done again is not taken from it."""
    if limits.cache is None:
        return None
    usual = state.parent.parent / state.name / "cache.sqlite"
    return Cache(pathlib.Path(limits.cache or usual), since=time.time() if redo else 0.0)


@contextlib.contextmanager
def _signals(interrupt: Callable[[], None]) -> Iterator[None]:
    """Call `interrupt` for each Ctrl-C in the block; only the main thread gets signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    usual = (signal.SIG_DFL, signal.default_int_handler)
    named = [getattr(signal, name, None) for name in ("SIGTERM", "SIGHUP")]
    numbers = [signal.SIGINT, *(n for n in named if n is not None and signal.getsignal(n) in usual)]
    before = {number: signal.signal(number, lambda *_: interrupt()) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler or signal.default_int_handler)


def _to_end(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Return what the work returns; in a thread where this one has a loop, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work())
    with ThreadPoolExecutor(1, "turnbench") as thread:
        return thread.submit(asyncio.run, work()).result()
