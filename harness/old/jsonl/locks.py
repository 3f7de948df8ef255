"""One writer for each output file: its lock, and the note that says who holds it."""

import contextlib
import os
import pathlib
import sys
import time

from harness.old.errors import StorageError
from harness.old.jsonl.disk import make_folder, real_path, storage_error

MOST_CHARACTERS = 500
"""Of a note that is read: another program may have written it."""
_PATIENCE = 0.2
"""Seconds to wait for a lock: `holder_of` of another process takes it for an instant."""


def lock(path: pathlib.Path, state: pathlib.Path) -> contextlib.ExitStack:
    """Return a held lock (with `close()`) on one output file, kept in `state`; freed when the process ends, however.

    The lock of a file outside the benchmark is kept beside that file, so that two benchmarks cannot both write it.

    Raises:
        StorageError: another process holds it; the message says which.
    """
    import filelock

    lock_file = _lock_file(path, state)
    make_folder(lock_file.parent)
    # Not per thread: a journal may be closed by another thread than the one that opened it.
    file_lock = filelock.FileLock(lock_file, thread_local=False)
    holder = lock_file.with_suffix(".holder")  # FILE.lock -> FILE.holder
    with contextlib.ExitStack() as held:
        held.callback(file_lock.release)
        who = "another process"
        try:
            file_lock.acquire(timeout=_PATIENCE, poll_interval=_PATIENCE / 10)
            who = "another process, under another name of it (a hard link)"
            _lock_itself(path, held)
            program = pathlib.Path(*sys.argv[:1]).name or "python"
            since = time.strftime("%Y-%m-%d %H:%M:%S")
            _write(holder, f"process {os.getpid()} ({program}) on {_host()} since {since}")
        except (filelock.Timeout, BlockingIOError) as error:
            if isinstance(error, filelock.Timeout):
                who = _written(holder) or who
            again = "wait for it, or stop it, and run this again"
            raise StorageError(f"{path} is being written by {who}; {again}") from None
        except NotImplementedError:
            raise StorageError(f"{lock_file}: this file system has no locks; choose another with --data-dir") from None
        except OSError as error:
            raise storage_error(lock_file, error, kept=False) from error
        held.callback(_remove, holder)
        return held.pop_all()


def _write(holder: pathlib.Path, text: str) -> None:
    """Write the note, in place of whatever stands there; without one a run does as well."""
    fresh = holder.with_suffix(f".{os.getpid()}")
    with contextlib.suppress(OSError):
        fresh.write_text(text, encoding="utf-8", errors="replace")
        os.replace(fresh, holder)
    _remove(fresh)


def _written(holder: pathlib.Path) -> str:
    """Return what the note says, on one line of bounded length; empty if there is none."""
    try:
        if not holder.is_file():  # to read a pipe is to wait for a writer
            return ""
        with holder.open(encoding="utf-8", errors="replace") as file:
            return " ".join(file.read(MOST_CHARACTERS).split())
    except OSError:
        return ""


def _remove(holder: pathlib.Path) -> None:
    with contextlib.suppress(OSError):
        holder.unlink(missing_ok=True)


def _lock_itself(path: pathlib.Path, held: contextlib.ExitStack) -> None:
    """Lock the file itself, if it exists and can be locked: a file with several names has several lock files.

    Raises:
        BlockingIOError: it is locked under another name.
    """
    try:
        import fcntl

        file = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    except (ImportError, OSError):
        return
    held.callback(os.close, file)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:  # the file system has no such locks
        pass


def holder_of(path: pathlib.Path, state: pathlib.Path) -> str | None:
    """Return which process writes an output file, None if none does.

    The note of a killed process stays behind, and its number may be another process's by now: whether the lock
    is held is found by trying to take it. It need not be writable for that, and is not written to.
    """
    lock_file = _lock_file(path, state)
    who = _written(lock_file.with_suffix(".holder"))
    return who if who and lock_file.exists() and _is_held(lock_file) else None


def _is_held(lock_file: pathlib.Path) -> bool:
    """Return whether anybody has the lock, or whether that cannot be said."""
    try:
        import fcntl
    except ImportError:
        return _cannot_be_taken(lock_file)
    try:
        file = os.open(lock_file, os.O_RDONLY | os.O_NONBLOCK)
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)  # so that several who ask are not in each other's way
        finally:
            os.close(file)
    except OSError:
        return True
    return False


def _cannot_be_taken(lock_file: pathlib.Path) -> bool:
    import filelock

    try:
        with filelock.FileLock(lock_file, timeout=0, thread_local=False):
            return False
    except (filelock.Timeout, OSError, NotImplementedError):
        return True


def has_lock(path: pathlib.Path, state: pathlib.Path) -> bool:
    """Return whether a program of ours has written an output file: then `holder_of` knows whether one does so now."""
    return _lock_file(path, state).exists()


def _lock_file(path: pathlib.Path, state: pathlib.Path) -> pathlib.Path:
    """Return the lock of an output file: in the state folder, or beside a file that is not the benchmark's own."""
    home = next((folder for folder in (state, *state.parents) if folder.name == ".turnbench"), None)
    real = real_path(path)
    if home is not None and not real.is_relative_to(real_path(home.parent)):
        return real.parent / ".turnbench" / "locks" / f"{real.name}.lock"
    return state / "locks" / f"{path.name}.lock"


def _host() -> str:
    """Return the name of this computer."""
    import platform

    return platform.node() or "this host"
