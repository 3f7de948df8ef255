"""Rows and benchmarks that these tests read."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness import bench, store
from harness.types import Answer, Choice, Judgment


def grade(q: int, model: str, score: float | None, **more: Any) -> Judgment:
    """Return a grade by gpt-4 in turn 1."""
    fields: dict[str, Any] = {"judge": ("gpt-4", "single-v1"), "turn": 1} | more
    return Judgment(question_id=q, model=model, score=score, **fields)


def pair(q: int, one: str, other: str, *winners: Any, **more: Any) -> Judgment:
    """Return a pair of one or two games, judged by gpt-4 in turn 1."""
    fields: dict[str, Any] = {"judge": ("gpt-4", "pair-v2"), "turn": 1} | more
    games = dict(zip(("g1_winner", "g2_winner"), winners, strict=False))
    return Judgment(question_id=q, model_1=one, model_2=other, **games, **fields)


def preference(q: int, one: str, other: str, share: float) -> Judgment:
    """Return a pair in which a share goes to the first model."""
    return pair(q, one, other, "model_1", g1_preference=share)


def answered(folder: Path, texts: Mapping[str, Sequence[str]]) -> bench.Bench:
    """Return a benchmark in a folder, with each model's answers to the questions 0, 1, …"""
    home = folder / "data" / "b"
    home.mkdir(parents=True)
    count = max(map(len, texts.values()))
    lines = [json.dumps({"question_id": q, "category": "c", "turns": ["?"]}) for q in range(count)]
    (home / "question.jsonl").write_text("\n".join(lines) + "\n")
    for model, answers in texts.items():
        with store.Writer(home / "model_answer" / f"{model}.jsonl", Answer) as writer:
            for q, text in enumerate(answers):
                writer.append(Answer(question_id=q, model_id=model, choices=[Choice(turns=[text])]))
    return bench.load("b", folder / "data")
