"""A story in sentences of given lengths without one letter; then sorted, with one more."""

import random
from typing import Any

from turnbench_questions.template import TOWNS, WORDS, Made, Turn

QUESTION_ID = 1006
CATEGORY = "writing"
LEVEL = 3

_WORDS = {
    "n": "a child holds the bright old boat close by the dark shore as the last bell calls",
    "r": "a smith holds the sunny black boat by this calm pond as its final bell is tolling",
    "o": "a child keeps the bright blue raft near the dark ridge as its last bell rings again",
    "i": "a sea cook holds the happy black boat by the dark dune as all the bells lull us",
}


def make(rng: random.Random) -> Made:
    """Return a request for a story in which every sentence is counted."""
    letter = rng.choice(list(_WORDS))
    lengths = rng.sample([2, 3, 5, 6, 7, 9, 10, 11, 13, 14], 8)
    while lengths in (sorted(lengths), sorted(lengths, reverse=True)):
        rng.shuffle(lengths)
    extra = rng.choice([4, 8, 12])
    longest = sorted([*lengths, extra], reverse=True)
    place = longest.index(extra) + 1
    subject, town = rng.choice(WORDS["story_subjects"]), rng.choice(TOWNS)
    numbers = ", ".join(map(str, lengths))
    text = [_sentence(letter, n) for n in lengths]
    later = [_sentence(letter, n) for n in longest]
    ban = {"kind": "not_contains", "pattern": f"[{letter}{letter.upper()}]", "name": "letter"}
    turn_1 = Turn(
        f"A complete story about {subject} in {town} (the town isn't named), in eight sentences of "
        f"exactly {numbers} words, in this order. The letter “{letter}” must not occur anywhere. "
        "It needs a beginning, a turn and an end, and each sentence must be able to stand "
        "elsewhere in the story without becoming wrong. No title, no numerals, no dashes; the "
        "story alone.",
        checks=[*_counts(lengths), ban],
        points=[
            f"[instruction 2] The eight sentences have {numbers} words.",
            f"[instruction 2] The letter “{letter}” does not occur.",
            "[quality] It is a story with a turn, not eight remarks.",
        ],
        note="A program counts words and letters; judge the story.",
        right=[" ".join(text)],
        wrong=[
            " ".join([*text[:3], _sentence(letter, lengths[3] + 1), *text[4:]]),
            " ".join(text)[:-1] + f" {letter}.",
        ],
    )
    turn_2 = Turn(
        "Now the same eight sentences, word for word, sorted from the longest to the shortest, and "
        f"one more of exactly {extra} words in the place that its length gives it; the banned "
        "letter stays banned. The story must work in this order too, with another ending. The "
        "story alone.",
        checks=[*_counts(longest), ban, {"kind": "keeps", "of": "sentences", "exactly": 8}],
        points=[
            "[state 2] All eight sentences are kept word for word, longest first.",
            f"[instruction] The sentence added is the {place}th and has {extra} words.",
            "[quality] The order gives the story another ending.",
        ],
        note=f"Words by sentence: {', '.join(map(str, longest))}.",
        right=[" ".join(later)],
        wrong=[" ".join(text), " ".join(later[:-1])],
    )
    return Made((turn_1, turn_2), "the same eight sentences", "reformat")


def _sentence(letter: str, words: int) -> str:
    return " ".join(_WORDS[letter].split()[:words]).capitalize() + "."


def _counts(lengths: list[int]) -> list[dict[str, Any]]:
    checks: list[dict[str, Any]] = [{"kind": "count", "of": "sentences", "exactly": len(lengths)}]
    for at, n in enumerate(lengths, 1):
        sentence = {"in": {"sentence": at}, "name": f"sentence {at}"}
        checks.append({"kind": "count", "of": "words", "exactly": n, **sentence})
    return checks
