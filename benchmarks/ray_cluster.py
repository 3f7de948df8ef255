"""How much faster 1, 2 and 4 workers of a Ray cluster are on a job that waits for replies.

    python -m benchmarks.ray_cluster                  1, 2 and 4 nodes of one worker each, on this machine
    python -m benchmarks.ray_cluster --calls 400 --latency 0.5

Each worker may have 8 calls in flight to a server on loopback that takes half a second for each; every worker gets as
many calls, so that without any overhead all runs take as long, and n workers make n times as many calls a second. A run
is the whole `gen_answer`; its span is from the first request to the last reply, as the server saw them.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

from benchmarks.runner_parts.latency import Latency
from benchmarks.runner_parts.measure import ROOT, Server, environment, running_server

EACH = 8
"""Calls in flight for each worker."""
ALONE = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
"""No statistics are sent, and everything listens on 127.0.0.1 alone."""


class Nodes:
    """A head without room for workers, and nodes with room for one each."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster

        self._common = {
            "node_ip_address": "127.0.0.1",
            "object_store_memory": 80 * 2**20,
            "include_dashboard": False,
        }
        self._cluster = Cluster(
            initialize_head=True, head_node_args={"num_cpus": 0, **self._common}
        )
        self.number = 0

    @property
    def address(self) -> str:
        """What `--ray` takes."""
        return str(self._cluster.address)

    def grow(self, number: int) -> None:
        """Add nodes up to this number."""
        for _ in range(number - self.number):
            self._cluster.add_node(num_cpus=1, wait=True, **self._common)
        self.number = number

    def end(self) -> None:
        """End all processes of the cluster."""
        self._cluster.shutdown()


def write_questions(folder: pathlib.Path, number: int) -> None:
    """Make the benchmark `load` of so many questions of one turn."""
    bench = folder / "load"
    bench.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, Any]] = [
        {"question_id": n, "category": "writing", "turns": [f"Question {n}?"]}
        for n in range(1, number + 1)
    ]
    (bench / "question.jsonl").write_text(
        "".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8"
    )


def span(
    server: Server, folder: pathlib.Path, address: str, workers: int, args: argparse.Namespace
) -> float:
    """Return the seconds from the first request to the last reply of one run, whose rows are counted."""
    calls = args.calls * workers
    place = folder / f"{workers}"
    write_questions(place, calls)
    server.begin(Latency(args.latency))
    argv = [
        sys.executable,
        "-m",
        "harness.old.cli.gen_answer",
        "--model",
        "m",
        "--base-url",
        f"{server.url}/v1",
        "--yes",
    ]
    argv += [
        "--bench-name",
        "load",
        "--data-dir",
        str(place),
        "--parallel",
        str(EACH * workers),
        "--ray",
        address,
    ]
    argv += ["--processes", str(workers), "-q"]
    env = environment({**ALONE, "PYTHONPATH": str(ROOT)})
    subprocess.run(argv, env=env, check=True, stdout=subprocess.DEVNULL)
    seen = server.begin(Latency())
    rows = (place / "load" / "model_answer" / "m.jsonl").read_text(encoding="utf-8").count("\n")
    if not rows == seen["calls"] == calls:
        raise SystemExit(f"{rows} rows and {seen['calls']} calls, where {calls} were to be")
    (place / "load" / "model_answer" / "m.jsonl").unlink()
    return float(seen["last"] - seen["first"])


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, and print Markdown."""
    parser = argparse.ArgumentParser(
        prog="ray_cluster", description=__doc__.splitlines()[0] if __doc__ else None
    )
    parser.add_argument(
        "--workers", nargs="+", type=int, default=[1, 2, 4], help="how many (default: 1 2 4)"
    )
    parser.add_argument(
        "--calls", type=int, default=400, help="calls for each worker (default: 400)"
    )
    parser.add_argument(
        "--latency", type=float, default=0.5, help="seconds a call takes (default: 0.5)"
    )
    parser.add_argument(
        "--runs",
        type=int,
        default=1,
        help="runs of each, of which the quickest counts (default: 1)",
    )
    args = parser.parse_args(argv)
    os.environ.update(ALONE)
    print(
        "| workers | calls | span, s | calls/s | speed-up | of linear |\n| --- | --- | --- | --- | --- | --- |"
    )
    with tempfile.TemporaryDirectory() as folder, running_server() as server:
        nodes = Nodes()
        try:
            first = 0.0
            for workers in sorted(args.workers):
                nodes.grow(workers)
                runs = [
                    span(server, pathlib.Path(folder), nodes.address, workers, args)
                    for _ in range(args.runs)
                ]
                rate = args.calls * workers / min(runs)
                first = first or rate / workers
                cells = [
                    f"{workers}",
                    f"{args.calls * workers:,}",
                    f"{min(runs):.2f}",
                    f"{rate:.1f}",
                ]
                cells += [f"{rate / first:.2f}", f"{rate / first / workers:.0%}"]
                print(f"| {' | '.join(cells)} |", flush=True)
        finally:
            nodes.end()


if __name__ == "__main__":
    main()
