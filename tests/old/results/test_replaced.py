"""Judgments of answers that have been replaced since are left out and counted."""

import json
import pathlib

import pytest

from harness import gen_answer, gen_judgment
from harness.old.bench import load_bench
from harness.old.errors import MissingError
from harness.old.results.replaced import NOT_CHECKED
from harness.old.results.show import show_result
from harness.old.status import bench_status
from tests.old.small_bench import question, small_bench


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    small_bench(tmp_path, *(question(n, turns=["Name three rivers.", "And two lakes?"]) for n in range(6)))
    gen_answer(["builtin/eliza", "builtin/outline"], bench_name="small", data_dir=tmp_path)
    gen_judgment("builtin/overlap", bench_name="small", data_dir=tmp_path)
    return tmp_path


def replace(folder: pathlib.Path, questions: int, turn: int = 2, model: str = "builtin/eliza") -> None:
    path = load_bench("small", folder).answer_file(model)
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for row in rows[:questions]:
        row["choices"][0]["turns"][turn - 1] = "Something else."
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def test_they_are_left_out_with_a_note_that_agrees_with_status(folder: pathlib.Path) -> None:
    assert [row["n"] for row in show_result(bench_name="small", data_dir=folder).rows()] == [12, 12]
    replace(folder, 4)
    result = show_result(bench_name="small", data_dir=folder)
    assert {row["model"]: row["n"] for row in result.rows()} == {"builtin/outline": 12, "builtin/eliza": 8}
    note = "4 judgments are about answers that have been replaced since (builtin/eliza 4) and are left out"
    assert any(own.startswith(note) for own in result.notes)
    [judge] = bench_status(load_bench("small", folder)).judges
    assert judge.superseded == 4


def test_where_nothing_else_is_left_that_is_the_error(folder: pathlib.Path) -> None:
    for model in ("builtin/eliza", "builtin/outline"):
        replace(folder, 6, turn=1, model=model)
    with pytest.raises(MissingError, match="all 24 judgments are about answers that have been replaced since"):
        show_result(bench_name="small", data_dir=folder)


def test_without_the_check_all_count_and_a_note_says_so(folder: pathlib.Path) -> None:
    replace(folder, 4)
    result = show_result(bench_name="small", data_dir=folder, check_answers=False)
    assert [row["n"] for row in result.rows()] == [12, 12]
    assert [note for note in result.notes if "replaced" in note] == [NOT_CHECKED]
