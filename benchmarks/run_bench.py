"""How close run_bench is to a perfect scheduler: answers and judgments in one run, lognormal latency.

    python -m benchmarks.run_bench                      80 questions, 16 at once, median 1 s, three rounds
    python -m benchmarks.run_bench --median 0.2 --runs 1

The ideal is a list scheduler without any overhead on the same drawn waits: a free slot takes the next first turn, else
the second turn ready longest, else the judging ready longest. `apart` are gen_answer and gen_judgment, one after the
other.
"""

import argparse
import heapq
import pathlib
import statistics
import sys
import tempfile
from collections import deque
from collections.abc import Sequence

from benchmarks.runner_parts.latency import Latency, mark
from benchmarks.runner_parts.measure import ROOT, Command, Measured, Server, measure, running_server
from benchmarks.runner_parts.workload import (
    ANSWERER,
    BENCH,
    JUDGE,
    Workload,
    forget_results,
    write_folder,
)


def ideal(draws: Sequence[tuple[float, float]], parallel: int) -> float:
    """Return the span of the list scheduler: each turn is asked, and when both are there, both are judged.

    The judging of a turn waits as long as the turn itself did: the server draws by the last question in the prompt.
    """
    fresh = deque(range(len(draws)))
    second: deque[int] = deque()
    judgings: deque[tuple[int, int]] = deque()
    busy: list[tuple[float, int, int, bool]] = []
    now = 0.0
    while fresh or second or judgings or busy:
        while len(busy) < parallel and (fresh or second or judgings):
            if fresh or second:
                item, turn, judged = (
                    (fresh.popleft(), 0, False) if fresh else (second.popleft(), 1, False)
                )
            else:
                (item, turn), judged = judgings.popleft(), True
            heapq.heappush(busy, (now + draws[item][turn], item, turn, judged))
        now, item, turn, judged = heapq.heappop(busy)
        if not judged and turn == 0:
            second.append(item)
        elif not judged:
            judgings.extend(((item, 0), (item, 1)))
    return now


def commands(
    workload: Workload, folder: pathlib.Path, url: str, *, together: bool
) -> list[Command]:
    """Return the command that does all, or those that do it one after the other."""
    where = (
        "--bench-name",
        BENCH,
        "--data-dir",
        "data",
        "--parallel",
        str(workload.parallel),
        "--yes",
    )
    answers, judge = ("--model", ANSWERER, "--base-url", f"{url}/v1"), ("--judge-model", JUDGE)
    parts = [
        ("gen_answer", *answers, *where[:-1]),
        ("gen_judgment", *judge, "--base-url", f"{url}/v1", *where),
    ]
    if together:
        parts = [("run_bench", *answers, *judge, "--judge-base-url", f"{url}/v1", *where)]
    return [
        Command(
            (sys.executable, "-m", f"harness.old.cli.{name}", *words),
            folder,
            {"PYTHONPATH": str(ROOT)},
        )
        for name, *words in parts
    ]


def run_once(
    workload: Workload, folder: pathlib.Path, server: Server, *, together: bool
) -> Measured:
    """Return one run from nothing."""
    forget_results(folder, workload)
    run = measure(
        commands(workload, folder, server.url, together=together),
        server,
        workload.latency,
        limit=600,
    )
    if run.calls != 4 * workload.questions:
        raise SystemExit(
            f"{run.calls} calls were made, not {4 * workload.questions}: what it took says nothing"
        )
    return run


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, and print Markdown."""
    parser = argparse.ArgumentParser(
        prog="run_bench", description=__doc__.splitlines()[0] if __doc__ else None
    )
    parser.add_argument("--questions", type=int, default=80, help="of two turns (default: 80)")
    parser.add_argument(
        "--parallel", type=int, default=16, help="calls in flight at once (default: 16)"
    )
    parser.add_argument(
        "--median", type=float, default=1.0, help="of the waits, in seconds (default: 1)"
    )
    parser.add_argument(
        "--sigma", type=float, default=0.8, help="of their logarithm (default: 0.8)"
    )
    parser.add_argument(
        "--runs", type=int, default=3, help="rounds, of which medians are shown (default: 3)"
    )
    args = parser.parse_args(argv)
    latency = Latency(args.median, args.sigma, 7)
    workload = Workload("bench", "run_bench", "answers", args.questions, 1, args.parallel, latency)
    draws = [(latency.of(mark(q, 1)), latency.of(mark(q, 2))) for q in range(1, args.questions + 1)]
    best = ideal(draws, args.parallel)
    print(f"{4 * args.questions} calls, {args.parallel} at once, ideal {best:.2f} s\n")
    print("| | wall / ideal | first request to last reply / ideal |\n| --- | --- | --- |")
    with tempfile.TemporaryDirectory() as temporary, running_server() as server:
        folder = pathlib.Path(temporary)
        write_folder(workload, folder)
        for name, together in (("run_bench", True), ("apart", False)):
            runs = [run_once(workload, folder, server, together=together) for _ in range(args.runs)]
            wall, span = (
                statistics.median(getattr(run, what) for run in runs) for what in ("wall", "span")
            )
            print(f"| {name} | {wall / best:.3f} | {span / best:.3f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
