"""Files of records: JSON arrays, JSON Lines (both also .gz), .csv, .tsv and .parquet."""

import csv
import gzip
import io
import json
import pathlib
import re
from collections.abc import Iterator
from typing import Any

from harness.errors import DataError, MissingError
from harness.extras.importing.items import BadRecord

_DELIMITERS = {".csv": ",", ".tsv": "\t"}


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
        data = path.read_bytes()
        text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8-sig")
        suffix = pathlib.Path(path.name.removesuffix(".gz")).suffix.lower()
        if suffix in _DELIMITERS:
            yield from _table(text, _DELIMITERS[suffix])
        elif text.lstrip()[:1] == "[":
            yield from _array(text)
        elif text.lstrip()[:1] == "{":
            yield from _lines(text)
        else:
            raise DataError("contains no JSON, and is not named .csv, .tsv or .parquet", path)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", path) from None
    except json.JSONDecodeError as error:
        raise DataError(f"is not valid JSON: {error}", path, error.lineno) from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"cannot be read: {error}", path) from None


def _array(text: str) -> Iterator[tuple[int, Any]]:
    """Yield the members of a JSON array one by one, since the line of each is needed."""
    decode, gap = json.JSONDecoder().raw_decode, re.compile(r"[\s,]*")
    end, line = 0, 1
    start = text.index("[") + 1
    while not text.startswith("]", start := gap.match(text, start).end()):  # type: ignore[union-attr]
        line += text.count("\n", end, start)
        value, end = decode(text, start)
        yield line, value
        line += text.count("\n", start, end)
        start = end


def _lines(text: str) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except json.JSONDecodeError as error:
                yield number, BadRecord(f"not valid JSON: {error.msg}")


def _table(text: str, delimiter: str) -> Iterator[tuple[int, Any]]:
    csv.field_size_limit(2**31 - 1)
    rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    for row in rows:
        whole = None not in row and None not in row.values()
        yield rows.line_num, row if whole else BadRecord("not as many cells as the header has")


def _parquet(path: pathlib.Path) -> Iterator[tuple[int, Any]]:
    try:
        from pyarrow import parquet
    except ImportError:
        advice = "pip install 'turnbench[parquet]'"
        raise MissingError(f"{path}: reading .parquet needs pyarrow: {advice}") from None
    try:
        yield from enumerate(parquet.read_table(path).to_pylist(), 1)
    except (ValueError, RuntimeError) as error:  # what pyarrow's errors are
        raise DataError(f"is not a valid Parquet file: {error}", path) from None
