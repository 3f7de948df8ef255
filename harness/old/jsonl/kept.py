"""A cache of what was read from files, valid as long as they are unchanged: for a process that shows them in several
ways.

Only a process that turns it on (`keep_reads`) caches anything; one that reads each file once has no use for it.
"""

import os
import pathlib
from collections.abc import Callable, Hashable, Sequence
from typing import Generic, TypeVar

Made = TypeVar("Made")
_most = 0


def keep_reads(most: int) -> None:
    """From now on keep in this process what is read of the last files, `most` of each kind."""
    global _most
    _most = most


class Kept(Generic[Made]):
    """What was read from files of one kind; it must not be changed."""

    def __init__(self) -> None:
        self._made: dict[Hashable, tuple[object, Made]] = {}

    def read(self, key: Hashable, files: Sequence[pathlib.Path], read: Callable[[], tuple[Made, bool]]) -> Made:
        """Return what `read` returns first, or returned for this key when the files were as they are now.

        Second it returns whether that may be kept: not if it has something to say each time.
        """
        try:
            marks = [(told.st_mtime_ns, told.st_size, told.st_ino) for told in map(os.stat, files)] if _most else []
        except OSError:  # who reads it says so
            marks = []
        if not marks:
            return read()[0]
        if key in self._made and self._made[key][0] == marks:
            return self._made[key][1]
        made, sound = read()
        if sound:
            self._made.pop(key, None)
            self._made[key] = marks, made
            for old in list(self._made)[:-_most]:
                del self._made[old]
        return made
