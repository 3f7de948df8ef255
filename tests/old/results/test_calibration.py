"""How stated confidences fit."""

import numpy as np
import pytest

from harness.old.results.calibration import calibration


def test_calibration_of_the_worked_line() -> None:
    found = calibration(np.array([0.9, 0.9, 0.9, 0.2, np.nan]), np.array([1.0, 1, 0, 0, 1]), np.arange(5))
    assert found.brier.value == pytest.approx(0.2175)
    assert found.ece == pytest.approx(0.225)
    assert found.n == 4
    assert [(b["from"], b["n"]) for b in found.bins] == [(0.2, 1), (0.9, 3)]


def test_full_confidence_falls_into_the_last_bin_and_nothing_into_none() -> None:
    found = calibration(np.array([1.0, 1.0]), np.array([1.0, 1.0]), np.arange(2))
    assert (found.ece, [b["to"] for b in found.bins]) == (0.0, [1.0])
    assert calibration(np.array([]), np.array([]), np.array([], dtype=np.int64)).ece is None
