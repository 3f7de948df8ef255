"""The examples run as they stand."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COMMANDS = ("gen_answer", "gen_judgment", "show_result")


@pytest.fixture
def environment(tmp_path: pathlib.Path) -> dict[str, str]:
    """Return an environment whose PATH has the commands, whether or not they are installed."""
    commands = tmp_path / "bin"
    commands.mkdir()
    for name in COMMANDS:
        command = commands / name
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m harness.old.cli.{name} "$@"\n', encoding="utf-8")
        command.chmod(0o755)
    return {**os.environ, "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}


def start(words: list[str], environment: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=120)


def test_the_demo_runs_under_30_seconds_and_again_with_nothing_left(
    tmp_path: pathlib.Path, environment: dict[str, str]
) -> None:
    data = str(tmp_path / "demo")
    before = os.times()
    first = start(["sh", "examples/demo.sh", data], environment)
    assert first.returncode == 0, first.stderr
    after = os.times()  # of the processor's time: how busy the machine is says nothing of the demo
    assert after.children_user + after.children_system - before.children_user - before.children_system < 30
    for model in ("builtin/reference", "builtin/outline", "builtin/eliza"):
        assert f"\n{model} " in first.stdout
    assert "for trying the harness out" in first.stdout
    assert "Where to look next" in first.stdout
    assert "\x1b" not in first.stdout
    again = start(["sh", "examples/demo.sh", data], environment)
    assert again.stdout == first.stdout
    assert again.stderr.count("nothing left to") == 5


def test_the_demo_stops_at_the_first_error(tmp_path: pathlib.Path, environment: dict[str, str]) -> None:
    occupied = tmp_path / "demo"
    occupied.write_text("a file where the folder should be")
    done = start(["sh", "examples/demo.sh", str(occupied)], environment)
    assert done.returncode == 2
    assert "A judge grades" not in done.stdout


def test_the_demo_from_python_shows_the_same_figures(tmp_path: pathlib.Path, environment: dict[str, str]) -> None:
    data = str(tmp_path / "data")
    done = start([sys.executable, "examples/python_api.py", data], environment)
    assert done.returncode == 0
    assert "240/240" in done.stderr
    assert "builtin/reference" in (tmp_path / "data" / "report.html").read_text(encoding="utf-8")
    shown = start(["show_result", "--data-dir", data, "--format", "csv"], environment)
    for line in shown.stdout.splitlines()[1:]:
        model, _, _, average, n, *_ = line.split(",")
        assert f"{model:20} average {float(average):.2f} over {n} grades\n" in done.stdout
    again = start([sys.executable, "examples/python_api.py", data], environment)
    assert again.stdout.startswith("0 problems in the questions\n0 answers written\n0 judgments written")


def test_make_viewer_does_not_repeat_a_demo_that_is_there(tmp_path: pathlib.Path) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    for name in ("pyproject.toml", "demo/mt_bench/model_judgment/j_pair.jsonl", ".venv/bin/python", ".venv/.installed"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    viewer = tmp_path / ".venv" / "bin" / "viewer"
    viewer.write_text('#!/bin/sh\necho "$@"\n', encoding="utf-8")
    viewer.chmod(0o755)
    done = subprocess.run(["make", "-s", "viewer"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("--data-dir demo\n", "")
