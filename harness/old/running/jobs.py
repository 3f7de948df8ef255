"""What a job is: a generator that yields requests to a chat model, receives replies, and ends in a record.

A two-turn conversation is a job of two requests; a judging is a job of one, or of several if the judge set tries again
when a judge gave no verdict:

    def judging(match) -> Steps[Judgment]:
        reply = yield Request(...)
        return Judgment(...)
"""

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeAlias, TypeVar

from harness.old.errors import ChatError
from harness.old.records import Failure, Reply, Request
from harness.old.running.cache import Shelf
from harness.old.running.pending import Pending

Record = TypeVar("Record")
Steps: TypeAlias = Generator[Request, Reply, Record]


RETRY_CUT = 2.0
"""The factor on the token limit when a reply that was cut off at it is requested again."""


def uncut(
    request: Request, factor: float, enough: Callable[[Reply], bool] = lambda reply: False
) -> Steps[tuple[Reply, ...]]:
    """Ask; if the reply was cut at its limit on tokens, ask once more with `factor` times the limit (1: never).

    Returns the replies, the one that counts last. Where a cut reply is `enough`, or the larger limit is refused, the
    cut one counts.
    """
    reply = yield request
    limit = request.sampling.max_tokens
    if reply.finish_reason != "length" or limit is None or factor <= 1 or enough(reply):
        return (reply,)
    try:
        whole = yield replace(request, sampling=replace(request.sampling, max_tokens=int(limit * factor)))
    except ChatError as error:
        return (replace(reply, note=f"cut at {limit} tokens; a larger limit was refused: {error}"),)
    return reply, replace(whole, note=whole.note or f"asked again: the first reply was cut at {limit} tokens")


@dataclass(frozen=True, slots=True)
class Job(Generic[Record]):
    """One piece of work for one chat model."""

    key: str
    """Unique in a run and the same in the next one: model, question, turn, ... It also names the job in messages."""
    model: str
    steps: Callable[[], Steps[Record]]
    part_of: str = ""
    """What jobs have in common whose records make one row: two games, several choices. Empty: the row is its own."""
    index: int = 0
    """The place among samples of the same: equal requests of different places are different completions."""
    beginning: str = ""
    """What is equal for jobs of one model whose prompts begin alike; empty: this one's is its own."""

    @property
    def row(self) -> str:
        """The name of the row that the job's record goes into."""
        return self.part_of or self.key


@dataclass(slots=True)
class Course(Generic[Record]):
    """The course of one job: which request is next, which replies it has had, which record it ended in.

    Replies found in `pending` or in `cache` are used without a call. A reply is put into `pending` when the job goes on
    after it, or when its record waits for another, and is dropped when the row is complete; so a kill loses only the
    calls in flight.

    An engine calls `start`, then, as long as a `request` is due and the course is not `parked`, `receive` or `fail`;
    after each of these it starts what `released` returns.
    """

    job: Job[Record]
    put: Callable[[Record], bool]
    """Writes the record; False: it waits for another one to complete its row."""
    pending: Pending
    cache: Shelf | None = None
    others: Mapping[str, Shelf | None] = field(default_factory=dict)
    """The completions of other chat models that requests of the job go to."""
    then: Callable[[], Iterable["Course[Any]"]] = lambda: ()
    """Called when the row is complete: the courses that can begin because of it."""
    request: Request | None = None
    """The request that is due; None when the job has ended."""
    place: int = 0
    """The place in the job of the request that is due; the first is 0."""
    tries: int = 0
    """How often the request that is due has failed."""
    failing_since: float | None = None
    """When it failed first."""
    follows: bool = False
    """Whether it waited for a job whose prompt begins as its own does, and waits no more."""
    parked: bool = False
    """Whether another course is asking the very same, so that this one has to wait for its reply."""
    _steps: Steps[Record] | None = None
    _unsaved: list[tuple[int, Request, Reply]] = field(default_factory=list)
    _released: list["Course[Any]"] = field(default_factory=list)
    _asking: str | None = None
    """The cache's key of the request that is due."""
    _asked: Counter[str] = field(default_factory=Counter)
    """How often each completion was wanted before, with a cache."""

    @property
    def model(self) -> str:
        """The chat model that the request that is due goes to."""
        return self.job.model if self.request is None or self.request.to is None else self.request.to

    @property
    def _shelf(self) -> Shelf | None:
        return self.cache if self.request is None or self.request.to is None else self.others.get(self.request.to)

    def start(self) -> None:
        """Begin the job, or continue after being parked: up to a request that needs a call, or to its end."""
        if self._steps is None:
            self._steps = self.job.steps()
            self._go_on(None)
        elif self.parked and self.request is not None:
            reply = self._cached(self.request)
            if reply is not None:
                self._go_on(reply)

    def receive(self, reply: Reply) -> None:
        """Take the reply to the due request, and continue to the next one, or to the end."""
        assert self.request is not None
        self._unsaved.append((self.place, self.request, reply))
        self.place += 1
        self.tries, self.failing_since = 0, None
        self._no_longer_asking(reply)
        self._go_on(reply)

    def refused(self, error: ChatError) -> bool:
        """Tell the job that its due request would always be refused; return whether it continues without it."""
        self._no_longer_asking(None)
        try:
            self._go_on(error)
        except ChatError as raised:
            if raised is error:
                return False
            raise
        self.tries, self.failing_since = 0, None
        return True

    def fail(self, kind: str, message: str) -> Failure:
        """Give up the job and return the recorded reason; jobs that waited for its reply make their own calls."""
        failure = Failure(self.job.key, kind, message)
        self.pending.fail(self.job.row, failure)
        self._no_longer_asking(None)
        return failure

    def released(self) -> list["Course[Any]"]:
        """Return the courses that can start because of this one's progress; each only once."""
        released, self._released = self._released, []
        return released

    def _go_on(self, reply: Reply | ChatError | None) -> None:
        assert self._steps is not None
        try:
            while True:  # as long as replies are there already, be they a hundred turns: no call, and no recursion
                if isinstance(reply, ChatError):
                    self.request = self._steps.throw(reply)
                else:
                    self.request = next(self._steps) if reply is None else self._steps.send(reply)
                reply = self._known(self.request)
                if reply is None:
                    self._save()
                    return
        except StopIteration as end:
            self.request = None
            # First the row, then the note that its replies have served: a kill in between leaves replies that are not
            # needed (`outputs.py` takes them out), the other order would lose what was paid for.
            if self.put(end.value):
                self.pending.complete(self.job.row)
                self._released.extend(self.then())
            else:
                self._save()

    def _known(self, request: Request) -> Reply | None:
        """Return an existing reply to a new request; else make sure that it is requested."""
        kept = self.pending.find(self.job.row, self.job.key, self.place, request)
        if self._shelf is not None:
            content = request.content
            # A job that asks the same again (a second try at a verdict) wants another reply, not the first one's copy.
            self._asking = self._shelf.key(request, self.job.index, self._asked[content])
            self._asked[content] += 1
        if kept is not None:
            self.place += 1
            self._asking = None
            return kept
        return None if self._shelf is None else self._cached(request)

    def _cached(self, request: Request) -> Reply | None:
        """Return the cache's reply; if it has none, this course or an earlier one requests it."""
        assert self._shelf is not None
        assert self._asking is not None
        found = self._shelf.find(self._asking)
        if found is None:
            self.parked = not self._shelf.begin(self._asking, self)
            return None
        self.parked, self._asking = False, None
        self._unsaved.append((self.place, request, found))
        self.place += 1
        return found

    def _no_longer_asking(self, reply: Reply | None) -> None:
        if self._shelf is not None and self._asking is not None:
            self._released.extend(self._shelf.end(self._asking, reply))
            self._asking = None

    def _save(self) -> None:
        for place, request, reply in self._unsaved:
            self.pending.keep(self.job.row, self.job.key, place, request, reply)
        self._unsaved.clear()
