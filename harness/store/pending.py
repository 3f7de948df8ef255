"""What is known of jobs whose row is not complete: replies that were paid for, causes of failures.

One file beside each output, `.turnbench/FOLDER/NAME.pending`, of lines

    {"job": "…", "request": "<hash>", "reply": {…}}        a reply, found again by job and request
    {"job": "…", "failure": {"kind": …, "status": …, "message": …, "where": …, "time": …}}
    {"job": "…", "row_at": 1200}                           its row follows, from this byte on
    {"job": "…", "done": true}                             the row is complete: forget the above

A kill between the last two is told by the output's size. The file is removed when nothing in it is
open.
"""

import contextlib
import os
import pathlib
import time
from collections.abc import Iterator
from typing import Self

import msgspec

from harness.store.write import append_whole, open_to_append, state_dir, storing
from harness.types import Reply


class Failure(msgspec.Struct, omit_defaults=True, kw_only=True):
    """Why a job's row is missing."""

    kind: str
    """A short phrase: "rate limit", "bad request"."""
    message: str
    where: str = ""
    """Which job, for people: "question 81, gpt-4o"."""
    status: int | None = None
    """HTTP status, if there was one."""
    time: float = 0.0


class _Line(msgspec.Struct, omit_defaults=True):
    job: str
    request: str = ""
    reply: Reply | None = None
    failure: Failure | None = None
    row_at: int | None = None
    done: bool = False


class Pending:
    """The pending replies and failures of one output file; a context manager.

    Use it within the `Writer` of the same file, whose lock it shares.
    """

    def __init__(self, path: pathlib.Path, state: pathlib.Path | None = None) -> None:
        folder = (state or state_dir(path.parent.parent)) / path.parent.name
        self.output = path
        self.path = folder / f"{path.name}.pending"
        self._replies: dict[str, list[tuple[str, Reply]]] = {}
        self._failures: dict[str, Failure] = {}
        self._file: int | None = None

    def __enter__(self) -> Self:
        """Read what earlier runs left."""
        with storing(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            written = self._read()
            self._file = open_to_append(self.path)
            append_whole(self._file, b"\n")  # ends a line that a kill cut off
        if written is not None:
            self._write(written)
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file, and remove it if nothing in it is open."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
        if not self._replies and not self._failures:
            self.path.unlink(missing_ok=True)

    def replies(self, job: str) -> list[tuple[str, Reply]]:
        """Return the replies of a job in their order, each with its request's hash."""
        return list(self._replies.get(job, ()))

    def keep(self, job: str, request: str, reply: Reply) -> None:
        """Keep a reply until its job is done; `request` is the request's hash."""
        self._write(_Line(job, request, reply))

    def fail(self, job: str, failure: Failure) -> None:
        """Keep why a job failed; the time is added."""
        self._write(_Line(job, failure=msgspec.structs.replace(failure, time=time.time())))

    @contextlib.contextmanager
    def completing(self, job: str) -> Iterator[None]:
        """Write the job's row in this block; after it all of the job is forgotten."""
        known = job in self._replies or job in self._failures
        if known:
            self._write(_Line(job, row_at=self._size()))
        yield
        if known:
            self._write(_Line(job, done=True))

    def _write(self, line: _Line) -> None:
        if self._file is None:
            raise RuntimeError("Pending is not open")
        with storing(self.path):
            append_whole(self._file, msgspec.json.encode(line) + b"\n")
        self._take(line)

    def _read(self) -> _Line | None:
        """Take all lines; return the last `done`, if a kill came before it could be written."""
        if not self.path.exists():
            return None
        decode = msgspec.json.Decoder(_Line).decode
        last = None
        for data in self.path.read_bytes().splitlines():
            last = None
            with contextlib.suppress(msgspec.MsgspecError, UnicodeError):  # a line that was cut off
                last = decode(data)
                self._take(last)
        if last is None or last.row_at is None or self._size() <= last.row_at:
            return None
        missing = _Line(last.job, done=True)
        self._take(missing)
        return missing

    def _size(self) -> int:
        """Return the bytes of the output file."""
        return self.output.stat().st_size if self.output.exists() else 0

    def _take(self, line: _Line) -> None:
        if line.done:
            self._replies.pop(line.job, None)
            self._failures.pop(line.job, None)
        elif line.failure is not None:
            self._failures[line.job] = line.failure
        elif line.reply is not None:
            self._replies.setdefault(line.job, []).append((line.request, line.reply))


def failures(folder: pathlib.Path, output: str = "*/*") -> list[Failure]:
    """Return why rows are missing from a benchmark's files: the last failure of each job.

    `folder` is the benchmark's; `output` a pattern such as `model_judgment/gpt-4_single.jsonl`.
    """
    failures: list[Failure] = []
    for path in sorted(state_dir(folder).glob(f"{output}.pending")):
        pending = Pending(folder / path.parent.name / path.stem)
        pending._read()
        failures += pending._failures.values()
    return failures
