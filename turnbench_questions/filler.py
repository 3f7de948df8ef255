"""Sentences about nothing that is asked, for the long texts."""

import random

from turnbench_questions.template import WORDS

_WHAT = WORDS["subjects"]
_DID = WORDS["predicates"]
_WHEN = WORDS["times"]
_REMARK = WORDS["remarks"]


def sentences(rng: random.Random, least: int, most: int) -> str:
    """Return some sentences, between two numbers of them."""
    return " ".join(_sentence(rng) for _ in range(rng.randint(least, most)))


def _sentence(rng: random.Random) -> str:
    if rng.random() < 0.2:
        return rng.choice(_REMARK)
    one, two = rng.sample(_WHAT, 2)
    did, done = rng.sample(_DID, 2)
    return rng.choice(
        [
            f"{rng.choice(_WHEN)} {one} {did}.",
            f"{rng.choice(_WHEN)} {one} {did}, and {two} {done}.",
            f"{one[0].upper()}{one[1:]} {did}; {two} {done} all the same.",
        ]
    )
