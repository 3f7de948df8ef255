"""BLEU-1..4 of one answer against one reference, from 0 to 1 (Papineni et al., ACL 2002), by sacrebleu.

    bleu_n = brevity penalty · (p_1 · ... · p_n)^(1/n),    p_k: share of the answer's runs of k tokens in the reference

An order without a match counts as half of one match, the next such order as a quarter, and so on (`exp`, the smoothing
of mteval-v13a); orders that the answer is too short for are left out. sacrebleu shows the same from 0 to 100.
"""

from typing import TYPE_CHECKING

from harness.old.metrics.metric import Metric, Numbers, of_texts
from harness.old.metrics.setup import Setup, library_version
from harness.old.metrics.tokens import TOKENIZERS

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU, BLEUScore

ORDERS = (1, 2, 3, 4)
_OWN_TOKENIZERS = {"zh": "zh", "ja": "char", "th": "char", "lo": "char", "km": "char", "my": "char"}
"""sacrebleu's tokenizer by language; its default, 13a, splits at spaces and punctuation."""


def metric(setup: Setup) -> Metric:
    """Return BLEU-1..4."""
    from sacrebleu.metrics.bleu import BLEU

    own = setup.tokenizer is None
    name = setup.tokenizer or _OWN_TOKENIZERS.get(setup.language, "13a")
    scorer = BLEU(tokenize=name if own else "none", effective_order=True)
    cut = None if setup.tokenizer is None else TOKENIZERS[setup.tokenizer]

    def numbers(answer: str, reference: str) -> Numbers:
        if cut is not None:
            answer, reference = " ".join(cut(answer)), " ".join(cut(reference))
        return bleu(answer, reference, scorer)

    return Metric(
        "bleu",
        of_texts(numbers, "bleu_4"),
        tokenizer=name,
        library=library_version("sacrebleu"),
        needs_reference=True,
        overlap=True,
        parameters={"smoothing": "exp", "effective_order": True},
    )


def bleu(answer: str, reference: str, scorer: "BLEU") -> Numbers:
    """Return BLEU-1..4; None where the reference is empty, 0 where only the answer is."""
    if not reference.strip():
        return {f"bleu_{order}": None for order in ORDERS}
    counts = scorer.sentence_score(answer, [reference])
    return {f"bleu_{order}": _of_counts(counts, order) for order in ORDERS}


def _of_counts(counts: "BLEUScore", order: int) -> float:
    """Return BLEU up to an order, from counts up to a higher one."""
    from sacrebleu.metrics.bleu import BLEU

    score = BLEU.compute_bleu(
        counts.counts[:order],
        counts.totals[:order],
        counts.sys_len,
        counts.ref_len,
        "exp",
        effective_order=True,
        max_ngram_order=order,
    )
    return min(1.0, max(0.0, score.score / 100))  # exp(log(100)) is a hair above 100
