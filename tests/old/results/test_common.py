"""Models that were judged on different questions."""

import numpy as np
import pytest

from harness.old.judgments.observations import Observations
from harness.old.records import Observation
from harness.old.results.common import common_questions
from harness.old.results.detail import grades_detail
from harness.old.results.matrix import matrix, ranked
from harness.old.results.statistics.paired import paired
from tests.old.observed import Origin, grade, pair

J = Origin("j")


def rows(of_model: dict[str, range], score: float | None = 5.0) -> list[Observation]:
    return [grade(q, 1, model, score, J) for model, questions in of_model.items() for q in questions]


def test_the_worked_line_of_the_docstring() -> None:
    found = common_questions(
        Observations.of(rows({"x": range(1, 81), "y": range(1, 81), "z": range(1, 61), "w": range(1, 21)}))
    )
    assert found.apart == ("w",)
    assert found.questions == set(range(1, 61))
    assert "60 of 80 are common to all 3 that are ranked" in str(found.note())
    assert "too few questions to be ranked: w (20 of 80 questions)" in str(found.note())


@pytest.mark.parametrize("failed", [0, 4])
def test_the_same_questions_for_all_need_no_note_even_if_a_few_verdicts_failed(failed: int) -> None:
    own = rows({"x": range(80), "y": range(80 - failed)})
    own += [grade(q, 1, "y", None, J) for q in range(80 - failed, 80)]
    assert common_questions(Observations.of(own)).note() is None


def test_a_pair_counts_for_both_its_models() -> None:
    own = [pair(q, 1, "x", "y", ("model_1",), J) for q in range(10)]
    own += [pair(q, 1, "x", "z", ("tie",), J) for q in range(6)]
    found = common_questions(Observations.of(own))
    assert found.judged == {"x": 10, "y": 10, "z": 6}
    assert found.questions == set(range(6))


def test_a_model_with_the_easiest_questions_only_is_not_ranked() -> None:
    random = np.random.default_rng(0)
    ease = random.normal(5, 2, 80)
    easiest = np.argsort(-ease)[:20].tolist()
    own = [grade(q, 1, m, float(ease[q] + random.normal(0, 0.1)), J) for q in range(80) for m in ("x", "y")]
    own += [grade(q, 1, "lucky", float(ease[q] - 1), J) for q in easiest]
    table = matrix(own)
    assert set(paired(ranked(table), resamplings=0).models) == {"x", "y"}
    assert {row["model"]: row["rank"] for row in grades_detail(table, resamplings=100).rows()}["lucky"] is None


@pytest.mark.parametrize("paired", [False, True])
def test_where_no_judgment_has_a_verdict_nobody_is_ranked(paired: bool) -> None:
    own = rows({"x": range(9), "y": range(9)}, None)
    if paired:
        own = [pair(q, 1, one, other, (None,), J) for q in range(9) for one, other in (("x", "y"), ("x", "z"))]
    found = common_questions(Observations.of(own))
    assert set(found.apart) >= {"x", "y"}
    assert found.note(paired=paired) is None


def turned(turns: dict[str, tuple[int, ...]], questions: int = 20) -> Observations:
    return Observations.of(
        grade(q, turn, model, 5, J) for model, own in turns.items() for q in range(questions) for turn in own
    )


def test_a_model_that_was_judged_on_first_turns_only_is_named() -> None:
    found = common_questions(turned({"x": (1, 2), "first": (1,)}))
    assert found.note() is None
    assert str(found.turns_note).startswith(
        "judged on fewer turns of the same questions than other models: first (20 of "
    )
    assert found.turns == {"first": (20, 40)}


@pytest.mark.parametrize(
    "turns",
    [
        pytest.param({"x": (1, 2), "y": (1, 2)}, id="all on both"),
        pytest.param({"x": (1,), "y": (1,)}, id="all on one"),
        pytest.param({"x": (1, 2), "x+history=y": (2,)}, id="given first turns"),
        pytest.param({"x": (4,), "y": (6,)}, id="whole conversations of different lengths"),
    ],
)
def test_turns_that_are_as_many_need_no_note(turns: dict[str, tuple[int, ...]]) -> None:
    assert common_questions(turned(turns)).turns_note is None
