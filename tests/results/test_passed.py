"""Several conversations of a question: pass^j, and what their verdicts vary by."""

from typing import Any

import numpy as np
import pytest

from harness.results import of_rows
from harness.results.passed import each_time, passes, spread, spread_of
from harness.results.summarize import conversations
from harness.types import Measurement
from tests.results.rows import grade


def checked(q: int, choice: int, *outcomes: bool | None, turn: int = 1) -> Measurement:
    """Return what became of a turn's checks."""
    decided = [outcome for outcome in outcomes if outcome is not None]
    values: dict[str, float | None] = {"strict_all": float(all(decided))} if decided else {}
    checks: list[dict[str, Any]] = [{"strict": outcome} for outcome in outcomes]
    return Measurement(
        question_id=q,
        turn=turn,
        model="m",
        choice=choice,
        metric="checks",
        value=1.0,
        values=values,
        checks=checks,
    )


def test_the_worked_line() -> None:
    rows = [checked(1, choice, choice < 3) for choice in range(4)]
    shares = each_time(passes(of_rows(rows)), "m")
    assert [share.value for share in shares] == pytest.approx([0.75, 0.5, 0.25, 0])


def test_a_conversation_passes_with_each_of_its_turns() -> None:
    rows = [checked(1, 0, True), checked(1, 0, False, turn=2), checked(2, 0, True)]
    rows += [checked(2, 0, True, True, turn=2)]
    assert passes(of_rows(rows)).value.tolist() == [0, 1]


def test_every_time_is_of_the_questions_with_so_many_conversations() -> None:
    rows = [checked(1, 0, True), checked(2, 0, True), checked(2, 1, True)]
    assert [share.n for share in each_time(passes(of_rows(rows)), "m")] == [2, 1]


@pytest.mark.parametrize("repeats", [1, 3])
def test_components_are_found_again(repeats: int) -> None:
    rng = np.random.default_rng(1)
    questions, each = 3000, 3
    question = np.repeat(np.arange(questions), each * repeats)
    conversation = np.repeat(np.arange(questions * each), repeats)
    values = 5 + 2 * rng.normal(size=questions)[question]
    values += rng.normal(size=questions * each)[conversation] + rng.normal(size=len(question)) / 2
    lost = rng.random(len(values)) < 0.1
    kept, places = np.unique(conversation[~lost], return_inverse=True)
    found = spread(values[~lost], np.unique(question[~lost], return_inverse=True)[1], places)
    assert found is not None
    assert len(kept) <= questions * each
    assert found.question == pytest.approx(4, rel=0.1)
    if repeats == 1:
        assert found.judge is None
        assert found.conversation == pytest.approx(1.25, rel=0.1)
    else:
        assert found.judge == pytest.approx(0.25, rel=0.1)
        assert found.conversation == pytest.approx(1, rel=0.1)


def test_a_negative_component_is_zero_and_one_conversation_has_none() -> None:
    rows = [grade(q, "m", score, choice=at) for q in range(6) for at, score in enumerate((3, 7))]
    found = spread_of(conversations(of_rows(rows), "mean"), "m")
    assert found is not None
    assert (found.question, found.conversation) == (0, 8)
    assert found.narrower(conversations=1) == pytest.approx(1 - (2 / 3) ** 0.5)
    assert spread_of(conversations(of_rows(rows[::2]), "mean"), "m") is None
