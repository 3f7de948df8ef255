"""What takes long is done beside the page: the page says so in place, and looks again by itself."""

import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

Made = TypeVar("Made")
_AT_ONCE = 0.25
"""Seconds that a page waits for what is being made before it is shown without."""
_KEPT = 40


class NotYet(Exception):  # noqa: N818  (it is no fault)
    """What was asked for is being made; `str()` of it is a sentence that says what."""


class Later:
    """Makes things beside the pages that show them, a few at a time, and keeps the latest."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(max_workers=4, thread_name_prefix="viewer")
        self._made: dict[Hashable, Future[Any]] = {}
        self._lock = threading.Lock()

    def get(self, key: Hashable, what: str, make: Callable[[], Made], *, patience: float = _AT_ONCE) -> Made:
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
