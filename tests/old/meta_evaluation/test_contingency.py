"""Grades of several judges to correlations, exact agreement and alpha."""

import json
import math
from collections.abc import Callable, Mapping
from functools import partial
from itertools import combinations, permutations
from typing import Any, TypeAlias

import numpy as np
import pytest

from harness.old.meta_evaluation import agreement
from harness.old.meta_evaluation.agreement import grades_of
from harness.old.meta_evaluation.contingency import (
    MOST_VALUES,
    Level,
    alpha,
    exact_tau_b,
    kendall_tau_b,
    pearson,
    scale_of,
    spearman,
    table_estimate,
    tabulated,
)
from harness.old.meta_evaluation.report import columns
from harness.old.meta_evaluation.votes import Item, votes_of
from harness.old.results.matrix import Floats
from harness.old.results.statistics.bootstrap import Estimate
from tests.old.observed import Origin
from tests.old.observed import grade as _grade

NONE = math.nan
KRIPPENDORFF = [  # Krippendorff 2011, section D: four observers, twelve units
    [1, 2, 3, 3, 2, 1, 4, 1, 2, NONE, NONE, NONE],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NONE, 3],
    [NONE, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NONE],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NONE],
]
WORKED = [[1, 2, 3, 4], [1, 3, 2, 4]]


Grades: TypeAlias = dict[Item, float]


def graded_rows(sides: Mapping[str, Grades], **how: int) -> list[dict[str, Any]]:
    return list(map(columns, agreement.graded_rows(sides, **how)))  # type: ignore[arg-type]


def graded(scores: object, questions: int = 1) -> Grades:
    """Return the grades of one judge, answers of as many models on each question; NaN where it gave none."""
    given = np.array(scores, dtype=float).ravel()
    models = max(1, len(given) // questions)
    return {Item(at // models, 1, f"m{at % models}"): x for at, x in enumerate(given.tolist()) if not math.isnan(x)}


def correlations(judges: object) -> tuple[float, float, float]:
    x, y = np.array(judges, dtype=float)
    scale = scale_of([*x, *y])
    counts = tabulated(
        ((0, scale.place[a], scale.place[b], 1.0) for a, b in zip(x, y, strict=True)), 1, len(scale.values)
    )[0]
    return float(pearson(scale.values, counts)), float(spearman(counts)), float(kendall_tau_b(counts))


def alpha_of(judges: object, level: Level) -> float:
    rows = agreement.alpha_rows({str(at): graded(own) for at, own in enumerate(np.array(judges, dtype=float))})
    [value] = [row["value"] for row in rows if row["measure"] == f"alpha ({level})"]
    return float(value.value)


def printed_coincidences(judges: object) -> tuple[Floats, Floats]:
    """Return the values, and how often each was given beside each other one."""
    units = [[grade for grade in unit if not math.isnan(grade)] for unit in np.array(judges, dtype=float).T]
    scale = scale_of(grade for unit in units for grade in unit)
    met = (
        (0, scale.place[one], scale.place[other], 1 / (len(unit) - 1))
        for unit in units
        for one, other in permutations(unit, 2)
    )
    return scale.values, tabulated(met, 1, len(scale.values))[0]


def mean_ranks(values: Floats) -> Floats:
    return np.array([(values < value).sum() + ((values == value).sum() + 1) / 2 for value in values])


def brute_tau_b(x: Floats, y: Floats) -> float:
    signs = [(np.sign(x[i] - x[j]), np.sign(y[i] - y[j])) for i, j in combinations(range(len(x)), 2)]
    untied_x, untied_y = (sum(both[side] != 0 for both in signs) for side in (0, 1))
    return float(sum(one * other for one, other in signs) / math.sqrt(untied_x * untied_y))


def brute_alpha(judges: Floats, level: Level) -> float:
    """Return 1 - observed / expected disagreement, by listing every pair of grades."""
    units = [[grade for grade in unit if not math.isnan(grade)] for unit in judges.T]
    units = [unit for unit in units if len(unit) > 1]
    pooled = [grade for unit in units for grade in unit]

    def apart(one: float, other: float) -> float:
        low, high = min(one, other), max(one, other)
        if level == "interval":
            return (one - other) ** 2
        between = sum(low <= grade <= high for grade in pooled)
        return (between - (pooled.count(low) + pooled.count(high)) / 2) ** 2 if low != high else 0.0

    observed = sum(sum(apart(*pair) for pair in permutations(unit, 2)) / (len(unit) - 1) for unit in units)
    expected = sum(apart(*pair) for pair in permutations(pooled, 2)) / (len(pooled) - 1)
    return 1 - observed / expected


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        pytest.param("ordinal", 0.815, id="ordinal"),
        pytest.param("interval", 0.849, id="interval"),
    ],
)
def test_alpha_is_that_of_krippendorffs_example(level: Level, expected: float) -> None:
    assert round(alpha_of(KRIPPENDORFF, level), 3) == expected


def test_the_example_has_the_printed_coincidences() -> None:
    values, counts = printed_coincidences(KRIPPENDORFF)
    assert values.tolist() == [1, 2, 3, 4, 5]
    assert counts.sum(axis=1) == pytest.approx([9, 13, 10, 5, 3])
    assert np.diag(counts) == pytest.approx([7, 10, 8, 4, 3])
    assert (counts[0, 1], counts[0, 2], counts[1, 2]) == pytest.approx((4 / 3, 1 / 3, 4 / 3))


def test_the_worked_line_of_the_docstring() -> None:
    assert correlations(WORKED) == pytest.approx((0.8, 0.8, 2 / 3))
    assert alpha_of(WORKED, "interval") == pytest.approx(0.825)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("scale", [pytest.param(3, id="3-grades"), pytest.param(10, id="10-grades")])
def test_correlations_with_ties_equal_brute_force(seed: int, scale: int) -> None:
    generator = np.random.default_rng(seed)
    x = generator.integers(1, scale + 1, 25).astype(float)
    y = np.where(generator.random(25) < 0.5, x, generator.integers(1, scale + 1, 25)) / 2
    ranks = np.corrcoef(mean_ranks(x), mean_ranks(y))[0, 1]
    assert correlations([x, y]) == pytest.approx((np.corrcoef(x, y)[0, 1], ranks, brute_tau_b(x, y)))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("level", ["ordinal", "interval"])
def test_alpha_with_missing_grades_equals_brute_force(seed: int, level: Level) -> None:
    generator = np.random.default_rng(seed)
    true = generator.integers(1, 8, 15)
    judges = np.clip(true + generator.integers(-2, 3, (4, 15)), 1, 7).astype(float)
    judges[generator.random(judges.shape) < 0.35] = np.nan
    assert alpha_of(judges, level) == pytest.approx(brute_alpha(judges, level))


def test_which_judge_is_first_and_the_order_of_answers_do_not_matter() -> None:
    generator = np.random.default_rng(2)
    judges = generator.integers(1, 6, (2, 40)).astype(float)
    expected = correlations(judges)
    assert correlations(judges[::-1]) == pytest.approx(expected)
    assert correlations(judges[:, generator.permutation(40)]) == pytest.approx(expected)
    assert correlations([judges[0], 6 - judges[1]]) == pytest.approx([-value for value in expected])


def test_a_milder_judge_correlates_fully_and_never_agrees() -> None:
    x = np.array([1.0, 4, 6, 7, 9, 3])
    rows = {row["measure"]: row for row in graded_rows({"a": graded(x, 6), "b": graded(x + 1, 6)}, resamplings=100)}
    for measure in ("pearson", "spearman", "kendall tau-b", "within one"):
        assert rows[measure]["value"] == pytest.approx(1)
    assert rows["exact"]["value"] == 0
    assert rows["alpha (interval)"]["value"] is not None
    assert rows["alpha (interval)"]["value"] < 1


@pytest.mark.parametrize("constant", [pytest.param(7.0, id="whole"), pytest.param(7.1, id="not-exact-in-binary")])
def test_a_judge_that_grades_everything_equally_has_no_correlation(constant: float) -> None:
    x = np.array([1.3, 4, 6, 7.1, 9, 3, 3])
    rows = {row["measure"]: row for row in graded_rows({"a": graded(x, 7), "b": graded(np.full(7, constant), 7)})}
    for measure in ("pearson", "spearman", "kendall tau-b"):
        assert (rows[measure]["value"], rows[measure]["low"]) == (None, None)
    assert rows["exact"]["value"] == pytest.approx((x == constant).mean())


def test_answers_are_matched_by_question_model_and_turn() -> None:
    def rated(judge: str, *cells: tuple[int, int, str, float | None]) -> Grades:
        return grades_of(votes_of([_grade(q, turn, model, score, Origin(judge)) for q, turn, model, score in cells]))

    one = rated("a", (1, 1, "x", 3), (1, 2, "x", 4), (2, 1, "y", 5), (3, 1, "x", None))
    other = rated("b", (2, 1, "y", 6), (2, 1, "x", 1), (1, 2, "x", 4), (3, 1, "x", 2))
    row = graded_rows({"a": one, "b": other})[3]
    assert (row["measure"], row["value"], row["n"], row["left_out"]) == ("exact", 0.5, 2, 3)


def test_several_grades_of_a_side_are_their_mean() -> None:
    votes = votes_of([_grade(1, 1, "x", score, Origin(judge)) for judge, score in (("a", 4), ("b", 7), ("c", None))])
    assert grades_of(votes) == {Item(1, 1, "x"): 5.5}


def test_rows_are_for_every_two_judges_then_alpha_for_all() -> None:
    generator = np.random.default_rng(3)
    judges = {name: graded(generator.integers(1, 6, 24).astype(float), 12) for name in "abc"}
    rows = graded_rows(judges, resamplings=50)
    pairs = 7 * [("a", "b")] + 7 * [("a", "c")] + 7 * [("b", "c")] + 2 * [("all", None)]
    assert [(row["judge1"], row["judge2"]) for row in rows] == pairs
    assert [row["measure"] for row in rows[-2:]] == ["alpha (ordinal)", "alpha (interval)"]
    assert graded_rows(judges, resamplings=50) == rows
    assert json.loads(json.dumps(rows, allow_nan=False)) == rows


def test_within_one_counts_a_distance_of_exactly_one() -> None:
    x = np.array([7.3, 2, 5, 9.9])
    found = graded_rows({"a": graded(x, 4), "b": graded(x + np.array([1, 1, 1.1, 0]), 4)})
    rows = {row["measure"]: row["value"] for row in found}
    assert (rows["exact"], rows["within one"]) == (0.25, 0.75)


@pytest.mark.slow
def test_grades_of_very_many_values_are_rounded_where_that_does_not_show() -> None:
    generator = np.random.default_rng(4)
    x = generator.uniform(1, 10, 600)
    y = x + generator.normal(0, 1, 600)
    assert scale_of([*x, *y]).rounded
    assert len(scale_of([*x, *y]).values) <= MOST_VALUES
    rows = {row["measure"]: row for row in graded_rows({"a": graded(x, 60), "b": graded(y, 60)}, resamplings=100)}
    ranks = np.corrcoef(mean_ranks(x), mean_ranks(y))[0, 1]
    assert rows["pearson"]["value"] == pytest.approx(np.corrcoef(x, y)[0, 1], abs=0.001)
    assert rows["spearman"]["value"] == pytest.approx(ranks, abs=0.001)
    assert rows["alpha (interval)"]["value"] == pytest.approx(brute_alpha(np.array([x, y]), "interval"), abs=0.001)
    assert rows["exact"]["value"] == 0
    tau = rows["kendall tau-b"]
    assert tau["value"] == pytest.approx(brute_tau_b(x, y), abs=1e-12)
    assert tau["value"] is not None
    assert tau["low"] is not None
    assert tau["high"] is not None
    assert tau["low"] < tau["value"] < tau["high"]


@pytest.mark.parametrize("n", [2, 3, 7, 8, 9, 50])
def test_tau_b_without_a_table_equals_brute_force(n: int) -> None:
    generator = np.random.default_rng(n)
    for scale in (2, 4, 1000):
        x, y = generator.integers(0, scale, (2, n)).astype(float)
        if np.ptp(x) and np.ptp(y):
            assert exact_tau_b(x, y) == pytest.approx(brute_tau_b(x, y), abs=1e-12)
        else:
            assert exact_tau_b(x, y) is None


@pytest.mark.parametrize("questions", [pytest.param(10, id="few-studentized"), pytest.param(40, id="percentile")])
@pytest.mark.parametrize("measure", ["pearson", "tau-b", "alpha"])
def test_the_intervals_cover(questions: int, measure: str) -> None:
    """Answers to one question share its difficulty and the judges' disagreement about it."""

    def estimate(generator: np.random.Generator, number: int, resamplings: int) -> Estimate:
        quality = generator.normal(5.5, 1.5, (number, 1)) + generator.normal(0, 1, (number, 6))
        said = quality + generator.normal(0, 0.7, (2, number, 1)) + generator.normal(0, 1, (2, number, 6))
        x, y = np.clip(np.rint(said), 1, 10).astype(int)
        met = np.zeros((number, 11, 11))
        np.add.at(met, (np.repeat(np.arange(number), 6), x.ravel(), y.ravel()), 1.0)
        values = np.arange(11.0)
        if measure == "alpha":
            met += met.swapaxes(1, 2)
        statistics: dict[str, Callable[[Floats], Floats]] = {
            "pearson": partial(pearson, values),
            "tau-b": kendall_tau_b,
            "alpha": partial(alpha, values, level="ordinal"),
        }
        return table_estimate(met, statistics[measure], resamplings=resamplings)

    truth = estimate(np.random.default_rng(1), 4000, 2).value
    assert truth is not None
    generator = np.random.default_rng(2)
    hits, runs = 0, 100
    for _ in range(runs):
        found = estimate(generator, questions, 200)
        assert found.low is not None
        assert found.high is not None
        hits += found.low <= truth <= found.high
    assert 0.88 <= hits / runs <= 0.99


def test_nothing_in_common_is_no_number() -> None:
    one, other = graded(np.array([1.0, NONE]), 2), graded(np.array([NONE, 2.0]), 2)
    for row in graded_rows({"a": one, "b": other}):
        assert (row["value"], row["low"], row["high"], row["n"], row["left_out"]) == (None, None, None, 0, 2)
