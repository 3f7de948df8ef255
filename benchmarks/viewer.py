"""How long the viewer takes for much data: `python benchmarks/viewer.py [--questions N] [--models M]`.

Makes a data folder of so many questions and models, with answers and grades of both turns, and
prints the CPU seconds of the index and of each view, without a browser.
"""

import argparse
import json
import pathlib
import random
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
CATEGORIES = ("writing", "roleplay", "reasoning", "math", "coding", "extraction", "stem")
VIEWS = {
    "the first view: all scores": "",
    "Board": "",
    "Questions: a list": "?tab=questions",
    "sorted by disagreement": "?tab=questions&sort=disagreement",
    "one opened": "?tab=questions&question=7",
    "a text that is nowhere": "?tab=questions&find=qqqzzz",
    "a text that is everywhere": "?tab=questions&find=rating",
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
        home = Home(folder)
        begun = time.process_time()
        index = home.data().index
        size = index.path.stat().st_size / 1e6
        print(f"{time.process_time() - begun:6.2f} s  the index, once ({size:.0f} MB)")
        views = Views(home)
        for name, query in VIEWS.items():
            begun = time.process_time()
            views.show(query)
            print(f"{time.process_time() - begun:6.2f} s  {name}")


if __name__ == "__main__":
    main()
