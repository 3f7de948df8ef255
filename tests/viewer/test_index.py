"""The index finds every row that counts, reads on, and notices what changed."""

import pathlib
from typing import Any

import msgspec
import pytest

from harness import bench
from harness.bench import Bench
from viewer.index import Index


def write(path: pathlib.Path, rows: list[dict[str, Any]], mode: str = "wb") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open(mode) as file:
        file.writelines(msgspec.json.encode(row) + b"\n" for row in rows)


def grade(question: int, score: float, text: str = "because") -> dict[str, Any]:
    row = {"question_id": question, "model": "m", "judge": ["j", "t"], "turn": 1}
    return {**row, "judgment": text, "user_prompt": "asked", "score": score}


@pytest.fixture
def small(tmp_path: pathlib.Path) -> Bench:
    folder = tmp_path / "small"
    rows = [{"question_id": n, "category": "math", "turns": ["?"]} for n in (1, 2)]
    write(folder / "question.jsonl", rows)
    return bench.load("small", tmp_path)


def scores(index: Index) -> dict[int, Any]:
    return {row.question_id: row.score for _, row in index.slims("judgment")}


def test_a_failed_row_never_replaces_a_good_one_and_a_good_one_always_does(small: Bench) -> None:
    path = small.folder / "model_judgment" / "j_single.jsonl"
    write(path, [grade(1, 7), grade(1, -1), grade(2, -1)])
    index = Index(small)
    index.update()
    assert scores(index) == {1: 7, 2: -1}
    write(path, [grade(1, 3), grade(2, 5)], "ab")
    index.update()
    assert scores(index) == {1: 3, 2: 5}
    assert [row.judgment for row, _ in index.read(1, "judgment")] == ["because"]


def test_texts_stay_in_their_files(small: Bench) -> None:
    path = small.folder / "model_judgment" / "j_single.jsonl"
    write(path, [grade(1, 7, "a reason long enough to be noticed")])
    index = Index(small)
    index.update()
    assert [row.judgment for _, row in index.slims("judgment")] == [None]
    files = list(index.path.parent.glob("index.sqlite*"))
    assert files
    assert not any(b"long enough" in file.read_bytes() for file in files)


@pytest.mark.parametrize("how", ["replaced", "shortened", "edited"])
def test_a_file_that_did_not_just_grow_is_read_anew(small: Bench, how: str) -> None:
    path = small.folder / "model_judgment" / "j_single.jsonl"
    write(path, [grade(1, 7), grade(2, 7)])
    index = Index(small)
    index.update()
    if how == "replaced":
        path.rename(path.with_suffix(".old"))
        write(path, [grade(1, 2), grade(2, 7), grade(3, 7)])
    elif how == "shortened":
        write(path, [grade(1, 2)])
    else:
        write(path, [grade(1, 2), grade(2, 7), grade(2, 7)])
    assert index.update()
    assert scores(index)[1] == 2


def test_a_row_that_is_being_written_is_read_when_it_is_whole(small: Bench) -> None:
    path = small.folder / "model_judgment" / "j_single.jsonl"
    whole = msgspec.json.encode(grade(2, 9)) + b"\n"
    write(path, [grade(1, 7)])
    with path.open("ab") as file:
        file.write(whole[:20])
    index = Index(small)
    index.update()
    assert scores(index) == {1: 7}
    with path.open("ab") as file:
        file.write(whole[20:])
    index.update()
    assert scores(index) == {1: 7, 2: 9}
    assert index.faults == []


def test_a_wrong_line_is_named_and_the_rows_before_it_count(small: Bench) -> None:
    path = small.folder / "model_judgment" / "j_single.jsonl"
    write(path, [grade(1, 7), {"question_id": 2, "model": "m", "scor": 1}])
    index = Index(small)
    index.update()
    assert scores(index) == {1: 7}
    assert [fault.split(": ")[0] for fault in index.faults] == ["j_single.jsonl:2"]


def test_nothing_is_read_twice(small: Bench) -> None:
    path = small.folder / "model_judgment" / "j_single.jsonl"
    write(path, [grade(1, 7)])
    index = Index(small)
    assert [index.update(), index.update()] == [True, False]
    assert not Index(small).update()
