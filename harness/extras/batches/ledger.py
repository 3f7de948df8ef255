"""What was submitted to a provider: one file for each endpoint, `.turnbench/batches/NAME.jsonl`.

{"batch": "batch_…", "keys": […]}      submitted
{"used": "…"}                          this request's result was taken
{"done": "batch_…"}                    nothing in this batch is needed any more
"""

import contextlib
import pathlib

import msgspec
from filelock import FileLock, Timeout

from harness.bench import file_stem
from harness.errors import StorageError
from harness.models import Endpoint
from harness.store.write import storing


class _Line(msgspec.Struct, omit_defaults=True):
    batch: str = ""
    keys: list[str] = []
    used: str = ""
    done: str = ""


class Ledger:
    """The batches of one endpoint that may still hold results.

    Raises:
        StorageError: another process uses them.
    """

    def __init__(self, endpoint: Endpoint, state: pathlib.Path) -> None:
        self.path = state / "batches" / f"{file_stem(endpoint.name)}.jsonl"
        self.batches: dict[str, list[str]] = {}
        """The names of each batch's requests."""
        self.used: set[str] = set()
        self._lock = FileLock(f"{self.path}.lock")
        with storing(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            try:
                self._lock.acquire(blocking=False)
            except Timeout:
                text = f"another process uses batches of {endpoint.name}; wait for it to end"
                raise StorageError(text) from None
        if self.path.exists():
            for data in self.path.read_bytes().splitlines():
                # A line may be empty, or cut off by a kill.
                with contextlib.suppress(msgspec.MsgspecError, UnicodeError):
                    self._take(msgspec.json.decode(data, type=_Line))

    @property
    def waiting(self) -> dict[str, str]:
        """The requests whose results were not taken, each with its batch."""
        return {
            key: batch
            for batch, keys in self.batches.items()
            for key in keys
            if key not in self.used
        }

    def submitted(self, batch: str, keys: list[str]) -> None:
        """Write down that a batch is at the provider."""
        self._write(_Line(batch=batch, keys=keys))

    def use(self, key: str) -> None:
        """Write down that a request's result was taken."""
        self._write(_Line(used=key))

    def done(self, batch: str) -> None:
        """Forget a batch; the file goes with the last one."""
        self._write(_Line(done=batch))
        if not self.batches:
            self.path.unlink()

    def close(self) -> None:
        """Let other processes use the batches."""
        self._lock.release()

    def _write(self, line: _Line) -> None:
        # The newline comes first: a line that a kill cut off must not swallow the next one.
        with storing(self.path), self.path.open("ab") as file:
            file.write(b"\n" + msgspec.json.encode(line))
        self._take(line)

    def _take(self, line: _Line) -> None:
        if line.used:
            self.used.add(line.used)
        elif line.done:
            self.batches.pop(line.done, None)
        elif line.batch:
            self.batches[line.batch] = line.keys
