"""What is at an address is read from a copy that is as it is there."""

import functools
import gzip
import http.server
import json
import pathlib
import sys
import threading
from collections.abc import Iterator

import pytest

from harness import gen_answer, gen_judgment
from harness.old.bench import load_bench
from harness.cli.main import main
from harness.old.errors import DataError, MissingError, StorageError, UsageError
from harness.old.jsonl import copies
from harness.old.jsonl.copies import is_address, local_file, local_folder, need_near, plain_copy
from harness.old.results.show import show_result
from tests.old.small_bench import question, small_bench

fsspec = pytest.importorskip("fsspec")


@pytest.fixture(autouse=True)
def home(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(copies, "_fetched", {})
    return tmp_path / "home"


@pytest.fixture
def near(tmp_path: pathlib.Path) -> pathlib.Path:
    """A data folder with answers and grades, some in parts."""
    folder = tmp_path / "near"
    small_bench(folder, *(question(n) for n in range(4)))
    gen_answer(["builtin/eliza", "builtin/outline"], bench_name="small", data_dir=folder)
    gen_judgment("builtin/overlap", bench_name="small", data_dir=folder)
    [grades] = (folder / "small" / "model_judgment").glob("*.jsonl")
    rows = grades.read_bytes().splitlines(keepends=True)
    grades.with_name(f"{grades.stem}.part-1.jsonl").write_bytes(b"".join(rows[:3]))
    grades.with_name(f"{grades.stem}.part-2.jsonl.gz").write_bytes(gzip.compress(b"".join(rows[3:])))
    grades.unlink()
    return folder


@pytest.fixture
def far(near: pathlib.Path) -> Iterator[str]:
    """The same at an address, in a file system that fsspec keeps in memory."""
    memory = fsspec.filesystem("memory")
    memory.put(str(near), "/bucket/data", recursive=True)
    yield "memory://bucket/data"
    memory.store.clear()
    memory.pseudo_dirs[:] = [""]


def test_the_package_for_s3_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "s3fs", None)
    with pytest.raises(UsageError, match=r"s3fs.*pip install 'turnbench\[s3\]'"):
        local_folder("s3://bucket/data")


def test_what_is_an_address() -> None:
    assert [is_address(place) for place in ("s3://b/x", "memory://x", "file:///x", "C:\\x", "x/y", "")] == [
        *(True, True, False, False, False, False)
    ]


def test_a_table_of_a_far_folder_is_that_of_the_near_one(near: pathlib.Path, far: str) -> None:
    there, here = (show_result(bench_name="small", data_dir=folder) for folder in (far, near))
    assert there.rows() == here.rows()
    assert there.notes == here.notes
    assert there.rows()[0]["n"] == 8
    files = f"{far}/small/model_judgment/builtin%2Foverlap_single.part-2.jsonl.gz"
    assert [row["n"] for row in show_result(input_file=files, bench_name="small", data_dir=far).rows()] != [8, 8]


def test_the_parts_of_a_far_file_are_read_as_those_of_a_near_one(near: pathlib.Path, far: str) -> None:
    name = "small/model_judgment/builtin%2Foverlap_single.jsonl"
    assert show_result(input_file=f"{far}/{name}").rows() == show_result(input_file=near / name).rows()
    memory = fsspec.filesystem("memory")
    memory.rm("/bucket/data/small/model_judgment/builtin%2Foverlap_single.part-2.jsonl.gz")
    copies._fetched.clear()
    assert sum(row["n"] for row in show_result(input_file=f"{far}/{name}").rows()) == 3


def test_a_file_address_is_the_path_that_it_names(near: pathlib.Path) -> None:
    folder = near.rename(near.with_name("near by"))
    table = show_result(bench_name="small", data_dir=folder.as_uri())
    assert table.rows() == show_result(bench_name="small", data_dir=folder).rows()
    grades = (folder / "small" / "model_judgment" / "builtin%2Foverlap_single.jsonl").as_uri()
    assert show_result(input_file=grades).rows()[0]["n"] == 8
    assert need_near(folder.as_uri()) == folder


def test_only_what_has_changed_is_fetched_again(near: pathlib.Path, far: str, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = fsspec.filesystem("memory")
    taken: list[str] = []
    get_file = type(memory).get_file

    def counted(self: object, path: str, *more: object, **named: object) -> object:
        taken.append(path.rpartition("/")[2])
        return get_file(self, path, *more, **named)

    monkeypatch.setattr(type(memory), "get_file", counted)
    home = local_folder(far, "small")
    assert "question.jsonl" in taken
    assert not [path for path in home.rglob("*") if ".turnbench" in path.parts], "the writer's own state"
    copies._fetched.clear()
    taken.clear()
    local_folder(far, "small")
    assert taken == []
    copies._fetched.clear()
    memory.pipe("/bucket/data/small/bench.toml", b'title = "Small"\n')
    memory.rm("/bucket/data/small/model_answer/builtin%2Feliza.jsonl")
    local_folder(far, "small")
    assert taken == ["bench.toml"]
    assert load_bench("small", home).answered_models() == ("builtin/outline",)


def test_nothing_is_written_to_an_address(near: pathlib.Path, far: str, capsys: pytest.CaptureFixture[str]) -> None:
    copy = local_folder(far, "small")
    with pytest.raises(StorageError, match="is a copy of what is at memory://bucket/data, which is read"):
        gen_answer(["builtin/reference"], bench_name="small", data_dir=far)
    with pytest.raises(StorageError, match="is a copy of"):
        need_near(copy / "small" / "human_judgment" / "me.jsonl")
    assert not list(copy.glob("*/model_answer/builtin%2Freference*"))


def test_what_is_not_there_or_needs_a_package_is_said_in_one_line(
    far: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show_result", "--bench-name", "other", "--data-dir", far]) == 2
    assert capsys.readouterr().err.strip().endswith("memory://bucket/data/other does not exist, or cannot be reached")
    with pytest.raises(MissingError, match="nosuch"):
        local_file("nosuch://x/y.jsonl")
    for address in ("https://me:secret@host/y.jsonl", "https://host/data?key=secret", "http://host/data#secret"):
        with pytest.raises(UsageError, match="the address at host holds a password, or something behind") as raised:
            local_file(address + "/y.jsonl")
        assert "secret" not in str(raised.value)
    with pytest.raises(UsageError, match="is not an address"):
        local_folder("http://[::1", "mt_bench")
    monkeypatch.setitem(__import__("sys").modules, "fsspec.core", None)
    with pytest.raises(UsageError, match=r"pip install 'turnbench\[remote\]'"):
        local_file("s3://x/y.jsonl")


def test_a_name_that_leads_out_of_the_folder_is_left_out(far: str, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = fsspec.filesystem("memory")
    info = memory.info("/bucket/data/small/question.jsonl")
    names = ["/bucket/data/small/../../evil.jsonl", "/bucket/data/small/.hidden", "/bucket/data/small/c:\\x"]
    monkeypatch.setattr(type(memory), "find", lambda *_, **__: dict.fromkeys(names, info))
    with pytest.raises(MissingError, match="holds no file"):
        local_folder(far, "small")


def test_a_folder_that_a_web_server_lists_is_read(near: pathlib.Path) -> None:
    pytest.importorskip("aiohttp")

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(near))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            address = f"http://127.0.0.1:{server.server_port}"
            rows = show_result(bench_name="small", data_dir=address).rows()
            models = load_bench("small", address).answered_models()
            name = "builtin%252Foverlap_single.part-2.jsonl.gz"
            file = local_file(f"{address}/small/model_judgment/{name}")
            with pytest.raises(UsageError, match="not the address of a file"):
                local_file(f"{address}/small/%2e%2e%2fx")
        finally:
            server.shutdown()
            thread.join()
    assert rows == show_result(bench_name="small", data_dir=near).rows()
    assert models == ("builtin/eliza", "builtin/outline")
    assert file.name == "builtin%2Foverlap_single.part-2.jsonl.gz"


def test_parts_are_joined_once_for_who_jumps_about(near: pathlib.Path, home: pathlib.Path) -> None:
    grades = near / "small" / "model_judgment" / "builtin%2Foverlap_single.jsonl"
    copy = plain_copy(grades)
    assert copy.is_relative_to(home)
    assert len(copy.read_bytes().splitlines()) == 16
    made = copy.stat().st_mtime_ns
    assert plain_copy(grades).stat().st_mtime_ns == made
    part = grades.with_name("builtin%2Foverlap_single.part-1.jsonl")
    part.write_bytes(part.read_bytes().removesuffix(b"\n"))
    assert len(plain_copy(grades).read_bytes().splitlines()) == 16, "each part ends its last line"
    answers = near / "small" / "model_answer" / "builtin%2Feliza.jsonl"
    assert plain_copy(answers) == answers


def test_a_file_that_unpacks_to_far_more_than_its_size_is_refused(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copies, "MOST_TIMES", 100)
    row = json.dumps({"question_id": 1, "text": "0" * 10_000}).encode() + b"\n"
    (tmp_path / "x.jsonl.gz").write_bytes(gzip.compress(row * 1000))
    with pytest.raises(DataError, match="unpacks to more than 100 times its size"):
        plain_copy(tmp_path / "x.jsonl")
    assert not list((tmp_path / "home").rglob("*x.jsonl*"))
