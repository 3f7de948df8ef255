"""Drawing without looking until there is enough of two kinds: exact expectation and probability."""

import collections
import random
from fractions import Fraction

from turnbench_questions.template import WOMEN, Made, Turn, redraw_if

QUESTION_ID = 1034
CATEGORY = "math"
LEVEL = 3


def make(rng: random.Random) -> Made:
    """Return a question about the average number of draws, then about how it ended."""
    red, blue, grey = rng.randint(3, 5), rng.randint(3, 5), rng.randint(2, 4)
    need_red, need_blue = 2, rng.randint(1, 2)
    law = ends((red, blue, grey), need_red, need_blue)
    mean = Fraction(sum(n * share for (n, _), share in law.items()))
    by_red = Fraction(sum(share for (_, kind), share in law.items() if kind == "red"))
    redraw_if(mean.denominator < 3 or by_red.denominator < 3)
    redraw_if(red == blue and need_red == need_blue)
    limit = int(mean)
    early = {key: share for key, share in law.items() if key[0] <= limit}
    early_red = sum(share for (_, kind), share in early.items() if kind == "red")
    stopped = Fraction(sum(early.values()))
    late = early_red / stopped
    who = rng.choice(WOMEN)
    thing = rng.choice(["skeins of wool", "seed packets", "spools of thread", "candles"])
    turn_1 = Turn(
        f"In the dark {who} takes {thing} from a drawer one by one, without putting any back: "
        f"{red} red, {blue} blue, {grey} grey, well mixed. She stops as soon as she has at least "
        f"{need_red} red and at least {need_blue} blue. How many does she take on average, and "
        "with what probability is the last one she takes red? Exact fractions.",
        shape="average; probability",
        result=(mean, by_red),
        work="The chance of stopping at draw n is the chance of having exactly one too few of one "
        "kind and enough of the other before it, times that of the missing kind. Summed over n the "
        f"average is {mean} and the share of endings with red {by_red}.",
        traps={"is the probability of blue": (mean, 1 - by_red)},
        points=["[instruction] Gives exact fractions in lowest terms."],
    )
    turn_2 = Turn(
        f"It was over quickly: she took no more than {limit}, which is the whole part of your "
        "average. Knowing that, with what probability was the last one red? And has that become "
        "more or less likely than you said, or is it the same?",
        shape="probability; more, less or same",
        result=(late, "more" if late > by_red else "less" if late < by_red else "same"),
        work=f"P(at most {limit}) = {stopped}, of which with red {early_red}: the quotient is "
        f"{late}, against {by_red} before.",
        traps={"is not divided by the condition": (early_red, "less")},
        points=[
            "Divides by the probability of the condition.",
            "[state] Compares with its own earlier probability.",
        ],
    )
    return Made((turn_1, turn_2), "the whole part of your average", "combine")


def ends(
    drawer: tuple[int, int, int], need_red: int, need_blue: int
) -> dict[tuple[int, str], Fraction]:
    """Return the probability of each number of draws with the kind drawn last."""
    law: dict[tuple[int, str], Fraction] = collections.defaultdict(Fraction)
    reached = {(0, 0, 0): Fraction(1)}
    for number in range(1, sum(drawer) + 1):
        going_on: dict[tuple[int, int, int], Fraction] = collections.defaultdict(Fraction)
        for (red, blue, grey), chance in reached.items():
            for kind, taken, left in (
                ("red", (red + 1, blue, grey), drawer[0] - red),
                ("blue", (red, blue + 1, grey), drawer[1] - blue),
                ("grey", (red, blue, grey + 1), drawer[2] - grey),
            ):
                share = chance * Fraction(left, sum(drawer) - number + 1)
                if taken[0] >= need_red and taken[1] >= need_blue:
                    law[number, kind] += share
                else:
                    going_on[taken] += share
        reached = going_on
    return law
