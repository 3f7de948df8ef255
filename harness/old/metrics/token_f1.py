"""Precision, recall and F1 of the answer's tokens, as bags, from 0 to 1 (as SQuAD's F1, Rajpurkar et al., EMNLP 2016).

"a cat, a dog" against "the cat": precision 1/4, recall 1/2, F1 1/3
"""

from collections import Counter

from harness.old.metrics.metric import Metric, Numbers, of_tokens
from harness.old.metrics.ngrams import f_score, ngrams, shared
from harness.old.metrics.setup import Setup
from harness.old.metrics.tokens import Tokens


def metric(setup: Setup) -> Metric:
    """Return token precision, recall and F1."""
    return of_tokens("token_f1", token_f1, "token_f1", setup.tokenizer, needs_reference=True, overlap=True)


def token_f1(answer: Tokens, reference: Tokens) -> Numbers:
    """Return the three; None where the reference has no token, 0 where only the answer has none."""
    if not reference:
        return {"token_precision": None, "token_recall": None, "token_f1": None}
    common = shared(Counter(ngrams(answer, 1)), Counter(ngrams(reference, 1)))
    precision, recall = common / max(len(answer), 1), common / len(reference)
    return {"token_precision": precision, "token_recall": recall, "token_f1": f_score(precision, recall)}
