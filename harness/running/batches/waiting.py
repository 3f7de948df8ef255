"""The waiting of a run by batches: the bar moves meanwhile, and Ctrl-C ends it."""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

TICK = 1.0
"""Seconds between two drawings of the bar."""


@dataclass(frozen=True, slots=True)
class Pauses:
    """How long to wait between two looks at the batches, in seconds."""

    first: float = 5.0
    growth: float = 1.5
    longest: float = 120.0
    settling: float = 10.0
    """Before a batch that was handed in a moment ago and is not found counts as never handed in."""

    def after(self, looks: int) -> float:
        """Return the pause after so many looks that found nothing new."""
        return min(self.longest, self.first * self.growth ** min(looks, 50))


class Waiting:
    """The pauses of one run. Told to stop once, the run ends when nothing is half done; twice, at once."""

    def __init__(self, draw: Callable[[], None]) -> None:
        """`draw` is called at every tick."""
        self._draw = draw
        self._stop = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[Any] | None = None

    @property
    def stopped(self) -> bool:
        """Whether the user stopped the run."""
        return self._stop.is_set()

    def begin(self) -> None:
        """Take the running task for the one that a second interrupt cancels."""
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()

    async def pause(self, seconds: float) -> None:
        """Wait, the bar moving, until the time is over or the user stops the run."""
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        while not self.stopped and (left := until - loop.time()) > 0:
            self._draw()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), min(TICK, left))
        await asyncio.sleep(0)

    def interrupt(self) -> None:
        """Take a Ctrl-C, in whichever thread it was received."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._interrupted)
        else:
            self._stop.set()

    def _interrupted(self) -> None:
        if self.stopped and self._task is not None:
            self._task.cancel()
        self._stop.set()
