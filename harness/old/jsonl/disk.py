"""Bytes that are on the disk wholly or not at all; what a disk refuses is a `StorageError` in the user's words."""

import contextlib
import errno
import os
import pathlib
import re
import stat
from collections.abc import Iterator

from harness.old.errors import StorageError
from harness.old.jsonl.files import files_of, is_packed, logical_file
from harness.old.names import listed

_FULL = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}


def write_whole(file: int, data: bytes) -> None:
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
    """Append whole lines to a file, created with its folder if missing, and flush them to disk."""
    make_folder(path.parent)
    with path.open("a+b", buffering=0) as file:
        if file.seek(0, os.SEEK_END):
            file.seek(-1, os.SEEK_END)
            data = data if file.read(1) == b"\n" else b"\n" + data
        write_whole(file.fileno(), data)
        os.fsync(file.fileno())
    sync_folder(path.parent)


def replace_bytes(path: pathlib.Path, data: bytes, fresh: pathlib.Path) -> None:
    """Replace a file's content in one step: a reader sees the old bytes or the new ones, never a part.

    `fresh` is where the new bytes are written first, out of the way of the folder's readers.
    """
    import shutil  # a writer's, and slow to import

    path = real_path(path)
    make_folder(fresh.parent)
    if os.stat(fresh.parent).st_dev != os.stat(path.parent).st_dev:
        fresh = path.with_name(f".{path.name}.new")
    with replacing(path, fresh):
        with fresh.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        shutil.copymode(path, fresh)
    sync_folder(path.parent)


@contextlib.contextmanager
def replacing(path: pathlib.Path, fresh: pathlib.Path | None = None) -> Iterator[pathlib.Path]:
    """Yield where to write a file that takes the place of `path` as the block ends, and goes if the block fails."""
    fresh = fresh or path.with_name(f".{path.name}.{os.getpid()}")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        yield fresh
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)


def real_path(path: pathlib.Path) -> pathlib.Path:
    """Return the path without links; one that leads to itself stays, where `Path.resolve` has an error of its own."""
    return pathlib.Path(os.path.realpath(path))


def need_regular(path: pathlib.Path) -> None:
    """Raise `StorageError` unless a path is free or a plain file: rows given to a device or a pipe would be lost.

    A link counts as what it leads to.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return
    except OSError as error:
        raise storage_error(path, error, kept=False) from error
    if stat.S_ISDIR(mode):
        raise storage_error(path, IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR)), kept=False)
    if not stat.S_ISREG(mode):
        raise StorageError(f"{path}: is a device or a pipe, not a file; results are kept in files, name another one")


def need_plain(path: pathlib.Path) -> None:
    """Raise `StorageError` if rows of a file are in parts, or compressed: such files are read, and not written."""
    others = [file.name for file in files_of(path) if file != path or is_packed(file)]
    if others:
        raise StorageError(
            f"{path}: rows of it are in {listed(others)}, which is read and not written; to continue, unpack and join "
            f"them all into {logical_file(path).name} (zstd -dc, gzip -dc, cat), and move them away"
        )


def need_own(path: pathlib.Path, mark: re.Pattern[bytes], what: str) -> None:
    """Raise `StorageError` unless a path is new or, by its beginning, an earlier output of the same kind.

    An output never replaces a file that this program did not write. `mark` matches the beginning of our files:
    further on it may be quoted. `what` names the output in an error.
    """
    need_regular(path)
    if not path.parent.is_dir():
        raise StorageError(f"{path}: {what} cannot be written: there is no folder {path.parent}; create it first")
    try:
        with path.open("rb") as file:
            start = file.read(4096)
    except FileNotFoundError:
        return
    except OSError as error:
        raise storage_error(path, error, kept=False) from error
    if start.strip() and not mark.match(start):
        raise StorageError(f"{path}: is not {what} that turnbench wrote, and is not overwritten; name another file")


def sync_folder(path: pathlib.Path) -> None:
    """Bring a folder's list of names to the disk, where the system can."""
    with contextlib.suppress(OSError):
        folder = os.open(path, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def make_folder(path: pathlib.Path) -> None:
    """Make the folder and its parents where missing."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise storage_error(path, error, kept=False) from error


def storage_error(path: pathlib.Path, error: OSError, *, kept: bool) -> StorageError:
    """Return the error in the user's words."""
    reason = error.strerror or str(error)
    advice = "make it writable, or choose another folder with --data-dir"
    if isinstance(error, FileExistsError | NotADirectoryError):
        reason, advice = "a file is where a folder is needed", "move it away"
    elif isinstance(error, FileNotFoundError):
        reason, advice = "the file or its folder has vanished", "find out where it went and run the same command again"
        kept = False
    elif isinstance(error, IsADirectoryError):
        advice = "name a file"
    elif error.errno in _FULL:
        advice = "free some space"
    elif error.errno == errno.ELOOP:
        advice = "it is a link that leads to itself, move it away"
    again = "; what was done before is kept, run the same command again to continue" if kept else ""
    return StorageError(f"{path}: cannot be written: {reason}; {advice}{again}")
