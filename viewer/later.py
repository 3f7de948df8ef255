"""What takes long is done beside the page: the page says so in place, and looks again by itself."""

import math
import multiprocessing
import os
import pathlib
import signal
import threading
import time
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from functools import partial
from multiprocessing.connection import Connection
from typing import Any, Literal, TypeAlias, TypeVar

from harness.errors import StorageError
from harness.jsonl import size_of
from viewer.limited import PROCESSES, Limited, TooLong, end_with_parent

Made = TypeVar("Made")
PATIENCE = 0.25
"""Seconds that a page waits for what is being made before it is shown without."""
_KEPT = 40
Lane: TypeAlias = Literal["first", "whole", "pattern"]
"""What waits for each other: what views show first, what takes tens of seconds, and what may take any time."""
_WORKERS: Mapping[Lane, int] = {"first": 4, "whole": 3, "pattern": 1}
_LONG = 3.0
"""Seconds after which a page says how long it has been waiting, and asks less often."""
_SOON, _LATER = 250, 700
_ENDED = "this is not being made any more; look again"

_NICE = 15
"""What no view shows first makes way for what is asked for, by so much, where the system knows that."""
_KEPT_READS = 2
"""Files of which the process that is kept remembers what it has read."""
_LARGE = 20_000_000
"""Bytes of files from which on counting is left to a process of its own."""


def patience(of: Iterable[pathlib.Path]) -> float:
    """Return how many seconds a page waits for what is made of files: none if it takes a process of its own."""
    return PATIENCE if sum(map(size_of, of)) < _LARGE else 0.0


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
    if patience(of):
        return make(*args) if told is None else make(*args, told=told)
    ended = StorageError("the process that worked it out was ended; it may need more memory than there is")
    if first and _reader.idle:
        try:
            of_reader: Made = _reader.call(partial(make, *args), math.inf).made
            return of_reader
        except TooLong:
            raise ended from None
    ours, theirs = PROCESSES.Pipe(duplex=False)
    process = PROCESSES.Process(target=_send, args=(theirs, make, args, told is not None, first), daemon=True)
    process.start()
    theirs.close()
    try:
        while isinstance(sent := ours.recv(), float):
            if told is not None:
                told(sent)
        if isinstance(sent[1], BaseException):
            raise sent[1]
        made: Made = sent[0]
        return made
    except EOFError:
        raise ended from None
    finally:
        process.kill()
        process.join()
        ours.close()


def _read(make: Callable[[], Any]) -> Any:
    """Return what a function returns, in the process that is kept."""
    from harness.jsonl.kept import keep_reads

    keep_reads(_KEPT_READS)
    return make()


_reader: "Limited[Callable[[], Any], Any]" = Limited(_read)


def _send(
    pipe: "Connection[Any, Any]", make: Callable[..., Any], args: Sequence[Any], tells: bool, first: bool
) -> None:
    """Send the share that is done, at every percent, and then what was made, or what was raised."""
    if not first and hasattr(os, "nice"):
        os.nice(_NICE)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C goes to all processes, and ends this one without a word
    end_with_parent()
    last = 0.0

    def told(share: float) -> None:
        nonlocal last
        if share - last >= 0.01:
            last = share
            pipe.send(share)

    try:
        pipe.send((make(*args, told=told) if tells else make(*args), None))
    except Exception as error:  # it is raised where the call was made
        pipe.send((None, error))


class NotYet(Exception):  # noqa: N818  (it is no fault)
    """What was asked for is being made; `str()` of it is a sentence that says what."""

    def __init__(self, what: str, spent: float = 0.0) -> None:
        """`spent`: the seconds that it has taken so far."""
        super().__init__(what)
        self.before: Any = None
        """The same as it was before, where somebody knows that."""
        self.again = _SOON if spent < _LONG else _LATER
        """Milliseconds after which to ask again."""


class Later:
    """Makes things beside the pages that show them, a few at a time, and keeps the latest."""

    def __init__(self) -> None:
        self._pools = {lane: ThreadPoolExecutor(n, thread_name_prefix=f"viewer-{lane}") for lane, n in _WORKERS.items()}
        self._made: dict[Hashable, tuple[Future[Any], float]] = {}
        self._shares: dict[Hashable, float] = {}
        """How much of what is being made is done, where that is told."""
        self._lock = threading.Lock()
        self._closed = False

    @property
    def busy(self) -> bool:
        """Whether anything is being made."""
        return any(not future.done() for future, _ in list(self._made.values()))

    def get(
        self,
        key: Hashable,
        what: str,
        make: Callable[..., Made],
        *,
        patience: float = PATIENCE,
        tells: bool = False,
        lane: Lane = "first",
    ) -> Made:
        """Return what `make` returns, made once for the key; what it raises is raised to everyone who asks.

        With `tells` it is called with a function that takes the share of its work that is done. Nothing waits for what
        is in another lane.

        Raises:
            NotYet: it is not ready within `patience` seconds; ask again.
            StorageError: it will not be made any more.
        """
        with self._lock:
            known = self._made.pop(key, None)
            if known is None:
                if self._closed:
                    raise StorageError(_ENDED)
                told = [partial(self._shares.__setitem__, key)] if tells else []
                known = self._pools[lane].submit(make, *told), time.monotonic()
            self._made[key] = known
            for old in list(self._made)[:-_KEPT]:
                self._made.pop(old)[0].cancel()
                self._shares.pop(old, None)
        future, begun = known
        if not future.done():
            wait([future], timeout=patience)
        if not future.done():
            spent = time.monotonic() - begun
            if key in self._shares:
                raise NotYet(f"{what}, {self._shares[key]:.0%} done", spent)
            raise NotYet(what if spent < _LONG else f"{what}, for {spent:.0f} seconds so far", spent)
        try:
            made: Made = future.result()
        except CancelledError:
            raise StorageError(_ENDED) from None
        return made

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
