"""One writer for each output file: the lock that it holds, and the note that says who it is."""

import contextlib
import os
import pathlib
import re
import sys
import time
from typing import Any

from harness.errors import StorageError
from harness.jsonl.disk import make_folder, storage_error

_PROCESS = re.compile(r"process (\d+)")
_PATIENCE = 0.2
"""Seconds to wait for a lock: `holder_of` of another process touches it for an instant."""


def lock(path: pathlib.Path, state: pathlib.Path) -> Any:
    """Return a held lock (with `release()`) on one output file, kept in `state`; freed when the process ends, however.

    The lock of a file outside the benchmark is kept beside that file, so that two benchmarks cannot both write it.

    Raises:
        StorageError: another process holds it; the message says which.
    """
    import filelock

    lock_file = _lock_file(path, state)
    make_folder(lock_file.parent)
    # Not per thread: a journal may be closed by another thread than the one that opened it.
    held = filelock.FileLock(lock_file, thread_local=False)
    holder = lock_file.with_suffix(".holder")  # FILE.lock -> FILE.holder
    try:
        held.acquire(timeout=_PATIENCE, poll_interval=_PATIENCE / 10)
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
        raise storage_error(lock_file, error, kept=False) from error
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
    """Return which process writes an output file, None if none does.

    The note of a process that was killed stays behind, and its number may be another process's by now: who has the
    lock is asked of the system, by trying to share it.
    """
    lock_file = _lock_file(path, state)
    try:
        who = lock_file.with_suffix(".holder").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    held = _is_held(lock_file)
    return who if who and (_lives(who) if held is None else held) else None


def _lock_file(path: pathlib.Path, state: pathlib.Path) -> pathlib.Path:
    """Return the lock of an output file: in the state folder, or beside a file that is not the benchmark's own."""
    home = next((folder for folder in (state, *state.parents) if folder.name == ".turnbench"), None)
    real = path.resolve()
    if home is not None and not real.is_relative_to(home.parent.resolve()):
        return real.parent / ".turnbench" / "locks" / f"{real.name}.lock"
    return state / "locks" / f"{path.name}.lock"


def _is_held(lock_file: pathlib.Path) -> bool | None:
    """Return whether somebody has the lock; None where the system cannot say."""
    try:
        import fcntl

        file = os.open(lock_file, os.O_RDONLY)
    except FileNotFoundError:
        return False
    except (ImportError, OSError):
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return None
    finally:
        os.close(file)
    return False


def _lives(who: str) -> bool:
    """Return whether the process that a note names may be alive, as far as its number says so on this host."""
    number = _PROCESS.match(who)
    here = f") on {_host()} since" in who or ") on " not in who
    try:
        if number and here and os.name == "posix":  # elsewhere signal 0 would end the process
            os.kill(int(number[1]), 0)
    except PermissionError:  # somebody else's process, alive
        return True
    except (OSError, OverflowError):
        return False
    return True


def _host() -> str:
    """Return the name of this computer."""
    import platform

    return platform.node() or "this host"
