"""Command lines become records; what cannot be is one line."""

import pathlib

import pytest

from harness import options
from harness.cli import COMMANDS, command_words
from harness.cli.parser import help_texts, parse
from harness.errors import DataError, UsageError


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse(name, ["--help"])
    printed = capsys.readouterr().out
    assert printed.startswith(f"usage: {command_words(name)} ")
    assert printed.index("examples:") < printed.index("--version")
    texts = help_texts(options.__file__)
    for field in options.fields(options.record_of(name)):
        text = texts[field.owner.__name__, field.path[-1]]
        assert "".join(text.split()) in "".join(printed.split())


def test_values_are_flags_else_the_project_file_else_defaults() -> None:
    pathlib.Path("turnbench.toml").write_text('bench_name = "ours"\njudge_model = "j"\n')
    parsed = parse("gen_judgment", ["--first-n", "3"])
    found = parsed.options
    assert (found.bench.bench_name, found.judging.judge_model) == ("ours", ("j",))
    assert (found.slice.first_n, found.limits.max_cost) == (3, None)
    assert parsed.options.typed == {"first_n"}
    other = parse("gen_judgment", ["--bench-name", "theirs"])
    assert other.options.bench.bench_name == "theirs"


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        pytest.param("--modle x", "no flag --modle; did you mean --mode", id="unknown"),
        pytest.param("--first-n 0", "--first-n must be a whole number of at least 1", id="bound"),
        pytest.param("--mode pairwise", "--mode must be one of single, pairwise-b", id="choice"),
        pytest.param("--turns one", "--turns must be one or more of: a whole number", id="list"),
        pytest.param("--judge-model", "--judge-model: expected at least one", id="no value"),
    ],
)
def test_a_wrong_flag_is_one_line(argv: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse("gen_judgment", argv.split())


def test_a_misspelt_key_of_the_project_file_is_named() -> None:
    pathlib.Path("turnbench.toml").write_text('judge_modle = "x"\n')
    with pytest.raises(
        DataError, match=r"turnbench\.toml: unknown key 'judge_modle'; did you mean"
    ):
        parse("status", [])


def test_prefixed_groups_do_not_meet() -> None:
    argv = ["--temperature", "1", "--judge-temperature", "0", "--judge-base-url", "http://x/v1"]
    found = parse("run_bench", argv).options
    assert (found.sampling.temperature, found.judge_sampling.temperature) == (1, 0)
    assert (found.endpoint.base_url, found.judge.base_url) == (None, "http://x/v1")


def test_python_keywords_are_the_flags() -> None:
    found = options.build(options.GenJudgment, {"judge_model": "j", "turns": 2, "redo": "failed"})
    assert (found.judging.judge_model, found.slice.turns, found.judging.redo) == (
        ("j",),
        (2,),
        "failed",
    )
    with pytest.raises(UsageError, match="did you mean judge_model"):
        options.build(options.GenJudgment, {"jugde_model": "j"})
