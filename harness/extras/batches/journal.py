"""What is at a provider: one file for each endpoint, `.turnbench/batches/NAME.jsonl`.

    {"id": "5f0c…", "time": 1790000000.0, "keys": ["…", "…"]}    is about to be submitted
    {"id": "5f0c…", "batch": "batch_…"}                           the provider calls it so
    {"id": "5f0c…", "end": "collected"}                           nothing more comes of it, and why

A key is a hash of what is sent and of who asks: the job, and how many equal requests it made
before. A job is asked only while neither its row nor a pending reply is there, so what was taken
from a batch need not be written down. A line is on the disk before what it says happens at the
provider; with the id a submission is found again whose answer was lost. The file goes when nothing
in it is open; what is older than providers keep results is not looked at.
"""

import dataclasses
import hashlib
import json
import logging
import pathlib
import time
import uuid

import msgspec
from msgspec import field

from harness.bench import file_stem
from harness.models import Endpoint
from harness.models.errors import Wire
from harness.store import Writer
from harness.types import Row

log = logging.getLogger("turnbench")
KEPT = 30 * 86_400.0
"""Seconds after which a provider has deleted the results (OpenAI 30 days, Anthropic 29)."""


def key_of(wire: Wire) -> str:
    """Return the key of a request."""
    text = json.dumps([wire.body, wire.headers, wire.ask], sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


class Line(Row):
    """A line of the file."""

    id: str
    time: float = 0.0
    keys: list[str] = field(default_factory=list)
    redo: bool = False
    """Whether the run answers again what is answered: only such a run takes its results again."""
    batch: str = ""
    end: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """What identifies the line."""
        return self.id, self.batch, self.end


@dataclasses.dataclass(slots=True, eq=False)
class Batch:
    """Requests that were submitted together, or were about to be."""

    id: str
    time: float
    keys: list[str]
    earlier: bool
    """Whether an earlier run submitted it."""
    name: str = ""
    """The provider's; empty: it is not known whether the submission arrived."""
    taken: set[str] = dataclasses.field(default_factory=set)
    """The requests whose results this run has taken."""

    def __str__(self) -> str:
        """Return what it is called in messages."""
        return self.name or f"the batch of {time.strftime('%H:%M', time.localtime(self.time))}"


class Journal:
    """The batches of one endpoint of which something may still come.

    Raises:
        StorageError: another process uses them.
    """

    def __init__(self, endpoint: Endpoint, state: pathlib.Path, *, redo: bool = False) -> None:
        self.open: dict[str, Batch] = {}
        """By id."""
        self.names: set[str] = set()
        """The provider's names of all batches that were ever written down."""
        self._redo = redo
        self._holders: dict[str, Batch] = {}
        path = state / "batches" / f"{file_stem(endpoint.name)}.jsonl"
        self._writer = Writer(path, Line, state).__enter__()
        if path.exists():
            for number, data in enumerate(path.read_bytes().split(b"\n"), 1):
                try:
                    if data.strip():
                        self._read(msgspec.json.decode(data, type=Line), earlier=True)
                except (msgspec.MsgspecError, UnicodeError):
                    log.warning("%s:%d: is no line of a batch and is left out", path, number)

    def holder(self, key: str) -> Batch | None:
        """Return the batch from which the result of a request is still to be had."""
        batch = self._holders.get(key)
        return None if batch is None or key in batch.taken else batch

    def intend(self, keys: list[str]) -> Batch:
        """Write down that these requests are about to be submitted."""
        line = Line(uuid.uuid4().hex, time.time(), keys, self._redo)
        self._write(line)
        return self.open[line.id]

    def accepted(self, batch: Batch, name: str) -> None:
        """Write down what the provider calls a batch."""
        self._write(Line(batch.id, batch=name))

    def ended(self, batch: Batch, why: str) -> None:
        """Write down that nothing more comes of a batch."""
        self._write(Line(batch.id, end=why))

    def close(self, *, orderly: bool) -> None:
        """Let other processes use the batches.

        `orderly`: what was taken in this run is stored; without any open batch the file goes.
        """
        for batch in list(self.open.values()) if orderly else ():
            if len(batch.taken) == len(batch.keys):
                self.ended(batch, "collected")
        if not self.open:
            self._writer.path.unlink(missing_ok=True)
        self._writer.__exit__()

    def _write(self, line: Line) -> None:
        self._writer.append(line)
        self._writer.sync()
        self._read(line, earlier=False)

    def _read(self, line: Line, *, earlier: bool) -> None:
        batch = self.open.get(line.id)
        if line.batch:
            self.names.add(line.batch)
        if line.keys and time.time() - line.time < KEPT:
            batch = self.open[line.id] = Batch(line.id, line.time, line.keys, earlier)
            if line.redo or not self._redo:
                self._holders |= dict.fromkeys(line.keys, batch)
        elif batch is not None and line.batch:
            batch.name = line.batch
        elif batch is not None and line.end:
            del self.open[batch.id]
            batch.taken.update(batch.keys)
