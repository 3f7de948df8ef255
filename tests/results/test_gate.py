"""A run against another: what passes, what does not, what is refused."""

from pathlib import Path
from typing import Any

import pytest

from harness import bench, store
from harness.errors import UsageError
from harness.results import Panel, Scores, of_rows, panels, read
from harness.results.gate import gate
from harness.types import Detail, Judgment, MadeFrom
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
    (fault,) = gate(run(questions=35), run(questions=40)).faults
    assert fault == "m: 13% of the other run's judgments are missing, over 5%"  # as its table
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


def test_what_both_runs_lack_fails_neither() -> None:
    lacking = [grade(q, "m", None if q < 3 else 6 + NOISE[q]) for q in range(12)]
    (half,) = panels(of_rows(lacking))
    result = gate(half, half, margin=0.1)
    assert result.passes
    assert (result.models[0].missing, result.models[0].missing_before) == (0.25, 0.25)


def test_a_margin_says_how_often_an_unchanged_model_fails_it() -> None:
    (wide,) = gate(run(turn=1), run(), margin=3).models
    (tight,) = gate(run(turn=1), run(), margin=0.0).models
    assert wide.false_alarm is not None
    assert wide.false_alarm < 0.001
    assert tight.false_alarm == pytest.approx(0.95)
    assert gate(run(turn=1), run()).models[0].false_alarm is None


def test_a_run_that_was_stopped_is_refused() -> None:
    with pytest.raises(UsageError, match="--until"):
        gate(run(look=1), run())


def made(q: int, answer: str) -> MadeFrom:
    """Return what the judgment of an answer was made from."""
    return MadeFrom(question=str(q), conversation=f"{q} {answer}", template="t")


def scores_of(path: Path) -> Scores:
    """Return the verdicts of a file."""
    return read(bench.load("mt_bench", path.parent), files=[path])


def judged(
    folder: Path, name: str, model: str, answer: str, shift: float = 0, questions: int = 12
) -> Panel:
    """Return a run in a file: grades of one answer to each question, by a judge with a shift."""
    path = folder / f"{name}.jsonl"
    with store.Writer(path, Judgment) as writer:
        for q in range(questions):
            noise = NOISE[(q + len(answer)) % 12]
            row = grade(q, model, 5 + noise + shift, made_from=made(q, answer), judgment=name)
            writer.append(row)
    (panel,) = panels(scores_of(path))
    return panel


def test_equal_answers_show_whether_the_judge_has_changed(tmp_path: Path) -> None:
    old = judged(tmp_path, "old", "m", "x")
    result = gate(judged(tmp_path, "new", "m", "x", 1), old, margin=0.5)
    assert result.drift.shift.value == 1
    assert result.models[0].difference.value == 0  # the answers are the same
    assert result.wants_anchors
    assert "the judge has changed" in result.faults[0]
    copied = gate(judged(tmp_path, "old", "m", "x"), old, margin=0.5)
    assert copied.passes
    assert not copied.drift.known


def test_anchors_take_the_shift_of_the_judge_out(tmp_path: Path) -> None:
    old = judged(tmp_path, "old", "m", "x")
    new = judged(tmp_path, "new", "n", "yy", -1)
    anchors = judged(tmp_path, "anchors", "m", "x", -1)
    assert gate(new, old).models[0].difference.value == -1
    result = gate(new, old, anchors=anchors)
    assert result.drift.anchored
    assert result.models[0].difference.value == pytest.approx(0)
    few = gate(new, old, anchors=judged(tmp_path, "few", "m", "x", -1, questions=4))
    assert few.faults[-1] == "anchors on only 4 questions; 5 are needed"


def test_another_snapshot_behind_the_judge_s_name_asks_for_anchors(tmp_path: Path) -> None:
    runs = []
    for name, snapshot in (("old", "gpt-4-0613"), ("new", "gpt-4-1106")):
        path = tmp_path / f"{name}.jsonl"
        with store.Writer(path, Judgment) as writer:
            for q in range(12):
                detail = Detail(provider_model=snapshot)
                made_from = made(q, name)
                writer.append(grade(q, "m", 6 + NOISE[q], made_from=made_from, details=[detail]))
        (panel,) = panels(scores_of(path))
        runs.append(panel)
    old, new = runs
    result = gate(new, old)
    assert result.wants_anchors
    assert "gpt-4 is gpt-4-1106, and was gpt-4-0613" in result.faults[0]
    assert gate(new, old, allow=["snapshot"]).passes
