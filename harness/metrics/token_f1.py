"""Precision, recall and F1 of one answer's tokens against one reference's, from 0 to 1.

    precision = common / answer's tokens,   recall = common / reference's,   F1 = 2pr / (p + r)

Common tokens count as often as in the text that has fewer of them (SQuAD; Rajpurkar et al., 2016).
"""

from collections import Counter

from harness.metrics.metric import Metric, Numbers, Setup, of_tokens
from harness.metrics.tokens import Tokens


def metric(setup: Setup) -> Metric:
    """Return the three."""
    return of_tokens("token_f1", token_f1, "token_f1", setup, needs_reference=True)


def token_f1(answer: Tokens, reference: Tokens) -> Numbers:
    """Return the three, 0 where a text has no token."""
    common = (Counter(answer) & Counter(reference)).total()
    precision, recall = (common / max(len(tokens), 1) for tokens in (answer, reference))
    f1 = 2 * precision * recall / (precision + recall) if common else 0.0
    return {"token_precision": precision, "token_recall": recall, "token_f1": f1}
