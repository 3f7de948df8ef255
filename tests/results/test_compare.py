"""Comparisons of models, rank ranges, and what is missing."""

import numpy as np
import pytest

from harness.results import compare, missing, of_rows, rank
from harness.types import Judgment, Question, User
from tests.results.rows import grade, pair

NOISE = [0, 1, 0, -1, 1, 0, 0, -1, 1, 0, -1, 0]


def graded(**means: float) -> list[Judgment]:
    """Return grades on 12 questions, the noise shared but for a shift by model."""
    return [
        grade(q, model, mean + NOISE[(q + at) % 12])
        for at, (model, mean) in enumerate(means.items())
        for q in range(12)
    ]


def test_grades_are_compared_on_the_questions_that_both_have() -> None:
    rows = [*graded(a=7, b=6), grade(99, "a", 1), grade(98, "b", -1)]
    compared = compare(of_rows(rows)).between("a", "b")
    assert (compared.difference.value, compared.questions, compared.better) == (1, 12, "a")
    swapped = compare(of_rows(rows)).between("b", "a")
    assert (swapped.difference.value, swapped.better) == (-1, "a")


def test_the_worked_line_of_pairs() -> None:
    rows = [
        pair(1, "A", "o", "model_1", "model_1"),
        pair(1, "B", "o", "tie", "tie"),
        pair(1, "A", "B", "model_1", "model_1"),
    ]
    compared = compare(of_rows(rows)).between("A", "B")
    assert (compared.difference.value, compared.difference.count) == (0.75, 2)
    assert compared.opponents == 1


def test_in_a_complete_design_the_difference_is_that_of_the_win_rates() -> None:
    rng = np.random.default_rng(2)
    models = "abcd"
    rows = [
        pair(q, one, other, *[rng.choice(["model_1", "model_2", "tie"])] * 2)
        for q in range(10)
        for at, one in enumerate(models)
        for other in models[at + 1 :]
    ]
    scores = of_rows(rows)
    ranking = rank(scores)
    means = {row["model"]: row.mean.value for row in ranking.models}
    for both in ranking.comparisons.pairs:
        assert both.difference.value == pytest.approx(means[both.model_1] - means[both.model_2])
        assert (both.questions, both.opponents) == (10, 2)


def test_models_without_common_opponents_on_common_questions_are_not_compared() -> None:
    other = [
        pair(q, model, opponent, "tie", "tie")
        for q in range(20)
        for model, opponent in (("a", "weak"), ("b", "strong"))
    ]
    elsewhere = [pair(q, "a" if q < 10 else "b", "o", "tie", "tie") for q in range(20)]
    for rows in (other, elsewhere):
        compared = compare(of_rows(rows)).between("a", "b")
        assert (compared.questions, compared.p, compared.better) == (0, None, None)


def test_pairs_drawn_at_random_are_compared_by_strengths() -> None:
    """Each question has one of three pairs, so no two models met an opponent on the same one."""
    drawn = [("a", "b"), ("b", "c"), ("a", "c")]
    rows = [
        pair(q, *drawn[q % 3], *["model_2" if q % 10 == 0 else "model_1"] * 2) for q in range(60)
    ]
    by_strength = compare(of_rows(rows), ["a", "b", "c"], drawn=True).between("a", "c")
    assert (by_strength.better, by_strength.questions) == ("a", 60)
    assert compare(of_rows(rows)).between("a", "c").questions == 20


def test_rank_ranges_follow_from_who_is_better() -> None:
    ranking = rank(of_rows(graded(best=9, one=6, other=6.2, worst=3)))
    assert ranking.ranks == {"best": (1, 1), "other": (2, 3), "one": (2, 3), "worst": (4, 4)}
    assert (ranking.best, ranking.worst) == ("best", "worst")
    assert ranking.names == ("best", "other", "one", "worst")
    assert ranking.neighbours[1].difference.detectable == pytest.approx(1.06, abs=0.01)
    assert rank(of_rows(graded(a=6, b=6.1, c=3))).best is None


def test_over_a_tenth_missing_no_model_is_called_better() -> None:
    rows = [row for row in graded(a=9, b=5) if not (row.model == "b" and row.question_id in (1, 2))]
    rows += [grade(1, "b", -1)]
    ranking = rank(of_rows(rows))
    assert [tuple(row) for row in ranking.missing] == [("a", 1, 12, 0, 0), ("b", 1, 10, 1, 1)]
    assert (ranking.incomplete, ranking.best) == (False, "a")
    failed = rank(of_rows([*rows, *(grade(q, "b", -1, turn=2) for q in range(5))]))
    assert (failed.incomplete, failed.best) == (True, None)


def test_a_turn_that_a_model_lacks_altogether_is_absent_but_not_of_played_users() -> None:
    rows = [grade(1, model, 5, turn=turn) for model, turn in (("a", 1), ("a", 2), ("b", 1))]
    assert missing(of_rows(rows))[-1] == ("b", 2, 0, 0, 1)
    played = Question(
        question_id=1, category="c", turns=[], user=User(persona="p", goal="g", done="d")
    )
    assert [row.absent for row in missing(of_rows(rows, [played]))] == [0, 0, 0]


def test_a_turn_whose_history_was_given_is_not_missing() -> None:
    rows = [*graded(a=7), *(grade(q, "a+history=b", 9, turn=2) for q in range(12))]
    rows += [grade(q, "a", 5, turn=2) for q in range(12)]
    assert all(row.absent == row.failed == 0 for row in rank(of_rows(rows)).missing)


def test_a_baseline_is_an_opponent_without_a_rank() -> None:
    rows = [
        pair(q, model, "base", *[winner] * 2)
        for q in range(12)
        for model, winner in (("a", "model_1"), ("b", "model_2" if q % 3 else "model_1"))
    ]
    ranking = rank(of_rows(rows), baseline="base")
    assert (ranking.names, ranking.best) == (("a", "b"), "a")
    assert ranking.comparisons.between("a", "b").opponents == 1


def test_pairs_that_nobody_judged_are_not_missing() -> None:
    rows = [pair(1, "a", "b", "tie", "tie"), pair(2, "b", "c", "error", "tie")]
    counts = {(row.model, row.judged, row.failed, row.absent) for row in missing(of_rows(rows))}
    assert counts == {("a", 1, 0, 0), ("b", 1, 1, 0), ("c", 0, 1, 0)}
