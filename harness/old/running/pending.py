"""Replies that were paid for and whose row is not complete yet: a first turn, the first game of a pair.

One line each in `.turnbench/pending/`, found again by the job's key, the request's place in the job and its content; a
changed prompt is therefore sent again. A complete row is one more line, which removes its replies; so is the
beginning of a `--redo`, during which a complete row does not. A job that failed for good is a line as well, with its
cause, until its row is complete. An empty file is deleted.
"""

import pathlib
import time
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Any, NotRequired, TypedDict

from harness.old.jsonl import StateJournal, sound_rows, taken_as
from harness.old.records import Failure, Reply, Request, TokenLogprobs, content_hash
from harness.old.rows import reply_details, reply_from_row
from harness.old.running.batches.ledger import ledger_beside


class KeptReply(TypedDict):
    """What a kept reply must hold; another program may have touched the file, so it is checked."""

    text: str
    details: dict[str, Any]
    carried: NotRequired[str | None]
    logprobs: NotRequired[list[tuple[str, float, list[tuple[str, float]]]] | None]


class _KeptLine(KeptReply):
    """What a line of a kept reply must hold."""

    row: str
    key: str
    place: int
    request: str


class _FailedLine(TypedDict):
    """The fields of a failure's line."""

    row: str
    failed: str
    kind: str
    message: str


class _CompleteLine(TypedDict):
    """The fields of a complete row's line."""

    complete: str


@dataclass
class Left:
    """What earlier runs left in a file of pending replies for rows that are not complete."""

    replies: dict[str, list[Mapping[str, Any]]] = field(default_factory=dict)
    """The lines of replies, by row."""
    failures: dict[str, dict[str, Mapping[str, Any]]] = field(default_factory=dict)
    """The line of the last failure of each job, by row and the job's key."""
    redo: bool = False
    """Whether complete rows are being made again, by a run that was stopped."""

    @property
    def rows(self) -> AbstractSet[str]:
        """The rows of which anything is left."""
        return self.replies.keys() | self.failures.keys()

    @property
    def failed(self) -> list[Mapping[str, Any]]:
        """The last failure of each job: `row`, `failed` (its key), `kind`, `message`."""
        return [line for lines in self.failures.values() for line in lines.values()]

    def find(self, row: str, key: str, place: int, request: Request) -> Reply | None:
        """Return the reply that was received for this request of this job, if any."""
        lines = [line for line in self.replies.get(row, ()) if (line["key"], line["place"]) == (key, place)]
        asked = _content(request) if lines else ""
        return next((reply_from_kept(line) for line in reversed(lines) if line["request"] == asked), None)

    def complete(self, row: str) -> None:
        """Take out what is left of a row."""
        self.replies.pop(row, None)
        self.failures.pop(row, None)


def left_in(path: pathlib.Path) -> Left:
    """Return what is left in a file of pending replies; nothing is changed.

    Invalid lines are skipped: their requests are sent again.
    """
    left = Left()
    for _, line in sound_rows(path):
        if complete := taken_as(line, _CompleteLine):
            left.complete(complete["complete"])
        elif taken_as(line, _KeptLine):
            left.replies.setdefault(line["row"], []).append(line)
        elif taken_as(line, _FailedLine):
            left.failures.setdefault(line["row"], {})[line["failed"]] = line
        left.redo |= "redo" in line
    return left


class Pending(StateJournal):
    """The pending replies that belong to one output file; a context manager, with one writer."""

    def __init__(self, path: pathlib.Path, state: pathlib.Path, *, fresh: bool = False) -> None:
        """`path` is the output file, `state` the benchmark's state folder; `fresh` uses no earlier run's replies."""
        super().__init__(pending_file(path, state), state / "pending")
        self._fresh = fresh
        self.left = Left()
        """What earlier runs left."""
        self._rows: set[str] = set()
        """The rows of which anything is in the file."""

    def read(self) -> None:
        """Take over what earlier runs left."""
        self.left = left_in(self.path)
        self._rows = set(self.left.rows)

    @property
    def needed(self) -> bool:
        """Whether anything is pending."""
        # A redo by batches goes on in a later process, which has to know by this file that it is one.
        return bool(self._rows) or (self.left.redo and ledger_beside(self.path).exists())

    def find(self, row: str, key: str, place: int, request: Request) -> Reply | None:
        """Return the reply that an earlier run received for this request of this job, if any."""
        return None if self._fresh else self.left.find(row, key, place, request)

    def redo(self) -> None:
        """Record that complete rows are being redone, so that their replies are still needed."""
        if not self.left.redo:
            self.append({"redo": True})
            self.left.redo = True

    def keep(self, row: str, key: str, place: int, request: Request, reply: Reply) -> None:
        """Store a reply for the next start."""
        line = {"row": row, "key": key, "place": place, "request": _content(request)}
        self._put(row, {**line, **reply_to_kept(reply)})

    def fail(self, row: str, failure: Failure) -> None:
        """Write down why a job of a row has failed; the next run tries it again."""
        line = {"row": row, "failed": failure.key, "kind": failure.kind, "message": failure.message}
        self._put(row, {**line, "tstamp": time.time()})

    def _put(self, row: str, line: dict[str, Any]) -> None:
        self._rows.add(row)
        self.append(line)

    def complete(self, row: str) -> None:
        """Take out the replies of a row that is in the output file now."""
        if row in self._rows:  # most rows never had a line here
            self.append({"complete": row})
            self._rows.discard(row)
            self.left.complete(row)


def pending_file(path: pathlib.Path, state: pathlib.Path) -> pathlib.Path:
    """Return where the pending replies of an output file are."""
    return state / "pending" / path.name


def kept_count(path: pathlib.Path, state: pathlib.Path) -> int:
    """Return how many replies are kept for rows of an output file that are not complete."""
    return sum(map(len, left_in(pending_file(path, state)).replies.values()))


def reply_to_kept(reply: Reply) -> dict[str, Any]:
    """Return a whole reply as JSON, including what no row stores: log-probabilities and parts for the next turn."""
    kept: dict[str, Any] = {"text": reply.text, "details": reply_details(reply)}
    if reply.carried is not None:
        kept["carried"] = reply.carried
    if reply.logprobs is not None:
        kept["logprobs"] = [[token.token, token.logprob, token.top] for token in reply.logprobs]
    return kept


def reply_from_kept(kept: Mapping[str, Any]) -> Reply:
    """Return the reply; the inverse of `reply_to_kept`."""
    carried = kept.get("carried")
    reply = replace(
        reply_from_row(kept["text"], kept["details"]), carried=carried if isinstance(carried, str) else None
    )
    if kept.get("logprobs") is None:
        return reply
    logprobs = tuple(
        TokenLogprobs(token, logprob, tuple((other, value) for other, value in top))
        for token, logprob, top in kept["logprobs"]
    )
    return replace(reply, logprobs=logprobs)


def _content(request: Request) -> str:
    """Return the hash of a request, including the reference, since a built-in model replies with it."""
    return content_hash(request.content, request.facts and request.facts.reference)
