"""Judges that disagree with each other, or with the people who voted."""

import json
import pathlib
from typing import Any

import numpy as np
import pytest

from harness.old.errors import UsageError
from harness.old.judgments.observations import Observations
from harness.old.meta_evaluation.disagreement import against, disagreed, judge_disagreement, judged_of
from harness.old.records import Observation
from harness.old.showing import text
from harness.old.showing.judge_report import judge_page
from tests.old.observed import Origin, grade, pair


def marked(*rows: Observation) -> list[bool]:
    found: list[bool] = disagreed(judged_of(Observations.of(rows))).tolist()
    return found


def against_votes(rows: list[Observation], votes: list[Observation]) -> list[bool]:
    found: list[bool] = against(judged_of(Observations.of(rows)), votes).tolist()
    return found


def vote(winner: str, voter: str, question: int = 1) -> Observation:
    return pair(question, 1, "x", "y", (winner,), Origin("votes"), voter)


@pytest.mark.parametrize(
    ("scores", "apart"),
    [
        pytest.param((8, 6), True, id="two-points"),
        pytest.param((8, 6.5), False, id="less"),
        pytest.param((8, None), False, id="no-score"),
        pytest.param((8, 7, 5), True, id="any-two-of-three"),
    ],
)
def test_grades_two_points_apart_are_disagreement(scores: tuple[float | None, ...], apart: bool) -> None:
    rows = [grade(1, 1, "x", score, Origin(f"j{at}")) for at, score in enumerate(scores)]
    assert marked(*rows) == [apart and score is not None for score in scores]


def test_another_winner_or_a_tie_is_disagreement_in_either_order_of_the_models() -> None:
    one = pair(1, 1, "x", "y", ("model_1", "model_1"), Origin("a"))
    same = pair(1, 1, "y", "x", ("model_2", "model_2"), Origin("b"))
    tie = pair(1, 1, "x", "y", ("model_1", "model_2"), Origin("c"))
    assert marked(one, same) == [False, False]
    assert marked(one, tie) == [True, True]
    assert marked(one, same, tie) == [True, True, True]


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(grade(1, 1, "x", 2, Origin("b", "other 1")), id="another-judge-set"),
        pytest.param(grade(1, 2, "x", 2, Origin("b")), id="another-turn"),
        pytest.param(grade(1, 1, "y", 2, Origin("b")), id="another-model"),
        pytest.param(grade(2, 1, "x", 2, Origin("b")), id="another-question"),
        pytest.param(grade(1, 1, "x", 2, Origin("a")), id="the-same-judge"),
        pytest.param(grade(1, 1, "x", 2, Origin("b", sample=1)), id="another-sample"),
    ],
)
def test_what_is_not_comparable_is_no_disagreement(other: Observation) -> None:
    assert marked(grade(1, 1, "x", 9, Origin("a")), other) == [False, False]


def test_a_pair_is_against_the_voters_if_it_says_otherwise_than_most() -> None:
    votes = [vote("model_1", "ann"), vote("model_1", "bob"), vote("model_2", "eve")]
    rows = [
        pair(1, 1, "y", "x", ("model_2", "model_2"), Origin("a")),
        pair(1, 1, "x", "y", ("tie", "tie"), Origin("b")),
        pair(1, 1, "x", "y", ("model_2", "model_2"), Origin("c")),
        pair(1, 1, "x", "y", ("model_2", None), Origin("d")),
        pair(2, 1, "x", "y", ("model_2", "model_2"), Origin("a")),
    ]
    assert against_votes(rows, votes) == [False, True, True, False, False]
    assert against_votes(rows, []) == [False] * 5


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        pytest.param(7, 6, False, id="as-people-say"),
        pytest.param(6, 6, False, id="equal"),
        pytest.param(5, 6, True, id="reversed"),
        pytest.param(5, None, False, id="one-alone"),
    ],
)
def test_grades_are_against_the_voters_if_they_turn_the_order_around(x: float, y: float | None, expected: bool) -> None:
    rows = [grade(1, 1, "x", x, Origin("a")), grade(1, 1, "y", y, Origin("a")), grade(1, 1, "y", 9, Origin("b"))]
    assert against_votes(rows, [vote("model_1", "ann")]) == [expected, expected, False]


def test_marks_of_grades_equal_brute_force() -> None:
    generator = np.random.default_rng(1)
    rows = [
        grade(q, t, m, float(generator.integers(1, 11)), Origin(j))
        for q in range(30)
        for t in (1, 2)
        for m in "xyz"
        for j in "abc"
    ]
    by_item: dict[Any, list[float]] = {}
    for row in rows:
        by_item.setdefault((row.question_id, row.turn, row.model), []).append(row.value or 0.0)
    apart = {item: max(own) - min(own) >= 2 for item, own in by_item.items()}
    judged = judged_of(Observations.of(rows))
    expected = [
        apart[judged.questions[q], t, judged.models[m]]
        for q, t, m in zip(judged.question.tolist(), judged.turn.tolist(), judged.first.tolist(), strict=True)
    ]
    assert disagreed(judged).tolist() == expected


def _files(folder: pathlib.Path) -> list[pathlib.Path]:
    paths = []
    for judge, scores in (("a", (8, 5)), ("b", (5, 6))):
        rows = [
            {"question_id": 1, "model": m, "judge": [judge, "single-v1"], "score": score, "turn": 1}
            for m, score in zip("xy", scores, strict=True)
        ]
        paths.append(folder / f"{judge}_single.jsonl")
        paths[-1].write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return paths


def test_the_report_lists_items_with_what_each_judge_says(tmp_path: pathlib.Path) -> None:
    report = judge_disagreement(input_file=_files(tmp_path))
    assert report.rows == [{"question_id": 1, "turn": 1, "model": "x", "by a": 8.0, "by b": 5.0}]
    assert "on 1 item; 2 items were judged" in report.notes[0]


def test_with_votes_it_lists_what_is_against_them_grades_as_preferences(tmp_path: pathlib.Path) -> None:
    ballot = {"judge": "ann", "model_a": "x", "model_b": "y", "question_id": 1, "turn": 1, "winner": "model_a"}
    votes = tmp_path / "people.jsonl"
    votes.write_text(json.dumps(ballot) + "\n", encoding="utf-8")
    files = _files(tmp_path)
    about = {"question_id": 1, "turn": 1, "model_1": "x", "model_2": "y"}
    report = judge_disagreement(input_file=files, votes=[votes])
    assert report.rows == [about | {"people": "x", "by a": "x", "by b": "y"}]
    agreed = judge_disagreement(input_file=files[0], votes=[votes])
    assert agreed.rows == []
    assert f"note: {agreed.notes[0]}" in text(judge_page(agreed))


def test_one_judge_alone_disagrees_with_nobody(tmp_path: pathlib.Path) -> None:
    with pytest.raises(UsageError, match="only a judged this; it takes two judges, or votes"):
        judge_disagreement(input_file=_files(tmp_path)[0])


def test_items_without_a_verdict_of_two_judges_are_not_said_to_be_compared(tmp_path: pathlib.Path) -> None:
    one, other = _files(tmp_path)
    other.write_text(other.read_text(encoding="utf-8").replace('"score": 6', '"score": -1'), encoding="utf-8")
    report = judge_disagreement(input_file=[one, other])
    assert report.notes[0] == "1 of 4 judgments give no verdict and are left out: by b 1 of 2; about y 1 of 2"
    assert report.notes[1].endswith("1 items were judged by two judges or more")
