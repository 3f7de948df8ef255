"""How many calls an endpoint gets: at once (found out while it works), and per minute.

At once, as TCP does it (Chiu and Jain 1989: additive increase, multiplicative decrease):

    start     one more with each reply, so the limit doubles in a round trip
    halve     a 429, 503 or 529 halves it, once for all calls that were under way together
    after     one more in a round trip

Nothing here reads a clock: times are passed in, in seconds.
"""

import math
from dataclasses import dataclass

START = 16
"""Calls at once in the beginning."""
START_HERE = 2
"""The same for a server on this machine."""
MOST = 256
"""Calls at once that are not exceeded unless `--parallel` says so."""


@dataclass(slots=True)
class Parallel:
    """The limit on calls under way; it stays as it is if `fixed`."""

    limit: float = START
    most: int = MOST
    fixed: bool = False
    doubling: bool = True
    _cut: float = -math.inf
    """When the limit was last halved."""

    @property
    def allowed(self) -> int:
        """Calls that may be under way now."""
        return int(self.limit)

    def replied(self, *, filled: bool) -> None:
        """Count a reply; `filled`: other calls waited for the limit."""
        if filled and not self.fixed:
            step = 1.0 if self.doubling else 1.0 / self.limit
            self.limit = min(self.limit + step, float(self.most))

    def pushed_back(self, began: float, now: float, under_way: int) -> None:
        """Halve the limit, unless the call was begun before the last halving."""
        if self.fixed or began < self._cut:
            return
        self.limit = max(1.0, min(self.limit, under_way) / 2)
        self._cut, self.doubling = now, False


@dataclass(slots=True)
class Bucket:
    """A token bucket of one call: `rate` units a minute, spread evenly over it."""

    rate: float = math.inf
    ready_at: float = -math.inf
    """When the next call may begin."""

    def take(self, amount: float, now: float) -> None:
        """Take an amount; a negative one gives back what a call did not use."""
        if self.rate < math.inf:
            self.ready_at = max(self.ready_at, now if amount > 0 else -math.inf)
            self.ready_at += 60.0 * amount / self.rate
