"""Files of records: JSON arrays, JSON Lines (both also .gz), .csv, .tsv and .parquet."""

import csv
import gzip
import io
import json
import pathlib
from collections.abc import Iterator
from typing import Any

from harness.errors import DataError, MissingError
from harness.extras.importing.items import BadRecord

_TABLES = {".csv": ",", ".tsv": "\t"}


def read_records(path: pathlib.Path) -> Iterator[tuple[int, Any]]:
    """Yield the line and the value of each record; of a .parquet file the row.

    A record that is not valid is yielded as a `BadRecord`, so that the rest can be used.

    Raises:
        DataError: the file cannot be read, or is none of these formats.
    """
    try:
        if path.suffix.lower() == ".parquet":
            yield from _parquet(path)
            return
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", path) from error
    data = data.removeprefix(b"\xef\xbb\xbf")
    suffix = path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix
    first = data.lstrip()[:1]
    if suffix.lower() in _TABLES:
        yield from _table(data, path, _TABLES[suffix.lower()])
    elif first == b"[":
        yield from _array(data, path)
    elif first == b"{":
        yield from _lines(data)
    else:
        known = "a JSON array, JSON Lines, or a table named .csv, .tsv or .parquet"
        raise DataError(f"{'contains no record' if not first else 'is none of'}: {known}", path)


def _array(data: bytes, path: pathlib.Path) -> Iterator[tuple[int, Any]]:
    decoder = json.JSONDecoder()
    try:
        text = data.decode()
        position, line = text.index("[") + 1, 1
        end = 0
        while True:
            while text[position : position + 1] in (" ", "\n", "\r", "\t", ","):
                position += 1
            line += text.count("\n", end, position)
            if text[position : position + 1] == "]":
                return
            value, end = decoder.raw_decode(text, position)
            yield line, value
            line += text.count("\n", position, end)
            position = end
    except ValueError as error:
        raise DataError(
            f"is not valid JSON: {error}", path, getattr(error, "lineno", None)
        ) from None


def _lines(data: bytes) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(io.BytesIO(data), 1):
        if not line.strip():
            continue
        try:
            yield number, json.loads(line)
        except ValueError as error:
            yield number, BadRecord(f"not valid JSON: {getattr(error, 'msg', error)}")


def _table(data: bytes, path: pathlib.Path, delimiter: str) -> Iterator[tuple[int, Any]]:
    csv.field_size_limit(2**31 - 1)
    try:
        text = io.StringIO(data.decode(), newline="")
        rows = csv.DictReader(text, delimiter=delimiter, strict=True)
        for row in rows:
            whole = None not in row and None not in row.values()
            yield rows.line_num, row if whole else BadRecord("not as many cells as the header has")
    except (csv.Error, UnicodeDecodeError) as error:
        raise DataError(f"is not a valid table: {error}", path) from None


def _parquet(path: pathlib.Path) -> Iterator[tuple[int, Any]]:
    try:
        from pyarrow import parquet
    except ImportError:
        advice = "pip install 'turnbench[parquet]'"
        raise MissingError(f"{path}: reading .parquet needs pyarrow: {advice}") from None
    try:
        with parquet.ParquetFile(path) as table:
            rows = (row for batch in table.iter_batches(4096) for row in batch.to_pylist())
            yield from enumerate(rows, 1)
    except (ValueError, RuntimeError) as error:  # what pyarrow's errors are
        raise DataError(f"is not a valid Parquet file: {error}", path) from None
