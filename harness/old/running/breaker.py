"""A circuit breaker: an endpoint that only fails is paused, probed by single calls after growing pauses, then given up.

    closed    calls go through; ten failures in a row, of any calls, open it, or a minute of only failures
    open      no call until the pause is over; then one, the probe
              the probe gets a reply: closed again; it fails: a longer pause
    lost      nothing but failures for as long as the run has patience, the last probe, at its end, among them

Nothing here reads a clock: times are passed in.
"""

import math
from dataclasses import dataclass

from harness.old.running.retry import RetryPolicy

FAILURES = 10
"""Failures in a row that open it."""
SECONDS = 60.0
"""Seconds of failures in a row, two at least, that open it: where calls are few or slow, ten would take an hour."""


@dataclass(slots=True)
class Breaker:
    """How one endpoint's last calls ended."""

    policy: RetryPolicy
    failures: int = 0
    """In a row."""
    since: float | None = None
    """When the first of them was; None: the last call did not fail."""
    probes: int = 0
    """Probes that have failed since it opened."""
    lost: bool = False
    """Whether the endpoint is given up."""
    _until: float | None = None
    """When the next probe may begin; None: it is closed."""
    _probing: bool = False

    @property
    def open(self) -> bool:
        """Whether calls are held back."""
        return self._until is not None

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
        """Close: the endpoint has answered, whatever it said."""
        self.failures = self.probes = 0
        self.since, self.lost = None, False
        self._until, self._probing = None, False

    def failed(self, now: float, *, probe: bool) -> None:
        """Count a failure. Failures of calls begun before it opened are ignored."""
        self.failures += 1
        self.since = now if self.since is None else self.since
        left = self.since + self.policy.patience - now
        if probe:
            self.probes += 1
            self.lost = left <= 0
        elif self.open or not (self.failures >= FAILURES or (self.failures > 1 and now - self.since >= SECONDS)):
            return
        pause = self.policy.pause(self.probes)
        self._until, self._probing = now + (min(pause, left) if left > 0 else pause), False

    def undecided(self, *, probe: bool) -> None:
        """Let the next call be the probe: this one was broken off, or was asked to come later."""
        if probe:
            self._probing = False
