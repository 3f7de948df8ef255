"""Whether a stated confidence means anything: of the answers given with 80% confidence, are 80% right?

    Brier score = mean of (p - y)^2                             p: stated confidence from 0 to 1, y: 1 if right, else 0
    ECE = sum over bins of n_b / n * |mean y - mean p in b|     ten bins of equal width, [0, 0.1), ..., [0.9, 1]

Confidences 0.9, 0.9, 0.9, 0.2 for right, right, wrong, wrong: Brier (0.01 + 0.01 + 0.81 + 0.04) / 4 = 0.2175;
ECE = 3/4 * |0.667 - 0.9| + 1/4 * |0 - 0.2| = 0.225. 0 is best in both; one half throughout has Brier 0.25.

Only answers that were attempted, judged, and have a confidence count; the others are counted as left out. ECE has
no interval: it is biased upwards if a bin has few answers, so read it together with the bins.

Sources: Brier 1950; Naeini, Cooper and Hauskrecht 2015, Obtaining Well Calibrated Probabilities Using Bayesian Binning.
"""

from dataclasses import dataclass
from typing import Unpack

import numpy as np

from harness.old.results.matrix import Floats, Ints
from harness.old.results.statistics.bootstrap import Estimate, Resampling, estimates
from harness.old.results.table import Row

BINS = 10


@dataclass(frozen=True, slots=True)
class Calibration:
    """How one model's confidence fits its being right."""

    n: int
    """Answers that count."""
    ece: float | None
    """None where no answer counts."""
    brier: Estimate
    bins: list[Row]
    """Those that hold an answer, from the least confident: `from` and `to` which confidence, `n` answers, their mean
    `confidence`, and the share that is right (`accuracy`)."""


def calibration(
    confidence: Floats,
    correct: Floats,
    question: Ints,
    **how: Unpack[Resampling],
) -> Calibration:
    """Return how confidences fit.

    Args:
        confidence: for each attempted answer its confidence from 0 to 1; NaN where it states none.
        correct: for each, 1 if it is right, else 0.
        question: for each, the number of its question; questions are resampled.
        how: how questions are resampled.
    """
    usable = np.isfinite(confidence) & (confidence >= 0) & (confidence <= 1)
    p, y = confidence[usable], correct[usable]
    _, place = np.unique(question[usable], return_inverse=True)
    size = int(place.max(initial=-1)) + 1
    loss = np.bincount(place, (p - y) ** 2, minlength=size).astype(np.float64)[:, None]
    count = np.bincount(place, minlength=size).astype(np.float64)[:, None]
    brier = estimates(loss, count, [None] * size, **how, bounds=(0.0, 1.0))[0]
    bins = _bins(p, y)
    error = sum(b["n"] * abs(b["accuracy"] - b["confidence"]) for b in bins) / len(p) if len(p) else None
    return Calibration(len(p), error, brier, bins)


def _bins(p: Floats, y: Floats) -> list[Row]:
    place = np.minimum((p * BINS).astype(np.int64), BINS - 1)
    found = []
    for number in np.unique(place).tolist():
        own = place == number
        means = {"confidence": float(p[own].mean()), "accuracy": float(y[own].mean())}
        found.append({"from": number / BINS, "to": (number + 1) / BINS, "n": int(own.sum()), **means})
    return found
