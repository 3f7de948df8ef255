"""How many calls one endpoint gets at once, found out while it works.

    start     the limit grows by one with each reply, so it doubles in a round trip
    steady    it grows by a sixteenth in a round trip
    full      it stays: more calls at once made each of them slower and brought no more replies

The endpoint's word that it has too much (429, 503, 529) halves the limit, at most once for the calls that were in
flight together, and ends the start. Nothing here reads a clock: the times come in.
"""

from dataclasses import dataclass, field
from typing import Literal

START = 16
"""Calls at once to begin with, where nothing is known about an endpoint."""
MOST = 256
"""Calls at once that are never exceeded unasked."""
WORTH = 1.2
"""What a doubled limit must at least multiply the replies in a second by; a smaller rise must bring its share."""
HOLD = 16
"""Rounds for which a limit found to be full stays before a higher one is tried again."""
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
    phase: Literal["start", "steady", "full"] = "start"
    _limit: float = field(init=False)
    _cut: float = float("-inf")
    """When the limit was last halved."""
    _mark: _Mark | None = None
    _doubted: bool = False
    """Whether the last round was not worth its calls; a second one settles it."""
    _held: int = 0
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
        """Take note of a reply to a call begun at `began`; `full` says that the limit held other calls back."""
        if not self.adaptive:
            return
        if not full:
            self._began = None
            return
        if self._began is None:
            self._begin_round(began)
        self._replies += 1
        self._grow()
        assert self._began is not None
        if self._replies >= self._needed and now > self._began:
            self._end_round(self._replies / (now - self._began))
            self._begin_round(now)

    def pushed_back(self, began: float, now: float, in_flight: int) -> None:
        """Halve the limit, unless the call was begun before that was done last."""
        if not self.adaptive or began < self._cut:
            return
        self._limit = max(1.0, min(self._limit, in_flight) / 2)
        self._cut = now
        self._enter("steady")

    def _grow(self) -> None:
        if self._doubted or self.phase == "full":
            return
        step = 1.0 if self.phase == "start" else max(1.0, self._limit / 16) / self._limit
        self._limit = min(self._limit + step, float(self.most))

    def _begin_round(self, now: float) -> None:
        self._began = now
        self._replies = 0
        self._needed = max(_FEWEST, self.limit)

    def _end_round(self, speed: float) -> None:
        """Compare the round with the mark, and settle whether to go on growing."""
        if self.phase == "full":
            self._held += 1
            if self._held >= HOLD:
                self._enter("steady")
            return
        if self._mark is None:
            self._mark = _Mark(self._limit if self.phase == "steady" else self._needed, speed)
            return
        rise = self._limit / self._mark.limit - 1
        if rise < 0.5:
            return
        if speed >= self._mark.speed * (1 + (WORTH - 1) * min(rise, 1.0)):
            self._mark, self._doubted = _Mark(self._limit, speed), False
        elif self._doubted:
            self._limit = self._mark.limit
            self._enter("full")
        else:
            self._doubted = True

    def _enter(self, phase: Literal["steady", "full"]) -> None:
        self.phase = phase
        self._mark, self._doubted, self._held, self._began = None, False, 0, None


def fixed(parallel: int) -> Limiter:
    """Return a limit that stays as it is."""
    return Limiter(start=parallel, most=parallel, adaptive=False)
