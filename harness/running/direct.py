"""The engine that calls chat models directly: at most `parallel` calls at once, new jobs before continued ones.

A slot is one call in flight. A job that waits for its next try holds none, nor does a conversation between two turns.
Starting new jobs first leaves the shorter tail: the second turns fill the end, when no first ones are left.
"""

import asyncio
import contextlib
import functools
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from harness.chat.model import ChatModel
from harness.errors import ChatError, EndpointError, Interrupted, TransientError
from harness.records import Failure
from harness.running.jobs import Course
from harness.running.options import RunOptions
from harness.running.retry import RetryPolicy
from harness.running.watch import Tally, Watcher, nobody

RETRY = RetryPolicy()
SYNC_SECONDS = 1.0


def run(
    courses: Iterable[Course[Any]],
    models: Mapping[str, ChatModel],
    options: RunOptions = RunOptions(),
    *,
    planned: int = 0,
    watch: Watcher = nobody,
    sync: Callable[[], None] = lambda: None,
) -> Tally:
    """Run all jobs to their end and return the counts; failed jobs are listed in them.

    `models` maps a job's model to the chat model that answers it; all are closed at the end. `planned` is the number of
    jobs, for the watcher. `sync` is called every second. Ctrl-C once finishes the calls in flight, twice stops at once.

    Raises:
        EndpointError: a model can't be called at all (key, name, address); what was done is kept.
        Interrupted: the user stopped the run.
        StorageError: a record could not be written.
    """
    engine = _Engine(iter(courses), models, options.parallel or 8, Tally(planned=planned), watch, sync)
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(engine.run())
    return _in_thread(engine)


def _in_thread(engine: "_Engine") -> Tally:
    """Run the engine in a thread of its own: the caller (a notebook) already has an event loop."""
    outcome: list[Tally | BaseException] = []

    def work() -> None:
        try:
            outcome.append(asyncio.run(engine.run()))
        except BaseException as error:
            outcome.append(error)

    thread = threading.Thread(target=work, name="turnbench")
    with _interrupts(engine):
        thread.start()
        thread.join()
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]


@contextlib.contextmanager
def _interrupts(engine: "_Engine") -> Iterator[None]:
    """Hand every Ctrl-C of the block on to an engine that works in another thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, lambda *_: engine.interrupt_from_outside())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before or signal.default_int_handler)


class _Engine:
    """The state of one run."""

    def __init__(
        self,
        courses: Iterator[Course[Any]],
        models: Mapping[str, ChatModel],
        parallel: int,
        tally: Tally,
        watch: Watcher,
        sync: Callable[[], None],
    ) -> None:
        self.courses = courses
        self.models = models
        self.parallel = parallel
        self.tally = tally
        self.watch = watch
        self.sync = sync
        self.ready: deque[Course[Any]] = deque()
        self.waiting = 0
        """Jobs between two tries."""
        self.unplanned = True
        """Whether `courses` may still yield."""
        self.answered: set[str] = set()
        """Models of which any reply or refusal has come."""
        self.doubted: set[str] = set()
        """Models that no connection has reached yet; as long as there is one, no new job is begun."""
        self.workers: dict[asyncio.Task[None], str | None] = {}
        """Each worker, with the model that it is calling."""
        self.loop: asyncio.AbstractEventLoop | None = None
        self.stopping = False
        self.fatal: BaseException | None = None

    async def run(self) -> Tally:
        """Work until nothing is left to do, and return the counts."""
        self.changed = asyncio.Event()
        self.loop = asyncio.get_running_loop()
        self.workers = {asyncio.create_task(self._work()): None for _ in range(max(1, self.parallel))}
        ticker = asyncio.create_task(self._tick())
        restore = self._on_interrupt(self.loop)
        try:
            await asyncio.gather(*self.workers, return_exceptions=True)
        finally:
            restore()
            ticker.cancel()
            await asyncio.gather(*(model.close() for model in self.models.values()), return_exceptions=True)
            self.watch(self.tally)
        if self.fatal is not None:
            raise self.fatal
        if self.stopping:
            raise Interrupted("stopped; what was done is kept, run the same command again to go on")
        return self.tally

    async def _work(self) -> None:
        """Take jobs and call, until nothing is left that could need a call."""
        while not self.stopping and self.fatal is None:
            try:
                course = self._take()
                if course is None:
                    if not (self.waiting or self.tally.in_flight):
                        break
                    self.changed.clear()
                    await self.changed.wait()
                elif course.request is None:
                    self._ended()
                    await asyncio.sleep(0)
                else:
                    await self._call(course)
            except asyncio.CancelledError:
                break
            except BaseException as error:
                self.fatal = self.fatal or error
        self.changed.set()

    def _take(self) -> Course[Any] | None:
        """Return a job whose request is due (or which has ended on kept replies), new jobs first."""
        if self.unplanned and not self.doubted:
            course = next(self.courses, None)
            if course is not None:
                course.start()
                return course
            self.unplanned = False
        return self.ready.popleft() if self.ready else None

    async def _call(self, course: Course[Any]) -> None:
        assert course.request is not None
        worker = asyncio.current_task()
        assert worker is not None
        name = course.job.model
        self.workers[worker] = name
        self.tally.in_flight += 1
        try:
            reply = await self.models[name].reply(course.request)
        except TransientError as error:
            self._failed_for_now(course, error)
        except EndpointError:
            self._give_up(name)
            raise
        except ChatError as error:
            self._reached(name)
            self._failed(course, error)
        else:
            self._reached(name)
            self.tally.count(reply)
            course.receive(reply)
            if course.request is None:
                self._ended()
            else:
                self.ready.append(course)
        finally:
            self.workers[worker] = None
            self.tally.in_flight -= 1
            self.changed.set()
        self.watch(self.tally)

    def _failed_for_now(self, course: Course[Any], error: TransientError) -> None:
        """Put the job back after a wait, or give it up."""
        course.tries += 1
        name = course.job.model
        if error.connected:
            self._reached(name)
        elif name not in self.answered:
            self.doubted.add(name)
            if course.tries >= RETRY.connections:
                self._give_up(name)
                raise EndpointError(f"{error} (tried {course.tries} times)", kind=error.kind)
        wait = RETRY.wait(error, course.tries)
        if wait is None:
            self.doubted.discard(name)
            self._failed(course, error)
            return
        self.tally.retries += 1
        self.waiting += 1
        asyncio.get_running_loop().call_later(wait, self._again, course)

    def _reached(self, name: str) -> None:
        self.answered.add(name)
        self.doubted.discard(name)

    def _again(self, course: Course[Any]) -> None:
        self.waiting -= 1
        self.ready.append(course)
        self.changed.set()

    def _give_up(self, name: str) -> None:
        """Break off the other calls to a model that has never answered: none of them can bring a reply."""
        if name not in self.answered:
            for worker, called in self.workers.items():
                if called == name and worker is not asyncio.current_task():
                    worker.cancel()

    def _failed(self, course: Course[Any], error: ChatError) -> None:
        self.tally.failures.append(Failure(course.job.key, error.kind, str(error)))

    def _ended(self) -> None:
        self.tally.done += 1
        self.watch(self.tally)

    async def _tick(self) -> None:
        """Bring what was written to the disk every second; a disk that fails ends the run."""
        try:
            while True:
                await asyncio.sleep(SYNC_SECONDS)
                self.sync()
                self.watch(self.tally)
        except Exception as error:
            self.fatal = self.fatal or error
            self.changed.set()

    def _on_interrupt(self, loop: asyncio.AbstractEventLoop) -> Callable[[], object]:
        """Let the first Ctrl-C stop new calls and the second one all; return what undoes it."""
        if threading.current_thread() is not threading.main_thread():
            return lambda: None
        try:
            loop.add_signal_handler(signal.SIGINT, self._interrupted)
        except NotImplementedError:  # Windows: KeyboardInterrupt ends the loop as usual
            return lambda: None
        return functools.partial(loop.remove_signal_handler, signal.SIGINT)

    def interrupt_from_outside(self) -> None:
        """Take a Ctrl-C that another thread has received."""
        if self.loop is None:
            self.stopping = True
        elif not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self._interrupted)

    def _interrupted(self) -> None:
        if self.stopping:
            for worker in self.workers:
                worker.cancel()
        self.stopping = True
        self.changed.set()
