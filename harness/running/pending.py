"""Replies that were paid for and whose row is not complete yet: a first turn, the first game of a pair.

One line each in `.turnbench/pending/`, found again by the job's key, the request's place in the job and its content; a
changed prompt is therefore asked anew. A row that is complete is one more line, which takes its replies out; when
nothing is pending any more the file goes.
"""

import pathlib
from collections.abc import Mapping
from typing import Any, Self, TypeAlias

from harness.jsonl import Journal, read_rows
from harness.records import Reply, Request, content_hash
from harness.rows import reply_details, reply_from_row

_Name: TypeAlias = tuple[str, int, str]
"""A job's key, the place of a request in it, and what was asked."""
_FIELDS = {"row", "key", "place", "request", "text", "details"}


class Pending:
    """The pending replies that belong to one output file; a context manager, with one writer."""

    def __init__(self, path: pathlib.Path, state: pathlib.Path, *, fresh: bool = False) -> None:
        """`path` is the output file, `state` the benchmark's state folder; `fresh` uses no earlier run's replies."""
        self._journal = Journal(state / "pending" / path.name, state / "pending")
        self._fresh = fresh
        self._rows: dict[str, dict[_Name, Reply]] = {}
        """What an earlier run left for each row that is not complete."""
        self._kept: set[str] = set()
        """The rows for which this run has kept a reply."""

    def __enter__(self) -> Self:
        """Read what an earlier run left."""
        self._journal.__enter__()
        try:
            for row, lines in self._left().items():
                self._rows[row] = {
                    (line["key"], line["place"], line["request"]): reply_from_row(line["text"], line["details"])
                    for line in lines
                }
        except BaseException:
            self._journal.__exit__()
            raise
        return self

    def __exit__(self, kind: object = None, *error: object) -> None:
        """Bring everything to disk; the file goes when nothing is pending any more."""
        try:
            if not (kind or self._rows or self._kept):
                self._journal.clear()
        finally:
            self._journal.__exit__()

    def find(self, row: str, key: str, place: int, request: Request) -> Reply | None:
        """Return the reply that an earlier run received for this request of this job, if any."""
        if self._fresh or row not in self._rows:
            return None
        return self._rows[row].get((key, place, _content(request)))

    def keep(self, row: str, key: str, place: int, request: Request, reply: Reply) -> None:
        """Store a reply for the next start."""
        self._kept.add(row)
        line = {"row": row, "key": key, "place": place, "request": _content(request)}
        self._journal.append({**line, "text": reply.text, "details": reply_details(reply)})

    def complete(self, row: str) -> None:
        """Take out the replies of a row that now stands in the output file."""
        if row in self._kept or row in self._rows:
            self._journal.append({"complete": row})
            self._kept.discard(row)
            self._rows.pop(row, None)

    def sync(self) -> None:
        """Bring what was kept to the disk."""
        self._journal.sync()

    def _left(self) -> dict[str, list[Mapping[str, Any]]]:
        """Return the lines of the file by row, without those of complete rows."""
        left: dict[str, list[Mapping[str, Any]]] = {}
        if self._journal.path.exists():
            for _, line in read_rows(self._journal.path):
                if "complete" in line:
                    left.pop(line["complete"], None)
                elif line.keys() >= _FIELDS:
                    left.setdefault(line["row"], []).append(line)
        return left


def _content(request: Request) -> str:
    """Return the hash of what is asked; the reference belongs to it, since a built-in model replies with that."""
    return content_hash(request.content, request.facts and request.facts.reference)
