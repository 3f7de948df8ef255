"""Rows as lines of JSON: `read_rows` reads files of any program, `encode` makes one line of a value."""

import json
import logging
import math
import pathlib
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeVar

from harness.old.errors import DataError
from harness.old.jsonl.files import files_of, lines_in, numbered
from harness.old.written import is_deep

log = logging.getLogger("turnbench")
_Record = TypeVar("_Record")
_LINE_ENDS = {ord(c): f"\\u{ord(c):04x}" for c in "\x85\u2028\u2029"}
"""Characters that JSON does not escape but `str.splitlines` treats as line ends."""

_MANY = 90
"""From this many brackets on a line on, their nesting is checked."""


class Row(NamedTuple):
    """One line of a file: its number (the first is 1) and the object on it."""

    line: int
    value: dict[str, Any]


def encode(value: Any) -> str:
    """Return the value as one line of JSON, without its newline; a number that is not finite is null."""
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(", ", ": "), allow_nan=False)
    except ValueError:
        text = json.dumps(finite(value), ensure_ascii=False, separators=(", ", ": "), allow_nan=False)
    return text.translate(_LINE_ENDS) if not text.isascii() else text


def finite(value: Any) -> Any:
    """Return the value with None for NaN and infinities, which JSON does not have."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return value


def read_rows(path: pathlib.Path, *, whole: bool = False) -> Iterator[Row]:
    """Yield the rows of a JSON Lines file, which may be split or compressed (`files.py`), blank lines left out.

    A broken last line of it, or of a part, is left out with a warning: a run that was killed may have left it, or one
    that still writes. With `whole` it is an error like any other: for files that people write.

    Raises:
        DataError: the file cannot be read, or another line is not a JSON object.
    """
    for file in files_of(path) or [path]:
        yield from _rows_in(file, whole, named=file != path)


def _rows_in(path: pathlib.Path, whole: bool, named: bool) -> Iterator[Row]:
    """Yield the rows of one file; with `named`, their lines know where they are."""
    held: tuple[int, bytes] | None = None
    for number, line in enumerate(lines_in(path), 1):
        if not line.isspace():  # strip() would copy every line
            if held is not None:
                yield row_of(path, held[0], value_of(path, *held))
            held = (numbered(path, number) if named else number, line)
    if held is None:
        return
    try:
        value = value_of(path, *held)
    except DataError as error:
        if whole:
            raise
        warn_of_torn(error)
    else:
        yield row_of(path, held[0], value)


def sound_rows(path: pathlib.Path) -> Iterator[Row]:
    """Yield the rows of a file of our own state, if it exists; lines that are not rows are skipped with a warning.

    State only saves calls: if a line of it cannot be used, the call is made again, and nothing else is lost.

    Raises:
        DataError: the file cannot be read.
    """
    broken = 0
    if path.exists() and not path.is_file():
        raise DataError("is a folder, a device or a pipe, where a file is needed; move it away", path=path)
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    try:
                        yield row_of(path, number, value_of(path, number, line))
                    except DataError:
                        broken += 1
    except FileNotFoundError:
        return
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", path=path) from error
    if broken:
        log.warning("%s: %d broken lines are skipped; the calls that they would save are made again", path, broken)


def taken_as(value: Any, kind: type[_Record]) -> _Record | None:
    """Return a value as a record of that type, or None if it is not one: for files of our own state."""
    import msgspec

    try:
        return msgspec.convert(value, kind)
    except (msgspec.ValidationError, ValueError):  # the second for half a character in a key
        return None


def value_of(path: pathlib.Path, number: int, line: bytes) -> Any:
    """Return the JSON value of a line, or raise `DataError` if it is not JSON."""
    try:
        value = _loaded(line)
    except UnicodeDecodeError:
        raise DataError("not UTF-8; save the file as UTF-8", path=path, line=number) from None
    except (ValueError, RecursionError) as error:
        at = ""
        if isinstance(error, json.JSONDecodeError):  # whose own column counts from the newline behind a cut line
            at = f" (column {min(error.pos, len(error.doc.rstrip())) + 1})"
        raise DataError(f"not valid JSON{at}; each line must be one JSON object", path=path, line=number) from None
    if line.count(b"[") + line.count(b"{") > _MANY and is_deep(value):
        raise DataError("lists and objects are nested too deep on this line", path=path, line=number)
    return value


def _loaded(line: bytes) -> Any:
    """Return what `json.loads` returns, in a third of the time where msgspec takes the line.

    It takes no NaN, half a character or mark of byte order, and its errors name no column; then json decides.
    """
    import msgspec

    try:
        return msgspec.json.decode(line)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return json.loads(line)


def warn_of_torn(error: DataError) -> None:
    """Say that a broken last line is left out."""
    log.warning("%s; this last line is left out (torn by a crash, or still being written)", error)


def row_of(path: pathlib.Path, number: int, value: Any) -> Row:
    """Return the row, or raise `DataError` if the value is not an object."""
    if isinstance(value, dict):
        return Row(number, value)
    kind = type(value).__name__
    raise DataError(f"a JSON object is needed, this is a {kind}; each line is one object", path=path, line=number)
