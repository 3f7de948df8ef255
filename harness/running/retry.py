"""Which failures are tried again, and when: by type and status, never by the words of a message."""

import random
from dataclasses import dataclass

from harness.errors import TransientError

PUSHED_BACK = frozenset({"rate limit", "overload"})
"""The kinds of failure by which an endpoint says that it has too much: 429, 503, 529."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and after which wait a failed call is tried again.

    The wait is `first * 2**n`, at most `longest`, of which a random half to whole is waited (so that many callers do
    not come back at once); a server's Retry-After is obeyed exactly and then some of `first`.
    """

    tries: int = 6
    """Calls in all, the first one included."""
    limited: int = 30
    """The same where the endpoint only asked to come later: that says nothing against the request."""
    first: float = 0.5
    """Seconds."""
    longest: float = 30.0
    """Seconds."""
    connections: int = 3
    """An endpoint that has never answered is given up after so many refused connections of one call."""

    def wait(self, error: TransientError, failed: int) -> float | None:
        """Return the seconds to wait after the `failed`-th failure (from 1), or None to give up."""
        if failed >= (self.limited if error.kind == "rate limit" else self.tries):
            return None
        backoff: float = min(self.longest, self.first * 2.0 ** (failed - 1)) * random.uniform(0.5, 1.0)
        return backoff if error.retry_after is None else error.retry_after + random.uniform(0, self.first)

    def pause(self, probes: int) -> float:
        """Return the seconds for which an endpoint that only fails is left alone after so many probes: 5, 20, 60."""
        return min(2 * self.longest, 10 * self.first * 4.0**probes)
