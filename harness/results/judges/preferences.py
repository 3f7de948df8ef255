"""Grades of single answers -> which of two answers to one question a judge prefers, to compare with votes on pairs.

    preferred = the answer with the higher grade; equal grades are a tie

Question 1: x 8, y 6, z 8. Three preferences: x over y, z over y, x and z a tie. A grade that a judge did not give makes
no preference. Repeats of a grade count as their mean.

Source: Zheng et al. 2023 (arXiv 2306.05685), Table 5, "GPT-4 Single".
"""

from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations

from harness.records import Comparison, Origin, QuestionId, Rating
from harness.results.reading.columns import Comparisons, Ratings
from harness.results.reading.read import Read


def as_preferences(read: Read) -> Read:
    """Return the same file with its grades as pairs."""
    return Read(Ratings(), Comparisons.of(_preferences(read.ratings)), read.replaced)


def _preferences(ratings: Ratings) -> Iterator[Comparison]:
    graded: dict[tuple[QuestionId, int, Origin], dict[str, list[Rating]]] = defaultdict(lambda: defaultdict(list))
    for rating in ratings:
        if rating.score is not None:
            graded[rating.question_id, rating.turn, rating.origin][rating.model].append(rating)
    for (question, turn, origin), models in graded.items():
        means = {m: sum(r.score or 0.0 for r in own) / len(own) for m, own in models.items()}
        for one, other in combinations(sorted(means), 2):
            gap = means[one] - means[other]
            winner = "model_1" if gap > 0 else "model_2" if gap < 0 else "tie"
            first = models[one][0]
            yield Comparison(
                question, turn, one, other, (winner,), origin,
                template=first.template, question_content=first.question_content,
            )  # fmt: skip
