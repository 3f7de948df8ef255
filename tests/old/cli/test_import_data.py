"""The command import_data."""

import json
import pathlib

import pytest

from harness.old.cli.import_data import main
from harness.old.importing import FORMATS
from harness.old.judging.sets import shipped_judge_sets


def test_every_format_is_a_function_that_is_there() -> None:
    for form in FORMATS.values():
        assert callable(form.load(form.item))
        assert form.answer is None or callable(form.load(form.answer))


def test_bad_records_are_listed_and_make_the_exit_code_1(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "qa.json"
    path.write_text(json.dumps([{"question": "1+1?", "answer": "2"}, {"question": "?"}]), encoding="utf-8")
    assert main(["short_facts", str(path), "--bench-name", "qa", "--data-dir", str(tmp_path)]) == 1
    out, err = capsys.readouterr()
    assert out.splitlines()[-1] == str(tmp_path / "qa" / "reference_answer" / "reference.jsonl")
    assert f"{path}, record 2: the field 'answer' is missing" in err


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        pytest.param([], "name the benchmark", id="no-bench"),
        pytest.param(["--bench-name", "b"], "give a format and a file", id="no-format"),
        pytest.param(["--bench-name", "b", "--back", "feedback_collection"], "with --output", id="no-output"),
    ],
)
def test_wrong_use_is_one_line(words: list[str], reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    err = capsys.readouterr().err
    assert reason in err
    assert err.count("\n") == 1


def test_what_to_do_next_is_said(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "qa.json"
    path.write_text(json.dumps([{"question": "1+1?", "answer": "2"}]), encoding="utf-8")
    words = ["short_facts", str(path), "--bench-name", "qa", "--data-dir", str(tmp_path), "--language", "hu"]
    assert main(words) == 0
    lines = capsys.readouterr().err.splitlines()
    where = f"--bench-name qa --data-dir {tmp_path}"
    assert f"next: gen_answer {where} --model MODEL" in lines
    assert f"next: gen_judgment {where} --judge-model JUDGE --judge-set short_fact_hu" in lines


def test_every_format_names_a_judge_set_that_is_shipped() -> None:
    for form in FORMATS.values():
        name = form.judging.format(language="en", votes="votes.jsonl").rpartition(" ")[2]
        assert name in shipped_judge_sets()
