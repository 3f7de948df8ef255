"""Small benchmarks with judgments, written to a folder."""

import json
import pathlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

SET = {"judge_set": "mt_bench", "judge_set_version": "1"}
CATEGORIES = ("writing", "math", "coding")


def bench(folder: pathlib.Path, questions: int = 24, turns: int = 2) -> pathlib.Path:
    """Write a benchmark `mt_bench` into a data folder; return the data folder."""
    home = folder / "mt_bench"
    (home / "model_judgment").mkdir(parents=True)
    rows = []
    for at in range(questions):
        texts = [f"Question {at}, turn {turn}" for turn in range(1, turns + 1)]
        rows.append({"question_id": at, "category": CATEGORIES[at % 3], "turns": texts})
    write(home / "question.jsonl", rows)
    return folder


def write(path: pathlib.Path, rows: Iterable[Mapping[str, Any]]) -> None:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


def grades(
    data: pathlib.Path,
    models: Mapping[str, float],
    *,
    judge: str = "gpt-4",
    questions: int = 24,
    noise: float = 1.0,
    drop: Callable[[str, int, int], bool] = lambda model, question, turn: False,
    unread: Callable[[str, int, int], bool] = lambda model, question, turn: False,
) -> None:
    """Write grades around each model's own, with a difference by question that all share."""
    rows = []
    for place, (model, mean) in enumerate(models.items()):
        for question in range(questions):
            for turn in (1, 2):
                if drop(model, question, turn):
                    continue
                wave = noise * ((question * 7 + turn * 3 + place * (question % 5)) % 5 - 2) / 2
                score = -1 if unread(model, question, turn) else round(mean + wave, 2)
                row = {"question_id": question, "turn": turn, "model": model, "score": score}
                rows.append(row | SET | {"judge": [judge, "single-v1"], "scale": [1, 10]})
    name = judge.replace("/", "%2F")
    write(data / "mt_bench" / "model_judgment" / f"{name}_single.jsonl", rows)


def pairs(
    data: pathlib.Path,
    winners: Mapping[tuple[str, str], Callable[[int, int], tuple[str, str]]],
    *,
    judge: str = "gpt-4",
    questions: int = 24,
) -> None:
    """Write pairs in both orders; the callables give both games' winners by question and turn."""
    rows = []
    for (one, other), games in winners.items():
        for question in range(questions):
            for turn in (1, 2):
                first, second = games(question, turn)
                row: dict[str, Any] = {"question_id": question, "turn": turn}
                row |= {"model_1": one, "model_2": other}
                row |= {"g1_winner": first, "g2_winner": second, "judge": [judge, "pair-v2"]}
                rows.append(row | SET)
    write(data / "mt_bench" / "model_judgment" / f"{judge}_pair.jsonl", rows)
