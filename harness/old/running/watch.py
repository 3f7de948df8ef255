"""The counts of a run, and who receives them: a progress bar, a test, a page."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from harness.old.records import Failure, Reply


@dataclass(slots=True)
class Tally:
    """The counts of a run, updated while it runs."""

    planned: int = 0
    """Jobs to do in this run."""
    done: int = 0
    """Jobs that ended in a record."""
    calls: int = 0
    """Replies received from chat models."""
    retries: int = 0
    in_flight: int = 0
    stopping: bool = False
    """Whether the user has stopped the run, which ends with the calls in flight."""
    limit: int | None = None
    """Calls that may be in flight now, where the run finds that out."""
    resumes_at: float | None = None
    """When the next call may begin, by the monotonic clock, if an endpoint has asked for a pause."""
    failing_since: float | None = None
    """Since when an endpoint only fails, by the monotonic clock; None: all work."""
    given_up_at: float | None = None
    """When it is given up."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    """Dollars that the replies have cost; None as long as no price is known."""
    batched: int = 0
    """Requests that are at a provider in batches."""
    processed: int = 0
    """How many of these are done, as far as the provider reports."""
    failures: list[Failure] = field(default_factory=list)
    flagged: dict[str, int] = field(default_factory=dict)
    """Replies that were cut off, refused or empty, by finish reason; `in words` if a JSON schema was refused."""

    def count(self, reply: Reply) -> None:
        """Add one reply."""
        self.calls += 1
        self.prompt_tokens += reply.usage.prompt_tokens or 0
        self.completion_tokens += reply.usage.completion_tokens or 0
        if reply.finish_reason in {"length", "refused", "empty"}:
            self.flagged[reply.finish_reason] = self.flagged.get(reply.finish_reason, 0) + 1
        if reply.applied.get("structured") is False:
            self.flagged["in words"] = self.flagged.get("in words", 0) + 1


Watcher: TypeAlias = Callable[[Tally], None]
"""Receives the tally whenever it has changed; it is called from the event loop, and has to be quick."""


def nobody(tally: Tally) -> None:
    """Watch a run without showing anything."""
