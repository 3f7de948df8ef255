"""`--serve vllm`: a stand-in of that name on PATH, started and stopped for real, speaks the protocol on loopback."""

import json
import os
import pathlib
import select
import signal
import subprocess
import sys

import pytest

from tests.old.processes import ROOT
from tests.old.small_bench import question, rows, small_bench

STAND_IN = f"""#!{sys.executable}
import json, os, pathlib, sys, threading

sys.path.insert(0, {str(ROOT)!r})
from tests.old.protocol_server import Fault, ProtocolServer, parrot

place = pathlib.Path(__file__).parent

def answer(asked):
    if asked.number == int(os.environ.get("KILLS", "-1")):
        os.kill(int((place / "command").read_text()), int(os.environ["HOW"]))
    return parrot(asked)

if "--broken" in sys.argv:
    sys.exit("no such architecture")
(place / "argv").write_text(json.dumps([os.getpid(), *sys.argv[1:]]))
well = lambda asked: Fault(200, "well") if asked.path == "/health" else None
with ProtocolServer(answer, faults=well, port=int(sys.argv[sys.argv.index("--port") + 1])):
    threading.Event().wait()
"""


@pytest.fixture
def programs(tmp_path: pathlib.Path) -> pathlib.Path:
    """Return a folder with the stand-in."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "vllm").write_text(STAND_IN)
    (folder / "vllm").chmod(0o755)
    return folder


def command(tmp_path: pathlib.Path, programs: pathlib.Path, *more: str, **variables: str) -> "subprocess.Popen[str]":
    words = [sys.executable, "-m", "harness.old.cli.gen_answer", "--bench-name", "small", "--data-dir", str(tmp_path), "-q"]
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), **variables}
    started = subprocess.Popen([*words, *more], stderr=subprocess.PIPE, text=True, env=environment, cwd=ROOT)
    (programs / "command").write_text(str(started.pid))
    return started


def ended(pid: int) -> bool:
    """Wait for a process that is not ours to end."""
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    with os.fdopen(watched):
        return bool(select.select([watched], [], [], 30)[0])


WEIGHTS = ("--model-path", "./weights", "--model-id", "mine", "--parallel", "1")


def test_weights_are_served_for_the_length_of_a_run(tmp_path: pathlib.Path, programs: pathlib.Path) -> None:
    bench = small_bench(tmp_path, *(question(n) for n in range(1, 4)))
    run = command(tmp_path, programs, *WEIGHTS, "--serve", "vllm --tensor-parallel-size 2")
    told = run.communicate()[1]
    assert run.returncode == 0, told
    assert len(rows(bench.answer_file("mine"))) == 3
    pid, *argv = json.loads((programs / "argv").read_text())
    assert argv[:4] == ["serve", "./weights", "--host", "127.0.0.1"]
    assert argv[6:] == ["--served-model-name", "mine", "--dtype", "auto", "--tensor-parallel-size", "2"]
    assert ended(pid)
    (programs / "argv").unlink()
    again = command(tmp_path, programs, *WEIGHTS, "--serve", "vllm")
    assert (again.communicate()[1], again.returncode) == ("", 0)
    assert not (programs / "argv").exists(), "a server was started for nothing"


@pytest.mark.parametrize(("how", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)])
def test_no_server_outlives_the_command(
    how: signal.Signals, code: int, tmp_path: pathlib.Path, programs: pathlib.Path
) -> None:
    bench = small_bench(tmp_path, *(question(n) for n in range(1, 4)))
    run = command(tmp_path, programs, *WEIGHTS, "--serve", "vllm", KILLS="3", HOW=str(int(how)))
    told = run.communicate()[1]
    assert run.returncode == code, told
    assert ended(json.loads((programs / "argv").read_text())[0])
    assert len(rows(bench.answer_file("mine"))) < 3


@pytest.mark.parametrize(
    ("more", "line"),
    [
        pytest.param(
            ["--serve", "vllm --broken"], "before it was ready (exit code 1): no such architecture", id="broken"
        ),
        pytest.param(["--serve", "ollama"], "only vllm can be served", id="another server"),
        pytest.param(["--serve", "vllm", "--base-url", "http://x/v1"], "without --base-url", id="an address as well"),
    ],
)
def test_what_cannot_be_served_is_one_line(
    more: list[str], line: str, tmp_path: pathlib.Path, programs: pathlib.Path
) -> None:
    small_bench(tmp_path)
    run = command(tmp_path, programs, *WEIGHTS, *more)
    told = run.communicate()[1]
    assert (run.returncode, told.splitlines()[-1].count(line)) == (2, 1), told
    assert "Traceback" not in told


def test_without_vllm_one_line_says_so(tmp_path: pathlib.Path, programs: pathlib.Path) -> None:
    small_bench(tmp_path)
    (programs / "vllm").unlink()
    run = command(tmp_path, programs, *WEIGHTS, "--serve", "vllm")
    told = run.communicate()[1]
    assert (run.returncode, told.count("\n")) == (2, 1)
    assert "vLLM is not installed; pip install vllm" in told
