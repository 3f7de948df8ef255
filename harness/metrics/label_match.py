"""Label match: 1 if the answer names the label that the reference is, and no other one, else 0.

labels ["sports", "politics"], reference "sports":  "It is Sports." 1,  "sports or politics" 0

The labels are the question's field `labels`; without it, naming the reference is enough. A label
inside a longer one that is named there ("positive" in "not positive") is not named. Signs that make
another label of a word count: "-1" is not "1", "C++" and "C#" are not "C", "A+" is not "A".
"""

import re
from collections.abc import Iterable, Sequence

from harness.metrics.metric import Measured, MeasuredTurn, Metric, Setup
from harness.metrics.tokens import Tokens, words
from harness.types import Question

_SIGN = re.compile(r"(?<![\w)])[-−](?=\d)|(?<=\w)[+#]+(?!\w)")
_NAMES = str.maketrans({"-": "minus", "−": "minus", "+": "plus", "#": "sharp"})


def metric(setup: Setup) -> Metric:
    """Return label match."""

    def measure(items: Sequence[MeasuredTurn]) -> Iterable[Measured]:
        for item in items:
            yield Measured(label_match(item.answer, item.reference or "", _labels(item.question)))

    return Metric(
        "label_match",
        measure,
        tokenizer="words",
        needs_reference=True,
        shaped_by=lambda question, turn: _labels(question),
    )


def label_match(answer: str, reference: str, labels: Sequence[str] = ()) -> float:
    """Return 1 or 0."""
    right, text = _signed_words(reference), _signed_words(answer)
    # At each place the longest label.
    longest_first = sorted({right, *map(_signed_words, labels)} - {()}, key=len, reverse=True)
    labels_named, place = set(), 0
    while place < len(text):
        at = (label for label in longest_first if text[place : place + len(label)] == label)
        label = next(at, text[place : place + 1])
        labels_named |= {label} & set(longest_first)
        place += len(label)
    return float(labels_named == {right})


def _signed_words(text: str) -> Tokens:
    """Return the words of a text; a sign is part of its word, by name: -1 is "minus1"."""
    return words(_SIGN.sub(lambda sign: sign[0].translate(_NAMES), text))


def _labels(question: Question) -> list[str]:
    labels = question.extra.get("labels")
    return [label for label in labels if isinstance(label, str)] if isinstance(labels, list) else []
