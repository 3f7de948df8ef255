"""Verdicts read from text and verdicts weighted by log-probabilities are never in one table."""

import json
import pathlib
from typing import Any

import pytest

from harness.old.cli import judge_report, show_result
from harness.old.judgments.reading import read_judgments
from tests.old.small_bench import write


def graded(model: str, question: int, score: float, **more: Any) -> dict[str, Any]:
    row = {"question_id": question, "model": model, "judge": ["j", "t"], "score": score, "turn": 1}
    return row | {"judge_set": "mine", "judge_set_version": "1", "sample": 0} | more


@pytest.fixture
def mixed(tmp_path: pathlib.Path) -> str:
    path = tmp_path / "j@mine_single.jsonl"
    read = [graded(model, q, 5, criterion=None) for model in "xy" for q in range(1, 7)]
    weighed = [graded(model, q, 3.25, score_method="logprobs") for model in "xy" for q in range(1, 7)]
    write(path, read + weighed)
    return str(path)


def test_both_in_one_file_are_refused_with_the_flag_that_chooses(
    mixed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for main, report in ((show_result.main, []), (judge_report.main, ["repeat"])):
        assert main([*report, "--input-file", mixed]) == 2
        assert "not comparable, choose one with --score-method: logprobs, text" in capsys.readouterr().err


@pytest.mark.parametrize(("method", "average"), [("text", 5), ("logprobs", 3.25)])
def test_the_one_that_is_named_is_shown(
    mixed: str, capsys: pytest.CaptureFixture[str], method: str, average: float
) -> None:
    assert show_result.main(["--input-file", mixed, "--score-method", method, "--format", "json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert {row["average"] for row in shown["rows"]} == {average}
    assert all(row["n"] == 6 for row in shown["rows"])


def test_a_table_of_weighed_verdicts_says_so(mixed: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert show_result.main(["--input-file", mixed, "--score-method", "logprobs"]) == 0
    assert "note: verdicts weighted by the judge's log-probabilities" in capsys.readouterr().out


def test_one_does_not_replace_the_other(mixed: str) -> None:
    read = read_judgments(pathlib.Path(mixed))
    assert read.replaced == 0
    assert {source.method for source in read.observations.sources()} == {"text", "logprobs"}
    assert {one.source.method for one in read.observations} == {"text", "logprobs"}


@pytest.mark.parametrize("version", [None, ""], ids=["none", "empty"])
def test_a_judge_set_without_version_is_shown_by_its_name(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str], version: str | None
) -> None:
    path = tmp_path / "j@mine_single.jsonl"
    write(path, [graded("x", 1, 5, judge_set_version=version)])
    assert show_result.main(["--input-file", str(path), "--judge-set", "mine"]) == 0
    assert "judge set: mine\n" in capsys.readouterr().out
