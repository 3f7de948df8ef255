"""Ctrl-C in a run: the first one lets the calls in flight finish, the second one stops at once.

A run in the main thread gets it from its event loop. One that works in a thread of its own, since its caller (a
notebook) already has an event loop, gets it from the thread that waits for it.
"""

import asyncio
import contextlib
import functools
import signal
import threading
from collections.abc import Callable, Iterator


def in_loop(loop: asyncio.AbstractEventLoop, interrupted: Callable[[], None]) -> Callable[[], object]:
    """Let every Ctrl-C call `interrupted` in the loop; return what undoes it."""
    if threading.current_thread() is not threading.main_thread():
        return lambda: None
    try:
        loop.add_signal_handler(signal.SIGINT, interrupted)
    except NotImplementedError:  # Windows: KeyboardInterrupt ends the loop as usual
        return lambda: None
    return functools.partial(loop.remove_signal_handler, signal.SIGINT)


@contextlib.contextmanager
def handed_on(interrupted: Callable[[], None]) -> Iterator[None]:
    """Hand every Ctrl-C of the block on to a run in another thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, lambda *_: interrupted())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before or signal.default_int_handler)
