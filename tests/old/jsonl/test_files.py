"""A file's rows may be in parts, compressed, or both; whoever reads `NAME.jsonl` reads them all."""

import gzip
import json
import os
import pathlib
import random
from typing import Any

import pytest

from harness import gen_answer, gen_judgment
from harness.old.bench import load_bench
from harness.old.errors import DataError, StorageError, UsageError
from harness.old.jsonl import Journal, files_of, is_there, logical_file, logical_files, read_rows
from harness.old.jsonl import files as jsonl_files
from harness.old.judgments.reading import read_judgments
from harness.old.results.show import show_result
from harness.old.status import bench_status
from tests.old.small_bench import question, small_bench

zstd = jsonl_files._zstd(pathlib.Path("x.jsonl.zst"))


def lines(*rows: Any) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def write(path: pathlib.Path, data: bytes) -> pathlib.Path:
    packed = {".gz": gzip.compress, ".zst": zstd.compress}.get(path.suffix, bytes)
    path.write_bytes(packed(data))
    return path


def grade(question_id: int, score: int = 5, **more: Any) -> dict[str, Any]:
    return {"question_id": question_id, "model": "x", "judge": ["j", "t"], "turn": 1, "score": score, **more}


def test_parts_come_in_the_order_of_their_numbers_and_the_file_itself_last(tmp_path: pathlib.Path) -> None:
    names = ["x.jsonl", "x.part-10.jsonl", "x.part-2.jsonl.gz", "x.part-b.jsonl", "x.jsonl.zst"]
    for name in (*names, "xy.jsonl", "x.jsonl.bak", ".x.jsonl"):
        write(tmp_path / name, b"")
    order = ["x.part-2.jsonl.gz", "x.part-10.jsonl", "x.part-b.jsonl", "x.jsonl.zst", "x.jsonl"]
    assert [file.name for file in files_of(tmp_path / "x.jsonl")] == order
    assert [file.name for file in logical_files(tmp_path)] == ["x.jsonl", "xy.jsonl"]
    assert {logical_file(tmp_path / name).name for name in names} == {"x.jsonl"}
    assert files_of(tmp_path / "x.part-10.jsonl") == [tmp_path / "x.part-10.jsonl"]
    assert not is_there(tmp_path / "y.jsonl")


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        pytest.param(["1", "2", "4"], "missing part 3, though the last is part 4", id="one"),
        pytest.param(["02", "03"], "missing part 1, though the last is part 3", id="the-first"),
        pytest.param(["9", "2"], "missing part 1, 3, 4, 5, 6 and 2 more, though", id="many"),
        pytest.param(["0", "1", "2"], None, id="from-nought"),
        pytest.param(["1", "2", "b"], None, id="letters"),
        pytest.param(["20260101", "20260131"], None, id="dates"),
    ],
)
def test_a_gap_in_the_numbers_of_parts_is_said_once(
    tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture, parts: list[str], said: str | None
) -> None:
    for part in parts:
        write(tmp_path / f"x.part-{part}.jsonl.gz", lines({"a": part}))
    for _ in range(2):
        assert len(list(read_rows(tmp_path / "x.jsonl"))) == len(parts)
    assert [said in record.message for record in caplog.records if said] == ([True] if said else [])
    assert said or not caplog.records


@pytest.mark.parametrize("ending", ["", ".gz", ".zst"])
def test_rows_of_all_parts_are_read(tmp_path: pathlib.Path, ending: str) -> None:
    write(tmp_path / f"x.part-1.jsonl{ending}", lines({"a": 1}, {"a": 2}))
    write(tmp_path / f"x.part-2.jsonl{ending}", lines({"a": 3}))
    assert [row.value["a"] for row in read_rows(tmp_path / "x.jsonl")] == [1, 2, 3]


@pytest.mark.parametrize("ending", ["", ".gz", ".zst"])
def test_an_error_names_the_part_and_its_line(tmp_path: pathlib.Path, ending: str) -> None:
    write(tmp_path / "x_single.part-1.jsonl", lines(grade(1)))
    bad = write(tmp_path / f"x_single.part-2.jsonl{ending}", lines(grade(1), grade(2, score="high"), grade(3)))  # type: ignore[arg-type]
    with pytest.raises(DataError, match="score must be a number") as raised:
        read_judgments(tmp_path / "x_single.jsonl")
    assert str(raised.value).startswith(f"{bad}:2: ")
    write(bad, b'{"question_id": 1}\nnone\n{"question_id": 2}\n')
    with pytest.raises(DataError, match="not valid JSON") as raised:
        list(read_rows(tmp_path / "x_single.jsonl"))
    assert str(raised.value).startswith(f"{bad}:2: ")


def test_a_row_that_is_wrong_by_its_meaning_names_its_part(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, question(1))
    folder = bench.folder / "model_answer"
    folder.mkdir()
    write(folder / "x.part-1.jsonl", lines({"question_id": 1, "choices": [{"turns": ["a"]}]}))
    bad = write(folder / "x.part-2.jsonl.zst", lines({"question_id": 2, "choices": []}))
    with pytest.raises(DataError, match="choices of question 2") as raised:
        bench.answers("x")
    assert str(raised.value).startswith(f"{bad}:1: ")


def test_a_torn_end_of_any_part_is_left_out_with_a_warning(
    tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture
) -> None:
    write(tmp_path / "x_single.part-1.jsonl", lines(grade(1)) + b'{"question_id": 2, "mod')
    write(tmp_path / "x_single.part-2.jsonl.gz", lines(grade(3)) + b'{"quest')
    assert len(read_judgments(tmp_path / "x_single.jsonl").observations) == 2
    assert [row.value["question_id"] for row in read_rows(tmp_path / "x_single.jsonl")] == [1, 3]
    assert caplog.text.count("x_single.part-1.jsonl:2: ") == 2
    assert caplog.text.count("x_single.part-2.jsonl.gz:2: ") == 2


@pytest.mark.parametrize("ending", [".gz", ".zst"])
@pytest.mark.parametrize(
    ("damage", "message"),
    [(lambda data: data[:-9], "ends too early"), (lambda data: b"no" + data[2:], "cannot be unpacked")],
    ids=["cut", "changed"],
)
def test_damaged_compressed_data_is_an_error(tmp_path: pathlib.Path, ending: str, damage: Any, message: str) -> None:
    rng = random.Random(0)
    rows = [grade(number, note=rng.randbytes(400).hex()) for number in range(200)]
    path = write(tmp_path / f"x_single.jsonl{ending}", lines(*rows))
    path.write_bytes(damage(path.read_bytes()))
    for read in (lambda: list(read_rows(tmp_path / "x_single.jsonl")), lambda: read_judgments(path)):
        with pytest.raises(DataError, match=message):
            read()


@pytest.mark.parametrize("size", [(1 << 20) + (1 << 18), 5 << 20])
def test_a_line_that_unpacks_to_more_than_anybody_can_mean_is_an_error(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    for module in ("harness.old.jsonl.files", "harness.old.judgments.reading"):
        monkeypatch.setattr(f"{module}.MOST_LINE", 1 << 20)
    path = write(tmp_path / "x_single.jsonl.zst", lines(grade(1)) + b'{"a": "' + b"0" * size + b'"}\n')
    for read in (lambda: list(read_rows(path)), lambda: read_judgments(path)):
        with pytest.raises(DataError, match=r"zst:2: this line is longer than"):
            read()


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="a system without /dev/zero")
def test_a_device_without_an_end_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("harness.old.jsonl.files", "harness.old.judgments.reading"):
        monkeypatch.setattr(f"{module}.MOST_LINE", 1 << 20)
    path = pathlib.Path("/dev/zero")
    for read in (lambda: list(read_rows(path)), lambda: read_judgments(path)):
        with pytest.raises(DataError, match=r"^/dev/zero:1: this line is longer than 1 MiB$"):
            read()


@pytest.mark.parametrize("filler", [b"\n", lines(grade(2, note="x" * 1000))], ids=["blank lines", "the same row"])
def test_a_file_that_unpacks_to_far_more_than_its_size_is_an_error(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, filler: bytes
) -> None:
    monkeypatch.setattr("harness.old.jsonl.files._ALWAYS", 1 << 16)
    path = write(tmp_path / "x_single.jsonl.zst", lines(grade(1)) + filler * ((3 << 20) // len(filler)))
    for read in (lambda: list(read_rows(path)), lambda: read_judgments(path)):
        with pytest.raises(DataError, match=r"zst: unpacks to more than 1,000 times its size"):
            read()


def test_without_the_package_the_error_says_what_to_install(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "x.jsonl.zst", lines({"a": 1}))
    monkeypatch.setattr("importlib.import_module", lambda name: __import__("no_such_module_at_all"))
    with pytest.raises(UsageError, match=r"pip install 'turnbench\[zstd\]'"):
        list(read_rows(path))


@pytest.mark.parametrize("name", ["x.jsonl.zst", "x.part-1.jsonl", "x.part-1.jsonl.gz"])
def test_a_writer_refuses_them_in_one_line(tmp_path: pathlib.Path, name: str) -> None:
    path = write(tmp_path / name, lines({"a": 1}))
    before = path.read_bytes()
    with pytest.raises(StorageError, match="read and not written; to continue, unpack and join"):
        Journal(tmp_path / "x.jsonl", tmp_path / ".turnbench").__enter__()
    assert path.read_bytes() == before
    assert sorted(file.name for file in tmp_path.iterdir()) == [name]


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    small_bench(tmp_path, *(question(n, turns=["Name three rivers.", "And two lakes?"]) for n in range(6)))
    gen_answer(["builtin/eliza", "builtin/outline"], bench_name="small", data_dir=tmp_path)
    gen_judgment("builtin/overlap", bench_name="small", data_dir=tmp_path)
    return tmp_path


def split(path: pathlib.Path, endings: tuple[str, ...]) -> None:
    """Split a file into parts with these endings and take it away."""
    rows = path.read_bytes().splitlines(keepends=True)
    each = -(-len(rows) // len(endings))
    for number, ending in enumerate(endings):
        own = path.with_name(f"{path.stem}.part-{number}.jsonl{ending}")
        write(own, b"".join(rows[number * each : (number + 1) * each]))
    path.unlink()


def test_every_summary_is_the_same_as_of_plain_files(folder: pathlib.Path) -> None:
    def shown() -> Any:
        result = show_result(bench_name="small", data_dir=folder)
        status = bench_status(load_bench("small", folder))
        return result.rows(), result.notes, [model.row() for model in status.models], [j.row() for j in status.judges]

    before = shown()
    for path in sorted((folder / "small").glob("model_*/*.jsonl")):
        split(path, ("", ".gz", ".zst"))
    assert not list((folder / "small").glob("model_*/*outline.jsonl"))
    assert shown() == before


def test_resuming_counts_the_rows_of_all_parts_and_writes_nothing(folder: pathlib.Path) -> None:
    for path in sorted((folder / "small").glob("model_*/*.jsonl")):
        split(path, (".zst", ""))
    there = sorted((folder / "small").glob("model_*/*"))
    assert gen_answer(["builtin/eliza"], bench_name="small", data_dir=folder).written == 0
    assert gen_judgment("builtin/overlap", bench_name="small", data_dir=folder).written == 0
    assert sorted((folder / "small").glob("model_*/*")) == there
    parts = sorted((folder / "small" / "model_answer").glob("*eliza.part-1*"))
    parts[0].unlink()  # half of the answers are missing now
    with pytest.raises(StorageError, match="read and not written"):
        gen_answer(["builtin/eliza"], bench_name="small", data_dir=folder)
