"""Background work: a page shows what it waits for, and refreshes by itself."""

import multiprocessing
import os
import pathlib
import threading
import time
from collections.abc import Callable, Hashable, Iterable, Mapping
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from harness.old.errors import StorageError
from harness.old.jsonl import size_of
from viewer.old.limited import Limited, TooLong
from viewer.old.places import stamp

Made = TypeVar("Made")
PATIENCE = 0.25
"""Seconds that a page waits for what is being made before it is shown without."""
_KEPT = 40
Lane: TypeAlias = Literal["first", "whole", "pattern"]
"""What waits for each other: what views show first, what takes tens of seconds, and what may take any time."""
_WORKERS: Mapping[Lane, int] = {"first": 4, "whole": 3, "pattern": 1}
_LONG = 3.0
"""Seconds after which a page shows how long it has been waiting, and refreshes less often."""
_SOON, _LATER = 250, 700
PAUSES = 9
"""The pause between two computations of one result, as a multiple of the time that it takes: a tenth of a core."""
_ENDED = "this is no longer being computed; reload the page"

_NICE = 15
"""The niceness of work that no view shows first, on systems that have it."""
_KEPT_READS = 2
"""Files of which the process that is kept remembers what it has read."""
_LARGE = 20_000_000
"""Bytes of files from which on counting is left to a process of its own."""


def patience_of(files: Iterable[pathlib.Path]) -> float:
    """Return how many seconds a page waits for what is made of files: none if it takes a process of its own."""
    return PATIENCE if sum(map(size_of, files)) < _LARGE else 0.0


def apart(
    make: Callable[..., Made],
    *args: Any,
    of: Iterable[pathlib.Path],
    told: Callable[[float], None] | None = None,
    first: bool = False,
) -> Made:
    """Return what a function of a module returns, called in a process of its own if the files `of` are large.

    Reading much in this process would hold up every page, since only one thread runs Python at a time. With `told`
    the function takes a keyword `told` and calls it with the share of its work that is done. What is not `first`
    leaves the processor to whatever else wants it; what is takes the process that is kept and remembers what it has
    read, unless that is at work.

    Raises:
        StorageError: the process was ended.
    """
    if patience_of(of):
        return make(*args) if told is None else make(*args, told=told)
    process: Limited[Made]
    process = _kept if first and _kept.idle else Limited(_read if first else _aside)
    try:
        return process.call(partial(make, *args), told=told).made
    except TooLong:
        raise StorageError("the process that computed it was killed; it may have run out of memory") from None
    finally:
        if process is not _kept:
            process.end()


def _read(make: Callable[..., Made], **words: Any) -> Made:
    """Return what a function returns, in the process that is kept."""
    from harness.old.jsonl.kept import keep_reads

    keep_reads(_KEPT_READS)
    return make(**words)


def _aside(make: Callable[..., Made], **words: Any) -> Made:
    """Return what a function returns, in a process that makes way for others."""
    if hasattr(os, "nice"):
        os.nice(_NICE)
    return make(**words)


_kept: Limited[Any] = Limited(_read)


@dataclass
class Work(Generic[Made]):
    """What is being made, or was."""

    marks: tuple[Hashable, ...]
    """What its files were known by when it was begun."""
    before: "Work[Made] | None"
    """The previous result, while it is computed again."""
    begun: float = field(default_factory=time.monotonic)
    took: float = 0.0
    share: float | None = None
    """The share that is done, if reported."""
    more: Any = None
    """What has been added to it since."""
    future: "Future[Made]" = field(default_factory=Future)

    @property
    def value(self) -> Made:
        """What was made."""
        return self.future.result()

    @property
    def last(self) -> "Work[Made] | None":
        """The last one that was made: this one, if it is."""
        there = self.future.done() and not self.future.cancelled() and self.future.exception() is None
        return self if there else self.before

    @property
    def rests(self) -> bool:
        """Whether it is being made, or was made so lately that it must do."""
        made = self.last is self and time.monotonic() - self.begun < PAUSES * self.took
        return made or not self.future.done()

    def run(self, make: Callable[..., Made], *, tells: bool) -> Made:
        """Make it."""
        self.begun = time.monotonic()
        try:
            return make(partial(setattr, self, "share")) if tells else make()
        finally:
            self.took = time.monotonic() - self.begun


class NotYet(Exception):  # noqa: N818  (it is no fault)
    """The requested result is being computed; `str()` of this says what it is."""

    def __init__(self, what: str, spent: float = 0.0, before: Work[Any] | None = None) -> None:
        """`spent`: the seconds that it has taken so far; `before`: the same as it was made last."""
        super().__init__(what)
        self.before = before
        self.again = _SOON if spent < _LONG else _LATER
        """Milliseconds after which to ask again."""


class Later:
    """Computes results in the background, a few at a time, and keeps the latest."""

    def __init__(self) -> None:
        self._pools = {lane: ThreadPoolExecutor(n, thread_name_prefix=f"viewer-{lane}") for lane, n in _WORKERS.items()}
        self._works: dict[Hashable, Work[Any]] = {}
        self._lock = threading.Lock()
        self._closed = False

    @property
    def busy(self) -> bool:
        """Whether anything is being made."""
        return any(not work.future.done() for work in list(self._works.values()))

    def get(
        self,
        key: Hashable,
        what: str,
        make: Callable[..., Made],
        *,
        of: Iterable[pathlib.Path] = (),
        patience: float | None = None,
        tells: bool = False,
        rests: bool = False,
        lane: Lane = "first",
    ) -> Made:
        """Return what `make` returns, made once for the key as long as the files `of` which it is made stay the same.

        What it raises is raised to everyone who asks. With `tells` it is called with a function that takes the share of
        its work that is done. With `rests` it is recomputed one at a time and for a tenth of the time: files that grow
        would otherwise start one with every look, and keep a core busy. Nothing waits for what is in another lane.

        Raises:
            NotYet: it is not ready within `patience` seconds (default: what suits the files); ask again.
            StorageError: it will no longer be computed.
        """
        files = list(of)
        marks = tuple(map(stamp, files))
        with self._lock:
            work = self._works.pop(key, None)
            if work is None or (work.marks != marks and not (rests and work.rests)):
                if self._closed:
                    raise StorageError(_ENDED)
                work = Work(marks, work and work.last)
                if work.before is not None:
                    work.before.before = None
                work.future = self._pools[lane].submit(work.run, make, tells=tells)
            self._works[key] = work
            for old in list(self._works)[:-_KEPT]:
                self._works.pop(old).future.cancel()
        if not work.future.done():
            wait([work.future], timeout=patience_of(files) if patience is None else patience)
        if not work.future.done() or work.marks != marks:
            spent = time.monotonic() - work.begun
            told = f", for {spent:.0f} seconds so far" if spent >= _LONG else ""
            raise NotYet(what + (told if work.share is None else f", {work.share:.0%} done"), spent, work.last)
        try:
            made: Made = work.value
            return made
        except CancelledError:
            raise StorageError(_ENDED) from None

    def close(self) -> None:
        """Start nothing more, and end what is being made in processes of their own, those that only start now too."""
        with self._lock:
            self._closed = True
        for pool in self._pools.values():
            pool.shutdown(wait=False, cancel_futures=True)
        until = time.monotonic() + _LONG
        while True:
            for process in multiprocessing.active_children():
                process.kill()
            if not self.busy or time.monotonic() > until:
                return
            time.sleep(0.01)
