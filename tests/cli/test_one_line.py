"""What is wrong is said in one line, and what helps is named."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

from harness.cli.main import gen_answer, gen_judgment, show_judge_set, show_result

QUESTION = {"question_id": 1, "category": "math", "turns": ["2 + 2?"]}
ANSWER = {"question_id": 1, "model_id": "alpha", "choices": [{"index": 0, "turns": ["4"]}]}


def write(path: pathlib.Path, row: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")


@pytest.fixture
def flags(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "data/tiny/question.jsonl", QUESTION)
    write(tmp_path / "data/tiny/model_answer/alpha.jsonl", ANSWER)
    return ["--bench-name", "tiny"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--model", "m", "--base-url", "http://localhost:99999/v1"], "is no address"),
        (["--model", "m", "--base-url", "http://local\x01host/v1"], "is no address"),
        (["--model", "m\nn", "--base-url", "http://localhost/v1"], "the model name 'm\\nn'"),
        (["--model", "m", "--system", "x\udcff"], "is not UTF-8"),
    ],
)
def test_words_that_no_call_could_use_are_refused(
    flags: list[str], words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gen_answer([*words, *flags]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


def test_a_date_that_there_is_not(flags: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    pathlib.Path("set.yaml").write_text("day: 2026-13-45\n")
    assert show_judge_set(["--judge-set", "set.yaml", *flags]) == 2
    assert "set.yaml: is not valid YAML" in capsys.readouterr().err


def test_a_score_of_400_digits(flags: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    row = {"question_id": 1, "model": "alpha", "judge": ["j", "single-v1"], "score": 10**400}
    write(pathlib.Path("data/tiny/model_judgment/j_single.jsonl"), row)
    assert show_result(flags) == 2
    assert "j_single.jsonl:1: its score is larger than" in capsys.readouterr().err


def test_a_renamed_answer_file_is_said_to_be_one_model(
    flags: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    write(pathlib.Path("data/tiny/model_answer/beta.jsonl"), ANSWER)
    write(pathlib.Path("data/tiny/reference_answer/human.jsonl"), ANSWER)
    assert gen_judgment(["--judge-model", "builtin/overlap", *flags]) == 0
    assert "beta.jsonl holds answers that say they are of alpha" in capsys.readouterr().err


def test_a_missing_reference_names_the_category_and_its_folder(
    flags: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert gen_judgment(["--judge-model", "builtin/overlap", *flags]) == 2
    err = capsys.readouterr().err
    assert "the category 'math'" in err
    assert "reference_answer/" in err
    assert "question.jsonl" not in err


def test_a_folder_without_data_is_named(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert show_result([]) == 2
    assert f"there is no data/ in {tmp_path}" in capsys.readouterr().err


def test_a_terminal_that_lacks_a_letter_shows_its_number(flags: list[str]) -> None:
    pathlib.Path("data/tiny/model_answer/möbel.jsonl").write_text(json.dumps(ANSWER) + "\n")
    write(pathlib.Path("data/tiny/reference_answer/human.jsonl"), ANSWER)
    assert gen_judgment(["--judge-model", "builtin/overlap", *flags]) == 0
    command = [sys.executable, "-m", "turnbench", "show_result", *flags]
    ran = subprocess.run(
        command, env={**os.environ, "PYTHONIOENCODING": "ascii"}, capture_output=True, check=False
    )
    assert (ran.returncode, b"m\\xf6bel" in ran.stdout) == (0, True)
