"""Several judges, alone and together."""

import itertools

import numpy as np
import pytest

from harness.old.errors import UsageError
from harness.old.records import Observation, Scale
from harness.old.results.grades.scores import scores
from harness.old.results.matrix import Matrix, matrix, pairs
from harness.old.results.panel import (
    TOGETHER,
    grades_panel,
    majority,
    pairs_panel,
    panel_grades,
    panel_pairs,
)
from tests.old.observed import Origin, grade
from tests.old.observed import pair as _pair

NAN = float("nan")


@pytest.mark.parametrize(
    ("scales", "high"),
    [
        pytest.param([(1, 5), (1, 5)], 5, id="both state it"),
        pytest.param([(1, 5), None], 5, id="one from before it was stated"),
        pytest.param([None, None], None, id="unknown"),
    ],
)
def test_intervals_end_where_the_scale_does(scales: list[Scale | None], high: float | None) -> None:
    def said(scale: Scale | None) -> Matrix:
        origin = Origin("j", "mine 1")
        return matrix([grade(q, 1, "x", 2.0 if q % 10 == 1 else 5.0, origin, scale=scale) for q in range(20)])

    judges = dict(zip("ab", map(said, scales), strict=True))
    ends = [row["average_high"] for row in grades_panel(judges).table.table_rows()]
    ends += [line.fields["average"].high for line in scores(grades_panel(judges).together)]
    for end in ends:
        assert end is not None
        assert end == high if high is not None else end > 5


def test_a_mean_of_standard_deviations_is_not_below_0() -> None:
    near = [[rating(q, "x", 9 if judge == "b" and q % 20 == 1 else 5) for q in range(40)] for judge in "ab"]
    whole = panel_grades(dict(zip("ab", map(matrix, near), strict=True))).disagreement().lines[0].fields
    assert whole["sd"].low == 0.0
    assert whole["sd"].value == pytest.approx(0.1 * 2**0.5)


def rating(question: int, model: str, score: float | None, turn: int = 1) -> Observation:
    return grade(question, turn, model, score, Origin("j"))


def pair(question: int, one: str, other: str, winner: str | None) -> Observation:
    return _pair(question, 1, one, other, (winner, winner), Origin("j"))


@pytest.mark.parametrize(
    ("said", "together"),
    [
        pytest.param([1, 1, 0], 1, id="two-of-three"),
        pytest.param([1, 0, 0], 0, id="two-of-three-for-the-other"),
        pytest.param([1, 0, 0.5], 0.5, id="one-each"),
        pytest.param([1, 0.5, 0.5], 0.5, id="most-say-tie"),
        pytest.param([1, 0], 0.5, id="two-judges-differ"),
        pytest.param([1, 0.5], 0.5, id="win-and-tie"),
        pytest.param([0, 0], 0, id="both"),
        pytest.param([1, 1, 0, 0.5], 1, id="most-without-half"),
        pytest.param([1, 1, NAN], NAN, id="one-says-nothing"),
    ],
)
def test_the_majority_is_what_most_say_and_else_a_tie(said: list[float], together: float) -> None:
    result = majority(np.array(said, dtype=np.float64)[:, None])
    np.testing.assert_array_equal(result, [together])
    turned = majority(1.0 - np.array(said, dtype=np.float64)[:, None])
    np.testing.assert_array_equal(turned, [1.0 - together])


def test_the_worked_line_of_the_docstring() -> None:
    panel = panel_grades({name: matrix([rating(1, "x", score)]) for name, score in (("a", 8), ("b", 7), ("c", 9))})
    assert panel.disagreement().rows()[0] == {"model": "all", "differ": 1.0, "sd": 1.0, "n": 1, "excluded": 0}


def test_judges_that_saw_things_in_another_order_are_aligned_by_name() -> None:
    one = matrix([rating(1, "x", 8), rating(2, "x", 6), rating(1, "y", 4), rating(2, "y", 2)])
    other = matrix([rating(2, "y", 3), rating(1, "y", 5), rating(2, "x", 7), rating(1, "x", 9)])
    panel = panel_grades({"a": one, "b": other})
    np.testing.assert_array_equal(panel.said[1] - panel.said[0], 1.0)


def test_only_items_that_all_judged_count_and_the_others_are_counted() -> None:
    one = matrix([rating(1, "x", 8), rating(2, "x", 1), rating(3, "x", None)])
    other = matrix([rating(1, "x", 6), rating(2, "x", None), rating(4, "x", 9)])
    panel = panel_grades({"a": one, "b": other})
    assert [(row["n"], row["excluded"]) for row in panel.disagreement().rows()] == [(1, 2), (1, 2)]


def test_pairs_alone_and_together() -> None:
    said: list[tuple[int, str, str, list[str | None]]] = [
        (1, "x", "y", ["model_1", "model_1", "model_2"]),
        (2, "x", "y", ["model_1", "tie", "model_2"]),
        (3, "x", "y", ["model_2", "model_2", "model_2"]),
        (4, "x", "y", ["model_1", None, "model_1"]),
    ]
    judges = {
        name: pairs([pair(q, one, other, winners[at]) for q, one, other, winners in said])
        for at, name in enumerate("abc")
    }
    panel = pairs_panel(judges)
    rows = {(row["model"], row["judge"]): row["win_rate_adjusted"] for row in panel.table.rows()}
    assert rows["x", "a"] == pytest.approx(2 / 3)
    assert rows["x", "b"] == pytest.approx(1.5 / 3)
    assert rows["x", "c"] == 0
    assert rows["x", TOGETHER] == rows["y", TOGETHER] == pytest.approx(1.5 / 3)
    assert {row["n"] for row in panel.table.rows()} == {3}
    assert (panel.common, panel.left_out) == (3, 1)
    assert [row["differ"] for row in panel.disagreement.rows()] == [pytest.approx(2 / 3)] * 3


def test_a_pair_named_the_other_way_round_is_the_same_pair() -> None:
    one = pairs([pair(1, "x", "y", "model_1"), pair(2, "y", "x", "tie")])
    other = pairs([pair(2, "x", "y", "tie"), pair(1, "y", "x", "model_2")])
    panel = panel_pairs({"a": one, "b": other})
    np.testing.assert_array_equal(panel.said, [[1, 0.5], [1, 0.5]])
    assert panel.disagreement().rows()[0]["differ"] == 0


def test_repeats_of_one_judge_count_as_their_mean() -> None:
    thrice = pairs([pair(1, "x", "y", "model_1"), pair(1, "y", "x", "model_2"), pair(1, "x", "y", "model_2")])
    panel = panel_pairs({"a": thrice, "b": pairs([pair(1, "x", "y", "model_1")])})
    assert panel.said[:, 0] == pytest.approx([2 / 3, 1])
    assert majority(panel.said)[0] == 1


def test_the_order_of_judges_changes_nothing() -> None:
    generator = np.random.default_rng(1)
    said = {
        name: matrix([rating(q, m, float(generator.integers(1, 11))) for q in range(40) for m in "xyz"])
        for name in "abc"
    }
    results = []
    for order in itertools.permutations("abc"):
        panel = panel_grades({name: said[name] for name in order})
        rows = sorted(panel.disagreement(resamplings=200).table_rows(), key=lambda row: str(row["model"]))
        results.append([(row["model"], row["differ"], row["differ_low"], row["differ_high"]) for row in rows])
    for result in results[1:]:
        for row, first in zip(result, results[0], strict=True):
            assert row[0] == first[0]
            assert row[1:] == pytest.approx(first[1:])


def test_equal_grades_are_no_disagreement_and_of_shares_have_a_bound() -> None:
    one = matrix([rating(q, "x", q % 10) for q in range(40)])
    whole = panel_grades({"a": one, "b": one}).disagreement().table_rows()[0]
    assert (whole["differ"], whole["differ_low"]) == (0, 0)
    assert whole["differ_high"] == pytest.approx(1 - 0.05 ** (1 / 40))
    assert (whole["sd"], whole["sd_low"]) == (0, None)


@pytest.mark.parametrize("count", [0, 1])
def test_a_panel_needs_two(count: int) -> None:
    with pytest.raises(UsageError, match=r"a panel needs two judges or more; there are judgments of: (a|none)$"):
        panel_grades({"a": matrix([rating(1, "x", 8)])} if count else {})
