"""Calls a function in a separate process, which is ended when a call takes too long.

A regular expression that backtracks holds the interpreter's lock: no other thread of its process runs, Ctrl-C does not
work, and no thread can stop it. A process can be stopped. It is kept between calls, since starting one takes longer
than most calls, and replaced when it was ended.
"""

import contextlib
import math
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, Generic, NamedTuple, TypeVar

Made = TypeVar("Made")
_START = 60.0
"""Seconds that a process may take to start on a busy machine."""
_SLOWER = 6.0
"""How many times its seconds of processor time a call may take by the clock, since other programs run as well."""


class TooLong(Exception):  # noqa: N818  (the caller does without)
    """The call took longer than it may, or ended its process."""


class Timed(NamedTuple, Generic[Made]):
    """What a call returned."""

    made: Made
    seconds: float
    """Processor time that it took."""


class Limited(Generic[Made]):
    """Calls a function of a module in a separate process; safe to use from several threads, which take turns."""

    def __init__(self, function: Callable[..., Made]) -> None:
        """`function` must be importable, and what it takes and returns picklable."""
        self._function = function
        self._lock = threading.Lock()
        self._process: Any = None
        self._pipe: Connection[Any, Any] | None = None

    @property
    def idle(self) -> bool:
        """Whether no call is going on."""
        return not self._lock.locked()

    def call(self, given: Any, seconds: float = math.inf, told: Callable[[float], None] | None = None) -> Timed[Made]:
        """Return what the function returns.

        Args:
            given: what it is called with.
            seconds: of processor time that the call may take, infinite for any. The system ends the process after them,
                or, where it has no such timer (Windows), this process does.
            told: is called, at every percent, with the share of its work that the function says is done: the keyword
                `told` that it then takes.

        Raises:
            TooLong: it took longer, or the process was ended.
        """
        with self._lock:
            try:
                pipe = self._started()
                pipe.send((given, seconds, told is not None))
                slower = _SLOWER if hasattr(signal, "setitimer") else 1.0
                while pipe.poll(None if seconds == math.inf else seconds * slower):
                    sent = pipe.recv()
                    if told is not None and isinstance(sent, float):
                        told(sent)
                        continue
                    made, error, took = sent
                    if error is not None:
                        raise error
                    return Timed(made, took)
            except (EOFError, OSError):
                pass
            self.end()
        raise TooLong

    def _started(self) -> "Connection[Any, Any]":
        """Return the pipe to the process, which is started if there is none."""
        if self._pipe is None or not self._process.is_alive():
            self.end()
            own, other = PROCESSES.Pipe()
            self._process = PROCESSES.Process(target=_serve, args=(other, self._function), daemon=True)
            self._process.start()
            other.close()
            self._pipe = own
            if own.poll(_START):
                own.recv()
        return self._pipe

    def end(self) -> None:
        """End the process; the next call starts another."""
        if self._pipe is not None:
            self._pipe.close()
            self._process.kill()
            self._process.join()
            self._process.close()
        self._pipe = self._process = None


def _serve(pipe: "Connection[Any, Any]", function: Callable[..., Any]) -> None:
    """Answer calls until the other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to all processes; the viewer ends this one
    _end_with_parent()
    with contextlib.suppress(EOFError, OSError):
        pipe.send("ready")
        while True:
            given, seconds, tells = pipe.recv()
            _set_timer(seconds)
            begun = time.process_time()
            made, fault = None, None
            try:
                made = function(given, told=_telling(pipe)) if tells else function(given)
            except Exception as error:  # it is raised where the call was made
                fault = error
            _set_timer(0.0)
            pipe.send((made, fault, time.process_time() - begun))


def _telling(pipe: "Connection[Any, Any]") -> Callable[[float], None]:
    """Return what sends the share of the work that is done, at every percent."""
    last = 0.0

    def told(share: float) -> None:
        nonlocal last
        if share - last >= 0.01:
            last = share
            pipe.send(share)

    return told


def _end_with_parent() -> None:
    """From now on end this process as soon as the one that started it has ended, in whatever way."""
    parent = multiprocessing.parent_process()

    def end() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=end, daemon=True).start()


def _set_timer(seconds: float) -> None:
    """Have the system end this process after so many seconds of processor time; 0 takes that back."""
    if sys.platform != "win32" and seconds != math.inf:
        signal.setitimer(signal.ITIMER_PROF, seconds)


def _context() -> Any:
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["viewer.old.styling", "viewer.old.tabs.judge", "harness.old.results.show", "harness.old.status"])
    return context


PROCESSES = _context()
"""How processes are started: as copies of one that has read the modules already, where that is possible."""


def get_ready() -> None:
    """Start the process of which others are copies; it reads the modules beside this one, for a second or two."""
    if PROCESSES.get_start_method() == "forkserver":
        from multiprocessing import forkserver

        forkserver.ensure_running()
