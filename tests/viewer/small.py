"""A benchmark of six questions in two turns: three models, two judges, pairs, two voters."""

import pathlib
from typing import Any

import msgspec

MODELS = ("ant", "bee", "cat")
CATEGORIES = ("math", "writing", "coding")


def write(path: pathlib.Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))


def small(folder: pathlib.Path) -> pathlib.Path:
    """Write the benchmark `small` to a data folder, which is returned.

    ant is better than bee, bee than cat; question 3 is flipped, lu gave cat no grade on 4.
    """
    home = folder / "small"
    numbers = range(1, 7)
    write(
        home / "question.jsonl",
        [
            {"question_id": n, "category": CATEGORIES[n % 3], "turns": [f"What is {n}?", "Sure?"]}
            for n in numbers
        ],
    )
    for model in MODELS:
        texts = [f"{model} says **{n}** and more words." for n in numbers]
        rows = [
            {"question_id": n, "model_id": model, "choices": [{"turns": [text, f"Yes, {model}."]}]}
            for n, text in zip(numbers, texts, strict=True)
        ]
        write(home / "model_answer" / f"{model}.jsonl", rows)
    for judge, less in (("lu", 0), ("mo", 1)):
        grades = [
            {
                "question_id": n,
                "model": model,
                "judge": [judge, "x"],
                "turn": turn,
                "score": -1
                if (judge, model, n, turn) == ("lu", "cat", 4, 1)
                else 9 - 2 * at - less - (n == 5),
                "judgment": f"{judge} likes {model} here",
                "user_prompt": "asked",
            }
            for at, model in enumerate(MODELS)
            for n in numbers
            for turn in (1, 2)
        ]
        write(home / "model_judgment" / f"{judge}_single.jsonl", grades)
    pairs = [
        {
            "question_id": n,
            "model_1": one,
            "model_2": two,
            "judge": ["lu", "p"],
            "g1_winner": "model_1",
            "g2_winner": "model_2" if n == 3 else "model_1",
            "g1_judgment": "first is better",
            "g2_judgment": "so it is",
            "turn": turn,
        }
        for one, two in (("ant", "bee"), ("ant", "cat"), ("bee", "cat"))
        for n in numbers
        for turn in (1, 2)
    ]
    write(home / "model_judgment" / "lu_pair.jsonl", pairs)
    for voter in ("ann", "bob"):
        votes = [
            {
                "question_id": n,
                "model_a": "ant",
                "model_b": "bee",
                "judge": voter,
                "turn": 1,
                "winner": "model_b" if (voter, n) == ("bob", 1) else "model_a",
            }
            for n in numbers
        ]
        write(home / "human_judgment" / f"{voter}.jsonl", votes)
    return folder
