"""What `builtin/overlap` counts in an answer: features from 0 (worst) to 1 (best), and deductions that multiply.

A worked line: the reference ends in "so 84 days", the question says nothing of 84, and the answer has it: `results`
is 1.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.old.chat.builtin.tokens import content_words, count_words, is_chinese, numbers, words
from harness.old.records import Facts

LONG_CATEGORIES = frozenset({"writing", "roleplay", "stem", "humanities"})
LONG, SHORT = 260, 110
"""Words of an answer that is long enough, in the categories that ask for prose and in the others."""


@dataclass(frozen=True, slots=True)
class Feature:
    """One figure that was counted in an answer."""

    name: str
    value: float
    weight: float | None
    """How much it counts in the mean; None for a deduction, which the mean is multiplied by."""
    remark: str
    """The figures behind it. Never a word of the answer."""


def features(facts: Facts, turns: Sequence[str]) -> Iterator[Feature]:
    """Yield every feature of one shown conversation that applies to the turn that is judged."""
    question, answer = facts.question.turns[facts.turn - 1], turns[facts.turn - 1]
    reference = facts.reference[facts.turn - 1] if facts.reference and len(facts.reference) >= facts.turn else ""
    if reference:
        yield from _agreement(answer, reference, question)
    yield from _checks(facts, turns)
    yield _length(answer, reference, facts)
    yield _variety(answer, reference)
    yield from _deductions(answer, question)


def _agreement(answer: str, reference: str, question: str) -> Iterator[Feature]:
    """Yield the F1 of the content words, and how many of the numbers that the reference adds to the question."""
    mine, theirs = Counter(content_words(answer)), Counter(content_words(reference))
    shared = (mine & theirs).total()
    precision, recall = shared / max(mine.total(), 1), shared / max(theirs.total(), 1)
    f1 = 2 * precision * recall / (precision + recall) if shared else 0.0
    yield Feature("words of the reference", f1, 1, f"precision {precision:.2f}, recall {recall:.2f}")
    results = set(numbers(reference)) - set(numbers(question))
    if results:
        hit = len(results & set(numbers(answer)))
        remark = f"{hit} of {len(results)} numbers that the question does not give"
        yield Feature("results of the reference", hit / len(results), 2, remark)


def _checks(facts: Facts, turns: Sequence[str]) -> Iterator[Feature]:
    """Yield how many of the turn's checks the answer meets; those that would run its code are left out."""
    from harness.old.checks import Conversation
    from harness.old.checks.check import Passage

    conversation = Conversation(facts.question.turns[: facts.turn], tuple(turns[: facts.turn - 1]))
    passage = Passage.whole(turns[facts.turn - 1], conversation)
    found = [met for check in facts.question.checks_of(facts.turn) if (met := check.outcome(passage).met) is not None]
    if found:
        yield Feature("checks", sum(found) / len(found), 2, f"{sum(found)} of {len(found)} met")


def _length(answer: str, reference: str, facts: Facts) -> Feature:
    """Return how well the length suits the question.

    It is the cube of log(words) / log(enough), since twenty words of the eighty that are enough should count a third
    and not two thirds; beyond four times of what is enough it falls slowly.
    """
    enough, count = _enough(reference, facts), count_words(answer)
    value = min(1.0, math.log1p(count) / math.log1p(enough))
    if count > 4 * enough:
        value = max(0.5, 1 - 0.25 * math.log2(count / (4 * enough)))
    # A reference says more about an answer than its length does.
    return Feature("length", value**3, 1 if reference else 3, f"{count} words, {enough} are enough")


def _enough(reference: str, facts: Facts) -> int:
    """Return how many words are enough: by a check that counts them, else the reference's, else by the category."""
    from harness.old.checks.counts import Count

    for check in facts.question.checks_of(facts.turn):
        if isinstance(check, Count) and check.of == "words" and not check.within and check.each is None:
            least, most = check.limits()
            return max(4, least or round(0.8 * (most or 0)))
    if reference:
        return max(12, min(LONG, count_words(reference)))
    return LONG if facts.question.category in LONG_CATEGORIES else SHORT


def _variety(answer: str, reference: str) -> Feature:
    """Return how many different content words an answer has, by the logarithm, up to 150 or the reference's."""
    kinds = len(set(content_words(answer)))
    enough = min(150, max(5, len(set(content_words(reference))))) if reference else 150
    return Feature("variety", min(1.0, math.log1p(kinds) / math.log1p(enough)), 1, f"{kinds} different content words")


def _deductions(answer: str, question: str) -> Iterator[Feature]:
    """Yield a factor for the same four words again and again, and one for word triples of the question."""
    step = words(answer)
    if len(step) >= 24:
        grams = list(zip(step, step[1:], step[2:], step[3:], strict=False))
        again, allowed = 1 - len(set(grams)) / len(grams), 0.35 if is_chinese(answer) or "```" in answer else 0.15
        if again > allowed:
            yield Feature("repetition", max(0.2, 1 - 1.2 * (again - allowed)), None, f"{again:.2f} of it said before")
    mine, theirs = (set(zip(said, said[1:], said[2:], strict=False)) for said in (step, words(question)))
    echoed = len(mine & theirs) / len(mine) if len(mine) >= 8 else 0.0
    if echoed > 0.3:
        yield Feature("echo", 1.3 - echoed, None, f"{echoed:.2f} of its word triples are in the question")
