"""When an endpoint only fails, it is left alone, tried with single calls after growing pauses, and in the end given up.

    closed    calls go through; ten failures in a row, of whichever calls, open it
    open      no call until the pause is over; then one, the probe
              the probe brings a reply: closed again; it fails: a longer pause

Nothing here reads a clock: the times come in.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

FAILURES = 10
"""Failures in a row that open it."""
PROBES = 3
"""Probes that may fail before an endpoint is as good as lost."""


@dataclass(slots=True)
class Breaker:
    """What one endpoint's last calls came to."""

    pause: Callable[[int], float]
    """The seconds to wait before the n-th probe, from 0."""
    failures: int = 0
    """In a row."""
    probes: int = 0
    """Probes that have failed since it opened."""
    _until: float | None = None
    """When the next probe may begin; None: it is closed."""
    _probing: bool = False

    @property
    def open(self) -> bool:
        """Whether calls are held back."""
        return self._until is not None

    @property
    def lost(self) -> bool:
        """Whether so many probes have failed that there is no hope left."""
        return self.probes >= PROBES

    def ready_at(self) -> float:
        """Return when a call may begin; minus infinity: whenever it likes, infinity: when the probe has ended."""
        if self._until is None:
            return -math.inf
        return math.inf if self._probing else self._until

    def begin(self) -> bool:
        """Count a call that begins; return whether it is a probe."""
        self._probing = self._until is not None
        return self._probing

    def replied(self) -> None:
        """Close: whatever the endpoint said, it is there."""
        self.failures = self.probes = 0
        self._until, self._probing = None, False

    def failed(self, now: float, *, probe: bool) -> None:
        """Count a failure. Those of calls begun before it opened say nothing new."""
        self.failures += 1
        if probe:
            self.probes += 1
        elif self.open or self.failures < FAILURES:
            return
        self._until, self._probing = now + self.pause(self.probes), False

    def undecided(self, *, probe: bool) -> None:
        """Let the next call be the probe: this one was broken off, or told to come later."""
        if probe:
            self._probing = False
