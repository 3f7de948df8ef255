"""Bradley–Terry strengths and strengths at equal style."""

import math
from pathlib import Path

import numpy as np
import pytest

from harness.errors import UsageError
from harness.results import of_rows
from harness.results.strengths import fit_style, logistic, strengths, style_of
from tests.results.rows import answered, pair


def test_three_wins_of_four_are_odds_of_three() -> None:
    rows = [pair(q, "a", "b", *["model_1" if q else "model_2"] * 2) for q in range(4)]
    result = strengths(of_rows(rows))
    assert result["a"] is not None
    assert result["b"] is not None
    assert result["a"].value == pytest.approx(1000 + 200 * math.log10(3))
    assert result["a"].value + result["b"].value == pytest.approx(2000)


def test_a_model_that_won_or_lost_everything_has_no_strength() -> None:
    rows = [
        row
        for q in range(4)
        for row in (
            pair(q, "a", "b", *["model_1" if q % 2 else "model_2"] * 2),
            pair(q, "top", "a", "model_1", "model_1"),
            pair(q, "b", "low", "model_1", "model_1"),
        )
    ]
    result = strengths(of_rows(rows))
    assert (result["top"], result["low"]) == (None, None)
    assert result["a"] is not None


def test_the_error_of_a_strength_is_that_of_the_questions() -> None:
    """For two models the log odds have the delta method's error of the win rate."""
    outcomes = [1, 1, 0, 1, 0, 1, 1, 0.5, 1, 0]
    winner = {1: "model_1", 0: "model_2", 0.5: "tie"}
    rows = [pair(q, "a", "b", *[winner[value]] * 2) for q, value in enumerate(outcomes)]
    a = strengths(of_rows(rows))["a"]
    assert a is not None
    rate, n = np.mean(outcomes), len(outcomes)
    error = np.std(outcomes, ddof=1) / math.sqrt(n) / (rate * (1 - rate))
    assert a.se == pytest.approx(200 / math.log(10) * error)
    assert a.n == n


def test_what_cannot_be_told_apart_is_an_error() -> None:
    twice = np.ones((10, 2))
    with pytest.raises(UsageError, match="do not separate"):
        logistic(twice, np.full(10, 0.6), np.arange(10), 10)


def test_features_are_counted_outside_code() -> None:
    text = "# Title\n- one\n2. two\n**bold**\n```\n# no\n```"
    assert style_of(text) == (len(text), 1, 2, 1)


def test_strengths_at_equal_length_are_the_worked_line(tmp_path: Path) -> None:
    """x is three times as long in 100 pairs of which it wins 60, and equally long in 50 of 25."""
    long = ["t" * (300 if q < 100 else 100) for q in range(150)]
    folder = answered(tmp_path, {"x": long, "y": ["t" * 100] * 150})
    winners = ["model_1" if q < 60 or 100 <= q < 125 else "model_2" for q in range(150)]
    rows = [pair(q, "x", "y", winner, winner) for q, winner in enumerate(winners)]
    result = fit_style(of_rows(rows), folder, ["length"])
    assert result.ratings["x"].value == pytest.approx(1000)
    assert result.coefficients["length"].value == pytest.approx(math.log(1.5) / 0.5)
    assert result.shift("x").value < 0
