"""BLEU-1..4 of one answer against one reference, from 0 to 1 (Papineni et al., 2002), by sacrebleu.

    bleu_n = brevity penalty · (p_1 · ... · p_n)^(1/n)
    p_k: share of the answer's runs of k tokens that are in the reference

An order without a match counts as half of one match, the next such order as a quarter, and so on
(`exp`, the smoothing of mteval-v13a); orders that the answer is too short for are left out.
"""

from harness.metrics.metric import Metric, Numbers, Setup, of_texts, versions

_BY_LANGUAGE = {"zh": "zh", **dict.fromkeys(("ja", "th", "lo", "km", "my"), "char")}
"""sacrebleu's tokenizers; its default, 13a, splits at spaces and punctuation."""


def metric(setup: Setup) -> Metric:
    """Return BLEU-1..4."""
    from sacrebleu.metrics.bleu import BLEU

    tokenizer = _BY_LANGUAGE.get(setup.language, "13a")
    scorers = {
        f"bleu_{n}": BLEU(tokenize=tokenizer, effective_order=True, max_ngram_order=n)
        for n in (1, 2, 3, 4)
    }

    def bleu(answer: str, reference: str) -> Numbers:
        # exp(log(100)) is a hair above 100
        return {
            name: min(1.0, scorer.sentence_score(answer, [reference]).score / 100)
            for name, scorer in scorers.items()
        }

    return of_texts(
        bleu,
        "bleu_4",
        name="bleu",
        tokenizer=tokenizer,
        library=versions("sacrebleu"),
        needs_reference=True,
        parameters={"smoothing": "exp", "effective_order": True},
    )
