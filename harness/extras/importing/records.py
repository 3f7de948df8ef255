"""Files of records: JSON arrays, JSON Lines (both also .gz), .csv, .tsv, .parquet; Inspect's logs.

A log of Inspect is a zip, `.eval`, or one JSON object. Its records are the samples, each with the
head of the log as `eval`.
"""

import contextlib
import csv
import gzip
import io
import json
import pathlib
from collections.abc import Iterable, Iterator
from typing import Any

from harness.errors import DataError, MissingError, require
from harness.extras.importing.items import BadRecord

_DELIMITERS = {".csv": ",", ".tsv": "\t"}


def read_records(path: pathlib.Path) -> Iterator[tuple[str, Any]]:
    """Yield the place and the value of each record: `:3` for line 3, else `, record 3`.

    A record that is not valid is yielded as a `BadRecord`, so that the rest can be used.

    Raises:
        DataError: the file cannot be read, or is none of these formats.
    """
    try:
        if path.suffix.lower() == ".parquet":
            yield from _numbered(_parquet(path))
            return
        if path.suffix.lower() == ".eval":
            yield from _samples(path)
            return
        data = path.read_bytes()
        text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8-sig")
        suffix = pathlib.Path(path.name.removesuffix(".gz")).suffix.lower()
        if suffix in _DELIMITERS:
            yield from _table(text, _DELIMITERS[suffix])
        elif text.lstrip()[:1] == "[":
            yield from _numbered(json.loads(text))
        elif text.lstrip()[:1] == "{":
            yield from _log(text) or _lines(text)
        else:
            raise DataError("contains no JSON, and is not named .csv, .tsv or .parquet", path)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", path) from None
    except json.JSONDecodeError as error:
        raise DataError(f"is not valid JSON: {error}", path, error.lineno) from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"cannot be read: {error}", path) from None


def _numbered(records: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    for number, record in enumerate(records, 1):
        yield f", record {number}", record


def _log(text: str) -> list[tuple[str, Any]]:
    """Return the samples of a log of Inspect in JSON; none: it is no such log."""
    if '"samples"' not in text:
        return []
    try:
        log = json.loads(text)
    except json.JSONDecodeError:
        return []
    if not (isinstance(log.get("samples"), list) and isinstance(log.get("eval"), dict)):
        return []
    return list(_numbered(sample | {"eval": log["eval"]} for sample in log["samples"]))


def _lines(text: str) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield f":{number}", json.loads(line)
            except json.JSONDecodeError as error:
                yield f":{number}", BadRecord(f"not valid JSON: {error.msg}")


def _samples(path: pathlib.Path) -> Iterator[tuple[str, Any]]:
    """Yield the samples of a log of Inspect, in the order of their names in it."""
    import zipfile

    try:
        with contextlib.suppress(ImportError):  # teaches Python before 3.14 what Inspect writes
            import zipfile_zstd  # noqa: F401
        with zipfile.ZipFile(path) as log:
            names = log.namelist()
            head = "header.json" if "header.json" in names else "_journal/start.json"
            spec = json.loads(log.read(head))["eval"]
            for name in names:
                if name.startswith("samples/"):
                    yield f", {name}", json.loads(log.read(name)) | {"eval": spec}
    except NotImplementedError:
        advice = (
            "pip install zipfile-zstd, or turn it into JSON: "
            f"inspect log convert {path} --to json --output-dir DIR"
        )
        message = f"{path}: Python reads its compression from 3.14 on: {advice}"
        raise MissingError(message) from None
    except (zipfile.BadZipFile, KeyError) as error:
        raise DataError(f"is no log of Inspect: {error}", path) from None


def _table(text: str, delimiter: str) -> Iterator[tuple[str, Any]]:
    csv.field_size_limit(2**31 - 1)
    rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    for row in rows:
        whole = None not in row and None not in row.values()
        yield (
            f":{rows.line_num}",
            row if whole else BadRecord("not as many cells as the header has"),
        )


def _parquet(path: pathlib.Path) -> list[Any]:
    require("parquet", "pyarrow")
    from pyarrow import parquet

    try:
        return list(parquet.read_table(path).to_pylist())
    except (ValueError, RuntimeError) as error:  # what pyarrow's errors are
        raise DataError(f"is not a valid Parquet file: {error}", path) from None
