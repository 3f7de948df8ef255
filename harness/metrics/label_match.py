"""Label match: 1 if the answer names the label that the reference is, and no other one, else 0.

labels ["sports", "politics"], reference "sports":  "It is Sports." 1,  "sports or politics" 0

The labels are the question's field `labels`; without it, naming the reference is enough. A label
inside a longer one that is named there ("positive" in "not positive") is not named.
"""

from collections.abc import Iterable, Sequence

from harness.metrics.metric import Item, Measured, Metric, Setup
from harness.metrics.tokens import Tokens, words
from harness.types import Question


def metric(setup: Setup) -> Metric:
    """Return label match."""
    return Metric(
        "label_match",
        _measure,
        tokenizer="words",
        needs_reference=True,
        shaped_by=lambda question, turn: _labels(question),
    )


def label_match(answer: str, reference: str, labels: Sequence[str] = ()) -> float:
    """Return 1 or 0."""
    right = words(reference)
    known = {right, *map(words, labels)} - {()}
    return float(_named(words(answer), known) == {right})


def _measure(items: Sequence[Item]) -> Iterable[Measured]:
    for item in items:
        yield Measured(label_match(item.answer, item.reference or "", _labels(item.question)))


def _labels(question: Question) -> list[str]:
    labels = question.extra.get("labels")
    return [label for label in labels if isinstance(label, str)] if isinstance(labels, list) else []


def _named(text: Tokens, labels: set[Tokens]) -> set[Tokens]:
    """Return the labels in a text, at each place the longest one."""
    found, place = set(), 0
    longest_first = sorted(labels, key=len, reverse=True)
    while place < len(text):
        at = (label for label in longest_first if text[place : place + len(label)] == label)
        label = next(at, None)
        if label:
            found.add(label)
        place += len(label) if label else 1
    return found
