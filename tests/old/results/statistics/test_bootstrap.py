"""Intervals from resampling questions."""

import time
from typing import Any

import numpy as np
import pytest

from harness.old.results.matrix import Floats
from harness.old.results.statistics import bootstrap
from harness.old.results.statistics.bootstrap import Estimate, estimates, question_weights, strata_of


def ends(found: list[Estimate]) -> Floats:
    """Return the ends of intervals, a row each; NaN where there is none."""
    return np.array([(own.low, own.high) for own in found], dtype=np.float64)


def means(*columns: list[float], groups: list[Any] | None = None, **options: Any) -> list[Estimate]:
    """Return the estimates of plain means, a column each."""
    scores = np.array(columns, dtype=np.float64).T
    there = ~np.isnan(scores)
    return estimates(np.where(there, scores, 0.0), there * 1.0, groups or [None] * len(scores), **options)


def scores(questions: int, columns: int = 1, seed: int = 0) -> Floats:
    return np.random.default_rng(seed).integers(1, 11, size=(questions, columns)).astype(np.float64)


def width(estimate: Estimate) -> float:
    assert estimate.low is not None
    assert estimate.high is not None
    return estimate.high - estimate.low


def test_the_worked_line_of_the_docstring() -> None:
    """3.207 is the 95% quantile over all 5^5 resamples."""
    found = means([2, 4, 6, 8, 10])[0]
    assert (found.value, found.questions, found.method) == (6.0, 5, "studentized")
    assert width(found) / 2 == pytest.approx(3.2071 * 2**0.5, rel=0.02)
    assert found.high == pytest.approx(6 + width(found) / 2)


@pytest.mark.parametrize(
    ("n", "method"),
    [(1, None), (4, None), (5, "studentized"), (59, "studentized"), (60, "percentile"), (80, "percentile")],
    ids=str,
)
def test_the_number_of_questions_decides_the_method(n: int, method: str | None) -> None:
    found = means([float(k % 7) for k in range(n)])[0]
    assert (found.method, found.questions) == (method, n)
    assert (found.low is None) == (found.high is None) == (method is None)


@pytest.mark.parametrize("n", [10, 80], ids=["few", "many"])
def test_questions_that_all_agree_say_nothing_about_the_spread(n: int) -> None:
    assert means([0.25] * n)[0] == Estimate(0.25, None, None, n, None)
    assert means([0.1] * n)[0].low is None


def test_without_scores_there_is_no_estimate() -> None:
    assert means([float("nan")] * 8)[0] == Estimate(None, None, None, 0, None)


def test_every_method_states_its_coverage() -> None:
    assert set(bootstrap.COVERAGE) == {"percentile", "studentized", "bound", "normal"}
    assert all("simulation" in bootstrap.COVERAGE[method] for method in ("percentile", "studentized"))


def test_of_many_questions_the_normal_interval_is_that_of_resampling(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    sums = rng.integers(1, 11, (1200, 2)).astype(float)
    counts = np.ones_like(sums)
    counts[:100, 1] = sums[:100, 1] = 0.0
    groups = [at % 4 for at in range(1200)]
    normal = estimates(sums, counts, groups)
    monkeypatch.setattr(bootstrap, "MANY", 10_000)
    resampled = estimates(sums, counts, groups)
    assert [own.method for own in normal] == ["normal"] * 2
    assert [own.method for own in resampled] == ["percentile"] * 2
    width = np.ptp(ends(resampled), axis=1).min()
    assert ends(normal) == pytest.approx(ends(resampled), abs=0.03 * width)


def test_a_few_odd_questions_among_many_are_resampled() -> None:
    sums = np.zeros((1200, 1))
    sums[:20] = 1.0
    assert estimates(sums, np.ones_like(sums))[0].method == "studentized"


# Resampling


def test_the_correction_makes_the_variance_of_a_resampled_mean_right() -> None:
    """Within groups of 10 and 3 the variance of a mean is s^2 / n; drawing all n of them gives (n - 1) / n of that."""
    x = scores(13)[:, 0]
    groups = strata_of([0] * 10 + [1] * 3)
    right = sum(len(g) * np.var(x[g], ddof=1) for g in groups) / 13**2
    for corrected, share in ((True, 1.0), (False, None)):
        weights = np.concatenate(list(question_weights(groups, corrected=corrected, resamplings=40_000, seed=1)))
        found = np.var(weights @ x / 13)
        if share is None:
            right = sum((len(g) - 1) * np.var(x[g], ddof=1) for g in groups) / 13**2
        assert found == pytest.approx(right, rel=0.03)


def test_every_resampling_keeps_the_size_of_every_group() -> None:
    groups = strata_of(["a"] * 4 + ["b"] * 6)
    [weights] = question_weights(groups, corrected=True, resamplings=50, seed=0)
    assert weights.shape == (50, 10)
    np.testing.assert_allclose(weights[:, :4].sum(axis=1), 4)
    np.testing.assert_allclose(weights[:, 4:].sum(axis=1), 6)


@pytest.mark.parametrize(
    ("groups", "least", "strata"),
    [
        pytest.param("aabb", 2, [[0, 1], [2, 3]], id="as-they-are"),
        pytest.param("abab", 2, [[0, 2], [1, 3]], id="not-sorted"),
        pytest.param("aabcd", 2, [[0, 1], [2, 3, 4]], id="single-ones-together"),
        pytest.param("aaabbc", 2, [[0, 1, 2], [3, 4, 5]], id="a-single-one-joins-the-smallest"),
        pytest.param("abc", 2, [[0, 1, 2]], id="all-single"),
        pytest.param("a", 2, [[0]], id="one"),
        pytest.param("", 2, [], id="none"),
        pytest.param("aaaaabbb", 5, [[0, 1, 2, 3, 4, 5, 6, 7]], id="few"),
        pytest.param([["x"], ["y"], ["x"], ["y"]], 2, [[0, 2], [1, 3]], id="lists-as-values"),
        pytest.param([None, 1, None, 1], 2, [[0, 2], [1, 3]], id="none-is-a-group"),
    ],
)
def test_groups_too_small_to_resample_are_put_together(groups: Any, least: int, strata: list[list[int]]) -> None:
    assert [own.tolist() for own in strata_of(groups, least)] == strata


def test_the_same_seed_gives_the_same_digits() -> None:
    x = scores(40)[:, 0].tolist()
    assert means(x)[0] == means(x)[0]
    assert means(x, seed=1)[0] != means(x)[0]


@pytest.mark.parametrize("n", [12, 40], ids=["few", "many"])
def test_a_column_does_not_depend_on_the_others(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    x = scores(n, 30)
    ones = np.ones(x.shape)
    together = estimates(x, ones, [0] * n)
    monkeypatch.setattr(bootstrap, "_FAST", 1)
    apart = estimates(x, ones, [0] * n)
    np.testing.assert_allclose(ends(together), ends(apart), rtol=1e-12)


def test_many_questions_are_resampled_in_blocks_with_the_same_result(monkeypatch: pytest.MonkeyPatch) -> None:
    x = scores(60, 3)
    ones = np.ones(x.shape)
    whole = estimates(x, ones, [0] * 60)
    monkeypatch.setattr(bootstrap, "_BLOCK", 100_000)
    blocks = estimates(x, ones, [0] * 60)
    np.testing.assert_allclose(ends(whole), ends(blocks), atol=0.03)


@pytest.mark.parametrize("n", [20, 80], ids=["few", "many"])
def test_a_difference_turned_round_has_the_interval_turned_round(n: int) -> None:
    x = scores(n)[:, 0] - scores(n, seed=1)[:, 0]
    one, other = ends(means(x.tolist(), (-x).tolist()))
    assert one == pytest.approx(-other[::-1])


@pytest.mark.parametrize("size", [10, 20], ids=["few", "many"])
def test_what_lies_between_groups_is_not_noise(size: int) -> None:
    groups = ["a"] * size + ["b"] * size
    x = [1.0 + k % 2 for k in range(size)] + [9.0 + k % 2 for k in range(size)]
    own, pooled = means(x, groups=groups)[0], means(x)[0]
    assert width(own) < 0.25 * width(pooled)


def test_intervals_end_at_the_bounds() -> None:
    found = means([10, 10, 10, 10, 10, 9, 10, 3], bounds=(1, 10))[0]
    assert found.high == 10
    assert found.low is not None
    assert found.low > 1


# Missing questions


@pytest.mark.parametrize("n", [9, 60], ids=["few", "many"])
def test_a_missing_question_is_left_out(n: int) -> None:
    x = scores(n)[:, 0].tolist()
    holed, short = means([*x, float("nan")])[0], means(x)[0]
    assert (holed.value, holed.questions, holed.method) == (short.value, n, short.method)
    assert holed.low == pytest.approx(short.low, abs=0.3)
    assert holed.high == pytest.approx(short.high, abs=0.3)


def test_few_questions_among_many_missing_still_have_an_interval() -> None:
    x = [*scores(6)[:, 0].tolist(), *([float("nan")] * 60)]
    alone, among = means(x[:6])[0], means(x)[0]
    assert among.method == "studentized"
    assert among.value == alone.value
    assert width(among) == pytest.approx(width(alone), rel=0.5)


def test_a_question_counts_as_often_as_it_has_scores() -> None:
    found = estimates(np.array([[20.0], [4.0]]), np.array([[2.0], [1.0]]), ["a", "a"])
    assert found[0].value == 8.0


# Coverage


def covered(n: int, draw: str, *, corrected: bool = True) -> float:
    """Return how many of 1,500 intervals of a mean hold the true one, 0."""
    generator = np.random.default_rng(5)
    size = (n, 1500)
    x = generator.normal(size=size) if draw == "normal" else generator.exponential(size=size) - 1
    found = estimates(x, np.ones(size), [0] * n, resamplings=1000)
    low, high = ends(found).T
    if not corrected:
        [weights] = question_weights(strata_of([0] * n), corrected=False, resamplings=1000, seed=0)
        low, high = np.quantile(weights @ x / n, (0.025, 0.975), axis=0)
    return float(np.mean((low <= 0) & (high >= 0)))


@pytest.mark.parametrize(
    ("n", "draw", "least", "most"),
    [
        pytest.param(10, "normal", 0.93, 0.97, id="ten-normal"),
        pytest.param(29, "normal", 0.94, 0.97, id="29-normal"),
        pytest.param(10, "skewed", 0.90, 0.97, id="ten-skewed"),
        pytest.param(80, "normal", 0.93, 0.96, id="80-normal"),
    ],
)
def test_intervals_cover_what_they_claim(n: int, draw: str, least: float, most: float) -> None:
    assert least <= covered(n, draw) <= most


def test_a_plain_percentile_interval_of_ten_questions_covers_too_little() -> None:
    assert covered(10, "normal", corrected=False) < 0.91


# Size


def test_ten_thousand_resamplings_of_a_hundred_models_take_under_a_second() -> None:
    x = scores(80, 100)
    groups = [place // 10 for place in range(80)]
    times = []
    for _ in range(3):
        start = time.process_time()
        estimates(x, np.ones(x.shape), groups)
        times.append(time.process_time() - start)
    assert min(times) < 1
