"""A run against another: what passes, what does not, what is refused."""

from typing import Any

import pytest

from harness.errors import UsageError
from harness.results import Panel, of_rows, panels
from harness.results.gate import gate
from tests.results.rows import grade, pair

NOISE = [0, 1, 0, -1, 1, 0, 0, -1, 1, 0, -1, 0]


def run(
    model: str = "m", shift: float = 0, *, questions: int = 12, turn: int = 0, **more: Any
) -> Panel:
    """Return a graded run of one model; `turn` moves its noise along the questions."""
    rows = [grade(q, model, 6 + shift + NOISE[(q + turn) % 12], **more) for q in range(questions)]
    (panel,) = panels(of_rows(rows))
    return panel


def test_a_run_that_equals_the_other_passes_with_and_without_a_margin() -> None:
    for margin in (None, 0.0, 0.3):
        assert gate(run(), run(), margin=margin).passes


def test_a_worse_run_fails() -> None:
    result = gate(run(shift=-1, turn=1), run())
    assert (result.passes, result.models[0].worse) == (False, True)
    assert result.faults == ("m: significantly worse than in the other run",)


def test_a_margin_asks_for_evidence() -> None:
    (model,) = gate(run(turn=1), run(), margin=0.1).models
    assert "may be worse by" in model.fault
    assert gate(run(turn=1), run(), margin=1).passes


def test_missing_rows_and_too_few_questions_fail() -> None:
    assert "25% of the other run" in gate(run(questions=9), run()).faults[0]
    few = gate(run(questions=4), run(questions=4))
    assert "only 4 questions" in few.faults[0]


@pytest.mark.parametrize(("judged", "passes"), [(38, True), (37, False)])
def test_a_twentieth_of_the_judgments_may_be_missing(judged: int, passes: bool) -> None:
    assert gate(run(questions=judged), run(questions=40)).passes is passes


def test_runs_of_one_model_each_need_no_names() -> None:
    (model,) = gate(run("new"), run("old")).models
    assert (model.model, model.old) == ("new", "old")


def test_two_names_are_compared_by_name() -> None:
    both = [*(grade(q, m, 6 + NOISE[q]) for q in range(12) for m in ("new", "x"))]
    (new,) = panels(of_rows(both))
    (model,) = gate(new, run("old"), renamed={"new": "old"}).models
    assert (model.model, model.old) == ("new", "old")
    with pytest.raises(UsageError, match="--compare new=gone: no such models"):
        gate(new, run("old"), renamed={"new": "gone"})
    with pytest.raises(UsageError, match="no model in common"):
        gate(new, run("old"))


def test_a_model_that_is_gone_fails() -> None:
    both = [*(grade(q, m, 6 + NOISE[q]) for q in range(12) for m in ("m", "x"))]
    (old,) = panels(of_rows(both))
    assert gate(run(), old).faults == ("x is missing in this run",)
    assert gate(run(), old, models=["m"]).passes


@pytest.mark.parametrize(
    ("what", "other"),
    [
        pytest.param("judge", {"judge": ("gpt-5", "single-v1")}, id="judge"),
        pytest.param("judge-set", {"judge_set": "mine"}, id="judge set"),
        pytest.param("criterion", {"criterion": "tone"}, id="criterion"),
        pytest.param("score-method", {"score_method": "logprobs"}, id="method"),
    ],
)
def test_other_judges_and_sets_are_refused_unless_allowed(what: str, other: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=f"--allow {what} compares them"):
        gate(run(**other), run())
    result = gate(run(**other), run(), allow=[what])
    assert result.passes
    assert f"(--allow {what})" in result.notes[0]


def test_pairs_are_compared_by_opponent() -> None:
    def paired(*winners: str) -> Panel:
        rows = [pair(q, "m", "base", *[winner] * 2) for q, winner in enumerate(winners)]
        (panel,) = panels(of_rows(rows))
        return panel

    good, bad = ["model_1"] * 6 + ["tie"] * 4, ["model_2"] * 7 + ["tie"] * 3
    assert not gate(paired(*bad), paired(*good), baseline="base").passes
    assert gate(paired(*good), paired(*bad), baseline="base").passes
    with pytest.raises(UsageError, match="one run has grades"):
        gate(paired(*good), run())
