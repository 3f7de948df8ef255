"""Sources of files: an address or a folder. Each appends the missing rest to a part file."""

import http.client
import os
import pathlib
import re
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from functools import partial
from typing import IO, NamedTuple, TypeAlias

from harness.old.errors import DataError, MissingError, UsageError
from harness.old.importing.originals.table import Original, OriginalFile
from harness.old.jsonl import storing

TIMEOUT = 30.0
"""Seconds without a byte after which a transfer counts as cut."""
_BLOCK = 1 << 16
_ELSEWHERE = "check the network, or name a mirror or a folder with --from"

Watcher: TypeAlias = Callable[[int], None]
"""Called with the number of bytes received so far."""


def source_of(original: Original, source: str | None) -> "Source":
    """Return where an original comes from: what the user named, else its upstream; `UsageError` if that cannot be."""
    if source is None:
        return partial(_from_server, original.upstream, lambda file: (file.path,))
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", source):
        try:
            address = urllib.parse.urlsplit(source)
            if address.port == 0:
                raise ValueError("port 0")
        except ValueError as error:
            raise UsageError(f"--from {source!r} is not an address: {error}") from None
        if address.scheme not in {"https", "http"} or not address.hostname:
            raise UsageError(
                f"--from takes a folder or an address that begins with https:// or http://, not {address.scheme}://"
            )
        if "@" in address.netloc or address.query or address.fragment:
            raise UsageError("--from takes a plain address: no user, password, ? or #")
        return partial(_from_server, source.rstrip("/"), _names)
    folder = pathlib.Path(source)
    if not os.path.isdir(folder):
        raise UsageError(f"--from {source}: no such folder; give a folder, or an address that begins with https://")
    return partial(_from_folder, folder)


class Opened(NamedTuple):
    """A file at its source, open for reading."""

    place: str
    """Where it was found, for messages."""
    stream: IO[bytes]
    start: int
    """The offset at which what is read begins."""
    size: int | None
    """The bytes of the whole file, if the source states them."""


Source: TypeAlias = Callable[[OriginalFile, int], Opened]
"""Opens a file, from the offset on if it can; raises `MissingError`."""


def _from_folder(folder: pathlib.Path, file: OriginalFile, kept: int) -> Opened:
    """Return the file in a folder of this machine; always the whole."""
    names = _names(file)
    place = next((folder / name for name in names if (folder / name).is_file()), None)
    if place is None:
        raise MissingError(f"{folder}: contains neither {', '.join(names[:-1])} nor {names[-1]}")
    try:
        return Opened(str(place), place.open("rb"), 0, place.stat().st_size)
    except OSError as error:
        raise MissingError(f"{place}: cannot be read: {error.strerror or error}") from error


def _from_server(base: str, names: Callable[[OriginalFile], tuple[str, ...]], file: OriginalFile, kept: int) -> Opened:
    """Return the file at an address, under the first of its names that exists."""
    *others, last = names(file)
    for name in (*others, last):
        url = f"{base}/{urllib.parse.quote(name)}"
        request = urllib.request.Request(url, headers={"User-Agent": "turnbench", "Accept-Encoding": "identity"})
        if kept:
            request.add_header("Range", f"bytes={kept}-")
        try:
            response = urllib.request.urlopen(request, timeout=TIMEOUT)
        except urllib.error.HTTPError as error:
            error.close()
            if error.code == 416 and kept:
                return _from_server(base, names, file, 0)
            if error.code == 404 and name != last:
                continue
            raise MissingError(
                f"{url}: the server answered {error.code} {http.client.responses.get(error.code, '')}; {_ELSEWHERE}"
            ) from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise MissingError(f"{url}: cannot be reached: {_reason(error)}; {_ELSEWHERE}") from error
        # A server may send the whole file instead of the requested rest.
        rest = str(response.headers.get("Content-Range", "")).startswith(f"bytes {kept}-")
        start = kept if kept and response.status == 206 and rest else 0
        length = response.headers.get("Content-Length")
        return Opened(url, response, start, start + int(length) if length is not None and length.isdigit() else None)
    raise AssertionError("unreachable: the last name raises")


def receive(source: Source, file: OriginalFile, part: pathlib.Path, kept: int, watch: Watcher) -> str:
    """Append the missing rest to `part`, which has `kept` bytes, or write it again; return where it was found."""
    place, stream, start, size = source(file, kept)
    with stream:
        if size is not None and size != file.bytes:
            raise not_pinned(place, f"it has {size} bytes, not {file.bytes}")
        why = "the server closed the connection"
        try:
            _write(stream, part, start, file, watch)
        except (OSError, http.client.HTTPException) as error:
            why = _reason(error)
    size = part.stat().st_size if part.exists() else 0
    if size < file.bytes:
        raise MissingError(
            f"{place}: the transfer was interrupted after {size} of {file.bytes} bytes ({why}); "
            "what has arrived is kept, run the same command again to continue"
        )
    return place


def _write(source: IO[bytes], part: pathlib.Path, start: int, file: OriginalFile, watch: Watcher) -> None:
    """Write what the source sends into `part` from offset `start`, and no more than one byte over the pinned size."""
    with storing(part):
        out = part.open("ab" if start else "wb", buffering=0)
    with out:
        size = start
        while size <= file.bytes and (block := source.read(min(_BLOCK, file.bytes + 1 - size))):
            with storing(part):
                if out.write(block) != len(block):
                    raise OSError(28, "No space left on device")
            size += len(block)
            watch(min(size, file.bytes))
        with storing(part):
            os.fsync(out.fileno())


def not_pinned(place: str, why: str) -> DataError:
    """Return the error for a file that is not the pinned one."""
    return DataError(f"is not the pinned file: {why}; nothing was written. Name another source with --from", path=place)


def _names(file: OriginalFile) -> tuple[str, ...]:
    """Return the names under which a file is looked for in a mirror or a folder, best first."""
    return tuple(dict.fromkeys((file.path, file.into, pathlib.PurePosixPath(file.into).name)))


def _reason(error: BaseException) -> str:
    """Return why a connection failed, in few words."""
    if isinstance(error, urllib.error.URLError) and isinstance(error.reason, BaseException):
        return _reason(error.reason)
    if isinstance(error, TimeoutError):
        return f"no byte arrived for {TIMEOUT:.0f} seconds"
    return str(getattr(error, "strerror", None) or error) or type(error).__name__
