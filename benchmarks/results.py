"""The cost of `show_result` on many judgments, compared with FastChat's, a copy of the file, and a JSON loop.

    python -m benchmarks.results                                ours, the copy, and the loop where orjson is installed
    python -m benchmarks.results --fastchat fc/bin/python       FastChat's too, from a Python that has it and pandas
    python -m benchmarks.results --rows 10000 --runs 1          one size, once
    python -m benchmarks.results --our-fields                   rows with all the fields that our judgments have
    python -m benchmarks.results --kinds single --rows 10000000 --questions 50000 --text 30      10 million, 2 GB

Every file is made from a seed, in a temporary folder (3 GB for a million pairs), read once so that it is in memory, and
removed when it has been measured. Whole processes are timed, start-up included, each contender once in a round, so that
what else the machine does meets all alike; the table shows medians over the rounds, and ratios within a round.
"""

import argparse
import contextlib
import itertools
import json
import os
import pathlib
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import Any, Literal, NamedTuple, TypeAlias

Kind: TypeAlias = Literal["single", "pair"]

ROOT = pathlib.Path(__file__).resolve().parents[1]

QUESTIONS = 500
TEXT = 600
"""Characters of one prompt or one judgment: 1.2 KB of text for each game judged."""
MOST_FASTCHAT_PAIRS = 100_000
"""FastChat's script makes a dictionary of every pair and dies on a million of them for want of 22 GiB."""
_WORDS = (  # noqa: SIM905
    "answer assistant question user clear helpful relevant accurate detail depth example reasoning step value code "
    "response first second both better lacks gives follows misses while however because the a of and to in is with"
).split()
_LOOP = """
import sys, orjson
sums = {}
with open(sys.argv[1], "rb") as file:
    for line in file:
        row = orjson.loads(line)
        models = row.get("model") or (row["model_1"], row["model_2"])
        key = row["turn"], models, row.get("g1_winner"), row.get("g2_winner")
        own = sums.setdefault(key, [0, 0])
        own[0] += 1
        own[1] += row.get("score", 0)
print(len(sums))
"""


class FailedRunError(Exception):
    """A contender ended with an error."""


class Run(NamedTuple):
    """One process."""

    wall: float
    cpu: float
    """Of all its processes."""
    peak: float
    """MB of its largest process."""


def timed(argv: Sequence[str], cache: pathlib.Path) -> Run:
    """Run one process to its end and return what it took.

    `cache` is where Python keeps what it has compiled, as it does for an installed package.
    """
    env = {**os.environ, "PYTHONPYCACHEPREFIX": str(cache)}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryFile() as output:
        begun = time.perf_counter()
        process = subprocess.Popen(
            argv, cwd=ROOT, env=env, stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            output.seek(0)
            tail = output.read().decode("utf-8", "replace")[-1500:]
            raise FailedRunError(
                f"{' '.join(argv)}\nended with {process.returncode} after {wall:.1f} s:\n{tail}"
            )
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return Run(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / unit)


def texts(rng: random.Random, length: int = TEXT) -> list[str]:
    """Return texts with lines, quotes and stops as judges write them, as they stand between quotes in JSON."""
    made = []
    for _ in range(1024):
        text = ""
        while len(text) < length:
            sentence = " ".join(rng.choices(_WORDS, k=rng.randint(6, 18))).capitalize() + "."
            text += (f'"{sentence}"' if rng.random() < 0.1 else sentence) + (
                "\n\n" if rng.random() < 0.2 else " "
            )
        made.append(json.dumps(text[:length])[1:-1])
    return made


def write_judgments(
    path: pathlib.Path,
    kind: Kind,
    rows: int,
    *,
    our_fields: bool = False,
    questions: int = QUESTIONS,
    text: int = TEXT,
) -> None:
    """Write so many judgments in FastChat's layout, of two turns of so many questions, with texts of such a length."""
    rng = random.Random(0)
    pool = texts(rng, text)
    cases: Iterator[tuple[int, ...]] = ((model,) for model in itertools.count())
    if kind == "pair":
        cases = ((model, other) for other in itertools.count(1) for model in range(other))
    matches = (
        (case, question, turn)
        for case in cases
        for question in range(1, questions + 1)
        for turn in (1, 2)
    )
    with path.open("w", encoding="ascii") as file:
        for number, (case, question, turn) in enumerate(itertools.islice(matches, rows)):
            names = [f"family-{model % 17}/model-{model}" for model in case]
            verdict = (
                single_fields(names, rng, pool)
                if kind == "single"
                else pair_fields(names, rng, pool)
            )
            more = our_more(kind, question, turn) if our_fields else ""
            stamp = 1_700_000_000 + 0.37 * number
            file.write(
                f'{{"question_id": {question}, {verdict}, "turn": {turn}, "tstamp": {stamp:.4f}{more}}}\n'
            )


def single_fields(names: Sequence[str], rng: random.Random, pool: Sequence[str]) -> str:
    """Return what only a grade has."""
    score = -1 if rng.random() < 0.001 else rng.randint(1, 10)
    prompt, judgment = rng.choice(pool), rng.choice(pool)
    return (
        f'"model": "{names[0]}", "judge": ["gpt-4", "single-v1"], "user_prompt": "{prompt}", '
        f'"judgment": "{judgment}", "score": {score}'
    )


def pair_fields(names: Sequence[str], rng: random.Random, pool: Sequence[str]) -> str:
    """Return what only a pair has."""
    first, second = (
        "error" if rng.random() < 0.005 else rng.choice(["model_1", "model_2", "tie"])
        for _ in range(2)
    )
    games = ", ".join(
        f'"g{game}_user_prompt": "{rng.choice(pool)}", "g{game}_judgment": "{rng.choice(pool)}"'
        for game in (1, 2)
    )
    return (
        f'"model_1": "{names[0]}", "model_2": "{names[1]}", "g1_winner": "{first}", "g2_winner": "{second}", '
        f'"judge": ["gpt-4", "pair-v2"], {games}'
    )


def our_more(kind: Kind, question: int, turn: int) -> str:
    """Return the fields of our rows that FastChat's have not."""
    detail = {
        "verdict_reason": "the last verdict in double brackets",
        "finish_reason": "stop",
        "usage": {"prompt_tokens": 612, "completion_tokens": 141},
        "seconds": 3.217,
        "provider_model": "gpt-4-0613",
        "sampling_applied": {"temperature": 0.0, "max_tokens": 2048},
    }
    hashes = {
        name: f"{question * 7919 + turn * place:016x}"
        for place, name in enumerate(
            ("question", "conversation", "reference", "template", "parameters")
        )
    }
    hashes["question"] = f"{question:016x}"
    row = {
        **({"scale": [1, 10]} if kind == "single" else {}),
        "judge_set": "mt_bench",
        "judge_set_version": "1",
        "criterion": None,
        "sample": 0,
        "choice": 0,
        "system_prompt": "You are asked for a fair opinion.",
        "sampling": {"temperature": 0.0, "max_tokens": 2048},
        "made_from": hashes,
        "details": [detail] * (1 if kind == "single" else 2),
    }
    return f", {json.dumps(row)[1:-1]}"


def contenders(
    kind: Kind, file: pathlib.Path, rows: int, fastchat: str | None
) -> dict[str, list[str]]:
    """Return the commands to time, by name; ours first."""
    what = ["--mode", "single" if kind == "single" else "pairwise-all", "--input-file", str(file)]
    found = {
        "ours": [sys.executable, "-m", "harness.old.cli.show_result", *what],
        "cat": ["sh", "-c", 'cat "$1" | cat > /dev/null', "sh", str(file)],
    }
    if find_spec("orjson"):
        found["orjson"] = [sys.executable, "-c", _LOOP, str(file)]
    if fastchat and (kind == "single" or rows <= MOST_FASTCHAT_PAIRS):
        found["fastchat"] = [fastchat, "-m", "fastchat.llm_judge.show_result", *what]
    return found


def measure(commands: dict[str, list[str]], runs: int, cache: pathlib.Path) -> dict[str, list[Run]]:
    """Return the runs of each contender, all of them once in each round; a contender that fails has none."""
    measured: dict[str, list[Run]] = {name: [] for name in commands}
    for _ in range(runs):
        for name, command in list(commands.items()):
            try:
                measured[name].append(timed(command, cache))
            except FailedRunError as error:
                print(f"{name}: {error}", file=sys.stderr)
                measured[name] = []
                del commands[name]
    return measured


def line(kind: Kind, rows: int, size: int, measured: dict[str, list[Run]]) -> list[str]:
    """Return the table's line of one file."""
    ours = measured["ours"]
    wall = statistics.median(run.wall for run in ours)
    cells = [kind, f"{rows:,}", f"{size / 1e6:,.0f}", f"{wall:.2f}", f"{1e6 * wall / rows:.2f}"]
    cells += [
        f"{statistics.median(run.cpu for run in ours):.2f}",
        f"{max(run.peak for run in ours):.0f}",
    ]
    for name in ("cat", "orjson", "fastchat"):
        others = measured.get(name, [])
        if not others:
            cells.append(
                ""
                if name != "fastchat" or kind == "single" or rows <= MOST_FASTCHAT_PAIRS
                else "dies"
            )
            continue
        ratio = statistics.median(
            other.wall / our.wall for other, our in zip(others, ours, strict=True)
        )
        seconds = statistics.median(other.wall for other in others)
        cells.append(f"{seconds:.2f} ({ratio:.1f}×)")
    return cells


def resampling() -> str:
    """Return how long 10,000 resamplings of 100 models on 80 questions take."""
    import numpy as np

    from harness.old.results.statistics.bootstrap import estimates

    rng = np.random.default_rng(0)
    scores = rng.integers(1, 11, (80, 100)).astype(float)
    groups = [question // 10 for question in range(80)]
    times = []
    for _ in range(3):
        begun = time.perf_counter()
        estimates(scores, np.ones_like(scores), groups, resamplings=10_000)
        times.append(time.perf_counter() - begun)
    return f"10,000 resamplings of 100 models on 80 questions: {statistics.median(times):.2f} s"


def with_fastchat(program: str | None) -> str | None:
    """Return the Python that has FastChat and pandas: the one named, or this one if it has them."""
    if program is not None:
        return program
    return sys.executable if find_spec("fastchat") and find_spec("pandas") else None


def measure_all(args: argparse.Namespace, folder: pathlib.Path) -> None:
    """Print the table, a line as soon as it is measured."""
    head = (
        "",
        "rows",
        "MB",
        "ours, s",
        "µs a row",
        "CPU s",
        "peak MB",
        "`cat F \\| cat`, s",
        "orjson loop, s",
        "FastChat, s",
    )
    print(f"| {' | '.join(head)} |\n|{' --- |' * len(head)}", flush=True)
    for kind, rows in itertools.product(args.kinds, args.rows):
        file = folder / f"judge_{kind}.jsonl"
        write_judgments(
            file, kind, rows, our_fields=args.our_fields, questions=args.questions, text=args.text
        )
        cache = folder / "compiled"
        try:
            commands = contenders(kind, file, rows, with_fastchat(args.fastchat))
            first = set(commands) if rows == min(args.rows) else {"cat", "ours"}
            warmed = measure({name: commands[name] for name in first}, 1, cache)
            commands = {
                name: command for name, command in commands.items() if warmed.get(name, True)
            }
            measured = measure(commands, args.runs, cache)
            print(f"| {' | '.join(line(kind, rows, file.stat().st_size, measured))} |", flush=True)
        finally:
            file.unlink()


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument(
        "--rows", type=int, nargs="+", default=[10_000, 100_000, 1_000_000], metavar="N"
    )
    parser.add_argument(
        "--kinds", nargs="+", default=["single", "pair"], choices=["single", "pair"]
    )
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="rounds (default: 3)")
    parser.add_argument(
        "--fastchat",
        metavar="PYTHON",
        help="a Python that has fschat and pandas (default: this one)",
    )
    parser.add_argument(
        "--our-fields", action="store_true", help="rows with all the fields that our judgments have"
    )
    parser.add_argument(
        "--questions", type=int, default=QUESTIONS, metavar="N", help="questions (default: 500)"
    )
    parser.add_argument(
        "--text", type=int, default=TEXT, metavar="N", help="characters of a text (default: 600)"
    )
    parser.add_argument(
        "--folder", metavar="DIR", help="where the files are made (default: a temporary folder)"
    )
    args = parser.parse_args(argv)
    cores: Any = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    )
    print(
        f"Python {platform.python_version()}, {cores} cores, {platform.system()}; medians of {args.runs} runs\n"
    )
    with (
        tempfile.TemporaryDirectory(dir=args.folder) as folder,
        contextlib.suppress(KeyboardInterrupt),
    ):
        measure_all(args, pathlib.Path(folder))
        print(f"\nIn brackets: how many times our time. {resampling()}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
