"""Replies that were paid for and whose record is not complete yet: a first turn, the first game of a pair.

One line each in `.turnbench/pending/`, found again by the job's key, the request's place in the job and its content; a changed
prompt is therefore asked anew.
"""

import pathlib
from typing import Self

from harness.jsonl import Journal, read_rows
from harness.records import Reply, Request
from harness.rows import reply_details, reply_from_row


class Pending:
    """The pending replies that belong to one output file; a context manager, with one writer."""

    def __init__(self, path: pathlib.Path, state: pathlib.Path) -> None:
        """`path` is the output file, `state` the benchmark's state folder."""
        self._journal = Journal(state / "pending" / path.name, state / "pending")
        self._replies: dict[tuple[str, int, str], Reply] = {}

    def __enter__(self) -> Self:
        """Read what an earlier run left."""
        self._journal.__enter__()
        if self._journal.path.exists():
            for _, row in read_rows(self._journal.path):
                name = (row["key"], row["place"], row["request"])
                self._replies[name] = reply_from_row(row["text"], row["details"])
        return self

    def __exit__(self, *error: object) -> None:
        """Bring everything to disk."""
        self._journal.__exit__(*error)

    def find(self, key: str, place: int, request: Request) -> Reply | None:
        """Return the reply that an earlier run received for this request of this job, if any."""
        return self._replies.get((key, place, request.content)) if self._replies else None

    def keep(self, key: str, place: int, request: Request, reply: Reply) -> None:
        """Store a reply for the next start."""
        row = {"key": key, "place": place, "request": request.content, "text": reply.text, "details": reply_details(reply)}
        self._journal.append(row)

    def sync(self) -> None:
        """Bring what was kept to the disk."""
        self._journal.sync()

    def served(self) -> None:
        """Drop everything: every record is complete."""
        self._journal.clear()
        self._replies.clear()
