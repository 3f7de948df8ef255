"""ROUGE-1, ROUGE-2 and ROUGE-L of one answer against one reference, from 0 to 1 (Lin, 2004).

rouge_n = 2PR / (P + R) of the common runs of n tokens;    rouge_l: of the longest common subsequence

"the cat sat" against "the cat lay down": rouge_1 = 2 · 2/3 · 2/4 / (2/3 + 2/4) = 0.571
"""

from collections import Counter

from harness.old.metrics.metric import Metric, Numbers, of_tokens
from harness.old.metrics.ngrams import f_score, longest_common, ngrams, shared
from harness.old.metrics.setup import Setup
from harness.old.metrics.tokens import Tokens


def metric(setup: Setup) -> Metric:
    """Return ROUGE-1, ROUGE-2 and ROUGE-L, as F."""
    return of_tokens("rouge", rouge, "rouge_l", setup.tokenizer, needs_reference=True, overlap=True)


def rouge(answer: Tokens, reference: Tokens) -> Numbers:
    """Return the three; None where the reference has no token, 0 where only the answer has none."""
    if not reference:
        return {"rouge_1": None, "rouge_2": None, "rouge_l": None}
    found: dict[str, float | None] = {}
    for n in (1, 2):
        said, wanted = Counter(ngrams(answer, n)), Counter(ngrams(reference, n))
        common = shared(said, wanted)
        found[f"rouge_{n}"] = f_score(common / max(said.total(), 1), common / max(wanted.total(), 1))
    length = longest_common(reference, answer)
    return found | {"rouge_l": f_score(length / max(len(answer), 1), length / len(reference))}
