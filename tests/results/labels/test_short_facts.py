"""Short facts: the three labels, and what is made of them."""

from collections.abc import Mapping

import numpy as np
import pytest

from harness.records import Source
from harness.results.labels.calibration import calibration
from harness.results.labels.shares import Judgment, Labels, labels_of, shares
from harness.results.labels.short_facts import NAMES, short_facts


def labelled(number: int, label: str | None) -> Judgment:
    return Judgment(number, 1, "m", Source("j"), label, None, None)


def _labels(
    correct: int, incorrect: int, left: int, none: int = 0, groups: Mapping[int | str, str] | None = None
) -> Labels:
    given = [*["CORRECT"] * correct, *["INCORRECT"] * incorrect, *["NOT_ATTEMPTED"] * left, *[None] * none]
    return labels_of([labelled(number, label) for number, label in enumerate(given)], NAMES, groups)


@pytest.mark.parametrize(
    ("counts", "correct", "given", "f1", "coverage"),
    [
        pytest.param((50, 30, 20), 0.5, 0.625, 100 / 180, 0.8, id="worked-line"),
        pytest.param((10, 0, 0), 1.0, 1.0, 1.0, 1.0, id="all-right"),
        pytest.param((0, 0, 10), 0.0, None, 0.0, 0.0, id="nothing-attempted"),
        pytest.param((0, 10, 0), 0.0, 0.0, 0.0, 1.0, id="all-wrong"),
    ],
)
def test_the_figures_follow_from_the_counts(
    counts: tuple[int, int, int], correct: float, given: float | None, f1: float, coverage: float
) -> None:
    row = short_facts(_labels(*counts), resamplings=200)[0]
    assert row.counts == counts
    assert [row.correct.value, row.f1.value, row.coverage.value] == pytest.approx([correct, f1, coverage])
    assert row.given_attempted.value == (None if given is None else pytest.approx(given))


def test_f1_is_the_harmonic_mean() -> None:
    row = short_facts(_labels(7, 2, 4), resamplings=200)[0]
    a, b = row.correct.value, row.given_attempted.value
    assert a is not None
    assert b is not None
    assert row.f1.value == pytest.approx(2 * a * b / (a + b))


def test_a_judgment_without_a_label_is_in_no_figure_and_counted() -> None:
    with_none, without = (short_facts(_labels(6, 3, 1, none), resamplings=200)[0] for none in (5, 0))
    assert (with_none.n, with_none.unparsed) == (10, 5)
    assert with_none.correct.value == without.correct.value


def test_groups_add_up_to_the_whole() -> None:
    groups: dict[int | str, str] = {number: "history" if number % 2 else "science" for number in range(40)}
    rows = short_facts(_labels(20, 12, 8, groups=groups), resamplings=200)
    assert [row.group for row in rows] == [None, "science", "history"]
    assert sum(row.counts[0] for row in rows[1:]) == rows[0].counts[0] == 20


def test_the_interval_holds_the_estimate_and_stays_within_0_and_1() -> None:
    row = short_facts(_labels(38, 1, 1))[0]
    for estimate in (row.correct, row.given_attempted, row.f1, row.coverage):
        assert estimate.low is not None
        assert estimate.high is not None
        assert estimate.value is not None
        assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1


def test_shares_of_any_label_set_sum_to_one() -> None:
    judged = [labelled(n, "good" if n % 3 else "bad") for n in range(30)] + [labelled(31, "odd")]
    row = shares(labels_of(judged, ("good", "bad")), resamplings=200)[0]
    assert (row.n, row.unparsed) == (30, 1)
    assert sum(e.value or 0 for e in row.shares.values()) == pytest.approx(1)


def test_calibration_of_the_worked_line() -> None:
    found = calibration(np.array([0.9, 0.9, 0.9, 0.2, np.nan]), np.array([1.0, 1, 0, 0, 1]), np.arange(5))
    assert found.brier.value == pytest.approx(0.2175)
    assert found.ece == pytest.approx(0.225)
    assert (found.n, found.left_out) == (4, 1)
    assert [(b.low, b.n) for b in found.bins] == [(0.2, 1), (0.9, 3)]


def test_full_confidence_falls_into_the_last_bin_and_nothing_into_none() -> None:
    found = calibration(np.array([1.0, 1.0]), np.array([1.0, 1.0]), np.arange(2))
    assert (found.ece, [b.high for b in found.bins]) == (0.0, [1.0])
    assert calibration(np.array([]), np.array([]), np.array([], dtype=np.int64)).ece is None
