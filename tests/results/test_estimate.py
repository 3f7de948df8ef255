"""Estimates: textbook values of t, Wilson and Holm, and how errors follow from questions."""

import math
from dataclasses import replace

import numpy as np
import pytest

from harness.results.estimate import holm, jackknife, ratio, t_quantile, t_tails


@pytest.mark.parametrize(
    ("p", "df", "t"),
    [
        (0.975, 1, 12.7062),
        (0.975, 4, 2.7764),
        (0.975, 9, 2.2622),
        (0.95, 29, 1.6991),
        (0.975, 79, 1.9905),
    ],
)
def test_quantiles_of_t_are_the_textbooks(p: float, df: int, t: float) -> None:
    assert t_quantile(p, df) == pytest.approx(t, abs=5e-5)
    assert t_tails(t, df) == pytest.approx(2 * (1 - p), abs=1e-5)


def test_the_worked_line_two_questions_of_two_turns() -> None:
    mean = ratio(np.array([14.0, 18.0]), np.array([2, 2]))
    assert (mean.value, mean.se, mean.n, mean.count) == (8, 1, 2, 4)
    assert mean.influence.tolist() == [-0.5, 0.5]


def test_one_value_a_question_has_the_textbook_interval_of_a_mean() -> None:
    values = np.array([5.0, 7.0, 8.0, 6.0, 9.0])
    mean = ratio(values, np.ones(5))
    half = 2.7764 * values.std(ddof=1) / math.sqrt(5)
    assert mean.interval == pytest.approx((7 - half, 7 + half), abs=1e-4)


def test_below_five_questions_nothing_is_said_of_error() -> None:
    mean = ratio(np.array([1.0, 2, 3, 4, 0]), np.array([1, 1, 1, 1, 0]))
    assert mean.n == 4
    assert (mean.interval, mean.p, mean.lower) == (None, None, None)


def test_a_share_has_wilsons_interval_within_0_and_1() -> None:
    mean = ratio(np.array([1.0] * 97 + [0.0] * 3), np.ones(100), share=True)
    assert mean.interval == pytest.approx((0.914, 0.990), abs=1e-3)  # textbook: 0.9155 to 0.9897
    whole = ratio(np.ones(10), np.ones(10), share=True)
    assert whole.interval == pytest.approx((0.66, 1), abs=0.005)


def test_equal_grades_have_no_interval_and_the_sign_test() -> None:
    same = ratio(np.full(10, 0.5), np.ones(10))
    assert same.interval is None
    assert same.p == 2.0**-9
    assert ratio(np.zeros(10), np.ones(10)).p == 1


def test_a_difference_is_paired_by_question() -> None:
    one, other = np.array([5.0, 7, 8, 6, 9, 4]), np.array([4.0, 7, 6, 5, 9, 3])
    difference = ratio(one, np.ones(6)) - ratio(other, np.ones(6))
    alone = ratio(one - other, np.ones(6))
    assert (difference.value, difference.p) == pytest.approx((alone.value, alone.p))
    differences = one - other
    t = differences.mean() / (differences.std(ddof=1) / math.sqrt(6))
    assert difference.p == pytest.approx(t_tails(t, 5))


def test_holm_multiplies_the_least_by_all_and_never_falls() -> None:
    tested = holm([0.01, 0.04, None, 0.03])
    assert [test.p for test in tested] == [0.03, pytest.approx(0.06), None, pytest.approx(0.06)]
    assert [test.p for test in holm([0.9, 0.8])] == [1.0, 1.0]


def test_holms_levels_stop_growing_where_the_first_is_not_decided() -> None:
    levels = [test.level for test in holm([0.01, 0.04, None, 0.03])]
    assert levels == [0.05 / 3, 0.05 / 2, 0.05, 0.05 / 2]
    assert [test.level for test in holm([0.001, 0.03, 0.01])] == [0.05 / 3, 0.05, 0.05 / 2]
    assert [test.level for test in holm([0.01, 0.01, 0.04])] == [0.05 / 3, 0.05 / 3, 0.05]


@pytest.mark.parametrize("fraction", [None, 0.4, 1.0])
def test_an_interval_at_a_level_excludes_what_has_a_smaller_p(fraction: float | None) -> None:
    rng = np.random.default_rng(3)
    for level in (0.05, 0.05 / 28):
        for shift in rng.uniform(0, 1.5, 20):
            mean = ratio(rng.normal(shift, 1, 12), np.ones(12))
            mean = replace(mean, fraction=fraction)
            interval = mean.interval_at(level)
            assert interval is not None
            assert mean.p is not None
            assert (interval.low > 0 or interval.high < 0) == (mean.p < level)
            wins = ratio(rng.choice([0, 0.5, 1], 12, p=[0.2, 0.3, 0.5]), np.ones(12))
            share = replace(wins, share=True, fraction=fraction)
            interval = share.interval_at(level)
            assert interval is not None
            assert share.p_half is not None
            assert (interval.low > 0.5 or interval.high < 0.5) == (share.p_half < level)


def test_the_jackknife_of_a_mean_is_its_own_error() -> None:
    values = np.array([5.0, 7, 8, 6, 9, 4])
    estimate = jackknife(lambda which: float(values[which].mean()), 6)
    assert estimate.se == pytest.approx(ratio(values, np.ones(6)).se)


def test_a_one_sided_end_is_below_the_value_and_equal_where_nothing_differs() -> None:
    assert ratio(np.zeros(8), np.ones(8)).lower == 0
    mean = ratio(np.arange(10.0), np.ones(10))
    assert mean.lower == pytest.approx(4.5 - 1.8331 * mean.se, rel=1e-4)
