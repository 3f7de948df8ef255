"""The command check_bench: what it prints, and its exit codes."""

import json
import pathlib

import pytest

from harness.old.cli.check_bench import main

QUESTION = {"question_id": 1, "category": "math", "turns": ["One?", "Two?"]}


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    folder = tmp_path / "our_set"
    folder.mkdir()
    (folder / "question.jsonl").write_text(json.dumps(QUESTION) + "\n")
    return folder


def test_a_sound_set_is_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mt_bench"]) == 0
    out = capsys.readouterr().out
    assert "80 questions of 2 turns" in out
    assert "turn_2_kind" in out
    assert "\nno problems\n" in out


def test_problems_are_1_and_all_listed(folder: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (folder / "question.jsonl").open("a") as file:
        file.write("{}\nnot JSON\n")
    assert main([str(folder)]) == 1
    out = capsys.readouterr().out
    assert f"4 problems\n{folder}/question.jsonl:2: the field 'question_id' is missing" in out
    assert f"{folder}/question.jsonl:3: not valid JSON" in out


def test_missing_references_and_alike_questions_are_told_and_0(
    folder: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (folder / "question.jsonl").open("a") as file:
        file.write(json.dumps({**QUESTION, "question_id": 2}) + "\n")
    assert main([str(folder)]) == 0
    out = capsys.readouterr().out
    assert "no reference answer, which the judge set mt_bench requires\nmath: 1, 2" in out
    assert "the same words in two questions\n1 and 2" in out


def test_json_holds_everything(folder: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (folder / "question.jsonl").open("a") as file:
        file.write(json.dumps({**QUESTION, "question_id": 1}) + "\n")
    assert main([str(folder), "--format", "json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["bench"] == "our_set"
    assert report["turns"] == {"2": 1}
    (problem,) = report["problems"]
    assert problem["path"] == str(folder / "question.jsonl")
    assert problem["line"] == 2
    assert report["missing_references"] == [{"question_id": 1, "category": "math", "author": None}]


def test_long_lists_are_cut_in_the_table(folder: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "question.jsonl").write_text("{}\n" * 30)
    assert main([str(folder)]) == 1
    assert "90 problems\n" in (out := capsys.readouterr().out)
    assert "and 70 more; --format json lists all" in out


@pytest.mark.parametrize("which", ["no_such_set", "/nowhere/at/all"])
def test_no_such_benchmark_is_2(which: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([which]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("check_bench: error: no benchmark")
    assert captured.err.count("\n") == 1


@pytest.mark.parametrize("argv", [["mt_bench", "--format", "csv"], ["mt_bench", "--data"]])
def test_wrong_use_is_2(argv: list[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(argv)
