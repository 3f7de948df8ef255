"""Who runs: bare clients, our own commands, and the peers that are installed; each as commands for one workload."""

import pathlib
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from benchmarks.runner_parts.measure import ROOT, Command
from benchmarks.runner_parts.workload import ANSWERER, BENCH, JUDGE, Workload, rows

PEERS = pathlib.Path(__file__).resolve().parent / "peers"


@dataclass(frozen=True, slots=True)
class Place:
    """Where one workload is run."""

    folder: pathlib.Path
    """Holds `data/`."""
    calls: pathlib.Path
    """The bodies of the requests that our own commands make, one a line."""
    url: str
    """The server's address, without a path."""


@dataclass(frozen=True, slots=True)
class Contender:
    """One row of a table."""

    name: str
    commands: Callable[[Workload, Place], list[Command]]
    kept: Callable[[Workload, Place], int] | None = None
    """Counts the good records on disk."""
    kinds: tuple[str, ...] = ("single", "answers")
    """Which kinds of workload it can do."""


def bare(client: str) -> Contender:
    """Return the smallest program on a library."""

    def commands(workload: Workload, place: Place) -> list[Command]:
        argv = [
            sys.executable,
            "-m",
            "benchmarks.runner_parts.bare",
            client,
            place.url,
            str(place.calls),
        ]
        turns = ["--turns", "2"] if workload.kind == "answers" else []
        return [Command((*argv, str(workload.parallel), *turns), ROOT)]

    return Contender(
        f"bare {client}",
        commands,
        kinds=("single",) if client == "socket" else ("single", "answers"),
    )


def ours(
    python: str, checkout: pathlib.Path, name: str = "turnbench", more: tuple[str, ...] = ()
) -> Contender:
    """Return our own commands, tables included; `more` are flags for the one that calls."""

    def commands(workload: Workload, place: Place) -> list[Command]:
        where = ("--bench-name", BENCH, "--data-dir", "data")
        endpoint = ("--base-url", f"{place.url}/v1", "--parallel", str(workload.parallel), *more)

        def command(module: str, *options: str) -> Command:
            argv = (python, "-m", f"harness.old.cli.{module}", *options, *where)
            return Command(argv, place.folder, {"PYTHONPATH": str(checkout)})

        if workload.kind == "answers":
            return [command("gen_answer", "--model", ANSWERER, *endpoint)]
        mode = ("--mode", "single" if workload.kind == "single" else "pairwise-all")
        return [
            command("gen_judgment", "--judge-model", JUDGE, *mode, "--yes", *endpoint),
            command("show_result", *mode),
        ]

    return Contender(name, commands, kept, kinds=("single", "pairs", "answers"))


def fastchat(python: str) -> Contender:
    """Return FastChat's commands, tables included."""

    def commands(workload: Workload, place: Place) -> list[Command]:
        env = {"OPENAI_API_KEY": "none", "OPENAI_API_BASE": f"{place.url}/v1"}
        parallel = ("--bench-name", BENCH, "--parallel", str(workload.parallel))
        module = "fastchat.llm_judge."
        if workload.kind == "answers":
            base = ("--openai-api-base", f"{place.url}/v1")
            argv = (python, "-m", f"{module}gen_api_answer", "--model", ANSWERER, *parallel, *base)
            return [Command(argv, place.folder, env)]
        judge = (
            python,
            "-m",
            f"{module}gen_judgment",
            "--judge-model",
            JUDGE,
            "--mode",
            "single",
            *parallel,
        )
        show = (
            python,
            "-m",
            f"{module}show_result",
            "--bench-name",
            BENCH,
            "--judge-model",
            JUDGE,
            "--mode",
            "single",
        )
        return [Command(judge, place.folder, env, stdin="\n"), Command(show, place.folder, env)]

    return Contender("FastChat", commands, kept)


def inspect_ai(python: str) -> Contender:
    """Return an inspect task that generates and grades nothing (the prompts are the judge's already)."""

    def commands(workload: Workload, place: Place) -> list[Command]:
        turns = "2" if workload.kind == "answers" else "1"
        argv = (
            python,
            str(PEERS / "inspect_program.py"),
            str(place.calls),
            str(workload.parallel),
            turns,
            "logs",
        )
        env = {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": f"{place.url}/v1"}
        return [Command(argv, place.folder, env)]

    return Contender("inspect_ai", commands)


def alpaca_eval(python: str) -> Contender:
    """Return alpaca_eval's pairwise annotator, whose one call a pair shows both outputs."""

    def commands(workload: Workload, place: Place) -> list[Command]:
        argv = (
            python,
            str(PEERS / "alpaca_program.py"),
            str(workload.calls),
            str(workload.parallel),
        )
        env = {
            "OPENAI_API_KEY": "none",
            "OPENAI_BASE_URL": f"{place.url}/v1",
            "OPENAI_API_BASE": f"{place.url}/v1",
        }
        return [Command(argv, place.folder, env)]

    return Contender("alpaca_eval", commands, kinds=("single",))


PEER_KINDS: Mapping[str, Callable[[str], Contender]] = {
    "fastchat": fastchat,
    "inspect": inspect_ai,
    "alpaca": alpaca_eval,
}


def kept(workload: Workload, place: Place) -> int:
    """Return how many good records are on disk, one a call or one a conversation; -1 if any is there twice."""
    bench = place.folder / "data" / BENCH
    if workload.kind == "answers":
        found = rows(bench / "model_answer" / f"{ANSWERER}.jsonl")
        turns = ((row["question_id"], row["choices"][0]["turns"]) for row in found)
        keys = [(key, "", 0) for key, texts in turns if len(texts) == 2 and "$ERROR$" not in texts]
    else:
        found = rows(bench / "model_judgment" / f"{JUDGE}_single.jsonl")
        keys = [
            (row["question_id"], row["model"], row["turn"]) for row in found if row["score"] > 0
        ]
    return len(keys) if len(set(keys)) == len(keys) else -1
