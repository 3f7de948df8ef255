"""How sure a table is: one set of numbers for every output."""

import pytest

from harness.old.judgments.observations import Observations
from harness.old.records import Observation, QuestionId, Scale
from harness.old.results.detail import grades_detail, pair_row, pairs_detail
from harness.old.results.matrix import matrix, pairs
from harness.old.results.runs import compared_runs
from harness.old.results.statistics.ranks import RankRange
from tests.old.observed import Origin, grade, pair

JUDGE = Origin("j")
QUESTIONS = range(1, 41)
GROUPS: dict[QuestionId, str] = {question: "math" if question % 2 else "coding" for question in QUESTIONS}


def run(**levels: float) -> list[Observation]:
    """Return grades of models on forty questions, two turns; each model's level with a wave over the questions."""
    return [
        grade(question, turn, model, level + (question * 7 % 5) * 0.5 - (turn == 2), JUDGE)
        for question in QUESTIONS
        for model, level in levels.items()
        for turn in (1, 2)
    ]


def test_the_rows_stand_in_the_order_of_the_averages_and_have_their_intervals() -> None:
    detail = grades_detail(matrix(run(low=3.0, high=6.0), GROUPS))
    assert [row["model"] for row in detail.rows()] == ["high", "low"]
    for row in detail.rows():
        assert row["average_low"] < row["average"] < row["average_high"]
        assert row["drop"] == 1.0
    assert [row["rank"] for row in detail.rows()] == ["1", "2"]


def test_a_group_has_a_row_for_each_model() -> None:
    detail = grades_detail(matrix(run(low=3.0, high=6.0), GROUPS), by="kind")
    assert [(row["model"], row["kind"], row["questions"]) for row in detail.table.group_rows()] == [
        ("high", "math", 20),
        ("high", "coding", 20),
        ("low", "math", 20),
        ("low", "coding", 20),
    ]


def test_the_higher_model_is_model_1_among_neighbours_whatever_the_order_of_the_file() -> None:
    (pair,) = grades_detail(matrix(run(low=3.0, high=6.0), GROUPS)).neighbours()
    assert (pair.model_1, pair.model_2, pair.verdict) == ("high", "low", "better")
    assert pair.difference.value == pytest.approx(3.0)


def test_intervals_of_differences_end_at_the_length_of_the_scale() -> None:
    def graded(model: str, level: float, worse: float, scale: Scale | None) -> list[Observation]:
        return [
            grade(q, 1, model, worse if q % 10 == 1 else level, Origin("j", "mine 1"), scale=scale) for q in QUESTIONS
        ]

    for scale, ends in (((1, 5), True), (None, False)):
        high, low = graded("x", 5, 3, scale), graded("y", 1, 2, scale)
        (pair,) = grades_detail(matrix([*high, *low], GROUPS)).pairs.pairs
        lower = Observations.of([rating._replace(model="x") for rating in low])
        (run,) = compared_runs(Observations.of(high), lower, GROUPS).table.pairs
        for difference in (pair.difference, run.difference):
            assert difference.high is not None
            assert (difference.high == 4) == ends
            assert (difference.high > 4) == (not ends)


def test_a_turned_pair_says_the_same_from_the_other_side() -> None:
    (pair,) = grades_detail(matrix(run(a=3.0, b=3.5), GROUPS)).pairs.pairs
    other = pair.turned()
    assert (other.verdict, pair.verdict) == ("better", "worse")
    assert pair_row(other)["difference"] == -pair_row(pair)["difference"]
    assert other.turned() == pair


def test_what_keeps_strengths_from_being_is_said_once_of_all_groups() -> None:
    won = [pair(q, 1, "x", "y", ("model_1" if q > 2 else "tie",), JUDGE) for q in QUESTIONS]
    lost = [pair(q, 1, "x", "y", ("model_2",), JUDGE) for q in (100, 101)]
    detail = pairs_detail(pairs([*won, *lost], GROUPS | {100: "writing", 101: "writing"}))
    assert detail.only is not None
    assert detail.only.without_strengths() == [
        "no strengths (Bradley-Terry), math, coding: there are too many ties for a best fit of the strengths",
        "no strengths (Bradley-Terry), writing: x never won or tied against the other",
    ]


def test_the_same_seed_gives_the_same_digits_and_another_one_does_not_move_the_estimates() -> None:
    first, again, other = (grades_detail(matrix(run(a=3.0, b=6.0), GROUPS), seed=seed).rows() for seed in (1, 1, 2))
    assert first == again
    assert [row["average"] for row in first] == [row["average"] for row in other]


@pytest.mark.parametrize(("first", "last", "shown"), [(3, 3, "3"), (2, 5, "2-5")])
def test_ranks_are_shown_as_a_range(first: int, last: int, shown: str) -> None:
    assert str(RankRange(first, last)) == shown
