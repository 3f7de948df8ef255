"""What other numbers of questions, samples and judges would show."""

import pytest

from harness.old.results.planning import Spread, alternatives, assumed, design_rows


def test_the_worked_line_of_the_docstring() -> None:
    spread = Spread(4.0, 1.0, "made up")
    assert spread.smallest(80, family=3) == pytest.approx(0.81, abs=0.005)
    assert spread.smallest(80, 2, family=3) == pytest.approx(0.77, abs=0.005)
    assert spread.smallest(120, family=3) == pytest.approx(0.66, abs=0.005)
    assert spread.smallest(80, 1, 2) == spread.smallest(80, 2, 1)


def test_another_sample_is_an_alternative_only_where_it_is_known_what_it_brings() -> None:
    assert alternatives(Spread(4.0, 1.0, ""), 80, 1) == [(80, 1), (80, 2), (120, 1), (160, 1)]
    assert alternatives(Spread(4.0, 0.0, ""), 40, 1) == [(40, 1), (80, 1)]


def test_more_of_anything_shows_a_smaller_difference() -> None:
    planned, *others = design_rows(assumed(9.0), alternatives(assumed(9.0), 80, 1), family=3)
    assert all(row["smallest_difference"] < planned["smallest_difference"] for row in others)
