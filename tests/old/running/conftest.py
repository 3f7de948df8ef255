"""Time that passes only when nothing is left to do: an hour of waiting is over at once, and the same in every run."""

import asyncio
import selectors
from typing import Any

import pytest

from harness.old.running import loops


class IdleClock(selectors.DefaultSelector):
    """A selector that does not wait until something happens, but lets the time pass that it would have waited."""

    now = 0.0

    def select(self, timeout: float | None = None) -> Any:
        ready = super().select(0 if timeout else timeout)
        if timeout and not ready:
            self.now += timeout
        return ready


class IdleLoop(asyncio.SelectorEventLoop):
    """An event loop by that clock. It serves chat models of this process only: a server would be given no time."""

    def __init__(self) -> None:
        self.clock = IdleClock()
        super().__init__(self.clock)

    def time(self) -> float:
        return float(self.clock.now)


@pytest.fixture
def idle_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let runs of the engine pass their time in no time."""
    monkeypatch.setattr(loops, "new_loop", IdleLoop)
