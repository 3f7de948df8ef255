"""Calls and tokens in a minute, as hard limits: no minute, wherever it begins, has more of them than allowed.

A call counts the most tokens that it may use from its beginning on; when its reply says how many it really used, the
difference is given back. Nothing here reads a clock: the times come in.
"""

import math
from collections import deque
from dataclasses import dataclass, field

from harness.chat.endpoint import Limits
from harness.records import Request

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
    """So much in a minute and no more. What is larger than the whole of it is let through alone."""

    most: float
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
    """The windows of one endpoint; either may be missing."""

    calls: Window | None = None
    tokens: Window | None = None

    def ready_at(self, tokens: float, now: float) -> float:
        """Return when a call of so many tokens may begin."""
        calls = self.calls.ready_at(1, now) if self.calls else now
        return max(calls, self.tokens.ready_at(tokens, now)) if self.tokens else calls

    def begin(self, tokens: float, now: float) -> Taken | None:
        """Count a call that begins."""
        if self.calls:
            self.calls.take(1, now)
        return self.tokens.take(tokens, now) if self.tokens else None

    def settle(self, taken: Taken | None, tokens: float) -> None:
        """Correct the tokens of a call that ended."""
        if taken and self.tokens:
            self.tokens.settle(taken, tokens)


def rates_of(limits: Limits, *, rpm: float | None, tpm: float | None) -> Rates:
    """Return the windows for an endpoint's own limits and the run's, the narrower of each."""
    calls, tokens = _least(limits.rpm, rpm), _least(limits.tpm, tpm)
    seconds = MINUTE + LATENESS
    return Rates(Window(calls, seconds) if calls else None, Window(tokens, seconds) if tokens else None)


def prompt_tokens(request: Request) -> float:
    """Return about how many tokens the prompt has."""
    return sum(len(message.content.encode("utf-8", "replace")) for message in request.messages) / _BYTES_PER_TOKEN


def most_tokens(request: Request) -> float:
    """Return about how many tokens a call may use at most, prompt and reply."""
    return prompt_tokens(request) + (request.sampling.max_tokens or UNSTATED_REPLY)


def _least(*limits: float | None) -> float | None:
    return min((limit for limit in limits if limit is not None), default=None)
