"""Every two models compared on the same questions."""

import json
import math
import pathlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from harness.old.errors import UsageError
from harness.old.judgments.reading import read_judgments
from harness.old.records import QuestionId
from harness.old.results.matrix import Matrix, matrix, of_group, of_turn
from harness.old.results.statistics.bootstrap import Estimate
from harness.old.results.statistics.paired import Paired, compare_runs, compared_columns, holm, paired
from tests.old.observed import Origin, grade

GPT_4 = Origin("gpt-4")
Scores = Mapping[str, list[list[float | None]]]


def run(models: Scores, groups: Mapping[QuestionId, Any] | None = None, start: int = 1) -> Matrix:
    """Return grades from, for each model, the scores of its turns by question."""
    return matrix(
        [
            grade(question, turn, model, score, GPT_4)
            for model, turns in models.items()
            for turn, values in enumerate(turns, 1)
            for question, score in enumerate(values, start)
        ],
        groups,
    )


def random_scores(questions: int, shift: float = 0.0, seed: int = 0) -> list[float | None]:
    drawn = np.random.default_rng(seed).normal(5 + shift, 2, size=questions)
    return [float(value) for value in np.clip(np.rint(drawn), 1, 10)]


def one_pair(difference: float, sd: float, n: int, p_holm: float | None = None) -> Paired:
    return Paired("x", "y", Estimate(difference, None, None, n, None), n, 0, sd, p_holm, "exact", p_holm)


# Differences


def test_a_pair_is_compared_question_by_question() -> None:
    """By hand: d = 1.5, 0, -0.5; sum 1. Signs: |±1.5 ± 0.5| >= 1 always, so p = 1."""
    [pair] = paired(run({"x": [[8, 6, 4], [7, 5, 4]], "y": [[6, 6, 5], [6, 5, 4]]})).pairs
    assert (pair.model_1, pair.model_2, pair.n, pair.left_out) == ("x", "y", 3, 0)
    assert pair.difference.value == pytest.approx(1 / 3)
    assert (pair.difference.low, pair.difference.method) == (None, None)
    assert pair.sd == pytest.approx(math.sqrt(((7 / 6) ** 2 + (1 / 3) ** 2 + (5 / 6) ** 2) / 2))
    assert (pair.p, pair.p_method, pair.p_holm) == (1.0, "exact", 1.0)


def test_a_pair_uses_the_turns_and_questions_that_both_have() -> None:
    """Question 1: turn 1 only (y lacks turn 2); question 2: both; question 3: y has none; question 4: neither."""
    found = run({"x": [[8, 6, 4, None], [2, 5, 4, None]], "y": [[6, 6, None, None], [None, 9, None, None]]})
    [pair] = paired(found).pairs
    assert (pair.n, pair.left_out) == (2, 1)
    assert pair.difference.value == pytest.approx((2 + -2) / 2)


def test_pairs_without_a_common_question_are_not_in_the_family() -> None:
    table = paired(run({"x": [[8, 6, None]], "y": [[None, None, 4]], "z": [[7, 7, 7]]}))
    apart = table.pairs[0]
    assert (apart.n, apart.left_out, apart.p, apart.p_holm, apart.sd) == (0, 3, None, None, None)
    assert apart.difference.value is None
    assert (apart.verdict, apart.smallest_detectable, apart.questions_needed) == ("not compared", None, None)
    assert [pair.p_holm for pair in table.pairs[1:]] == [1.0, 1.0]


def test_equal_models_cannot_be_told_apart() -> None:
    [pair] = paired(run({"x": [[5, 6, 7, 8, 9]], "y": [[5, 6, 7, 8, 9]]})).pairs
    assert (pair.difference.value, pair.p, pair.sd, pair.difference.method) == (0, 1, 0, "bound")
    assert pair.difference.low == -(pair.difference.high or 0)
    assert (pair.told_apart, pair.better, pair.questions_needed) == (False, None, None)


@pytest.mark.parametrize("n", [5, 6, 12, 80])
@pytest.mark.parametrize("scale", [(1.0, 10.0), None], ids=["scale", "no-scale"])
def test_the_interval_of_equal_differences_says_what_their_p_says(n: int, scale: tuple[float, float] | None) -> None:
    scores: list[float | None] = [3.0 + question % 4 for question in range(n)]
    found = run({"x": [[4.0 + question % 4 for question in range(n)]], "y": [scores]})._replace(scale=scale)
    [pair] = paired(found).pairs
    assert pair.p is not None
    assert pair.difference.low is not None
    assert (pair.difference.value, pair.p) == (1.0, 2 / 2**n)
    assert (pair.difference.low > 0) == (pair.p <= 0.05) == (n >= 6)


def test_the_interval_of_equal_differences_by_hand() -> None:
    """Docstring: s = 1 - 0.025^(1/12) = 0.2646."""
    [pair] = paired(run({"x": [[7] * 12], "y": [[6] * 12]})).pairs
    assert (pair.difference.low, pair.difference.high) == pytest.approx((0.4707, 1.5293), abs=1e-3)


def test_differences_that_are_equal_but_for_rounding_are_equal() -> None:
    wins = np.full((80, 1), 1 / 3)
    wins[::2] = 1 - 2 / 3
    [pair] = compared_columns(wins, None)
    assert (pair.sd, pair.smallest_detectable, pair.difference.method) == (0, None, "bound")


@pytest.mark.parametrize(("models", "least"), [(2, 6), (4, 8), (34, 15)])
def test_fewer_questions_cannot_show_any_difference(models: int, least: int) -> None:
    def told(questions: int) -> int:
        return paired(run({str(m): [[10 * m] * questions] for m in range(models)}), resamplings=0).told_apart

    pairs = models * (models - 1) // 2
    assert one_pair(1, 1, 5)._replace(family=pairs).least == least
    assert (told(least - 1), told(least)) == (0, pairs)


def test_a_difference_on_too_few_questions_has_no_power_and_needs_as_many_as_show_one() -> None:
    pair = one_pair(1, 0.1, 4)._replace(stated=2.0)
    assert (pair.power, pair.questions_needed) == (0, 6)


def test_swapping_two_models_turns_the_signs() -> None:
    x, y = random_scores(80, 1.5), random_scores(80, seed=1)
    [one], [other] = paired(run({"x": [x], "y": [y]})).pairs, paired(run({"y": [y], "x": [x]})).pairs
    a, b = one.difference, other.difference
    assert (a.value, a.low, a.high) == pytest.approx((-(b.value or 0), -(b.high or 0), -(b.low or 0)))
    assert (one.p, one.p_holm, one.sd) == pytest.approx((other.p, other.p_holm, other.sd))
    assert (one.verdict, other.verdict) == ("better", "worse")
    assert (one.better, other.better) == ("model_1", "model_2")


def test_the_order_of_rows_does_not_matter() -> None:
    rows = [
        grade(q, 1, model, value, GPT_4)
        for k, model in enumerate("xyz")
        for q, value in enumerate(random_scores(40, k / 2, k))
    ]
    one = {(p.model_1, p.model_2): p for p in paired(matrix(rows)).pairs}
    for pair in paired(matrix(rows[::-1])).pairs:
        turned = one[pair.model_2, pair.model_1]
        assert pair.difference.value == pytest.approx(-(turned.difference.value or 0))
        assert pair.difference.low == pytest.approx(-(turned.difference.high or 0))
        assert (pair.p, pair.p_holm) == pytest.approx((turned.p, turned.p_holm))


def test_an_interval_of_many_questions_is_near_the_normal_one() -> None:
    """Theory: difference ± 1.96 sd / sqrt(n) without groups."""
    [pair] = paired(run({"x": [random_scores(400, 1)], "y": [random_scores(400, seed=1)]})).pairs
    assert pair.sd is not None
    assert pair.difference.value is not None
    half = 1.96 * pair.sd / math.sqrt(400)
    assert pair.difference.low == pytest.approx(pair.difference.value - half, abs=0.03)
    assert pair.difference.high == pytest.approx(pair.difference.value + half, abs=0.03)


def test_one_turn_or_one_group_can_be_compared_alone() -> None:
    groups: dict[QuestionId, Any] = {1: "a", 2: "a", 3: "b"}
    found = run({"x": [[8, 6, 4], [1, 1, 1]], "y": [[6, 6, 5], [2, 2, 2]]}, groups)
    assert paired(of_turn(found, 2)).pairs[0].difference.value == -1
    assert paired(of_turn(of_group(found, "a"), 1)).pairs[0].difference.value == 1


def test_models_are_compared_in_blocks_with_the_same_result(monkeypatch: pytest.MonkeyPatch) -> None:
    found = run({name: [random_scores(40, k / 3, k)] for k, name in enumerate("abcde")})
    whole = paired(found)
    monkeypatch.setattr("harness.old.results.statistics.paired._BLOCK", 120)
    blocks = paired(found)
    for one, other in zip(whole.pairs, blocks.pairs, strict=True):
        assert (one.model_1, one.model_2, one.p, one.p_holm) == (other.model_1, other.model_2, other.p, other.p_holm)
        assert one.difference.low == pytest.approx(other.difference.low)


# Families


@pytest.mark.parametrize(
    ("raw", "adjusted"),
    [
        pytest.param([0.01, 0.04, 0.03], [0.03, 0.06, 0.06], id="docstring"),
        pytest.param([0.01, 0.02, 0.03, 0.04], [0.04, 0.06, 0.06, 0.06], id="never-falls"),
        pytest.param([0.5, 0.6], [1.0, 1.0], id="at-most-1"),
        pytest.param([0.02], [0.02], id="one"),
        pytest.param([0.01, float("nan"), 0.04], [0.02, float("nan"), 0.04], id="nan-is-not-in-the-family"),
        pytest.param([0.02, 0.02, 0.02], [0.06, 0.06, 0.06], id="ties"),
        pytest.param([], [], id="none"),
    ],
)
def test_holm_by_hand(raw: list[float], adjusted: list[float]) -> None:
    assert holm(np.array(raw)).tolist() == pytest.approx(adjusted, nan_ok=True)


def test_the_family_is_all_pairs_of_the_table() -> None:
    found = run(
        {name: [random_scores(80, shift, k)] for k, (name, shift) in enumerate({"a": 0, "b": 1, "c": 2}.items())}
    )
    table = paired(found)
    assert [p.p_holm for p in table.pairs] == pytest.approx(holm(np.array([p.p for p in table.pairs])).tolist())
    assert table.told_apart == sum(pair.verdict != "cannot be told apart" for pair in table.pairs)


def test_too_few_questions_can_never_tell_a_large_family_apart() -> None:
    """Ten questions: no p below 2 / 1024, so with 45 pairs no adjusted p below 0.088."""
    found = run({f"m{k}": [[float(k)] * 10] for k in range(10)})
    table = paired(found)
    assert table.told_apart == 0
    assert min(pair.p or 1 for pair in table.pairs) == 2 / 1024
    assert paired(run({f"m{k}": [[float(k)] * 11] for k in range(10)})).told_apart == 45


@pytest.mark.parametrize(
    ("p_holm", "difference", "verdict"),
    [
        (0.05, 1, "better"),
        (0.05, -1, "worse"),
        (0.0501, 1, "cannot be told apart"),
        (None, 1, "cannot be told apart"),
    ],
    ids=["better", "worse", "not-quite", "untested"],
)
def test_the_verdict_in_words(p_holm: float | None, difference: float, verdict: str) -> None:
    assert one_pair(difference, 1, 20, p_holm).verdict == verdict


# Power


def test_power_as_in_the_docstring() -> None:
    pair = one_pair(-0.4, 2.5, 80)._replace(stated=0.4)
    assert pair.smallest_detectable == pytest.approx(0.7831, abs=1e-4)
    assert pair.questions_needed == 307
    of_ten = pair._replace(family=10)
    assert of_ten.smallest_detectable == pytest.approx(1.02, abs=0.005)
    assert of_ten.questions_needed == 521


def test_power_is_for_the_difference_that_was_stated_and_not_for_the_one_seen() -> None:
    assert one_pair(-0.4, 2.5, 80).questions_needed is None
    assert one_pair(-0.4, 2.5, 80).power is None
    stated = one_pair(-0.4, 2.5, 80)._replace(stated=0.7831)
    assert stated.power == pytest.approx(0.8, abs=0.001)
    assert stated._replace(family=10).power == pytest.approx(0.497, abs=0.001)


def test_as_many_questions_as_needed_show_the_difference_four_times_in_five() -> None:
    needed = one_pair(0.8, 2.5, 80)._replace(stated=0.8).questions_needed
    assert needed == 77
    drawn = np.random.default_rng(0).normal(0.8, 2.5, size=(4000, needed))
    z = np.abs(drawn.mean(axis=1)) / (2.5 / math.sqrt(needed))
    assert np.mean(z > 1.96) == pytest.approx(0.8, abs=0.02)


def test_the_table_has_a_typical_smallest_difference() -> None:
    table = paired(run({"a": [[1, 2, 3, 4]], "b": [[2, 2, 2, 2]], "c": [[5, 1, 5, 1]]}))
    sizes = sorted(pair.smallest_detectable or 0 for pair in table.pairs)
    assert table.smallest_detectable == sizes[1]
    assert paired(run({"a": [[1.0]]})).smallest_detectable is None


# Two runs


def test_a_model_is_compared_with_itself_in_another_run() -> None:
    new = run({"x": [[8, 7, 9, 6, 8, 9]], "y": [[5, 5, 5, 5, 5, 5]]})
    old = run({"y": [[6, 6, 6, 6, 6, 6]], "x": [[7, 6, 8, 5, 7, 8]]})
    table = compare_runs(new, old)
    assert table.models == ("x", "y")
    assert [(p.model_1, p.model_2, p.difference.value) for p in table.pairs] == [("x", "x", 1), ("y", "y", -1)]
    assert [p.p for p in table.pairs] == [2 / 64, 2 / 64]
    assert [p.p_holm for p in table.pairs] == [4 / 64, 4 / 64]


def test_the_only_models_of_two_runs_are_compared_whatever_their_names() -> None:
    [pair] = compare_runs(run({"step-2": [[8.0] * 6]}), run({"step-1": [[9.0] * 6]})).pairs
    assert (pair.model_1, pair.model_2, pair.difference.value, pair.verdict) == ("step-2", "step-1", -1, "worse")


def test_questions_that_only_one_run_has_are_left_out_and_counted() -> None:
    new, old = run({"x": [[8, 7, 9]]}, start=1), run({"x": [[1, 1, 1, 1]]}, start=3)
    [pair] = compare_runs(new, old).pairs
    assert (pair.n, pair.left_out, pair.difference.value) == (1, 5, 8)


def test_turns_that_only_one_run_has_do_not_count() -> None:
    [pair] = compare_runs(run({"x": [[8, 7], [1, 1]]}), run({"x": [[8, 6]]})).pairs
    assert (pair.difference.value, pair.left_out) == (0.5, 0)


def test_runs_without_a_common_model() -> None:
    with pytest.raises(UsageError, match=r"no model is in both runs.*x, z with y"):
        compare_runs(run({"x": [[1]], "z": [[1]]}), run({"y": [[1]]}))


def test_runs_without_a_common_question_or_turn() -> None:
    with pytest.raises(UsageError, match="no question in common"):
        compare_runs(run({"x": [[1]]}), run({"x": [[1]]}, start=9))
    with pytest.raises(UsageError, match="no turn in common"):
        compare_runs(of_turn(run({"x": [[1], [2]]}), 1), of_turn(run({"x": [[1], [2]]}), 2))


def test_comparing_two_models_in_one_run_is_comparing_two_runs() -> None:
    x, y = random_scores(50, 1), random_scores(50, seed=1)
    [inside] = paired(run({"x": [x], "y": [y]})).pairs
    [across] = compare_runs(run({"x": [x]}), run({"y": [y]})).pairs
    assert inside == across


# Published data


@pytest.mark.reference
def test_published_grades(reference_data: pathlib.Path) -> None:
    folder = reference_data / "mt_bench"
    lines = (folder / "question.jsonl").read_text(encoding="utf-8").splitlines()
    categories = {row["question_id"]: row["category"] for row in map(json.loads, lines)}
    found = matrix(
        read_judgments(folder / "model_judgment" / "gpt-4_single.scores_only.jsonl").observations, categories
    )
    table = paired(found, resamplings=1000)
    assert len(table.pairs) == 561
    assert {pair.p_method for pair in table.pairs} == {"exact"}
    assert {pair.n for pair in table.pairs} == {80}
    pairs = {(pair.model_1, pair.model_2): pair for pair in table.pairs}
    near = pairs.get(("claude-v1", "gpt-3.5-turbo")) or pairs["gpt-3.5-turbo", "claude-v1"]
    assert near.verdict == "cannot be told apart"
    assert all(pair.told_apart for names, pair in pairs.items() if "gpt-4" in names)
    assert paired(of_group(found, "math"), resamplings=1000).told_apart == 0
