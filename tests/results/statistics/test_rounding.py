"""Numbers and names as all tables, charts and pages show them."""

from typing import Any

import pytest

from harness.showing.values import percent, printable, rounded, shown


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param(0.645, "65%", id="half-up"),
        pytest.param(0.285, "29%", id="as-the-digits-say"),
        pytest.param(0.0, "0%", id="none"),
        pytest.param(1.0, "100%", id="all"),
        pytest.param(-0.001, "0%", id="no-minus-before-zero"),
    ],
)
def test_shares_are_shown_in_whole_per_cent(value: float, text: str) -> None:
    assert percent(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param(None, "–", id="absent"),
        pytest.param(3.275, "3.28", id="number"),
        pytest.param(12, "12", id="whole"),
        pytest.param("a\nb", r"a\nb", id="text"),
        pytest.param("\ud800", r"\ud800", id="half-a-character"),
    ],
)
def test_a_cell_shows_what_it_holds(value: Any, text: str) -> None:
    assert shown(value, 2) == text


def test_a_number_is_rounded_as_its_digits_say() -> None:
    assert rounded(1.005, 2) == "1.01"
    assert printable("模型") == "模型"
