"""The engine that calls chat models directly: at most `parallel` calls at once, new jobs before continued ones.

A slot is one call in flight. A job that waits for its next try holds none, nor does a conversation between two turns. Starting
new jobs first leaves the shorter tail: the second turns fill the end, when no first ones are left.
"""

import asyncio
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from harness.chat.model import ChatModel
from harness.errors import ChatError, EndpointError, Interrupted, TransientError
from harness.records import Failure
from harness.running.jobs import Course
from harness.running.retry import RetryPolicy
from harness.running.watch import Tally, Watcher, nobody

RETRY = RetryPolicy()


def run(
    courses: Iterable[Course[Any]],
    models: Mapping[str, ChatModel],
    *,
    parallel: int = 8,
    planned: int = 0,
    watch: Watcher = nobody,
    sync: Callable[[], None] = lambda: None,
) -> Tally:
    """Run all jobs to their end and return the counts; failed jobs are listed in them.

    `models` maps a job's model to the chat model that answers it; all are closed at the end. `planned` is the number of jobs,
    for the watcher. `sync` is called every second. Ctrl-C once finishes the calls in flight, twice stops at once.

    Raises:
        EndpointError: a model can't be called at all (key, name, address); what was done is kept.
        Interrupted: the user stopped the run.
        StorageError: a record could not be written.
    """
    engine = _Engine(iter(courses), models, parallel, Tally(planned=planned), watch, sync)
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
    thread.start()
    thread.join()
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]


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
        self.stopping = False
        self.fatal: BaseException | None = None

    async def run(self) -> Tally:
        self.changed = asyncio.Event()
        loop = asyncio.get_running_loop()
        workers = [asyncio.create_task(self._work()) for _ in range(max(1, self.parallel))]
        ticker = asyncio.create_task(self._tick())
        restore = self._on_interrupt(loop, workers)
        try:
            await asyncio.gather(*workers, return_exceptions=True)
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
                    self._ended(course)
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
        if self.unplanned:
            course = next(self.courses, None)
            if course is not None:
                course.start()
                return course
            self.unplanned = False
        return self.ready.popleft() if self.ready else None

    async def _call(self, course: Course[Any]) -> None:
        assert course.request is not None
        model = self.models[course.job.model]
        self.tally.in_flight += 1
        try:
            reply = await model.reply(course.request)
        except TransientError as error:
            self._failed_for_now(course, error)
        except EndpointError:
            raise
        except ChatError as error:
            self.answered.add(course.job.model)
            self._failed(course, error)
        else:
            self.answered.add(course.job.model)
            self.tally.count(reply)
            course.receive(reply)
            if course.request is None:
                self._ended(course)
            else:
                self.ready.append(course)
        finally:
            self.tally.in_flight -= 1
            self.changed.set()
        self.watch(self.tally)

    def _failed_for_now(self, course: Course[Any], error: TransientError) -> None:
        """Put the job back after a wait, or give it up."""
        course.tries += 1
        if error.connected:
            self.answered.add(course.job.model)
        elif course.job.model not in self.answered and course.tries >= RETRY.connections:
            raise EndpointError(f"{error} (tried {course.tries} times); is the address right, and the server up?", kind=error.kind)
        wait = RETRY.wait(error, course.tries)
        if wait is None:
            self._failed(course, error)
            return
        self.tally.retries += 1
        self.waiting += 1
        asyncio.get_running_loop().call_later(wait, self._again, course)

    def _again(self, course: Course[Any]) -> None:
        self.waiting -= 1
        self.ready.append(course)
        self.changed.set()

    def _failed(self, course: Course[Any], error: ChatError) -> None:
        self.tally.failures.append(Failure(course.job.key, error.kind, str(error)))

    def _ended(self, course: Course[Any]) -> None:
        self.tally.done += 1
        self.watch(self.tally)

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(1)
            self.sync()
            self.watch(self.tally)

    def _on_interrupt(self, loop: asyncio.AbstractEventLoop, workers: list["asyncio.Task[None]"]) -> Callable[[], None]:
        """Let the first Ctrl-C stop new calls and the second one all; return what undoes it."""

        def interrupted() -> None:
            if self.stopping:
                for worker in workers:
                    worker.cancel()
            self.stopping = True
            self.changed.set()

        if threading.current_thread() is not threading.main_thread():
            return lambda: None
        try:
            loop.add_signal_handler(signal.SIGINT, interrupted)
        except NotImplementedError:  # Windows: KeyboardInterrupt ends the loop as usual
            return lambda: None


        def restore() -> None:
            loop.remove_signal_handler(signal.SIGINT)

        return restore


