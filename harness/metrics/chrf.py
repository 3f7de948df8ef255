"""chrF of one answer against one reference, from 0 to 1 (Popović, WMT 2015), by sacrebleu.

    chrF = (1 + β²) · P · R / (β² · P + R),    β = 2
    P, R: means over runs of 1 to 6 characters, spaces left out

It needs no tokens, so it works for all languages alike.
"""

from harness.metrics.metric import Metric, Numbers, Setup, of_texts, versions


def metric(setup: Setup) -> Metric:
    """Return chrF."""
    from sacrebleu.metrics.chrf import CHRF

    scorer = CHRF()

    def chrf(answer: str, reference: str) -> Numbers:
        return {"chrf": min(1.0, scorer.sentence_score(answer, [reference]).score / 100)}

    return of_texts(
        chrf,
        "chrf",
        library=versions("sacrebleu"),
        needs_reference=True,
        parameters={"beta": 2, "order": 6},
    )
