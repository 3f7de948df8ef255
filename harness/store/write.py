"""Writing a data file: one writer, whole lines, nothing deleted."""

import contextlib
import logging
import os
import pathlib
import shutil
import time
from collections import deque
from collections.abc import Iterable
from typing import Any, Generic, Self, TypeVar

import msgspec

from harness.errors import StorageError
from harness.store.read import Place, replaces, rows
from harness.types import Row

log = logging.getLogger("turnbench")
T = TypeVar("T", bound=Row)
_SYNC_SECONDS = 1.0


def state_dir(folder: pathlib.Path) -> pathlib.Path:
    """Return the folder for locks, torn and superseded lines, pending replies, cache and index."""
    return folder / ".turnbench"


class Writer(Generic[T]):
    """Appends rows to a file of which it is the only writer; a context manager.

    A line is in the file whole or not at all. On entering, a last line that a kill cut off is moved
    to `.turnbench/torn/`. `state` defaults to the benchmark's `.turnbench/`, two folders up.

    Raises:
        StorageError: another process writes the file, or it cannot be written.
    """

    def __init__(
        self, path: pathlib.Path, kind: type[T], state: pathlib.Path | None = None
    ) -> None:
        from filelock import FileLock

        self.path, self.kind = path, kind
        self.state = (state or state_dir(path.parent.parent)) / path.parent.name
        self._lock = FileLock(self.state / f"{path.name}.lock")
        self._file: int | None = None
        self._synced = 0.0
        self._keys: set[Any] = set()

    def __enter__(self) -> Self:
        """Take the lock and look at the end of the file; the file is created with its first row."""
        from filelock import Timeout

        if self.path.suffix == ".gz" or self.path.with_name(f"{self.path.name}.gz").exists():
            raise StorageError(f"{self.path}: is packed; unpack it with gunzip to continue it")
        with storing(self.path):
            self.state.mkdir(parents=True, exist_ok=True)
            self.path.parent.mkdir(parents=True, exist_ok=True)
            try:
                self._lock.acquire(blocking=False)
            except Timeout:
                text = f"{self.path}: another process is writing it; wait for it to end, or stop it"
                raise StorageError(text) from None
            try:
                if self.path.exists():
                    self._mend_tail()
            except BaseException:
                self._lock.release()
                raise
        return self

    def __exit__(self, *_: object) -> None:
        """Bring everything to disk and free the lock."""
        try:
            self.sync()
        finally:
            if self._file is not None:
                os.close(self._file)
                self._file = None
            self._lock.release()

    def append(self, row: T) -> None:
        """Write one row; on return it is in the file, and on the disk within a second or so."""
        data = msgspec.json.encode(row) + b"\n"
        with storing(self.path):
            if self._file is None:
                self._file = open_to_append(self.path)
            append_whole(self._file, data)
        self._keys.add(row.key)  # type: ignore[attr-defined]
        if time.monotonic() - self._synced > _SYNC_SECONDS:
            self.sync()

    def sync(self) -> None:
        """Bring what was written to the disk itself."""
        if self._file is not None:
            with storing(self.path):
                os.fsync(self._file)
        self._synced = time.monotonic()

    def compact(self) -> int:
        """Move the rows that this writer's rows replace to `.turnbench/`; return how many.

        Lines keep their bytes, and are on disk in their new place before the file is replaced.
        """
        if not self._keys:
            return 0
        self.sync()
        counting: dict[Any, Place[T]] = {}
        superseded = set[int]()
        for place in rows(self.path, self.kind):
            key = place.row.key  # type: ignore[attr-defined]
            if key not in self._keys:
                continue
            earlier = counting.setdefault(key, place)
            if earlier is place:
                continue
            if replaces(place.row, earlier.row):
                counting[key] = place
                superseded.add(earlier.line)
            else:
                superseded.add(place.line)
        if superseded:
            self._move(superseded)
        return len(superseded)

    def _move(self, numbers: set[int]) -> None:
        real = self.path.resolve()  # a link stays one, and only beside the file is a rename atomic
        fresh = real.with_name(f".{real.name}.fresh")
        with storing(self.path):
            with (
                self.path.open("rb") as old,
                fresh.open("wb") as new,
                self._aside("superseded").open("ab") as aside,
            ):
                for number, line in enumerate(old, 1):
                    (aside if number in numbers else new).write(line.removesuffix(b"\n") + b"\n")
                for file in (aside, new):
                    file.flush()
                    os.fsync(file.fileno())
            shutil.copymode(self.path, fresh)
            if self._file is not None:
                os.close(self._file)
                self._file = None
            fresh.replace(real)

    def _aside(self, folder: str) -> pathlib.Path:
        """Return the file for lines that leave this one."""
        path = self.state / folder / self.path.name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def _mend_tail(self) -> None:
        """Complete a last line without a newline; set aside one that is not JSON."""
        with self.path.open("r+b") as file:
            tail = b"".join(deque(file, 1))
            if tail.endswith(b"\n") or not tail.strip():
                return
            try:
                msgspec.json.decode(tail)
            except msgspec.DecodeError:
                aside = self._aside("torn")
                with aside.open("ab") as torn:
                    torn.write(tail + b"\n")
                file.truncate(file.tell() - len(tail))
                log.warning("%s: a line that was cut off was moved to %s", self.path, aside)
            else:
                file.write(b"\n")


@contextlib.contextmanager
def storing(path: pathlib.Path) -> Any:
    """Raise `StorageError` for what the disk refuses in the block."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise StorageError(
            f"{path}: {reason}; what was done is kept, run the same command again"
        ) from error


def open_to_append(path: pathlib.Path) -> int:
    """Return a file that is appended to, made if it is not there."""
    # Without O_BINARY, which only Windows has, it would write \\r\\n.
    binary: int = getattr(os, "O_BINARY", 0)
    return os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | binary, 0o644)


def append_whole(file: int, data: bytes) -> None:
    """Append all of the data or none of it: a full disk takes a part before it says so."""
    size = os.fstat(file).st_size
    try:
        while data:
            data = data[os.write(file, data) :]
    except BaseException:
        with contextlib.suppress(OSError):
            os.ftruncate(file, size)
        raise


def encode_lines(rows: Iterable[object]) -> bytes:
    """Return rows as JSON Lines."""
    return b"".join(msgspec.json.encode(row) + b"\n" for row in rows)


def write_file(path: pathlib.Path, text: str | bytes) -> None:
    """Write a whole file in one step: a reader sees the old bytes or the new ones.

    Raises:
        StorageError: it cannot be written.
    """
    data = text.encode() if isinstance(text, str) else text
    path = path.resolve()
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    with storing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with fresh.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(path)
        finally:
            fresh.unlink(missing_ok=True)
