"""Ctrl-C in a run, and SIGTERM and SIGHUP like it: the first one lets the calls in flight finish, the second one stops
at once.

Python delivers signals to the main thread only, so the handler works for both kinds of run: one in the main thread, and
one in a thread of its own, for which the main thread waits. It only wakes the run's event loop, which does the rest; a
loop's own signal handlers would do for the first kind alone, and not on Windows. A signal that the program around us
handles itself, or ignores as under nohup, stays with it.
"""

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator

OTHERS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
"""The signals that end a process and say, like Ctrl-C, that somebody wants it to."""


@contextlib.contextmanager
def handled(interrupt: Callable[[], None]) -> Iterator[None]:
    """Call `interrupt` for every Ctrl-C in the block. In a thread that gets no signals it does nothing."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, lambda *_: interrupt()) for number in _ours()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler or signal.default_int_handler)


def _ours() -> tuple[signal.Signals, ...]:
    """Return the signals that a run may take."""
    usual = (signal.SIG_DFL, signal.default_int_handler)
    return (signal.SIGINT, *(number for number in OTHERS if signal.getsignal(number) in usual))
