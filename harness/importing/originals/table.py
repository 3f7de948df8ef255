"""What can be fetched: the table `originals.toml`, read and checked."""

import pathlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from harness.errors import DataError, UsageError
from harness.importing.originals.readers import READERS
from harness.written import nearest, read_toml

ORIGINALS = pathlib.Path(__file__).with_name("originals.toml")
UPSTREAM = "https://raw.githubusercontent.com"
_TEXTS = ("title", "repository", "revision", "licence")
_KEYS = (*_TEXTS, "notice", "afterwards", "reader", "files")


class OriginalFile(NamedTuple):
    """One pinned file."""

    path: str
    """Where it stands upstream, from the repository's root."""
    into: str
    """Where it goes, from our folder."""
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Original:
    """What can be fetched under one name: files of one repository at one revision."""

    name: str
    title: str
    repository: str
    revision: str
    licence: str
    files: tuple[OriginalFile, ...]
    notice: str | None = None
    """What the user should have read before it is fetched."""
    afterwards: tuple[str, ...] = ()
    """Commands to go on with."""
    reader: str | None = None
    """What makes a judge set or a benchmark of the files; None: they are in our form already."""

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return sum(file.size for file in self.files)

    @property
    def upstream(self) -> str:
        """The address under which the files' paths are found."""
        return f"{UPSTREAM}/{self.repository}/{self.revision}"


def load_originals(path: pathlib.Path | None = None) -> dict[str, Original]:
    """Return what can be fetched, by name.

    Raises:
        DataError: an entry is not what it must be.
    """
    path = path or ORIGINALS
    return {name: _original(name, table, path) for name, table in read_toml(path).items()}


def find_original(name: str) -> Original:
    """Return the original of that name, or raise `UsageError` that names the nearest one."""
    originals = load_originals()
    if name not in originals:
        raise UsageError(f"nothing called {name!r} can be fetched; {nearest(name, list(originals))}")
    return originals[name]


def _original(name: str, table: Mapping[str, Any], path: pathlib.Path) -> Original:
    """Return the entry of a table, checked."""
    for key in table:
        if key not in _KEYS:
            raise DataError(f"{name}: unknown key {key!r}; {nearest(key, list(_KEYS))}", path=path)
    for key in _TEXTS:
        if not isinstance(table.get(key), str):
            raise DataError(f"{name}: {key} must be a text", path=path)
    files = tuple(_file(name, row, path) for row in table.get("files", ()))
    if not files:
        raise DataError(f"{name}: names no files", path=path)
    if len({file.into for file in files}) < len(files):
        raise DataError(f"{name}: two files have one place", path=path)
    reader = table.get("reader")
    if reader is not None and reader not in READERS:
        raise DataError(f"{name}: unknown reader {reader!r}; known: {', '.join(READERS)}", path=path)
    texts = {key: table[key] for key in _TEXTS}
    return Original(
        name,
        **texts,
        files=files,
        notice=table.get("notice"),
        afterwards=tuple(table.get("afterwards", ())),
        reader=reader,
    )


def _file(name: str, row: Mapping[str, Any], path: pathlib.Path) -> OriginalFile:
    """Return a file of an entry; its place must lie inside our folder, outside the state folder."""
    try:
        file = OriginalFile(row["path"], row["into"], row["bytes"], row["sha256"])
    except KeyError as error:
        raise DataError(f"{name}: a file lacks {error.args[0]!r}", path=path) from None
    parts = file.into.split("/")
    if any(part.startswith(".") or not part or "\\" in part or ":" in part for part in parts):
        raise DataError(f"{name}: {file.into!r} is no plain path inside the folder", path=path)
    if not re.fullmatch(r"[0-9a-f]{64}", file.sha256):
        raise DataError(f"{name}: sha256 of {file.into} must be 64 hexadecimal digits in lower case", path=path)
    return file
