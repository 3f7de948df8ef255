"""Short facts: how many answers are right, wrong and not tried, and what confidence was stated.

    labels CORRECT (C), INCORRECT (I), NOT_ATTEMPTED (N)
    correct = C/(C + I + N)     of tried = C/(C + I)     F1 = 2 C/(2 (C + I) + N)

50, 30 and 20: correct 0.5, of tried 0.625, F1 100/180 = 0.556, the harmonic mean of the two.

Confidence is compared with being right on the answers that were tried and state one: its mean, the
share that is right, and the expected calibration error: over ten bins of confidence, the mean
distance of the two, weighted by the answers in each.

Sources: Wei et al. 2024 (arXiv:2411.04368) for the rates; Naeini et al. 2015 for the error.
"""

from dataclasses import dataclass

import numpy as np

from harness.results.estimate import Estimate, Floats, ratio
from harness.results.scores import CONFIDENCE, Scores

CORRECT, INCORRECT, NOT_ATTEMPTED = FACTS = ("CORRECT", "INCORRECT", "NOT_ATTEMPTED")
BINS = 10


@dataclass(frozen=True, eq=False)
class Facts:
    """One model's answers to questions of fact; shares from 0 to 1."""

    model: str
    correct: Estimate
    wrong: Estimate
    not_tried: Estimate
    of_tried: Estimate
    f1: Estimate
    confidence: Estimate
    """The mean confidence of tried answers that state one."""
    right: Estimate
    """The share of these that is right."""
    calibration_error: float | None


def is_facts(scores: Scores) -> bool:
    """Return whether the labels of these scores are those of short facts."""
    return CORRECT in scores.metrics and INCORRECT in scores.metrics


def facts(scores: Scores) -> list[Facts]:
    """Return the rates of each model, the most correct first."""
    size = (len(scores.models), len(scores.questions), int(scores.turn.max(initial=0)) + 1)

    def table(name: str) -> Floats:
        """Return a metric by model, question and turn; NaN: none."""
        table = np.full(size, np.nan)
        if name in scores.metrics:
            entries = scores.of(metric=name)
            table[entries.model, entries.question, entries.turn] = entries.value
        return table

    labelled = ~np.isnan(table(CORRECT))
    right, wrong, skipped = (np.nan_to_num(table(name)) for name in FACTS)
    confidence = table(CONFIDENCE)
    stated = (right + wrong > 0) & ~np.isnan(confidence)
    rows = []
    for at in np.flatnonzero(labelled.any(axis=(1, 2))).tolist():
        judged = labelled[at].sum(axis=1)
        r, w, s = (part[at].sum(axis=1) for part in (right, wrong, skipped))
        which, n = stated[at], stated[at].sum(axis=1)
        sure, is_right = (np.where(which, part[at], 0).sum(axis=1) for part in (confidence, right))
        gaps = confidence[at][which] - right[at][which]
        bins = np.minimum((confidence[at][which] * BINS).astype(np.int64), BINS - 1)
        rows.append(
            Facts(
                scores.models[at],
                ratio(r, judged, share=True),
                ratio(w, judged, share=True),
                ratio(s, judged, share=True),
                ratio(r, r + w, share=True),
                ratio(2 * r, judged + r + w, share=True),
                ratio(sure, n, share=True),
                ratio(is_right, n, share=True),
                float(np.abs(np.bincount(bins, gaps)).sum() / len(gaps)) if len(gaps) else None,
            )
        )
    return sorted(rows, key=lambda row: -row.correct.value)
