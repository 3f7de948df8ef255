"""Distinct-1..3 of one answer, from 0 to 1 (Li et al., NAACL 2016): how little it repeats itself.

    distinct_n = different runs of n tokens / all runs of n tokens;    "no no yes": distinct_1 = 2/3

Longer texts repeat more, so compare only answers of similar length.
"""

from harness.old.metrics.metric import Metric, Numbers, of_tokens
from harness.old.metrics.ngrams import ngrams
from harness.old.metrics.setup import Setup
from harness.old.metrics.tokens import Tokens


def metric(setup: Setup) -> Metric:
    """Return distinct-1, distinct-2 and distinct-3."""
    return of_tokens("distinct", lambda answer, _: distinct(answer), "distinct_2", setup.tokenizer)


def distinct(answer: Tokens) -> Numbers:
    """Return the three; None where the answer is too short to have a run of that length."""
    runs = {n: list(ngrams(answer, n)) for n in (1, 2, 3)}
    return {f"distinct_{n}": len(set(run)) / len(run) if run else None for n, run in runs.items()}
