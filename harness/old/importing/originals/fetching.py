"""Downloads an original: every file is transferred next to its place, verified, and moved there with all others.

Only files that the table names are written, under the names that the table gives them. A file is moved to its place
only when every file of the original has been verified, so the public folder never contains a part of anything. A
partial transfer stays in the state folder, and the next run requests the rest.
"""

import contextlib
import hashlib
import os
import pathlib
from collections.abc import Sequence
from dataclasses import dataclass

from harness.old.errors import StorageError
from harness.old.importing.originals.readers import READERS
from harness.old.importing.originals.sources import Source, Watcher, not_pinned, receive, source_of
from harness.old.importing.originals.table import Original, OriginalFile, find_original
from harness.old.jsonl import lock, storing
from harness.old.jsonl.copies import need_near
from harness.old.written import takes_only


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a fetch did."""

    original: Original
    folder: pathlib.Path
    written: tuple[pathlib.Path, ...]
    already: tuple[pathlib.Path, ...]
    """Files that were there before, equal to the pinned ones."""


@takes_only()
def fetch_bench(
    name: str, data_dir: pathlib.Path | str = "data", *, source: str | None = None, watch: Watcher = lambda _: None
) -> Fetched:
    """Return what was done to have the original `name` in `data_dir/name`; see `fetch`."""
    return fetch(find_original(name), data_dir, source=source, watch=watch)


def fetch(
    original: Original, data_dir: pathlib.Path | str, *, source: str | None = None, watch: Watcher = lambda _: None
) -> Fetched:
    """Download every file of the original into its folder, verified; return a report.

    `source` is a folder or the address of a mirror, in which each file is looked for under its upstream path, then
    under its path in our folder, then under that path's last part; None is the upstream itself.

    Raises:
        UsageError: `source` is neither a folder nor an address that can be used.
        StorageError: a different file is in the way, or the folder cannot be written.
        MissingError: the source cannot be reached, has no such file, or stopped before its end.
        DataError: a file is not the pinned one.
    """
    origin = source_of(original, source)
    folder = need_near(data_dir) / original.name
    already = tuple(file for file in original.files if _is_there(folder / file.into, file))
    wanted = [file for file in original.files if file not in already]
    if wanted:
        state = folder / ".turnbench"
        with lock(folder / "fetch_bench", state):
            _bring(wanted, folder, state / "fetch", origin, watch)
    made = READERS[original.reader](folder) if original.reader else ()
    return Fetched(
        original,
        folder,
        written=(*(folder / file.into for file in wanted), *made),
        already=tuple(folder / file.into for file in already),
    )


def _bring(
    wanted: Sequence[OriginalFile], folder: pathlib.Path, parts: pathlib.Path, origin: Source, watch: Watcher
) -> None:
    """Transfer and verify all files, then put them in their places."""
    done = 0
    verified: list[tuple[OriginalFile, pathlib.Path]] = []
    for file in wanted:
        part = parts / f"{file.sha256[:16]}.part"
        with storing(part):
            parts.mkdir(parents=True, exist_ok=True)
        _transfer(file, part, origin, lambda size, done=done: watch(done + size))  # type: ignore[misc]
        verified.append((file, part))
        done += file.bytes
    for file, part in verified:
        target = folder / file.into
        with storing(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            os.replace(part, target)
    with contextlib.suppress(OSError):
        parts.rmdir()


def _transfer(file: OriginalFile, part: pathlib.Path, origin: Source, watch: Watcher) -> None:
    """Have the whole file in `part`, verified; go on from what an earlier run left there."""
    with storing(part):
        kept = part.stat().st_size if part.exists() else 0
        if kept > file.bytes or (kept == file.bytes and _hash(part) != file.sha256):
            part.unlink()
            kept = 0
    while kept < file.bytes:
        place = receive(origin, file, part, kept, watch)
        if (found := _hash(part)) == file.sha256:
            break
        with storing(part):
            part.unlink()
        if not kept:
            raise not_pinned(place, f"its SHA-256 begins {found[:12]}, not {file.sha256[:12]}")
        kept = 0  # the fault may lie in what an earlier run had left
    watch(file.bytes)


def _is_there(target: pathlib.Path, file: OriginalFile) -> bool:
    """Return whether the pinned file is in its place, or raise `StorageError` if something else is."""
    if not target.exists() and not target.is_symlink():
        return False
    if target.is_file() and target.stat().st_size == file.bytes and _hash(target) == file.sha256:
        return True
    raise StorageError(
        f"{target}: another file is already there and is kept; move it away, or choose another --data-dir"
    )


def _hash(path: pathlib.Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise StorageError(f"{path}: cannot be read: {error.strerror or error}") from error
