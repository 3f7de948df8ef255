"""Models from the first turn to the last, alone and beside another one."""

import pytest

from harness.old.results.detail import compared_by_turn, grades_detail
from harness.old.results.grades.scores import by_turn
from harness.old.results.matrix import Matrix, matrix
from tests.old.observed import Origin, grade

ORIGIN = Origin("j", "mt_bench 1")


def grades(turns: int = 3) -> Matrix:
    """Return two models on ten questions; m falls by a point a turn, and every other question ends a turn earlier."""
    return matrix(
        [
            grade(number, turn, model, level - slope * turn + number % 3, ORIGIN)
            for number in range(10)
            for model, level, slope in (("m", 8, 1), ("n", 5, 0))
            for turn in range(1, turns + 1 - number % 2)
        ]
    )


def test_the_change_is_on_the_questions_that_have_both_turns() -> None:
    found = {(at.model, at.turn): at.fields for at in by_turn(grades(), resamplings=200)}
    assert found["m", 1]["change"] is None
    assert [found["m", turn]["score"].questions for turn in (1, 2, 3)] == [10, 10, 5]
    change = found["m", 3]["change"]
    assert change is not None
    assert change.value == pytest.approx(-2.0)
    assert change.questions == 5


def test_two_models_are_compared_turn_by_turn_as_one_family() -> None:
    found = compared_by_turn(grades(), "m", "n", resamplings=200)
    assert {turn: pair.n for turn, pair in found.items()} == {1: 10, 2: 10, 3: 5}
    assert [pair.difference.value for pair in found.values()] == pytest.approx([2.0, 1.0, 0.0])
    assert {pair.family for pair in found.values()} == {3}
    assert found[1].p_holm == pytest.approx(3 * 2 / 2**10)


def test_two_turns_have_their_drop_and_no_curve() -> None:
    assert grades_detail(grades(2), resamplings=50).by_turn() == {}
    detail = grades_detail(grades(3), resamplings=50)
    assert {model: set(own) for model, own in detail.by_turn().items()} == {"m": {1, 2, 3}, "n": {1, 2, 3}}
    assert list(detail.between("m", "n")) == [1, 2, 3]
