"""Originals on request: pinned files of other projects, brought into a folder of the data folder and verified.

    originals.toml ─▶ Original ─▶ .turnbench/fetch/<sha256>.part ─▶ verified ─▶ question.jsonl, judge_prompts.jsonl, ...

Only files that the table names are written, under the names that the table gives them. A file comes into its place only
when every file of the original has been verified, so the public folder never holds a part of anything. What had come
when a transfer was cut stays in the state folder, and the next run asks for the rest.
"""

import contextlib
import hashlib
import http.client
import os
import pathlib
import re
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any, NamedTuple, TypeAlias

from harness.bench import nearest, read_toml
from harness.errors import DataError, MissingError, StorageError, TurnbenchError, UsageError
from harness.jsonl import lock
from harness.original_readers import READERS, make_ours

ORIGINALS = pathlib.Path(__file__).with_name("originals.toml")
UPSTREAM = "https://raw.githubusercontent.com"
TIMEOUT = 30.0
"""Seconds without a byte after which a transfer counts as cut."""
_BLOCK = 1 << 16

Watcher: TypeAlias = Callable[[int], None]
"""Is told the bytes of the original that are at hand, whenever they change."""


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


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a fetch did."""

    original: Original
    folder: pathlib.Path
    written: tuple[pathlib.Path, ...]
    already: tuple[pathlib.Path, ...]
    """Files that were there before, equal to the pinned ones."""


def load_originals(path: pathlib.Path | None = None) -> dict[str, Original]:
    """Return what can be fetched, by name.

    Raises:
        DataError: an entry is not what it must be.
    """
    path = path or ORIGINALS
    return {name: _original(name, table, path) for name, table in read_toml(path).items()}


def fetch_bench(
    name: str, data_dir: pathlib.Path | str = "data", *, source: str | None = None, watch: Watcher = lambda _: None
) -> Fetched:
    """Return what was done to have the original `name` in `data_dir/name`; see `fetch`."""
    return fetch(find_original(name), data_dir, source=source, watch=watch)


def find_original(name: str) -> Original:
    """Return the original of that name, or raise `UsageError` that names the nearest one."""
    originals = load_originals()
    if name not in originals:
        raise UsageError(f"nothing called {name!r} can be fetched; {nearest(name, list(originals))}")
    return originals[name]


def fetch(
    original: Original, data_dir: pathlib.Path | str, *, source: str | None = None, watch: Watcher = lambda _: None
) -> Fetched:
    """Return what was done to have every file of the original in its folder, verified.

    `source` is a folder or the address of a mirror, in which each file is looked for under its upstream path, then
    under the path that it has in our folder, then under that path's last part; None is the upstream itself.

    Raises:
        UsageError: `source` is neither a folder nor an address that can be used.
        StorageError: a different file is in the way, or the folder cannot be written.
        MissingError: the source cannot be reached, lacks a file, or stopped before its end.
        DataError: what came is not the pinned file.
    """
    origin = _origin(original, source)
    folder = pathlib.Path(data_dir) / original.name
    already = tuple(file for file in original.files if _is_there(folder / file.into, file))
    wanted = [file for file in original.files if file not in already]
    if wanted:
        state = folder / ".turnbench"
        held = lock(folder / "fetch_bench", state)
        try:
            _bring(wanted, folder, state / "fetch", origin, watch)
        finally:
            held.release()
    made = make_ours(original.reader, folder) if original.reader else ()
    return Fetched(
        original,
        folder,
        written=(*(folder / file.into for file in wanted), *made),
        already=tuple(folder / file.into for file in already),
    )


def _bring(
    wanted: Sequence[OriginalFile], folder: pathlib.Path, parts: pathlib.Path, origin: "_Origin", watch: Watcher
) -> None:
    """Transfer and verify all files, then put them in their places."""
    done = 0
    verified: list[tuple[OriginalFile, pathlib.Path]] = []
    for file in wanted:
        part = parts / f"{file.sha256[:16]}.part"
        with _storing(part):
            parts.mkdir(parents=True, exist_ok=True)
        _transfer(file, part, origin, _shifted(watch, done))
        verified.append((file, part))
        done += file.size
    for file, part in verified:
        target = folder / file.into
        with _storing(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            os.replace(part, target)
    with contextlib.suppress(OSError):
        parts.rmdir()


def _shifted(watch: Watcher, done: int) -> Watcher:
    return lambda size: watch(done + size)


def _transfer(file: OriginalFile, part: pathlib.Path, origin: "_Origin", watch: Watcher) -> None:
    """Have the whole file in `part`, verified; go on from what an earlier run left there."""
    with _storing(part):
        kept = part.stat().st_size if part.exists() else 0
        if kept > file.size or (kept == file.size and _hash(part) != file.sha256):
            part.unlink()
            kept = 0
    while kept < file.size:
        origin.receive(file, part, kept, watch)
        if (found := _hash(part)) == file.sha256:
            break
        with _storing(part):
            part.unlink()
        if not kept:
            raise _not_pinned(origin.place(file), f"its SHA-256 begins {found[:12]}, not {file.sha256[:12]}")
        kept = 0  # the fault may lie in what an earlier run had left
    watch(file.size)


def _not_pinned(place: str, why: str) -> DataError:
    return DataError(f"is not the pinned file: {why}; nothing was written. Name another source with --from", path=place)


class _Origin:
    """Where files come from; `receive` appends to a part file what it lacks."""

    def receive(self, file: OriginalFile, part: pathlib.Path, kept: int, watch: Watcher) -> None:
        """Append to `part`, which holds `kept` bytes, what it lacks; or write it anew if only the whole can be had."""
        raise NotImplementedError

    def place(self, file: OriginalFile) -> str:
        """Return where the file was found, for messages."""
        raise NotImplementedError


class _Folder(_Origin):
    """A folder on this machine."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder

    def place(self, file: OriginalFile) -> str:
        names = _names(file)
        for name in names:
            if (self.folder / name).is_file():
                return str(self.folder / name)
        raise MissingError(f"{self.folder}: holds neither {', '.join(names[:-1])} nor {names[-1]}")

    def receive(self, file: OriginalFile, part: pathlib.Path, kept: int, watch: Watcher) -> None:
        place = self.place(file)
        try:
            with open(place, "rb") as source:
                if (size := os.fstat(source.fileno()).st_size) != file.size:
                    raise _not_pinned(place, f"it has {size} bytes, not {file.size}")
                _write(source, part, 0, file, watch)
        except OSError as error:
            raise MissingError(f"{place}: cannot be read: {error.strerror or error}") from error


class _Server(_Origin):
    """An address under which the files are found."""

    def __init__(self, base: str, *, mirror: bool) -> None:
        self.base = base.rstrip("/")
        self.mirror = mirror
        self.found: dict[OriginalFile, str] = {}

    def place(self, file: OriginalFile) -> str:
        return self.found.get(file, f"{self.base}/{file.path}")

    def receive(self, file: OriginalFile, part: pathlib.Path, kept: int, watch: Watcher) -> None:
        response, start = self._ask(file, kept)
        with response:
            length = response.headers.get("Content-Length")
            if length is not None and length.isdigit() and start + int(length) != file.size:
                raise _not_pinned(self.place(file), f"it has {start + int(length)} bytes, not {file.size}")
            try:
                _write(response, part, start, file, watch)
            except (OSError, http.client.HTTPException) as error:
                raise self._cut(file, part, _reason(error)) from error
        if part.stat().st_size < file.size:
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
            return response, kept if kept and _continues(response, kept) else 0
        raise AssertionError("unreachable: the last name raises")

    def _cut(self, file: OriginalFile, part: pathlib.Path, reason: str) -> TurnbenchError:
        size = part.stat().st_size if part.exists() else 0
        return MissingError(
            f"{self.place(file)}: the transfer was cut after {size} of {file.size} bytes ({reason}); "
            "what came is kept, run the same command again to go on"
        )


_ELSEWHERE = "check the network, or name a mirror or a folder with --from"


def _continues(response: Any, kept: int) -> bool:
    """Return whether the response is the rest that was asked for; a server may send the whole file instead."""
    return response.status == 206 and str(response.headers.get("Content-Range", "")).startswith(f"bytes {kept}-")


def _write(source: IO[bytes], part: pathlib.Path, start: int, file: OriginalFile, watch: Watcher) -> None:
    """Write what the source sends into `part` from offset `start`, and no more than one byte over the pinned size."""
    with _storing(part):
        out = part.open("ab" if start else "wb", buffering=0)
    with out:
        size = start
        while size <= file.size and (block := source.read(min(_BLOCK, file.size + 1 - size))):
            with _storing(part):
                if out.write(block) != len(block):
                    raise OSError(28, "No space left on device")
            size += len(block)
            watch(min(size, file.size))
        with _storing(part):
            os.fsync(out.fileno())


@contextlib.contextmanager
def _storing(path: pathlib.Path) -> Iterator[None]:
    """Turn faults of our own disk into `StorageError`, which no clause for the source's faults catches."""
    try:
        yield
    except OSError as error:
        raise StorageError(
            f"{path}: cannot be written: {error.strerror or error}; mend that and run this again"
        ) from error


def _is_there(target: pathlib.Path, file: OriginalFile) -> bool:
    """Return whether the pinned file is in its place, or raise `StorageError` if something else is."""
    if not target.exists() and not target.is_symlink():
        return False
    if target.is_file() and target.stat().st_size == file.size and _hash(target) == file.sha256:
        return True
    raise StorageError(
        f"{target}: something else is there already, and stays; move it away, or choose another --data-dir"
    )


def _hash(path: pathlib.Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise StorageError(f"{path}: cannot be read: {error.strerror or error}") from error


def _names(file: OriginalFile) -> tuple[str, ...]:
    """Return the names under which a file is looked for in a mirror or a folder, best first."""
    return tuple(dict.fromkeys((file.path, file.into, pathlib.PurePosixPath(file.into).name)))


def _origin(original: Original, source: str | None) -> _Origin:
    if source is None:
        return _Server(original.upstream, mirror=False)
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", source):
        address = urllib.parse.urlsplit(source)
        if address.scheme not in {"https", "http"} or not address.hostname:
            raise UsageError(
                f"--from takes a folder or an address that begins with https:// or http://, not {address.scheme}://"
            )
        if "@" in address.netloc or address.query or address.fragment:
            raise UsageError("--from takes a plain address: no user, password, ? or #")
        return _Server(source, mirror=True)
    folder = pathlib.Path(source)
    if not folder.is_dir():
        raise UsageError(f"--from {source}: no such folder; give a folder, or an address that begins with https://")
    return _Folder(folder)


def _reason(error: BaseException) -> str:
    """Return why a connection failed, in few words."""
    if isinstance(error, urllib.error.URLError) and isinstance(error.reason, BaseException):
        return _reason(error.reason)
    if isinstance(error, TimeoutError):
        return f"no byte came for {TIMEOUT:.0f} seconds"
    return str(getattr(error, "strerror", None) or error) or type(error).__name__


_TEXTS = ("title", "repository", "revision", "licence")
_KEYS = (*_TEXTS, "notice", "afterwards", "reader", "files")


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
