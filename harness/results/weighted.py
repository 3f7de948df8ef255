"""Win rates in which a clear win counts more, as Arena-Hard counts verdicts of five steps.

Σ w·x / Σ w over all games of a model, x of a game 1, 0.5 or 0, w 3 where an answer was much better
and 1 elsewhere (`label_to_score` of its `show_result.py`); a ratio by question, from which the
interval follows. A pair of which a game has no verdict counts in neither.
"""

from collections import defaultdict
from collections.abc import Mapping

import numpy as np

from harness.results.estimate import Estimate, ratio
from harness.results.reading import whole_rows
from harness.results.scores import Scores
from harness.types import Judgment


def weighted_rates(scores: Scores) -> Mapping[str, Estimate]:
    """Return the weighted win rate of each model, if the verdicts have weights; else nothing."""
    if not any(source.method.startswith("steps") for source in scores.sources_present.values()):
        return {}
    places = {question.question_id: at for at, question in enumerate(scores.questions)}
    sums: dict[str, np.ndarray] = defaultdict(lambda: np.zeros((2, len(places))))
    for _, row in whole_rows(scores):
        if not isinstance(row, Judgment) or row.failed or row.question_id not in places:
            continue
        at, (first, second) = places[row.question_id], row.models
        winners = ((row.g1_winner, row.g1_weight), (row.g2_winner, row.g2_weight))
        weights = [weight or 1.0 for winner, weight in winners if winner is not None]
        for share, weight in zip(row.games, weights, strict=True):
            assert share is not None
            sums[first][:, at] += share * weight, weight
            sums[second][:, at] += (1 - share) * weight, weight
    return {model: ratio(*columns, share=True) for model, columns in sums.items()}
