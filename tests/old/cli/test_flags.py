"""The flags that several commands have, and what their values may be."""

import re
from collections.abc import Callable

import pytest

from harness.old.cli import command, flags
from harness.old.cli.check_bench import parser as check_bench
from harness.old.cli.gen_answer import parser as gen_answer
from harness.old.cli.gen_judgment import parser as gen_judgment
from harness.old.cli.show_judge_set import parser as show_judge_set
from harness.old.cli.show_result import parser as show_result
from harness.old.records import MODES


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
        pytest.param(
            ["--parallel", "0"], "must be auto or a whole number from 1 to 100,000, this is '0'", id="parallel"
        ),
        pytest.param(["--processes", "1e24"], "must be a whole number from 1 to 4,096, this is '1e24'", id="processes"),
        pytest.param(
            ["--rpm", "1e-300"], "must be a number of calls .* at least 0.0006 .*, this is '1e-300'", id="rpm"
        ),
        pytest.param(["--tpm", "5e-324"], "must be a number of tokens .* at least 1, this is '5e-324'", id="tpm"),
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
    assert tuple(flags.MODES.split("|")) == MODES


@pytest.mark.parametrize(
    ("make", "flag", "default"),
    [
        pytest.param(check_bench, "--bench-name", "mt_bench", id="check_bench"),
        pytest.param(show_judge_set, "--judge-set", None, id="show_judge_set"),
    ],
)
def test_what_a_command_is_about_is_a_word_of_its_own_or_has_the_flag_of_other_commands(
    make: Callable[[], command.Parser], flag: str, default: str | None
) -> None:
    name = flag.strip("-").replace("-", "_")
    said = [getattr(make().parse_args(words), name) for words in (["ours"], [flag, "ours"], [])]
    assert said == ["ours", "ours", default]
