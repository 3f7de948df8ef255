"""Exact match: 1 if the answer is the reference, else 0.

Case, spaces, wide characters and punctuation around the text are ignored:

"  Paris." is "paris"; "３.５" is "3.5"; "-1" is not "1"; "It is Paris" is not "Paris"
"""

import unicodedata

from harness.metrics.metric import Metric, Numbers, Setup, of_texts

_AROUND = " \t.,;:!?。，；：！？、…\"'“”‘’«»„`*_"


def metric(setup: Setup) -> Metric:
    """Return exact match."""
    return of_texts(exact_match, "exact_match", needs_reference=True)


def exact_match(answer: str, reference: str) -> Numbers:
    """Return 1 or 0."""
    return {"exact_match": float(plain(answer) == plain(reference))}


def plain(text: str) -> str:
    """Return a text in small letters with single spaces and no punctuation around it."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).strip(_AROUND)
