"""Precision, recall and F1 of one answer's tokens against one reference's, from 0 to 1.

    precision = common / answer's tokens,   recall = common / reference's,   F1 = 2pr / (p + r)

Common tokens count as often as in the text that has fewer of them (SQuAD; Rajpurkar et al., 2016).
"""

from collections import Counter

from harness.metrics.metric import Metric, Numbers, Setup, of_texts
from harness.metrics.tokens import words


def metric(setup: Setup) -> Metric:
    """Return the three."""
    return of_texts(token_f1, "token_f1", tokenizer="words", needs_reference=True)


def token_f1(answer: str, reference: str) -> Numbers:
    """Return the three, 0 where a text has no token."""
    texts = words(answer), words(reference)
    common = (Counter(texts[0]) & Counter(texts[1])).total()
    precision, recall = (common / max(len(tokens), 1) for tokens in texts)
    f1 = 2 * precision * recall / (precision + recall) if common else 0.0
    return {"token_precision": precision, "token_recall": recall, "token_f1": f1}
