"""The effect of the first turn on the second."""

import pytest

from harness.errors import MissingError
from harness.results import of_rows
from harness.results.first_turn import first_turn_effect
from tests.results.rows import grade


def test_the_worked_line() -> None:
    own, given, first = (4, 8, 7), (7, 8, 8), (3, 9, 9)
    rows = [grade(q, "m", score, turn=1) for q, score in enumerate(first)]
    rows += [grade(q, "m", score, turn=2) for q, score in enumerate(own)]
    rows += [grade(q, "m+history=reference", score, turn=2) for q, score in enumerate(given)]
    found = {effect.first: effect for effect in first_turn_effect(of_rows(rows))}
    assert found["all"].difference.difference.value == pytest.approx(4 / 3)
    assert (found["bad"].own.value, found["bad"].difference.difference.value) == (4, 3)
    assert (found["good"].own.value, found["good"].difference.difference.value) == (7.5, 0.5)
    assert (found["all"].model, found["all"].history) == ("m", "reference")


def test_without_a_variant_the_error_says_how_to_make_one() -> None:
    with pytest.raises(MissingError, match="gen_answer --history reference"):
        first_turn_effect(of_rows([grade(1, "m", 5, turn=2)]))
