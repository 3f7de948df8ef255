"""Runs of tokens, and what two sequences of tokens have in common."""

from collections import Counter
from collections.abc import Sequence


def ngrams(tokens: Sequence[str], n: int) -> "zip[tuple[str, ...]]":
    """Return every run of n tokens, in order."""
    return zip(*(tokens[start:] for start in range(n)), strict=False)


def shared(left: Counter[tuple[str, ...]], right: Counter[tuple[str, ...]]) -> int:
    """Return how many items two bags have in common, each as often as in the one that has fewer."""
    return sum(min(left[item], right[item]) for item in left.keys() & right.keys())


def shared_runs(pairs: Sequence[tuple[Sequence[str], Sequence[str]]], longest: int) -> list[list[int]]:
    """Return for each pair how many n-grams of 1, 2, ... tokens its two sides share, as `shared` counts them.

    All pairs are counted at once, in a fraction of the time: a run is one number, made of its pair, the run before it
    and its last token, and the numbers of all runs of one length are sorted together.
    """
    import numpy as np

    sides = [side for pair in pairs for side in pair]
    known: dict[str, int] = {}
    tokens = np.fromiter((known.setdefault(token, len(known)) for side in sides for token in side), np.int64)
    lengths = np.fromiter(map(len, sides), np.int64, len(sides))
    side_of = np.repeat(np.arange(len(sides)), lengths)
    to_end = np.repeat(np.cumsum(lengths), lengths) - np.arange(len(tokens))
    runs, limit = side_of // 2, len(pairs)
    found = []
    for length in range(1, longest + 1):
        if limit * len(known) >= 1 << 61:  # numbered anew, in the same order, before they outgrow 64 bits
            numbers, runs = np.unique(runs, return_inverse=True)
            limit = len(numbers)
        runs, limit = runs[: max(0, len(tokens) - length + 1)] * len(known) + tokens[length - 1 :], limit * len(known)
        whole = np.flatnonzero(to_end[: len(runs)] >= length)
        tagged = np.sort(runs[whole] * 2 + side_of[whole] % 2)
        starts = np.flatnonzero(np.diff(tagged >> 1, prepend=-1))
        of_right = np.add.reduceat(tagged & 1, starts) if len(starts) else starts
        common = np.minimum(of_right, np.diff(starts, append=len(tagged)) - of_right)
        ends = np.cumsum(np.bincount(side_of[whole] // 2, minlength=len(pairs)))
        pair_of = np.searchsorted(ends, starts, side="right")
        found.append(np.bincount(pair_of, common, len(pairs)).astype(np.int64).tolist())
    return [list(counts) for counts in zip(*found, strict=True)]


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
