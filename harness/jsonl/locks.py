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


def lock(path: pathlib.Path, state: pathlib.Path) -> Any:
    """Return a held lock (with `release()`) on one output file, kept in `state`; freed when the process ends, however.

    Raises:
        StorageError: another process holds it; the message says which.
    """
    import filelock

    lock_file = state / "locks" / f"{path.name}.lock"
    make_folder(lock_file.parent)
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
