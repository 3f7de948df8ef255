"""The parser, and how a command ends: errors, warnings and exit codes."""

import argparse
import logging
import re

import pytest

from harness.old.cli import command
from harness.old.cli.gen_answer import parser as gen_answer
from harness.old.errors import ChatError, DataError, EndpointError, Interrupted


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(["--modle", "x"], r"no flag --modle; did you mean --model\?", id="before-a-needed-one"),
        pytest.param(["--model", "x", "--bench", "y"], r"no flag --bench; did you mean --bench-name\?", id="cut-short"),
        pytest.param(["--model", "x", "--base_url=y"], r"no flag --base_url; did you mean --base-url\?", id="value"),
        pytest.param(["-model", "x"], r"no flag -model; did you mean --model\?", id="one-dash"),
        pytest.param(["--model", "x", "--qqqqq"], r"no flag --qqqqq \(see gen_answer --help\)", id="far"),
        pytest.param(["--model"], "argument --model: expected at least one argument", id="no-value"),
        pytest.param(
            ["mt_bench", "--model", "x"],
            r"'mt_bench' is not the value of a flag; did you mean --bench-name mt_bench\?",
            id="bench",
        ),
        pytest.param(
            ["stray", "--model", "x"], r"'stray' is not the value of a flag; did you mean --model stray\?", id="stray"
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
