"""What was submitted to a provider: one file for each endpoint, `.turnbench/batches/NAME.jsonl`.

{"keys": ["…", "…"], "batch": "batch_…"}      these requests were submitted as a batch
{"keys": ["…"]}                               their results were taken
"""

import pathlib

import msgspec

from harness.bench import file_stem
from harness.models import Endpoint
from harness.store import Writer
from harness.types import Row


class Line(Row):
    """A line of the file."""

    keys: list[str]
    batch: str = ""

    @property
    def key(self) -> tuple[str, ...]:
        """What identifies the line."""
        return (self.batch, *self.keys)


class Submitted:
    """The batches of one endpoint that may still hold results.

    Raises:
        StorageError: another process uses them.
    """

    def __init__(self, endpoint: Endpoint, state: pathlib.Path) -> None:
        self.batches: dict[str, list[str]] = {}
        """The names of each batch's requests."""
        self.taken: set[str] = set()
        """The requests whose results were taken."""
        self._writer = Writer(
            state / "batches" / f"{file_stem(endpoint.name)}.jsonl", Line, state
        ).__enter__()
        if self._writer.path.exists():
            for data in self._writer.path.read_bytes().splitlines():
                self._read(msgspec.json.decode(data, type=Line))

    @property
    def waiting(self) -> dict[str, str]:
        """The requests whose results were not taken, each with its batch."""
        keys = {key: batch for batch, keys in self.batches.items() for key in keys}
        return {key: batch for key, batch in keys.items() if key not in self.taken}

    def add(self, keys: list[str], batch: str = "") -> None:
        """Write down that requests are in a batch, or that their results were taken."""
        line = Line(keys, batch)
        self._writer.append(line)
        self._read(line)

    def close(self) -> None:
        """Let other processes use the batches; without any the file goes."""
        if not self.waiting:
            self._writer.path.unlink(missing_ok=True)
        self._writer.__exit__()

    def _read(self, line: Line) -> None:
        if line.batch:
            self.batches[line.batch] = line.keys
        else:
            self.taken.update(line.keys)
