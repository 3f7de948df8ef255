"""Fetching: from folders and from servers that resume, that don't, that cut, that lie; nothing half-written, ever."""

import contextlib
import hashlib
import http.server
import pathlib
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import pytest

from harness.old.errors import DataError, MissingError, StorageError, TurnbenchError, UsageError
from harness.old.importing.originals.fetching import Fetched, fetch
from harness.old.importing.originals.table import Original, OriginalFile, find_original

QUESTIONS = b'{"question_id": 1, "category": "math", "turns": ["one?", "two?"]}\n' * 4000
REFERENCES = b'{"question_id": 1, "choices": [{"turns": ["1", "2"]}]}\n'


def pinned(path: str, into: str, content: bytes) -> OriginalFile:
    return OriginalFile(path, into, len(content), hashlib.sha256(content).hexdigest())


SMALL = Original(
    name="small",
    title="A small set",
    repository="owner/repo",
    revision="0" * 40,
    licence="Apache-2.0",
    files=(
        pinned("deep/data/question.jsonl", "question.jsonl", QUESTIONS),
        pinned("deep/data/ref/gpt.jsonl", "reference_answer/gpt.jsonl", REFERENCES),
    ),
)


@dataclass
class Mirror:
    """What a loopback server holds, how it misbehaves, and what it was asked."""

    files: dict[str, bytes]
    resumes: bool = True
    cut_after: int | None = None
    """Bytes of a response after which the connection is closed."""
    says_length: bool = True
    status: int | None = None
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    """Path and Range header of each request."""
    url: str = ""


@contextlib.contextmanager
def serving(mirror: Mirror) -> Iterator[Mirror]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            wanted = self.headers.get("Range")
            mirror.asked.append((self.path, wanted))
            content = mirror.files.get(self.path)
            if mirror.status or content is None:
                self.send_error(mirror.status or 404)
                return
            start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted and mirror.resumes else 0
            if start and start >= len(content):
                self.send_error(416)
                return
            self.send_response(206 if start else 200)
            if start:
                self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
            if mirror.says_length:
                self.send_header("Content-Length", str(len(content) - start))
            self.end_headers()
            self.wfile.write(content[start:][: mirror.cut_after])

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    mirror.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield mirror
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def upstream_files() -> dict[str, bytes]:
    return {"/deep/data/question.jsonl": QUESTIONS, "/deep/data/ref/gpt.jsonl": REFERENCES}


def public_files(data_dir: pathlib.Path) -> dict[str, bytes]:
    """Return what a user sees: everything outside the state folder."""
    folder = data_dir / "small"
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and ".turnbench" not in path.parts
    }


WHOLE = {"question.jsonl": QUESTIONS, "reference_answer/gpt.jsonl": REFERENCES}


@pytest.mark.parametrize("resumes", [pytest.param(True, id="range"), pytest.param(False, id="no range")])
def test_a_server_gives_every_file(tmp_path: pathlib.Path, resumes: bool) -> None:
    sizes: list[int] = []
    with serving(Mirror(upstream_files(), resumes=resumes)) as mirror:
        done = fetch(SMALL, tmp_path, source=mirror.url, watch=sizes.append)
    assert public_files(tmp_path) == WHOLE
    assert [path.name for path in done.written] == ["question.jsonl", "gpt.jsonl"]
    assert sizes == sorted(sizes)
    assert sizes[-1] == SMALL.size
    assert not list(tmp_path.rglob("*.part"))


@pytest.mark.parametrize("resumes", [pytest.param(True, id="range"), pytest.param(False, id="no range")])
@pytest.mark.parametrize("says_length", [pytest.param(True, id="length"), pytest.param(False, id="no length")])
def test_a_cut_transfer_shows_nothing_and_is_resumed(tmp_path: pathlib.Path, resumes: bool, says_length: bool) -> None:
    with serving(Mirror(upstream_files(), resumes, cut_after=100_000, says_length=says_length)) as mirror:
        with pytest.raises(MissingError, match=r"interrupted after 100000 of \d+ bytes .* run the same command again"):
            fetch(SMALL, tmp_path, source=mirror.url)
        assert public_files(tmp_path) == {}
        mirror.cut_after = None
        mirror.asked.clear()
        fetch(SMALL, tmp_path, source=mirror.url)
        assert mirror.asked[0] == ("/deep/data/question.jsonl", "bytes=100000-")
    assert public_files(tmp_path) == WHOLE


def test_files_verified_before_a_fault_are_not_fetched_again(tmp_path: pathlib.Path) -> None:
    files = upstream_files()
    references = files.pop("/deep/data/ref/gpt.jsonl")
    with serving(Mirror(files)) as mirror:
        with pytest.raises(MissingError, match="the server answered 404"):
            fetch(SMALL, tmp_path, source=mirror.url)
        assert public_files(tmp_path) == {}
        files["/deep/data/ref/gpt.jsonl"] = references
        mirror.asked.clear()
        fetch(SMALL, tmp_path, source=mirror.url)
        assert mirror.asked == [("/deep/data/ref/gpt.jsonl", None)]
    assert public_files(tmp_path) == WHOLE


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(QUESTIONS[:-2] + b"!\n", r"its SHA-256 begins [0-9a-f]{12}, not [0-9a-f]{12}", id="other bytes"),
        pytest.param(QUESTIONS + b"more", r"it has \d+ bytes, not \d+", id="too long"),
        pytest.param(b"<html>please log in</html>", "it has 26 bytes, not", id="a login page"),
    ],
)
@pytest.mark.parametrize("kind", ["server", "folder"])
def test_anything_but_the_pinned_file_is_refused(
    tmp_path: pathlib.Path, kind: str, content: bytes, message: str
) -> None:
    folder = tmp_path / "from"
    folder.mkdir()
    (folder / "question.jsonl").write_bytes(content)
    with serving(Mirror({**upstream_files(), "/deep/data/question.jsonl": content})) as mirror:
        source = mirror.url if kind == "server" else str(folder)
        with pytest.raises(DataError, match=f"is not the pinned file: {message}.*nothing was written"):
            fetch(SMALL, tmp_path, source=source)
    assert public_files(tmp_path) == {}
    assert not list(tmp_path.rglob("*.part"))


def test_an_endless_response_is_not_read_to_its_end(tmp_path: pathlib.Path) -> None:
    endless = Mirror({"/question.jsonl": REFERENCES + b"x" * 10_000_000}, says_length=False)
    one = replace(SMALL, files=(pinned("question.jsonl", "question.jsonl", REFERENCES),))
    with serving(endless) as mirror, pytest.raises(DataError, match="is not the pinned file"):
        fetch(one, tmp_path, source=mirror.url)
    assert public_files(tmp_path) == {}


def test_a_damaged_beginning_is_fetched_anew(tmp_path: pathlib.Path) -> None:
    part = tmp_path / "small" / ".turnbench" / "fetch" / f"{SMALL.files[0].sha256[:16]}.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(b"\0" * 1000)
    with serving(Mirror(upstream_files())) as mirror:
        fetch(SMALL, tmp_path, source=mirror.url)
        assert [wanted for path, wanted in mirror.asked if "question" in path] == ["bytes=1000-", None]
    assert public_files(tmp_path) == WHOLE


def test_a_whole_but_wrong_beginning_is_thrown_away(tmp_path: pathlib.Path) -> None:
    part = tmp_path / "small" / ".turnbench" / "fetch" / f"{SMALL.files[0].sha256[:16]}.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(b"\0" * SMALL.files[0].bytes)
    with serving(Mirror(upstream_files())) as mirror:
        fetch(SMALL, tmp_path, source=mirror.url)
    assert public_files(tmp_path) == WHOLE


@pytest.mark.parametrize("status", [403, 404, 500, 503])
def test_a_server_that_refuses_is_quoted(tmp_path: pathlib.Path, status: int) -> None:
    with (
        serving(Mirror(upstream_files(), status=status)) as mirror,
        pytest.raises(MissingError, match=f"the server answered {status} .*--from"),
    ):
        fetch(SMALL, tmp_path, source=mirror.url)
    assert public_files(tmp_path) == {}


def test_no_network_is_one_line(tmp_path: pathlib.Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: nobody answers
        with pytest.raises(MissingError, match=r"cannot be reached: .*check the network, or name a mirror") as caught:
            fetch(SMALL, tmp_path, source=f"http://127.0.0.1:{taken.getsockname()[1]}")
    assert "\n" not in str(caught.value)
    assert public_files(tmp_path) == {}


def test_a_silent_server_is_given_up(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.old.importing.originals.sources.TIMEOUT", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(MissingError, match="no byte arrived for"):
            fetch(SMALL, tmp_path, source=address)


@pytest.mark.skipif(not pathlib.Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_one_line(tmp_path: pathlib.Path) -> None:
    part = tmp_path / "small" / ".turnbench" / "fetch" / f"{SMALL.files[0].sha256[:16]}.part"
    part.parent.mkdir(parents=True)
    part.symlink_to("/dev/full")
    with (
        serving(Mirror(upstream_files())) as mirror,
        pytest.raises(StorageError, match=r"\.part: cannot be written: No space left on device"),
    ):
        fetch(SMALL, tmp_path, source=mirror.url)
    assert public_files(tmp_path) == {}


def test_a_data_folder_that_is_a_file_is_one_line(tmp_path: pathlib.Path) -> None:
    (tmp_path / "data").write_text("")
    with pytest.raises(StorageError, match="cannot be written: "):
        fetch(SMALL, tmp_path / "data", source=str(tmp_path))


def laid_out(folder: pathlib.Path, names: tuple[str, str]) -> pathlib.Path:
    for name, content in zip(names, (QUESTIONS, REFERENCES), strict=True):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


LAYOUTS = [
    pytest.param(("deep/data/question.jsonl", "deep/data/ref/gpt.jsonl"), id="upstream paths"),
    pytest.param(("question.jsonl", "reference_answer/gpt.jsonl"), id="our paths"),
    pytest.param(("question.jsonl", "gpt.jsonl"), id="bare names"),
]


@pytest.mark.parametrize("names", LAYOUTS)
def test_a_folder_may_be_laid_out_in_three_ways(tmp_path: pathlib.Path, names: tuple[str, str]) -> None:
    fetch(SMALL, tmp_path, source=str(laid_out(tmp_path / "from", names)))
    assert public_files(tmp_path) == WHOLE


@pytest.mark.parametrize("names", LAYOUTS)
def test_a_mirror_may_be_laid_out_in_three_ways(tmp_path: pathlib.Path, names: tuple[str, str]) -> None:
    files = dict(zip((f"/base/{name}" for name in names), (QUESTIONS, REFERENCES), strict=True))
    with serving(Mirror(files)) as mirror:
        fetch(SMALL, tmp_path, source=f"{mirror.url}/base/")
    assert public_files(tmp_path) == WHOLE


def test_a_folder_that_lacks_a_file_says_what_was_looked_for(tmp_path: pathlib.Path) -> None:
    (tmp_path / "from").mkdir()
    with pytest.raises(MissingError, match=r"contains neither deep/data/question.jsonl nor question.jsonl"):
        fetch(SMALL, tmp_path, source=str(tmp_path / "from"))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        pytest.param("ftp://mirror/x", "not ftp://", id="other protocol"),
        pytest.param("http://[::1", "is not an address", id="half an address"),
        pytest.param("http://mirror:99999/x", "is not an address: Port out of range", id="port"),
        pytest.param("x" * 5000, "no such folder", id="long name"),
        pytest.param("file:///etc", "not file://", id="file address"),
        pytest.param("https://", "a folder or an address", id="no host"),
        pytest.param("https://me:secret@mirror/", "no user, password", id="password"),
        pytest.param("https://mirror/?token=1", "no user, password", id="query"),
        pytest.param("no/such/folder", "no such folder", id="no folder"),
    ],
)
def test_a_source_that_cannot_be_used_is_refused(tmp_path: pathlib.Path, source: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        fetch(SMALL, tmp_path, source=source)
    assert "secret" not in str(caught.value)
    assert not (tmp_path / "small").exists()


def test_an_equal_file_is_left_and_not_fetched(tmp_path: pathlib.Path) -> None:
    source = laid_out(tmp_path / "from", ("question.jsonl", "gpt.jsonl"))
    laid_out(tmp_path / "small", ("question.jsonl", "reference_answer/other.jsonl"))
    before = (tmp_path / "small" / "question.jsonl").stat().st_mtime_ns
    done = fetch(SMALL, tmp_path, source=str(source))
    assert [path.name for path in done.already] == ["question.jsonl"]
    assert [path.name for path in done.written] == ["gpt.jsonl"]
    assert (tmp_path / "small" / "question.jsonl").stat().st_mtime_ns == before


def test_fetching_twice_asks_nobody(tmp_path: pathlib.Path) -> None:
    with serving(Mirror(upstream_files())) as mirror:
        fetch(SMALL, tmp_path, source=mirror.url)
        mirror.asked.clear()
        again = fetch(SMALL, tmp_path, source=mirror.url)
    assert mirror.asked == []
    assert again == Fetched(SMALL, tmp_path / "small", written=(), already=tuple(tmp_path / "small" / n for n in WHOLE))


@pytest.mark.parametrize("kind", ["file", "folder", "dangling link"])
def test_something_else_in_the_way_stays(tmp_path: pathlib.Path, kind: str) -> None:
    target = tmp_path / "small" / "reference_answer" / "gpt.jsonl"
    target.parent.mkdir(parents=True)
    if kind == "file":
        target.write_text("mine")
    elif kind == "folder":
        target.mkdir()
    else:
        target.symlink_to("nowhere")
    with serving(Mirror(upstream_files())) as mirror:
        with pytest.raises(StorageError, match=r"gpt\.jsonl: another file is already there and is kept"):
            fetch(SMALL, tmp_path, source=mirror.url)
        assert mirror.asked == []
    assert not (tmp_path / "small" / "question.jsonl").exists()
    assert kind != "file" or target.read_text() == "mine"


def test_two_fetches_of_one_original_do_not_meet(tmp_path: pathlib.Path) -> None:
    from harness.old.jsonl import lock

    held = lock(tmp_path / "small" / "fetch_bench", tmp_path / "small" / ".turnbench")
    try:
        with pytest.raises(StorageError, match="is being written by"):
            fetch(SMALL, tmp_path, source=str(laid_out(tmp_path / "from", ("question.jsonl", "gpt.jsonl"))))
    finally:
        held.close()


def test_only_files_of_the_table_are_written(tmp_path: pathlib.Path) -> None:
    files = {**upstream_files(), "/deep/data/extra.py": b"print()"}
    with serving(Mirror(files)) as mirror:
        fetch(SMALL, tmp_path, source=mirror.url)
        assert {path for path, _ in mirror.asked} == set(upstream_files())
    assert public_files(tmp_path) == WHOLE


def test_every_error_is_one_of_ours(tmp_path: pathlib.Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        def nonsense() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(b"this is not HTTP\r\n\r\n")

        thread = threading.Thread(target=nonsense)
        thread.start()
        with pytest.raises(TurnbenchError, match="cannot be reached"):
            fetch(SMALL, tmp_path, source=f"http://127.0.0.1:{port}")
        thread.join()


@pytest.mark.reference
def test_the_official_set_comes_as_pinned_from_a_server(tmp_path: pathlib.Path, reference_data: pathlib.Path) -> None:
    official = find_original("mt_bench_lmsys")
    files = {f"/{file.path}": (reference_data / "mt_bench" / file.into).read_bytes() for file in official.files}
    with serving(Mirror(files)) as mirror:
        fetched = fetch(official, tmp_path, source=mirror.url)
    assert len(fetched.written) == 3
    for file in official.files:
        assert (tmp_path / "mt_bench_lmsys" / file.into).read_bytes() == files[f"/{file.path}"]
