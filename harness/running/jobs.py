"""What is run: jobs, the limits of a run, and what came of it.

A job is a generator that yields requests, is sent replies and returns a row:

    def steps() -> Generator[Request, Reply, Answer]:
        first = yield Request(messages=[...])
        second = yield Request(messages=[...])
        return Answer(question_id=81, choices=[Choice(turns=[first.text, second.text])])

A request that is refused for good is raised inside the generator as a `ChatError`; a generator that
does not catch it fails, and the run lists the failure.
"""

import pathlib
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import msgspec

from harness.errors import ChatError
from harness.models import ChatModel, Endpoint
from harness.options import Limits
from harness.store import Failure
from harness.types import Detail, Reply, Request, Row

Steps: TypeAlias = Generator[Request, Reply, Row]


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """One row to be made by calls to chat models."""

    id: str
    """Unique in its file and the same in every run: by it pending replies are found again."""
    where: str
    """The job for people: "question 81, gpt-4o"."""
    endpoint: Endpoint
    """The chat model that answers; a request may name another by `to`."""
    path: pathlib.Path
    """The file that the row goes to."""
    kind: type[Row]
    steps: Callable[[], Steps]
    first: str = ""
    """Jobs with the same text have prompts that begin alike: one warms the provider's cache."""
    others: Mapping[str, Endpoint] = field(default_factory=dict)
    """The chat models that requests name by `to`."""
    then: Callable[[Any], Iterable["Job"]] = lambda _: ()
    """Given the row, the jobs that can be run because of it."""

    def endpoint_of(self, request: Request) -> Endpoint:
        """Return the chat model that a request goes to."""
        return self.endpoint if request.to is None else self.others[request.to]


class Progress(msgspec.Struct):
    """The counts of a run, kept up to date while it runs."""

    total: int = 0
    """Jobs in all; 0: unknown."""
    done: int = 0
    failed: int = 0
    calls: int = 0
    """Replies received from chat models."""
    in_flight: int = 0
    retries: int = 0
    from_cache: int = 0
    cost: float = 0.0
    """Dollars, as far as prices are known."""
    flagged: dict[str, int] = {}
    """Replies that were cut, refused or empty, by finish reason."""
    state: str = ""
    """What the run waits for, if it waits."""

    def count(self, detail: Detail, cost: float) -> None:
        """Count a reply and what it took."""
        self.calls += 1
        self.cost += cost
        if detail.finish_reason in ("length", "refused", "empty"):
            self.flagged[detail.finish_reason] = self.flagged.get(detail.finish_reason, 0) + 1


class Outcome(msgspec.Struct):
    """What a run did."""

    done: int
    """Rows written."""
    failures: list[Failure]
    """Jobs without a row, each with its cause."""
    progress: Progress
    superseded: int = 0
    """Older rows that were moved to `.turnbench/`."""
    stopped: str | None = None
    """Why the run ended early, as a sentence."""

    @property
    def cost(self) -> float:
        """Dollars, as far as prices are known."""
        return self.progress.cost

    def causes(self) -> list[str]:
        """Return a line for each distinct cause of failure, with the first job that has it."""
        groups: dict[str, list[str]] = {}
        for failure in self.failures:
            groups.setdefault(failure.message, []).append(failure.where)
        return [
            f"{where[0]}{f' (and {len(where) - 1} more)' if len(where) > 1 else ''}: {message}"
            for message, where in groups.items()
        ]


def limits_after(limits: Limits, outcome: Outcome) -> Limits:
    """Return the limits of a further run, with what an earlier one has left of `--max-cost`."""
    if limits.max_cost is None:
        return limits
    return msgspec.structs.replace(limits, max_cost=max(limits.max_cost - outcome.cost, 1e-9))


def never(question: str) -> bool:
    """Answer no, as where nobody can be asked."""
    return False


class Engine:
    """Where calls are made; this one makes them in this process.

    Others are made by the registry from the limits and the benchmark's `.turnbench/`.
    """

    redo: bool = False
    """Whether the run answers again what is answered."""
    agrees: Callable[[str], bool] = staticmethod(never)
    """Asks the user a question in the middle of the run."""

    fixed: int | None = None
    """How many calls may be under way at once for each endpoint; None: found out by the run."""
    stays: str = ""
    """What becomes of calls that are under way when the user stops; empty: they are awaited."""

    def open(self, endpoint: Endpoint) -> ChatModel:
        """Return the chat model of an endpoint."""
        return endpoint.open()

    async def close(self, *, orderly: bool) -> None:
        """Give back what the engine holds; files and chat models are closed before.

        `orderly`: every reply that was given is stored, or its job's failure is.
        """


def uncut(request: Request, factor: float) -> Generator[Request, Reply, list[Reply]]:
    """Ask; if the reply is cut at its token limit, ask once more with `factor` times the limit.

    Returns the replies, the one that counts last. A factor of 1, or a request without a limit,
    never asks again; where the larger limit is refused the cut reply counts.
    """
    reply = yield request
    limit = request.sampling.max_tokens
    if reply.detail.finish_reason != "length" or limit is None or factor <= 1:
        return [reply]
    sampling = msgspec.structs.replace(request.sampling, max_tokens=int(limit * factor))
    try:
        whole = yield msgspec.structs.replace(request, sampling=sampling)
    except ChatError:
        return [reply]
    if whole.detail.note is None:
        note = f"asked again: the first reply was cut at {limit} tokens"
        whole.detail = msgspec.structs.replace(whole.detail, note=note)
    return [reply, whole]
