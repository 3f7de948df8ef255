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
    assert [pair.better for pair in ranking.neighbours] == ["best", None, "one"]
    assert rank(of_rows(graded(a=6, b=6.1, c=3))).best is None


def without(rows: list[Judgment], model: str, *questions: int) -> list[Judgment]:
    return [row for row in rows if row.model != model or row.question_id not in questions]


def test_of_a_model_with_over_a_tenth_missing_nothing_is_said_and_others_keep_their_words() -> None:
    rows = [*without(graded(a=9, b=5, c=7), "b", 1, 2), grade(1, "b", -1)]
    ranking = rank(of_rows(rows))
    counts = [("a", 1, 12, 0, 0), ("c", 1, 12, 0, 0), ("b", 1, 10, 1, 1)]
    assert [tuple(row) for row in ranking.missing] == counts
    assert (ranking.complete, ranking.left_out, ranking.best) == (("a", "c"), ("b",), "a")
    assert ranking.ranks == {"a": (1, 1), "c": (2, 2)}
    assert not ranking.incomplete
    two = rank(of_rows([row for row in rows if row.model != "c"]))
    assert (two.incomplete, two.best) == (True, None)
    assert rank(of_rows(rows), judge_missing=False).complete == ("a", "c", "b")


def test_a_pair_that_is_missing_is_missing_in_the_model_whose_pairs_are() -> None:
    rows = [
        pair(q, one, other, "model_1", "model_1")
        for q in range(20)
        for one, other in (("a", "b"), ("a", "c"), ("b", "c"))
        if other != "c" or q > 5
    ]
    ranking = rank(of_rows(rows))
    assert (ranking.left_out, ranking.best) == (("c",), "a")
    assert [row.absent for row in ranking.missing] == [6, 6, 12]


@pytest.mark.parametrize(("gap", "better"), [(3.0, "a"), (0.4, None)])
def test_a_word_that_missing_verdicts_could_undo_is_withheld(
    gap: float, better: str | None
) -> None:
    """The winner's missing grade counts as its 10th percentile, the loser's as its 90th."""
    rng = np.random.default_rng(1)
    rows = []
    for q in range(40):
        level = float(rng.integers(2, 8))
        rows += [grade(q, "a", level + gap), grade(q, "b", level + float(rng.normal(0, 0.5)))]
    whole = rank(of_rows(rows)).comparisons.between("a", "b")
    assert (whole.better, whole.withheld) == ("a", False)
    pair = rank(of_rows(without(rows, "a", 1, 2, 3))).comparisons.between("a", "b")
    assert (pair.better, pair.withheld) == (better, better is None)
    assert pair.swapped().better == better


def test_better_stands_exactly_where_it_survives_the_missing_grades() -> None:
    """Of random tables: filled by hand with the percentiles of rules and docs."""
    rng = np.random.default_rng(6)
    said = {True: 0, False: 0}
    for _ in range(80):
        gap, lost = float(rng.uniform(0.2, 1.2)), rng.integers(0, 5, 2)
        columns = {"a": gap + rng.normal(5, 1, 40), "b": rng.normal(5, 1, 40)}
        for (_, column), count in zip(columns.items(), lost, strict=True):
            column[rng.choice(40, count, replace=False)] = np.nan
        rows = [
            grade(q, name, None if np.isnan(value) else float(value))
            for name, column in columns.items()
            for q, value in enumerate(column)
        ]
        pair = rank(of_rows(rows)).comparisons.between("a", "b")
        if pair.significant is None:
            continue
        filled = []
        for name, column in columns.items():
            end = 10 if name == pair.significant else 90
            value = np.where(np.isnan(column), np.nanpercentile(column, end), column)
            filled += [grade(q, name, float(x)) for q, x in enumerate(value)]
        survives = compare(of_rows(filled)).between("a", "b").significant == pair.significant
        assert (pair.better is not None) == survives == (not pair.withheld)
        said[survives] += 1
    assert said[True] > 20
    assert said[False] > 3


def test_a_win_that_a_missing_pair_could_undo_is_withheld() -> None:
    rows = [pair(q, "a", "b", *["model_1" if q > 5 else "model_2"] * 2) for q in range(22)]
    assert rank(of_rows(rows)).best == "a"
    lost = [*rows, pair(22, "a", "b", "error", "error"), pair(23, "a", "b", "error", "error")]
    ranking = rank(of_rows(lost))
    assert (ranking.incomplete, ranking.best) == (False, None)
    assert ranking.comparisons.pairs[0].withheld


def test_one_model_is_tested_against_the_others_alone() -> None:
    rng = np.random.default_rng(5)
    shared = rng.normal(0, 1, 40)
    rows = [
        grade(q, name, mean + shared[q] + float(rng.normal(0, 1)))
        for name, mean in {"a": 6.6, **dict.fromkeys("bcdefgh", 6.0)}.items()
        for q in range(40)
    ]
    comparisons = rank(of_rows(rows)).comparisons
    every = [comparisons.between("a", name) for name in "bcdefgh"]
    asked = comparisons.against("a")
    assert sum(pair.better == "a" for pair in asked) > sum(pair.better == "a" for pair in every)
    assert {pair.model_1 for pair in asked} == {"a"}


def test_two_models_in_pairs_are_compared_by_wilson() -> None:
    """Six wins, one tie and one loss of eight: the t-test would say p = 0.03."""
    winners = ["model_1"] * 6 + ["tie", "model_2"]
    rows = [pair(q, "a", "b", winner, winner) for q, winner in enumerate(winners)]
    compared = compare(of_rows(rows)).between("a", "b")
    assert compared.rate is not None
    assert compared.rate.value == 0.8125
    low, high = compared.rate_interval or (0, 0)
    assert compared.interval == (2 * low - 1, 2 * high - 1)
    assert (compared.better is None) == (low <= 0.5)
    assert compared.swapped().rate_interval == pytest.approx((1 - high, 1 - low))


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
