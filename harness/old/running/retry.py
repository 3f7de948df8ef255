"""Which failures are tried again, and when: by type and status, never by the words of a message."""

import random
from dataclasses import dataclass, replace

from harness.old.errors import TransientError
from harness.old.running.options import RunOptions

PUSHED_BACK = frozenset({"rate limit", "overload"})
"""The kinds of failure for overload: 429, 503, 529."""
BEYOND_THE_REQUEST = PUSHED_BACK | {"outage", "no connection"}
"""The kinds that are not the request's fault: retried by time, not by number."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and after which wait a failed call is tried again.

    The wait is `first * 2**n`, at most `longest`, of which a random half to whole is waited (so that many callers do
    not come back at once); a server's Retry-After is obeyed exactly, up to `max_wait`, and then some of `first`.
    """

    tries: int = 6
    """Calls in total, with the first one, if the request may be at fault; in other cases at least this many."""
    limited: int = 30
    """The least where the endpoint only asked to come later."""
    first: float = 0.5
    """Seconds."""
    longest: float = 30.0
    """Seconds."""
    connections: int = 3
    """An endpoint that has never answered is given up after this many refused connections of one call."""
    silent: int = 2
    """An endpoint that has never answered is given up after this many calls without a byte in time."""
    patience: float = 600.0
    """Seconds of nothing but failures after which an endpoint is given up."""
    max_wait: float = 600.0
    """Seconds that a server's Retry-After is obeyed at most."""

    def wait(self, error: TransientError, failed: int, elapsed: float) -> float | None:
        """Return the seconds to wait after the `failed`-th failure (from 1), or None to give up.

        `elapsed` are the seconds since the first one.
        """
        enough = failed >= (self.limited if error.kind in PUSHED_BACK else self.tries)
        if enough and (error.kind not in BEYOND_THE_REQUEST or elapsed >= self.patience):
            return None
        asked = self.asked(error)
        if asked is not None:
            return asked + random.uniform(0, self.first)
        backoff: float = min(self.longest, self.first * 2.0 ** min(failed - 1, 60)) * random.uniform(0.5, 1.0)
        return backoff

    def asked(self, error: TransientError) -> float | None:
        """Return the seconds of the server's Retry-After that are obeyed; None if it sent none."""
        return None if error.retry_after is None else min(error.retry_after, self.max_wait)

    def pause(self, probes: int) -> float:
        """Return the pause in seconds of an endpoint that only fails after n probes: 5, 10, 20, 30, 30."""
        return min(self.longest, 10 * self.first * 2.0 ** min(probes, 60))


def policy_of(options: RunOptions, usual: RetryPolicy) -> RetryPolicy:
    """Return the usual policy with what a run states otherwise."""
    return replace(
        usual,
        patience=usual.patience if options.patience is None else options.patience,
        max_wait=usual.max_wait if options.max_wait is None else options.max_wait,
    )
