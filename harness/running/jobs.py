"""What a job is: a generator that yields requests to one chat model, receives replies, and ends in a record.

A two-turn conversation is a job of two requests; a judging is a job of one, or of several if the judge set tries again
when a judge gave no verdict:

    def judging(match) -> Steps[Judgment]:
        reply = yield Request(...)
        return Judgment(...)
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeAlias, TypeVar

from harness.records import Reply, Request
from harness.running.pending import Pending

Record = TypeVar("Record")
RecordIn = TypeVar("RecordIn", contravariant=True)
Steps: TypeAlias = Generator[Request, Reply, Record]


@dataclass(frozen=True, slots=True)
class Job(Generic[Record]):
    """One piece of work for one chat model."""

    key: str
    """Unique in a run and the same in the next one: model, question, turn, ... It also names the job in messages."""
    model: str
    steps: Callable[[], Steps[Record]]
    part_of: str = ""
    """What jobs have in common whose records make one row: two games, several choices. Empty: the row is its own."""

    @property
    def row(self) -> str:
        """The name of the row that the job's record goes into."""
        return self.part_of or self.key


class Sink(Protocol[RecordIn]):
    """Where records go."""

    def put(self, record: RecordIn) -> bool:
        """Write the record; return False if it waits for another one to complete its row."""
        ...

    def sync(self) -> None:
        """Bring what was written to the disk."""
        ...


@dataclass(slots=True)
class Course(Generic[Record]):
    """The course of one job: which request is next, which replies it has had, which record it ended in.

    Replies found in `pending` are used without a call. A reply is put there when the job goes on after it, or when its
    record waits for another, and is dropped when the row is complete; so a kill loses only the calls in flight.
    """

    job: Job[Record]
    sink: Sink[Record]
    pending: Pending
    request: Request | None = None
    """The request that is due; None when the job has ended."""
    tries: int = 0
    """How often the request that is due has failed."""
    _steps: Steps[Record] | None = None
    _replies: int = 0
    _unsaved: list[tuple[Request, Reply]] = field(default_factory=list)

    def start(self) -> None:
        """Begin the job, up to the first request that needs a call, or to its end."""
        self._steps = self.job.steps()
        self._go_on(None)

    def receive(self, reply: Reply) -> None:
        """Take the reply to the request that is due, and go on to the next one, or to the end."""
        assert self.request is not None
        self._unsaved.append((self.request, reply))
        self.tries = 0
        self._replies += 1
        self._go_on(reply)

    def _go_on(self, reply: Reply | None) -> None:
        assert self._steps is not None
        try:
            while True:
                self.request = next(self._steps) if reply is None else self._steps.send(reply)
                kept = self.pending.find(self.job.row, self.job.key, self._replies, self.request)
                if kept is None:
                    self._save()
                    return
                reply = kept
                self._replies += 1
        except StopIteration as end:
            self.request = None
            if self.sink.put(end.value):
                self.pending.complete(self.job.row)
            else:
                self._save()

    def _save(self) -> None:
        for place, (request, reply) in enumerate(self._unsaved, self._replies - len(self._unsaved)):
            self.pending.keep(self.job.row, self.job.key, place, request, reply)
        self._unsaved.clear()
