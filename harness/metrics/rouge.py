"""ROUGE-1, ROUGE-2 and ROUGE-L of one answer against one reference, from 0 to 1 (Lin, 2004).

    rouge_n = 2PR / (P + R) of the common runs of n tokens
    rouge_l: of the longest common subsequence

"the cat sat" against "the cat lay down": rouge_1 = 2 · 2/3 · 2/4 / (2/3 + 2/4) = 0.571

By rouge-score. Its own tokenizer keeps a-z and 0-9 alone, so that other languages would score 0:
all but English texts are cut by ours.
"""

from types import SimpleNamespace

from harness.metrics.metric import Metric, Numbers, Setup, of_texts, versions
from harness.metrics.tokens import words

_NAMES = {"rouge1": "rouge_1", "rouge2": "rouge_2", "rougeL": "rouge_l"}


def metric(setup: Setup) -> Metric:
    """Return the three, as F.

    Raises:
        UsageError: rouge-score is not installed, which the extra [colossalai] has.
    """
    library = versions("rouge-score")
    from rouge_score.rouge_scorer import RougeScorer

    english = setup.language == "en"
    tokenizer = None if english else SimpleNamespace(tokenize=lambda text: list(words(text)))
    scorer = RougeScorer(list(_NAMES), use_stemmer=False, tokenizer=tokenizer)

    def rouge(answer: str, reference: str) -> Numbers:
        scores = scorer.score(reference, answer)
        return {ours: scores[theirs].fmeasure for theirs, ours in _NAMES.items()}

    return of_texts(
        rouge,
        "rouge_l",
        name="rouge",
        tokenizer="rouge-score" if english else "words",
        library=library,
        needs_reference=True,
    )
