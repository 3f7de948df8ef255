"""What takes long is done beside the page: the page says so in place, and looks again by itself."""

import multiprocessing
import pathlib
import threading
from collections.abc import Callable, Hashable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

from harness.jsonl import size_of

Made = TypeVar("Made")
PATIENCE = 0.25
"""Seconds that a page waits for what is being made before it is shown without."""
_KEPT = 40


_LARGE = 20_000_000
"""Bytes of files from which on counting is left to a process of its own."""


def apart(make: Callable[..., Made], *args: Any, of: Iterable[pathlib.Path]) -> Made:
    """Return what a function of a module returns, called in a process of its own if the files `of` are large.

    Reading much in this process would hold up every page, since only one thread runs Python at a time.
    """
    if sum(map(size_of, of)) < _LARGE:
        return make(*args)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(make, args)


class NotYet(Exception):  # noqa: N818  (it is no fault)
    """What was asked for is being made; `str()` of it is a sentence that says what."""


class Later:
    """Makes things beside the pages that show them, a few at a time, and keeps the latest."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(max_workers=4, thread_name_prefix="viewer")
        self._made: dict[Hashable, Future[Any]] = {}
        self._lock = threading.Lock()

    def get(self, key: Hashable, what: str, make: Callable[[], Made], *, patience: float = PATIENCE) -> Made:
        """Return what `make` returns, made once for the key; what it raises is raised to everyone who asks.

        Raises:
            NotYet: it is not ready within `patience` seconds; ask again.
        """
        with self._lock:
            future = self._made.pop(key, None)
            if future is None:
                future = self._pool.submit(make)
            self._made[key] = future
            for old in list(self._made)[:-_KEPT]:
                self._made.pop(old).cancel()
        done, _ = wait([future], timeout=patience)
        if not done:
            raise NotYet(what)
        made: Made = future.result()
        return made

    def close(self) -> None:
        """Start nothing more."""
        self._pool.shutdown(wait=False, cancel_futures=True)
