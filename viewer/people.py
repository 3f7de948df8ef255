"""Who votes or writes notes: the names they may have, and how a row comes into their file."""

import pathlib
import re
import threading
import unicodedata

from harness import store
from harness.errors import UsageError
from harness.types import Row

_NAME = re.compile(r"[^\W_](?:[\w .-]{0,58}[^\W_])?")
IN_BROWSER = r"\s*[\p{L}\p{N}]([\p{L}\p{N}_ .\-]{0,58}[\p{L}\p{N}])?\s*"
"""The same for the field of a form, which then is not sent, with what else was typed."""
_writing = threading.Lock()


def check_name(name: str) -> str:
    """Return the name under which somebody votes or writes, or raise `UsageError`."""
    plain = unicodedata.normalize("NFC", name.strip())
    if not _NAME.fullmatch(plain):
        raise UsageError("type a name: up to 60 letters and digits, with . - _ or blanks between")
    return plain


def write_row(path: pathlib.Path, row: Row) -> None:
    """Append a row to a file of somebody's; one after another, whoever writes at the same time.

    Raises:
        StorageError: the file cannot be written.
    """
    with _writing, store.Writer(path, type(row)) as writer:
        writer.append(row)
