"""Short facts and stated confidence."""

import pytest

from harness.results import of_rows
from harness.results.facts import facts, is_facts
from harness.types import Judgment
from tests.results.rows import grade


def labelled(q: int, label: str | None, confidence: float | None = None) -> Judgment:
    share = None if label is None else float(label == "CORRECT")
    return grade(q, "m", -1, label=label, share=share, confidence=confidence)


def test_the_worked_line() -> None:
    labels = ["CORRECT"] * 50 + ["INCORRECT"] * 30 + ["NOT_ATTEMPTED"] * 20
    scores = of_rows([labelled(q, label) for q, label in enumerate(labels)])
    (own,) = facts(scores)
    assert is_facts(scores)
    assert (own.correct.value, own.wrong.value, own.not_tried.value) == (0.5, 0.3, 0.2)
    assert (own.of_tried.value, own.f1.value) == pytest.approx((0.625, 100 / 180))
    assert own.correct.interval == pytest.approx((0.402, 0.598), abs=2e-3)
    assert own.of_tried.n == 80
    assert (own.confidence.n, own.calibration_error) == (0, None)


def test_confidence_is_compared_with_being_right_on_tried_answers() -> None:
    rows = [
        *(labelled(q, "CORRECT" if q < 6 else "INCORRECT", 0.9) for q in range(8)),
        labelled(8, "NOT_ATTEMPTED", 0.1),
        labelled(9, "CORRECT"),
        labelled(10, None),
    ]
    (own,) = facts(of_rows(rows))
    assert (own.confidence.value, own.right.value) == pytest.approx((0.9, 0.75))
    assert own.calibration_error == pytest.approx(0.15)
    assert own.n == 10


def test_all_answers_wrong_are_0_percent_correct() -> None:
    scores = of_rows([labelled(q, "INCORRECT") for q in range(3)])
    (own,) = facts(scores)
    assert is_facts(scores)
    assert (own.correct.value, own.wrong.value, own.n) == (0, 1, 3)


def test_other_labels_are_no_facts() -> None:
    assert not is_facts(of_rows([grade(1, "m", -1, label="good", share=1.0)]))
