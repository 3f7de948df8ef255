"""Commands that are killed or interrupted, as processes of their own."""

import json
import pathlib
import random
import signal
import subprocess
import sys
import time

import pytest

from harness.store import Pending, latest
from harness.types import Answer
from tests.servers import Call, Rule, Server

pytestmark = pytest.mark.slow
PARALLEL = 8


def command(folder: pathlib.Path, url: str) -> list[str]:
    flags = ["--bench-name", "small", "--data-dir", str(folder), "--model", "m", "--quiet"]
    flags += ["--base-url", f"{url}/v1", "--parallel", str(PARALLEL)]
    return [sys.executable, "-m", "turnbench", "gen_answer", *flags]


def bench(folder: pathlib.Path, questions: int) -> None:
    (folder / "small").mkdir()
    rows = [
        {"question_id": n, "category": "x", "turns": [f"Q{n}", f"R{n}"]} for n in range(questions)
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "small" / "question.jsonl").write_text(text)


def echo(call: Call) -> str:
    return " / ".join(text for _, text in call.messages)


def test_twenty_kills_and_a_resume_give_exactly_the_right_rows(tmp_path: pathlib.Path) -> None:
    bench(tmp_path, 300)
    drawn = random.Random(1)
    kills = 0
    with Server(Rule(echo, delay=0.05)) as server:
        while kills < 20:
            process = subprocess.Popen(command(tmp_path, server.url), stdout=subprocess.DEVNULL)
            time.sleep(drawn.uniform(0.4, 1.6))
            if process.poll() is not None:
                break
            process.kill()
            process.wait()
            kills += 1
        assert subprocess.run(command(tmp_path, server.url), check=False).returncode == 0
        calls = len(server.calls)
    path = tmp_path / "small" / "model_answer" / "m.jsonl"
    rows = latest(path, Answer)
    assert len(path.read_text().splitlines()) == len(rows) == 300
    for (key,), row in rows.items():
        first = f"Q{key}"
        assert row.choices[0].turns == [first, f"{first} / {first} / R{key}"]
    assert calls <= 600 + kills * PARALLEL
    with Pending(path) as pending:  # a kill at the very end may leave the file, with nothing open
        pass
    assert not pending.path.exists()


# Python's own first moments are not ours to end in one line: `ready` says that ours have begun.
READY = """
import sys
def ready(event, args):
    if event == "import" and args[0] == "harness.cli.command":
        print("ready", flush=True)
sys.addaudithook(ready)
from harness.cli.main import gen_answer
sys.exit(gen_answer())
"""


def test_ctrl_c_at_any_instant_ends_in_one_line(tmp_path: pathlib.Path) -> None:
    bench(tmp_path, 3000)  # more than all thirteen runs get done
    with Server(Rule("x", delay=0.02)) as server:
        flags = command(tmp_path, server.url)[4:]
        for steps in range(13):
            process = subprocess.Popen(
                [sys.executable, "-c", READY, *flags],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            time.sleep(0.08 * steps)
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=20)
            assert process.returncode == 130, said
            assert len(said.splitlines()) == 1, said
            assert "interrupted" in said or "stopped" in said
