"""The calls to one chat model: who may call now, what is tried again, when an endpoint is given up.

    a call fails with            it is tried again
    rate limit, overload         until it succeeds; all calls wait for a Retry-After, fewer at once
    outage, no connection        until it succeeds, or the endpoint has only failed for `patience`
    server error                 so too, but 5 times if the endpoint answers other calls
    timeout, malformed reply     5 times: the request may be at fault
    anything else                never

Between two tries: 0.5, 1, 2, … 30 s, of which a random half to whole is waited, so that many calls
do not come back together (exponential backoff with jitter). An endpoint that has failed ten times
in a row gets one call at a time, after 5, 10, 20, 30, 30 … s, until one succeeds.
"""

import asyncio
import contextlib
import logging
import math
import random
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from harness.errors import ChatError, EndpointError, TransientError
from harness.models import ChatModel, Endpoint
from harness.options import Limits
from harness.running.budget import Budget
from harness.running.jobs import Progress
from harness.running.pace import Bucket, Parallel
from harness.types import Reply, Request

log = logging.getLogger("turnbench")

PUSHED_BACK = frozenset({"rate limit", "overload"})
"""The endpoint works and wants fewer calls: 429, 503, 529."""
NOT_THE_REQUEST = PUSHED_BACK | {"outage", "no connection"}
DOWN = 10
"""Failures in a row after which an endpoint gets one call at a time."""
_BYTES_PER_TOKEN = 3.6


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

    def pause(self, probes: int) -> float:
        """Return the pause of an endpoint that is down, after n calls that found it so."""
        return min(self.longest, 10 * self.first * 2.0 ** min(probes, 30))


RETRY = Retry()
"""How calls are tried again; tests set a shorter one."""


class Stopped(Exception):  # noqa: N818  (no fault)
    """The run is ending: no call begins any more."""


@dataclass(slots=True, eq=False)
class Member:
    """One endpoint of a model and its rate-limit state; a pool has several."""

    endpoint: Endpoint
    model: ChatModel
    parallel: Parallel
    calls: Bucket
    tokens: Bucket
    under_way: int = 0
    answered_at: float = -math.inf
    """When it last gave an answer, be it a refusal."""
    gone: ChatError | None = None
    """Why it is not called any more."""
    failures: int = 0
    """In a row."""
    failing_since: float = math.inf
    paused_until: float = -math.inf
    warned: bool = False
    _probes: int = 0
    _paused_at: float = -math.inf

    def ready_at(self) -> float:
        """Return when a call may begin; infinity: when another has ended, or never."""
        allowed = 1 if self.failures >= DOWN else self.parallel.allowed
        if self.gone is not None or self.under_way >= allowed:
            return math.inf
        return max(self.paused_until, self.calls.ready_at(), self.tokens.ready_at())

    def begin(self, request: Request, now: float) -> None:
        """Count a call that begins."""
        self.under_way += 1
        self.calls.take(1, now)
        if self.tokens.rate < math.inf:
            self.tokens.take(_most_tokens(request), now)

    def works(self) -> None:
        """Take note of an answer, be it a refusal."""
        self.answered_at, self.warned = time.monotonic(), False
        self.failures = self._probes = 0
        self.failing_since = math.inf

    def failed(self, error: TransientError, began: float, now: float, retry: Retry) -> None:
        """Take note of a failure: fewer calls at once, or a pause for all of them."""
        if error.kind in PUSHED_BACK:
            self.parallel.pushed_back(began, now, self.under_way)
            if error.retry_after is not None:
                self.paused_until = max(self.paused_until, now + error.retry_after)
                if error.kind == "rate limit":  # it says when to come back: it works as it should
                    return
        self.failures += 1
        self.failing_since = min(self.failing_since, began)
        if self.failures >= DOWN and began >= self._paused_at:
            self.paused_until = max(self.paused_until, now + retry.pause(self._probes))
            self._paused_at = now
            self._probes += 1


@dataclass(slots=True, eq=False)
class Worker:
    """Makes the calls to one model, as many at once as its endpoints allow."""

    name: str
    members: list[Member]
    limits: Limits
    retry: Retry
    budget: Budget
    progress: Progress
    on_change: Callable[[], None]
    """Called when a call has ended and another may begin."""
    waiting: int = 0
    """Requests that wait for a member, and jobs that were just begun."""
    _queue: deque[tuple[asyncio.Future[Member], Request]] = field(default_factory=deque)
    _stop: asyncio.Event = field(default_factory=asyncio.Event)
    _stopping: bool = False
    _timer: asyncio.TimerHandle | None = None

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
            began = time.monotonic()
            filled = bool(self._queue)
            try:
                reserved = await self._reserved(member, request)
                reply = None
                try:
                    reply = await member.model.reply(request)
                finally:
                    self._count(member, request, reserved, reply)
                member.works()
                member.parallel.replied(filled=filled or bool(self._queue))
                return reply
            except TransientError as error:
                tries, since = tries + 1, min(since, began)
                wait = self._after(member, error, tries, since, began)
            except EndpointError as error:
                if not self._without(member, error):
                    raise
                wait = 0.0
            except ChatError:
                member.works()
                raise
            finally:
                member.under_way -= 1
                self.progress.in_flight -= 1
                self.wake()
            self.progress.retries += 1
            if wait > 0:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._stop.wait(), wait)

    def stop(self) -> None:
        """Begin no call any more; those under way go on."""
        self._stopping = True
        self._stop.set()
        self.wake()

    def wake(self) -> None:
        """Give members that are ready to requests that wait."""
        now = time.monotonic()
        while self._queue:
            future, request = self._queue[0]
            if future.done():  # cancelled
                pass
            elif self._stopping:
                future.set_exception(Stopped())
            elif (gone := self._gone()) is not None:
                future.set_exception(gone)
            else:
                member = min(self.members, key=lambda m: (max(m.ready_at(), now), m.under_way))
                at = member.ready_at()
                if at > now:
                    self._wake_at(at)
                    break
                member.begin(request, now)
                future.set_result(member)
            self._queue.popleft()
        self.on_change()

    async def _member(self, request: Request) -> Member:
        """Wait for a member that may be called, and count the call as under way."""
        future: asyncio.Future[Member] = asyncio.get_running_loop().create_future()
        self._queue.append((future, request))
        self.waiting += 1
        try:
            if len(self._queue) == 1:
                self.wake()
            member = await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled() and future.exception() is None:
                future.result().under_way -= 1
            raise
        finally:
            self.waiting -= 1
        self.progress.in_flight += 1
        return member

    async def _reserved(self, member: Member, request: Request) -> float:
        reserved = await self.budget.reserve(member.endpoint, request)
        if reserved is None or self._stopping:
            self.budget.settle(reserved or 0.0, 0.0)
            raise Stopped
        return reserved

    def _count(
        self, member: Member, request: Request, reserved: float, reply: Reply | None
    ) -> None:
        """Count what a call took: dollars and tokens."""
        if reply is None:  # providers charge nothing for an error
            self.budget.settle(reserved, 0.0)
            return
        detail, usage = reply.detail, reply.detail.usage
        price = member.endpoint.price
        cost = None if price is None else price.cost(detail)
        self.budget.settle(reserved, reserved if cost is None else cost)
        progress = self.progress
        progress.calls += 1
        progress.cost += cost or 0.0
        progress.prompt_tokens += usage.prompt_tokens or 0
        progress.completion_tokens += usage.completion_tokens or 0
        if detail.finish_reason in ("length", "refused", "empty"):
            flagged = progress.flagged
            flagged[detail.finish_reason] = flagged.get(detail.finish_reason, 0) + 1
        if member.tokens.rate < math.inf and usage.completion_tokens is not None:
            used = (usage.prompt_tokens or 0) + usage.completion_tokens
            member.tokens.take(used - _most_tokens(request), time.monotonic())

    def _after(
        self, member: Member, error: TransientError, tries: int, since: float, began: float
    ) -> float:
        """Return how long to wait before a failed call is tried again.

        Raises:
            ChatError: it is not tried again.
        """
        now = time.monotonic()
        patience = self.limits.patience
        asked = error.retry_after
        if asked is not None and asked > self.limits.max_wait:
            if not member.warned:
                what = f"asks to wait for {asked:.4g} s"
                log.warning(
                    "%s; %s, tried after %g s (--max-wait)", error, what, self.limits.max_wait
                )
                member.warned = True
            error.retry_after = self.limits.max_wait
        member.failed(error, began, now, self.retry)
        failing = now - member.failing_since
        if failing >= patience and member.failures > 1:
            text = f"{error}; given up after {patience:g} s without a reply (--patience)"
            self._without(member, ChatError(text, kind=error.kind, status=error.status))
        elif member.failures >= DOWN and not member.warned:
            log.warning("%s; tried again until it answers, for %g s (--patience)", error, patience)
            member.warned = True
        if (gone := self._gone()) is not None:
            raise gone
        at_fault = error.kind not in NOT_THE_REQUEST
        if error.kind == "server error":
            at_fault = member.answered_at > since
        if tries >= self.retry.tries and (at_fault or now - since >= patience):
            raise ChatError(f"{error} ({tries} tries)", kind=error.kind, status=error.status)
        if error.retry_after is not None:  # the member waits, not the call: another member may do
            return 0.0
        return self.retry.wait(tries)

    def _without(self, member: Member, error: ChatError) -> bool:
        """Call a member no more; return whether there are others."""
        member.gone = member.gone or error
        others = any(m.gone is None for m in self.members)
        if others:
            log.warning("%s; going on with the other endpoints of %s", error, self.name)
        else:
            self._stop.set()  # those that wait for their next try need not wait
        return others

    def _gone(self) -> ChatError | None:
        """Return why the model is not called any more."""
        if any(m.gone is None for m in self.members):
            return None
        gone = self.members[0].gone
        return None if gone is None else type(gone)(str(gone), kind=gone.kind, status=gone.status)

    def _wake_at(self, at: float) -> None:
        """Look again at that time; infinity: when a call ends."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if at < math.inf:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(max(0.0, at - time.monotonic()), self.wake)


def _most_tokens(request: Request) -> float:
    """Return about how many tokens a call may take, prompt and reply."""
    size = sum(len(message.content.encode("utf-8", "replace")) for message in request.messages)
    return size / _BYTES_PER_TOKEN + (request.sampling.max_tokens or 1024)
