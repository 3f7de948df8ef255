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
    (rates,) = facts(scores)
    assert is_facts(scores)
    assert (rates.correct.value, rates.wrong.value, rates.not_tried.value) == (0.5, 0.3, 0.2)
    assert (rates.of_tried.value, rates.f1.value) == pytest.approx((0.625, 100 / 180))
    assert rates.correct.interval == pytest.approx((0.402, 0.598), abs=2e-3)
    assert rates.of_tried.n == 80
    assert (rates.confidence.n, rates.calibration_error) == (0, None)


def test_confidence_is_compared_with_being_right_on_tried_answers() -> None:
    rows = [
        *(labelled(q, "CORRECT" if q < 6 else "INCORRECT", 0.9) for q in range(8)),
        labelled(8, "NOT_ATTEMPTED", 0.1),
        labelled(9, "CORRECT"),
        labelled(10, None),
    ]
    (rates,) = facts(of_rows(rows))
    assert (rates.confidence.value, rates.right.value) == pytest.approx((0.9, 0.75))
    assert rates.calibration_error == pytest.approx(0.15)
    assert rates.correct.count == 10


def test_other_labels_are_no_facts() -> None:
    assert not is_facts(of_rows([grade(1, "m", -1, label="good", share=1.0)]))
