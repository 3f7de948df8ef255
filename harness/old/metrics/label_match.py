"""Label match: 1 if the answer names the label that the reference is, and no other one, else 0.

    labels ["sports", "politics"], reference "sports":  "The answer is Sports." 1,  "sports or politics" 0

The labels are the field `labels` of the question, a list of texts; where it has none, naming the reference is enough.
A label inside a longer one that is named there ("positive" in "not positive") does not count as named.
"""

from collections.abc import Sequence

from harness.old.metrics.metric import Item, Measured, Metric, each
from harness.old.metrics.setup import Setup
from harness.old.metrics.tokens import Tokens, words
from harness.old.records import Question

FIELD = "labels"


def metric(setup: Setup) -> Metric:
    """Return label match."""
    return Metric(
        "label_match",
        each(_measured),
        tokenizer="words",
        needs_reference=True,
        shaped_by=lambda question, turn: _labels(question),
    )


def _labels(question: Question) -> list[str]:
    labels = question.extra.get(FIELD)
    return [label for label in labels if isinstance(label, str)] if isinstance(labels, list) else []


def _measured(item: Item) -> Measured:
    value = label_match(item.answer, item.reference or "", _labels(item.question))
    return Measured(value, note=None if value is not None else "the reference is empty")


def label_match(answer: str, reference: str, labels: Sequence[str] = ()) -> float | None:
    """Return 1 or 0; None where the reference has no word."""
    wanted = words(reference)
    known = {wanted, *(words(label) for label in labels)} - {()}
    return float(_named(words(answer), known) == {wanted}) if wanted else None


def _named(text: Tokens, labels: set[Tokens]) -> set[Tokens]:
    """Return the labels in a text, at each place the longest one."""
    found, place = set(), 0
    longest_first = sorted(labels, key=len, reverse=True)
    while place < len(text):
        label = next((label for label in longest_first if text[place : place + len(label)] == label), None)
        found |= {label} if label else set()
        place += len(label) if label else 1
    return found
