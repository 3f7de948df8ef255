"""Calls and tokens per minute, as hard limits: no minute, wherever it begins, has more of them than allowed.

From its start a call counts with the most tokens that it may use; when its reply states how many it used, the
difference is released. Nothing here reads a clock: times are passed in.
"""

import math
from collections import deque
from dataclasses import dataclass, field

from harness.old.chat.endpoint import Limits
from harness.old.records import Request

MINUTE = 60.0
LATENESS = 0.5
"""Seconds that a call may take longer than another to reach the endpoint, whose minute it is that counts."""
UNSTATED_REPLY = 1024
"""Tokens that a reply is expected to have at most, where the request states no limit."""
_BYTES_PER_TOKEN = 3.6


@dataclass(slots=True)
class Taken:
    """What one call has taken of a window."""

    at: float
    amount: float


@dataclass(slots=True)
class Window:
    """The most per minute. A call larger than that is let through alone."""

    most: float = math.inf
    seconds: float = MINUTE
    _taken: deque[Taken] = field(default_factory=deque)
    _sum: float = 0.0

    def __post_init__(self) -> None:
        if self.most < 1:  # half a call in a minute is one call in two
            self.seconds, self.most = self.seconds / self.most, 1.0

    def ready_at(self, amount: float, now: float) -> float:
        """Return when this amount may be taken; `now` or earlier: at once."""
        self._forget(now)
        excess = self._sum + min(amount, self.most) - self.most
        if excess <= 1e-9:
            return now
        for taken in self._taken:
            excess -= taken.amount
            if excess <= 1e-9:
                return taken.at + self.seconds
        return math.inf  # cannot be: everything taken is in the window

    def take(self, amount: float, now: float) -> Taken:
        """Take an amount, and return the note of it."""
        taken = Taken(now, amount)
        if self.most < math.inf:
            self._taken.append(taken)
            self._sum += amount
        return taken

    def settle(self, taken: Taken, amount: float) -> None:
        """Correct what a call has taken to what it really used."""
        if self._taken and taken.at >= self._taken[0].at:
            self._sum += amount - taken.amount
            taken.amount = amount

    def _forget(self, now: float) -> None:
        while self._taken and self._taken[0].at + self.seconds <= now:
            self._sum -= self._taken.popleft().amount
        if not self._taken:
            self._sum = 0.0


@dataclass(slots=True)
class Rates:
    """The windows of one endpoint."""

    calls: Window = field(default_factory=Window)
    tokens: Window = field(default_factory=Window)

    def ready_at(self, tokens: float, now: float) -> float:
        """Return when a call of this many tokens may begin."""
        return max(self.calls.ready_at(1, now), self.tokens.ready_at(tokens, now))

    def begin(self, tokens: float, now: float) -> Taken:
        """Count a call that begins, and return the note of its tokens."""
        self.calls.take(1, now)
        return self.tokens.take(tokens, now)


def rates_of(limits: Limits, *, rpm: float | None, tpm: float | None) -> Rates:
    """Return the windows for an endpoint's own limits and the run's, the narrower of each."""
    narrower = (min(filter(None, both), default=math.inf) for both in ((limits.rpm, rpm), (limits.tpm, tpm)))
    return Rates(*(Window(most, MINUTE + LATENESS) for most in narrower))


def most_tokens(request: Request) -> float:
    """Return about how many tokens a call may use at most, prompt and reply."""
    size = sum(len(message.content.encode("utf-8", "replace")) for message in request.messages)
    return size / _BYTES_PER_TOKEN + (request.sampling.max_tokens or UNSTATED_REPLY)
