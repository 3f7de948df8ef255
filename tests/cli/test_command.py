"""What all commands share: flags, streams, errors and exit codes."""

import argparse
import logging
import os
import pathlib
import re
import subprocess
import sys
from collections.abc import Callable

import pytest

from harness.cli import command
from harness.cli.gen_answer import parser as gen_answer
from harness.cli.gen_judgment import parser as gen_judgment
from harness.cli.show_result import parser as show_result
from harness.errors import ChatError, DataError, EndpointError, Interrupted
from harness.records import MODES, Failure
from tests.cli.conftest import ROOT, Run


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(["--modle", "x"], r"no flag --modle; did you mean --model\?", id="before-a-needed-one"),
        pytest.param(["--model", "x", "--bench", "y"], r"no flag --bench; did you mean --bench-name\?", id="cut-short"),
        pytest.param(["--model", "x", "--base_url=y"], r"no flag --base_url; did you mean --base-url\?", id="value"),
        pytest.param(["-model", "x"], r"no flag -model; did you mean --model\?", id="one-dash"),
        pytest.param(["--model", "x", "--xyzzy"], r"no flag --xyzzy \(see gen_answer --help\)", id="far"),
        pytest.param(["--model"], "argument --model: expected at least one argument", id="no-value"),
        pytest.param([], "the following arguments are required: --model", id="needed"),
        pytest.param(
            ["stray", "--model", "x"], r"'stray' belongs to no flag; did you mean --model stray\?", id="stray"
        ),
    ],
)
def test_a_wrong_flag_is_one_line_that_names_the_nearest(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match=r"^2$"):
        gen_answer().parse_args(words)
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.count("\n") == 1
    assert re.match(f"gen_answer: error: .*{said}", told.err)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(["--api-key=sk-secret"], "did you mean --api-key-env?", id="unknown-flag"),
        pytest.param(["--api-key-env", "sk-secret"], "must be the name of an environment variable", id="as-variable"),
        pytest.param(["--api-key-env", "secret0123"], "must be the name of an environment variable", id="plain"),
    ],
)
def test_a_key_on_the_command_line_is_not_repeated(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match=r"^2$"):
        gen_answer().parse_args(["--model", "x", *words])
    assert said in (told := capsys.readouterr().err)
    assert "secret" not in told


def test_a_variable_may_be_named_in_small_letters_if_it_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("my_key", "x")
    assert gen_answer().parse_args(["--model", "x", "--api-key-env", "my_key"]).api_key_env == "my_key"
    assert gen_answer().parse_args(["--model", "x", "--api-key-env", "MY_KEY2"]).api_key_env == "MY_KEY2"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(["--first-n", "0"], "must be a whole number from 1, this is '0'", id="none"),
        pytest.param(["--first-n", "two"], "must be a whole number from 1, this is 'two'", id="no-number"),
        pytest.param(["--first-n", "1.5"], "must be a whole number from 1, this is '1.5'", id="half"),
        pytest.param(["--first-n", "inf"], "must be a whole number from 1, this is 'inf'", id="endless"),
        pytest.param(["--question-begin", "-1"], "must be a whole number from 0, this is '-1'", id="negative"),
        pytest.param(["--temperature", "nan"], "must be a number from 0 to 2, this is 'nan'", id="nan"),
        pytest.param(["--temperature", "3"], "must be a number from 0 to 2, this is '3'", id="hot"),
        pytest.param(["--top-p", "0"], "must be a number above 0, at most 1, this is '0'", id="top-p"),
        pytest.param(["--timeout", "0"], "must be a number of seconds above 0, this is '0'", id="timeout"),
        pytest.param(["--parallel", "0"], "must be auto or a whole number from 1, this is '0'", id="parallel"),
    ],
)
def test_a_value_that_cannot_work_is_refused(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match=r"^2$"):
        gen_answer().parse_args(["--model", "x", *words])
    assert re.match(f"gen_answer: error: argument {words[0]}.*: {said} ", capsys.readouterr().err)


@pytest.mark.parametrize("make", [gen_judgment, show_result], ids=["gen_judgment", "show_result"])
@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["--model-list", "a", "b"], id="at-once"),
        pytest.param(["--model-list", "a", "--model-list", "b"], id="repeated"),
    ],
)
def test_several_names_are_given_at_once_or_one_by_one(make: Callable[[], command.Parser], words: list[str]) -> None:
    assert make().parse_args(["--judge-model", "j", *words]).model_list == ["a", "b"]


@pytest.mark.parametrize(
    ("make", "old", "attribute", "value"),
    [
        pytest.param(gen_answer, ["--force-temperature", "1"], "temperature", 1.0, id="force-temperature"),
        pytest.param(gen_answer, ["--openai-api-base", "u"], "base_url", "u", id="openai-api-base"),
        pytest.param(gen_answer, ["--max-new-token", "7"], "max_tokens", 7, id="max-new-token"),
        pytest.param(gen_answer, ["--answer-file", "f"], "answer_file", "f", id="answer-file"),
        pytest.param(gen_judgment, ["--judge-file", "f"], "judge_set", "f", id="judge-file"),
    ],
)
def test_fastchats_names_of_flags_are_accepted(
    make: Callable[[], command.Parser], old: list[str], attribute: str, value: object
) -> None:
    needed = ["--model", "x"] if make is gen_answer else ["--judge-model", "x"]
    assert getattr(make().parse_args([*needed, *old]), attribute) == value


def test_the_modes_are_those_of_the_records() -> None:
    assert command.MODES == MODES


def test_a_system_prompt_may_begin_with_a_dash() -> None:
    assert gen_answer().parse_args(["--model", "x", "--system=--be brief"]).system == "--be brief"
    assert gen_answer().parse_args(["--model", "x", "--system", "- be brief"]).system == "- be brief"


def outcome(error: BaseException | None, *words: str) -> int:
    def work(args: argparse.Namespace) -> int:
        if error is not None:
            raise error
        return 0

    return command.run_command(command.Parser("demo", "", []), work, words)


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        pytest.param(None, 0, "", id="none"),
        pytest.param(DataError("bad", path="f", line=3), 2, "demo: error: f:3: bad\n", id="input"),
        pytest.param(EndpointError("refused"), 2, "demo: error: refused\n", id="endpoint"),
        pytest.param(ChatError("failed"), 1, "demo: error: failed\n", id="call"),
        pytest.param(Interrupted("stopped"), 130, "demo: stopped\n", id="stopped"),
        pytest.param(KeyboardInterrupt(), 130, "demo: interrupted; .*run the same command again", id="ctrl-c"),
        pytest.param(
            OSError(36, "File name too long", "aaa"), 2, "demo: error: aaa: File name too long\n", id="system"
        ),
    ],
)
def test_an_error_is_a_line_and_an_exit_code(
    error: BaseException | None, code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert outcome(error) == code
    told = capsys.readouterr()
    assert told.out == ""
    assert re.match(f"^{said}", told.err)
    assert told.err.count("\n") == (1 if error else 0)


def test_verbose_shows_where_an_error_arose_and_keeps_the_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert outcome(DataError("bad", path="f"), "-v") == 2
    told = capsys.readouterr().err
    assert told.startswith("Traceback")
    assert told.endswith("demo: error: f: bad\n")


def test_warnings_are_lines_of_the_command_and_the_logger_is_left_as_it_was(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    logger = logging.getLogger("turnbench")

    def work(args: argparse.Namespace) -> int:
        logger.warning("look at %s", "this")
        return 0

    assert command.run_command(command.Parser("demo", "", []), work, []) == 0
    assert capsys.readouterr().err == "demo: warning: look at this\n"
    logger.warning("afterwards")
    assert [record.message for record in caplog.records] == ["afterwards"]


def test_failures_are_told_by_cause(capsys: pytest.CaptureFixture[str]) -> None:
    same = [Failure(f"m, question {n}", "outage", "no answer") for n in range(3)]
    other = [Failure(f"m, question {n}", "bad request", f"cause {n}") for n in range(20)]
    command.report_failures("demo", [*same, *other])
    told = capsys.readouterr().err.splitlines()
    assert told[0].startswith("demo: 23 failed, not in the file; run the same command again")
    assert told[1] == "  m, question 0 (and 2 more): no answer"
    assert told[-1] == "  and 11 further causes"
    command.report_failures("demo", [])
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("words", [["show_result", "--help"], ["gen_answer", "--help"], ["turnbench"]], ids=" ".join)
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
            f'exec "$0" -m harness.cli.gen_answer --model builtin/eliza --first-n 1 {stream}>&-',
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
