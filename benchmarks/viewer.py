"""How fast the viewer opens and shows a question, small and large: `python benchmarks/viewer.py [--models 20 ...]`.

Makes a data folder of so many questions and models (answers and grades of both turns), starts `viewer` on it in a
process of its own, and measures

    bare      process start to first page of an empty Gradio app
    start     process start to first page of the viewer
    question  a view of the tab Answers, made anew each time (median and worst of 20 questions)
    first     the same for the first question, whose files must be looked through
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Sequence

ROOT = pathlib.Path(__file__).resolve().parent.parent
BARE = """
import os
os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1,localhost"
import gradio as gr
with gr.Blocks() as app:
    gr.HTML("")
app.launch(server_port={port}, quiet=True, ssr_mode=False)
"""


def make(folder: pathlib.Path, questions: int, models: int) -> None:
    """Write a benchmark `large` with answers and grades of both turns."""
    bench = folder / "large"
    for name in ("model_answer", "model_judgment"):
        (bench / name).mkdir(parents=True, exist_ok=True)
    said = "The answer weighs one thing against another and then decides. " * 20
    with (bench / "question.jsonl").open("w", encoding="utf-8") as file:
        for number in range(questions):
            turns = [f"What of case {number}, and why?", "And if it were the other way round?"]
            row = {"question_id": number, "category": f"group {number % 8}", "turns": turns}
            file.write(json.dumps(row) + "\n")
    with (bench / "model_judgment" / "judge_single.jsonl").open("w", encoding="utf-8") as grades:
        for model in (f"model-{at:02}" for at in range(models)):
            with (bench / "model_answer" / f"{model}.jsonl").open("w", encoding="utf-8") as answers:
                for number in range(questions):
                    choices = [{"index": 0, "turns": [said, said]}]
                    row = {"question_id": number, "answer_id": "a", "model_id": model, "choices": choices}
                    answers.write(json.dumps({**row, "tstamp": 1.0}) + "\n")
                    for turn in (1, 2):
                        score = 1 + (number * 7 + turn * 3 + len(model) * number // 5) % 10
                        row = {"question_id": number, "model": model, "judge": ["judge", "single-v1"], "turn": turn}
                        words = {"user_prompt": "Grade this.", "judgment": f"{said[:300]} [[{score}]]", "score": score}
                        grades.write(json.dumps({**row, **words, "tstamp": 1.0}) + "\n")


def opened(command: Sequence[str], port: int) -> float:
    """Return the seconds from starting a server to its first page, and end it."""
    start = time.perf_counter()
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    try:
        while True:
            try:
                with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(
                    f"http://127.0.0.1:{port}/"
                ) as reply:
                    reply.read()
                    return time.perf_counter() - start
            except OSError:
                if process.poll() is not None or time.perf_counter() - start > 60:
                    raise
                time.sleep(0.02)
    finally:
        process.terminate()
        process.wait()


def shown(folder: pathlib.Path, questions: int) -> tuple[float, list[float], dict[str, float]]:
    """Return the seconds of the first question's view, those of 20 others, and until the leaderboard's table stands."""
    from viewer.app import Views
    from viewer.context import Context
    from viewer.store import Store

    views = Views(Context(Store(folder, ["large"]), read_only=True))

    def until_there(query: str) -> float:
        start = time.perf_counter()
        while "tb-wait" in views.view(query)[1]:
            time.sleep(0.01)
        return time.perf_counter() - start

    first = until_there("?tab=answers&question=0&model=model-01")
    others = [until_there(f"?tab=answers&question={n}&model=model-01") for n in range(7, questions, questions // 20)]
    start = time.perf_counter()
    views.view("?tab=leaderboard")
    page = time.perf_counter() - start
    return first, others, {"page": page, "whole": page + until_there("?tab=leaderboard")}


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, nargs="+", default=[80, 10_000], help="(default: 80 10000)")
    parser.add_argument("--models", type=int, default=20, help="(default: 20)")
    parser.add_argument("--port", type=int, default=7989, help="(default: 7989)")
    args = parser.parse_args()
    bare = min(opened([sys.executable, "-c", BARE.format(port=args.port)], args.port) for _ in range(3))
    print(f"bare Gradio: {bare:.2f} s")
    print(
        "| questions x models | start, s | first question, s | question, ms: median, worst | leaderboard: page, whole |"
    )
    print("| --- | --- | --- | --- | --- |")
    for questions in args.questions:
        with tempfile.TemporaryDirectory() as folder:
            data = pathlib.Path(folder)
            make(data, questions, args.models)
            command = [sys.executable, "-m", "harness.cli.viewer", "-q", "--data-dir", folder, "--port", str(args.port)]
            start = min(opened(command, args.port) for _ in range(3))
            first, others, board = shown(data, questions)
            middle, worst = 1000 * statistics.median(others), 1000 * max(others)
            print(
                f"| {questions:,} x {args.models} | {start:.2f} | {first:.2f} | {middle:.0f}, {worst:.0f} "
                f"| {board['page']:.2f} s, {board['whole']:.1f} s |",
                flush=True,
            )


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main()
