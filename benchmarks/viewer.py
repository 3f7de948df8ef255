"""How fast the viewer opens and shows a question, small and large: `python benchmarks/viewer.py [--models 20 ...]`.

Makes a data folder of so many questions and models (answers and grades of both turns), starts `viewer` on it in a
process of its own, and measures

    bare      process start to first page of an empty Gradio app
    start     process start to first page of the viewer
    Answers, Compare  a view of the tab, made anew each time (median and worst of 20 questions)
    first     the same for the first question, whose files must be looked through

and of each other tab, by a viewer that has shown nothing yet, the seconds until its first table or picture is there,
until all of it is, and the processor time of all processes together. Runs counts longer than anybody waits for at
10,000 questions; `--longest` ends it. With `--browser`, also the seconds from opening the page of a viewer that has
just started until its table is there, until its links lead somewhere within the page, which waits for Gradio's
scripts, and from there to the table of pairs.
"""

import argparse
import itertools
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from typing import NamedTuple

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


LOOKED_AT = 2.0
"""Seconds for which somebody looks at the leaderboard before asking for a question."""


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
                    row = {
                        "question_id": number,
                        "answer_id": "a",
                        "model_id": model,
                        "choices": choices,
                    }
                    answers.write(json.dumps({**row, "tstamp": 1.0}) + "\n")
                    for turn in (1, 2):
                        score = 1 + (number * 7 + turn * 3 + len(model) * number // 5) % 10
                        row = {
                            "question_id": number,
                            "model": model,
                            "judge": ["judge", "single-v1"],
                            "turn": turn,
                        }
                        words = {
                            "user_prompt": "Grade this.",
                            "judgment": f"{said[:300]} [[{score}]]",
                            "score": score,
                        }
                        grades.write(json.dumps({**row, **words, "tstamp": 1.0}) + "\n")


def make_pairs(folder: pathlib.Path, questions: int, models: int) -> None:
    """Write the pairs of every model with the first, both games of both turns."""
    said = "One weighs more than the other. " * 9
    words = {f"g{game}_{name}": said for game in (1, 2) for name in ("user_prompt", "judgment")}
    path = folder / "large" / "model_judgment" / "judge_pair.jsonl"
    with path.open("w", encoding="utf-8") as pairs:
        for number, other, turn in itertools.product(range(questions), range(1, models), (1, 2)):
            names = {"model_1": f"model-{other:02}", "model_2": "model-00"}
            first = ("model_1", "model_2", "tie")[(number * 7 + other * number // 3) % 3]
            second = first if (number + turn + other) % 5 else "model_2"
            games = {
                "g1_winner": first,
                "g2_winner": second,
                "judge": ["judge", "pair-v2"],
                "tstamp": 1.0,
            }
            pairs.write(
                json.dumps({"question_id": number, **names, "turn": turn, **words, **games}) + "\n"
            )


def opened(command: Sequence[str], port: int) -> float:
    """Return the seconds from starting a server to its first page, and end it."""
    start = time.perf_counter()
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    process = subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.DEVNULL)
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


class Seconds(NamedTuple):
    """What was measured of the views."""

    linked: float
    """To a question by its link, the viewer having shown nothing yet."""
    first: float
    """To a question, the leaderboard having been looked at for a moment."""
    answers: list[float]
    compare: list[float]


TABS = {
    "Leaderboard of grades": "?tab=leaderboard",
    "Leaderboard of pairs": "?tab=leaderboard&mode=pairwise-all",
    "Judge": "?tab=judge",
    "Find": "?tab=find",
    "Find, a word that is in no text": "?tab=find&f.text=zebra",
    "Find, a word that is in every text": "?tab=find&f.text=weighs",
    "Find, another such word": "?tab=find&f.text=decides",
    "Runs": "?tab=runs",
}
"""The views that are measured by one viewer after another, but for those of Find, which one viewer shows."""


class Part(NamedTuple):
    """The seconds after which parts of a view are there."""

    first: float
    whole: float
    processor: float


def parts_of(folder: pathlib.Path, longest: float) -> Iterator[tuple[str, Part]]:
    """Yield the seconds of each view in `TABS`; infinite where it took longer than that."""
    from viewer.old.app import Views
    from viewer.old.context import Context
    from viewer.old.store import Store

    views = Views(Context(Store(folder, ["large"]), read_only=True))
    for name, query in TABS.items():
        if "f.text" not in query:
            views.context.store.later.close()
            views = Views(Context(Store(folder, ["large"]), read_only=True))
        first, spent, start = math.inf, processor_seconds(), time.perf_counter()
        while True:
            shown = views.view(query)[1]
            seconds = time.perf_counter() - start
            if re.search("<table|<svg|Nothing fits", shown):
                first = min(first, seconds)
            if "One moment" not in shown or seconds > longest:
                break
            time.sleep(0.05)
        whole = seconds if "One moment" not in shown else math.inf
        yield name, Part(first, whole, processor_seconds() - spent)


def processor_seconds() -> float:
    """Return the processor time of this process, those that it started, and those of them that have ended."""
    said = {file.parent.name: _stat(file) for file in pathlib.Path("/proc").glob("[0-9]*/stat")}
    family = {str(os.getpid())}
    while more := {pid for pid, stat in said.items() if stat and stat[1] in family} - family:
        family |= more
    return sum(int(number) for pid in family for number in said[pid][11:15]) / os.sysconf(
        "SC_CLK_TCK"
    )


def _stat(file: pathlib.Path) -> list[str]:
    try:
        return file.read_text(errors="replace").rpartition(")")[2].split()
    except OSError:  # it has ended
        return []


def get_ready() -> None:
    """Have what the viewer starts before anybody can ask."""
    from viewer.old.limited import PROCESSES

    first = PROCESSES.Process(target=print)
    first.start()
    first.join()


def shown(folder: pathlib.Path, questions: int) -> Seconds:
    """Return the seconds of a first question's view, and of 20 others in both tabs."""
    from viewer.old.app import Views
    from viewer.old.context import Context
    from viewer.old.store import Store

    views = Views(Context(Store(folder, ["large"]), read_only=True))

    def until_there(query: str) -> float:
        start = time.perf_counter()
        while "tb-wait" in views.view(query)[1]:
            time.sleep(0.01)
        return time.perf_counter() - start

    pair = "model=model-00&model=model-01"
    numbers = range(7, questions, questions // 20)
    linked = until_there("?tab=answers&question=0&model=model-01")
    views = Views(Context(Store(folder, ["large"]), read_only=True))
    views.view("?tab=leaderboard")
    time.sleep(LOOKED_AT)
    first = until_there("?tab=answers&question=0&model=model-01")
    until_there("?tab=leaderboard")
    answers = [until_there(f"?tab=answers&question={n}&model=model-01") for n in numbers]
    until_there(f"?tab=compare&question=0&{pair}")
    compare = [until_there(f"?tab=compare&question={n}&{pair}") for n in numbers]
    return Seconds(linked, first, answers, compare)


def in_browser(folder: pathlib.Path) -> tuple[float, float, float]:
    """Return the seconds from opening the page to its first table, to links in it, and from there to that of pairs."""
    from tests.old.browser.conftest import running_chromium, start_viewer

    with running_chromium() as browser:
        process, address = start_viewer(folder, "--bench-name", "large")
        try:
            page = browser.new_page()
            start = time.perf_counter()
            page.goto(address, wait_until="commit")
            page.wait_for_selector("table")
            table = time.perf_counter() - start
            page.wait_for_selector("#tb-pane-leaderboard table")
            linked, again = time.perf_counter() - start, time.perf_counter()
            page.evaluate("turnbench.go('?mode=pairwise-all')")
            page.wait_for_selector("#tb-pane-leaderboard .tb-outcome")
            return table, linked, time.perf_counter() - again
        finally:
            process.terminate()
            process.wait()


def _told(seconds: list[float]) -> str:
    return f"{1000 * statistics.median(seconds):.0f}, {1000 * max(seconds):.0f}"


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--questions", type=int, nargs="+", default=[80, 10_000], help="(default: 80 10000)"
    )
    parser.add_argument("--models", type=int, default=20, help="(default: 20)")
    parser.add_argument(
        "--longest", type=float, default=60.0, help="seconds that a view may take (default: 60)"
    )
    parser.add_argument(
        "--browser", action="store_true", help="also open the page in Chromium (default: off)"
    )
    parser.add_argument("--port", type=int, default=7989, help="(default: 7989)")
    args = parser.parse_args()
    bare = min(
        opened([sys.executable, "-c", BARE.format(port=args.port)], args.port) for _ in range(3)
    )
    print(f"bare Gradio: {bare:.2f} s")
    print(
        "| questions x models | start, s | question by its link, s | first question after the leaderboard, s "
        "| Answers, ms: median, worst | Compare, ms: median, worst |"
    )
    print("| --- | --- | --- | --- | --- | --- |")
    of_tabs: list[str] = []
    for questions in args.questions:
        with tempfile.TemporaryDirectory() as folder:
            data = pathlib.Path(folder)
            make(data, questions, args.models)
            make_pairs(data, questions, args.models)
            command = [
                sys.executable,
                "-m",
                "harness.old.cli.viewer",
                "-q",
                "--data-dir",
                folder,
                "--port",
                str(args.port),
            ]
            start = min(opened(command, args.port) for _ in range(3))
            get_ready()
            found = shown(data, questions)
            print(
                f"| {questions:,} x {args.models} | {start:.2f} | {found.linked:.2f} | {found.first:.2f} "
                f"| {_told(found.answers)} | {_told(found.compare)} |",
                flush=True,
            )
            if args.browser:
                print(
                    "its table, its links, the table of pairs, s:",
                    *(f"{s:.2f}" for s in in_browser(data)),
                    flush=True,
                )
            for name, part in parts_of(data, args.longest):
                whole = f"{part.whole:.1f}" if part.whole < math.inf else f"over {args.longest:.0f}"
                seconds = f"{part.first:.1f} | {whole} | {part.processor:.1f}"
                of_tabs.append(f"| {questions:,} x {args.models} | {name} | {seconds} |")
    print("\n| questions x models | view | its first table, s | all of it, s | processor, s |")
    print("| --- | --- | --- | --- | --- |", *of_tabs, sep="\n")


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main()
