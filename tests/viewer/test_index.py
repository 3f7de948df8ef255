"""The index finds every row that counts, reads on, and notices what changed."""

import pathlib
from typing import Any

import msgspec
import pytest

from harness import bench
from harness.bench import Bench
from tests.viewer.small import write
from viewer.index import Index


def grade(question: int, score: float) -> dict[str, Any]:
    row = {"question_id": question, "model": "m", "judge": ["j", "t"], "turn": 1}
    return {**row, "judgment": "because", "user_prompt": "asked", "score": score}


@pytest.fixture
def bench_of_two(tmp_path: pathlib.Path) -> Bench:
    folder = tmp_path / "small"
    rows = [{"question_id": n, "category": "math", "turns": ["?"]} for n in (1, 2)]
    write(folder / "question.jsonl", rows)
    return bench.load("small", tmp_path)


def scores(index: Index) -> dict[int, Any]:
    rows = [row for question in (1, 2) for row, _ in index.read(question, "judgment")]
    return {row.question_id: row.score for row in rows}


def test_a_failed_row_never_replaces_a_good_one_and_a_good_one_always_does(
    bench_of_two: Bench,
) -> None:
    path = bench_of_two.folder / "model_judgment" / "j_single.jsonl"
    write(path, [grade(1, 7), grade(1, -1), grade(2, -1)])
    index = Index(bench_of_two)
    index.update()
    assert scores(index) == {1: 7, 2: -1}
    write(path, [grade(1, 3), grade(2, 5)], "ab")
    index.update()
    assert scores(index) == {1: 3, 2: 5}
    assert [row.judgment for row, _ in index.read(1, "judgment")] == ["because"]


@pytest.mark.parametrize("how", ["replaced", "shortened", "edited"])
def test_a_file_that_did_not_just_grow_is_read_anew(bench_of_two: Bench, how: str) -> None:
    path = bench_of_two.folder / "model_judgment" / "j_single.jsonl"
    write(path, [grade(1, 7), grade(2, 7)])
    index = Index(bench_of_two)
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


def test_a_row_that_is_being_written_is_read_when_it_is_whole(bench_of_two: Bench) -> None:
    path = bench_of_two.folder / "model_judgment" / "j_single.jsonl"
    whole = msgspec.json.encode(grade(2, 9)) + b"\n"
    write(path, [grade(1, 7)])
    with path.open("ab") as file:
        file.write(whole[:20])
    index = Index(bench_of_two)
    index.update()
    assert scores(index) == {1: 7}
    with path.open("ab") as file:
        file.write(whole[20:])
    index.update()
    assert scores(index) == {1: 7, 2: 9}
    assert index.faults == []


def test_a_row_that_is_none_is_named_and_the_others_are_read(bench_of_two: Bench) -> None:
    path = bench_of_two.folder / "model_judgment" / "j_single.jsonl"
    faulty = grade(1, 7)
    del faulty["score"]
    write(path, [grade(1, 5), faulty, grade(1, 6)])
    index = Index(bench_of_two)
    index.update()
    assert scores(index) == {1: 6}
    assert index.faults == ["j_single.jsonl:2: has no score, label, scores or points"]
    write(path, [grade(1, 5)])
    index.update()
    assert index.faults == []


def test_nothing_is_read_twice(bench_of_two: Bench) -> None:
    path = bench_of_two.folder / "model_judgment" / "j_single.jsonl"
    write(path, [grade(1, 7)])
    index = Index(bench_of_two)
    assert [index.update(), index.update()] == [True, False]
    assert not Index(bench_of_two).update()
