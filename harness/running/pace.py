"""How many calls an endpoint gets: at once (found out while it works), and per minute.

At once, as TCP does it (Chiu and Jain 1989: additive increase, multiplicative decrease):

    start     one more with each reply, so the limit doubles in a round trip
    halve     a 429, 503 or 529 halves it, once for all calls that were under way together
    after     one more in a round trip
    full      a limit that rose by half without a fifth more replies a second stays:
              more calls would only wait in the endpoint's own queue

Nothing here reads a clock: times are passed in, in seconds.
"""

import math
from dataclasses import dataclass, field

START = 16
"""Calls at once in the beginning."""
MOST = 256
"""Calls at once that are not exceeded unless `--parallel` says so."""
_ROUND = 16
"""Replies that a speed is measured from, at least."""
_TRY_AGAIN = 32
"""Rounds for which a full limit stays before one more is tried."""


@dataclass(slots=True)
class Parallel:
    """The limit on calls under way; it stays as it is if `fixed`."""

    limit: float = START
    most: int = MOST
    fixed: bool = False
    doubling: bool = True
    full: int = 0
    """Rounds for which the limit is to stay."""
    _cut: float = -math.inf
    """When the limit was last halved."""
    _began: float | None = None
    """When the round began; None: calls did not fill the limit, so its speed says nothing."""
    _replies: int = 0
    _best: tuple[float, float] | None = None
    """The last limit that was worth its calls, and its replies per second."""

    def __post_init__(self) -> None:
        self.limit = float(min(self.limit, self.most))

    @property
    def allowed(self) -> int:
        """Calls that may be under way now."""
        return int(self.limit)

    def replied(self, began: float, now: float, *, filled: bool) -> None:
        """Count a reply to a call begun at `began`; `filled`: other calls waited for the limit."""
        if self.fixed:
            return
        if not filled:
            self._began = None
            return
        if self._began is None:
            self._began, self._replies = began, 0
        self._replies += 1
        if not self.full:
            step = 1.0 if self.doubling else 1.0 / self.limit
            self.limit = min(self.limit + step, float(self.most))
        if self._replies >= max(_ROUND, self.limit) and now > self._began:
            self._end_round(self._replies / (now - self._began))
            self._began, self._replies = now, 0

    def pushed_back(self, began: float, now: float, under_way: int) -> None:
        """Halve the limit, unless the call was begun before the last halving."""
        if self.fixed or began < self._cut:
            return
        self.limit = max(1.0, min(self.limit, under_way) / 2)
        self._cut, self.doubling, self.full = now, False, 0
        self._best, self._began = None, None

    def _end_round(self, speed: float) -> None:
        if self.full:
            self.full -= 1
            return
        if self._best is None or self.limit >= 1.5 * self._best[0]:
            if self._best is not None and speed < 1.2 * self._best[1]:
                self.limit, self.full, self.doubling = self._best[0], _TRY_AGAIN, False
                self._best = None
                return
            self._best = self.limit, speed


@dataclass(slots=True)
class Bucket:
    """A token bucket of one call: `rate` units a minute, spread evenly over it."""

    rate: float = math.inf
    _free_at: float = field(default=-math.inf)

    def ready_at(self) -> float:
        """Return when the next call may begin."""
        return self._free_at

    def take(self, amount: float, now: float) -> None:
        """Take an amount; a negative one gives back what a call did not use."""
        if self.rate < math.inf:
            self._free_at = max(self._free_at, now if amount > 0 else -math.inf)
            self._free_at += 60.0 * amount / self.rate
