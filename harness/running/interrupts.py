"""Ctrl-C in a run, and SIGTERM and SIGHUP like it: the first one lets the calls in flight finish, the second one stops
at once.

A run in the main thread gets them from its event loop. One that works in a thread of its own, since its caller (a
notebook) already has an event loop, gets them from the thread that waits for it. A signal that the program around us
deals with itself, or ignores as under nohup, stays with it.
"""

import asyncio
import contextlib
import signal
import threading
from collections.abc import Callable, Iterator

OTHERS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
"""The signals that end a process and say, like Ctrl-C, that somebody wants it to."""


def in_loop(loop: asyncio.AbstractEventLoop, interrupted: Callable[[], None]) -> Callable[[], object]:
    """Let every Ctrl-C call `interrupted` in the loop; return what undoes it."""
    before = {number: signal.getsignal(number) for number in _ours()}
    taken = []
    for number in before if threading.current_thread() is threading.main_thread() else ():
        with contextlib.suppress(NotImplementedError):  # Windows: KeyboardInterrupt ends the loop as usual
            loop.add_signal_handler(number, interrupted)
            taken.append(number)

    def undo() -> None:
        for number in taken:
            loop.remove_signal_handler(number)
            if number != signal.SIGINT:
                signal.signal(number, before[number])

    return undo


@contextlib.contextmanager
def handed_on(interrupted: Callable[[], None]) -> Iterator[None]:
    """Hand every Ctrl-C of the block on to a run in another thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, lambda *_: interrupted()) for number in _ours()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler or signal.default_int_handler)


def _ours() -> tuple[signal.Signals, ...]:
    """Return the signals that a run may take."""
    usual = (signal.SIG_DFL, signal.default_int_handler)
    return (signal.SIGINT, *(number for number in OTHERS if signal.getsignal(number) in usual))
