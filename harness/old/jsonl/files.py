"""Which files contain the rows of `NAME.jsonl`, and how each is opened: the only place that knows.

    x.part-1.jsonl.zst  x.part-2.jsonl.zst  x.part-10.jsonl.gz  x.jsonl        all have rows of x.jsonl, in this order

A file may be split, compressed, or both. Part numbers are compared as numbers; `x.jsonl`
itself comes last, so that of rows with equal keys its own count. Such files are read, and never written: a writer
refuses them in one line (`Journal`).

Compressed data is read as a stream. It is unpacked within `MOST_LINE` for a line and `MOST_TIMES` for a file, and never
as a whole into memory.
"""

import functools
import logging
import os
import pathlib
import re
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, NamedTuple, cast

from harness.old.errors import DataError, TurnbenchError, UsageError
from harness.old.names import listed

log = logging.getLogger("turnbench")

MOST_LINE = 256 << 20
"""Bytes of a line of compressed data, or of a device or a pipe, that is still read: there may be any number of them."""
MOST_TIMES = 1000
"""Times its own size to which a compressed file is unpacked; `_ALWAYS` bytes are, whatever its size."""
_ALWAYS = 64 << 20
_BUFFER = 1 << 16
"""Bytes read at once: judgments are longer than Python's default buffer, and each would be joined from pieces."""
_NAME = re.compile(r"(.+?)(?:\.part-([^/\\]*?))?\.jsonl(\.gz|\.zst)?", re.DOTALL)
_DIGITS = re.compile(r"(\d+)")


class _Name(NamedTuple):
    """The parts of a file's name."""

    stem: str
    part: str | None
    packed: str | None


class Line(int):
    """The number of a line in a part of a file; errors name the part."""

    path: pathlib.Path


def numbered(path: pathlib.Path, line: int) -> Line:
    """Return the number of a line of a part."""
    number = Line(line)
    number.path = path
    return number


def files_of(path: pathlib.Path) -> list[pathlib.Path]:
    """Return the files with the rows of `path`, in the order in which they count; empty if there are none.

    A path that is itself a part or compressed stands for itself.
    """
    name = _name(path.name)
    if name is None or name.part is not None or name.packed is not None:
        return [path] if path.is_file() else []
    try:
        with os.scandir(path.parent) as folder:
            there = [entry.name for entry in folder if entry.name.startswith(name.stem)]
    except OSError:
        there = [path.name]
    found = [path.with_name(one) for one in parts_among(there, path.name)]
    files = [file for file in found if file.is_file()]
    if len(files) > 1:
        # Longer numbers are dates and the like, which leave gaps.
        parts = {known.part for known in map(_name, (file.name for file in files)) if known and known.part}
        _warn_of_gaps(path, frozenset(int(part) for part in parts if re.fullmatch(r"[0-9]{1,5}", part)))
    return files


@functools.lru_cache
def _warn_of_gaps(path: pathlib.Path, numbers: frozenset[int]) -> None:
    """Warn once which parts of a file are missing, if later part numbers exist."""
    missing = [str(number) for number in range(1, max(numbers, default=0)) if number not in numbers]
    if missing:
        which = listed(missing, 5)
        log.warning(
            "%s: missing part %s, though the last is part %d; the rows of the others count", path, which, max(numbers)
        )


def parts_among(names: Iterable[str], name: str) -> list[str]:
    """Return those of some file names that contain rows of `name`, in the order in which they count."""
    wanted = _name(name)
    if wanted is None or wanted.part is not None or wanted.packed is not None:
        return [one for one in names if one == name]
    own = [(known, one) for one in names if (known := _name(one)) is not None and known.stem == wanted.stem]
    return [one for _, one in sorted(own, key=lambda pair: _order(pair[0]))]


def is_there(path: pathlib.Path) -> bool:
    """Return whether any file contains rows of `path`."""
    return path.is_file() or bool(files_of(path))


def holds_lines(path: pathlib.Path) -> bool:
    """Return whether the files of `path` hold a line that is not blank; true of what cannot be read, as readers say."""
    try:
        return any(not line.isspace() for file in files_of(path) for line in lines_in(file))
    except TurnbenchError:
        return True


def is_plain(path: pathlib.Path) -> bool:
    """Return whether all rows of `path` are in that file itself, or there is none."""
    return files_of(path) in ([], [path]) and not is_packed(path)


def is_packed(path: pathlib.Path) -> bool:
    """Return whether a file is compressed, by its name."""
    return path.suffix in {".gz", ".zst"}


def size_of(path: pathlib.Path) -> int:
    """Return the bytes that the files of `path` take on the disk."""
    return sum(file.stat().st_size for file in files_of(path))


def logical_files(folder: pathlib.Path) -> list[pathlib.Path]:
    """Return each `NAME.jsonl` with rows in a folder, by name; hidden files are other programs'."""
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if not entry.name.startswith(".") and _is_file(entry)]
    except OSError:
        return []
    stems = {name.stem for name in map(_name, names) if name is not None}
    return sorted(folder / f"{stem}.jsonl" for stem in stems)


def logical_file(path: pathlib.Path) -> pathlib.Path:
    """Return the `NAME.jsonl` whose rows a file contains."""
    name = _name(path.name)
    return path if name is None else path.with_name(f"{name.stem}.jsonl")


def open_bytes(path: pathlib.Path) -> BinaryIO:
    """Open one file for its bytes, unpacked if its name says that it is compressed.

    Errors in compressed data appear while it is read; see `broken`.

    Raises:
        OSError: it cannot be opened.
        UsageError: it needs a package that is not installed.
    """
    if path.suffix == ".gz":
        import gzip

        return cast("BinaryIO", gzip.open(path, "rb"))
    if path.suffix == ".zst":
        return cast("BinaryIO", _zstd(path).open(path, "rb"))
    return path.open("rb", buffering=_BUFFER)


def broken(path: pathlib.Path) -> tuple[type[Exception], ...]:
    """Return the errors raised while reading invalid compressed data."""
    import zlib

    more = (_zstd(path).ZstdError,) if path.suffix == ".zst" else ()
    return (OSError, EOFError, zlib.error, *more)


def unreadable(path: pathlib.Path, error: Exception) -> DataError:
    """Return the error of a file that cannot be read, or not unpacked."""
    if isinstance(error, EOFError):
        return DataError("the compressed data ends too early; write or download the file again", path=path)
    if is_packed(path) and not getattr(error, "errno", None):
        return DataError(f"cannot be unpacked: {error}; write or download the file again", path=path)
    return DataError(f"cannot be read: {getattr(error, 'strerror', None) or error}", path=path)


def too_long(path: pathlib.Path, line: int) -> DataError:
    """Return the error of a line that nobody can have meant."""
    unpacked = " when unpacked" if is_packed(path) else ""
    return DataError(f"this line is longer than {MOST_LINE >> 20} MiB{unpacked}", path=path, line=line)


def is_bounded(path: pathlib.Path) -> bool:
    """Return whether lines are read up to `MOST_LINE` only: a plain file holds no more than its size says."""
    return is_packed(path) or not path.is_file()


def most_unpacked(path: pathlib.Path) -> int:
    """Return to how many bytes a compressed file may unpack."""
    return max(_ALWAYS, MOST_TIMES * path.stat().st_size)


def too_much(path: pathlib.Path, times: int = MOST_TIMES) -> DataError:
    """Return the error of compressed data that nobody can have meant."""
    return DataError(f"unpacks to more than {times:,} times its size", path=path)


def lines_in(path: pathlib.Path) -> Iterator[bytes]:
    """Yield the lines of one file, with their ends.

    Raises:
        DataError: it cannot be read or unpacked, or a line of compressed data or of a device is too long.
    """
    try:
        with open_bytes(path) as file:
            if not is_bounded(path):
                yield from file
                return
            number, left = 1, most_unpacked(path) if is_packed(path) else None
            while line := file.readline(MOST_LINE + 1):
                if len(line) > MOST_LINE:
                    raise too_long(path, number)
                if left is not None and (left := left - len(line)) < 0:
                    raise too_much(path)
                yield line
                number += 1
    except broken(path) as error:
        raise unreadable(path, error) from error


def _is_file(entry: "os.DirEntry[str]") -> bool:
    """Return whether an entry of a folder is a file; a link that leads to itself is none."""
    try:
        return entry.is_file()
    except OSError:
        return False


def _name(name: str) -> _Name | None:
    found = _NAME.fullmatch(name)
    return None if found is None else _Name(found[1], found[2], found[3])


def _order(name: _Name) -> tuple[Any, ...]:
    pieces = () if name.part is None else tuple(
        (0, int(piece), "") if piece.isdigit() and piece.isascii() else (1, 0, piece)
        for piece in _DIGITS.split(name.part)
    )  # fmt: skip
    return name.part is None, pieces, name.packed is None, name.packed or ""


def _zstd(path: pathlib.Path) -> Any:
    """Return the module that reads zstd: Python's own from 3.14 on."""
    import importlib

    for name in ("compression.zstd", "backports.zstd"):
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    raise UsageError(f"{path} needs a package to be unpacked: pip install 'turnbench[zstd]' (or: zstd -d {path.name})")
