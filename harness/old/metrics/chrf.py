"""chrF of one answer against one reference, from 0 to 1 (Popović, WMT 2015), by sacrebleu.

    chrF = (1 + β²) · P · R / (β² · P + R),    β = 2;    P, R: means over runs of 1 to 6 characters, spaces left out

It needs no tokens, so it works for any language alike. sacrebleu shows the same from 0 to 100.
"""

from harness.old.metrics.metric import Metric, Numbers, of_texts
from harness.old.metrics.setup import Setup, library_version


def metric(setup: Setup) -> Metric:
    """Return chrF."""
    from sacrebleu.metrics.chrf import CHRF

    scorer = CHRF()

    def chrf(answer: str, reference: str) -> Numbers:
        if not reference.strip():
            return {"chrf": None}
        return {"chrf": min(1.0, scorer.sentence_score(answer, [reference]).score / 100)}

    return Metric(
        "chrf",
        of_texts(chrf, "chrf"),
        library=library_version("sacrebleu"),
        needs_reference=True,
        overlap=True,
        parameters={"beta": 2, "order": 6},
    )
