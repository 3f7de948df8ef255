"""Where files come from: an address or a folder. Each appends to a part file what that one lacks."""

import http.client
import os
import pathlib
import re
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from typing import IO, Any, TypeAlias

from harness.errors import DataError, MissingError, TurnbenchError, UsageError
from harness.importing.originals.table import Original, OriginalFile
from harness.jsonl import storing

TIMEOUT = 30.0
"""Seconds without a byte after which a transfer counts as cut."""
_BLOCK = 1 << 16
_ELSEWHERE = "check the network, or name a mirror or a folder with --from"

Watcher: TypeAlias = Callable[[int], None]
"""Called with the bytes of the original that are at hand, whenever they change."""


def source_of(original: Original, source: str | None) -> "Source":
    """Return where an original comes from: what the user named, else its upstream; `UsageError` if that cannot be."""
    if source is None:
        return _ServerSource(original.upstream, mirror=False)
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", source):
        try:
            address = urllib.parse.urlsplit(source)
            if address.port == 0:
                raise ValueError("port 0")
        except ValueError as error:
            raise UsageError(f"--from {source!r} is no address: {error}") from None
        if address.scheme not in {"https", "http"} or not address.hostname:
            raise UsageError(
                f"--from takes a folder or an address that begins with https:// or http://, not {address.scheme}://"
            )
        if "@" in address.netloc or address.query or address.fragment:
            raise UsageError("--from takes a plain address: no user, password, ? or #")
        return _ServerSource(source, mirror=True)
    folder = pathlib.Path(source)
    if not os.path.isdir(folder):
        raise UsageError(f"--from {source}: no such folder; give a folder, or an address that begins with https://")
    return _FolderSource(folder)


class _FolderSource:
    """A folder on this machine."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder

    def place(self, file: OriginalFile) -> str:
        """Return where the file is found, for messages."""
        names = _names(file)
        for name in names:
            if (self.folder / name).is_file():
                return str(self.folder / name)
        raise MissingError(f"{self.folder}: holds neither {', '.join(names[:-1])} nor {names[-1]}")

    def receive(self, file: OriginalFile, part: pathlib.Path, kept: int, watch: Watcher) -> None:
        """Write the whole file to `part`."""
        place = self.place(file)
        try:
            with open(place, "rb") as source:
                if (size := os.fstat(source.fileno()).st_size) != file.bytes:
                    raise not_pinned(place, f"it has {size} bytes, not {file.bytes}")
                _write(source, part, 0, file, watch)
        except OSError as error:
            raise MissingError(f"{place}: cannot be read: {error.strerror or error}") from error


class _ServerSource:
    """An address under which the files are found."""

    def __init__(self, base: str, *, mirror: bool) -> None:
        self.base = base.rstrip("/")
        self.mirror = mirror
        self.found: dict[OriginalFile, str] = {}

    def place(self, file: OriginalFile) -> str:
        """Return where the file was found, for messages."""
        return self.found.get(file, f"{self.base}/{file.path}")

    def receive(self, file: OriginalFile, part: pathlib.Path, kept: int, watch: Watcher) -> None:
        """Append to `part`, which holds `kept` bytes, what it lacks; or write it anew if only the whole can be had."""
        response, start = self._ask(file, kept)
        with response:
            length = response.headers.get("Content-Length")
            if length is not None and length.isdigit() and start + int(length) != file.bytes:
                raise not_pinned(self.place(file), f"it has {start + int(length)} bytes, not {file.bytes}")
            try:
                _write(response, part, start, file, watch)
            except (OSError, http.client.HTTPException) as error:
                raise self._cut(file, part, _reason(error)) from error
        if part.stat().st_size < file.bytes:
            raise self._cut(file, part, "the server closed the connection")

    def _ask(self, file: OriginalFile, kept: int) -> tuple[Any, int]:
        """Return the open response, and the offset at which its content begins."""
        names = _names(file) if self.mirror else (file.path,)
        for number, name in enumerate(names, 1):
            url = f"{self.base}/{urllib.parse.quote(name)}"
            self.found[file] = url
            request = urllib.request.Request(url, headers={"User-Agent": "turnbench", "Accept-Encoding": "identity"})
            if kept:
                request.add_header("Range", f"bytes={kept}-")
            try:
                response = urllib.request.urlopen(request, timeout=TIMEOUT)
            except urllib.error.HTTPError as error:
                error.close()
                if error.code == 416 and kept:
                    return self._ask(file, 0)
                if error.code == 404 and number < len(names):
                    continue
                raise MissingError(
                    f"{url}: the server answers {error.code} {http.client.responses.get(error.code, '')}; {_ELSEWHERE}"
                ) from None
            except (OSError, http.client.HTTPException, ValueError) as error:
                raise MissingError(f"{url}: cannot be reached: {_reason(error)}; {_ELSEWHERE}") from error
            # A server may send the whole file in place of the rest that was asked for.
            rest = str(response.headers.get("Content-Range", "")).startswith(f"bytes {kept}-")
            return response, kept if kept and response.status == 206 and rest else 0
        raise AssertionError("unreachable: the last name raises")

    def _cut(self, file: OriginalFile, part: pathlib.Path, reason: str) -> TurnbenchError:
        size = part.stat().st_size if part.exists() else 0
        return MissingError(
            f"{self.place(file)}: the transfer was cut after {size} of {file.bytes} bytes ({reason}); "
            "what came is kept, run the same command again to go on"
        )


Source: TypeAlias = _FolderSource | _ServerSource
"""Where files come from; `receive` adds to a part file what it lacks."""


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
    """Return the error that says that another file came than the pinned one."""
    return DataError(f"is not the pinned file: {why}; nothing was written. Name another source with --from", path=place)


def _names(file: OriginalFile) -> tuple[str, ...]:
    """Return the names under which a file is looked for in a mirror or a folder, best first."""
    return tuple(dict.fromkeys((file.path, file.into, pathlib.PurePosixPath(file.into).name)))


def _reason(error: BaseException) -> str:
    """Return why a connection failed, in few words."""
    if isinstance(error, urllib.error.URLError) and isinstance(error.reason, BaseException):
        return _reason(error.reason)
    if isinstance(error, TimeoutError):
        return f"no byte came for {TIMEOUT:.0f} seconds"
    return str(getattr(error, "strerror", None) or error) or type(error).__name__
