"""A file of records as a stream: a JSON array, JSON Lines, or a table (CSV, TSV, Parquet). Nothing is held in memory.

    [{"question": "..."}, {"question": ...}]      read item by item, however long
    {"question": "..."}\n{"question": ...}\n      read line by line
    question,answer\n"...","..."\n                read row by row

What is wrong with one record is listed in the `ImportReport` with its position and does not end the reading; a JSON
array that breaks off does, since nothing after the break can be trusted.
"""

import contextlib
import csv
import io
import json
import pathlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO, NamedTuple, TypeAlias, TypeVar

from harness.old.errors import DataError, UsageError
from harness.old.importing.items import BadRecordError
from harness.old.jsonl.files import broken, open_bytes, unreadable
from harness.old.written import is_deep

Progress: TypeAlias = Callable[[int], None]
"""Called with how many bytes have been read since the last call."""
PathLike: TypeAlias = pathlib.Path | str
_Made = TypeVar("_Made")
_TABLES = {".csv": ",", ".tsv": "\t"}
_LONGEST_CELL = 2**31 - 1
_MOST_DEPTH = 100
_NUMBERS = b"0123456789+-.eE"
_LONGEST_NUMBER = 1 << 20
"""Characters of a number that is still read."""


class Record(NamedTuple):
    """One record of a file: its position (the first is 1), and the object, or what is wrong with it."""

    position: int
    value: Mapping[str, Any] | None
    fault: str = ""

    @property
    def said(self) -> Mapping[str, Any]:
        """The object; raises `BadRecordError` if there is none."""
        if self.value is None:
            raise BadRecordError(self.fault)
        return self.value


def read_records(path: pathlib.Path, progress: Progress = lambda count: None) -> Iterator[Record]:
    """Yield the records of a file, in order.

    Raises:
        DataError: the file can't be read, or contains neither an array nor lines of objects.
    """
    try:
        with open_bytes(path) as file:
            read = 0
            for position, found in enumerate(_records(file, path), 1):
                progress(file.tell() - read)
                read = file.tell()
                if isinstance(found, dict):
                    yield Record(position, found)
                elif isinstance(found, BadRecordError):
                    yield Record(position, None, str(found))
                else:
                    yield Record(position, None, f"it must be an object, this is {type(found).__name__}")
    except broken(path) as error:
        raise unreadable(path, error) from error


def _records(file: BinaryIO, path: pathlib.Path) -> Iterator[Any]:
    """Yield each record's value, or a `BadRecordError` that says what is wrong with it."""
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        return _batches(path)
    if suffix in _TABLES:
        return _rows(file, path, _TABLES[suffix])
    return _items(file) if _first(file, path) == b"[" else _lines(file)


def _batches(path: pathlib.Path) -> Iterator[Any]:
    """Yield the rows of a Parquet file, some thousand at a time."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise UsageError(f"{path} needs pyarrow to be read: pip install 'turnbench[parquet]'") from None
    try:
        with parquet.ParquetFile(path) as table:
            for batch in table.iter_batches(batch_size=4096):
                yield from batch.to_pylist()
    except pyarrow.ArrowException as error:
        yield BadRecordError(f"the table is broken here ({error}); nothing after it was read")


def _first(file: BinaryIO, path: pathlib.Path) -> bytes:
    """Return the first character that is not white space, the file being set to the start of its text."""
    head = file.read(4096)
    start = len(b"\xef\xbb\xbf") if head.startswith(b"\xef\xbb\xbf") else 0
    text = head[start:].lstrip()
    if not text:
        raise DataError("contains no record; it must be a JSON array, JSON Lines, .csv, .tsv or .parquet", path=path)
    if text[:1] not in b"[{":
        raise DataError(
            "is neither a JSON array nor JSON Lines; a table must be named .csv, .tsv or .parquet", path=path
        )
    file.seek(start)
    return text[:1]


def _items(file: BinaryIO) -> Iterator[Any]:
    import ijson

    try:
        yield from _values(file)
    except (ijson.JSONError, _OddError) as error:
        reason = " ".join(str(error).split())[:200]
        yield BadRecordError(f"the JSON is broken here ({reason}); nothing after it was read")
    except UnicodeDecodeError:
        yield BadRecordError("the file is not UTF-8 here; nothing after it was read")


class _OddError(Exception):
    """Values are nested absurdly deep, or a number is absurdly long."""


class _Bounded:
    """A file whose numbers have a bound: the parser's time grows with the square of their length."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._digits = file, 0

    def read(self, size: int) -> bytes:
        """Return the next bytes."""
        piece = self._file.read(size)
        self._digits = 0 if piece.strip(_NUMBERS) else self._digits + len(piece)
        if self._digits > _LONGEST_NUMBER:
            raise _OddError(f"a number of over {_LONGEST_NUMBER >> 20} MiB")
        return piece


def _values(file: BinaryIO) -> Iterator[Any]:
    """Yield the values of an array.

    From the plain events, since `ijson.items` spells out the path to each of them: on deep nesting it takes time and
    memory by the square of the depth.
    """
    import ijson
    from ijson.common import ObjectBuilder

    depth, builder = 0, None
    for event, value in ijson.basic_parse(_Bounded(file), use_float=True):
        opens, closes = event in ("start_map", "start_array"), event in ("end_map", "end_array")
        depth += opens - closes
        if depth > _MOST_DEPTH:
            raise _OddError(f"nested over {_MOST_DEPTH} deep")
        if depth == 0 or (depth == 1 and opens):
            continue  # the brackets of the array itself
        builder = builder or ObjectBuilder()
        builder.event(event, value)
        if depth == 1:
            yield builder.value
            builder = None


def _lines(file: BinaryIO) -> Iterator[Any]:
    for line in filter(bytes.strip, file):
        try:
            value = json.loads(line)
            yield BadRecordError("nested too deep") if is_deep(value) else value
        except (ValueError, RecursionError) as error:
            yield BadRecordError(f"not JSON: {error}")


def _rows(file: BinaryIO, path: pathlib.Path, delimiter: str) -> Iterator[Any]:
    csv.field_size_limit(_LONGEST_CELL)
    text = io.TextIOWrapper(file, encoding="utf-8-sig", errors="strict", newline="")
    rows = csv.DictReader(text, delimiter=delimiter, strict=True)
    try:
        if not rows.fieldnames:
            raise DataError("holds no header line with the names of the columns", path=path)
        for row in rows:
            fault = "it has more cells than the header" if None in row else ""
            fault = fault or ("it has fewer cells than the header" if None in row.values() else "")
            yield BadRecordError(fault) if fault else row
    except (csv.Error, UnicodeDecodeError) as error:
        yield BadRecordError(f"the table is broken here ({error}); nothing after it was read")
    finally:
        text.detach()  # else it would close the file, which whoever opened it does


@dataclass(frozen=True, slots=True)
class BadRow:
    """A record that was left out."""

    path: pathlib.Path
    position: int
    """Its place in the file; the first record is 1."""
    reason: str

    def __str__(self) -> str:
        return f"{self.path}, record {self.position}: {self.reason}"


@dataclass(slots=True)
class ImportReport:
    """What was read and written."""

    folder: pathlib.Path
    questions: int = 0
    """Questions written."""
    answers: Counter[str] = field(default_factory=Counter)
    """Answers read, by model."""
    new: Counter[str] = field(default_factory=Counter)
    """Of answers to questions that were there, those that were not, by model."""
    votes: int = 0
    judgments: Counter[str] = field(default_factory=Counter)
    """Judgments written, by model."""
    repeated: int = 0
    """Records that repeat an earlier one exactly; they were left out."""
    known: int = 0
    """Judgments that were there already."""
    failed: int = 0
    """Annotations without a preference."""
    bad: list[BadRow] = field(default_factory=list)
    added: tuple[pathlib.Path, ...] = ()
    """The files that were written."""

    def good(
        self, path: pathlib.Path, made: Callable[[Mapping[str, Any]], _Made], progress: Progress
    ) -> Iterator[_Made]:
        """Yield what a function makes of the records of a file; those that it refuses are bad."""
        for record in read_records(path, progress):
            with self.listing(path, record):
                yield made(record.said)

    @contextlib.contextmanager
    def listing(self, path: pathlib.Path, record: Record) -> Iterator[None]:
        """List a record as bad if what is done with it refuses it."""
        try:
            yield
        except BadRecordError as error:
            self.bad.append(BadRow(path, record.position, str(error)))

    def nothing(self, what: str, path: pathlib.Path) -> DataError:
        """Return the error that says that no record of a file could be used, and what is wrong with the first."""
        return DataError(what + (f"; the first is {self.bad[0]}" if self.bad else ""), path=path)
