"""Curves over checkpoints: which models make one, and how often what is said of it is true."""

from dataclasses import replace

import numpy as np
import pytest

from harness.errors import MissingError
from harness.results import of_rows
from harness.results.trend import compare_steps, curves
from tests.results.rows import grade

STEPS = [f"base-{n}" for n in (500, 1000, 1500, 2000, 2500)]


@pytest.mark.parametrize(
    ("names", "numbers"),
    [
        pytest.param(["s500", "s1500", "s1k"], [500, 1000, 1500], id="by number, not by letter"),
        pytest.param(["m-7b", "m-13b", "m-70b"], [7e9, 13e9, 70e9], id="sizes"),
        pytest.param(["v2-ck1", "v2-ck2", "v2-ck3"], [1, 2, 3], id="another number stays"),
    ],
)
def test_names_that_differ_in_one_number_are_a_curve(
    names: list[str], numbers: list[float]
) -> None:
    (steps,) = curves([*names, "gpt-4o"])
    assert [step.number for step in steps] == numbers


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(["s1", "s2"], id="two"),
        pytest.param(["gpt-4", "claude-3", "llama-2"], id="other names"),
        pytest.param(["a1-b1", "a2-b2", "a3-b3"], id="two numbers"),
    ],
)
def test_other_names_are_none(names: list[str]) -> None:
    assert curves(names) == []


@pytest.mark.parametrize(
    "truth",
    [
        pytest.param((7.0, 7.0, 7.0, 7.0, 7.0), id="flat"),
        pytest.param((6.8, 7.2, 7.2, 7.2, 7.1), id="a plateau"),
        pytest.param((6.0, 7.5, 7.0, 6.8, 6.5), id="a peak"),
    ],
)
def test_what_is_said_of_all_steps_at_once_is_true_in_95_of_100_curves(
    truth: tuple[float, ...],
) -> None:
    chance = np.random.default_rng(1984)
    rows = [grade(q, name, 0.0) for q in range(40) for name in STEPS]
    scores, (steps,) = of_rows(rows), curves(STEPS)
    code = [scores.models.index(name) for name in STEPS]
    mean = np.zeros(len(scores.models))
    mean[code] = truth
    false, naive, runs = 0, 0, 300
    for _ in range(runs):
        hard = chance.normal(0, 1, len(scores.questions))[scores.question]
        value = mean[scores.model] + hard + chance.normal(0, 1, len(scores))
        found = compare_steps(replace(scores, value=value), steps)
        behind = {name: max(truth) - true for name, true in zip(STEPS, truth, strict=True)}
        false += any(
            not (found.behind[name].least <= behind[name] <= found.behind[name].most)
            for name in STEPS
        )
        means = [value[scores.model == at].mean() for at in code]
        error = np.sqrt(2 / 40)
        naive += bool(max(means) - means[-1] - 2.02 * error > behind[STEPS[-1]])
    assert false / runs <= 0.06
    assert naive / runs <= 0.25


def test_one_clear_peak_is_the_only_one_that_may_be_best() -> None:
    values = {"base-500": 5.0, "base-1000": 8.0, "base-1500": 6.5}
    rows = [grade(q, name, v + q % 3 / 4) for q in range(12) for name, v in values.items()]
    (steps,) = curves(values)
    found = compare_steps(of_rows(rows), steps)
    assert [step.model for step in found.possible] == ["base-1000"]
    assert found.behind["base-1500"] == (1.5, 1.5)


def test_steps_without_common_questions_are_not_compared() -> None:
    rows = [grade(q + 10 * at, name, 5) for q in range(6) for at, name in enumerate(STEPS[:3])]
    (steps,) = curves(STEPS[:3])
    with pytest.raises(MissingError, match="have 0 questions in common"):
        compare_steps(of_rows(rows), steps)
