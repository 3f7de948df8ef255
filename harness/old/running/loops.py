"""The event loop of a run: the thread's own, or one in another thread if the caller already has one (a notebook)."""

import asyncio
import sys
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from harness.old.running.selector import new_loop

Outcome = TypeVar("Outcome")


def run_to_end(work: Callable[[], Coroutine[Any, Any, Outcome]]) -> Outcome:
    """Return what the work returns, or raise what it raises."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _in_loop(work)
    with ThreadPoolExecutor(1, "turnbench") as thread:
        return thread.submit(_in_loop, work).result()


def _in_loop(work: Callable[[], Coroutine[Any, Any, Outcome]]) -> Outcome:
    """Run the work in a loop of this thread; on Windows one of the usual kind."""
    with asyncio.Runner(loop_factory=None if sys.platform == "win32" else new_loop) as runner:
        return runner.run(work())
