"""How long the viewer takes for much data: `python benchmarks/viewer.py [--questions N] [--models M]`.

Makes a data folder of so many questions and models, with answers and grades of both turns, and
prints the CPU seconds of each view without a browser, then those from the start of the command to
the first page, beside a bare `import gradio`.
"""

import argparse
import json
import os
import pathlib
import random
import resource
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
CATEGORIES = ("writing", "roleplay", "reasoning", "math", "coding", "extraction", "stem")
VIEWS = {
    "Board, once more": "",
    "Questions: a list": "?tab=questions",
    "sorted by difference": "?tab=questions&sort=difference",
    "Verdicts: the list": "?tab=verdicts",
    "a word that is nowhere": "?tab=verdicts&find=qqqzzz",
    "a word that is everywhere": "?tab=verdicts&find=rating",
    "Judges": "?tab=judges",
    "Vote": "?tab=vote&voter=ann",
}


def make(folder: pathlib.Path, questions: int, models: int) -> None:
    """Write the benchmark `big`."""
    lot = random.Random(1)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(lot.choices(letters, k=lot.randint(2, 9))) for _ in range(4000)]
    texts = [" ".join(lot.choices(words, k=70)) for _ in range(3000)]
    home = folder / "big"
    for name in ("model_answer", "model_judgment"):
        (home / name).mkdir(parents=True)
    with (home / "question.jsonl").open("w") as file:
        for n in range(1, questions + 1):
            turns = [f"{lot.choice(texts)[:150]} {n}?", "And then?"]
            row = {"question_id": n, "category": CATEGORIES[n % 7], "turns": turns}
            file.write(json.dumps(row) + "\n")
    with (home / "model_judgment" / "judge_single.jsonl").open("w") as grades:
        for model in (f"model-{at}" for at in range(models)):
            with (home / "model_answer" / f"{model}.jsonl").open("w") as answers:
                for n in range(1, questions + 1):
                    choices = [{"turns": lot.choices(texts, k=2)}]
                    answers.write(json.dumps({"question_id": n, "choices": choices}) + "\n")
                    for turn in (1, 2):
                        row = {
                            "question_id": n,
                            "model": model,
                            "judge": ["judge", "x"],
                            "turn": turn,
                            "score": lot.randint(1, 10),
                            "user_prompt": " ".join(lot.choices(texts, k=2)),
                            "judgment": f"{lot.choice(texts)} Rating: [[5]]",
                        }
                        grades.write(json.dumps(row) + "\n")


def main() -> None:
    """Make the data and print the times."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--questions", type=int, default=10_000)
    parser.add_argument("--models", type=int, default=20)
    given = parser.parse_args()
    from viewer.app import Views
    from viewer.data import Home

    with tempfile.TemporaryDirectory() as folder:
        make(pathlib.Path(folder), given.questions, given.models)
        files = list(pathlib.Path(folder).rglob("*.jsonl"))
        size = sum(path.stat().st_size for path in files) / 1e6
        print(f"{given.questions:,} questions, {given.models} models, {size:,.0f} MB")
        begun = time.process_time()
        home = Home(folder)
        home.data()
        print(f"{time.process_time() - begun:6.2f} s  the index")
        views = Views(home)
        views.show("")
        print(f"{time.process_time() - begun:6.2f} s  a fresh folder to the first table")
        for name, query in VIEWS.items():
            begun = time.process_time()
            views.show(query)
            print(f"{time.process_time() - begun:6.2f} s  {name}")
        begun = time.process_time()
        Views(Home(folder)).show("?tab=questions&question=7")
        print(f"{time.process_time() - begun:6.2f} s  a question by link after a restart")
        print(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:6.0f} MB at most")
    with tempfile.TemporaryDirectory() as folder:
        make(pathlib.Path(folder), 80, 3)
        bare = cpu_of([sys.executable, "-c", "import gradio"])
        print(f"{bare:6.2f} s  import gradio")
        command = [sys.executable, "-m", "turnbench", "viewer", "--port", "0"]
        process = subprocess.Popen(
            [*command, "--data-dir", folder], cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        with urllib.request.urlopen(address, timeout=60) as reply:
            page = reply.read().decode()
        first = cpu_so_far(process.pid)
        assert "One moment" in page, "the first page was no progress"
        while "One moment" in page:
            time.sleep(0.05)
            with urllib.request.urlopen(address, timeout=60) as reply:
                page = reply.read().decode()
        ready = cpu_so_far(process.pid)
        process.terminate()
        process.wait()
        print(f"{first:6.2f} s  the command to its first page ({first / bare:.2f} of the import)")
        print(f"{ready:6.2f} s  to the page that shows tables ({ready / bare:.2f})")


def cpu_of(command: list[str]) -> float:
    """Return the CPU seconds that a command takes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, cwd=ROOT)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def cpu_so_far(pid: int) -> float:
    """Return the CPU seconds that a process has taken."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
