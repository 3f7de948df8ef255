"""Sentences about nothing that is asked, for the long texts."""

import random

_WHAT = [
    "the harbour master's dog",
    "a schooner from the north",
    "the baker's boy",
    "an old net",
    "the ferry bell",
    "a stranger with a folding chair",
    "the priest's umbrella",
    "a raft of logs",
    "the customs launch",
    "the lamp at the mole",
    "a basket of quinces",
    "the widow from the corner house",
    "a travelling dentist",
    "the choir",
    "the new stove",
    "a flock of starlings",
    "the postmaster's bicycle",
    "somebody's laundry",
]
_DID = [
    "was seen again near the steps",
    "caused more talk than it deserved",
    "got wet through",
    "had to be fetched twice",
    "was late, as on most days",
    "stood in everybody's way until noon",
    "made the horses shy",
    "was praised by the older people",
    "smelt of tar",
    "was gone by the evening",
    "kept two men busy for an hour",
    "could be heard as far as the bridge",
    "needs paint",
    "was the subject of a bet, which nobody won",
    "came to no harm",
]
_WHEN = [
    "In the forenoon",
    "Towards evening",
    "During the shower",
    "While the tide was out",
    "After the midday meal",
    "As the fog lifted",
    "Before the gates were opened",
    "Between two squalls",
    "At the usual hour",
    "To general surprise",
    "Not for the first time this season",
    "With the wind in the west",
]
_REMARK = [
    "Nothing further.",
    "Let it stand for what it is worth.",
    "I mention it for completeness.",
    "Nobody has complained so far.",
    "The matter is closed as far as I am concerned.",
    "There was coffee, for once.",
    "The ink is bad this week.",
    "My pen has been mended.",
    "It will all come out in the spring.",
    "One gets used to it.",
]


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
