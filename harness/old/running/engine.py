"""The engine that runs jobs: as many calls at once as their endpoints allow, or by batches.

    queue.py      which job is next            limiter.py   how many calls at once
    lanes.py      which endpoint it goes to    rates.py     how many per minute
    retry.py      what is retried              breaker.py   when an endpoint is paused
    cost.py       what it may cost             batches/     calls that wait for their result in a batch

A slot is one call in flight. A job that waits for a retry has none, nor does a conversation between two turns.
"""

import asyncio
import contextlib
import logging
import math
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from harness.old.chat.model import ChatModel
from harness.old.errors import ChatError, EndpointError, Interrupted, TransientError
from harness.old.records import Reply
from harness.old.running import interrupts
from harness.old.running.batches.courier import Courier
from harness.old.running.batches.ledger import ledger_beside, warn_of_batches
from harness.old.running.cost import Budget, shown
from harness.old.running.engines import placed
from harness.old.running.jobs import Course
from harness.old.running.lanes import Call, Lane, Pool, Work, endpoint_of, open_lanes
from harness.old.running.loops import run_to_end
from harness.old.running.options import RunOptions
from harness.old.running.queue import Queue
from harness.old.running.rates import most_tokens
from harness.old.running.retry import RetryPolicy, policy_of
from harness.old.running.watch import Tally, Watcher, nobody

log = logging.getLogger("turnbench")
RETRY = RetryPolicy()
SYNC_SECONDS = 1.0

Models = Mapping[str, ChatModel | Sequence[ChatModel]]


def run(
    courses: Iterable[Course[Any]],
    models: Models,
    options: RunOptions = RunOptions(),
    *,
    planned: int = 0,
    watch: Watcher = nobody,
    sync: Callable[[], None] = lambda: None,
) -> Tally:
    """Run all jobs to their end and return the counts; failed jobs are listed in them.

    `models` maps a job's model to the chat model that answers it, or to several that may (endpoints or keys of one
    model; the first of them takes the batches); all are closed at the end. `planned` is the number of jobs, for the
    watcher. `sync` is called every second. Ctrl-C once finishes the calls in flight, or leaves the batches to their
    providers as soon as nothing is half done; twice stops at once.

    Raises:
        EndpointError: a model can't be called at all (key, name, address); what was done is kept.
        Interrupted: the user stopped the run, or it would have exceeded what it may cost.
        StorageError: a record could not be written.
        UsageError: the cost is limited, but a price is unknown; a model has no batches.
    """
    members: Mapping[str, Sequence[ChatModel]]
    members = {name: m if isinstance(m, Sequence) else (m,) for name, m in models.items()}
    budget = _budget(options, members)
    members = placed(members, options)
    policy, tally, courier = policy_of(options, RETRY), Tally(planned=planned), None
    if options.batch:
        options = _without_limits(options)
        policy = replace(policy, limited=policy.tries)  # in a batch all are tried together, hours apart
        courier = Courier({name: several[0] for name, several in members.items()}, policy, tally, watch, sync)
        pools = {name: courier.pool(name, endpoint_of(several[0])) for name, several in members.items()}
    else:
        courses = _with_warnings(courses)
        pools = {name: open_lanes(name, several, options, policy) for name, several in members.items()}
    queue = Queue(iter(courses), pools, tally)
    engine = _Engine(queue, pools, options.parallel, budget, policy, tally, watch, sync, courier)

    async def work() -> Tally:
        try:
            return await engine.run()
        finally:
            everyone = (model for several in members.values() for model in several)
            await asyncio.gather(*(model.close() for model in everyone), return_exceptions=True)

    with interrupts.handled(engine.interrupt):
        return run_to_end(work)


def _without_limits(options: RunOptions) -> RunOptions:
    """Return the options of a run by batches, which the provider works on as fast as it likes."""
    limits = {"--parallel": options.parallel, "--rpm": options.rpm, "--tpm": options.tpm}
    if given := [flag for flag, value in limits.items() if value is not None]:
        log.warning("%s: no effect on batches", ", ".join(given))
    return replace(options, parallel=None, rpm=None, tpm=None)


def _with_warnings(courses: Iterable[Course[Any]]) -> Iterator[Course[Any]]:
    """Yield the jobs, with a warning about those that are at a provider in batches."""
    seen = set()
    for course in courses:
        if course.pending not in seen:
            seen.add(course.pending)
            warn_of_batches(ledger_beside(course.pending.path))
        yield course


@dataclass(slots=True, eq=False)
class _Engine:
    """The state of one run."""

    queue: Queue
    pools: Mapping[str, Pool]
    parallel: int | None
    """Calls in flight over all models; None: their lanes alone limit them."""
    budget: Budget | None
    policy: RetryPolicy
    tally: Tally
    watch: Watcher
    sync: Callable[[], None]
    courier: Courier | None
    calls: dict[asyncio.Task[None], Call] = field(default_factory=dict)
    waiting: dict[Work, asyncio.TimerHandle] = field(default_factory=dict)
    """Jobs between two tries, and what ends their wait."""
    dear: list[Work] = field(default_factory=list)
    """Jobs of a run by batches that the budget does not allow now."""
    wake: asyncio.TimerHandle | None = None
    loop: asyncio.AbstractEventLoop | None = None
    finished: asyncio.Event = field(default_factory=asyncio.Event)
    stopping: bool = False
    """Whether the run ends with the calls in flight."""
    too_dear: bool = False
    """Whether it does because the next call could cost more than what is left."""
    fatal: BaseException | None = None

    async def run(self) -> Tally:
        """Work until nothing is left to do, and return the counts."""
        with self.courier or contextlib.nullcontext():
            await self._run()
            if self.fatal is not None:
                raise self.fatal
            if self.stopping:
                stopped = Interrupted(self._why_stopped())
                if self.too_dear:
                    stopped.exit_code = 1  # rows are missing, but nobody broke the run off
                raise stopped
        return self.tally

    async def _run(self) -> None:
        self.loop = asyncio.get_running_loop()
        works = [self._tick, *([self.courier.work] if self.courier else [])]
        beside = [asyncio.create_task(self._beside(work)) for work in works]
        try:
            self._begin_calls()
            await self.finished.wait()
        finally:
            for task in beside:
                task.cancel()
            if self.wake is not None:
                self.wake.cancel()
            await asyncio.gather(*beside, return_exceptions=True)
            self.tally.resumes_at = self.tally.failing_since = None
            self.watch(self.tally)

    async def _beside(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do the periodic work beside the calls; an error in it ends the run."""
        try:
            await work()
        except Exception as error:
            self.fatal = self.fatal or error
            self._begin_calls()

    def _begin_calls(self) -> None:
        """Begin all calls that may begin now; see to it that this is done again in time, or that the run ends."""
        try:
            again = self._begin_what_fits()
        except BaseException as error:
            self.fatal = self.fatal or error
        assert self.loop is not None
        over = self.stopping or self.fatal is not None
        if not over and again <= self.loop.time():
            self.loop.call_soon(self._begin_calls)
        elif not over and again < math.inf:
            if self.wake is not None:
                self.wake.cancel()
            self.wake = self.loop.call_at(again, self._begin_calls)
            self.tally.resumes_at = again
        elif not self.calls and (over or not self.waiting):
            if not over and not self.queue.empty:
                self.fatal = RuntimeError("work is left, but nothing in flight could let it continue")
            self.finished.set()
        if self.courier is not None:
            idle = over or (again == math.inf and not self.waiting)
            self.courier.notice(quiet=idle and len(self.calls) == self.courier.waiting > 0, over=over)

    def _begin_what_fits(self) -> float:
        """Begin calls while there is room; return when to come again, infinity if a call's end will tell."""
        assert self.loop is not None
        now = self.loop.time()
        most = math.inf if self.parallel is None else max(1, self.parallel)
        while not self.stopping and self.fatal is None and len(self.calls) < most:
            work = self.queue.next(now)
            if work is None:
                if self.queue.tired:
                    return now
                self._begin_dear(now)
                return self.queue.wake_at
            pool = self.pools[work.course.model]
            if pool.lost is not None:
                self.queue.failed(work.course, pool.lost.kind, str(pool.lost))
            elif not self._begin(pool, work, now):
                return self.queue.wake_at
        return math.inf

    def _begin(self, pool: Pool, work: Work, now: float) -> bool:
        """Begin a call, or keep the work until it fits; return whether to look for more."""
        request = work.course.request
        assert request is not None
        tokens = most_tokens(request) if pool.weighs else 0.0
        lane = pool.choose(work, now, tokens)
        if not isinstance(lane, Lane):
            pool.held = work
            self.queue.wake_at = min(self.queue.wake_at, lane)
            return False
        reserved = None
        if self.budget is not None and lane.reserves(work.course):
            reserved = self.budget.reserve(pool.name, request)
            if reserved is None and self.courier is not None:
                self.dear.append(work)  # others continue: requests submitted by an earlier run are paid for
                return True
            if reserved is None:
                pool.held = work
                self.stopping = self.too_dear = not self.calls
                return False
        call = lane.begin(work, now, tokens)
        call.reserved = reserved
        task = asyncio.create_task(self._outcome(pool, call))
        task.add_done_callback(self._ended)
        self.calls[task] = call
        self._count_calls()
        return True

    def _begin_dear(self, now: float) -> None:
        """Retry calls that the budget did not allow, when all results are settled; stop if nothing else is left."""
        if self.courier is None or not self.dear or len(self.calls) > self.courier.waiting:
            return
        dear, self.dear = self.dear, []
        for work in dear:
            self._begin(self.pools[work.course.model], work, now)
        self.stopping = self.too_dear = not self.calls and not self.waiting

    def _ended(self, task: asyncio.Task[None]) -> None:
        """Take note of a call that is over, with or without a reply, and begin what its slot allows."""
        call = self.calls.pop(task)
        if not task.cancelled():
            error = task.exception()  # asked of every task: asyncio complains of one that nobody looked at
            self.fatal = self.fatal or error
            if error is None or isinstance(error, ChatError):
                call.settle()
        self._begin_calls()
        self._count_calls()
        self.tally.limit = self._limit()
        self._note_outage()
        self.watch(self.tally)

    async def _outcome(self, pool: Pool, call: Call) -> None:
        """Call, and deal with the reply or the failure."""
        assert self.loop is not None
        course, lane = call.course, call.lane
        reply = None
        try:
            reply = await lane.ask(call)
        except TransientError as error:
            lane.failed(call, error, self.loop.time(), reached=pool.answered)
            self._failed_for_now(pool, call, error)
        except EndpointError as error:
            lane.broken_off(call)
            self._cannot_be_called(pool, call, error)
        except ChatError as error:
            lane.refused(call)
            self._reached(pool)
            if not course.refused(error):
                self.queue.failed(course, error.kind, str(error))
            elif self.queue.advanced(course):
                self.queue.go_on(Work(course))
        except BaseException:
            lane.broken_off(call)
            raise
        else:
            lane.replied(call, reply, self.loop.time(), more=not self.queue.empty)
            self._reached(pool)
            self._count(pool, reply)
        finally:
            if self.budget is not None and call.reserved is not None:
                self.budget.settle(pool.name, call.reserved, reply)
        if reply is not None:
            course.receive(reply)
            if self.queue.advanced(course):
                self.queue.go_on(Work(course))

    def _count(self, pool: Pool, reply: Reply) -> None:
        self.tally.count(reply)
        if pool.price is not None and (cost := pool.price.cost(reply)) is not None:
            self.tally.cost = (self.tally.cost or 0.0) + cost

    def _failed_for_now(self, pool: Pool, call: Call, error: TransientError) -> None:
        """Put the job back after a wait, or give it up, or its whole model."""
        assert self.loop is not None
        course, now = call.course, self.loop.time()
        outage = call.lane.breaker.open
        if not outage:  # else it says nothing about this request; how long that may last is the breaker's to say
            course.tries += 1
        course.failing_since = now if course.failing_since is None else course.failing_since
        if self._given_up_unseen(pool, call, error):
            return
        if pool.hopeless and pool.lost is None:
            given_up = f"given up after {self.policy.patience:g} s without a reply (--patience)"
            pool.lost = ChatError(f"{error}; {given_up}", kind=error.kind)
            self._end_waits(pool, pool.lost)
        self._warn_of_silence(pool, call.lane, error)
        wait = None if pool.lost else self.policy.wait(error, max(1, course.tries), now - course.failing_since)
        if wait is None:
            pool.doubted = False
            cause = pool.lost or error
            self.queue.failed(course, cause.kind, str(cause))
            return
        if pool.another(call.lane):
            wait -= self.policy.asked(error) or 0.0
        self.tally.retries += 1
        work = Work(course, call.lane)
        self.waiting[work] = self.loop.call_later(wait, self._again, work)

    def _given_up_unseen(self, pool: Pool, call: Call, error: TransientError) -> bool:
        """Return whether an endpoint that has never answered is given up with this failure."""
        if pool.answered or (error.connected and error.kind != "timeout"):
            self._reached(pool)
            return False
        pool.silent += error.connected
        pool.doubted = not error.connected
        if call.course.tries >= self.policy.connections and not error.connected:
            tried = f"tried {call.course.tries} times"
        elif pool.silent >= self.policy.silent:
            tried = f"{pool.silent} calls without an answer"
        else:
            return False
        self._cannot_be_called(pool, call, EndpointError(f"{error} ({tried})", kind=error.kind))
        return True

    def _end_waits(self, pool: Pool, lost: ChatError) -> None:
        """Fail the jobs that wait for their next try at a model that is lost."""
        for work, timer in list(self.waiting.items()):
            if work.course.model == pool.name:
                timer.cancel()
                del self.waiting[work]
                self.queue.failed(work.course, lost.kind, str(lost))

    def _warn_of_silence(self, pool: Pool, lane: Lane, error: TransientError) -> None:
        """Warn once of an endpoint that only fails, or that asks for a longer pause than `--max-wait` allows."""
        if lane.warned or pool.lost is not None:
            return
        if error.retry_after is not None and error.retry_after > self.policy.max_wait:
            lane.warned = True
            asked = f"asks to wait for {error.retry_after:.4g} s"
            log.warning("%s; it %s, and is called again after %g s (--max-wait)", error, asked, self.policy.max_wait)
        elif lane.breaker.open:
            lane.warned = True
            others = f"continuing with the other endpoints of {pool.name}"
            given_up = f"given up after {self.policy.patience:g} s without a reply (--patience)"
            log.warning("%s; retried now and then, %s", error, others if pool.another(lane) else given_up)

    def _again(self, work: Work) -> None:
        del self.waiting[work]
        self.queue.go_on(work)
        self._begin_calls()

    def _reached(self, pool: Pool) -> None:
        pool.answered = True
        pool.doubted = False

    def _cannot_be_called(self, pool: Pool, call: Call, error: EndpointError) -> None:
        """Continue with the pool's other lanes, or end the run; calls that cannot get a reply are cancelled."""
        lane = call.lane
        if lane.out is not None or pool.take_out(lane, error):
            if lane.out is error:
                log.warning("%s; continuing with the other endpoints of %s", error, pool.name)
            call.course.tries, call.course.failing_since = 0, None
            pool.doubted, pool.silent = False, 0
            self.queue.go_on(Work(call.course, lane))
            return
        if not pool.answered:
            for task, other in self.calls.items():
                if other is not call and other.lane in pool.lanes:
                    task.cancel()
        raise error

    def _note_outage(self) -> None:
        """Say for the bar since when an endpoint only fails, and until when it may."""
        since = [pool.failing_since for pool in self.pools.values() if pool.lost is None]
        first = min((moment for moment in since if moment is not None), default=None)
        self.tally.failing_since = first
        self.tally.given_up_at = None if first is None else first + self.policy.patience

    def _count_calls(self) -> None:
        """Say how many calls wait for an endpoint; those whose request is in a batch are counted there."""
        self.tally.in_flight = len(self.calls) - (self.courier.waiting if self.courier is not None else 0)

    def _limit(self) -> int | None:
        """Return the calls that may be in flight now, if that is found out by the run."""
        limiters = [lane.limiter for pool in self.pools.values() for lane in pool.lanes if lane.out is None]
        return sum(limiter.limit for limiter in limiters) if any(limiter.adaptive for limiter in limiters) else None

    async def _tick(self) -> None:
        """Bring what was written to the disk every second."""
        while True:
            await asyncio.sleep(SYNC_SECONDS)
            self.sync()
            self.watch(self.tally)

    def interrupt(self) -> None:
        """Take a Ctrl-C, in whichever thread it was received."""
        if self.loop is None:
            self.stopping = True
        elif not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self._interrupted)

    def _interrupted(self) -> None:
        if self.stopping:
            for task in self.calls:
                task.cancel()
        self.stopping = self.tally.stopping = True
        self._begin_calls()

    def _why_stopped(self) -> str:
        if self.courier is not None and self.courier.flights:
            return self.courier.stays()
        left = self.tally.planned - self.tally.done - len(self.tally.failures)
        left_over = f", {left:,} of {self.tally.planned:,} left" if self.tally.planned and left > 0 else ""
        if self.too_dear and self.budget is not None:
            return (
                f"stopped before the cost could exceed {shown(self.budget.most)} (so far {shown(self.budget.spent)})"
                f"{left_over}; what was done is kept, run the same command with a higher --max-cost to continue"
            )
        return f"stopped{left_over}; what was done is kept, run the same command again to continue"


def _budget(options: RunOptions, models: Mapping[str, Sequence[ChatModel]]) -> Budget | None:
    """Return what keeps the run within what it may cost."""
    if options.max_cost is None:
        return None
    endpoints = {name: endpoint_of(several[0]) for name, several in models.items()}
    return Budget(options.max_cost, {name: e.price for name, e in endpoints.items() if e}, batch=options.batch)
