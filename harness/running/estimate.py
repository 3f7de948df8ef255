"""What a plan will take, before the first call: calls, tokens, dollars; the question to the user.

The plan's jobs are run with a stand-in of the expected length for every reply, so that a second
turn's prompt holds a first reply; of many jobs a random sample stands for all. Nothing is called.
Prompt tokens are within 20%. A reply's tokens are a range: the middle half of the model's earlier
replies, or from a usual length to the limit.
"""

import contextlib
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, TypeVar

from msgspec import Struct

from harness.models import Endpoint
from harness.running.jobs import Job
from harness.running.tokens import prompt_tokens, weights_of
from harness.types import Detail, Reply, Request, Usage
from harness.words import counted, dollars

T = TypeVar("T")
FEWEST = 8
"""Earlier replies from which a range is taken."""
_UNLIMITED = 4096
_MOST_TEXT = 250_000
"""Characters of prompts that are looked at."""
_FEWEST_JOBS = 16
TRIAL = 8
"""Questions of the trial that the question offers."""


class CallEstimate(Struct):
    """What the calls to one chat model will take."""

    model: str
    calls: int
    prompt_tokens: int
    reply_tokens_low: int
    """Tokens of all replies together, at least."""
    reply_tokens_high: int
    cost_low: float | None
    """Dollars; None if the price is unknown."""
    cost_high: float | None
    is_loopback: bool = False
    """Whether the model runs on this machine."""


class Span(NamedTuple):
    """The tokens of one reply: least, expected, most."""

    low: float
    usual: float
    high: float


def reply_span(earlier: Sequence[float], usual: int, limit: int | None) -> Span:
    """Return the tokens of one reply, from earlier ones if there are eight.

    >>> reply_span([], 300, 1024)
    Span(low=300, usual=600, high=1024)
    """
    limit = limit or _UNLIMITED
    if len(earlier) < FEWEST:
        return Span(min(usual, limit), min(2 * usual, limit), limit)
    ordered = sorted(earlier)
    mean = sum(ordered) / len(ordered)
    low, high = ordered[len(ordered) // 4], ordered[-1 - len(ordered) // 4]
    return Span(min(low, mean, limit), min(mean, limit), min(max(high, mean), limit))


@dataclass(slots=True)
class _Sums:
    """What the calls to one endpoint take."""

    endpoint: Endpoint
    calls: float = 0.0
    prompt: float = 0.0
    low: float = 0.0
    high: float = 0.0

    def estimate(self, batch: bool) -> CallEstimate:
        """Return them in whole tokens, with their cost."""
        price, prompt = self.endpoint.price, round(self.prompt)

        def cost(reply: int) -> float | None:
            usage = Usage(prompt_tokens=prompt, completion_tokens=reply)
            return None if price is None else price.cost(Detail(usage=usage, batch=batch))

        low, high = round(self.low), round(self.high)
        name, calls, here = self.endpoint.name, round(self.calls), self.endpoint.is_loopback
        return CallEstimate(name, calls, prompt, low, high, cost(low), cost(high), here)


_Asked: TypeAlias = tuple[Endpoint, Request, Span]
"""A request, where it goes and what its reply may be."""


def estimate(
    jobs: Iterable[Job],
    *,
    usual: int,
    earlier: Mapping[str, Sequence[float]] | None = None,
    batch: bool = False,
) -> list[CallEstimate]:
    """Return what jobs will take, by the name of the chat model.

    `usual` are the tokens of a short reply, `earlier` those of each model's earlier ones.
    """
    groups: dict[str, list[Job]] = {}
    for job in jobs:
        groups.setdefault(job.endpoint.name, []).append(job)
    return estimate_groups(groups, lambda job: job, usual=usual, earlier=earlier, batch=batch)


def estimate_groups(
    groups: Mapping[str, Sequence[T]],
    make: Callable[[T], Job],
    *,
    usual: int,
    earlier: Mapping[str, Sequence[float]] | None = None,
    batch: bool = False,
) -> list[CallEstimate]:
    """Return what jobs will take that are grouped by chat model; only those looked at are made."""
    sums: dict[str, _Sums] = {}
    for group in groups.values():
        requests: list[_Asked] = []
        text = looked = 0
        for unit in _drawn(group):
            if text > _MOST_TEXT and looked >= _FEWEST_JOBS:
                break
            looked += 1
            further = list(_requests(make(unit), usual, earlier or {}))
            requests += further
            text += sum(len(m.content) for _, request, _ in further for m in request.messages)
        scale = len(group) / looked
        for endpoint, request, span in requests:
            total = sums.setdefault(endpoint.name, _Sums(endpoint))
            total.calls += scale
            total.prompt += prompt_tokens(request.messages, endpoint.model) * scale
            total.low += span.low * scale
            total.high += span.high * scale
    return [total.estimate(batch) for total in sums.values()]


def _drawn(units: Sequence[T]) -> Iterator[T]:
    """Yield units in a random order, drawn as they are taken: that of `random.sample`."""
    draw, left = random.Random(0), list(range(len(units)))
    for rest in range(len(units), 0, -1):
        at = draw.randrange(rest)
        yield units[left[at]]
        left[at] = left[rest - 1]


def _requests(job: Job, usual: int, earlier: Mapping[str, Sequence[float]]) -> Iterator[_Asked]:
    """Yield the requests of a job, each with where it goes and what its reply may be.

    It ends with the first that is repeated: a stand-in holds no verdict, and would never do.
    """
    steps, hashes = job.steps(), set[str]()
    with contextlib.suppress(StopIteration):
        request = next(steps)
        while request.hash not in hashes:
            hashes.add(request.hash)
            endpoint = job.endpoint_of(request)
            past = earlier.get(endpoint.name, ())
            span = reply_span(past, usual, request.sampling.max_tokens)
            yield endpoint, request, span
            words = round(span.usual / weights_of(endpoint.model)["word"])
            detail = Detail(finish_reason="stop")
            request = steps.send(Reply(text=f"{endpoint.name} " + "x " * words, detail=detail))


def question(estimates: Sequence[CallEstimate], questions: int) -> str:
    """Return the question before calls that cost something; empty if none does.

    `questions` are those of the plan: with many a trial on eight is offered.

    >>> question([CallEstimate("gpt-4o", 160, 20000, 48000, 160000, 0.5, 1.6)], 80)
    '160 calls to gpt-4o, $0.50 to $1.60; or eight questions first: --sample-n 8 ($0.16)'
    """
    paid = [model for model in estimates if not model.is_loopback and model.calls]
    if not paid:
        return ""
    calls = sum(model.calls for model in paid)
    names = " and ".join(dict.fromkeys(model.model for model in paid))
    text, trial = f"{counted(calls, 'call')} to {names}, ", ""
    cost = total_cost(paid)
    if cost is None:
        unknown = ", ".join(model.model for model in paid if model.cost_high is None)
        text += f"the price of {unknown} is unknown"
    else:
        text += " to ".join(map(dollars, cost))
        trial = f" ({dollars(cost[1] * TRIAL / max(questions, 1))})"
    if questions > TRIAL:
        text += f"; or eight questions first: --sample-n {TRIAL}{trial}"
    return text


def total_cost(estimates: Sequence[CallEstimate]) -> tuple[float, float] | None:
    """Return the least and the most dollars; None if a price is unknown."""
    lows = [model.cost_low for model in estimates if model.cost_low is not None]
    highs = [model.cost_high for model in estimates if model.cost_high is not None]
    return (sum(lows), sum(highs)) if len(highs) == len(estimates) else None
