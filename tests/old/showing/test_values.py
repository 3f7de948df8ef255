"""Numbers and names as all tables, charts and pages show them."""

from typing import Any

import pytest

from harness.old.names import printable
from harness.old.showing.values import dollars, percent, rounded, to_places, with_interval


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
        pytest.param((None, None, None), "–", id="absent"),
        pytest.param((3.275, None, None), "3.28", id="no-interval"),
        pytest.param((3.275, 3.0, 3.555), "3.28 (3.00 to 3.56)", id="interval"),
        pytest.param((12, None, None), "12", id="whole"),
    ],
)
def test_a_number_and_its_interval_are_one_text(value: Any, text: str) -> None:
    number, low, high = value
    assert with_interval(number, low, high, to_places(2)) == text


@pytest.mark.parametrize(
    ("amount", "text"), [(0.0, "$0.00"), (1234.5, "$1,234.50"), (0.012, "$0.012"), (0.00042, "$0.0004")]
)
def test_small_amounts_have_the_places_that_they_need(amount: float, text: str) -> None:
    assert dollars(amount) == text


def test_a_number_is_rounded_as_its_digits_say() -> None:
    assert rounded(1.005, 2) == "1.01"
    assert printable("模型") == "模型"
    assert printable("\ud800") == r"\ud800"
