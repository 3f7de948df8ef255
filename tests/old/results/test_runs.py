"""Two runs compared, and what a gate lets pass."""

import re
from collections.abc import Sequence

import numpy as np
import pytest

from harness.old.errors import UsageError
from harness.old.judgments.observations import Observations
from harness.old.records import Observation
from harness.old.results.runs import Runs, compared_runs
from tests.old.observed import Origin, grade, pair

J = Origin("j")
QUESTIONS = range(40)


def run(
    judge: Origin = J, failed: Sequence[int] = (), questions: Sequence[int] = QUESTIONS, **levels: float
) -> Observations:
    """Return grades of models, each model's level with a wave over the questions; those that failed have none."""
    return Observations.of(
        grade(q, 1, model, None if q in failed else level + (q * 7 % 5) * 0.5, judge)
        for model, level in levels.items()
        for q in questions
    )


def noisy(seed: int, level: float = 5.0) -> Observations:
    random = np.random.default_rng(seed)
    return Observations.of(grade(q, 1, "x", level + float(random.integers(-1, 2)), J) for q in QUESTIONS)


def compared(new: Observations, old: Observations, **more: object) -> Runs:
    return compared_runs(new, old, {}, resamplings=500, **more)  # type: ignore[arg-type]


def test_a_new_checkpoint_is_compared_with_the_one_before() -> None:
    (own,) = compared(run(new=3.0), run(old=5.0)).table.pairs
    assert (own.model_1, own.model_2, own.better, own.n) == ("new", "old", "model_2", 40)


def test_runs_without_a_common_model_are_refused() -> None:
    with pytest.raises(UsageError, match="no model is in both runs"):
        compared(run(a=3.0, b=4.0), run(c=3.0))


def test_another_judge_is_refused_and_said_where_it_is_allowed() -> None:
    new, old = run(x=3.0), run(Origin("k"), x=3.0)
    with pytest.raises(UsageError, match="judge j here and k there; --allow judge compares them"):
        compared(new, old)
    assert (
        "compared although they differ: judge j here and k there (--allow judge)"
        in compared(new, old, allow=["judge"]).notes
    )


def test_another_wording_of_a_question_is_refused() -> None:
    new = Observations.of(one._replace(content="new") for one in run(x=3.0))
    old = Observations.of(one._replace(content="old") for one in run(x=3.0))
    with pytest.raises(UsageError, match=r"40 questions have another wording \(question 0\); --allow questions"):
        compared(new, old)
    assert any("another wording" in note for note in compared(new, old, allow=["questions"]).notes)


def test_a_difference_that_there_is_not_cannot_be_allowed() -> None:
    with pytest.raises(UsageError, match="--allow colour: no such difference; there are: judge, judge-set"):
        compared(run(x=3.0), run(x=3.0), allow=["colour"])


@pytest.mark.parametrize(
    ("new", "fault"),
    [
        pytest.param(run(x=5.0), None, id="same"),
        pytest.param(run(x=4.0), "x is worse than in the other run", id="worse"),
        pytest.param(run(x=5.0, failed=[0]), None, id="one-failed"),
        pytest.param(
            run(x=5.0, failed=range(8)), r"x: 20% of the judgments are missing \(8 failed, 0 not made", id="failed"
        ),
        pytest.param(run(x=5.0, questions=range(30)), r"x: 25% .* \(0 failed, 10 not made", id="not-made"),
        pytest.param(run(x=5.0, failed=QUESTIONS), "100% of the judgments are missing", id="all-failed"),
    ],
)
def test_a_gate_passes_only_a_run_that_it_could_judge(new: Observations, fault: str | None) -> None:
    faults = compared(new, run(x=5.0)).faults()
    assert bool(faults) == (fault is not None)
    assert fault is None or re.search(fault, faults[0])


def test_a_gate_does_not_pass_what_the_other_run_is_too_short_for() -> None:
    runs = compared(run(x=5.0), run(x=5.0, questions=range(10)))
    (fault,) = runs.faults()
    assert fault.startswith(
        "x: 75% of the judgments are missing (0 failed, 0 not made, 0 failed and 30 not made in the"
    )
    assert (
        "x, of 40 judgments: 0 failed and 0 not made in this run, 0 failed and 30 not made in the other" in runs.notes
    )
    assert runs.faults(max_missing=0.75) == []


def test_pairs_with_a_new_model_are_not_missing_in_the_other_run() -> None:
    with_new = [*pairs_of("x", 20), *(pair(q, 1, "x", "new", ("model_1",), J) for q in QUESTIONS)]
    assert compared(Observations.of(with_new), Observations.of(pairs_of("x", 20))).faults() == []


def test_what_may_be_missing_is_the_users_choice() -> None:
    runs = compared(run(x=5.0, failed=range(8)), run(x=5.0))
    assert runs.faults(max_missing=0.25) == []
    assert "x, of 40 judgments: 8 failed and 0 not made in this run, 0 failed in the other" in runs.notes


def test_a_model_that_this_run_lacks_altogether_does_not_pass_unless_others_are_named() -> None:
    new, old = run(x=5.0, z=5.0), run(x=5.0, y=5.0)
    runs = compared(new, old)
    assert [pair.model_1 for pair in runs.table.pairs] == ["x"]
    assert runs.faults() == ["y is not judged in this run (--model-list names those to compare)"]
    assert runs.notes[:2] == (
        "judged only in the other run, so not compared: y",
        "judged only in this run, so not compared: z",
    )
    assert compared(new, old, models=["x"]).faults() == []


def test_only_the_models_that_are_named_are_compared() -> None:
    (own,) = compared(run(x=5.0, y=3.0), run(x=5.0, y=5.0), models=["x"]).table.pairs
    assert own.model_1 == "x"


def test_failed_grades_count_where_that_was_asked_for() -> None:
    new, old = run(x=5.0, failed=range(20)), run(x=5.0)
    assert compared(new, old).table.pairs[0].better is None
    assert compared(new, old, count_failed=True).table.pairs[0].better == "model_2"


def test_a_margin_asks_for_proof_that_the_run_is_as_good() -> None:
    wide, narrow = (compared(noisy(1), noisy(2), margin=margin) for margin in (1.0, 0.05))
    assert wide.faults(margin=1.0) == []
    assert narrow.faults() == []
    assert narrow.faults(margin=0.05) == ["x is not shown to be as good as in the other run, within 0.05"]
    assert "x is as good as x of the other run, within 1" in wide.notes


def test_a_gate_does_not_pass_what_is_too_short_to_show_a_drop() -> None:
    runs = compared(run(x=1.0, questions=range(5)), run(x=9.0, questions=range(5)))
    assert runs.table.pairs[0].better is None
    assert runs.faults() == [
        "x is not shown to be no worse: on 5 questions no drop would be significant, however large (6 or more would do)"
    ]
    assert not any("smallest drop" in note for note in runs.notes)
    assert compared(run(x=5.0, questions=range(6)), run(x=5.0, questions=range(6))).faults() == []


def test_a_run_that_differs_on_no_question_says_what_drop_the_others_may_hide() -> None:
    new, old = (run(J._replace(judge_set="mt_bench"), x=3.0) for _ in range(2))
    low = compared(new, old).table.pairs[0].difference.low
    assert low is not None
    assert low < -0.01
    [fault] = compared(new, old, margin=0.01).faults(margin=0.01)
    assert fault.startswith(
        "x is not shown to be as good as in the other run, within 0.01; none of 40 questions differs"
    )
    assert fault.endswith(f"a drop of {-low:.2g} is not ruled out")
    assert compared(new, old, margin=1.0).faults(margin=1.0) == []


def test_where_judgments_are_missing_a_run_is_as_good_on_what_both_have_only() -> None:
    notes = compared(run(x=5.0, questions=range(30)), run(x=5.0), margin=1.0).notes
    assert "x is as good as x of the other run, within 1, on the 30 questions that both have" in notes


def test_grades_on_another_scale_are_refused_and_said_where_it_is_allowed() -> None:
    new, old = (
        Observations.of(one._replace(source=one.source._replace(scale=scale)) for one in run(x=3.0))
        for scale in ((1, 10), (1, 5))
    )
    with pytest.raises(UsageError, match="scale 1 to 10 here and 1 to 5 there; --allow scale compares them"):
        compared(new, old)
    assert any("scale 1 to 10 here" in note for note in compared(new, old, allow=["scale"]).notes)


def test_the_smallest_drop_that_could_have_been_seen_is_said() -> None:
    assert any(note.startswith("the smallest drop that this") for note in compared(noisy(1), noisy(2)).notes)


def pairs_of(model: str, wins: int) -> list[Observation]:
    rows = [pair(q, 1, model, "base", ("model_1" if q < wins else "model_2",), J) for q in QUESTIONS]
    return rows + [pair(q, 1, "other", "base", ("model_1",), J) for q in QUESTIONS]


def test_pairs_are_compared_by_outcomes_against_the_same_opponent() -> None:
    runs = compared(Observations.of(pairs_of("x", 10)), Observations.of(pairs_of("x", 30)))
    own = {found.model_1: found for found in runs.table.pairs}["x"]
    assert own.difference.value == pytest.approx(-0.5)
    assert "x is worse than in the other run" in runs.faults()


def test_grades_are_not_compared_with_pairs() -> None:
    with pytest.raises(UsageError, match="one run has grades and the other pairs"):
        compared(run(x=3.0), Observations.of(pairs_of("x", 3)))
