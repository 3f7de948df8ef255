"""The append-only journal of one file.

Its guarantees: a row is one line, written whole before it counts; a file has one writer at a time; a torn last line
(the process died, the disk filled) is set aside, never half a row; rows that newer ones replace are moved, not deleted.
Another program may all the same cut the file, write into it or replace it while it is open: the journal looks before
each row whether the file still ends as it left it, sets aside what is no row, and counts the rows that are gone.
"""

import contextlib
import errno
import logging
import os
import pathlib
import time
from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Self

from harness.old.errors import DataError, StorageError
from harness.old.jsonl.copies import need_near
from harness.old.jsonl.disk import (
    append_bytes,
    make_folder,
    need_plain,
    need_regular,
    real_path,
    replace_bytes,
    storage_error,
    sync_folder,
    write_whole,
)
from harness.old.jsonl.lines import Row, encode, read_rows, value_of
from harness.old.jsonl.locks import lock

log = logging.getLogger("turnbench")
_SYNC_SECONDS = 1.0
_TORN = "torn"
"""The folder in the state folder for lines that are not rows."""
_MARK = 64
"""Bytes at the file's end by which it is recognised; they or its size change when another program writes."""


class _End(NamedTuple):
    """What a file is recognised by."""

    size: int
    mark: bytes
    """Its last bytes."""
    changed: int
    """When it was last written to, in nanoseconds."""


class Journal:
    """An append-only JSON Lines file with one writer, used as a context manager.

    `path` is the file, `state` the folder for its lock and for lines that are set aside.
    """

    _made_good = "run the same command again, which makes {} anew"
    """What is to be done about rows that are gone."""

    def __init__(self, path: pathlib.Path, state: pathlib.Path) -> None:
        self.path = path
        self.state = state
        self._file: int | None = None
        self._end: _End | None = None
        """How this journal last left the file."""
        self.lost = 0
        """Rows that other programs have taken out of the file since it was opened."""
        self._holds = 0
        """How many rows the file must hold."""
        self._touched = False
        """Whether another program may have written into it before its end."""
        self._lock: Any = None
        self._synced = 0.0
        self._unsynced = False

    def __enter__(self) -> Self:
        """Take the lock, set a torn tail aside, and check that the file can be written (it is created with the first
        row).

        Raises:
            StorageError: another process writes the file, or it cannot be written, or is split or compressed.
        """
        need_near(self.path)
        need_plain(self.path)
        self._lock = lock(self.path, self.state)
        try:
            make_folder(self.path.parent)
            need_regular(self.path)
            if self.path.exists():
                with self._storing():
                    self._open()
                self._holds = self._count()
            elif not os.access(real_path(self.path).parent, os.W_OK | os.X_OK):
                refused = PermissionError(errno.EACCES, os.strerror(errno.EACCES))
                raise storage_error(self.path, refused, kept=False)
        except BaseException:
            self._lock.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Bring everything to disk and free the lock."""
        try:
            self.sync()
            self._mend_changed(leaving=True)
        finally:
            self._close()
            self._lock.close()

    def append(self, row: dict[str, Any]) -> None:
        """Write one row as one whole line; on return it is in the file.

        Raises:
            StorageError: the disk is full, the folder gone or read-only; no part of the row stays in the file.
        """
        data = (encode(row) + "\n").encode("utf-8", "replace")
        try:  # as `_storing` does, without what a block costs: this is done for every row
            file = self._opened()
            write_whole(file, data)
            self._end = _end_of(file)
            self._holds += 1
        except OSError as error:
            raise self._refused(error) from error
        self._unsynced = True
        if time.monotonic() - self._synced > _SYNC_SECONDS:
            self.sync()

    def sync(self) -> None:
        """Bring what was written to the disk itself (fsync).

        Raises:
            StorageError: the disk does not take it.
        """
        if self._file is not None and self._unsynced:
            with self._storing():
                os.fsync(self._file)
            self._unsynced = False
        self._synced = time.monotonic()

    def retire(self, superseded: Callable[[Row], bool]) -> int:
        """Move the rows for which `superseded` is true to the state folder; return how many."""
        if not self.path.exists():
            return 0
        self._mend_changed()
        gone = {row.line for row in read_rows(self.path) if superseded(row)}
        if not gone:
            return 0
        self.sync()
        self._close()
        moved = self._move("superseded", lambda number, line: number in gone)
        self._holds -= moved
        return moved

    def _move(self, folder: str, wanted: Callable[[int, bytes], bool]) -> int:
        """Move lines to a folder of the state folder; return how many.

        Every line keeps its bytes. The lines are on disk in their new place before the file is replaced, so a kill in
        between loses none.
        """
        keep: list[bytes] = []
        moved: list[bytes] = []
        with self._storing():
            with self.path.open("rb") as file:
                for number, line in enumerate(file, 1):
                    (moved if wanted(number, line) else keep).append(line.removesuffix(b"\n") + b"\n")
            if moved:
                append_bytes(self.state / folder / self.path.name, b"".join(moved))
                replace_bytes(self.path, b"".join(keep), self.state / "fresh" / self.path.name)
        return len(moved)

    def retire_older(
        self, key: Callable[[dict[str, Any]], Any], good: Callable[[dict[str, Any]], bool] = lambda row: True
    ) -> int:
        """Move the rows that a later row with the same key replaces; return how many.

        A row that is not `good` replaces none that is.
        """
        if not self.path.exists():
            return 0
        self._mend_changed()
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
        with self._storing():
            self.path.unlink(missing_ok=True)
        self._holds = 0

    @contextlib.contextmanager
    def _storing(self) -> Iterator[None]:
        """Raise `StorageError` for what the disk refuses in the block."""
        try:
            yield
        except OSError as error:
            raise self._refused(error) from error

    def _refused(self, error: OSError) -> StorageError:
        """Close the file, and return what the disk refuses in the user's words."""
        self._close()
        return storage_error(self.path, error, kept=True)

    def _opened(self) -> int:
        """Return the open file; one that was replaced in the meantime is opened again."""
        if self._file is not None:
            self.path.stat()  # one that has vanished is not made again: what else is lost with it nobody knows
        self._mend_changed()
        return self._open() if self._file is None else self._file

    def _open(self) -> int:
        new = not self.path.exists()  # its folder was made on entering, and is not made again either
        if not new:
            self._mend_tail()
        self._file = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
        self._end = _end_of(self._file)
        if new:
            sync_folder(self.path.parent)
        return self._file

    def _close(self) -> None:
        if self._file is not None:
            with contextlib.suppress(OSError):
                os.close(self._file)
        self._file, self._unsynced, self._end = None, False, None

    def _mend_changed(self, *, leaving: bool = False) -> None:
        """Set aside what another program has left in the file since this journal last wrote to it.

        Lines of JSON that it has added are rows as any other. Rows that it has cut off are gone, and are counted. With
        `leaving` it is also looked for what was changed before the file's end.
        """
        if self._file is None or self._end is None:
            return
        (size, mark, changed), now = self._end, _end_of(self._file)
        same_end = now[:2] == (size, mark) and self._is_there()
        self._touched |= now.changed != changed
        # Not for each row: where a server keeps the time, it may be another one without anybody's doing.
        if same_end and not (leaving and self._touched):
            return
        self._close()
        broken = self._move(_TORN, lambda number, line: not _is_row(self.path, line)) if self.path.exists() else 0
        there = self._count()
        gone, self._holds = max(0, self._holds - there), there
        self.lost += gone
        if same_end and not broken and not gone:
            return
        parts = [f"{self.path}: another program has changed this file during the run"]
        parts += [f"broken lines of it were set aside in {self._aside}"] if broken else []
        if gone:
            what, them = ("1 row of it is gone", "it") if gone == 1 else (f"{gone} rows of it are gone", "them")
            parts += [what, self._made_good.format(them)]
        log.warning("; ".join(parts))

    def _count(self) -> int:
        """Return how many rows the file holds."""
        if not self.path.exists():
            return 0
        with self._storing(), self.path.open("rb") as file:
            return sum(not line.isspace() for line in file)

    def _is_there(self) -> bool:
        """Return whether the file that is open is the one of this name."""
        assert self._file is not None
        try:
            return os.path.samestat(os.fstat(self._file), self.path.stat())
        except FileNotFoundError:
            return False

    @property
    def _aside(self) -> pathlib.Path:
        return self.state / _TORN / self.path.name

    def _mend_tail(self) -> None:
        """Complete a last line without a newline; set aside one that is not JSON."""
        with self._storing(), self.path.open("r+b") as file:
            start = _last_line_start(file)
            file.seek(start)
            tail = file.read()
            if not tail.strip():
                return
            try:
                value_of(self.path, 0, tail)
            except DataError:
                append_bytes(self._aside, tail.rstrip(b"\r\n") + b"\n")
                file.truncate(start)
                log.warning("%s: a torn last line was set aside in %s", self.path, self._aside)
            else:
                if not tail.endswith(b"\n"):
                    file.write(b"\n")


class StateJournal(Journal):
    """A journal of our own state: read when it is opened; deleted when it is closed and nothing in it is needed."""

    _made_good = "the calls that {} would have saved are made again"

    @abstractmethod
    def read(self) -> None:
        """Take over what earlier runs left in the file."""

    @property
    @abstractmethod
    def needed(self) -> bool:
        """Whether anything in the file has not served yet."""

    def __enter__(self) -> Self:
        """Open the file and read it."""
        super().__enter__()
        try:
            self.read()
        except BaseException:
            super().__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        """Bring everything to disk, or remove the file if the run has ended and nothing in it is needed."""
        try:
            if not any(error) and not self.needed:
                self.clear()
        finally:
            super().__exit__()


def _end_of(file: int) -> _End:
    """Return what an open file is recognised by."""
    stat = os.fstat(file)
    os.lseek(file, max(0, stat.st_size - _MARK), os.SEEK_SET)
    return _End(stat.st_size, os.read(file, _MARK), stat.st_mtime_ns)


def _is_row(path: pathlib.Path, line: bytes) -> bool:
    """Return whether a line is a row, or blank."""
    try:
        return not line.strip() or isinstance(value_of(path, 0, line), dict)
    except DataError:
        return False


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
