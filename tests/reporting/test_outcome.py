"""The first sentences: who is better, by how much, how sure."""

import pytest

from harness.reporting.outcome import Evidence, Measure, flips, outcome, outcomes
from harness.results import of_rows, panels, rank, ratio
from harness.types import Judgment, Question

QUESTIONS = [Question(question_id=at, category="c", turns=["?", "?"]) for at in range(40)]


def graded(means: dict[str, float], *, noise: float = 1.0, count: int = 40) -> Evidence:
    rows = [
        Judgment(
            question_id=at,
            model=name,
            judge="j",
            score=mean + noise * ((at * 7 + place * (at % 3)) % 5 - 2) / 2,
            turn=1,
            scale=(1, 10),
        )
        for place, (name, mean) in enumerate(means.items())
        for at in range(count)
    ]
    panel = panels(of_rows(rows, QUESTIONS))[0]
    return Evidence(Measure("grades", (1, 10)), rank(panel.combined.of(metric="score")), count)


def paired(win: float, *, games: int = 40) -> Evidence:
    """Return pairs of a and b of which a wins a share."""
    rows = [
        Judgment(
            question_id=at,
            model_1="a",
            model_2="b",
            judge="j",
            turn=1,
            g1_winner="model_1" if at * 13 % games < win * games else "model_2",
            g2_winner="model_1" if at * 13 % games < win * games else "model_2",
        )
        for at in range(games)
    ]
    panel = panels(of_rows(rows, QUESTIONS))[0]
    return Evidence(Measure("pairs"), rank(panel.combined.of(metric="win")), games)


def test_of_two_models_the_better_one_comes_first_with_the_difference() -> None:
    said = outcome([graded({"b": 5.0, "a": 7.5})])
    assert said.startswith("a is better than b on 40 questions: 7.49 and 5.00 of 10, a difference")


def test_too_close_to_call_says_what_would_have_been_seen() -> None:
    said = outcome(
        [
            graded(
                {
                    "a": 7.1,
                    "b": 7.0,
                },
                noise=4.0,
            )
        ]
    )
    assert "a and b are too close to call on 40 questions: 7.10 and 6.95 of 10, where" in said
    assert "would not have been seen" in said


def test_of_many_models_the_best_is_named_and_who_shares_the_next_ranks() -> None:
    said = outcome([graded({"a": 9.0, "b": 5.1, "c": 5.0, "d": 2.0}, noise=2.0)])
    assert said.startswith("a is the best of 4 models on 40 questions: 9.00 of 10, better than")
    assert "b and c share ranks 2 and 3: too close to call, where a difference under" in said


def test_where_nobody_is_best_the_last_one_is_named() -> None:
    said = outcome([graded({"a": 8.1, "b": 8.0, "c": 2.0}, noise=3.0)])
    assert said.startswith(
        "c is last of 3 models on 40 questions: 2.77 of 10. a and b are too close"
    )


def test_models_that_cannot_be_told_apart_are_not_ranked_in_words() -> None:
    said = outcome([graded({"a": 5.2, "b": 5.1, "c": 5.0}, noise=4.0)])
    assert said.startswith("The 3 models are too close to call on 40 questions: 5.20 to 4.90 of 10")


def test_few_questions_tell_nothing_apart() -> None:
    said = outcome([graded({"a": 9.0, "b": 2.0}, count=3)])
    assert "too close to call on 3 questions" in said
    assert "too few to tell them apart" in said


def test_grades_and_pairs_that_agree_are_one_sentence() -> None:
    said = outcome([graded({"a": 8.0, "b": 5.0}), paired(0.9)])
    assert said.startswith("a is better than b in pairs on 40 questions: win rate 0.90 (")
    assert "By grades too: 8.00 and 4.99 of 10" in said


def test_grades_and_pairs_that_differ_are_both_said_pairs_first() -> None:
    said = outcome([graded({"a": 5.1, "b": 5.0}, noise=4.0), paired(0.9)])
    assert said.startswith("a is better than b in pairs")
    assert "By grades too close to call: 5.10 and 4.95 of 10, where" in said


def test_a_close_win_rate_says_how_far_from_one_half_would_have_been_seen() -> None:
    assert "from one half would not have been seen" in outcome([paired(0.55)])


def test_one_model_has_its_number_and_its_interval() -> None:
    assert outcome([graded({"a": 7.0})]).startswith("a on 40 questions: 7.00 of 10 (")


def test_several_criteria_have_a_paragraph_each_and_no_more_than_three() -> None:
    own = graded({"a": 8.0, "b": 5.0})
    lines = outcomes([own] * 5).splitlines()
    assert len(lines) == 4
    assert lines[-1] == "2 more: see the table."


@pytest.mark.parametrize(
    ("flipped", "decided", "said"),
    [
        pytest.param(30, 70, "", id="up to a third nothing"),
        pytest.param(34, 100, "A judge that guesses changes about half.", id="above a third"),
        pytest.param(45, 90, "may be guessing", id="half of the decided pairs"),
    ],
)
def test_flips_are_said_above_a_third_beside_what_guessing_gives(
    flipped: int, decided: int, said: str
) -> None:
    import numpy as np

    ones = np.ones(100)
    share = ratio(
        np.where(np.arange(100) < flipped, 1.0, 0.0),
        np.where(np.arange(100) < decided, ones, 0.0),
        share=True,
    )
    words = flips(flipped, 100, share)
    assert said in words
    assert bool(words) == bool(said)
