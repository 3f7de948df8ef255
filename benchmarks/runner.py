"""How much wall time is the endpoint's and how much is ours: our commands compared with bare clients and peers.

    python -m benchmarks.runner                                    ours and the bare clients
    python -m benchmarks.runner --workloads judge-160 --runs 1     one workload, once
    python -m benchmarks.runner --processes 1 2 --cores 2          ours in one process, and with two for the calls
    python -m benchmarks.runner --memory                           peak memory with 104,000 matches planned
    python -m benchmarks.runner --peers fastchat=fc/bin/python inspect=in/bin/python alpaca=al/bin/python

All talk to one mock server on loopback. In every round each contender runs once, so what else the machine does meets
all alike; a table shows medians over the rounds, and ratios within a round to the bare client of the same SDK on its
fastest transport. A round during which others kept the machine busy is taken again, whatever its times were. The bare
clients send the very requests that our commands were seen to send. Peers live in environments of their own.
"""

import argparse
import json
import os
import pathlib
import platform
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace

from benchmarks.runner_parts.bare import CLIENTS
from benchmarks.runner_parts.contenders import PEER_KINDS, Contender, Place, bare, ours
from benchmarks.runner_parts.latency import Latency
from benchmarks.runner_parts.measure import (
    ROOT,
    FailedRunError,
    Measured,
    Server,
    measure,
    running_server,
    timed,
)
from benchmarks.runner_parts.memory import memory_table
from benchmarks.runner_parts.table import as_table
from benchmarks.runner_parts.workload import WORKLOADS, Workload, forget_results, write_folder

YARDSTICKS = ("bare openai-aiohttp", "bare openai")


def record_calls(workload: Workload, our: Contender, place: Place, server: Server) -> None:
    """Write down the requests that our commands make, for the bare clients; this run also warms every cache."""
    place.calls.unlink(missing_ok=True)
    server.begin(Latency(), record=place.calls)
    timed(our.commands(workload, place)[0], limit=300)
    server.begin(Latency())
    bodies = [json.loads(line) for line in place.calls.read_bytes().splitlines()]
    first = [
        body
        for body in bodies
        if all(message["role"] != "assistant" for message in body["messages"])
    ]
    place.calls.write_text("".join(f"{json.dumps(body)}\n" for body in first), encoding="utf-8")


def run_once(
    contender: Contender, workload: Workload, place: Place, server: Server, limit: float
) -> Measured | str:
    """Return one run of one contender, or why it failed."""
    forget_results(place.folder, workload)
    try:
        run = measure(contender.commands(workload, place), server, workload.latency, limit=limit)
    except (FailedRunError, OSError) as error:
        return str(error)
    if contender.kept is None:
        return run
    kept = contender.kept(workload, place)
    if kept != workload.records:
        return f"kept {kept:,} good records of {workload.records:,}: what it took says nothing"
    return replace(run, kept=kept)


def run_workload(
    workload: Workload,
    contenders: Sequence[Contender],
    server: Server,
    args: argparse.Namespace,
    folder: pathlib.Path,
) -> tuple[dict[str, list[Measured | str]], str]:
    """Return the runs of all contenders that can do the workload, taken in turns, and a note on disturbed rounds."""
    place = Place(folder / workload.name, folder / f"{workload.name}.calls.jsonl", server.url)
    write_folder(workload, place.folder)
    record_calls(workload, next(c for c in contenders if c.kept is not None), place, server)
    able = [contender for contender in contenders if workload.kind in contender.kinds]
    taken: dict[str, list[Measured | str]] = {contender.name: [] for contender in able}
    number = retaken = counted = 0
    while number < args.runs:
        round_: dict[str, Measured | str] = {}
        for contender in able:
            run = round_[contender.name] = run_once(contender, workload, place, server, args.limit)
            told = (
                f"wall {run.wall:.2f}, span {run.span:.2f}, others {run.others:.2f}"
                if isinstance(run, Measured)
                else run
            )
            print(
                f"{workload.name}, round {number + 1}, {contender.name}: {told}",
                file=sys.stderr,
                flush=True,
            )
        if disturbed(round_, args.others):
            if retaken < args.retakes:
                retaken += 1
                print(
                    f"{workload.name}, round {number + 1} is taken again: others were at work",
                    file=sys.stderr,
                )
                continue
            counted += 1
        number += 1
        for name, run in round_.items():
            taken[name].append(run)
    note = f"{number} rounds; {retaken} more were left out because others kept over {args.others:g} cores busy"
    return taken, note + (
        f", and {counted} of those shown are disturbed as well." if counted else "."
    )


def disturbed(round_: Mapping[str, Measured | str], most: float) -> bool:
    """Return whether others kept more than so many cores busy during any run of a round, whatever the runs took."""
    return any(run.others > most for run in round_.values() if isinstance(run, Measured))


def chosen_contenders(args: argparse.Namespace) -> list[Contender]:
    """Return who runs, in the order of the table."""
    contenders = [bare(client) for client in args.bare]
    contenders += [ours(args.python, args.checkout)]
    for number in args.processes:
        flags = ("--processes", str(number))
        contenders += [ours(args.python, args.checkout, f"turnbench {' '.join(flags)}", flags)]
    contenders += [
        ours(args.python, path.resolve(), f"turnbench in {path}") for path in args.beside
    ]
    contenders += [PEER_KINDS[name](python) for name, python in args.peers]
    return contenders


def peer(text: str) -> tuple[str, str]:
    """Return a peer's name and its Python, for argparse."""
    name, _, python = text.partition("=")
    if name not in PEER_KINDS or not python:
        raise argparse.ArgumentTypeError(
            f"{text!r} must be one of {', '.join(PEER_KINDS)}, then = and its Python"
        )
    return name, python


def parsed(argv: Sequence[str] | None) -> argparse.Namespace:
    """Return the options."""
    names = [workload.name for workload in WORKLOADS]
    parser = argparse.ArgumentParser(
        prog="runner", description=__doc__.splitlines()[0] if __doc__ else None
    )
    parser.add_argument(
        "--workloads", nargs="+", choices=names, default=names, help="what to run (default: all)"
    )
    parser.add_argument(
        "--runs", type=int, default=3, help="rounds, of which medians are shown (default: 3)"
    )
    parser.add_argument(
        "--bare",
        nargs="*",
        choices=CLIENTS,
        default=list(CLIENTS),
        help="bare clients (default: all)",
    )
    parser.add_argument(
        "--peers",
        nargs="*",
        type=peer,
        default=[],
        metavar="NAME=PYTHON",
        help=f"of {', '.join(PEER_KINDS)}",
    )
    parser.add_argument(
        "--python", default=sys.executable, help="our commands' Python (default: this one)"
    )
    parser.add_argument(
        "--checkout",
        type=pathlib.Path,
        default=ROOT,
        help="our commands' checkout (default: this one)",
    )
    parser.add_argument(
        "--beside", nargs="*", type=pathlib.Path, default=[], help="other checkouts to run as well"
    )
    parser.add_argument(
        "--processes",
        nargs="*",
        type=int,
        default=[],
        metavar="N",
        help="ours with these numbers of processes as well",
    )
    parser.add_argument(
        "--cores", type=int, metavar="N", help="cores for whoever runs, the server's apart (all)"
    )
    parser.add_argument(
        "--others",
        type=float,
        default=0.25,
        help="cores that others may keep busy in a round that counts (default: 0.25)",
    )
    parser.add_argument(
        "--retakes",
        type=int,
        default=6,
        help="rounds of a workload to take again, at most (default: 6)",
    )
    parser.add_argument(
        "--limit",
        type=float,
        default=300,
        help="seconds after which a process is ended (default: 300)",
    )
    parser.add_argument(
        "--folder",
        type=pathlib.Path,
        help="where to put data, kept afterwards (default: a temporary one)",
    )
    parser.add_argument(
        "--memory",
        action="store_true",
        help="measure peak memory with 104,000 matches planned, nothing else",
    )
    parser.add_argument(
        "--memory-seconds",
        type=float,
        default=60,
        help="interrupt that run then; 0: never (default: 60)",
    )
    args = parser.parse_args(argv)
    args.checkout = args.checkout.resolve()
    return args


def machine(peers: Sequence[tuple[str, str]]) -> str:
    """Return a line on what this was measured on, and which peers were not there."""
    absent: Mapping[str, None] = dict.fromkeys(
        name for name in PEER_KINDS if name not in dict(peers)
    )
    missing = (
        f" Not run, since no Python was named for them: {', '.join(absent)}." if absent else ""
    )
    return f"Python {platform.python_version()}, {platform.system()}, medians of the rounds.{missing}\n"


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, and print Markdown."""
    args = parsed(argv)
    with tempfile.TemporaryDirectory() as temporary, running_server() as server:
        folder = (args.folder or pathlib.Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        if args.cores is not None:  # the server has the last one
            os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: args.cores])
        if args.memory:
            print(
                memory_table(
                    ours(args.python, args.checkout), server, folder, seconds=args.memory_seconds
                )
            )
            return 0
        contenders = chosen_contenders(args)
        print(machine(args.peers))
        for workload in WORKLOADS:
            if workload.name in args.workloads:
                runs, note = run_workload(workload, contenders, server, args, folder)
                print(as_table(workload, runs, YARDSTICKS, note), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
