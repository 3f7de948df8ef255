"""`builtin/overlap`: a judge that needs no model, because it only counts.

    score = product of the deductions x sum(weight x share) / sum(weight)

over the features of `harness.old.judging.features`. With shares 0.80 (weight 3) and 0.40 (weight 1) and no deduction the
score is 0.70, which on the scale 1 to 10 is the grade 1 + 9 x 0.70 = 7.3, written as 7.
"""

import math
from collections.abc import Sequence

from harness.old.judging.builtin import NOTICE
from harness.old.judging.features import Feature, features
from harness.old.records import Facts

_WORDS = {
    "[[rating]]": "Rating: [[{}]]",
    "grade": "Rating: [[{}]]",  # by whichever criterion: it counts the same for each
    "[[A]]": "[[{winner}]]",
    "[[rating_a,rating_b]]": "[[{},{}]]",
    "two_scores": "{} {}",
}
"""By format, how grades or a winner are written."""
FORMATS = tuple(_WORDS)
TIE_BELOW = 0.025
"""Two scores that differ by less than this are a tie."""


def assess(facts: Facts, turns: Sequence[str]) -> tuple[Feature, ...]:
    """Return what is counted in one shown conversation for the turn that is judged; an empty answer scores 0."""
    if len(turns) < facts.turn or not turns[facts.turn - 1].strip():
        return (Feature("emptiness", 0.0, None, "there is no answer"),)
    return tuple(features(facts, turns))


def score(found: Sequence[Feature]) -> float:
    """Return the weighted mean of the features times the deductions."""
    total = math.fsum(feature.weight or 0 for feature in found)
    mean = math.fsum((feature.weight or 0) * feature.value for feature in found) / total if total else 0.0
    return mean * math.prod(feature.value for feature in found if feature.weight is None)


def judge(facts: Facts) -> str:
    """Return the text of a judgment: the numbers, then the verdict on the last line."""
    shown = [assess(facts, turns) for turns in facts.answers]
    scores = [score(found) for found in shown]
    headings = ("The answer",) if len(shown) == 1 else ("Answer A", "Answer B")
    parts = [NOTICE, *map(_explained, headings, shown, scores)]
    if facts.verdict_format == "[[A]]":
        parts.append(f"The scores differ by {abs(scores[0] - scores[1]):.3f}; below {TIE_BELOW:g} is a tie.")
    grades = [grade(own, facts.scale) for own in scores]
    verdict = _WORDS[facts.verdict_format].format(*grades, winner=winner(scores[0], scores[-1]))
    return "\n\n".join([*parts, verdict])


def _explained(heading: str, found: Sequence[Feature], result: float) -> str:
    lines = [f"{heading}: score {result:.3f}"]
    for feature in found:
        counts = "times" if feature.weight is None else f"weight {feature.weight:g}"
        lines.append(f"- {feature.name}: {feature.value:.2f}, {counts} ({feature.remark})")
    return "\n".join(lines)


def winner(first: float, second: float) -> str:
    """Return A, B or, for a tie, C."""
    if abs(first - second) < TIE_BELOW:
        return "C"
    return "A" if first > second else "B"


def grade(score: float, scale: tuple[float, float]) -> str:
    """Return a score from 0 to 1 as a grade: in whole numbers, or in tenths on a scale shorter than four."""
    least, greatest = scale
    value = least + (greatest - least) * min(1.0, max(0.0, score))
    if greatest - least >= 4:
        return f"{min(math.floor(greatest), max(math.ceil(least), math.floor(value + 0.5)))}"
    return f"{min(greatest, max(least, round(value, 1))):g}"
