"""Whole text files that this program writes: a table, a set, an export."""

import contextlib
import io
import pathlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from harness.old.errors import StorageError
from harness.old.jsonl.disk import replacing
from harness.old.names import csv_cell


@contextlib.contextmanager
def storing(path: pathlib.Path) -> Iterator[None]:
    """Turn what the disk refuses while the block runs into a `StorageError` about that path."""
    try:
        yield
    except OSError as error:
        raise StorageError(f"{path}: cannot be written: {error.strerror or error}") from error


def put_table(path: pathlib.Path, names: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows as CSV with these columns, as `put_text` does; missing values are empty.

    Texts are escaped by `csv_cell`.
    """
    import csv

    text = io.StringIO()
    writer = csv.DictWriter(text, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: csv_cell(value) for name, value in row.items()} for row in rows)
    put_text(path, text.getvalue())


def put_text(path: pathlib.Path, text: str) -> None:
    """Write a file in one step, its folder too where it is missing: a reader sees the old text or the new one.

    Raises:
        StorageError: it can't be written.
    """
    with storing(path), replacing(path) as fresh:
        fresh.write_text(text, encoding="utf-8", newline="\n")
