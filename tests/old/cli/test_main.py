"""`turnbench` and the help of every command."""

import argparse
import contextlib
import importlib
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tomllib

import pytest

from harness import __version__
from harness.old.cli.command import EXIT_CODES
from harness.old.cli.main import COMMANDS, main
from harness.old.cli.manual import options_of, parser_of
from tests.old.cli.conftest import ROOT, Run

HEAVY = {
    "anthropic",
    "asyncio",
    "fastchat",
    "filelock",
    "gradio",
    "httpx",
    "logging",
    "numpy",
    "openai",
    "pandas",
    "tqdm",
}
WAYS = [pytest.param((name,), id=f"module-{name}") for name in COMMANDS] + [
    pytest.param(("turnbench", name), id=f"turnbench-{name}") for name in COMMANDS
]


@pytest.mark.parametrize("way", WAYS)
def test_every_command_explains_itself_in_both_ways(run: Run, way: tuple[str, ...]) -> None:
    done = run(*way, "--help")
    assert done.returncode == 0
    assert done.stderr == ""
    assert done.stdout.startswith(f"usage: {way[-1]} ")
    for code, meaning in EXIT_CODES.items():
        assert f"{code:<4} {meaning}" in done.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_has_help_and_says_its_default(name: str) -> None:
    for group in parser_of(name)._action_groups:
        for action in options_of(group):
            text = str(action.help)
            told = "default: " in text or (action.required and "(required)" in text)
            assert told or not action.option_strings, action


@pytest.mark.parametrize("name", COMMANDS)
def test_stated_defaults_are_the_real_ones(name: str) -> None:
    for group in parser_of(name)._action_groups:
        for action in options_of(group):
            if isinstance(action.default, str | int) and action.default not in (True, False, argparse.SUPPRESS):
                shown = {"data": "./data"}.get(str(action.default), str(action.default))
                assert f"(default: {shown})" in str(action.help)


@pytest.mark.parametrize("name", COMMANDS)
def test_examples_run_as_they_stand(name: str) -> None:
    parser = parser_of(name)
    assert 2 <= len(parser.examples) <= 6
    for example in parser.examples:
        command, *words = shlex.split(example)
        assert command == name
        assert parser.parse_args(words)


@pytest.mark.parametrize("name", ["turnbench", *COMMANDS])
def test_help_imports_nothing_heavy(run: Run, name: str, tmp_path: pathlib.Path) -> None:
    module = "main" if name == "turnbench" else name
    script = tmp_path / "look.py"
    script.write_text(
        f"import sys\nfrom harness.old.cli.{module} import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        f"print(sorted({HEAVY!r} & sys.modules.keys()), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, str(script)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr.splitlines()[-1] == "[]"


@pytest.mark.parametrize("words", [[], ["--help"], ["-h"], ["help"]], ids=["nothing", "--help", "-h", "help"])
def test_turnbench_lists_all_commands(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 0
    shown = capsys.readouterr().out
    for name, purpose in COMMANDS.items():
        assert f"{name:14} {purpose}" in shown


@pytest.mark.parametrize(
    ("word", "said"),
    [
        pytest.param("gen_answr", "did you mean gen_answer", id="near"),
        pytest.param("plot", r"there are: gen_answer, gen_judgment, run_bench, show_result", id="far"),
        pytest.param("--verison", "no command '--verison'", id="flag"),
    ],
)
def test_an_unknown_command_is_one_line(word: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([word]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.count("\n") == 1
    assert re.search(said, told.err)


@pytest.mark.parametrize("words", [["--version"], *([name, "--version"] for name in COMMANDS)], ids=" ".join)
def test_version_is_told(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with contextlib.suppress(SystemExit):  # argparse exits by itself
        assert main(words) == 0
    assert capsys.readouterr().out == f"turnbench {__version__}\n"


def test_dashes_in_a_command_are_understood(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match=r"^0$"):
        main(["show-result", "--help"])
    assert capsys.readouterr().out.startswith("usage: show_result")


def test_help_of_a_command_has_a_second_way(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match=r"^0$"):
        main(["help", "gen_answer"])
    assert capsys.readouterr().out.startswith("usage: gen_answer")

