"""What `builtin/overlap` counts in an answer; each feature gives a share from 0 (worst) to 1 (best).

A worked line: the reference ends in "so 84 days", the question says nothing of 84, and the answer has it: `results`
is 1.
"""

import ast
import functools
import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harness.chat.builtin.tokens import (
    bullets,
    code_blocks,
    content_words,
    count_words,
    is_chinese,
    lines,
    numbers,
    sentences,
    stem,
    words,
)
from harness.chat.builtin.wordings import instructions_in_force
from harness.records import Facts

LONG_CATEGORIES = frozenset({"writing", "roleplay", "stem", "humanities"})
LONG, SHORT = 260, 110
"""Words of an answer that is long enough, in the categories that ask for prose and in the others."""

# Everyday words of questions: they say less about the subject than any other word.
_EVERYDAY = """
    answer ask because briefly change come consider describe detail different end example explain find first
    follow good help include instead know last list long look many mean name need new number part people
    question read right second see sentence show step tell thing think three time two way word work write year
"""
_COMMON = frozenset(stem(word) for word in _EVERYDAY.split())
_REFUSAL = re.compile(
    r"\b(?:i(?:'m| am) (?:sorry|unable|not able)|i (?:can(?:'t|not)|do(?:n't| not) (?:know|"
    r"have (?:access|enough)))|as an ai)\b"
    r"|很抱歉|我(?:无法|不能|不知道)|作为(?:一个)?(?:ai|人工智能)",
    re.IGNORECASE,
)
_REFERS_BACK = re.compile(
    r"\b(?:your|previous|earlier|above|again|same|instead|rewrite|revise|that|those|these|this|it|"
    r"them|now|also|more|first|second|"
    r"third|last)\b|刚才|上面|之前|你的|改|再|这",
    re.IGNORECASE,
)
_ASKS_CODE = re.compile(
    r"\b(?:write|implement|develop|create|fix|debug)\b.{0,80}\b(?:function|program|code|script|class|"
    r"query)\b|函数|代码",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Feature:
    """One share that was counted in an answer."""

    name: str
    value: float
    weight: float
    """How much it counts among the features of this question."""
    remark: str = ""
    """The figures behind it. Never a word of the answer."""


@dataclass(frozen=True, slots=True)
class Factor:
    """A deduction: the weighted mean of the features is multiplied by it."""

    name: str
    value: float
    remark: str = ""


def agreement(answer: str, reference: str, question: str) -> Iterable[Feature]:
    """Yield how far an answer says what the reference says: its words, its results, its code."""
    shared, precision, recall = _overlap(Counter(content_words(answer)), Counter(content_words(reference)))
    f1 = 2 * precision * recall / (precision + recall) if shared else 0.0
    yield Feature("words of the reference", f1, 3.0, f"precision {precision:.2f}, recall {recall:.2f}")
    wanted = _results(reference, question)
    if wanted:
        given = set(numbers(answer))
        hit = sum(weight for number, weight in wanted.items() if number in given)
        share = hit / sum(wanted.values())
        count = sum(1 for number in wanted if number in given)
        yield Feature(
            "results of the reference", share, 4.0, f"{count} of {len(wanted)} numbers that the question does not give"
        )
    theirs = code_blocks(reference)
    if theirs:
        names = Counter(_identifiers("\n".join(theirs)))
        mine = Counter(_identifiers("\n".join(code_blocks(answer)) or answer))
        shared, precision, recall = _overlap(mine, names)
        f1 = 2 * precision * recall / (precision + recall) if shared else 0.0
        yield Feature("code of the reference", f1, 1.0, f"identifiers: precision {precision:.2f}, recall {recall:.2f}")


@functools.lru_cache(maxsize=1024)
def _results(reference: str, question: str) -> dict[str, float]:
    """Return the numbers that the reference adds to the question; those of its last sentence count three times."""
    known = set(numbers(question))
    found = {number: 1.0 for number in numbers(reference) if number not in known}
    closing = sentences(reference)[-1:]
    for number in numbers(closing[0] if closing else ""):
        if number in found:
            found[number] = 3.0
    return found


def _overlap(left: Counter[str], right: Counter[str]) -> tuple[int, float, float]:
    """Return the shared count, and its share of the left and of the right."""
    shared = (left & right).total()
    return shared, shared / max(left.total(), 1), shared / max(right.total(), 1)


@functools.lru_cache(maxsize=4096)
def _identifiers(code: str) -> tuple[str, ...]:
    return tuple(re.findall(r"[A-Za-z_]\w+", code))


def coverage(answer: str, question: str, reference: str = "") -> Feature:
    """Return how much of what the question names comes up in the answer, rare words counting most.

    Half of the question's words is as much as a good answer repeats, or as much as the reference does; more is no
    better.
    """
    share = _covered(answer, question)
    enough = min(0.5, max(0.05, _covered(reference, question))) if reference else 0.5
    asked = _asked(question)
    found = len(asked.keys() & set(content_words(answer)))
    return Feature("coverage of the question", min(1.0, share / enough), 1.0, f"{found} of {len(asked)} content words")


def _covered(text: str, question: str) -> float:
    asked = _asked(question)
    total = sum(asked.values())
    said = set(content_words(text))
    return sum(weight for word, weight in asked.items() if word in said) / total if total else 1.0


@functools.lru_cache(maxsize=1024)
def _asked(question: str) -> dict[str, float]:
    """Return the question's content words with their weights: common ones a quarter, long ones and numbers more."""
    return {
        word: 0.25 if word in _COMMON else min(len(word), 10) / 5 if word.isascii() else 1.0
        for word in content_words(question)
    }


def obedience(answer: str, turns: Sequence[str]) -> Feature | None:
    """Return how far the countable instructions of the question are obeyed, or None if it has none."""
    wanted = instructions_in_force(turns)
    if not wanted:
        return None
    shares = [instruction.obeyed(answer) for instruction in wanted]
    remark = "; ".join(f"{instruction}: {share:.2f}" for instruction, share in zip(wanted, shares, strict=True))
    return Feature("countable instructions", sum(shares) / len(shares), 2.0, remark)


def length(answer: str, facts: Facts) -> Feature:
    """Return how well the length suits the question.

    It is the cube of log(words) / log(enough), since twenty words of the eighty that are enough should count a third
    and not two thirds; beyond four times of what is enough it falls slowly.
    """
    enough = _enough(facts)
    count = count_words(answer)
    value = min(1.0, math.log1p(count) / math.log1p(enough))
    if count > 4 * enough:
        value = max(0.5, 1 - 0.25 * math.log2(count / (4 * enough)))
    # A reference says more about an answer than its length does.
    weight = 1.0 if reference_of(facts) else 3.0
    return Feature("length", value**3, weight, f"{count} words, {enough} are enough")


def _enough(facts: Facts) -> int:
    turns = facts.question.turns[: facts.turn]
    bounds = [wanted for wanted in instructions_in_force(turns) if wanted.kind == "count" and wanted.each is None]
    for wanted in bounds:
        target = wanted.least or wanted.most or 0
        if wanted.unit in ("words", "sentences") and target:
            return max(4, round(target * (0.8 if wanted.unit == "words" else 12)))
    reference = reference_of(facts)
    if reference:
        return max(12, min(LONG, count_words(reference)))
    return LONG if facts.question.category in LONG_CATEGORIES else SHORT


def order(answer: str, question: str) -> Feature:
    """Return how the answer is laid out: last sentence closed, several lines if long, code that parses."""
    checks = [_closed(answer)]
    if count_words(answer) > 120:
        checks.append(min(1.0, (len(lines(answer)) - 1) / 4))
    if _ASKS_CODE.search(question):
        blocks = code_blocks(answer)
        checks.append((0.5 + 0.5 * max(_parses(block) for block in blocks)) if blocks else 0.0)
    return Feature(
        "layout", sum(checks) / len(checks), 1.0, f"{len(lines(answer))} lines, {len(bullets(answer))} list items"
    )


def _closed(answer: str) -> float:
    end = answer.rstrip()
    return float(
        end.endswith((".", "!", "?", "。", "！", "？", "`", ")", "]", "}", '"', "”", "*", "|"))
        or len(sentences(end)) < 2
    )


@functools.lru_cache(maxsize=4096)
def _parses(block: str) -> float:
    """Return whether a block is Python, or has brackets that close."""
    try:
        ast.parse(block)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return 0.5 * float(all(block.count(left) == block.count(right) for left, right in ("()", "[]", "{}")))
    return 1.0


def continuity(answer: str, facts: Facts, earlier: Sequence[str]) -> Feature | None:
    """Return how an answer uses the model's earlier one where the question refers to it; a mere copy is no use."""
    if facts.turn < 2 or not earlier or not _REFERS_BACK.search(facts.question.turns[facts.turn - 1]):
        return None
    before, now = set(content_words(earlier[-1])), set(content_words(answer))
    if not before or not now:
        return Feature("use of the earlier turn", 0.0, 1.0, "nothing in common")
    kept = len(before & now) / min(len(before), len(now))
    value = min(1.0, kept / 0.3) if kept < 0.95 else 0.3
    return Feature("use of the earlier turn", value, 1.0, f"{kept:.2f} of the content words in common")


def deductions(answer: str, facts: Facts, earlier: Sequence[str]) -> Iterable[Factor]:
    """Yield what the score is multiplied by: repetition, echo of the question, a refusal."""
    fresh = _freshness(answer)
    if fresh < 1:
        yield Factor("repetition", fresh, "the answer repeats itself")
    parroted = _echo(answer, facts.question.turns[facts.turn - 1])
    if parroted > 0.3:
        yield Factor("echo", 1.3 - parroted, f"{parroted:.2f} of its word triples stand in the question")
    if earlier and words(answer) == words(earlier[-1]):
        yield Factor("same again", 0.5, "the same words as the turn before")
    if (opening := _REFUSAL.search(answer[:200])) and count_words(answer) < 60:
        yield Factor("refusal", 0.6, "says that it cannot" if opening else "")


@functools.lru_cache(maxsize=4096)
def _freshness(answer: str) -> float:
    """Return 1 for prose that does not repeat itself, down to 0.2 where the same four words come again and again."""
    step = words(answer)
    if len(step) < 24:
        return 1.0
    grams = Counter(zip(step, step[1:], step[2:], step[3:], strict=False))
    again = 1 - len(grams) / grams.total()
    allowed = 0.35 if is_chinese(answer) or code_blocks(answer) else 0.15
    return 1.0 if again <= allowed else max(0.2, 1 - (again - allowed) * 1.2)


def _echo(answer: str, question: str) -> float:
    """Return the share of the answer's word triples that stand in the question."""
    mine, theirs = _triples(answer), _triples(question)
    return len(mine & theirs) / len(mine) if len(mine) >= 8 else 0.0


@functools.lru_cache(maxsize=4096)
def _triples(text: str) -> frozenset[tuple[str, ...]]:
    step = words(text)
    return frozenset(zip(step, step[1:], step[2:], strict=False))


def richness(answer: str, reference: str = "") -> Feature:
    """Return how many different content words an answer has, by the logarithm, up to 150 or the reference's."""
    kinds = len(set(content_words(answer)))
    enough = min(150, max(5, len(set(content_words(reference))))) if reference else 150
    return Feature("variety", min(1.0, math.log1p(kinds) / math.log1p(enough)), 1.0, f"{kinds} different content words")


def reference_of(facts: Facts) -> str:
    """Return the reference's text for the turn that is judged, or nothing."""
    return facts.reference[facts.turn - 1] if facts.reference and len(facts.reference) >= facts.turn else ""


def all_features(facts: Facts, turns: Sequence[str]) -> tuple[Feature, ...]:
    """Return every feature that applies to one shown conversation, for the turn that is judged."""
    asked = facts.question.turns[: facts.turn]
    answer = turns[facts.turn - 1]
    reference = reference_of(facts)
    optional = (obedience(answer, asked), continuity(answer, facts, turns[: facts.turn - 1]))
    return (
        *(agreement(answer, reference, asked[-1]) if reference else ()),
        coverage(answer, asked[-1], reference),
        *(feature for feature in optional if feature is not None),
        length(answer, facts),
        richness(answer, reference),
        order(answer, asked[-1]),
    )
