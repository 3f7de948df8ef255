"""Run commands beside the mock server and say how long they took, what they used, and what the server saw of them."""

import contextlib
import http.client
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.runner_parts.latency import Latency

ROOT = pathlib.Path(__file__).resolve().parents[2]
LAUNCHER = pathlib.Path(__file__).resolve().with_name("launch.py")


@dataclass(frozen=True, slots=True)
class Command:
    """One process to run."""

    argv: tuple[str, ...]
    cwd: pathlib.Path
    env: Mapping[str, str] = field(default_factory=dict)
    stdin: str = ""


@dataclass(frozen=True, slots=True)
class Measured:
    """One run of one contender; seconds, unless said otherwise."""

    wall: float
    """Whole processes, start-up included, one after the other."""
    span: float
    """From the first request to the last reply, at the server."""
    start: float
    """From the start of the first process to the first request."""
    end: float
    """From the last reply to the end of the last process."""
    calls: int
    cpu: float
    """User and system seconds of the client."""
    rss: float
    """Peak MB of the largest process."""
    most_in_flight: int
    others: float = 0.0
    """Processor cores that anything else on the machine kept busy meanwhile; 0 where it cannot be told."""
    kept: int | None = None
    """Good records on disk; None for a client that keeps none."""


class FailedRunError(Exception):
    """A contender ended with an error, or did not do the work."""


class Server:
    """The mock server, in a process of its own."""

    def __init__(self, process: "subprocess.Popen[str]", port: int) -> None:
        self.process = process
        self.port = port
        self.url = f"http://127.0.0.1:{port}"

    def cpu(self) -> float:
        """Return the processor seconds that the server has used."""
        try:
            fields = (
                pathlib.Path(f"/proc/{self.process.pid}/stat")
                .read_text()
                .rpartition(")")[2]
                .split()
            )
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def begin(self, latency: Latency, record: pathlib.Path | None = None) -> dict[str, Any]:
        """Return what the server saw since it was last asked; from now on it waits like this."""
        settings: dict[str, Any] = {
            "median": latency.median,
            "sigma": latency.sigma,
            "seed": latency.seed,
        }
        if record is not None:
            settings["record"] = str(record)
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request("POST", "/control", json.dumps(settings))
            seen: dict[str, Any] = json.loads(connection.getresponse().read())
        finally:
            connection.close()
        return seen


@contextlib.contextmanager
def running_server() -> Iterator[Server]:
    """Run the mock server on the last core while the block runs."""
    core = max(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
    argv = [
        sys.executable,
        "-m",
        "benchmarks.runner_parts.server",
        *(["--core", str(core)] if core else []),
    ]
    process = subprocess.Popen(
        argv, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield Server(process, int(process.stdout.readline()))
    finally:
        process.stdin.close()
        process.wait(timeout=10)


def environment(more: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a contender: no keys, no proxies, nothing of this benchmark's.

    Python keeps what it has compiled, whatever this machine's setting, as it does for an installed package.
    """
    secret = ("KEY", "TOKEN", "PROXY", "_BASE_URL", "_API_BASE")
    kept = {name: value for name, value in os.environ.items() if not name.upper().endswith(secret)}
    kept.pop("PYTHONDONTWRITEBYTECODE", None)
    return {**kept, "NO_PROXY": "127.0.0.1,localhost", "PYTHONWARNINGS": "ignore", **more}


def measure(
    commands: Sequence[Command], server: Server, latency: Latency, *, limit: float
) -> Measured:
    """Run the commands one after the other and return what they took.

    Raises:
        FailedRunError: one ended with an error or took longer than `limit` seconds.
    """
    server.begin(latency)
    wall = cpu = rss = 0.0
    begun, busy = time.monotonic(), _busy_seconds() - server.cpu()
    for command in commands:
        seconds, used, peak = timed(command, limit=limit)
        wall, cpu, rss = wall + seconds, cpu + used, max(rss, peak)
    ended = time.monotonic()
    others = (_busy_seconds() - server.cpu() - busy - cpu) / (ended - begun)
    seen = server.begin(Latency())
    if not seen["calls"]:
        raise FailedRunError(f"{commands[0].argv} made no call")
    return Measured(
        wall=wall,
        span=seen["last"] - seen["first"],
        start=seen["first"] - begun,
        end=ended - seen["last"],
        calls=seen["calls"],
        cpu=cpu,
        rss=rss,
        most_in_flight=seen["most_in_flight"],
        others=max(0.0, others),
    )


def _busy_seconds() -> float:
    """Return the seconds that all cores together have been busy, those taken by other virtual machines included."""
    try:
        fields = [
            int(field)
            for field in pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
        ]
    except OSError:
        return 0.0
    return (sum(fields) - fields[3] - fields[4]) / os.sysconf("SC_CLK_TCK")


def timed(command: Command, *, limit: float, interrupt: float = 0.0) -> tuple[float, float, float]:
    """Run one process; return its seconds, its processor seconds, and its peak MB.

    `interrupt` sends it Ctrl-C after so many seconds, which is then no failure.
    """
    argv = [sys.executable, "-I", "-S", str(LAUNCHER), str(limit), str(interrupt), *command.argv]
    with tempfile.TemporaryFile() as output:
        subprocess.run(
            argv,
            cwd=command.cwd,
            env=environment(command.env),
            input=command.stdin.encode(),
            stdout=output,
            stderr=output,
            check=True,
        )
        output.seek(0)
        told = output.read().decode("utf-8", "replace").rstrip().rpartition("\n")
    code, seconds, used, peak = (float(word) for word in told[2].split())
    if code != 0 and not (interrupt and code == 130):
        raise FailedRunError(
            f"{' '.join(command.argv)}\n{told[0][-1500:]}\nended with {code:g} after {seconds:.1f} s"
        )
    return seconds, used, peak / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def median(runs: Sequence[Measured]) -> Measured:
    """Return the medians of several runs; of what others did, the most."""
    apart = ("kept", "others")
    middle = {
        name: statistics.median(getattr(run, name) for run in runs)
        for name in Measured.__slots__
        if name not in apart
    }
    kept = [run.kept for run in runs if run.kept is not None]
    return Measured(
        **middle, others=max(run.others for run in runs), kept=min(kept) if kept else None
    )
