"""What can be fetched: the table `originals.toml`, read and checked."""

import pathlib
import re
from dataclasses import dataclass, replace
from typing import Annotated

from harness.old.errors import UsageError
from harness.old.importing.originals.readers import READERS
from harness.old.written import Wanted, decoded, nearest, read_toml

ORIGINALS = pathlib.Path(__file__).with_name("originals.toml")
UPSTREAM = "https://raw.githubusercontent.com"


_INTO = Wanted(
    "a plain path inside the folder",
    lambda into: all(part and not part.startswith(".") and not {"\\", ":"} & set(part) for part in into.split("/")),
)
_SHA256 = Wanted("64 hexadecimal digits in lower case", lambda sha256: bool(re.fullmatch(r"[0-9a-f]{64}", sha256)))


@dataclass(frozen=True, slots=True)
class OriginalFile:
    """One pinned file."""

    path: str
    """Its path upstream, from the repository's root."""
    into: Annotated[str, _INTO]
    """Where it goes, from our folder; outside the state folder."""
    bytes: int
    sha256: Annotated[str, _SHA256]


_FILES = Wanted(
    "one table or more, each with a place of its own",
    lambda files: bool(files) and len({file.into for file in files}) == len(files),
)


@dataclass(frozen=True, slots=True)
class Original:
    """What can be fetched under one name: files of one repository at one revision."""

    title: str
    repository: str
    revision: str
    licence: str
    files: Annotated[tuple[OriginalFile, ...], _FILES]
    notice: str | None = None
    """What the user should have read before it is fetched."""
    afterwards: tuple[str, ...] = ()
    """Commands to go on with."""
    reader: Annotated[str, Wanted(f"one of {', '.join(READERS)}", READERS.__contains__)] | None = None
    """What makes a judge set or a benchmark of the files; None: they are in our form already."""
    name: str = ""
    """The table's name."""

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return sum(file.bytes for file in self.files)

    @property
    def upstream(self) -> str:
        """The address under which the files' paths are found."""
        return f"{UPSTREAM}/{self.repository}/{self.revision}"


def load_originals(path: pathlib.Path = ORIGINALS) -> dict[str, Original]:
    """Return what can be fetched, by name.

    Raises:
        DataError: an entry is not what it must be.
    """
    made = decoded(read_toml(path), dict[str, Original], path)
    return {name: replace(original, name=name) for name, original in made.items()}


def find_original(name: str) -> Original:
    """Return the original of that name, or raise `UsageError` that names the nearest one."""
    originals = load_originals()
    if name not in originals:
        raise UsageError(f"nothing called {name!r} can be fetched; {nearest(name, list(originals))}")
    return originals[name]
