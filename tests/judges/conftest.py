"""A small benchmark with votes and judgments, written row by row."""

import pathlib
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pytest

from harness.types import Answer, Choice, Judgment, Question, Vote

Write = Callable[..., pathlib.Path]


@pytest.fixture
def write(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Return a function that appends rows to a file of the benchmark `mt_bench` in ./data."""
    monkeypatch.chdir(tmp_path)

    def append(name: str, rows: Sequence[Any]) -> pathlib.Path:
        path = tmp_path / "data" / "mt_bench" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            for row in rows:
                file.write(msgspec.json.encode(row) + b"\n")
        return path

    questions = [
        Question(question_id=n, category="humanities" if n % 2 else "writing", turns=["a", "b"])
        for n in range(1, 41)
    ]
    append("question.jsonl", questions)
    return append


def pair(question: int, games: str, judge: str = "j", **more: Any) -> Judgment:
    """Return a pair of x and y; `games` has the winner of each game: x, y or t."""
    named: dict[str, Any] = {"x": "model_1", "y": "model_2", "t": "tie", "-": "error"}
    first, second = (named[game] for game in games)
    return Judgment(
        question_id=question,
        model_1="x",
        model_2="y",
        g1_winner=first,
        g2_winner=second,
        judge=(judge, "pair-v2"),
        turn=1,
        judge_set="mt_bench",
        **more,
    )


def grade(question: int, model: str, score: float, judge: str = "j", **more: Any) -> Judgment:
    """Return a grade."""
    more.setdefault("judge_set", "mt_bench")
    return Judgment(
        question_id=question, model=model, score=score, judge=(judge, "t"), turn=1, **more
    )


def vote(question: int, winner: str, voter: str = "ann") -> Vote:
    """Return a vote between x and y: x, y or t."""
    named = {"x": "model_a", "y": "model_b", "t": "tie"}
    return Vote(
        question_id=question, model_a="x", model_b="y", winner=named[winner], judge=voter, turn=1
    )


def answer(question: int, text: str) -> Answer:
    """Return an answer of one turn."""
    return Answer(question_id=question, choices=[Choice(turns=[text, "more"])])
