"""Data files: the only room that opens one.

    for place in rows(path, Judgment): ...    every row in file order, with its line and offset
    heads(path, Answer)                       where the rows are, and which questions about
    latest(path, Answer)                      the row of a file that counts for each key
    with Writer(path, Judgment) as writer:    one writer a file; whole lines; nothing is deleted
        writer.append(row)
    with Pending(path) as pending: ...        replies of incomplete rows, causes of failures

Files are JSON Lines, plain or `.gz`. A row is a Struct of `harness.types`; a field that a row
type does not have is ignored, except a question's, which goes into `extra`.
"""

from harness.store.pending import Failure, Pending, failures
from harness.store.read import (
    Place,
    blocks,
    count_behind,
    count_lines,
    data_files,
    fingerprint,
    heads,
    is_good,
    last_good,
    latest,
    latest_of,
    looks_like,
    question_of,
    rows,
    rows_at,
)
from harness.store.toml import convert, explain, read_toml
from harness.store.write import Writer, encode_lines, state_dir, write_file

__all__ = [
    "Failure",
    "Pending",
    "Place",
    "Writer",
    "blocks",
    "convert",
    "count_behind",
    "count_lines",
    "data_files",
    "encode_lines",
    "explain",
    "failures",
    "fingerprint",
    "heads",
    "is_good",
    "last_good",
    "latest",
    "latest_of",
    "looks_like",
    "question_of",
    "read_toml",
    "rows",
    "rows_at",
    "state_dir",
    "write_file",
]
