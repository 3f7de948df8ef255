"""Lanes: one for each endpoint (or key) behind a model, with its own limits, and the choice among them.

    Pool("gpt-4o")
      ├── Lane   limiter, rates, breaker, what its headers said
      └── Lane

A call goes to the lane with most room; one that failed goes to another lane if that has room.
"""

import asyncio
import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.old.chat.endpoint import Endpoint, Limits
from harness.old.chat.model import ChatModel
from harness.old.chat.price import Price
from harness.old.chat.standing import Standing
from harness.old.errors import ChatError, TransientError
from harness.old.records import Reply, Request
from harness.old.running.breaker import Breaker
from harness.old.running.jobs import Course
from harness.old.running.limiter import MOST, START, Limiter, fixed
from harness.old.running.options import RunOptions
from harness.old.running.rates import Rates, Taken, rates_of
from harness.old.running.retry import PUSHED_BACK, RetryPolicy

BUILTIN = 8
"""Calls at once to a chat model of this process, if no number is given."""


@dataclass(slots=True, eq=False)
class Work:
    """A course whose request is due, and where its last try failed."""

    course: Course[Any]
    failed_on: "Lane | None" = None


@dataclass(slots=True, eq=False)
class Call:
    """One call in flight."""

    work: Work
    lane: "Lane"
    began: float
    number: int
    """Its place in the order of the lane's calls."""
    probe: bool
    taken: Taken
    reserved: float | None = None
    """Dollars reserved for it."""
    outcome: asyncio.Future[Reply | ChatError] | None = None
    """Gets the result, if it waits for a batch."""
    settle: Callable[[], None] = lambda: None
    """Called once the reply is stored, or a failure listed or to be tried again."""

    @property
    def course(self) -> Course[Any]:
        """The job."""
        return self.work.course

    @property
    def request(self) -> Request:
        """The request; the course has no other before its reply has arrived."""
        assert self.course.request is not None
        return self.course.request


@dataclass(slots=True, eq=False)
class Lane:
    """One endpoint: what it may be asked to do now."""

    model: ChatModel
    limiter: Limiter
    rates: Rates
    breaker: Breaker
    standing: Standing | None
    policy: RetryPolicy
    in_flight: int = 0
    out: Exception | None = None
    """Why it cannot be used any more."""
    warned: bool = False
    """Whether the user was warned that it only fails."""
    paused_until: float = -math.inf
    """When the endpoint wants to hear from us again."""
    _found_full: bool = False
    """Whether it was full when room was last looked for. Of replies that arrive together the first makes room, but
    all of them arrived at a full lane, and the limiter has to count them so."""
    _begun: int = 0
    _noted: int = 0
    """How many replies with headers have been taken into account."""
    _uncounted: int = 0
    """Calls that the endpoint's last reported limits may not include."""
    _prompt: float = 0.0
    _reply: float = 0.0
    """Means of the last calls' tokens."""

    @property
    def load(self) -> float:
        """The share of its limit that is in use."""
        return self.in_flight / self.limiter.limit

    def ready_at(self, now: float, tokens: float = 0.0) -> float:
        """Return when a call may begin: now or earlier, at a moment to come, or (infinity) after another has ended."""
        self._found_full = self.in_flight >= self.limiter.limit
        if self.out is not None or self._found_full:
            return math.inf
        ready = max(self.paused_until, self.breaker.ready_at(), self.rates.ready_at(tokens, now))
        if self.standing is not None and self.standing.allowances:
            ready = max(ready, self._left_at(self.standing, now))
        return ready

    def started(self, course: Course[Any]) -> None:
        """Take note of a job that was begun, and perhaps goes on from an earlier run's replies."""

    def reserves(self, course: Course[Any]) -> bool:
        """Return whether the request that is due is still to be paid for."""
        return True

    def begin(self, work: Work, now: float, tokens: float) -> Call:
        """Count a call that begins."""
        self.in_flight += 1
        self._begun += 1
        self._uncounted += 1
        return Call(work, self, now, self._begun, self.breaker.begin(), self.rates.begin(tokens, now))

    async def ask(self, call: Call) -> Reply:
        """Return the reply to the request that is due."""
        return await self.model.reply(call.request)

    def replied(self, call: Call, reply: Reply, now: float, *, more: bool) -> None:
        """Record a reply; `more` says that other calls are waiting for room."""
        self._ended(call)
        self._recovered()
        self.limiter.replied(call.began, now, full=self._found_full and more)
        prompt, said = reply.usage.prompt_tokens, reply.usage.completion_tokens
        if prompt is not None and said is not None:
            self.rates.tokens.settle(call.taken, prompt + said)
            share = 0.1 if self._prompt else 1.0
            self._prompt += share * (prompt - self._prompt)
            self._reply += share * (said - self._reply)

    def refused(self, call: Call) -> None:
        """Take note that the endpoint answered, if only that this request cannot be."""
        self._ended(call)
        self._recovered()
        self.rates.tokens.settle(call.taken, 0.0)

    def failed(self, call: Call, error: TransientError, now: float, *, reached: bool) -> None:
        """Record a temporary failure; `reached` says whether the model was ever reached, in any lane.

        Until then the breaker stays closed, so that a model that cannot be called at all is detected in seconds.
        """
        in_flight = self.in_flight  # this call included: so many at once were too many
        self._ended(call)
        wish = self.policy.asked(error)
        if error.kind in PUSHED_BACK:
            self.limiter.pushed_back(call.began, now, in_flight, wish or 0.0)
            self.rates.tokens.settle(call.taken, 0.0)
            if wish is not None:  # all calls wait: each would be refused until then, and some endpoints count refusals
                self.paused_until = max(self.paused_until, now + wish)
        # An endpoint that says when to come back works as it should; it is not to be given up for that.
        obeyed = error.kind == "rate limit" and error.retry_after is not None and wish == error.retry_after
        if obeyed or not (reached or error.connected):
            self.breaker.undecided(probe=call.probe)
        else:
            self.breaker.failed(now, probe=call.probe)

    def broken_off(self, call: Call) -> None:
        """Take note of a call that ended without a word from the endpoint."""
        self._ended(call)
        self.breaker.undecided(probe=call.probe)

    def _recovered(self) -> None:
        self.breaker.replied()
        self.warned = False

    def _ended(self, call: Call) -> None:
        self.in_flight -= 1
        # The endpoint's figures were true when it saw this call: those begun since may not be in them.
        if self.standing is not None and self.standing.notes != self._noted:
            self._noted = self.standing.notes
            self._uncounted = self._begun - call.number
        self._uncounted = min(self._uncounted, self.in_flight)

    def _left_at(self, standing: Standing, now: float) -> float:
        """Return when one more call fits into the endpoint's remaining limits."""
        needs = {
            "requests": 1.0,
            "tokens": max(1.0, self._prompt + self._reply),
            "input-tokens": max(1.0, self._prompt),
            "output-tokens": max(1.0, self._reply),
        }
        ready = -math.inf
        # What was begun since is taken to cost as much as the mean call, so that a burst does not overdraw.
        for kind, allowance in standing.allowances.items():
            if allowance.resets_at > now and allowance.remaining < needs[kind] * (self._uncounted + 1):
                news = math.inf if self.in_flight else now  # the calls in flight will say what is left
                ready = max(ready, allowance.resets_at if allowance.remaining < needs[kind] else news)
        return ready


@dataclass(slots=True, eq=False)
class Pool:
    """The lanes of one model, and the work that waits for them."""

    name: str
    lanes: tuple[Lane, ...]
    price: Price | None = None
    answered: bool = False
    """Whether any reply or refusal has come."""
    silent: int = 0
    """Calls that ended without a byte before any reply or refusal had come."""
    doubted: bool = False
    """Whether a connection failed before any worked; no new job is begun then."""
    lost: ChatError | None = None
    """Why no call to this model is made any more; its jobs fail of it."""
    held: Work | None = None
    """Work that was taken up and then did not fit."""
    fresh: deque[Course[Any]] = field(default_factory=deque)
    """Jobs to begin."""
    again: deque[Work] = field(default_factory=deque)
    """Jobs that are due to go on."""
    later: deque[Course[Any]] = field(default_factory=deque)
    """Jobs to begin that others have made possible."""
    leading: dict[str, Course[Any]] = field(default_factory=dict)
    """By prompt prefix, the first job with it, until its first reply has arrived."""
    behind: dict[str, deque[Course[Any]]] = field(default_factory=dict)
    """Jobs whose prompts begin like that of a leading one."""
    led: deque[tuple[float, Course[Any]]] = field(default_factory=deque)
    """Jobs whose leading one has its reply, and since when."""

    @property
    def weighs(self) -> bool:
        """Whether it matters how many tokens a call needs."""
        return any(lane.rates.tokens.most < math.inf for lane in self.lanes)

    @property
    def waiting(self) -> bool:
        """Whether work waits for room."""
        return bool(self.held or self.fresh or self.again or self.later or self.behind or self.led)

    @property
    def room(self) -> float:
        """How many calls may be in flight at once."""
        return sum(lane.limiter.limit for lane in self.lanes)

    def ready_at(self, now: float) -> float:
        """Return when the first lane is ready."""
        return min(lane.ready_at(now) for lane in self.lanes)

    def choose(self, work: Work, now: float, tokens: float) -> Lane | float:
        """Return the lane for a call, or when to ask again."""
        ready_at = {lane: lane.ready_at(now, tokens) for lane in self.lanes}
        ready_now = [lane for lane, ready in ready_at.items() if ready <= now]
        if not ready_now:
            return min(ready_at.values())
        return min(ready_now, key=lambda lane: (lane is work.failed_on, lane.breaker.failures > 0, lane.load))

    def another(self, lane: Lane) -> bool:
        """Return whether a lane besides this one can be used."""
        return any(other is not lane and other.out is None and not other.breaker.open for other in self.lanes)

    def take_out(self, lane: Lane, error: Exception) -> bool:
        """Use a lane no more; return whether any is left."""
        lane.out = error
        return any(other.out is None for other in self.lanes)

    @property
    def failing_since(self) -> float | None:
        """Since when all lanes only fail, once calls are held back for it; None: one works."""
        usable = [lane.breaker for lane in self.lanes if lane.out is None]
        if not usable or not all(breaker.open for breaker in usable):
            return None
        return max((breaker.since for breaker in usable if breaker.since is not None), default=None)

    @property
    def hopeless(self) -> bool:
        """Whether no lane is left that has not failed for too long."""
        return all(lane.out is not None or lane.breaker.lost for lane in self.lanes)


def open_lanes(name: str, members: Sequence[ChatModel], options: RunOptions, policy: RetryPolicy) -> Pool:
    """Return the pool of a model's lanes."""
    endpoint = endpoint_of(members[0])
    return Pool(name, tuple(_lane(member, options, policy) for member in members), endpoint.price if endpoint else None)


def endpoint_of(model: ChatModel) -> Endpoint | None:
    """Return where a remote chat model is; None for one of this process."""
    endpoint = getattr(model, "endpoint", None)
    return endpoint if isinstance(endpoint, Endpoint) and endpoint.provider != "builtin" else None


def _lane(model: ChatModel, options: RunOptions, policy: RetryPolicy) -> Lane:
    endpoint = endpoint_of(model)
    limits = endpoint.limits if endpoint else Limits()
    standing = getattr(model, "standing", None)
    if options.parallel is not None:
        limiter = fixed(min(options.parallel, limits.parallel or options.parallel))
    elif endpoint is None:
        limiter = fixed(getattr(model, "room", BUILTIN))
    else:
        limiter = Limiter(start=START, most=limits.parallel or MOST)
    if isinstance(standing, Standing):
        standing.longest = policy.max_wait
    return Lane(
        model,
        limiter,
        rates_of(limits, rpm=options.rpm, tpm=options.tpm) if endpoint else Rates(),
        Breaker(policy),
        standing if isinstance(standing, Standing) else None,
        policy,
    )
