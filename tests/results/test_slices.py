"""Where a model is worse than elsewhere."""

import numpy as np

from harness.results.slices import Differences, Slice, worst_slice
from harness.types import Question

QUESTIONS: dict[int | str, Question] = {
    q: Question(
        question_id=q,
        category="coding" if q < 10 else "writing" if q < 40 else "math",
        turns=["x" * (q % 7 + 1)],
        extra={"tags": ["odd" if q % 2 else "even"]},
    )
    for q in range(60)
}


def differences(coding: float = 0, turn_2: float = 0) -> Differences:
    """Return noise in two turns, with less in one category or turn."""
    noise = np.random.default_rng(3).normal(0, 1, (60, 2))
    return {
        q: {1: a - (coding if q < 10 else 0), 2: b - turn_2 - (coding if q < 10 else 0)}
        for q, (a, b) in enumerate(noise.tolist())
    }


def test_the_slice_that_stands_out_is_named() -> None:
    worst = worst_slice(differences(coding=3), QUESTIONS)
    assert worst is not None
    assert (worst.slice, worst.questions, worst.stands_out) == (
        Slice("category", "coding"),
        10,
        True,
    )
    assert worst.p < 0.01
    assert worst.interval.low < 3 < worst.interval.high


def test_a_turn_is_a_slice() -> None:
    worst = worst_slice(differences(turn_2=2), QUESTIONS)
    assert worst is not None
    assert str(worst.slice) == "turn 2"
    assert worst.stands_out


def test_nothing_stands_out_of_noise_or_of_equal_numbers() -> None:
    worst = worst_slice(differences(), QUESTIONS)
    assert worst is not None
    assert not worst.stands_out
    assert worst_slice({q: {1: 0.0} for q in range(60)}, QUESTIONS) is None
    assert worst_slice({q: {1: 0.0} for q in range(4)}, QUESTIONS) is None
