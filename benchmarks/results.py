"""The cost of `show_result` on many judgments, beside FastChat's on the same file.

    python -m benchmarks.results                  5,440 rows and a million, grades and pairs
    python -m benchmarks.results --rows 10000

Files are made from a seed in a temporary folder (1.6 GB for a million grades with texts) and read
once before the clock starts. Whole processes are timed, start-up included; the table shows the
median over the rounds of the processor time, and its ratio to FastChat's in the same round.
FastChat's script is left out of a million pairs, on which it needs over 22 GB.
"""

import argparse
import json
import pathlib
import random
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence

FASTCHAT = """
import runpy, sys
sys.argv = ["show_result", "--bench-name", "bench", "--mode", sys.argv[1]]
runpy.run_module("fastchat.llm_judge.show_result", run_name="__main__")
"""
TEXT = " ".join(["The answer is clear and follows the question; it lacks one example."] * 10)


def write(path: pathlib.Path, kind: str, rows: int) -> None:
    """Write a judgment file with FastChat's fields: 34 models, as many questions as it takes."""
    draw = random.Random(7)
    models = [f"model-{number}" for number in range(34)]
    path.parent.mkdir(parents=True)
    with path.open("w", encoding="utf-8") as file:
        for number in range(rows):
            question, rest = divmod(number, 68)
            turn, model = rest % 2 + 1, models[rest // 2]
            row: dict[str, object] = {"question_id": question, "turn": turn, "judge": ["j", "t"]}
            if kind == "single":
                row |= {"model": model, "score": draw.randint(1, 10), "judgment": TEXT}
            else:
                winners = ("model_1", "model_2", "tie")
                other = models[(rest // 2 + 1 + question % 33) % 34]
                row |= {"model_1": model, "model_2": other, "g1_judgment": TEXT}
                row |= {f"g{game}_winner": draw.choice(winners) for game in (1, 2)}
            file.write(json.dumps({**row, "user_prompt": TEXT, "tstamp": 1.0}) + "\n")


def seconds(argv: Sequence[str], folder: pathlib.Path) -> float:
    """Return the processor time of one command, in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(argv, cwd=folder, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print a line for each size and kind."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rows", type=int, nargs="+", default=[5_440, 1_000_000])
    parser.add_argument("--runs", type=int, default=3)
    args = parser.parse_args()
    print(f"{'rows':>9}  {'kind':6}  {'ours':>7}  {'FastChat':>8}  ratio")
    for rows in args.rows:
        for kind, mode in (("single", "single"), ("pair", "pairwise-all")):
            with tempfile.TemporaryDirectory() as name:
                folder = pathlib.Path(name)
                judgments = folder / "data" / "bench" / "model_judgment"
                write(judgments / f"gpt-4_{kind}.jsonl", kind, rows)
                (folder / "data" / "bench" / "question.jsonl").write_text(
                    "".join(
                        json.dumps({"question_id": q, "category": "math", "turns": ["a", "b"]})
                        + "\n"
                        for q in range(rows // 68 + 1)
                    )
                )
                ours = [sys.executable, "-m", "turnbench", "show_result", "--bench-name", "bench"]
                ours += ["--mode", mode]
                theirs = [sys.executable, "-c", FASTCHAT, mode]
                skip = kind == "pair" and rows > 200_000
                found = [
                    (seconds(ours, folder), None if skip else seconds(theirs, folder))
                    for _ in range(args.runs)
                ]
            own = statistics.median(first for first, _ in found)
            other = [second for _, second in found if second is not None]
            beside = f"{statistics.median(other):8.2f}" if other else f"{'-':>8}"
            ratios = [second / first for first, second in found if second is not None]
            ratio = f"{statistics.median(ratios):5.1f}" if ratios else f"{'-':>5}"
            print(f"{rows:9,}  {kind:6}  {own:7.2f}  {beside}  {ratio}")


if __name__ == "__main__":
    main()
