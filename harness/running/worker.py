"""The calls to one chat model: who may call now, what is tried again, when an endpoint is given up.

    a call fails with            it is tried again
    rate limit, overload         until it succeeds; all calls wait for a Retry-After, fewer at once
    outage, no connection        until it succeeds, or the endpoint has only failed for `patience`
    what would end a run         so too, once the endpoint has given a reply; a key or a model that
                                 it does not know any more: for 30 s
    server error                 so too, but 5 times if the endpoint answers other calls
    timeout, malformed reply     5 times: the request may be at fault
    anything else                never

Between two tries: 0.5, 1, 2, … 30 s, of which a random half to whole is waited, so that many calls
do not come back together (exponential backoff with jitter). An endpoint that has failed ten times
in a row gets one call at a time, after 5, 10, 20, 30, 30 … s, until one succeeds.

Without a stated patience an endpoint has 600 s; until it has answered once in the run 30 s if
nothing answers at its address, and 120 s if something answers with 5xx, as a server that loads
weights does. A wait that it asks for and that is longer than what is left ends the calls to it.
"""

import asyncio
import contextlib
import copy
import logging
import math
import random
import time
from dataclasses import dataclass, field
from datetime import datetime

from harness.errors import (
    ChatError,
    EndpointError,
    FailureKind,
    TransientError,
    ends_run,
)
from harness.models import ChatModel, Endpoint
from harness.models.prices import cost_of
from harness.options import Limits
from harness.running.budget import Budget
from harness.running.jobs import Progress
from harness.running.pace import Bucket, Parallel
from harness.running.signs import Signs
from harness.running.tokens import prompt_tokens
from harness.types import Detail, Reply, Request, Usage

log = logging.getLogger("turnbench")

PUSHED_BACK: frozenset[FailureKind] = frozenset({"rate limit", "overload"})
"""The endpoint works and wants fewer calls: 429, 503, 529."""
UNREACHED: frozenset[FailureKind] = frozenset({"no connection", "closed connection"})
WITHDRAWN: frozenset[FailureKind] = frozenset({"key refused", "unknown model"})
"""Where there were replies before: one call's fault at a busy gateway, or the end."""
DOWN = 10
"""Failures in a row after which an endpoint gets one call at a time."""
PATIENCE, LOADING, REACHING = 600.0, 120.0, 30.0
"""Seconds that an endpoint may only fail: in general, and until it has answered once in the run
where it answers with 5xx, or where nothing answers."""
ALIKE = 5
"""Different requests refused in the same words by an endpoint that has given no reply: it refuses
all."""


@dataclass(frozen=True, slots=True)
class Retry:
    """How often and after which wait a failed call is tried again; seconds."""

    tries: int = 6
    first: float = 0.5
    longest: float = 30.0

    def wait(self, failed: int) -> float:
        """Return the wait after the n-th failure of a call."""
        whole = min(self.longest, self.first * 2.0 ** min(failed - 1, 30))
        return whole * random.uniform(0.5, 1.0)

    def pause(self, failed: int) -> float:
        """Return the pause of an endpoint that is down, after n further calls that failed."""
        return min(self.longest, 10 * self.first * 2.0 ** min(failed, 30))


RETRY = Retry()
"""How calls are tried again; tests set a shorter one."""


class Stopped(Exception):  # noqa: N818  (no fault)
    """The run is ending: no call begins any more."""


def patience_for(stated: float | None, error: ChatError, *, answered: bool) -> float:
    """Return for how many seconds an endpoint may only fail, by how it fails.

    `answered`: whether it has answered once in the run.
    """
    if error.kind in WITHDRAWN:
        return REACHING if stated is None else min(stated, REACHING)
    if stated is not None:
        return stated
    if not answered and error.kind in UNREACHED:
        return REACHING
    if not answered and error.status is not None and error.status >= 500:
        return LOADING
    return PATIENCE


async def wait_for(event: asyncio.Event, seconds: float) -> None:
    """Wait until an event is set, or for so long."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds if seconds < math.inf else None):
            await event.wait()


@dataclass(slots=True, eq=False)
class Member:
    """One endpoint of a model and its rate-limit state; a pool has several."""

    endpoint: Endpoint
    model: ChatModel
    parallel: Parallel
    calls: Bucket
    tokens: Bucket
    signs: Signs
    under_way: int = 0
    answered_at: float = -math.inf
    """When it last gave an answer, be it a refusal."""
    replies: int = 0
    refusals: dict[str, set[str]] = field(default_factory=dict)
    """The requests that it refused, by its words; until its first reply."""
    gone: ChatError | None = None
    """Why it is not called any more."""
    failures: int = 0
    """In a row; when it is down, those of calls begun since its last pause began."""
    failing_since: float = math.inf
    silent_since: float = math.inf
    """When the first call since its last answer began; one that only had to wait counts too."""
    paused_at: float = -math.inf
    paused_until: float = -math.inf
    warned: bool = False

    def ready_at(self) -> float:
        """Return when a call may begin; infinity: when another has ended, or never."""
        allowed = 1 if self.failures >= DOWN else self.parallel.allowed
        if self.gone is not None or self.under_way >= allowed:
            return math.inf
        return max(self.paused_until, self.calls.ready_at, self.tokens.ready_at)

    def works(self) -> None:
        """Take note of an answer, be it a refusal."""
        self.answered_at, self.warned = time.monotonic(), False
        self.failures, self.failing_since, self.silent_since = 0, math.inf, math.inf

    def refused(self, error: ChatError, request: Request) -> int:
        """Return how many different requests it has refused in these words, without any reply."""
        if self.replies:
            return 0
        alike = self.refusals.setdefault(str(error), set())
        alike.add(request.hash)
        return len(alike)

    def failed(self, error: TransientError, began: float, patience: float) -> None:
        """Take note of a failure: fewer calls at once, or a pause for all of them."""
        now = time.monotonic()
        self.silent_since = min(self.silent_since, began)
        if error.kind in PUSHED_BACK:
            self.parallel.pushed_back(began, now, self.under_way)
        if error.retry_after is not None:
            self.paused_until = max(self.paused_until, now + error.retry_after)
            if error.kind == "rate limit":  # it says when to come back: it works as it should
                return
        self.failing_since = min(self.failing_since, began)
        if began < self.paused_at:
            return
        self.failures += 1
        if self.failures >= DOWN:
            self.paused_at = now
            pause = min(RETRY.pause(self.failures - DOWN), self.failing_since + patience - now)
            self.paused_until = max(self.paused_until, now + pause)


@dataclass(slots=True, eq=False)
class Worker:
    """Makes the calls to one model, as many at once as its endpoints allow."""

    members: list[Member]
    limits: Limits
    budget: Budget
    progress: Progress
    changed: asyncio.Event
    """Set when a call has ended and another may begin; the run waits for it too."""
    waiting: int = 0
    """Requests that wait for a member."""
    stopping: bool = False
    _line: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held by the first in the line of requests."""
    _over: asyncio.Event = field(default_factory=asyncio.Event)
    """No further call begins: a request need not wait for its next try."""

    @property
    def spare(self) -> int:
        """Calls that could begin beyond those that wait."""
        room = sum(
            m.parallel.allowed - m.under_way
            for m in self.members
            if m.gone is None and m.failures < DOWN
        )
        return room - self.waiting

    async def reply(self, request: Request) -> Reply:
        """Return the reply, after as many tries as it takes.

        Raises:
            ChatError: this request fails for good, or the model was given up.
            EndpointError: no request to this model can succeed.
            Stopped: the run is ending.
        """
        tries, since = 0, math.inf
        while True:
            member = await self._member(request)
            began, filled, wait = time.monotonic(), self.waiting > 0, 0.0
            try:
                reply = await self._call(member, request)
                member.works()
                member.replies += 1
                member.signs.see(request, reply)
                member.parallel.replied(filled=filled or self.waiting > 0)
                return reply
            except TransientError as error:
                tries, since = tries + 1, min(since, began)
                wait = self._after(member, error, tries, since, began)
            except EndpointError as error:
                self._give_up(member, error)
            except ChatError as error:
                member.works()
                if (alike := member.refused(error, request)) < ALIKE:
                    raise
                text = f"{error}; so were {alike} different requests, and none was answered"
                self._give_up(member, EndpointError(text, kind="refuses all", status=error.status))
            finally:
                member.under_way -= 1
                self.progress.in_flight -= 1
                self.changed.set()
            self.progress.retries += 1
            await wait_for(self._over, wait)

    def stop(self) -> None:
        """Begin no call any more; those under way go on."""
        self.stopping = True
        self._over.set()
        self.changed.set()

    async def _member(self, request: Request) -> Member:
        """Wait in line for a member that may be called, and count the call as under way.

        Raises:
            ChatError: no member is left.
            Stopped: the run is ending.
        """
        self.waiting += 1
        try:
            async with self._line:
                while True:
                    if self.stopping:
                        raise Stopped
                    gone = self.members[0].gone
                    if gone is not None and all(m.gone for m in self.members):
                        raise copy.copy(gone)
                    now = time.monotonic()
                    member = min(self.members, key=lambda m: (max(m.ready_at(), now), m.under_way))
                    wait = member.ready_at() - now
                    if wait <= 0:
                        break
                    self.changed.clear()
                    await wait_for(self.changed, wait)
        finally:
            self.waiting -= 1
        member.under_way += 1
        member.calls.take(1, now)
        if member.tokens.rate < math.inf:
            member.tokens.take(_most_tokens(request), now)
        self.progress.in_flight += 1
        return member

    async def _call(self, member: Member, request: Request) -> Reply:
        """Make one call within the budget, and count what it took."""
        reserved = await self.budget.reserve(member.endpoint, request)
        if reserved is None or self.stopping:
            self.budget.settle(reserved or 0.0, 0.0)
            raise Stopped
        cost: float | None = 0.0  # providers charge nothing for an error
        price = member.endpoint.price
        try:
            reply = await member.model.reply(request)
            cost = cost_of(reply.detail, price)
        except TransientError as error:
            if error.kind == "timeout" and price is not None:  # but for a prompt that was read
                tokens = round(prompt_tokens(request.messages, member.endpoint.model))
                usage = Usage(prompt_tokens=tokens, completion_tokens=0)
                cost = price.cost(Detail(usage=usage))
                self.progress.cost += cost or 0.0
            raise
        finally:
            self.budget.settle(reserved, reserved if cost is None else cost)
        self.progress.count(reply.detail, cost or 0.0)
        usage = reply.detail.usage
        if member.tokens.rate < math.inf and usage.completion_tokens is not None:
            used = (usage.prompt_tokens or 0) + usage.completion_tokens
            member.tokens.take(used - _most_tokens(request), time.monotonic())
        return reply

    def _after(
        self, member: Member, error: TransientError, tries: int, since: float, began: float
    ) -> float:
        """Return how long to wait before a failed call is tried again.

        Raises:
            ChatError: it is not tried again.
        """
        answered = member.answered_at > -math.inf
        patience = patience_for(self.limits.patience, error, answered=answered)
        longest = self.limits.max_wait
        message = ""
        asked = error.retry_after
        if asked is not None and longest is not None and asked > longest:
            message = f"asks to wait for {asked:.4g} s, tried after {longest:g} s (--max-wait)"
            error.retry_after = asked = longest
        member.failed(error, began, patience)
        now = time.monotonic()
        left = patience - (now - member.silent_since)
        given_up = ""
        if asked is not None and asked > left:
            given_up = f"asks to wait until {_clock(asked)}; given up: that is {asked:,.0f} s, and"
            given_up += f" --patience allows {max(left, 0.0):.3g} s more"
        elif now - member.failing_since >= patience and member.failures > 1:
            given_up = f"given up after {patience:g} s without a reply (--patience)"
        if given_up:
            text = f"{error}; {given_up}"
            kind, status = error.kind, error.status
            fault = ChatError(text, kind=kind, status=status)
            if ends_run(kind):
                fault = EndpointError(text, kind=kind, status=status)
            self._give_up(member, fault)
        elif member.failures >= (DOWN if answered else 2):
            message = f"tried again until it answers, for {patience:g} s (--patience)"
        if message and not member.warned:
            log.warning("%s; %s", error, message)
            member.warned = True
        if tries >= RETRY.tries and (
            self._at_fault(member, error, since) or now - since >= patience
        ):
            raise ChatError(f"{error} ({tries} tries)", kind=error.kind, status=error.status)
        if error.retry_after is not None:  # the member waits, not the call: another member may do
            return 0.0
        return max(0.0, min(RETRY.wait(tries), member.failing_since + patience - now))

    @staticmethod
    def _at_fault(member: Member, error: TransientError, since: float) -> bool:
        """Return whether a call that failed for so long may itself be at fault."""
        if error.kind == "server error":
            return member.answered_at > since
        if error.kind == "no log-probabilities":
            return True
        whole = PUSHED_BACK | UNREACHED | {"outage"}
        return not (error.kind in whole or ends_run(error.kind))

    def _give_up(self, member: Member, error: ChatError) -> None:
        """Call a member no more; raise the error if there are no others."""
        member.gone = member.gone or error
        if all(m.gone for m in self.members):
            self._over.set()
            raise error
        log.warning("%s; going on with the other endpoints of %s", error, member.endpoint.name)


def _clock(seconds: float) -> str:
    """Return the local time after some seconds, with the day if it is another."""
    then, now = (datetime.fromtimestamp(time.time() + more) for more in (seconds, 0))
    return f"{then:%H:%M}" if then.date() == now.date() else f"{then:%Y-%m-%d %H:%M}"


def _most_tokens(request: Request) -> float:
    """Return about how many tokens a call may take, prompt and reply."""
    return prompt_tokens(request.messages) + (request.sampling.max_tokens or 1024)
