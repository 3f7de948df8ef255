"""Files of records: arrays, lines and tables, and what is wrong with one of them."""

import pathlib

import pytest

from harness.old.errors import DataError
from harness.old.importing.records import read_records


def _file(folder: pathlib.Path, name: str, text: str | bytes) -> pathlib.Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param("a.json", '[{"q": "1"}, {"q": "2"}]', id="array"),
        pytest.param("a.json", '\ufeff [\n{"q": "1"},\n{"q": "2"}]\n', id="array-with-byte-order-mark"),
        pytest.param("a.jsonl", '{"q": "1"}\n\n{"q": "2"}', id="lines"),
        pytest.param("a.csv", '\ufeffq\n1\n"2"\n', id="csv"),
        pytest.param("a.tsv", "q\n1\n2\n", id="tsv"),
    ],
)
def test_every_form_gives_the_same_records(tmp_path: pathlib.Path, name: str, text: str) -> None:
    records = list(read_records(_file(tmp_path, name, text)))
    assert [(r.position, r.value) for r in records] == [(1, {"q": "1"}), (2, {"q": "2"})]


@pytest.mark.parametrize(
    ("name", "text", "faults"),
    [
        pytest.param("a.json", '[{"q": 1}, 7, {"q": 2}]', {2: "must be an object, this is int"}, id="no-object"),
        pytest.param("a.json", '[{"q": 1}, {"q": ', {2: "broken here"}, id="array-cut"),
        pytest.param("a.json", '[{"q": 1}, ' + "[" * 100_000, {2: "nested over 100 deep"}, id="deep-array"),
        pytest.param("a.json", '[{"q": 1}, ' + '{"a":' * 100_000, {2: "nested over 100 deep"}, id="deep-object"),
        pytest.param("a.json", '[{"q": 1}, ' + "9" * 100_000 + "]", {2: "broken here"}, id="long-number"),
        pytest.param("a.json", '[{"q": 1}, {"q": 1' + "0" * 2**21, {2: "a number of over 1 MiB"}, id="long-number"),
        pytest.param("a.jsonl", '{"q": ' + "[" * 500 + "]" * 500 + "}", {1: "nested too deep"}, id="deep-line"),
        pytest.param("a.jsonl", '{"q": ' + "[" * 50_000 + "}", {1: "not JSON"}, id="deeper-line"),
        pytest.param("a.jsonl", '{"q": 1}\n{"q"\n{"q": 2}\n', {2: "not JSON"}, id="line-cut"),
        pytest.param("a.csv", "q,a\n1,2\n1\n1,2,3\n", {2: "fewer cells", 3: "more cells"}, id="cells"),
        pytest.param("a.csv", b"q\n1\n\xff\n", {1: "broken"}, id="not-utf-8"),
    ],
)
def test_a_bad_record_is_told_with_its_position(
    tmp_path: pathlib.Path, name: str, text: str | bytes, faults: dict[int, str]
) -> None:
    records = list(read_records(_file(tmp_path, name, text)))
    found = {record.position: record.fault for record in records if record.value is None}
    assert found.keys() == faults.keys()
    assert all(faults[position] in fault for position, fault in found.items())


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        pytest.param("a.json", " \n", "contains no record", id="empty"),
        pytest.param("a.txt", "q,a\n1,2\n", "must be named .csv, .tsv or .parquet", id="table-without-its-name"),
        pytest.param("a.csv", "", "no header line", id="empty-table"),
    ],
)
def test_a_file_of_another_kind_is_refused(tmp_path: pathlib.Path, name: str, text: str, reason: str) -> None:
    with pytest.raises(DataError, match=reason):
        list(read_records(_file(tmp_path, name, text)))


def test_an_array_is_read_as_a_stream(tmp_path: pathlib.Path) -> None:
    path = _file(tmp_path, "a.json", "[" + ", ".join(['{"q": "' + "x" * 1000 + '"}'] * 2000) + "]")
    read = 0

    def progress(count: int) -> None:
        nonlocal read
        read += count

    records = read_records(path, progress)
    assert next(records).position == 1
    assert 0 < read < path.stat().st_size / 4
    assert sum(1 for _ in records) == 1999
    assert read == path.stat().st_size


def test_rows_of_a_parquet_file_are_records(tmp_path: pathlib.Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "a.parquet"
    parquet.write_table(pyarrow.table({"q": ["one", "two"], "n": [1, None]}), path)
    assert [(record.position, record.value) for record in read_records(path)] == [
        (1, {"q": "one", "n": 1}),
        (2, {"q": "two", "n": None}),
    ]
    path.write_bytes(path.read_bytes()[:-20])
    (broken,) = read_records(path)
    assert broken.value is None
    assert "the table is broken here" in broken.fault
