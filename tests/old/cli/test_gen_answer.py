"""gen_answer: what it says, what it writes, and what it does when calls fail."""

import json
import pathlib
import re

import pytest

from harness.cli.main import main
from harness.old.running import bar
from tests.old.cli.conftest import Run
from tests.old.protocol_server import ProtocolServer, bad_request, rate_limited


def answer(data: pathlib.Path, *words: str) -> int:
    return main(["gen_answer", "--data-dir", str(data), "--bench-name", "tiny", *words])


def test_results_are_the_files_and_all_else_is_on_stderr(run: Run, data: pathlib.Path) -> None:
    done = run("gen_answer", "--model", "builtin/reference", "--data-dir", str(data), "--bench-name", "tiny")
    assert (done.returncode, done.stdout) == (0, f"{data}/tiny/model_answer/builtin%2Freference.jsonl\n")
    assert "builtin/reference: 2 questions to answer, 4 calls" in done.stderr
    assert "2/2" in done.stderr
    again = run("gen_answer", "--model", "builtin/reference", "--data-dir", str(data), "--bench-name", "tiny")
    assert again.stdout == done.stdout
    assert again.stderr == "builtin/reference: 2 answered before, nothing left to answer\n"


def test_failures_are_listed_and_the_exit_code_is_1(
    data: pathlib.Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bar, "IN_FILE", 0.0)
    capsys.readouterr()
    with ProtocolServer(faults={0: rate_limited(0), 1: bad_request("the prompt is odd")}) as server:
        words = ["--model", "m", "--base-url", server.openai_url, "--parallel", "1"]
        assert answer(data, *words) == 1
        shown = capsys.readouterr()
        assert "gen_answer: 1 failed and not in the file; run the same command to try them again:" in shown.err
        assert re.search(r"^  m, question [12]: .*the prompt is odd", shown.err, re.MULTILINE)
        assert "failed 1" in shown.err
        assert "retries 1" in shown.err
        assert "tokens in" in shown.err
        assert answer(data, *words) == 0
    rows = (data / "tiny" / "model_answer" / "m.jsonl").read_text(encoding="utf-8").splitlines()
    assert sorted(json.loads(row)["question_id"] for row in rows) == [1, 2]


def test_model_may_be_repeated(data: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert answer(data, "--model", "builtin/eliza", "--model", "builtin/outline", "builtin/eliza", "-q") == 0
    assert capsys.readouterr().out.count("\n") == 2


def test_redo_keeps_the_old_rows_aside(data: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(data, "--model", "builtin/eliza", "--redo") == 0
    assert f"2 older answers moved to {data}/tiny/.turnbench/model_answer/superseded" in capsys.readouterr().err


def test_an_answer_file_may_be_named(data: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = data / "own.jsonl"
    capsys.readouterr()
    assert answer(data, "--model", "builtin/eliza", "--answer-file", str(path), "-q") == 0
    assert capsys.readouterr().out == f"{path}\n"
    assert len(path.read_text(encoding="utf-8").splitlines()) == 2


def test_verbose_names_questions_files_and_addresses(data: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(data, "--model", "builtin/eliza", "-v") == 0
    told = capsys.readouterr().err
    assert f"questions: {data}/tiny/question.jsonl" in told
    assert f"built in; answers: {data}/tiny/model_answer/builtin%2Feliza.jsonl" in told
