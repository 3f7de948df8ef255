"""The sign-flip test: exact wherever it says so."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from harness.old.results.matrix import Floats
from harness.old.results.statistics import signflip
from harness.old.results.statistics.signflip import SignFlip, denominator_of, sign_flips


def sign_flip(differences: Floats) -> SignFlip:
    return sign_flips(differences[:, None])[0]


def all_patterns(differences: Floats) -> float:
    """Return the p-value from every one of the 2^n sign patterns."""
    signs = np.array(list(itertools.product((1, -1), repeat=len(differences))))
    return float(np.mean(np.abs(signs @ differences) >= abs(differences.sum()) - 1e-9))


def random_differences(n: int, seed: int, shift: float = 0.0) -> Floats:
    drawn = np.random.default_rng(seed).normal(shift, 2.5, size=n)
    return np.clip(np.rint(drawn * 2), -18, 18) / 2


def test_the_worked_line_of_the_docstring() -> None:
    assert sign_flip(np.array([3.0, 1, -1, 2])) == (6 / 16, "exact")


@pytest.mark.parametrize("grid", [1, 2, 3, 4, 60, 840], ids=lambda grid: f"grid-{grid}")
@pytest.mark.parametrize("n", [1, 2, 5, 9, 14])
def test_on_a_grid_it_is_the_count_over_all_sign_patterns(n: int, grid: int) -> None:
    for seed in range(3):
        differences = np.random.default_rng(seed).integers(-9 * grid, 9 * grid + 1, size=n) / grid
        assert sign_flip(differences).p == pytest.approx(all_patterns(differences), rel=1e-12)
        assert sign_flip(differences).method == "exact"


@pytest.mark.parametrize("n", [1, 2, 3, 8, 14])
def test_off_any_grid_it_is_the_count_over_all_sign_patterns(n: int) -> None:
    for seed in range(3):
        differences = np.random.default_rng(seed).normal(0.5, 1, size=n)
        assert sign_flip(differences).p == pytest.approx(all_patterns(differences), rel=1e-12)
        assert sign_flip(differences).method == "exact"


@pytest.mark.parametrize(
    ("differences", "p"),
    [
        pytest.param([], 1.0, id="none"),
        pytest.param([0.0, 0.0], 1.0, id="all-zero"),
        pytest.param([2.5], 1.0, id="one"),
        pytest.param([1.0, -1.0], 1.0, id="balanced"),
        pytest.param([1.0] * 6, 2 / 64, id="all-one-way"),
        pytest.param([1.0] * 6 + [0.0] * 50, 2 / 64, id="zeros-change-nothing"),
        pytest.param([0.1, 0.2, -0.3], 1.0, id="balanced-but-for-rounding"),
        pytest.param([0.1] * 3 + [0.3], 2 / 16, id="rounding-breaks-no-tie"),
    ],
)
def test_by_hand(differences: list[float], p: float) -> None:
    assert sign_flip(np.array(differences)).p == pytest.approx(p, rel=1e-12)
    assert sign_flip(np.array(differences)).method == "exact"


def test_order_and_direction_do_not_matter() -> None:
    differences = random_differences(80, 1, 0.5)
    p = sign_flip(differences).p
    assert sign_flip(-differences).p == p
    assert sign_flip(differences[::-1]).p == p
    assert sign_flip(differences * 7).p == p


def test_tiny_p_values_are_exact_too() -> None:
    """79 differences of 1 and one of -1: 80 patterns are as far up with one sign turned, and one further."""
    assert sign_flip(np.array([1.0] * 79 + [-1.0])).p == pytest.approx(2 * 81 / 2**80, rel=1e-12)


def test_a_binomial_sign_test_is_a_special_case() -> None:
    """60 of 100 equal differences one way: the two-sided binomial test gives 0.05688793."""
    assert sign_flip(np.array([1.0] * 60 + [-1.0] * 40)).p == pytest.approx(0.05688793364098, rel=1e-10)


def test_more_questions_than_a_float_can_count_patterns_of() -> None:
    differences = np.array([1.0] * 1300 + [-1.0] * 1200)
    exact = Fraction(2 * sum(math.comb(2500, k) for k in range(1201)), 2**2500)
    assert sign_flip(differences).p == pytest.approx(float(exact), rel=1e-10)
    assert sign_flip(differences).method == "exact"
    assert 0 < sign_flip(np.ones(2500)).p < 1e-300


@pytest.mark.parametrize(("n", "error"), [(31, 0.02), (80, 0.005), (400, 0.001)])
def test_the_approximation_is_as_near_as_it_says(n: int, error: float, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed, shift in enumerate([0.05, 0.3, 0.6, 1.0]):
        differences = random_differences(n, seed, shift * math.sqrt(80 / n))
        exact = sign_flip(differences)
        with monkeypatch.context() as patch:
            patch.setattr(signflip, "WORK", 0)
            near = sign_flip(differences)
        assert (exact.method, near.method) == ("exact", "saddlepoint")
        assert near.p == pytest.approx(exact.p, rel=error)


def test_too_fine_a_grid_is_approximated() -> None:
    """The same differences, moved off the grid by next to nothing."""
    differences = random_differences(80, 3, 0.5)
    moved = differences + np.random.default_rng(0).normal(0, 1e-4, size=80)
    assert sign_flip(moved).method == "saddlepoint"
    assert sign_flip(moved).p == pytest.approx(sign_flip(differences).p, rel=0.05)


def test_all_one_way_off_the_grid_is_still_exact() -> None:
    differences = np.random.default_rng(0).uniform(1, 2, size=40)
    assert sign_flip(differences).p == pytest.approx(2.0**-39)


@pytest.mark.parametrize(
    ("values", "denominator"),
    [
        pytest.param([3.0, 4.0], 1, id="whole"),
        pytest.param([1.5, 4.0], 2, id="halves"),
        pytest.param([0.25, -1.5], 4, id="quarters"),
        pytest.param([1 / 3, 0.25, 0.2], 60, id="sixtieths"),
        pytest.param([22 / 3 - 7.5, 0.5], 6, id="thirds-with-rounding"),
        pytest.param([0.1 + 0.2, 0.7], 10, id="tenths-with-rounding"),
        pytest.param([7.3518264913], None, id="no-grid"),
        pytest.param([0.5, math.pi], None, id="one-off"),
    ],
)
def test_the_grid_is_found(values: list[float], denominator: int | None) -> None:
    assert denominator_of(np.array(values)) == denominator


def test_equally_good_models_are_rarely_told_apart() -> None:
    """The p-value is at most 5% in at most 5% of the cases."""
    small = sum(sign_flip(random_differences(20, seed)).p <= 0.05 for seed in range(1000))
    assert 30 <= small <= 65


def test_many_columns_together_have_the_digits_of_each_alone() -> None:
    generator = np.random.default_rng(7)
    lengths = [*range(1, 60), *[400] * 30, 1001, 1200]
    columns = [generator.integers(-9, 10, n) / 2 + generator.choice([0.0, 0.5]) for n in lengths]
    table = np.full((max(lengths), len(columns)), np.nan)
    for at, own in enumerate(columns):
        table[: len(own), at] = own
    assert sign_flips(table) == [sign_flip(own) for own in columns]
