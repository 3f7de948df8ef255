"""The engine that hands requests in as batches: all that are due of one model go together, and so do their next ones.

First all first turns are one batch, then all second turns, with whatever expired or failed for a time before. What is
at a provider is written down (see `ledger.py`), so the process may end at any moment: the next one finds the batches
again, by the names of their jobs and the content of their requests, and collects them.
"""

import asyncio
import contextlib
import itertools
import logging
import math
import pathlib
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from harness.chat.batches import QUEUE_FULL, BatchModel, Handed, Prepared, Progress, open_batches
from harness.chat.model import ChatModel
from harness.chat.parameters import RefusedParameterError
from harness.errors import ChatError, EndpointError, Interrupted, TransientError
from harness.records import Reply
from harness.running import interrupts
from harness.running.batches.expenses import Expenses
from harness.running.batches.lanes import Flight, Lane, opened
from harness.running.batches.ledger import Ledger, custom_id, described, ledger_beside
from harness.running.batches.waiting import Pauses, Waiting
from harness.running.cost import Budget
from harness.running.direct import Models
from harness.running.jobs import Course
from harness.running.loops import run_to_end
from harness.running.options import RunOptions
from harness.running.retry import RetryPolicy, policy_of
from harness.running.watch import Tally, Watcher, nobody

log = logging.getLogger("turnbench")

RETRY = RetryPolicy()
PAUSES = Pauses()
YOUNG = 120.0
"""Seconds for which the provider's list may lack a batch that was handed in."""


def run_batches(
    courses: Iterable[Course[Any]],
    models: Models,
    options: RunOptions = RunOptions(),
    *,
    planned: int = 0,
    watch: Watcher = nobody,
    sync: Callable[[], None] = lambda: None,
) -> Tally:
    """Run all jobs to their end by batches and return the counts; failed jobs are listed in them.

    It is called as `direct.run` is. Of several chat models for one name the first takes the batches. Of the options
    only the limit on the cost counts. Ctrl-C leaves the batches to their providers: once as soon as nothing is half
    done, twice at once.

    Raises:
        UsageError: a model has no batches; nothing was handed in.
        EndpointError: a model can't be called at all; what was done is kept.
        Interrupted: the user stopped the run, or it would have exceeded what it may cost.
        StorageError: a record could not be written.
    """
    members = {name: tuple(m) if isinstance(m, Sequence) else (m,) for name, m in models.items()}
    takers = {name: open_batches(several[0]) for name, several in members.items()}
    prices = {name: getattr(several[0], "endpoint").price for name, several in members.items()}  # noqa: B009
    budget = None if options.max_cost is None else Budget(options.max_cost, prices, batch=True)
    limits = {"--parallel": options.parallel, "--rpm": options.rpm, "--tpm": options.tpm}
    if given := [flag for flag, value in limits.items() if value is not None]:
        log.warning("%s: no effect on batches", ", ".join(given))
    everyone = [model for several in members.values() for model in several]
    expenses = Expenses(prices, budget, Tally(planned=planned))
    engine = _Engine(courses, everyone, takers, expenses, policy_of(options, RETRY), watch, sync)
    with interrupts.handed_on(engine.waiting.interrupt):
        return run_to_end(engine.run)


class _Engine:
    """The state of one run."""

    def __init__(
        self,
        courses: Iterable[Course[Any]],
        models: Sequence[ChatModel],
        takers: Mapping[str, BatchModel],
        expenses: Expenses,
        policy: RetryPolicy,
        watch: Watcher,
        sync: Callable[[], None],
    ) -> None:
        self.courses = courses
        self.models = models
        self.takers = takers
        self.expenses = expenses
        self.policy = policy
        self.tally = expenses.tally
        self.watch = watch
        self.waiting = Waiting(lambda: watch(expenses.tally))
        self.sync = sync
        self.lanes: dict[tuple[str, pathlib.Path], Lane] = {}
        self.ledgers: dict[pathlib.Path, Ledger] = {}
        self.checked: set[tuple[str, str]] = set()
        """Addresses and models of which it is known that the server has batches."""
        self.wait = 0.0
        """Seconds to wait before what failed for a time is handed in again."""
        self.fatal: EndpointError | None = None

    async def run(self) -> Tally:
        """Work until nothing is left to do, and return the counts."""
        self.waiting.begin()
        try:
            with contextlib.ExitStack() as self.stack:
                await self._run()
        except asyncio.CancelledError:
            raise self._interrupted() from None
        finally:
            await asyncio.gather(*(model.close() for model in self.models), return_exceptions=True)
            self.watch(self.tally)
        return self.tally

    async def _run(self) -> None:
        for course in self.courses:
            self._begin(course)
        looks = 0
        while any(lane.due or lane.flights for lane in self.lanes.values()):
            for lane in list(self.lanes.values()):
                if lane.due:
                    await self._check(lane)
            self.expenses.too_dear = False
            handed_in = [await self._hand_in(lane) for lane in list(self.lanes.values())]
            collected = [await self._look(lane) for lane in list(self.lanes.values())]
            if self.fatal is not None:
                raise self.fatal
            if self.expenses.too_dear and not any(collected) and not any(lane.flights for lane in self.lanes.values()):
                raise self._interrupted()
            looks = 0 if any(handed_in) or any(collected) else looks + 1
            if self.wait or not any(collected):
                await self._pause(self.wait or PAUSES.after(looks))
            elif self.waiting.stopped:
                raise self._interrupted()
            self.wait = 0.0

    def _lane(self, course: Course[Any]) -> Lane:
        """Return where a job belongs: to its model and its output file."""
        kept = course.pending.path
        place = course.job.model, kept
        if place not in self.lanes:
            if kept not in self.ledgers:
                self.ledgers[kept] = self.stack.enter_context(Ledger(ledger_beside(kept)))
            self.lanes[place] = opened(self.takers[course.job.model], self.ledgers[kept])
        return self.lanes[place]

    def _begin(self, course: Course[Any]) -> None:
        """Start a job and put it where it belongs."""
        course.start()
        if course.place:
            self._lane(course).served(course)
        self._went_on(course)

    def _went_on(self, course: Course[Any]) -> None:
        """Put a job where it belongs now: ended, due, or left to whoever asks the same for it."""
        if course.request is None:
            self.tally.done += 1
            self.watch(self.tally)
        elif not course.parked:
            self._lane(course).due.append(course)
        self._released(course)

    def _released(self, course: Course[Any]) -> None:
        for more in course.released():
            self._begin(more)

    async def _check(self, lane: Lane) -> None:
        """See whether the server has batches at all."""
        if lane.model.origin in self.checked:
            return
        for tried in itertools.count(1):
            try:
                await lane.model.check()
                self.checked.add(lane.model.origin)
                return
            except TransientError as error:
                enough = self.policy.tries if error.connected else self.policy.connections
                wait = self.policy.wait(error, tried, 0.0)
                if wait is None or tried >= enough:
                    raise EndpointError(f"{error} (tried {tried} times)", kind=error.kind) from None
                await self._pause(wait)

    async def _hand_in(self, lane: Lane) -> bool:
        """Hand in what is due, as far as there is room; return whether anything was."""
        if lane.due and lane.earlier:
            for token, numbers in lane.recognise().items():
                await lane.give_up(lane.ledger.batches[token], numbers)
        any_made = False
        while lane.due and not self.waiting.stopped:
            flight, prepared = lane.planned(self.expenses.reserved)
            if flight is None:
                break
            any_made = True
            await self._submit(lane, flight, prepared)
        return any_made

    async def _submit(self, lane: Lane, flight: Flight, prepared: list[Prepared]) -> None:
        """Hand a batch in; where no answer comes, look whether it was taken before it is handed in again."""
        self._count()
        began = time.monotonic()
        for tried in itertools.count(1):
            try:
                lane.ledger.made(flight.batch, await lane.model.submit(flight.batch.token, prepared))
                return
            except TransientError as error:
                wait = self.policy.wait(error, tried, time.monotonic() - began)
                if wait is None:
                    raise EndpointError(f"{error} (tried {tried} times to hand in a batch)", kind=error.kind) from None
                self.tally.retries += 1
                await self._pause(wait)
            except EndpointError:
                lane.ledger.drop(flight.batch)
                raise
            except ChatError as error:
                self._refused(lane, flight, Progress(ended=True, fault=error))
                return
            if not await self._missed(lane, flight):
                return

    async def _missed(self, lane: Lane, flight: Flight) -> bool:
        """Return whether a batch without a name was certainly never taken; one that is found gets its name."""
        batch = flight.batch
        others = {other.name for other in lane.ledger.batches.values() if other.name is not None}
        for pause in (PAUSES.settling, None):
            try:
                found = await lane.model.find(batch.token, len(batch.asks), batch.at, others)
            except TransientError:
                return False
            if found.batch is not None:
                lane.ledger.made(batch, found.batch)
                return False
            if not found.certain:
                return False
            if batch.age > YOUNG or pause is None:
                break
            await self._pause(pause)
        return True

    async def _look(self, lane: Lane) -> bool:
        """Look at every batch, and collect those that have ended; return whether there was one."""
        any_ended = False
        for flight in list(lane.flights):
            if self.waiting.stopped:
                raise self._interrupted()
            if flight.batch.name is None:
                if await self._missed(lane, flight):
                    any_ended = True
                    self._hand_back(lane, flight)
                if flight.batch.name is None:
                    continue
            try:
                progress = await lane.model.progress(flight.batch.name)
            except TransientError:
                self.tally.retries += 1
                continue
            except EndpointError as error:
                raise lane.told_of_unknown(flight.batch, error) from None
            flight.processed = progress.processed
            self._count()
            if progress.ended:
                any_ended = True
                await self._collect(lane, flight, progress)
        return any_ended

    def _hand_back(self, lane: Lane, flight: Flight) -> None:
        """Make due again what a batch that was never taken holds."""
        lane.flights.remove(flight)
        lane.ledger.drop(flight.batch)
        for number, course in flight.wanted.items():
            self.expenses.paid(flight, number, None)
            lane.due.append(course)

    async def _collect(self, lane: Lane, flight: Flight, progress: Progress) -> None:
        """Take what a batch that has ended came to, and write down that it was taken."""
        if progress.fault is not None or progress.faults:
            self._refused(lane, flight, progress)
            return
        batch = flight.batch
        left = {custom_id(batch.token, number): number for number in flight.wanted}
        broken = await self._take_results(lane, flight, left)
        for number in left.values():
            course = flight.wanted[number]
            if broken is not None:
                self.expenses.paid(flight, number, None)
                self._failed(course, ChatError(str(broken), kind=broken.kind))
                continue
            why = f"{lane.model.name}: {described(batch)} ended without a word on this request"
            error = ChatError(f"{lane.model.name}: the batch was cancelled", kind="cancelled")
            self._came(lane, flight, number, error if progress.cancelled else TransientError(why, kind="no result"))
        self.sync()
        lane.ledger.sync()
        lane.flights.remove(flight)
        self._count()

    async def _take_results(self, lane: Lane, flight: Flight, left: dict[str, int]) -> TransientError | None:
        """Take all results that can be read, out of `left`; return why the rest can't, if the list is not whole."""
        assert flight.batch.name is not None
        began = time.monotonic()
        for tried in itertools.count(1):
            handed = {
                name: Handed(request, flight.batch.asks[number].names)
                for name, number in left.items()
                if (request := flight.wanted[number].request) is not None
            }
            try:
                async for result in lane.model.results(flight.batch.name, handed):
                    number = left.pop(result.custom_id, None)
                    if number is not None:
                        self._came(lane, flight, number, result.outcome)
                return None
            except TransientError as error:
                wait = self.policy.wait(error, tried, time.monotonic() - began)
                if wait is None or not left:
                    return error if left else None
                await self._pause(wait)
        raise AssertionError  # the count has no end

    def _refused(self, lane: Lane, flight: Flight, progress: Progress) -> None:
        """Take the refusal of a batch as a whole: nothing of it was done, nothing is paid."""
        lane.flights.remove(flight)
        count = len(flight.batch.asks)
        for number, course in flight.wanted.items():
            own = progress.faults.get(number)
            fault = own or progress.fault
            if fault is None or (fault.kind == QUEUE_FULL and count > 1):
                self.expenses.paid(flight, number, None)
                lane.due.append(course)  # there is nothing wrong with this request
            else:
                self._came(lane, flight, number, fault)
        if progress.fault is not None and progress.fault.kind == QUEUE_FULL and count > 1:
            lane.room = max(lane.queued, count // 2)
            log.warning("%s; handed in again in smaller batches", progress.fault)
        lane.ledger.drop(flight.batch)

    def _came(self, lane: Lane, flight: Flight, number: int, outcome: Reply | ChatError) -> None:
        """Take what a request came to, and then write down that it was taken."""
        course = flight.wanted[number]
        self.expenses.paid(flight, number, outcome if isinstance(outcome, Reply) else None)
        if isinstance(outcome, Reply):
            self.tally.count(outcome)
            course.receive(outcome)
            self._went_on(course)
        elif isinstance(outcome, EndpointError):
            self.fatal = self.fatal or outcome
        elif self._again(lane, course, flight.batch.asks[number].names, outcome):
            lane.due.append(course)
        else:
            self._failed(course, outcome)
        lane.ledger.settle(flight.batch, [number])

    def _again(self, lane: Lane, course: Course[Any], names: tuple[str, ...], error: ChatError) -> bool:
        """Return whether a request that failed is to be handed in again."""
        if isinstance(error, RefusedParameterError):
            assert course.request is not None
            if not lane.model.repair(Handed(course.request, names), error.parameter):
                return False
            lane.ledger.learn(error.parameter)
            return True
        if not isinstance(error, TransientError):
            return False
        course.tries += 1
        wait = self.policy.wait(error, course.tries, math.inf)
        if wait is None or course.tries >= self.policy.tries:
            return False
        self.tally.retries += 1
        self.wait = max(self.wait, wait)
        return True

    def _failed(self, course: Course[Any], error: ChatError) -> None:
        self.tally.failures.append(course.fail(error.kind, str(error)))
        self._released(course)

    def _count(self) -> None:
        """Say how much is at the providers."""
        flights = [flight for lane in self.lanes.values() for flight in lane.flights]
        self.tally.batched = sum(len(flight.batch.asks) for flight in flights)
        self.tally.processed = sum(flight.processed for flight in flights)
        self.watch(self.tally)

    async def _pause(self, seconds: float) -> None:
        """Wait until the time is over, or raise `Interrupted` if the user stops the run."""
        await self.waiting.pause(seconds)
        if self.waiting.stopped:
            raise self._interrupted()

    def _interrupted(self) -> Interrupted:
        """Return the error that says what goes on without us."""
        flights = [flight for lane in self.lanes.values() for flight in lane.flights]
        if flights:
            count = sum(len(flight.wanted) for flight in flights)
            batches = f"{len(flights)} batches stay" if len(flights) > 1 else "1 batch stays"
            requests = f"{count} requests" if count > 1 else "1 request"
            return Interrupted(
                f"stopped; {batches} with the provider, which goes on with it ({requests});"
                " at once or in some days, run the same command again to go on"
            )
        if self.expenses.too_dear and not self.waiting.stopped:
            return self.expenses.exceeded()
        return Interrupted("stopped; what was done is kept, run the same command again to go on")
