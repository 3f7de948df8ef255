"""A benchmark of six questions in two turns: three models, two judges, pairs, two voters."""

import pathlib
from itertools import combinations
from typing import Any

import msgspec

MODELS = ("ant", "bee", "cat")
CATEGORIES = ("math", "writing", "coding")


def write(path: pathlib.Path, rows: list[dict[str, Any]], mode: str = "wb") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open(mode) as file:
        file.writelines(msgspec.json.encode(row) + b"\n" for row in rows)


def small(folder: pathlib.Path) -> pathlib.Path:
    """Write the benchmark `small` to a data folder, which is returned.

    ant is better than bee, bee than cat; question 3 is flipped, lu gave cat no grade on 4.
    """
    home, judged = folder / "small", folder / "small" / "model_judgment"
    ids, items = range(1, 7), [(n, turn) for n in range(1, 7) for turn in (1, 2)]
    questions = [{"category": CATEGORIES[n % 3], "turns": [f"What is {n}?", "Sure?"]} for n in ids]
    write(home / "question.jsonl", numbered(questions))
    for model in MODELS:
        turns = [[f"{model} says **{n}** and more words.", f"Yes, {model}."] for n in ids]
        answers = [{"choices": [{"turns": texts}]} for texts in turns]
        write(home / "model_answer" / f"{model}.jsonl", numbered(answers))
    for judge, less in (("lu", 0), ("mo", 1)):
        grades = []
        for at, model in enumerate(MODELS):
            for n, turn in items:
                failed = (judge, model, n, turn) == ("lu", "cat", 4, 1)
                score = -1 if failed else 9 - 2 * at - less - (n == 5)
                grades.append({"question_id": n, "model": model, "turn": turn, "score": score})
                grades[-1] |= {"judge": [judge, "x"], "user_prompt": "asked"}
                grades[-1] |= {"judgment": f"{judge} likes {model} here"}
        write(judged / f"{judge}_single.jsonl", grades)
    pairs = []
    for model_1, model_2 in combinations(MODELS, 2):
        for n, turn in items:
            pairs.append({"question_id": n, "turn": turn, "model_1": model_1, "model_2": model_2})
            second = "model_2" if n == 3 else "model_1"
            pairs[-1] |= {"judge": ["lu", "p"], "g1_winner": "model_1", "g2_winner": second}
            pairs[-1] |= {"g1_judgment": "first is better", "g2_judgment": "so it is"}
    write(judged / "lu_pair.jsonl", pairs)
    for voter in ("ann", "bob"):
        votes: list[dict[str, Any]] = [
            {"model_a": "ant", "model_b": "bee", "judge": voter, "turn": 1, "winner": "model_a"}
            for _ in ids
        ]
        if voter == "bob":
            votes[0]["winner"] = "model_b"
        write(home / "human_judgment" / f"{voter}.jsonl", numbered(votes))
    return folder


def numbered(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows about questions 1, 2, …"""
    return [{"question_id": n, **row} for n, row in enumerate(rows, 1)]
