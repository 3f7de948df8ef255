"""Local copies in `~/.cache/turnbench` of files that cannot be read in place: remote ones, or joined and unpacked ones.

    local_folder("s3://bucket/data", "mt_bench")    a folder with mt_bench/ as it is at the address now
    local_file("https://host/x_single.jsonl.zst")   the same of one file
    plain_copy(x.jsonl)                             its parts joined and unpacked, for random access

So remote files are read like local ones. Unchanged files are not downloaded, or unpacked,
again. A downloaded copy is never written to (`need_near`): the changes would be lost.
"""

import hashlib
import json
import logging
import pathlib
import re
import urllib.parse
from collections.abc import Iterator, Mapping
from typing import Any

from harness.old.errors import MissingError, StorageError, UsageError
from harness.old.jsonl.disk import real_path, replacing
from harness.old.jsonl.files import MOST_TIMES, files_of, is_packed, is_plain, lines_in, parts_among, too_much

log = logging.getLogger("turnbench")
_ADDRESS = re.compile(r"(?!file:)([a-z][a-z0-9+.-]+)://", re.IGNORECASE)
_MARKS = ("etag", "lastmodified", "last_modified", "last-modified", "mtime", "created", "md5hash", "version_id")
"""What file systems call that by which a changed file is known."""
_STATE, _HOME = ".turnbench-copy.json", ".turnbench-address"
_fetched: dict[str, pathlib.Path] = {}
"""What this process has fetched: one run reads one state of it."""


def is_address(place: pathlib.Path | str) -> bool:
    """Return whether a place is an address (`s3://…`), not a path."""
    return isinstance(place, str) and _ADDRESS.match(place) is not None


def need_near(place: pathlib.Path | str, what: str = "results are written") -> pathlib.Path:
    """Return a path to write to, or raise: nothing is written to an address, nor to what was fetched from one.

    Raises:
        UsageError: the place is an address.
        StorageError: it is a fetched copy.
    """
    if is_address(place):
        raise UsageError(f"{place}: {what} only to local folders; download it and name the folder with --data-dir")
    path = _path(place)
    home = _cache("fetched")
    if real_path(path).is_relative_to(real_path(home)):
        address = next((own for folder in path.parents if (own := _text(folder / _HOME))), "an address")
        raise StorageError(
            f"{path}: is a copy of what is at {address}, which is read and not written; fetch the folder and name it "
            "with --data-dir"
        )
    return path


def _path(place: pathlib.Path | str) -> pathlib.Path:
    """Return the path that a place names, which `file:///data` does too."""
    if isinstance(place, str) and place.lower().startswith("file://"):
        return pathlib.Path(urllib.parse.unquote(urllib.parse.urlsplit(place).path))
    return pathlib.Path(place)


def local_folder(place: pathlib.Path | str, name: str | None = None) -> pathlib.Path:
    """Return the data folder: the path itself, or of an address a copy in which the benchmark `name` is (None: all).

    Raises:
        UsageError: a package for such an address is not installed.
        MissingError: there is nothing, or it cannot be had.
    """
    if not isinstance(place, str) or not is_address(place):
        return _path(place)
    address = place.rstrip("/")
    home = _cache("fetched") / _hash(address)
    _fetch(address if name is None else f"{address}/{name}", home / (name or ""))
    (home / _HOME).write_text(address, encoding="utf-8")
    return home


def local_file(place: pathlib.Path | str) -> pathlib.Path:
    """Return the path of a file to read: itself, or of an address that of a copy; raises as `local_folder` does."""
    if not isinstance(place, str) or not is_address(place):
        return _path(place)
    address, _, name = place.rpartition("/")
    name = _plain_name(place, name)
    if not name or name.startswith(".") or "/" in name or "\\" in name:
        raise UsageError(f"{place}: is not the address of a file")
    home = _cache("fetched") / _hash(address)
    parts = {_plain_name(place, own): own for own in _names_at(address)}
    wanted = parts_among(parts, name) or [name]
    for part in wanted:
        _fetch(f"{address}/{parts[part]}" if part in parts else place, home / part)
    for gone in {file.name for file in files_of(home / name)}.difference(wanted):
        (home / gone).unlink()
    (home / _HOME).write_text(address, encoding="utf-8")
    return home / name


def _names_at(address: str) -> list[str]:
    """Return the names of the files in a folder, relative to its address; none if it cannot be listed."""
    try:
        from fsspec.core import url_to_fs

        system, root = url_to_fs(address)
        return [str(full).rstrip("/").rpartition("/")[2] for full in system.ls(root, detail=False)]
    except Exception:  # every kind of address has errors of its own; a web server may show files and list none
        return []


def plain_copy(path: pathlib.Path) -> pathlib.Path:
    """Return a file with all rows of `path` as plain lines: itself, or a copy that is made where parts have changed.

    Raises:
        DataError: a part cannot be read, or unpacks to more than `MOST_TIMES` its size.
        StorageError: the copy cannot be written.
    """
    if is_plain(path):
        return path
    files = files_of(path)
    copy = _cache("joined") / _hash(str(real_path(path))) / path.name
    state = {file.name: [file.stat().st_size, file.stat().st_mtime_ns] for file in files}
    if copy.is_file() and _stated(copy.parent) == state:
        return copy
    try:
        with replacing(copy) as fresh, fresh.open("wb") as out:
            for file in files:
                for line in _within(file):
                    out.write(line if line.endswith(b"\n") else line + b"\n")
        (copy.parent / _STATE).write_text(json.dumps(state), encoding="utf-8")
    except OSError as error:
        raise StorageError(f"{copy}: cannot be written: {error.strerror or error}; free some space") from error
    return copy


def _within(file: pathlib.Path) -> Iterator[bytes]:
    left = MOST_TIMES * file.stat().st_size if is_packed(file) else None
    for line in lines_in(file):
        if left is not None:
            left -= len(line)
            if left < 0:
                raise too_much(file, MOST_TIMES)
        yield line


def _fetch(address: str, to: pathlib.Path) -> None:
    """Download a file or a folder, except for unchanged files."""
    if address in _fetched:
        return
    _check(address)
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise UsageError(f"{address} needs a package: pip install 'turnbench[remote]'") from None
    try:
        system, root = url_to_fs(address)
        infos = _files_at(system, root)
        _fetch_all(system, infos, to)
    except ImportError as error:  # the package of one kind of address, which the message names
        extra = "; pip install 'turnbench[s3]'" if address.startswith("s3:") else ""
        raise UsageError(f"{address}: {error}{extra}") from None
    except (MissingError, UsageError):
        raise
    except FileNotFoundError:
        raise MissingError(f"{address} does not exist, or cannot be reached") from None
    except Exception as error:  # every kind of address has errors of its own
        why = " ".join(str(error).split()) or type(error).__name__
        raise MissingError(
            f"{address}: cannot be fetched: {why}; check the address, and the keys in the environment"
        ) from None
    _fetched[address] = to


def _check(address: str) -> None:
    """Raise `UsageError` for an invalid address, or one that may contain a secret, which is not repeated."""
    try:
        parts = urllib.parse.urlsplit(address)
        host, secret = parts.hostname, parts.password is not None
    except ValueError:
        raise UsageError(f"{address} is not an address") from None
    if secret or (parts.scheme in {"http", "https"} and (parts.query or parts.fragment)):
        raise UsageError(
            f"the address at {host} holds a password, or something behind a ? or #; leave it out, keys come from the "
            "environment"
        )


def _files_at(system: Any, root: str) -> dict[str, Mapping[str, Any]]:
    """Return what is known of the files at an address, by their names below it; the name of the only one is empty."""
    if system.info(root).get("type") == "file" and not system.isdir(root):
        return {"": system.info(root)}
    found = {}
    start = system._strip_protocol(root).rstrip("/") + "/"
    for full, info in system.find(root, detail=True).items():
        name = _plain_name(root, full[len(start) :] if full.startswith(start) else full.removeprefix("/"))
        parts = name.split("/")
        # Hidden files are other programs', and our own state is the writer's.
        if not any(part.startswith(".") or part in {"", ".."} or "\\" in part or ":" in part for part in parts):
            found[name] = info
    if not found:
        raise MissingError(f"{root}: holds no file")
    return found


def _plain_name(address: str, name: str) -> str:
    """Return the name of a file: in URLs `%` and invalid characters are escaped."""
    return urllib.parse.unquote(name) if address.startswith(("http://", "https://")) else name


def _fetch_all(system: Any, infos: Mapping[str, Mapping[str, Any]], to: pathlib.Path) -> None:
    home = to
    if single := "" in infos:
        home, infos = to.parent, {to.name: infos[""]}
    home.mkdir(parents=True, exist_ok=True)
    known = _stated(home)
    state = dict(known) if single else {}
    log.info("downloading the changed ones of %d files to %s", len(infos), home)
    for name, info in infos.items():
        path = home / name
        mark = _mark(info if len(_mark(info)) > 1 else system.info(info["name"]))
        if len(mark) < 2 or known.get(name) != mark or not path.is_file():
            with replacing(path) as fresh:
                system.get_file(info["name"], str(fresh))
        state[name] = mark
    for name in known.keys() - state.keys():
        (home / name).unlink(missing_ok=True)
    (home / _STATE).write_text(json.dumps(state), encoding="utf-8")


def _mark(info: Mapping[str, Any]) -> list[str]:
    """Return the fingerprint of an unchanged file: its size, and its file system's metadata."""
    said = {name.lower(): value for name, value in info.items()}
    return [str(said.get("size")), *(f"{name}={said[name]}" for name in _MARKS if said.get(name) is not None)]


def _stated(home: pathlib.Path) -> dict[str, Any]:
    try:
        found = json.loads((home / _STATE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _text(path: pathlib.Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""


def _cache(kind: str) -> pathlib.Path:
    return pathlib.Path.home() / ".cache" / "turnbench" / kind


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
