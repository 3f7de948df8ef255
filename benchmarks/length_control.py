"""Length control and a cached re-run, compared with alpaca_eval in the same run.

    python -m benchmarks.length_control FOLDER --alpaca-eval PYTHON

FOLDER holds lc_rows.csv.gz (model, row, instruction_index, preference, len_baseline, len_model) and a file of gamed
rows as alpaca_eval has it (df_gamed*.csv, .gz too). PYTHON is one with alpaca_eval 0.6.6 and pandas before 3 (on which
it fails); it runs as a process of its own and measures itself, its start left out. Set OMP_NUM_THREADS=1 for one thread
on both sides. Outputs are texts of the published lengths. All seconds are of the processor, in the one process: what
else runs on the machine changes them little.

Length control: the rate of one model from the texts of both outputs, median of the rounds, then over the models; with
intervals ours draws 10,000 times, which alpaca_eval does not. Cached re-run: MODELS models of 805 rows that are all
judged are judged again by the same command, and nothing is left to do.
"""

import argparse
import csv
import gzip
import io
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time
from typing import Any

import numpy as np

from harness.old.bench import Bench, load_bench
from harness.old.judging.run import JudgeOptions, plan_judgments, run_judgments
from harness.old.records import QuestionId
from harness.old.results.matrix import Pairs
from harness.old.results.pairs.length_control import Gamed, length_controlled, read_gamed
from harness.old.running.options import RunOptions

Rows = list[dict[str, str]]
PEER = pathlib.Path(__file__).parent / "runner_parts" / "peers" / "alpaca_length.py"


def read(folder: pathlib.Path) -> dict[str, Rows]:
    """Return the published rows of each model."""
    text = gzip.decompress((folder / "lc_rows.csv.gz").read_bytes()).decode()
    models: dict[str, Rows] = {}
    for row in csv.DictReader(io.StringIO(text)):
        models.setdefault(row["model"], []).append(row)
    return models


def texts(row: dict[str, str]) -> tuple[str, str]:
    """Return texts as long as both outputs."""
    return "b" * int(row["len_baseline"]), "m" * int(row["len_model"])


def annotations(model: str, rows: Rows) -> list[dict[str, Any]]:
    """Return what alpaca_eval is given."""
    return [
        {
            "instruction": row["instruction_index"],
            "output_1": texts(row)[0],
            "output_2": texts(row)[1],
            "generator_1": "base",
            "generator_2": model,
            "annotator": "published",
            "preference": float(row["preference"]) if row["preference"] else None,
        }
        for row in rows
    ]


def ours(rows: Rows, gamed: Gamed, resamplings: int) -> tuple[float, float]:
    """Return the seconds and the rate of one model."""
    both = [texts(row) for row in rows]
    begin = time.process_time()
    question = np.array([int(row["instruction_index"]) for row in rows])
    base, model = (np.array([len(own[side]) for own in both], dtype=np.float64) for side in (0, 1))
    share = np.array(
        [float(row["preference"]) - 1 if row["preference"] else np.nan for row in rows]
    )
    ids, zero = tuple(range(805)), np.zeros(len(rows), dtype=np.int64)
    pairs = Pairs(
        ids, (None,) * 805, ("m", "base"), question, zero + 1, zero, zero + 1, share, share
    )
    places: dict[QuestionId, int] = {at: at for at in ids}
    found = length_controlled(
        pairs, model, base, "base", gamed=gamed, places=places, resamplings=resamplings
    )
    return time.process_time() - begin, 100 * (found.table.lines[0].fields["rate"].value or 0.0)


def judged(folder: pathlib.Path, models: int) -> Bench:
    """Return a benchmark of 805 questions on which so many models are judged against a baseline."""
    home = folder / "data" / "load"
    (home / "model_answer").mkdir(parents=True)
    questions = [
        {"question_id": n, "category": "any", "turns": [f"Question {n}?"]} for n in range(805)
    ]
    (home / "question.jsonl").write_text("".join(json.dumps(row) + "\n" for row in questions))
    for name in ("base", *(f"model {at}" for at in range(models))):
        rows = [
            {
                "question_id": n,
                "model_id": name,
                "choices": [{"index": 0, "turns": [f"{name} base {n} " * 100]}],
            }
            for n in range(805)
        ]
        (home / "model_answer" / f"{name}.jsonl").write_text(
            "".join(json.dumps(row) + "\n" for row in rows)
        )
    (home / "one_order").mkdir()  # alpaca_eval shows each pair in one order too
    (home / "one_order" / "judge_set.toml").write_text('order = "random"\n')
    prompt = 'kind = "compare"\nuser = "{question} {answer_a} {answer_b}"\n'
    (home / "one_order" / "prompt.toml").write_text(prompt)
    bench = load_bench("load", folder / "data")
    run_again(bench)
    return bench


def run_again(bench: Bench) -> float:
    """Judge what is left to judge; return the seconds."""
    begin = time.process_time()
    options = JudgeOptions(judge_set=str(bench.folder / "one_order"), baseline="base")
    plan = plan_judgments(["builtin/first"], bench, "pairwise-baseline", options)
    run_judgments(plan, RunOptions())
    return time.process_time() - begin


def main() -> None:
    """Measure both sides and print a table."""
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("folder", type=pathlib.Path)
    p.add_argument("--alpaca-eval", metavar="PYTHON", required=True)
    p.add_argument("--rounds", type=int, default=5, metavar="N", help="(default: 5)")
    p.add_argument(
        "--models", type=int, default=10, metavar="N", help="of the cached re-run (default: 10)"
    )
    args = p.parse_args()
    models, gamed_file = read(args.folder), next(iter(sorted(args.folder.glob("df_gamed*.csv*"))))
    gamed = read_gamed(gamed_file)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        raw = gamed_file.read_bytes()
        (folder / "df_gamed.csv").write_bytes(
            gzip.decompress(raw) if gamed_file.suffix == ".gz" else raw
        )
        given = {model: annotations(model, rows) for model, rows in models.items()}
        (folder / "rows.json").write_text(json.dumps(given))
        alone = {
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "HF_HUB_OFFLINE": "1",
            "OPENAI_API_KEY": "none",
        }
        argv = [args.alpaca_eval, str(PEER), name, str(args.rounds), str(args.models)]
        done = subprocess.run(
            argv, env={**os.environ, **alone}, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise SystemExit(f"alpaca_eval failed:\n{done.stderr[-2000:]}")
        theirs = json.loads(done.stdout.splitlines()[-1])
        timed = {
            resamplings: [
                statistics.median(ours(rows, gamed, resamplings)[0] for _ in range(args.rounds))
                for rows in models.values()
            ]
            for resamplings in (0, 10_000)
        }
        apart = [
            abs(ours(rows, gamed, 0)[1] - rate)
            for rows, rate in zip(models.values(), theirs["control"]["rates"], strict=True)
        ]
        bench = judged(folder, args.models)
        files = sorted((bench.folder / "model_judgment").iterdir())
        before = [file.stat().st_mtime_ns for file in files]
        again = statistics.median(run_again(bench) for _ in range(args.rounds))
        rewritten = before != [file.stat().st_mtime_ns for file in files]
    peer, bare, whole = (
        statistics.median(own) for own in (theirs["control"]["seconds"], *timed.values())
    )
    print("| | ours, s | alpaca_eval, s | times faster |")
    print("| --- | --- | --- | --- |")
    print(f"| length control of one model | {bare:.4f} | {peer:.3f} | {peer / bare:.0f} |")
    print(f"| the same with an interval | {whole:.3f} | none | {peer / whole:.1f} |")
    wrote = f"({'' if theirs['rewritten'] else 'not '}rewritten)"
    wrote = f"{theirs['cached']:.2f} {wrote}"
    print(
        f"| cached re-run, {args.models} models | {again:.2f} ({'' if rewritten else 'not '}rewritten) | {wrote} | "
        f"{theirs['cached'] / again:.1f} |"
    )
    print(
        f"\nrates differ by at most {max(apart):.3f} points (median {statistics.median(apart):.4f})."
    )


if __name__ == "__main__":
    main()
