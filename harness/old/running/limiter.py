"""How many calls one endpoint gets at once, adapted while it works.

    start     the limit grows by one with each reply, so it doubles in a round trip
    regain    it grows likewise, from half of what the endpoint accepted back to that
    full      it stays: the endpoint accepted this many and refused more, or more calls gave no more replies
    steady    it grows by a sixteenth in a round trip

A refusal for overload (429, 503, 529) halves the limit, at most once for the calls that were in
flight together. The number that was accepted is then regained at once and kept for a while: if the endpoint counts
calls, that is its limit, and each try at more costs a halving and perhaps a pause. A refusal at or below that number
shows that the endpoint counts something else; then the limit grows slowly from its half.

    64 in flight, 24 refused: 32 → 40 in a round trip, 40 for 16 of them, 42: refused, 21 → 40, for 32 of them, …

Nothing here reads a clock: times are passed in.
"""

from dataclasses import dataclass, field
from typing import Literal

START = 16
"""Calls at once to begin with, where nothing is known about an endpoint."""
MOST = 256
"""Calls at once that are never exceeded unasked."""
WORTH = 1.2
"""A doubled limit must multiply the replies per second by at least this; a smaller rise proportionally."""
HOLD = 16
"""Rounds for which a limit found to be full stays before a higher one is tried again."""
LONGEST_HOLD = 128
"""Rounds, after several tries that were all refused at the same number; the hold doubles with each of them."""
PAUSES_HELD = 20
"""The hold, as a multiple of the pause that the endpoint asks for with its refusal: what a try at more may cost."""
LONGEST_PAUSES_HELD = 120.0
"""Seconds that such a pause may lengthen the hold to."""
_FEWEST = 8
"""Replies that make a round at least: fewer say nothing about speed."""


@dataclass(frozen=True, slots=True)
class _Mark:
    """The last limit that was worth its calls."""

    limit: float
    speed: float
    """Replies in a second."""


@dataclass(slots=True)
class Limiter:
    """The limit on one endpoint's calls in flight; fixed if `most` is what it starts with and `adaptive` is not set."""

    start: int = START
    most: int = MOST
    adaptive: bool = True
    phase: Literal["start", "regain", "full", "steady"] = "start"
    _limit: float = field(init=False)
    _cut: float = float("-inf")
    """When the limit was last halved."""
    _mark: _Mark | None = None
    _doubted: bool = False
    """Whether the last round did not raise the throughput; a second one decides."""
    _taken: int | None = None
    """Calls that the endpoint took at once when it refused more; None: it never did, or not because of their number."""
    _least: int = 0
    """The number that it accepted for a whole hold, a lower bound."""
    _hold: int = HOLD
    _held: int = 0
    """Rounds for which the limit has stayed."""
    _pause: float = 0.0
    _stays_until: float = float("-inf")
    _began: float | None = None
    """When the present round began."""
    _needed: int = 0
    _replies: int = 0

    def __post_init__(self) -> None:
        self._limit = float(min(self.start, self.most))

    @property
    def limit(self) -> int:
        """The calls that may be in flight now."""
        return int(self._limit)

    def replied(self, began: float, now: float, *, full: bool) -> None:
        """Record a reply to a call begun at `began`; `full` says that the limit held other calls back."""
        if not self.adaptive:
            return
        if not full:  # fewer calls than allowed say nothing about the limit
            self._began = None
            return
        if self._began is None:
            self._begin_round(began)
        self._replies += 1
        self._grow(now)  # with each reply, not each round: as fast as the endpoint answers, and never in bursts
        if self._began is None:  # a number was regained, and is held from now on
            return
        if self._replies >= self._needed and now > self._began:
            self._end_round(self._replies / (now - self._began), now)
            self._begin_round(now)

    def pushed_back(self, began: float, now: float, in_flight: int, pause: float = 0.0) -> None:
        """Halve the limit, unless the call was begun before the last halving; `pause` is the requested one."""
        if not self.adaptive:
            return
        self._pause = max(self._pause, pause)
        if began < self._cut:  # sent when the old limit held: the refusal was answered already
            if self._taken is not None and self.phase == "regain":
                self._taken = max(self._taken - 1, self._least, self.limit)  # another of those in flight together
            return
        self._learn_from(in_flight)
        self._limit = max(1.0, min(self._limit, in_flight) / 2)
        self._cut, self._pause = now, pause
        self._enter("steady" if self._taken is None else "regain")

    def _learn_from(self, in_flight: int) -> None:
        """Take note of how many calls were taken when one was refused."""
        before, self._taken = self._taken, in_flight - 1
        if before is None:
            self._least, self._hold = 0, HOLD
        elif self.phase != "steady":  # it took as many before, and now it does not
            self._taken = None
        elif in_flight <= before * 1.25 + 1:  # refused again near the same number: that is where its limit is
            self._taken = self._least = before
            self._hold = min(2 * self._hold, LONGEST_HOLD)
        else:
            self._least, self._hold = before, HOLD

    def _grow(self, now: float) -> None:
        if self._doubted or self.phase == "full":
            return
        step = max(1.0, self._limit / 16) / self._limit if self.phase == "steady" else 1.0
        self._limit = min(self._limit + step, float(self.most))
        if self.phase == "regain" and self._taken is not None and self._limit >= self._taken:
            # Not one more than it took: the next refusal would cost a halving, and mostly a pause for all calls.
            self._limit = max(self._limit - step, float(self._taken), 1.0)
            self._stays_until = now + min(PAUSES_HELD * self._pause, LONGEST_PAUSES_HELD)
            self._enter("full")

    def _begin_round(self, now: float) -> None:
        self._began = now
        self._replies = 0
        self._needed = max(_FEWEST, self.limit)

    def _end_round(self, speed: float, now: float) -> None:
        """Compare the round with the mark, and decide whether to continue growing."""
        if self.phase == "full":
            self._held += 1
            if self._held >= (HOLD if self._taken is None else self._hold) and now >= self._stays_until:
                self._enter("steady")
            return
        if self._mark is None:
            self._mark = _Mark(self._limit if self.phase == "steady" else self._needed, speed)
            return
        rise = self._limit / self._mark.limit - 1
        if rise < 0.5:  # the gain of a smaller rise is lost in the noise of a round
            return
        if speed >= self._mark.speed * (1 + (WORTH - 1) * min(rise, 1.0)):
            self._mark, self._doubted = _Mark(self._limit, speed), False
        elif self._doubted:  # twice no gain: more calls only wait in the endpoint's own queue
            self._limit = self._mark.limit
            self._enter("full")
        else:
            self._doubted = True

    def _enter(self, phase: Literal["regain", "full", "steady"]) -> None:
        self.phase = phase
        self._mark, self._doubted, self._held, self._began = None, False, 0, None


def fixed(parallel: int) -> Limiter:
    """Return a limit that stays as it is."""
    return Limiter(start=parallel, most=parallel, adaptive=False)
