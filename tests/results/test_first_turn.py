"""The effect of the first turn on the second."""

import pytest

from harness.errors import MissingError
from harness.results import of_rows
from harness.results.first_turn import first_turn_effect
from tests.results.rows import grade


def test_the_worked_line() -> None:
    second, after_reference, first = (4, 8, 7), (7, 8, 8), (3, 9, 9)
    rows = [grade(q, "m", score, turn=1) for q, score in enumerate(first)]
    rows += [grade(q, "m", score, turn=2) for q, score in enumerate(second)]
    rows += [grade(q, "m+history=reference", at, turn=2) for q, at in enumerate(after_reference)]
    effects = {effect.first: effect for effect in first_turn_effect(of_rows(rows))}
    values = {k: (e.own_history.value, e.difference.difference.value) for k, e in effects.items()}
    assert values["all"][1] == pytest.approx(4 / 3)
    assert (values["bad"], values["good"]) == ((4, 3), (7.5, 0.5))
    assert (effects["all"].model, effects["all"].history) == ("m", "reference")


def test_without_a_variant_the_error_says_how_to_make_one() -> None:
    with pytest.raises(MissingError, match="gen_answer --history reference"):
        first_turn_effect(of_rows([grade(1, "m", 5, turn=2)]))
