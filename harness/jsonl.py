"""JSON Lines files: reading what anybody wrote, and the append-only journal that our own results go to.

Promises of the journal: a row is one line, written whole before it counts; a file has one writer at a time; a torn last
line (the process died, the disk filled) is set aside, never half a row; rows that newer ones replace are moved, never
deleted. What is set aside, the locks and the rest stay in a state folder (`.turnbench/`), so the data folders hold only
public formats.
"""

import contextlib
import errno
import json
import logging
import math
import os
import pathlib
import re
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Self

from harness.errors import DataError, StorageError

log = logging.getLogger("turnbench")
_SYNC_SECONDS = 1.0
_PROCESS = re.compile(r"process (\d+)")
_FULL = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}
_LINE_ENDS = {ord(c): f"\\u{ord(c):04x}" for c in "\x85\u2028\u2029"}
"""Characters that JSON leaves as they are and `str.splitlines` takes for the end of a line."""


class Row(NamedTuple):
    """One line of a file: its number (the first is 1) and the object on it."""

    line: int
    value: dict[str, Any]


def encode(value: Any) -> str:
    """Return the value as one line of JSON, without its newline; a number that is not finite is null."""
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(", ", ": "), allow_nan=False)
    except ValueError:
        text = json.dumps(finite(value), ensure_ascii=False, separators=(", ", ": "), allow_nan=False)
    return text.translate(_LINE_ENDS) if not text.isascii() else text


def finite(value: Any) -> Any:
    """Return the value with None in place of NaN and the infinities, which JSON does not have."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return value


def read_rows(path: pathlib.Path, *, whole: bool = False) -> Iterator[Row]:
    """Yield the rows of a JSON Lines file, blank lines left out.

    A broken last line is left out with a warning: a run that was killed may have left it, or one that still writes.
    With `whole` it is an error like any other: for files that people write.

    Raises:
        DataError: the file cannot be read, or another line is no JSON object.
    """
    try:
        with path.open("rb") as file:
            held: tuple[int, bytes] | None = None
            for number, line in enumerate(file, 1):
                if line.strip():
                    if held is not None:
                        yield row_of(path, held[0], value_of(path, *held))
                    held = (number, line)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", path=path) from error
    if held is None:
        return
    try:
        value = value_of(path, *held)
    except DataError as error:
        if whole:
            raise
        warn_of_torn(error)
    else:
        yield row_of(path, held[0], value)


def value_of(path: pathlib.Path, number: int, line: bytes) -> Any:
    """Return what the JSON on a line says, or raise `DataError` if it is none."""
    try:
        return json.loads(line)
    except UnicodeDecodeError:
        raise DataError("not UTF-8; save the file as UTF-8", path=path, line=number) from None
    except (ValueError, RecursionError) as error:
        at = ""
        if isinstance(error, json.JSONDecodeError):  # whose own column counts from the newline behind a cut line
            at = f" (column {min(error.pos, len(error.doc.rstrip())) + 1})"
        raise DataError(f"not valid JSON{at}; each line must be one JSON object", path=path, line=number) from None


def warn_of_torn(error: DataError) -> None:
    """Say that a broken last line is left out."""
    log.warning("%s; this last line is left out (torn by a crash, or still being written)", error)


def row_of(path: pathlib.Path, number: int, value: Any) -> Row:
    """Return the row, or raise `DataError` if the value is no object."""
    if isinstance(value, dict):
        return Row(number, value)
    kind = type(value).__name__
    raise DataError(f"a JSON object is needed, this is a {kind}; each line is one object", path=path, line=number)


def lock(path: pathlib.Path, state: pathlib.Path) -> Any:
    """Return a held lock (with `release()`) on one output file, kept in `state`; freed when the process ends, however.

    Raises:
        StorageError: another process holds it; the message says which.
    """
    import filelock

    lock_file = state / "locks" / f"{path.name}.lock"
    _make_folder(lock_file.parent)
    # Not per thread: a journal may be closed by another thread than the one that opened it.
    held = filelock.FileLock(lock_file, thread_local=False)
    holder = lock_file.with_suffix(".holder")  # FILE.lock -> FILE.holder
    try:
        held.acquire(timeout=0)
        program = pathlib.Path(*sys.argv[:1]).name or "python"
        since = time.strftime("%Y-%m-%d %H:%M:%S")
        who = f"process {os.getpid()} ({program}) on {_host()} since {since}"
        holder.write_text(who, encoding="utf-8", errors="replace")
    except filelock.Timeout:
        who = "another process"
        with contextlib.suppress(OSError):
            who = holder.read_text(encoding="utf-8", errors="replace") or who
        raise StorageError(f"{path} is being written by {who}; wait for it, or stop it, and run this again") from None
    except NotImplementedError:
        raise StorageError(f"{lock_file}: this file system has no locks; choose another with --data-dir") from None
    except OSError as error:
        held.release()
        raise _storage_error(lock_file, error, kept=False) from error
    return _Held(held, holder)


class _Held:
    """A lock that was taken, and the note that says by whom."""

    def __init__(self, file_lock: Any, holder: pathlib.Path) -> None:
        self._lock, self._holder = file_lock, holder

    def release(self) -> None:
        """Free the lock."""
        with contextlib.suppress(OSError):
            self._holder.unlink(missing_ok=True)
        self._lock.release()


def holder_of(path: pathlib.Path, state: pathlib.Path) -> str | None:
    """Return which process writes an output file, None if none does; no lock is taken to find out.

    What a killed process left is told from what a living one holds by its number, on the host where it ran.
    """
    holder = state / "locks" / f"{path.name}.holder"
    try:
        who = holder.read_text(encoding="utf-8", errors="replace")
        number = _PROCESS.match(who)
        here = f") on {_host()} since" in who or ") on " not in who
        if number and here and os.name == "posix":  # elsewhere signal 0 would end the process
            os.kill(int(number[1]), 0)
    except PermissionError:  # somebody else's process, alive
        return who
    except (OSError, OverflowError):
        return None
    return who or None


def _host() -> str:
    """Return the name of this computer."""
    import platform

    return platform.node() or "this host"


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
        """Take the lock, set a torn tail aside, and see that the file can be written (it is made with the first row).

        Raises:
            StorageError: another process writes the file, or it cannot be written.
        """
        self._lock = lock(self.path, self.state)
        try:
            _make_folder(self.path.parent)
            if self.path.exists():
                self._mend_tail()
            elif not os.access(self.path.parent, os.W_OK | os.X_OK):
                refused = PermissionError(errno.EACCES, os.strerror(errno.EACCES))
                raise _storage_error(self.path, refused, kept=False)
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Bring everything to disk and free the lock."""
        try:
            self.sync()
        finally:
            self._close()
            self._lock.release()

    def append(self, row: dict[str, Any]) -> None:
        """Write one row as one whole line; on return it is in the file.

        Raises:
            StorageError: the disk is full, the folder gone or read-only; no part of the row stays in the file.
        """
        data = (encode(row) + "\n").encode("utf-8", "replace")
        try:
            _write_whole(self._opened(), data)
        except OSError as error:
            self._close()
            raise _storage_error(self.path, error, kept=True) from error
        self._unsynced = True
        if time.monotonic() - self._synced > _SYNC_SECONDS:
            self.sync()

    def sync(self) -> None:
        """Bring what was written to the disk itself (fsync).

        Raises:
            StorageError: the disk does not take it.
        """
        if self._file is not None and self._unsynced:
            try:
                os.fsync(self._file)
            except OSError as error:
                self._close()
                raise _storage_error(self.path, error, kept=True) from error
            self._unsynced = False
        self._synced = time.monotonic()

    def retire(self, superseded: Callable[[Row], bool]) -> int:
        """Move the rows for which `superseded` is true to the state folder; return how many.

        Every line keeps its bytes. The rows are on disk in their new place before the file is replaced, so a kill in
        between loses none.
        """
        if not self.path.exists():
            return 0
        gone = {row.line for row in read_rows(self.path) if superseded(row)}
        if not gone:
            return 0
        self.sync()
        self._close()
        keep: list[bytes] = []
        moved: list[bytes] = []
        try:
            with self.path.open("rb") as file:
                for number, line in enumerate(file, 1):
                    (moved if number in gone else keep).append(line.removesuffix(b"\n") + b"\n")
            append_bytes(self.state / "superseded" / self.path.name, b"".join(moved))
            replace_bytes(self.path, b"".join(keep), self.state / "fresh" / self.path.name)
        except OSError as error:
            raise _storage_error(self.path, error, kept=True) from error
        return len(gone)

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
        self._close()
        try:
            self.path.unlink(missing_ok=True)
        except OSError as error:
            raise _storage_error(self.path, error, kept=True) from error

    def _opened(self) -> int:
        """Return the open file; one that somebody replaced under our hands is opened anew."""
        if self._file is not None:
            if os.path.samestat(os.fstat(self._file), self.path.stat()):
                return self._file
            self._close()
        new = not self.path.exists()  # its folder was made on entering; one that has vanished is not made again
        if not new:
            self._mend_tail()
        self._file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        if new:
            _sync_folder(self.path.parent)
        return self._file

    def _close(self) -> None:
        if self._file is not None:
            with contextlib.suppress(OSError):
                os.close(self._file)
        self._file, self._unsynced = None, False

    def _mend_tail(self) -> None:
        """Complete a last line that only lacks its newline; set aside one that is no JSON."""
        try:
            with self.path.open("r+b") as file:
                start = _last_line_start(file)
                file.seek(start)
                tail = file.read()
                if not tail.strip():
                    return
                try:
                    value_of(self.path, 0, tail)
                except DataError:
                    aside = self.state / "torn" / self.path.name
                    append_bytes(aside, tail.rstrip(b"\r\n") + b"\n")
                    file.truncate(start)
                    log.warning("%s: a torn last line was set aside in %s", self.path, aside)
                else:
                    if not tail.endswith(b"\n"):
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
        cut: int = tail.rstrip().rfind(b"\n")
        if cut >= 0:
            return position + cut + 1
    return 0


def _write_whole(file: int, data: bytes) -> None:
    """Append all of the data, or none of it."""
    before = os.fstat(file).st_size
    try:
        while data:
            # A full disk takes a part first and says why only when asked for the rest.
            data = data[os.write(file, data) :]
    except BaseException:
        with contextlib.suppress(OSError):
            os.ftruncate(file, before)
        raise


def append_bytes(path: pathlib.Path, data: bytes) -> None:
    """Append whole lines to a file, made with its folder where missing, and bring them to the disk."""
    _make_folder(path.parent)
    with path.open("a+b", buffering=0) as file:
        if file.seek(0, os.SEEK_END):
            file.seek(-1, os.SEEK_END)
            data = data if file.read(1) == b"\n" else b"\n" + data
        _write_whole(file.fileno(), data)
        os.fsync(file.fileno())
    _sync_folder(path.parent)


def replace_bytes(path: pathlib.Path, data: bytes, fresh: pathlib.Path) -> None:
    """Replace a file's content in one step: a reader sees the old bytes or the new ones, never a part.

    `fresh` is where the new bytes are written first, out of the way of the folder's readers.
    """
    import shutil  # a writer's, and slow to import

    path = path.resolve()
    _make_folder(fresh.parent)
    if os.stat(fresh.parent).st_dev != os.stat(path.parent).st_dev:
        fresh = path.with_name(f".{path.name}.new")
    try:
        with fresh.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        shutil.copymode(path, fresh)
        os.replace(fresh, path)
    finally:
        fresh.unlink(missing_ok=True)
    _sync_folder(path.parent)


def _sync_folder(path: pathlib.Path) -> None:
    """Bring a folder's list of names to the disk, where the system can."""
    with contextlib.suppress(OSError):
        folder = os.open(path, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _make_folder(path: pathlib.Path) -> None:
    """Make the folder and its parents where missing."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _storage_error(path, error, kept=False) from error


def _storage_error(path: pathlib.Path, error: OSError, *, kept: bool) -> StorageError:
    """Return the error in the user's words."""
    reason = error.strerror or str(error)
    advice = "make it writable, or choose another folder with --data-dir"
    if isinstance(error, FileExistsError | NotADirectoryError):
        reason, advice = "a file stands where a folder is needed", "move it away"
    elif isinstance(error, FileNotFoundError):
        reason, advice = "the file or its folder has vanished", "see where it went and run the same command again"
        kept = False
    elif error.errno in _FULL:
        advice = "make space"
    again = "; what was done before is kept, run the same command again to go on" if kept else ""
    return StorageError(f"{path}: cannot be written: {reason}; {advice}{again}")
