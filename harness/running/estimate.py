"""What a plan will take, before the first call: calls, tokens, dollars; the question to the user.

The plan's jobs are run with a stand-in of the expected length for every reply, so that a second
turn's prompt holds a first reply; of many jobs a random sample stands for all. Nothing is called.
Prompt tokens are within 20%. A reply's tokens are a range: the middle half of the model's earlier
replies, or from a usual length to the limit.
"""

import random
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from msgspec import Struct

from harness.errors import Interrupted
from harness.models import Endpoint
from harness.running.bar import dollars
from harness.running.jobs import Job
from harness.running.tokens import prompt_tokens, weights_of
from harness.types import Detail, Reply, Request, Usage

FEWEST = 8
"""Earlier replies from which a range is taken."""
_UNLIMITED = 4096
_MOST_TEXT = 250_000
"""Characters of prompts that are looked at."""
_FEWEST_JOBS = 16
TRIAL = 8
"""Questions of the trial that the question offers."""


class Estimate(Struct):
    """What the calls to one chat model will take."""

    model: str
    calls: int
    prompt_tokens: int
    reply_low: int
    """Tokens of all replies together, at least."""
    reply_high: int
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


def estimate(
    jobs: Iterable[Job],
    *,
    usual: int,
    earlier: Mapping[str, Sequence[float]] | None = None,
    batch: bool = False,
) -> list[Estimate]:
    """Return what jobs will take, by the name of the chat model.

    `usual` are the tokens of a short reply, `earlier` those of each model's earlier ones. Jobs that
    follow others (`Job.then`) are looked at too.
    """
    groups: dict[str, list[Job]] = {}
    for job in jobs:
        groups.setdefault(job.endpoint.name, []).append(job)
    sums: dict[str, _Sums] = {}
    for group in groups.values():
        _add(sums, group, usual, earlier or {})
    return [_estimate(one, batch) for one in sums.values()]


def _add(
    sums: dict[str, _Sums], jobs: list[Job], usual: int, earlier: Mapping[str, Sequence[float]]
) -> None:
    """Add what the jobs of one chat model take, judged by a random sample of them."""
    found: list[tuple[Endpoint, Request, Span]] = []
    text = looked = 0
    for job in random.Random(0).sample(jobs, len(jobs)):
        if text > _MOST_TEXT and looked >= _FEWEST_JOBS:
            break
        looked += 1
        requests = list(_requests(job, usual, earlier))
        found += requests
        text += sum(len(m.content) for _, request, _ in requests for m in request.messages)
    scale = len(jobs) / looked
    for endpoint, request, span in found:
        one = sums.setdefault(endpoint.name, _Sums(endpoint))
        one.calls += scale
        one.prompt += prompt_tokens(request.messages, endpoint.model) * scale
        one.low += span.low * scale
        one.high += span.high * scale


def _requests(
    job: Job, usual: int, earlier: Mapping[str, Sequence[float]]
) -> Iterator[tuple[Endpoint, Request, Span]]:
    """Yield the requests of a job, each with where it goes and what its reply may be.

    It ends with the first that is repeated: a stand-in holds no verdict, and would never do.
    """
    steps, asked = job.steps(), set[str]()
    try:
        request = next(steps)
        while request.hash not in asked:
            asked.add(request.hash)
            endpoint = job.endpoint if request.to is None else job.others[request.to]
            past = earlier.get(endpoint.name, ())
            span = reply_span(past, usual, request.sampling.max_tokens)
            yield endpoint, request, span
            words = round(span.usual / weights_of(endpoint.model).word)
            detail = Detail(finish_reason="stop")
            request = steps.send(Reply(text=f"{endpoint.name} " + "x " * words, detail=detail))
    except StopIteration as end:
        for following in job.then(end.value):
            yield from _requests(following, usual, earlier)


def _estimate(one: _Sums, batch: bool) -> Estimate:
    price, prompt = one.endpoint.price, round(one.prompt)
    replies = round(one.low), round(one.high)
    costs: list[float | None] = [None, None]
    if price is not None:
        for at, tokens in enumerate(replies):
            usage = Usage(prompt_tokens=prompt, completion_tokens=tokens)
            costs[at] = price.cost(Detail(usage=usage, batch=batch))
    return Estimate(
        model=one.endpoint.name,
        calls=round(one.calls),
        prompt_tokens=prompt,
        reply_low=replies[0],
        reply_high=replies[1],
        cost_low=costs[0],
        cost_high=costs[1],
        is_loopback=one.endpoint.is_loopback,
    )


def question(estimates: Sequence[Estimate], questions: int, notices: Sequence[str] = ()) -> str:
    """Return the question before calls that cost something; empty if none does.

    `questions` are those of the plan: with many a trial on eight is offered.

    >>> question([Estimate("gpt-4o", 160, 20000, 48000, 160000, 0.5, 1.6)], 80)
    '160 calls to gpt-4o, $0.50 to $1.60; or eight questions first: --sample-n 8 ($0.16)'
    """
    paid = [one for one in estimates if not one.is_loopback and one.calls]
    if not paid:
        return ""
    low, high = total_cost(paid)
    calls = sum(one.calls for one in paid)
    names = " and ".join(dict.fromkeys(one.model for one in paid))
    text = f"{calls:,} call{'s' * (calls != 1)} to {names}"
    if high is None or low is None:
        unknown = ", ".join(one.model for one in paid if one.cost_high is None)
        text += f", the price of {unknown} is unknown"
    else:
        text += f", {dollars(low)} to {dollars(high)}"
    if questions > TRIAL:
        trial = "" if high is None else f" ({dollars(high * TRIAL / questions)})"
        text += f"; or eight questions first: --sample-n {TRIAL}{trial}"
    return "\n".join([*notices, text])


def total_cost(estimates: Iterable[Estimate]) -> tuple[float | None, float | None]:
    """Return the least and the most dollars; None if a price is unknown."""
    lows = [one.cost_low for one in estimates]
    highs = [one.cost_high for one in estimates]
    low = sum(cost for cost in lows if cost is not None)
    high = sum(cost for cost in highs if cost is not None)
    return (None, None) if None in highs or None in lows else (low, high)


def may_ask() -> bool:
    """Return whether somebody is at a terminal to answer."""
    return all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr))


def confirm(text: str) -> None:
    """Ask whether to go on, if there is something to ask and somebody to answer.

    Raises:
        Interrupted: the user said no.
    """
    if not text or not may_ask():
        return
    sys.stderr.write(f"{text}. Continue? [Y/n] ")
    sys.stderr.flush()
    line = sys.stdin.readline()
    if not line or line.strip().lower() not in {"", "y", "yes"}:
        raise Interrupted("nothing was done")
