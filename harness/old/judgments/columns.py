"""Rows of judgments as numbers: in memory as long as they are few, then in a temporary file.

Every row is 24 bytes. A file of rows is memory-mapped: reading it block by block
(`blocks`) keeps one block in memory.
"""

import contextlib
import mmap
from collections.abc import Iterator
from typing import IO, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from harness.old.errors import StorageError

ROW = np.dtype([("case", np.int32), ("asked", np.int32), ("said", np.float64), ("judged", np.uint64)])
Rows: TypeAlias = npt.NDArray[Any]
"""An array of `ROW`."""
BLOCK = 1 << 17
"""Rows that are looked at together, and that may be in memory (3 MB)."""


class Store:
    """Rows that come one lot after another."""

    def __init__(self, stores: int = 1) -> None:
        """Of so many stores together, a block of rows is in memory."""
        self._room = BLOCK // stores
        self._lots: list[Rows] = []
        self._count = 0
        self._file: IO[bytes] | None = None

    def add(self, rows: Rows) -> None:
        """Append rows.

        Raises:
            StorageError: the disk is full.
        """
        self._lots.append(rows)
        self._count += len(rows)
        if self._count > self._room:
            self._write()

    def whole(self) -> Rows:
        """Return all rows; they are the caller's from now on."""
        if self._file is None:
            return np.concatenate(self._lots) if self._lots else np.empty(0, ROW)
        self._write()
        return np.memmap(self._file, ROW, "r+")

    def __del__(self) -> None:
        """Let the file go; what is mapped of it stays."""
        if self._file is not None:
            self._file.close()

    def _write(self) -> None:
        import tempfile

        try:
            self._file = self._file or tempfile.TemporaryFile(prefix="turnbench-", buffering=0)  # noqa: SIM115
            for rows in self._lots:
                rows.tofile(self._file)
        except OSError as error:
            where = tempfile.gettempdir()
            raise StorageError(
                f"not enough space for these rows in {where} ({error}); name another folder in TMPDIR"
            ) from error
        self._lots, self._count = [], 0


def blocks(rows: Rows) -> Iterator[slice]:
    """Yield the bounds of each block of rows; a block of a file leaves memory when the next one is requested."""
    for at in range(0, len(rows), BLOCK):
        yield slice(at, min(at + BLOCK, len(rows)))
        if isinstance(rows.base, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
            with contextlib.suppress(OSError):
                rows.base.madvise(mmap.MADV_DONTNEED)
