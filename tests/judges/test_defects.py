"""Judges with one implanted defect each: the report on it names it, the others stay quiet."""

import pathlib
import random
from collections.abc import Callable
from typing import Any

import pytest

import harness
from harness.types import Measurement, Vote
from tests.judges.conftest import answer, grade, pair, vote

Write = Callable[..., pathlib.Path]

QUESTIONS = range(1, 41)
TURNS = 4
"""Pairs on one question; votes, answers and verdicts have a turn each."""
ITEMS = [(question, turn) for question in QUESTIONS for turn in range(1, TURNS + 1)]


def noisy(rng: random.Random, winner: str, right: float) -> str:
    """Return the winner with a chance, else the other model."""
    return winner if rng.random() < right else "y" if winner == "x" else "x"


def verdict(rng: random.Random, defect: str, item: dict[str, str]) -> str:
    """Return a judge's winners in both orders."""
    if defect == "takes the first" and rng.random() < 0.8:
        return "xy"
    if defect == "longer wins":
        return 2 * noisy(rng, item["longer"], 0.9)
    if defect == "noisy":
        return 2 * noisy(rng, item["right"], 0.6)
    if defect == "copy":
        return 2 * item["fair"]
    if defect == "kind to itself" and rng.random() < 0.5:
        return "xx"
    return 2 * item["own"]


@pytest.fixture
def named(write: Write) -> Callable[[str], set[str]]:
    """Return a function that makes a judge with a defect, and returns which reports name one."""

    def of(defect: str) -> set[str]:
        rng = random.Random(f"judge: {defect}")
        judge = "x" if defect == "kind to itself" else "suspect"
        items = []
        for _ in ITEMS:
            right = rng.choice("xy")
            item = {"right": right, "longer": rng.choice("xy")}
            items.append(item | {"fair": noisy(rng, right, 0.8), "own": noisy(rng, right, 0.8)})
        rows: list[Any] = []
        votes: list[Vote] = []
        lengths: dict[str, list[list[str]]] = {"x": [], "y": []}
        for (question, turn), item in zip(ITEMS, items, strict=True):
            rows.append(pair(question, 2 * item["fair"], "fair"))
            rows[-1].turn = turn
            for sample in range(2):
                games = verdict(rng, defect, item)
                rows.append(pair(question, games, judge, sample=sample))
                rows[-1].turn = turn
            for voter in ("ann", "bob"):
                votes.append(vote(question, noisy(rng, item["right"], 0.9), voter))
                votes[-1].turn = turn
            for model, turns in lengths.items():
                turns += [[]] if turn == 1 else []
                turns[-1].append("long text" if item["longer"] == model else "short")
        write("model_judgment/all_pair.jsonl", rows)
        write("human_judgment/people.jsonl", votes)
        for model, of_model in lengths.items():
            answers = [answer(question, "") for question in QUESTIONS]
            for own, texts in zip(answers, of_model, strict=True):
                own.choices[0].turns = texts
            write(f"model_answer/{model}.jsonl", answers)
        names = {"judge_model": judge}
        found = set()
        if first_row("position", **names)["first_share_low"] > 0.5:
            found.add("position")
        if first_row("length", **names)["longer_wins_low"] > 0.5:
            found.add("length")
        if first_row("repeat", **names, mode="pairwise-all")["same_high"] < 0.8:
            found.add("repeat")
        panel = harness.judge_report("worth").page
        if panel.facts["worth_high"] < 2:
            found.add("worth")
        if any("answers of its own" in str(note) for note in panel.notes):
            found.add("itself")
        return found

    return of


def first_row(report: str, **options: Any) -> dict[str, Any]:
    return harness.judge_report(report, **options).page.all_rows[0]


@pytest.mark.parametrize(
    ("defect", "report"),
    [
        pytest.param("none", set(), id="none"),
        pytest.param("takes the first", {"position", "repeat"}, id="takes the first"),
        pytest.param("longer wins", {"length"}, id="longer wins"),
        pytest.param("copy", {"worth"}, id="a copy of another judge"),
        pytest.param("noisy", {"repeat"}, id="noisy"),
        pytest.param("kind to itself", {"itself"}, id="kind to itself"),
    ],
)
def test_the_report_on_a_defect_names_it_and_the_others_do_not(
    named: Callable[[str], set[str]], defect: str, report: set[str]
) -> None:
    assert named(defect) == report


@pytest.mark.parametrize("defect", ["none", "lenient", "blind to errors"])
def test_checks_name_who_is_lenient_or_blind(write: Write, defect: str) -> None:
    rng = random.Random(f"grades: {defect}")
    grades, found = [], []
    for question in QUESTIONS:
        for model, is_broken in (("x", question % 3 == 0), ("y", question % 3 == 1)):
            lost = 0 if defect == "blind to errors" else 2
            score = rng.choice([6, 7, 8]) - lost * is_broken
            if defect == "lenient":
                score = 9 if is_broken else rng.choice([9, 10])
            grades.append(grade(question, model, score, "suspect"))
            check = {"kind": "equals", "strict": not is_broken, "loose": not is_broken}
            names: dict[str, Any] = {"question_id": question, "model": model, "turn": 1}
            found.append(Measurement(metric="checks", value=None, checks=[check], **names))
    write("model_judgment/suspect_single.jsonl", grades)
    write("model_metric/checks.jsonl", found)
    page = harness.judge_report("checks").page
    less, top_of_broken, _ = page.all_rows
    assert (less["value_low"] > 0) == (defect != "blind to errors")
    assert (top_of_broken["value"] > 0.5) == (defect == "lenient")
    assert "costs" not in page.outcome
