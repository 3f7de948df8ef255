"""Whether a judge favours its own family."""

import numpy as np
import pytest

from harness.old.meta_evaluation.self_preference import family_of, self_preference
from harness.old.records import Observation
from harness.old.results.matrix import Matrix, matrix, pairs
from harness.old.results.panel import Heard, panel_grades, panel_pairs
from tests.old.observed import Origin, grade, named
from tests.old.observed import pair as _pair

MODELS = ("gpt-4", "claude-3", "llama-2")


def graded(scores: dict[str, np.ndarray]) -> Heard[Matrix]:
    """Return a panel of judges, each with questions × models."""
    return panel_grades(
        {
            judge: matrix(
                [
                    grade(q, 1, model, None if np.isnan(table[q, m]) else float(table[q, m]), Origin(judge))
                    for q in range(len(table))
                    for m, model in enumerate(MODELS)
                ]
            )
            for judge, table in scores.items()
        }
    )


def simulated(seed: int, favour: float, questions: int = 40) -> Heard[Matrix]:
    """Return three judges of unequal strictness; gpt-5 adds `favour` to gpt-4's grades."""
    generator = np.random.default_rng(seed)
    quality = generator.normal(6, 1, (questions, 1)) + np.array([2.0, 0.5, -1.0])
    judges = {}
    for judge, strict in (("gpt-5", 1.0), ("mistral-1", -0.5), ("qwen-2", 0.2)):
        judges[judge] = quality + strict + generator.normal(0, 0.7, quality.shape)
    judges["gpt-5"][:, 0] += favour
    return graded(judges)


@pytest.mark.parametrize(
    ("name", "family"),
    [
        pytest.param("gpt-4", "gpt", id="dash"),
        pytest.param("GPT-4", "gpt", id="capitals"),
        pytest.param("openai/gpt-4", "openai", id="slash"),
        pytest.param("llama", "llama", id="neither"),
        pytest.param("odd-one", "gpt", id="mapping"),
    ],
)
def test_a_family_is_the_first_part_of_a_name(name: str, family: str) -> None:
    assert family_of(name, {"odd-one": "gpt"}) == family


def test_the_worked_line_of_the_docstring() -> None:
    ones = np.ones((6, 1))
    panel = graded({"gpt-5": ones * [9, 7, 7], "qwen-2": ones * [8, 6, 7], "mistral-1": ones * [8, 7, 6]})
    row = named(self_preference(panel))[0]
    levels = row.own_by_judge, row.own_by_others, row.rest_by_judge, row.rest_by_others
    assert levels == (9, 8, 7, 6.5)
    assert (row.judge, row.family, row.own, row.others) == ("gpt-5", "gpt", ("gpt-4",), ("qwen-2", "mistral-1"))
    assert (row.difference.value, row.difference.low, row.n, row.left_out) == (0.5, None, 18, 0)


def test_strictness_cancels_out_and_a_favour_is_found() -> None:
    for favour in (0.0, 0.8):
        row = named(self_preference(simulated(3, favour)))[0]
        assert row.difference.low is not None
        assert row.difference.high is not None
        assert row.difference.low < favour < row.difference.high
        assert (row.difference.low > 0) == (favour > 0)


def test_the_interval_covers_the_favour_at_its_rate() -> None:
    rows = [named(self_preference(simulated(seed, 0.3), resamplings=400))[0].difference for seed in range(200)]
    hits = [row.low < 0.3 < row.high for row in rows if row and row.low is not None and row.high is not None]
    assert len(hits) == 200
    assert 0.90 <= np.mean(hits) <= 0.99


def test_where_nothing_can_be_said_it_says_why() -> None:
    rows = {row.judge: row for row in named(self_preference(simulated(1, 0.0)))}
    assert rows["qwen-2"].why_not == "no model of the family qwen was judged"
    assert (rows["qwen-2"].difference.value, rows["qwen-2"].own_by_judge) == (None, None)
    same = named(self_preference(simulated(1, 0.0), families={"mistral-1": "gpt", "qwen-2": "gpt"}))
    assert {row.why_not for row in same} == {"all judges are of the family gpt"}
    alike = named(self_preference(simulated(1, 0.0), families={"claude-3": "gpt", "llama-2": "gpt"}))
    assert alike[0].why_not == "only models of the family gpt were judged"


def test_judges_of_the_same_family_are_no_standard() -> None:
    row = named(self_preference(simulated(1, 0.0), families={"mistral-1": "gpt"}))[0]
    assert row.others == ("qwen-2",)


def test_questions_without_both_kinds_are_left_out() -> None:
    table = np.full((6, 3), 5.0)
    partial = table.copy()
    partial[0, 0] = np.nan
    partial[1, 1] = np.nan
    row = named(self_preference(graded({"gpt-5": partial, "qwen-2": table})))[0]
    assert (row.n, row.left_out) == (14, 4)
    nothing = np.where(np.arange(3) == 0, np.nan, table)
    row = named(self_preference(graded({"gpt-5": nothing, "qwen-2": table})))[0]
    assert row.why_not is not None
    assert row.why_not.startswith("no question with answers of the family and of other models was judged by gpt-5 and")


def pair(question: int, one: str, other: str, winner: str | None) -> Observation:
    return _pair(question, 1, one, other, (winner,), Origin("j"))


def test_win_rates_of_the_family_against_others() -> None:
    said: dict[str, list[str | None]] = {
        "gpt-5": ["model_1", "model_1", "model_2", None],
        "qwen-2": ["model_1", "model_2", "model_2", "model_1"],
        "mistral-1": ["tie", "model_2", "tie", "model_1"],
    }
    about = [(1, "gpt-4", "llama-2"), (2, "gpt-4", "claude-3"), (3, "claude-3", "gpt-4"), (4, "gpt-4", "llama-2")]
    panel = panel_pairs(
        {
            judge: pairs(
                [
                    *(pair(q, one, other, winner) for (q, one, other), winner in zip(about, winners, strict=True)),
                    pair(5, "llama-2", "claude-3", "model_1"),
                ]
            )
            for judge, winners in said.items()
        }
    )
    row = named(self_preference(panel))[0]
    assert row.own_by_judge == 1
    assert row.own_by_others == pytest.approx((0.75 + 0 + 0.75) / 3)
    assert (row.rest_by_judge, row.rest_by_others, row.n, row.left_out) == (None, None, 3, 1)
    assert row.difference.value == pytest.approx(0.5)
