"""auto_checks: what it says, writes and refuses."""

import pathlib

import pytest

from harness.cli.main import main
from tests.old.small_bench import answer, question, rows, small_bench, write

FEW = {"kind": "count", "of": "words", "at_most": 3}


@pytest.fixture
def data(tmp_path: pathlib.Path) -> pathlib.Path:
    bench = small_bench(tmp_path, question(1, checks=[[FEW], [FEW]]))
    for model in ("a", "b"):
        write(bench.answer_file(model), [answer(1, model, "One two.", "One two three four.")])
    return tmp_path


def words(data: pathlib.Path, *more: str) -> list[str]:
    return ["auto_checks", "--data-dir", str(data), "--bench-name", "small", *more]


def test_it_checks_every_answer_and_needs_no_key(data: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words(data)) == 0
    told = capsys.readouterr()
    path = data / "small" / "model_metric" / "checks.jsonl"
    assert told.out == f"{path}\n"
    assert "checks: 4 turns to measure" in told.err
    assert [(row["model"], row["turn"], row["value"]) for row in rows(path)] == [
        ("a", 1, 1.0),
        ("a", 2, 0.0),
        ("b", 1, 1.0),
        ("b", 2, 0.0),
    ]


def test_it_checks_the_models_that_are_named(data: pathlib.Path) -> None:
    assert main(words(data, "--model-list", "b", "-q")) == 0
    assert {row["model"] for row in rows(data / "small" / "model_metric" / "checks.jsonl")} == {"b"}


def test_a_check_that_is_none_is_one_line(data: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = write(data / "small" / "question.jsonl", [question(1, checks=[[{"kind": "cuont"}], []])])
    assert main(words(data)) == 2
    fault = "check 1 of turn 1: no kind of check 'cuont'; did you mean 'count'?"
    assert capsys.readouterr().err == f"auto_checks: error: {where}:1: question 1: {fault}\n"
