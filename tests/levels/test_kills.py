"""`run_bench --levels` killed again and again, against a server on this machine."""

import json
import pathlib
import random
import re
import subprocess
import sys
import time
from typing import Any

import pytest

from tests.levels.sums import SUMS
from tests.servers import Call, Rule, Server

pytestmark = pytest.mark.slow
TEMPLATES, WAVES, PARALLEL = 12, 3, 4


def bench(folder: pathlib.Path) -> pathlib.Path:
    home = folder / "ours"
    home.mkdir(parents=True)
    for at in range(TEMPLATES):
        (home / f"sums_{at}.py").write_text(SUMS)
    return home


def command(folder: pathlib.Path, url: str) -> list[str]:
    flags = ["--levels", "--waves", str(WAVES), "--bench-name", "ours", "--data-dir", str(folder)]
    flags += ["--model", "m", "--base-url", f"{url}/v1", "--parallel", str(PARALLEL), "--quiet"]
    return [sys.executable, "-m", "turnbench", "run_bench", *flags]


def adds(call: Call) -> str:
    """Add up, and be wrong at every third sum."""
    found = re.search(r"What is (\d+) \+ (\d+)", call.text)
    assert found
    total = int(found[1]) + int(found[2])
    times = 2 if "And twice" in call.text else 1
    return f"Answer: {total * times + (total % 3 == 0)}"


def rows(folder: pathlib.Path) -> dict[str, list[str]]:
    """Return of each file its rows, sorted, without what is of the moment."""

    def lasting(item: dict[str, Any]) -> dict[str, Any]:
        return {k: v for k, v in item.items() if k not in {"tstamp", "answer_id", "seconds"}}

    return {
        str(path.relative_to(folder)): sorted(
            json.dumps(json.loads(line, object_hook=lasting))
            for line in path.read_text().splitlines()
        )
        for path in folder.rglob("*.jsonl")
        if ".turnbench" not in path.parts
    }


def test_kills_and_a_resume_give_the_rows_of_an_undisturbed_run(tmp_path: pathlib.Path) -> None:
    undisturbed, killed = bench(tmp_path / "a"), bench(tmp_path / "b")
    draw = random.Random(1)
    kills = 0
    with Server(Rule(adds, delay=0.08)) as server:
        began = time.monotonic()
        subprocess.run(command(tmp_path / "a", server.url), stdout=subprocess.DEVNULL, check=True)
        took = time.monotonic() - began
        enough = len(server.calls)
        while True:
            process = subprocess.Popen(
                command(tmp_path / "b", server.url), stdout=subprocess.DEVNULL
            )
            time.sleep(draw.uniform(0.2, 0.45) * took)
            if process.poll() is not None or kills == 30:
                break
            process.kill()
            process.wait()
            kills += 1
        assert process.wait() == 0
        calls = len(server.calls) - enough
    found = rows(killed)
    assert found == rows(undisturbed)
    assert len(found["question.jsonl"]) == len(found["model_answer/m.jsonl"]) == TEMPLATES * WAVES
    assert enough == 2 * TEMPLATES * WAVES
    assert kills >= 3
    assert calls <= enough + kills * PARALLEL
