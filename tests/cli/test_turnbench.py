"""`turnbench` lists and runs the commands; `turnbench init` writes the project file."""

import json
import os
import pathlib
import subprocess
import sys
import tomllib

import pytest

from harness.cli import COMMANDS, SCRIPTS
from harness.cli.main import main

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_path_gets_turnbench_and_few_more_names() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    scripts = {name: f"harness.cli.main:{name}" for name in SCRIPTS}
    assert project["project"]["scripts"] == {"turnbench": "harness.cli.main:main", **scripts}


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        pytest.param(["--version"], 0, "turnbench 0.1.0", id="version"),
        pytest.param(["status", "--nope"], 2, "turnbench status: there is no flag", id="flag"),
    ],
)
def test_python_m_turnbench_is_turnbench(words: list[str], code: int, said: str) -> None:
    command = [sys.executable, "-m", "turnbench", *words]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (ran.returncode, said in ran.stdout + ran.stderr) == (code, True)


def test_help_imports_nothing_heavy() -> None:
    heavy = ("numpy", "openai", "gradio", "asyncio", "harness.judging")
    code = (
        "import sys, harness.cli.main as m\n"
        "for name in m.COMMANDS:\n"
        "    try: m.main([name, '--help'])\n"
        "    except SystemExit: pass\n"
        f"print([m for m in {heavy} if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == "[]"


def test_a_table_imports_nothing_that_makes_calls(tmp_path: pathlib.Path) -> None:
    grades = [
        {"question_id": q, "model": model, "judge": ["j", "t"], "score": q % 9 + 1, "turn": 1}
        for q in range(1001, 1011)
        for model in "ab"
    ]
    path = tmp_path / "data/mt_bench/model_judgment/j_single.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in grades))
    heavy = ("asyncio", "filelock", "harness.running", "importlib.metadata", "numpy.ma")
    code = (
        "import sys, harness.cli.main as m\n"
        "m.main(['show_result'])\n"
        f"print([m for m in {heavy} if m in sys.modules])"
    )
    command = [sys.executable, "-c", code]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert ran.stdout.splitlines()[-1] == "[]"


def test_an_unknown_command_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show_results"]) == 2
    assert "did you mean show_result?" in capsys.readouterr().err


def test_init_writes_a_project_file_and_keeps_one_that_is_there(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init"]) == 0
    assert tomllib.loads(pathlib.Path("turnbench.toml").read_text()) == {}
    assert main(["init"]) == 2
    assert "is there already" in capsys.readouterr().err


def test_the_overview_has_a_sentence_for_each_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    for name in COMMANDS:
        assert any(line.startswith(f"  {name} ") for line in lines)


def test_import_turnbench_is_harness(tmp_path: pathlib.Path) -> None:
    code = "import turnbench; print(turnbench.__version__, turnbench.gen_answer.__name__)"
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert ran.stdout.split() == ["0.1.0", "gen_answer"]
