"""Exact match: 1 if the answer is the reference, else 0; ignoring case, spaces, punctuation around it and width.

"  Paris." is "paris"; "３.５" is "3.5"; "-1" is not "1"; "It is Paris" is not "Paris"
"""

import unicodedata

from harness.old.metrics.metric import Metric, Numbers, of_texts
from harness.old.metrics.setup import Setup

_AROUND = " \t.,;:!?。，；：！？、…\"'“”‘’«»„`*_"


def metric(setup: Setup) -> Metric:
    """Return exact match."""
    return Metric("exact_match", of_texts(exact_match, "exact_match"), needs_reference=True)


def exact_match(answer: str, reference: str) -> Numbers:
    """Return 1 or 0; None where the reference is empty."""
    wanted = plain(reference)
    return {"exact_match": float(plain(answer) == wanted) if wanted else None}


def plain(text: str) -> str:
    """Return the normalised text: lower case, single spaces, no punctuation around it, wide characters narrowed."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).strip(_AROUND)
