"""Published files on request: pinned, downloaded, verified by SHA-256, turned into our formats.

    originals.toml → the files, from their upstream, a mirror or a folder → verified → data/NAME/

Nothing is written before every file of an original is verified, and nothing fetched is executed.
"""

import functools
import hashlib
import pathlib
import re
import urllib.parse

from msgspec import Struct

from harness import store
from harness.bench import check_bench_name
from harness.bench.bench import Settings, load_questions
from harness.errors import DataError, MissingError, StorageError, UsageError
from harness.extras.importing import hub
from harness.extras.importing.constants import constants, fill, toml_text
from harness.extras.importing.reading import import_data
from harness.reporting import Column, Page, Table
from harness.words import counted

UPSTREAM = "https://raw.githubusercontent.com"
_TABLE = pathlib.Path(__file__).with_suffix(".toml")
_TAKEN = r"bench\.toml|reference_answer/[^/]+\.jsonl"
"""What is taken from the hub beside the questions."""
_SECONDS = 30.0
"""Without a byte, after which a transfer counts as cut."""
_ADVICE = "check the network, or name a mirror or a folder with --from"


class OriginalFile(Struct, frozen=True, forbid_unknown_fields=True):
    """One pinned file."""

    path: str
    """From the repository's root."""
    into: str
    """Where it goes, from our folder."""
    bytes: int
    sha256: str


class Original(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What can be fetched under one name: files of a repository at one revision."""

    title: str
    repository: str
    revision: str
    licence: str
    files: tuple[OriginalFile, ...]
    notice: str = ""
    """What the user should have read before it is fetched."""
    afterwards: tuple[str, ...] = ()
    """Commands to go on with."""
    made: dict[str, str] = {}
    """Our own files that go with them, by path."""
    placeholders: dict[str, str] = {}
    """In the fetched prompts: their names, and ours."""
    imports: tuple[str, ...] = ()
    """A format of `import_data`, and the fetched files in it that make questions and answers."""

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return sum(file.bytes for file in self.files)


class Fetched(Struct, frozen=True):
    """What `fetch_bench` did."""

    folder: pathlib.Path
    written: tuple[pathlib.Path, ...]

    def _repr_html_(self) -> str:
        files = [{"file": str(path)} for path in self.written]
        tables = [Table("", [Column("file")], files)] if files else []
        return Page(f"{self.folder}: {counted(len(files), 'file')} written.", tables)._repr_html_()

    def __repr__(self) -> str:
        return f"<Fetched {self.folder.name[:100]}: {len(self.written)} files written>"


@functools.cache
def originals() -> dict[str, Original]:
    """Return what can be fetched, by name."""
    return store.read_toml(_TABLE, dict[str, Original])


def fetch_bench(
    name: str, data_dir: pathlib.Path | str = "data", *, source: str | None = None
) -> Fetched:
    """Bring an original into `data_dir/name`.

    Args:
        name: one of `originals()`, or a benchmark on the Hugging Face Hub by its questions,
            `hf://datasets/OWNER/NAME@REVISION/question.jsonl`.
        data_dir: the folder of benchmarks.
        source: the address of a mirror that has the files under their upstream paths, or a folder
            that has them under these, their paths in our folder, or their bare names; or a data set
            on the Hugging Face Hub, `hf://datasets/OWNER/NAME@REVISION`; None: the upstream.

    Raises:
        UsageError: there is no such original, or the source cannot be one.
        StorageError: a different file is in the way, or the folder cannot be written.
        MissingError: the source cannot be reached, or has no such file.
        DataError: a file is not the pinned one.
    """
    if hub.is_address(name):
        return _from_hub(hub.parse(name), pathlib.Path(data_dir))
    table = originals()
    if name not in table:
        raise UsageError(f"nothing called {name!r} can be fetched; there are {', '.join(table)}")
    original, folder = table[name], pathlib.Path(data_dir) / name
    source = source or f"{UPSTREAM}/{original.repository}/{original.revision}"
    if hub.is_address(source):
        hub.parse(source)
    elif re.match(r"https?://", source):
        if re.search(r"[@?#]", source):
            raise UsageError("--from takes a plain address: no user, password, ? or #")
    elif not pathlib.Path(source).is_dir():
        raise UsageError(f"--from {source}: give a folder, or an address that begins with https://")
    contents = {}
    for file in original.files:
        path = folder / file.into
        if not path.exists():
            contents[path] = _pinned(source, file)
        elif hashlib.sha256(path.read_bytes()).hexdigest() != file.sha256:
            advice = "move it away, or choose another --data-dir"
            raise StorageError(f"{path}: another file is there and is kept; {advice}")
    for path, data in contents.items():
        store.write_file(path, data)
    written = list(contents)
    texts = constants(folder / "upstream")
    for into, text in original.made.items():
        if not (folder / into).exists():
            store.write_file(folder / into, fill(text, texts, original.placeholders))
            written.append(folder / into)
    if original.imports and not (folder / "question.jsonl").exists():
        form, *outputs = original.imports
        report = import_data(form, [folder / into for into in outputs], name, data_dir=data_dir)
        written += report.written
    return Fetched(folder, tuple(written))


def _from_hub(address: hub.Address, data_dir: pathlib.Path) -> Fetched:
    """Bring questions from the hub, with the settings and references in the same folder there."""
    address = address if address.path else address._replace(path="question.jsonl")
    folder = data_dir / check_bench_name(address.repository.partition("/")[2])
    questions = hub.fetch(address)
    load_questions(questions.path)
    beside = address.path.rpartition("/")[0]
    home = f"{beside}/" if beside else ""
    files = {folder / "question.jsonl": questions.path.read_bytes()}
    note = f"source = {toml_text(str(questions.address))}\n"
    for name in hub.list_files(questions.address):
        into = name.removeprefix(home)
        if not name.startswith(home) or not re.fullmatch(_TAKEN, into):
            continue
        found = hub.fetch(questions.address._replace(path=name)).path
        if into == "bench.toml":
            settings = store.read_toml(found, Settings)
            note = (note if settings.source is None else "") + found.read_text(encoding="utf-8-sig")
        else:
            files[folder / into] = found.read_bytes()
    files[folder / "bench.toml"] = note.encode()
    missing = {path: data for path, data in files.items() if not path.exists()}
    for path, data in files.items():
        if path not in missing and path.read_bytes() != data:
            advice = "move it away, or choose another --data-dir"
            raise StorageError(f"{path}: another file is there and is kept; {advice}")
    for path, data in missing.items():
        store.write_file(path, data)
    return Fetched(folder, tuple(missing))


def _pinned(source: str, file: OriginalFile) -> bytes:
    """Return a file from a source, or raise `DataError` if it is not the pinned one."""
    if hub.is_address(source):
        address = hub.parse(source)
        name = "/".join(filter(None, [address.path, file.path]))
        found = hub.fetch(address._replace(path=name))
        place, data = str(found.address), found.path.read_bytes()
    elif "://" in source:
        place = f"{source.rstrip('/')}/{urllib.parse.quote(file.path)}"
        data = _download(place)
    else:
        names = (file.path, file.into, pathlib.PurePosixPath(file.into).name)
        paths = [path for name in names if (path := pathlib.Path(source, name)).is_file()]
        if not paths:
            raise MissingError(f"{source}: holds none of {', '.join(dict.fromkeys(names))}")
        place, data = str(paths[0]), paths[0].read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    if digest != file.sha256:
        why = f"its SHA-256 begins {digest[:12]}, not {file.sha256[:12]}"
        raise DataError(f"is not the pinned file: {why}; nothing was written", place)
    return data


def _download(url: str) -> bytes:
    import httpx2

    try:
        response = httpx2.get(url, timeout=_SECONDS, follow_redirects=False)
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        why = f"cannot be fetched: {error or type(error).__name__}"
        raise MissingError(f"{url}: {why}; {_ADVICE}") from None
    if response.status_code != 200:
        raise MissingError(f"{url}: the server answered {response.status_code}; {_ADVICE}")
    return response.content
