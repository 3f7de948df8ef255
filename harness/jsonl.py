"""JSON Lines files: reading what anybody wrote, and the append-only journal that our own results go to.

Promises of the journal: a row is one line, written whole before it counts; a file has one writer at a time; a torn last line
(the process died, the disk filled) is set aside, never half a row; rows that newer ones replace are moved, never deleted.
What is set aside, the locks and the rest stay in a state folder (`.turnbench/`), so the data folders hold only public formats.
"""

import json
import logging
import os
import pathlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Self

from harness.errors import DataError, StorageError

log = logging.getLogger("turnbench")
_SYNC_SECONDS = 1.0


class Row(NamedTuple):
    """One line of a file: its number (the first is 1) and the object on it."""

    line: int
    value: dict[str, Any]


def encode(value: Any) -> str:
    """Return the value as one line of JSON, without its newline."""
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": "))


def read_rows(path: pathlib.Path) -> Iterator[Row]:
    """Yield the rows of a JSON Lines file, blank lines left out.

    A broken last line is left out with a warning: a run that was killed may have left it, or one that still writes.

    Raises:
        DataError: the file cannot be read, or another line is no JSON object.
    """
    try:
        with path.open("rb") as file:
            held: tuple[int, bytes] | None = None
            for number, line in enumerate(file, 1):
                if held is not None:
                    yield _row(path, *held)
                    held = None
                if line.strip():
                    held = (number, line)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", path=path) from error
    if held is not None:
        try:
            yield _row(path, *held)
        except DataError as error:
            log.warning("%s; this last line is left out (torn by a crash, or still being written)", error)


def _row(path: pathlib.Path, number: int, line: bytes) -> Row:
    """Return the parsed line, or raise `DataError` that says what is wrong with it."""
    try:
        value = json.loads(line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line)
    except UnicodeDecodeError:
        raise DataError("not UTF-8; save the file as UTF-8", path=path, line=number) from None
    except (json.JSONDecodeError, RecursionError) as error:
        at = f" (column {error.colno})" if isinstance(error, json.JSONDecodeError) else ""
        raise DataError(f"not valid JSON{at}; each line must be one JSON object", path=path, line=number) from None
    if not isinstance(value, dict):
        raise DataError(
            f"a JSON object is needed, this is a {type(value).__name__}; each line is one object", path=path, line=number
        )
    return Row(number, value)


def lock(path: pathlib.Path, state: pathlib.Path) -> Any:
    """Return a held lock (with `release()`) on one output file, kept in `state`; freed when the process ends, however.

    Raises:
        StorageError: another process holds it; the message says which.
    """
    import filelock

    lock_file = state / "locks" / f"{path.name}.lock"
    _make_folder(lock_file.parent)
    held = filelock.FileLock(lock_file)
    holder = lock_file.with_suffix(".holder")
    try:
        held.acquire(timeout=0)
        holder.write_text(f"process {os.getpid()} ({pathlib.Path(sys.argv[0]).name})", encoding="utf-8")
    except filelock.Timeout:
        who = holder.read_text(encoding="utf-8") if holder.exists() else "another process"
        raise StorageError(f"{path} is being written by {who}; wait for it, or stop it, and run this again") from None
    except OSError as error:
        held.release()
        raise _storage_error(lock_file, error, kept=False) from error
    return held


class Journal:
    """An append-only JSON Lines file with one writer, used as a context manager.

    `path` is the file, `state` the folder for its lock and for what is set aside.
    """

    def __init__(self, path: pathlib.Path, state: pathlib.Path) -> None:
        self.path = path
        self.state = state
        self._file: int | None = None
        self._lock: Any = None
        self._synced = 0.0
        self._unsynced = False

    def __enter__(self) -> Self:
        """Take the lock, set a torn tail aside, and open the file for appending (it is made with the first row)."""
        self._lock = lock(self.path, self.state)
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

    def append(self, row: dict[str, Any]) -> None:
        """Write one row as one whole line; on return it is in the file.

        Raises:
            StorageError: the disk is full, the folder gone or read-only; no part of the row stays in the file.
        """
        data = (encode(row) + "\n").encode("utf-8", "replace")
        try:
            if self._file is None:
                _make_folder(self.path.parent)
                self._file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            elif not self.path.exists():
                raise FileNotFoundError(2, "the file or its folder has vanished")
            before = os.fstat(self._file).st_size
            written = os.write(self._file, data)
            if written != len(data):
                os.ftruncate(self._file, before)
                raise OSError(28, "No space left on device")
        except OSError as error:
            raise _storage_error(self.path, error, kept=True) from error
        self._unsynced = True
        if time.monotonic() - self._synced > _SYNC_SECONDS:
            self.sync()

    def sync(self) -> None:
        """Bring what was written to the disk itself (fsync)."""
        if self._file is not None and self._unsynced:
            os.fsync(self._file)
            self._unsynced = False
        self._synced = time.monotonic()

    def retire(self, superseded: Callable[[Row], bool]) -> int:
        """Move the rows for which `superseded` is true to the state folder; return how many.

        The rows are on disk in their new place before the file is replaced, so a kill in between loses none.
        """
        if not self.path.exists():
            return 0
        keep: list[str] = []
        moved: list[str] = []
        for row in read_rows(self.path):
            (moved if superseded(row) else keep).append(encode(row.value))
        if not moved:
            return 0
        self.sync()
        if self._file is not None:
            os.close(self._file)
            self._file = None
        try:
            append_text(self.state / "superseded" / self.path.name, "".join(f"{line}\n" for line in moved))
            replace_text(self.path, "".join(f"{line}\n" for line in keep))
        except OSError as error:
            raise _storage_error(self.path, error, kept=True) from error
        return len(moved)

    def retire_older(
        self, key: Callable[[dict[str, Any]], Any], good: Callable[[dict[str, Any]], bool] = lambda row: True
    ) -> int:
        """Move the rows that a later row with the same key replaces; return how many.

        A row that is not `good` replaces none that is.
        """
        if not self.path.exists():
            return 0
        last: dict[Any, int] = {}
        good_ones: set[Any] = set()
        for row in read_rows(self.path):
            name = key(row.value)
            if good(row.value):
                good_ones.add(name)
            elif name in good_ones:
                continue
            last[name] = row.line
        return self.retire(lambda row: row.line != last[key(row.value)])

    def clear(self) -> None:
        """Empty the file (for journals of the state folder, whose rows have served)."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
        self.path.unlink(missing_ok=True)

    def _mend_tail(self) -> None:
        """Complete a last line that only lacks its newline; set aside one that is broken."""
        try:
            with self.path.open("r+b") as file:
                start = _last_line_start(file)
                file.seek(start)
                tail = file.read()
                if not tail.strip():
                    return
                try:
                    _row(self.path, 0, tail)
                    broken = False
                except DataError:
                    broken = True
                if broken:
                    aside = self.state / "torn" / self.path.name
                    append_text(aside, tail.decode("utf-8", "replace").rstrip("\n") + "\n")
                    file.truncate(start)
                    log.warning("%s: a torn last line was set aside in %s", self.path, aside)
                elif not tail.endswith(b"\n"):
                    file.write(b"\n")
        except OSError as error:
            raise _storage_error(self.path, error, kept=True) from error


def _last_line_start(file: Any) -> int:
    """Return the offset at which the last line that is not blank begins."""
    position: int = file.seek(0, os.SEEK_END)
    tail = b""
    while position > 0:
        step = min(position, 1 << 16)
        position -= step
        file.seek(position)
        tail = file.read(step) + tail
        cut = tail.rstrip().rfind(b"\n")
        if cut >= 0:
            return position + cut + 1
    return 0


def append_text(path: pathlib.Path, text: str) -> None:
    """Append text to a file, made with its folder where missing, and bring it to the disk."""
    _make_folder(path.parent)
    with path.open("a", encoding="utf-8", errors="replace") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def replace_text(path: pathlib.Path, text: str) -> None:
    """Replace a file's content in one step: a reader sees the old text or the new one, never a part."""
    _make_folder(path.parent)
    fresh = path.with_name(path.name + ".new")
    with fresh.open("w", encoding="utf-8", errors="replace") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(fresh, path)


def _make_folder(path: pathlib.Path) -> None:
    """Make the folder and its parents where missing."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _storage_error(path, error, kept=False) from error


def _storage_error(path: pathlib.Path, error: OSError, *, kept: bool) -> StorageError:
    """Return the error in the user's words."""
    tail = "; what was done before is kept, run the same command again to go on" if kept else ""
    return StorageError(f"{path}: cannot be written: {error.strerror or error}{tail}")
