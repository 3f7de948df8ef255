"""The event loop of a run: the thread's own, or one in a thread beside a caller that has one already (a notebook)."""

import asyncio
import sys
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from harness.running.selector import new_loop

Outcome = TypeVar("Outcome")


def run_to_end(work: Callable[[], Coroutine[Any, Any, Outcome]]) -> Outcome:
    """Return what the work returns, or raise what it raises."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        with _runner() as runner:
            return runner.run(work())
    outcome: list[Outcome] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            with _runner() as runner:
                outcome.append(runner.run(work()))
        except BaseException as error:
            failure.append(error)

    thread = threading.Thread(target=run, name="turnbench")
    thread.start()
    thread.join()
    if failure:
        raise failure[0]
    return outcome[0]


def _runner() -> asyncio.Runner:
    """Return what runs a loop to its end; on Windows a loop of the usual kind."""
    return asyncio.Runner(loop_factory=None if sys.platform == "win32" else new_loop)
