"""The GitHub action gates a model: its steps run here as a shell would run them."""

import os
import pathlib
import subprocess
import sys
from typing import Any

import pytest
import yaml

from tests.docs.pages import ROOT, toy
from tests.golden.running import run
from tests.servers import Rule, Server

ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))


@pytest.fixture
def stored(tmp_path: pathlib.Path) -> str:
    """Return the judgments of a run of the model `plain` on six questions."""
    with Server(Rule(toy)) as server:
        done = run(
            f"run_bench --model plain --judge-model big --base-url {server.url}/v1 --first-n 6 -y",
            tmp_path,
        )
    assert done.exit == 0, done.err
    path = tmp_path / "data" / "mt_bench" / "model_judgment" / "big_single.jsonl"
    return str(path.rename(tmp_path / "stored.jsonl"))


def gate(folder: pathlib.Path, **inputs: str) -> tuple[int, str]:
    """Run the action's last step; return its exit code and the job's summary."""
    step = ACTION["runs"]["steps"][-1]
    given = {name: about.get("default", "") for name, about in ACTION["inputs"].items()}
    given |= {name.replace("_", "-"): value for name, value in inputs.items()}
    names = {key: value.split("inputs.")[1].split(" ")[0] for key, value in step["env"].items()}
    summary = folder / "summary.md"
    keys = {key: given[name] for key, name in names.items()}
    path = f"{pathlib.Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, **keys, "PATH": path, "GITHUB_STEP_SUMMARY": str(summary)}
    words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    done = subprocess.run(words, cwd=folder, env=environment, check=False, capture_output=True)
    return done.returncode, summary.read_text(encoding="utf-8") if summary.exists() else ""


def test_a_model_that_is_no_worse_passes_under_another_name(
    tmp_path: pathlib.Path, stored: str
) -> None:
    with Server(Rule(toy)) as server:
        code, summary = gate(
            tmp_path,
            model="better-dpo",
            judge_model="big",
            against=stored,
            base_url=f"{server.url}/v1",
            compare="better-dpo=plain",
            flags=f"--first-n 6 --judge-base-url {server.url}/v1",
        )
    assert code == 0, summary
    assert "The run passes." in summary
    assert "| better-dpo | plain |" in summary


def test_a_missing_model_ends_the_job(tmp_path: pathlib.Path, stored: str) -> None:
    with Server(Rule(toy)) as server:
        code, _ = gate(
            tmp_path,
            model="better-dpo",
            judge_model="big",
            against=stored,
            base_url=f"{server.url}/v1",
            compare="better-dpo=unknown",
            flags="--first-n 6",
        )
    assert code == 2
