"""What commands cost beside their peers on the same files, compared with `ratios.toml`.

    python -m benchmarks.ratios                  (make bench) every row; exit 1 if one got worse
    python -m benchmarks.ratios --small          (in CI) small rows in a minute; only prints
    python -m benchmarks.ratios --record [ROW …] write ratios.toml and the table in benchmarks/README.md
    python -m benchmarks.ratios --table          write this table again from ratios.toml

Files are made from a seed in a temporary folder. Whole processes are measured, start-up included: ours
and the peer's in turn, and their ratio within each round; the median counts. A ratio of processor
times, a memory, or a ratio of wall times that is 30% above what is recorded is worse. Processor
seconds depend on the machine and are there to be read.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from benchmarks import runner

HERE = pathlib.Path(__file__).parent
RECORDED = HERE / "ratios.toml"
WORSE = 1.3
NOISE = 0.05
"""Two ratios that differ by less are equal."""
START, END = "<!-- made by python -m benchmarks.ratios -->", "<!-- end -->"
FASTCHAT = """
import contextlib, runpy, sys
from unittest import mock
sys.argv = sys.argv[1:]
for name in ("fastchat.model", "fastchat.model.model_adapter"):  # would need torch
    sys.modules[name] = mock.MagicMock()
with contextlib.suppress(EOFError):  # gen_judgment asks before its first call
    runpy.run_module("fastchat.llm_judge." + sys.argv[0], run_name="__main__")
"""
GRADES = "data/bench/model_judgment/gpt-4_single.jsonl"
DUCKDB = f"""
import duckdb
about = "question_id, turn, model, avg(score) AS score"
rows = f"(SELECT {{about}} FROM read_json('{GRADES}') GROUP BY question_id, turn, model)"
print(duckdb.sql(f"SELECT model, turn, avg(score) FROM {{rows}} GROUP BY model, turn"))
"""
POLARS = f"""
import polars as pl
rows = pl.scan_ndjson("{GRADES}").group_by("question_id", "turn", "model").agg(pl.mean("score"))
print(rows.group_by("model", "turn").agg(pl.mean("score")).collect())
"""
"""The means alone, without an error bar: the least that reading could take."""
VERDICTS = """
import sys
from harness.judging import sets, verdicts
from harness.types import Reply
form = next(t.form for t in sets.load("mt_bench").templates.values() if t.form.kind == "compare")
text = "Both answers are clear. " * 40
for number in range(5_000):
    answers = [f"{number} {text}", f"{text} {number}"]
    verdicts.read(Reply(text=f"{text} {number}\\n\\n[[A]]"), form, answers)
"""
SEARCHES = """
import re
text = "Both answers are clear. " * 40
for number in range(5_000):
    reply = f"{text} {number}\\n\\n[[A]]"
    "[[A]]" in reply, re.search(r"\\[\\[(\\d+\\.?\\d*)\\]\\]", reply)
"""
"""What FastChat does with a judge's reply."""
TEXT = " ".join(["The answer is clear and follows the question; it lacks one example."] * 10)
WINNERS = ("model_1", "model_2", "tie")
PROMPTS: tuple[str, ...] = (
    "single-v1",
    "single-v1-multi-turn",
    "single-math-v1",
    "single-math-v1-multi-turn",
)
PROMPTS += ("pair-v2", "pair-v2-multi-turn", "pair-math-v1", "pair-math-v1-multi-turn")


class Taken(NamedTuple):
    """What one process took."""

    cpu: float
    wall: float
    mb: float


class Beside(NamedTuple):
    """Our command and the peer's, as words."""

    ours: Sequence[str]
    theirs: Sequence[str]


class Row(NamedTuple):
    """One line of the table."""

    name: str
    work: str
    peer: str
    files: Callable[[pathlib.Path], None]
    """Writes what both read into a folder."""
    commands: Beside
    small: bool = False
    free: float = 0
    """GB of free memory that the peer needs."""
    package: str = ""
    """What the peer is, if it need not be installed."""


# The files


def write_lines(path: pathlib.Path, rows: Iterator[Mapping[str, object]]) -> None:
    """Write rows into a new file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def write_questions(folder: pathlib.Path, count: int) -> None:
    """Write questions of two turns."""
    turns = ["Write a letter.", "Make it shorter."]
    rows = ({"question_id": q, "category": "writing", "turns": turns} for q in range(count))
    write_lines(folder / "data/bench/question.jsonl", rows)


def grades(count: int, models: int = 34) -> Callable[[pathlib.Path], None]:
    """Return what writes so many grades with FastChat's fields: as many questions as it takes."""

    def rows() -> Iterator[dict[str, object]]:
        draw = random.Random(7)
        for number in range(count):
            question, rest = divmod(number, 2 * models)
            row = {"question_id": question, "turn": rest % 2 + 1, "model": f"model-{rest // 2}"}
            row |= {"judge": ["gpt-4", "single-v1"], "score": draw.randint(1, 10)}
            yield row | {"judgment": TEXT, "user_prompt": TEXT, "tstamp": 1.0}

    def write(folder: pathlib.Path) -> None:
        write_questions(folder, count // (2 * models) + 1)
        write_lines(folder / "data/bench/model_judgment/gpt-4_single.jsonl", rows())

    return write


def pairs(
    count: int, models: int = 34, baseline: str | None = None
) -> Callable[[pathlib.Path], None]:
    """Return what writes so many pairs, each judged in both orders."""

    def rows() -> Iterator[dict[str, object]]:
        draw = random.Random(7)
        for number in range(count):
            question, rest = divmod(number, models if baseline else 2 * models)
            model, turn = (rest, 1) if baseline else (rest // 2, rest % 2 + 1)
            other = baseline or f"model-{(model + 1 + question % (models - 1)) % models}"
            row = {"question_id": question, "turn": turn, "judge": ["gpt-4", "pair-v2"]}
            row |= {"model_1": f"model-{model}", "model_2": other, "g1_judgment": TEXT}
            row |= {f"g{game}_winner": draw.choice(WINNERS) for game in (1, 2)}
            yield row | {"g1_user_prompt": TEXT, "tstamp": 1.0}

    def write(folder: pathlib.Path) -> None:
        write_questions(folder, count // models + 1)
        write_lines(folder / "data/bench/model_judgment/gpt-4_pair.jsonl", rows())

    return write


def answers(models: int, questions: int) -> Callable[[pathlib.Path], None]:
    """Return what writes answers, and the files that FastChat's gen_judgment wants beside them."""

    def write(folder: pathlib.Path) -> None:
        write_questions(folder, questions)
        for model in [f"model-{number}" for number in range(models)]:
            choices = [{"index": 0, "turns": [f"{model} {TEXT}", TEXT]}]
            rows = (
                {"question_id": q, "model_id": model, "choices": choices} for q in range(questions)
            )
            write_lines(folder / f"data/bench/model_answer/{model}.jsonl", rows)
        write_lines(folder / "data/bench/reference_answer/gpt-4.jsonl", iter(()))
        blank = {
            "type": "single",
            "system_prompt": "",
            "prompt_template": "",
            "category": "general",
        }
        prompts = ({**blank, "name": name, "output_format": "[[rating]]"} for name in PROMPTS)
        write_lines(folder / "data/judge_prompts.jsonl", prompts)

    return write


def judged(models: int, questions: int) -> Callable[[pathlib.Path], None]:
    """Return what writes answers and their grades by a built-in judge, with our own fields."""

    def write(folder: pathlib.Path) -> None:
        answers(models, questions)(folder)
        words = ("gen_judgment", "--bench-name", "bench", "--judge-model", "builtin/overlap")
        measured(ours(*words, "--quiet"), folder, os.sched_getaffinity(0))

    return write


def nothing(folder: pathlib.Path) -> None:
    """Write nothing."""


# The rows


def ours(*words: str) -> list[str]:
    """Return a command of ours."""
    return [sys.executable, "-m", "turnbench", *words]


def fastchat(*words: str) -> list[str]:
    """Return a command of FastChat's."""
    return [sys.executable, "-c", FASTCHAT, *words]


def show(mode: str, *words: str) -> Beside:
    """Return both show_results of one kind of judgments."""
    words = ("show_result", "--bench-name", "bench", "--mode", mode, *words)
    return Beside(ours(*words), fastchat(*words))


def plan(mode: str) -> Beside:
    """Return both plans of judging; FastChat's ends at its question whether to begin."""
    words = ("gen_judgment", "--bench-name", "bench", "--mode", mode, "--judge-model", "gpt-4")
    return Beside(ours(*words, "--dry-run"), fastchat(*words))


def script(code: str) -> list[str]:
    """Return a command that runs some lines."""
    return [sys.executable, "-c", code]


SINGLE = show("single").ours
OWN = show("single", "--judge-model", "builtin/overlap").ours
POSITION = ours("judge_report", "position", "--bench-name", "bench")
PAIRS = show("pairwise-all")
ROWS = (
    Row("help", "`--help`", "an empty Python", nothing, Beside(ours("show_result", "--help"), [sys.executable, "-c", "pass"]), small=True),
    Row("grades-5k", "`show_result`, 5,440 grades", "FastChat", grades(5_440), show("single"), small=True),
    Row("pairs-5k", "`show_result`, 5,440 pairs", "FastChat", pairs(5_440), PAIRS, small=True),
    Row("verdicts", "5,000 verdicts with both answers, start-up included", "two searches", nothing, Beside(script(VERDICTS), script(SEARCHES)), small=True),
    Row("grades-own", "`show_result`, 5,440 grades of ours (with hashes)", "FastChat", judged(34, 80), Beside(OWN, fastchat("show_result", "--bench-name", "bench", "--mode", "single", "--judge-model", "builtin%2Foverlap"))),
    Row("grades-300-models", "`show_result`, 24,000 grades of 300 models", "FastChat", grades(24_000, 300), show("single")),
    Row("pairs-baseline", "`show_result`, 57 models x 805 pairs", "FastChat", pairs(57 * 805, 57, "base"), show("pairwise-baseline", "--baseline-model", "base")),
    Row("grades-200k", "`show_result`, 200,000 grades", "FastChat", grades(200_000), show("single")),
    Row("grades-duckdb", "`show_result`, 200,000 grades", "DuckDB, means alone", grades(200_000), Beside(SINGLE, script(DUCKDB)), package="duckdb"),
    Row("grades-polars", "`show_result`, 200,000 grades", "polars, means alone", grades(200_000), Beside(SINGLE, script(POLARS)), package="polars"),
    Row("grades-1m", "`show_result`, 1,000,000 grades", "FastChat", grades(1_000_000), show("single"), free=12),
    Row("pairs-300k", "`show_result`, 300,000 pairs", "FastChat", pairs(300_000), PAIRS, free=12),
    Row("position-500k", "`judge_report position`, a million games", "our `show_result`", pairs(500_000), Beside(POSITION, PAIRS.ours)),
    Row("plan-grades", "`--dry-run`, 200,000 grades", "FastChat's plan", answers(100, 1_000), plan("single")),
    Row("plan-pairs", "`--dry-run`, all pairs of 34 models", "FastChat's plan", answers(34, 80), plan("pairwise-all"), small=True),
)  # fmt: skip
CALLS = Row("calls", "calls of 0.2 s, 64 at once", "the bare SDK", nothing, Beside((), ()))


@contextmanager
def prepared(row: Row, small: bool) -> Iterator[tuple[pathlib.Path, Beside, set[int]]]:
    """Yield a folder with a row's files, its commands, and the cores that they may use."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if row is CALLS:
            with runner.serving(folder, 500 if small else 2_000, 64, 0.2) as (bare, own, cores):
                yield folder, Beside(own, bare), cores
        else:
            row.files(folder)
            yield folder, row.commands, os.sched_getaffinity(0)


def measured(command: Sequence[str], folder: pathlib.Path, cores: set[int]) -> Taken:
    """Return what a command took."""
    environment = os.environ | {"PYTHONPATH": str(HERE.parent)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # else our modules are compiled each time
    began = time.perf_counter()
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: os.sched_setaffinity(0, cores),
    )
    assert process.stderr is not None
    said = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)}: exit {process.returncode}\n{said.decode()[-2000:]}")
    return Taken(used.ru_utime + used.ru_stime, time.perf_counter() - began, used.ru_maxrss / 1024)


def measure(row: Row, rounds: int, small: bool) -> dict[str, float]:
    """Return a row's figures: medians over the rounds, of ratios within each."""
    with prepared(row, small) as (folder, commands, cores):
        measured(commands.ours, folder, cores)  # the files are in memory then, modules compiled
        found = [[measured(words, folder, cores) for words in commands] for _ in range(rounds)]
    own, other = ([each[at] for each in found] for at in (0, 1))
    figures = {
        "cpu": statistics.median(mine.cpu / peer.cpu for mine, peer in found),
        "seconds": statistics.median(taken.cpu for taken in own),
        "peer_seconds": statistics.median(taken.cpu for taken in other),
        "mb": statistics.median(taken.mb for taken in own),
        "peer_mb": statistics.median(taken.mb for taken in other),
    }
    if row is CALLS:
        figures["wall"] = statistics.median(mine.wall / peer.wall for mine, peer in found)
    return figures


def free_gb() -> float:
    """Return the memory that is free, or could be at once."""
    about = pathlib.Path("/proc/meminfo").read_text()
    return int(about.partition("MemAvailable:")[2].split()[0]) / 1e6


def worse(figures: dict[str, float], recorded: dict[str, float]) -> list[str]:
    """Return what is 30% worse than what is recorded."""
    return [
        f"{name} {figures[name]:.2f}, recorded {recorded[name]:.2f}"
        for name in ("cpu", "wall", "mb")
        if name in recorded and figures[name] > max(WORSE * recorded[name], recorded[name] + NOISE)
    ]


def recorded() -> dict[str, dict[str, float]]:
    """Return the figures in `ratios.toml`."""
    return tomllib.loads(RECORDED.read_text()) if RECORDED.exists() else {}


def record(found: dict[str, dict[str, float]]) -> None:
    """Write figures into `ratios.toml`; other rows stay."""
    lines = ["# Written by python -m benchmarks.ratios --record; make bench compares with it."]
    figures = recorded() | found
    for row in (*ROWS, CALLS):
        if row.name in figures:
            lines += ["", f"[{row.name}]"]
            lines += [f"{name} = {value:.3f}" for name, value in figures[row.name].items()]
    RECORDED.write_text("\n".join(lines) + "\n")


def write_table() -> None:
    """Write the table of benchmarks/README.md from `ratios.toml`."""
    figures = recorded()
    table = ["| work | peer | CPU s | peer's | ratio | MB | peer's |", f"|{' --- |' * 7}"]
    for row in (*ROWS, CALLS):
        if of := figures.get(row.name):
            seconds = f"{of['seconds']:.2f} | {of['peer_seconds']:.2f} | {of['cpu']:.2f}"
            memory = f"{of['mb']:.0f} | {of['peer_mb']:.0f}"
            table.append(f"| {row.work} | {row.peer} | {seconds} | {memory} |")
    path, text = HERE / "README.md", "\n".join(table)
    of_page = path.read_text()
    path.write_text(
        re.sub(f"{START}.*?{END}", lambda _: f"{START}\n{text}\n{END}", of_page, flags=re.DOTALL)
    )


def main() -> None:
    """Measure rows, print a line for each, and compare or record."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("rows", nargs="*", help="names in ratios.toml (default: all)")
    parser.add_argument("--small", action="store_true", help="small rows, once; compares nothing")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    if args.table:
        write_table()
        return
    rows = [row for row in (*ROWS, CALLS) if row.small or row is CALLS or not args.small]
    if unknown := set(args.rows) - {row.name for row in rows}:
        parser.error(f"no such row: {', '.join(sorted(unknown))}")
    before: dict[str, dict[str, float]] = recorded()
    faults: list[str] = []
    print(f"{'':44} {'CPU s':>7} {'peer':>7} {'ratio':>6} {'MB':>6}", flush=True)
    for row in rows:
        if args.rows and row.name not in args.rows:
            continue
        if row.free > free_gb():
            print(f"{row.name}: skipped, {row.peer} needs {row.free} GB of free memory")
            continue
        if row.package and not importlib.util.find_spec(row.package):
            print(f"{row.name}: skipped, {row.package} is not installed")
            continue
        of = measure(row, 1 if args.small else args.rounds, args.small)
        wall = f"  wall {of['wall']:.2f}" if "wall" in of else ""
        print(
            f"{row.work:44} {of['seconds']:7.2f} {of['peer_seconds']:7.2f} "
            f"{of['cpu']:6.2f} {of['mb']:6.0f}{wall}",
            flush=True,
        )
        if args.record:
            record({row.name: of})
            write_table()
        faults += [f"{row.name}: {fault}" for fault in worse(of, before.get(row.name, {}))]
    if faults and not args.record and not args.small:
        raise SystemExit("worse than recorded:\n" + "\n".join(faults))


if __name__ == "__main__":
    main()
