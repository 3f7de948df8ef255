"""What `builtin/overlap` counts: features from 0 to 1, and deductions that multiply.

    score = product of the deductions × Σ weight · share / Σ weight

With shares 0.80 (weight 3) and 0.40 (weight 1) and no deduction the score is 0.70, which from 1 to
10 is the grade 1 + 9 × 0.70 = 7.3, written as 7.
"""

import decimal
import functools
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from harness import registry
from harness.models.builtin_text import HAN, STOP_WORDS, is_chinese, words
from harness.types import Facts

NOTICE = (
    "Scores of builtin/overlap are counts of words, numbers and checks: "
    "they are for trying the harness out, not for judging models."
)
TIE_BELOW = 0.025
"""Two scores that differ by less are a tie."""
LONG_CATEGORIES = frozenset({"writing", "roleplay", "stem", "humanities"})
LONG, SHORT = 260, 110
"""Words of an answer that is long enough, in the categories that ask for prose and in others."""


class Feature(NamedTuple):
    """One figure that was counted in an answer."""

    name: str
    value: float
    weight: float | None
    """How much it counts in the mean; None for a deduction, which multiplies the mean."""
    remark: str
    """The figures behind it; never a word of the answer."""


def judge(facts: Facts) -> tuple[str, str, list[str]]:
    """Return the figures behind a verdict, the better of two ("A", "B", "tie"), and the grades."""
    features = [_features(facts, turns) for turns in facts.answers]
    scores = list(map(score, features))
    headings = ("The answer",) if len(scores) == 1 else ("Answer A", "Answer B")
    parts = [NOTICE, *map(_explained, headings, features, scores)]
    gap = abs(scores[0] - scores[-1])
    if facts.form == "[[A]]":
        parts.append(f"The scores differ by {gap:.3f}; below {TIE_BELOW:g} is a tie.")
    side = "tie" if gap < TIE_BELOW else "A" if scores[0] > scores[-1] else "B"
    return "\n\n".join(parts), side, [grade(value, facts.scale) for value in scores]


def score(features: Sequence[Feature]) -> float:
    """Return the weighted mean of the features times the deductions."""
    total = math.fsum(feature.weight or 0 for feature in features)
    mean = math.fsum((feature.weight or 0) * feature.value for feature in features) / (total or 1)
    return mean * math.prod(feature.value for feature in features if feature.weight is None)


def grade(score: float, scale: tuple[float, float]) -> str:
    """Return a score as a grade: a whole number, or in tenths on a scale shorter than four."""
    least, greatest = scale
    value = least + (greatest - least) * min(1.0, max(0.0, score))
    if greatest - least >= 4:
        return f"{min(math.floor(greatest), max(math.ceil(least), math.floor(value + 0.5)))}"
    return f"{min(greatest, max(least, round(value, 1))):g}"


def _explained(heading: str, features: Sequence[Feature], result: float) -> str:
    lines = [f"{heading}: score {result:.3f}"]
    for name, value, weight, remark in features:
        counts = "times" if weight is None else f"weight {weight:g}"
        lines.append(f"- {name}: {value:.2f}, {counts} ({remark})")
    return "\n".join(lines)


def _features(facts: Facts, turns: Sequence[str]) -> list[Feature]:
    """Return every feature of one conversation that applies to the judged turn."""
    at = facts.turn - 1
    if len(turns) < facts.turn or not turns[at].strip():
        return [Feature("emptiness", 0.0, None, "there is no answer")]
    question, answer = facts.question.turns[at], turns[at]
    reference = "".join((facts.reference or [])[at : at + 1])
    return [
        *(_agreement(answer, reference, question) if reference else ()),
        *_checks(facts, turns),
        _length(answer, reference, facts),
        _variety(answer, reference),
        *_deductions(answer, question),
    ]


def _agreement(answer: str, reference: str, question: str) -> Iterator[Feature]:
    """Yield the F1 of the content words, and how many of the reference's own numbers are there."""
    words, expected = Counter(content_words(answer)), Counter(content_words(reference))
    shared = (words & expected).total()
    precision, recall = shared / max(words.total(), 1), shared / max(expected.total(), 1)
    f1 = 2 * precision * recall / (precision + recall) if shared else 0.0
    remark = f"precision {precision:.2f}, recall {recall:.2f}"
    yield Feature("words of the reference", f1, 1, remark)
    results = set(numbers(reference)) - set(numbers(question))
    if results:
        hit = len(results & set(numbers(answer)))
        remark = f"{hit} of {len(results)} numbers that the question does not give"
        yield Feature("results of the reference", hit / len(results), 2, remark)


def _specs(facts: Facts) -> list[dict[str, Any]]:
    return facts.question.checks[facts.turn - 1] if facts.question.checks else []


def _checks(facts: Facts, turns: Sequence[str]) -> Iterator[Feature]:
    """Yield how many of the turn's checks pass; those that would run its code are left out."""
    specs = _specs(facts)
    if not specs:
        return
    *earlier, answer = turns[: facts.turn]
    questions = facts.question.turns[: facts.turn]
    check = registry.find("check", "turn")
    verdicts = check(answer, specs, questions=questions, earlier=earlier)
    passed = [v.outcome.passed for v in verdicts if v.outcome.passed is not None]
    if passed:
        remark = f"{sum(passed)} of {len(passed)} met"
        yield Feature("checks", sum(passed) / len(passed), 2, remark)


def _length(answer: str, reference: str, facts: Facts) -> Feature:
    """Return how well the length suits: the cube of log(words) / log(enough), at most 1.

    A cube, since twenty words of the eighty that are enough should count a third and not two
    thirds; beyond four times of what is enough it falls slowly.
    """
    enough, count = _enough(reference, facts), count_words(answer)
    value = min(1.0, math.log1p(count) / math.log1p(enough))
    if count > 4 * enough:
        value = max(0.5, 1 - 0.25 * math.log2(count / (4 * enough)))
    # A reference says more about an answer than its length does.
    return Feature("length", value**3, 1 if reference else 3, f"{count} words, {enough} are enough")


def _enough(reference: str, facts: Facts) -> int:
    """Return how many words are enough: by a check that counts them, a reference, the category."""
    for spec in _specs(facts):
        plain = not spec.get("in") and spec.get("each") is None
        if spec.get("kind") == "count" and spec.get("of") in ("word", "words") and plain:
            between = spec.get("between") or (spec.get("at_least"), spec.get("at_most"))
            exactly = spec.get("exactly")
            least, most = between if exactly is None else (exactly, exactly)
            return max(4, least or round(0.8 * (most or 0)))
    if reference:
        return max(12, min(LONG, count_words(reference)))
    return LONG if facts.question.category in LONG_CATEGORIES else SHORT


def _variety(answer: str, reference: str) -> Feature:
    """Return how many different content words there are, by the logarithm, up to what is enough."""
    kinds = len(set(content_words(answer)))
    enough = min(150, max(5, len(set(content_words(reference))))) if reference else 150
    value = min(1.0, math.log1p(kinds) / math.log1p(enough))
    return Feature("variety", value, 1, f"{kinds} different content words")


def _deductions(answer: str, question: str) -> Iterator[Feature]:
    """Yield a factor for the same four words again, and one for word triples of the question."""
    grams = _grams(answer, 4)
    if len(grams) >= 21:
        again = 1 - len(set(grams)) / len(grams)
        allowed = 0.35 if is_chinese(answer) or "```" in answer else 0.15
        if again > allowed:
            value = max(0.2, 1 - 1.2 * (again - allowed))
            yield Feature("repetition", value, None, f"{again:.2f} of it said before")
    triples = set(_grams(answer, 3))
    echoed = len(triples & set(_grams(question, 3))) / len(triples) if len(triples) >= 8 else 0.0
    if echoed > 0.3:
        remark = f"{echoed:.2f} of its word triples are in the question"
        yield Feature("echo", 1.3 - echoed, None, remark)


def _grams(text: str, size: int) -> list[tuple[str, ...]]:
    """Return all runs of some words."""
    row = words(text)
    return list(zip(*(row[start:] for start in range(size)), strict=False))


# Words and numbers

_COUNTED = re.compile(rf"[{HAN}]|[^\W_{HAN}]+(?:(?:[-'\u2019.:/]|(?<=\d),(?=\d))[^\W_{HAN}]+)*")
_NUMBERS = re.compile(
    r"(?<![\w.])[-\u2212]?\d+(?:,\d{3})+(?:\.\d+)?|(?<![\w.])[-\u2212]?\d+(?:\.\d+)?"
)
_ENDINGS = (("ies", 3), ("ing", 4), ("ed", 4), ("ly", 4), ("es", 4), ("s", 4))


@functools.lru_cache(maxsize=8192)
def content_words(text: str) -> tuple[str, ...]:
    """Return the words that carry meaning, simple English endings taken off."""
    return tuple(stem(word) for word in words(text) if word not in STOP_WORDS)


@functools.lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Return a word without a plural or verb ending.

    >>> stem("loading") == stem("loads") == stem("load")
    True
    """
    word = word.removesuffix("'s")
    if len(word) < 5 or not word.isascii() or not word.isalpha():
        plural = len(word) == 4 and word.endswith("s") and not word.endswith("ss")
        return word[:-1] if plural else word
    for ending, least in _ENDINGS:
        fits = word.endswith(ending) and len(word) - len(ending) >= least
        if fits and not word.endswith("ss"):
            word = word.removesuffix(ending)
            break
    return word[:-1] if len(word) > 4 and word[-1] in "ey" else word


def count_words(text: str) -> int:
    """Return the words as a writer counts them: `twenty-five` is one, a Han character is one."""
    return len(_COUNTED.findall(text))


def numbers(text: str) -> list[str]:
    """Return the numbers in digits, without thousands commas and needless zeros: 1780.5."""
    digits = (number.replace(",", "").replace("\u2212", "-") for number in _NUMBERS.findall(text))
    return [f"{decimal.Decimal(number).normalize():f}" for number in digits]
