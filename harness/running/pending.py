"""Replies that were paid for and whose row is not complete yet: a first turn, the first game of a pair.

One line each in `.turnbench/pending/`, found again by the job's key, the request's place in the job and its content; a
changed prompt is therefore asked anew. A row that is complete is one more line, which takes its replies out; so is the
beginning of a `--redo`, during which a complete row does not. A job that failed for good is a line as well, with its
cause, until its row is complete. When nothing is left the file goes.
"""

import pathlib
import time
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any, NotRequired, Self, TypeAlias, TypedDict

from harness.jsonl import Journal, sound_rows, taken_as
from harness.records import Failure, Reply, Request, TokenLogprobs, content_hash
from harness.rows import reply_details, reply_from_row
from harness.running.batches.ledger import ledger_beside

_Name: TypeAlias = tuple[str, int, str]
"""A job's key, the place of a request in it, and what was asked."""


class _KeptLine(TypedDict):
    """What a line of a kept reply must hold; another program may have touched the file, so it is checked."""

    row: str
    key: str
    place: int
    request: str
    text: str
    details: dict[str, Any]
    carried: NotRequired[str | None]
    logprobs: NotRequired[list[tuple[str, float, list[tuple[str, float]]]] | None]


class _FailedLine(TypedDict):
    """What a line of a failure must hold."""

    row: str
    failed: str
    kind: str
    message: str


class _CompleteLine(TypedDict):
    """What the line of a row that is complete must hold."""

    complete: str


class Kept(dict[str, dict[_Name, Reply]]):
    """Replies that an earlier run left for rows that are not complete, by row."""

    def find(self, row: str, key: str, place: int, request: Request) -> Reply | None:
        """Return the reply that was received for this request of this job, if any."""
        return self[row].get((key, place, _content(request))) if row in self else None


def kept_in(path: pathlib.Path) -> Kept:
    """Return the replies in a file of pending replies; nothing is changed."""
    kept = Kept()
    for row, lines in left_in(path).items():
        kept[row] = {(line["key"], line["place"], line["request"]): reply_from_kept(line) for line in lines}
    return kept


class Pending:
    """The pending replies that belong to one output file; a context manager, with one writer."""

    def __init__(self, path: pathlib.Path, state: pathlib.Path, *, fresh: bool = False) -> None:
        """`path` is the output file, `state` the benchmark's state folder; `fresh` uses no earlier run's replies."""
        self._journal = Journal(pending_file(path, state), state / "pending")
        self._fresh = fresh
        self._rows = Kept()
        self._redo = False
        """Whether rows that are complete are being made again, by this run or one that was stopped."""
        self._kept: set[str] = set()
        """The rows for which this run has kept a reply."""
        self._failed: set[str] = set()
        """The rows of which a job has failed, in this run or an earlier one."""

    def __enter__(self) -> Self:
        """Read what an earlier run left."""
        self._journal.__enter__()
        try:
            self._redo = redo_begun(self.path)
            self._failed = {line["row"] for line in failures_in(self.path)}
            self._rows = kept_in(self._journal.path)
        except BaseException:
            self._journal.__exit__()
            raise
        return self

    def __exit__(self, kind: object = None, *error: object) -> None:
        """Bring everything to disk; the file goes when nothing is pending any more."""
        try:
            # A redo by batches goes on in a later process, which has to know by this file that it is one.
            redoing = self._redo and ledger_beside(self.path).exists()
            if not (kind or self._rows or self._kept or self._failed or redoing):
                self._journal.clear()
        finally:
            self._journal.__exit__()

    @property
    def path(self) -> pathlib.Path:
        """The file; it has the name of the output file."""
        return self._journal.path

    @property
    def left(self) -> AbstractSet[str]:
        """The rows for which an earlier run left replies."""
        return set(self._rows)

    def find(self, row: str, key: str, place: int, request: Request) -> Reply | None:
        """Return the reply that an earlier run received for this request of this job, if any."""
        return None if self._fresh else self._rows.find(row, key, place, request)

    def redo(self) -> None:
        """Write down that complete rows are made again, so what is left for them has not served yet."""
        if not self._redo:
            self._journal.append({"redo": True})
            self._redo = True

    def keep(self, row: str, key: str, place: int, request: Request, reply: Reply) -> None:
        """Store a reply for the next start."""
        self._kept.add(row)
        line = {"row": row, "key": key, "place": place, "request": _content(request)}
        self._journal.append({**line, **reply_to_kept(reply)})

    def fail(self, row: str, failure: Failure) -> None:
        """Write down why a job of a row has failed; the next run tries it again."""
        self._failed.add(row)
        line = {"row": row, "failed": failure.key, "kind": failure.kind, "message": failure.message}
        self._journal.append({**line, "tstamp": time.time()})

    def complete(self, row: str) -> None:
        """Take out the replies of a row that is in the output file now."""
        if row in self._kept or row in self._rows or row in self._failed:  # most rows never had a line here
            self._journal.append({"complete": row})
            self._kept.discard(row)
            self._failed.discard(row)
            self._rows.pop(row, None)

    def sync(self) -> None:
        """Bring what was kept to the disk."""
        self._journal.sync()


def pending_file(path: pathlib.Path, state: pathlib.Path) -> pathlib.Path:
    """Return where the pending replies of an output file are."""
    return state / "pending" / path.name


def left_in(path: pathlib.Path) -> dict[str, list[Mapping[str, Any]]]:
    """Return the lines of a file of pending replies by row, without those of complete rows; nothing is changed.

    What is no such line is passed over: what it might have saved is asked again.
    """
    left: dict[str, list[Mapping[str, Any]]] = {}
    for _, line in sound_rows(path):
        if complete := taken_as(line, _CompleteLine):
            left.pop(complete["complete"], None)
        elif taken_as(line, _KeptLine):
            left.setdefault(line["row"], []).append(line)
    return left


def kept_count(path: pathlib.Path, state: pathlib.Path) -> int:
    """Return how many replies are kept for rows of an output file that are not complete."""
    return sum(len(lines) for lines in left_in(pending_file(path, state)).values())


def failures_in(path: pathlib.Path) -> list[Mapping[str, Any]]:
    """Return the last failure of each job whose row is not complete: `row`, `failed` (its key), `kind`, `message`."""
    failures: dict[tuple[str, str], Mapping[str, Any]] = {}
    for _, line in sound_rows(path):
        if complete := taken_as(line, _CompleteLine):
            failures = {name: one for name, one in failures.items() if name[0] != complete["complete"]}
        elif taken_as(line, _FailedLine):
            failures[line["row"], line["failed"]] = line
    return list(failures.values())


def redo_begun(kept: pathlib.Path) -> bool:
    """Return whether a file of pending replies says that complete rows are made again; nothing is changed."""
    return any("redo" in line for _, line in sound_rows(kept))


def reply_to_kept(reply: Reply) -> dict[str, Any]:
    """Return all of a reply as JSON: also what no row holds, log-probabilities and what the next turn carries."""
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
    """Return the hash of what is asked; the reference belongs to it, since a built-in model replies with that."""
    return content_hash(request.content, request.facts and request.facts.reference)
