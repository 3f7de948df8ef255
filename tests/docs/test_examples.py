"""The examples run as they stand."""

import os
import pathlib
import subprocess
import sys
import tomllib

import pytest

from harness.cli import calls
from harness.cli.main import init
from tests.docs.pages import ROOT


def start(*words: str, folder: pathlib.Path) -> "subprocess.CompletedProcess[str]":
    path = f"{pathlib.Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "COLUMNS": "80"}
    return subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_the_demo_shows_results_and_ends_with_the_viewer(tmp_path: pathlib.Path) -> None:
    demo = start("sh", str(ROOT / "examples" / "demo.sh"), "demo", folder=tmp_path)
    assert demo.returncode == 0, demo.stderr
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = readme.partition("```text\n")[2].partition("```")[0].strip().split("\n\n")
    assert [paragraph in demo.stdout for paragraph in shown] == [True, True, True]
    assert demo.stdout.rstrip().endswith("viewer --data-dir demo")
    python = start(sys.executable, str(ROOT / "examples" / "python_api.py"), folder=tmp_path)
    assert python.returncode == 0, python.stderr
    assert "0 answers written" in python.stdout
    assert "builtin/reference" in (tmp_path / "demo" / "report.html").read_text(encoding="utf-8")


@pytest.mark.reference
def test_the_readme_has_what_its_command_recomputes(reference_data: pathlib.Path) -> None:
    words = [sys.executable, "-m", "benchmarks.judge_agreement", str(reference_data / "mt_bench")]
    table = start(*words, folder=ROOT).stdout.partition("\n\n")[0]
    assert table in (ROOT / "README.md").read_text(encoding="utf-8")
    assert table.count("\n") == 6


def test_every_line_of_the_first_turnbench_toml_may_be_used(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert init(["-q"]) == 0
    path = tmp_path / "turnbench.toml"
    lines = path.read_text(encoding="utf-8").splitlines()
    used = [line.removeprefix("# ") for line in lines if " = " in line or line.startswith("# [")]
    path.write_text("\n".join(used), encoding="utf-8")
    assert tomllib.loads("\n".join(used))["judge_set"] == "mt_bench"
    assert calls.configs()["my-model"].base_url == "http://localhost:8000/v1"
