"""Distinct-1..3 of one answer, from 0 to 1 (Li et al., NAACL 2016): how little it repeats itself.

    distinct_n = different runs of n tokens / all runs of n tokens;    "no no yes": 2/3

Longer texts repeat more, so compare only answers of similar length.
"""

from harness.metrics.metric import Metric, Numbers, Setup, of_texts
from harness.metrics.tokens import words


def metric(setup: Setup) -> Metric:
    """Return distinct-1, distinct-2 and distinct-3."""
    return of_texts(lambda answer, _: distinct(answer), "distinct_2", "distinct", tokenizer="words")


def distinct(answer: str) -> Numbers:
    """Return the three; None where the answer is too short to have a run of that length."""
    tokens = words(answer)
    shares: dict[str, float | None] = {}
    for n in (1, 2, 3):
        runs = [tokens[place : place + n] for place in range(len(tokens) - n + 1)]
        shares[f"distinct_{n}"] = len(set(runs)) / len(runs) if runs else None
    return shares
