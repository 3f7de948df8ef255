"""What is told on which stream, whatever becomes of the stream."""

import os
import pathlib
import subprocess
import sys

import pytest

from harness.old.cli import messages
from harness.old.records import Failure
from tests.old.cli.conftest import ROOT, Run


def test_failures_are_told_by_cause(capsys: pytest.CaptureFixture[str]) -> None:
    same = [Failure(f"m, question {n}", "outage", "no answer") for n in range(3)]
    other = [Failure(f"m, question {n}", "bad request", f"cause {n}") for n in range(20)]
    messages.report_failures("demo", [*same, *other])
    told = capsys.readouterr().err.splitlines()
    assert told[0].startswith("demo: 23 failed and not in the file; run the same command to try them again")
    assert told[1] == "  m, question 0 (and 2 more): no answer"
    assert told[-1] == "  and 11 further causes"
    messages.report_failures("demo", [])
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("words", [["show_result", "--help"], ["gen_answer", "--help"]], ids=" ".join)
def test_a_reader_that_goes_away_is_no_error(run: Run, words: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = run(*words, stdout=writing)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("stream", [0, 1, 2], ids=["stdin", "stdout", "stderr"])
def test_a_closed_stream_is_no_error(tmp_path: pathlib.Path, stream: int) -> None:
    closed = subprocess.run(
        [
            "sh",
            "-c",
            f'exec "$0" -m harness.old.cli.gen_answer --model builtin/eliza --first-n 1 {stream}>&-',
            sys.executable,
        ],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert closed.returncode == 0
    assert "Traceback" not in closed.stderr
    where = "data/mt_bench/model_answer/builtin%2Feliza.jsonl"
    assert closed.stdout == ("" if stream == 1 else f"{where}\n")
    assert (tmp_path / where).exists()


@pytest.mark.parametrize(("terminal", "shown"), [(True, "a\\u202eb.jsonl\n"), (False, "a\u202eb.jsonl\n")])
def test_paths_are_exact_for_programs_and_turn_no_terminal_round(
    terminal: bool, shown: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)
    messages.result_paths([pathlib.Path("a\u202eb.jsonl")])
    assert capsys.readouterr().out == shown


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_under_stdout_is_told(run: Run) -> None:
    with open("/dev/full", "w") as full:
        done = run("gen_answer", "--model", "builtin/eliza", "--first-n", "1", "-q", stdout=full)
    assert done.returncode == 2
    assert done.stderr == "gen_answer: error: stdout cannot be written: No space left on device\n"


def test_a_terminal_that_lacks_a_character_shows_it_escaped(run: Run, data: pathlib.Path) -> None:
    answers = data / "tiny" / "model_answer"
    (answers / "builtin%2Feliza.jsonl").rename(answers / "模型.jsonl")
    ascii_only = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "ascii"}
    judged = ["--data-dir", str(data), "--bench-name", "tiny"]
    assert run("gen_judgment", *judged, "--judge-model", "builtin/overlap").returncode == 0
    shown = run("show_result", *judged, env=ascii_only)
    assert shown.returncode == 0
    assert r"\u6a21\u578b" in shown.stdout


def test_a_message_steers_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    messages.tell("first\nsecond \x1b[2J\u202e")
    assert capsys.readouterr().err == "first\nsecond \\x1b[2J\\u202e\n"
