"""Runs of tokens, and what two sequences of tokens have in common."""

from collections import Counter
from collections.abc import Sequence


def ngrams(tokens: Sequence[str], n: int) -> "zip[tuple[str, ...]]":
    """Return every run of n tokens, in order."""
    return zip(*(tokens[start:] for start in range(n)), strict=False)


def shared(left: Sequence[str], right: Sequence[str], n: int) -> int:
    """Return how many runs of n tokens two texts have in common, each as often as in the one that has fewer."""
    ours, theirs = Counter(ngrams(left, n)), Counter(ngrams(right, n))
    return sum(min(ours[run], theirs[run]) for run in ours.keys() & theirs.keys())


def longest_common(left: Sequence[str], right: Sequence[str]) -> int:
    """Return the length of the longest common subsequence.

    A row of the usual table is one number whose clear bits mark where it grows, so a token costs a few operations on
    whole rows (H. Hyyrö, "Bit-parallel LCS-length computation revisited", 2004).
    """
    places: dict[str, int] = {}
    for place, token in enumerate(left):
        places[token] = places.get(token, 0) | 1 << place
    every = row = (1 << len(left)) - 1
    for token in right:
        if matches := places.get(token):
            kept = row & matches
            row = (row + kept | row - kept) & every
    return len(left) - row.bit_count()


def f_score(precision: float, recall: float) -> float:
    """Return the harmonic mean, 2pr / (p + r); 0 where both are 0."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0
