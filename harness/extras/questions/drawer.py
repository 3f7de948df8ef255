"""Drawing without looking until there is enough of two kinds: exact expectation and probability."""

import functools
import random
from fractions import Fraction

from harness.extras.questions.template import WOMEN, Made, Trap, Turn, attempt, point, traps


def make(rng: random.Random) -> Made:
    """Return a question about the average number of draws, then about how it ended."""
    return attempt(rng, _draw)


def _draw(rng: random.Random) -> Made | None:
    red, blue, grey = rng.randint(3, 5), rng.randint(3, 5), rng.randint(2, 4)
    need_red, need_blue = 2, rng.randint(1, 2)
    law = ends(red, blue, grey, need_red, need_blue)
    mean = sum((Fraction(n) * share for (n, _), share in law.items()), Fraction())
    by_red = sum((share for (_, kind), share in law.items() if kind == "red"), Fraction())
    if mean.denominator < 3 or by_red.denominator < 3 or (red == blue and need_red == need_blue):
        return None
    limit = int(mean)
    early = {key: share for key, share in law.items() if key[0] <= limit}
    given = sum((share for (_, kind), share in early.items() if kind == "red"), Fraction())
    late = given / sum(early.values(), Fraction())
    who = rng.choice(WOMEN)
    thing = rng.choice(["skeins of wool", "seed packets", "spools of thread", "candles"])
    one = Turn(
        ask=(
            f"In the dark {who} takes {thing} from a drawer one by one, without putting any "
            f"back: {red} red, {blue} blue, {grey} grey, well mixed. She stops as soon as she "
            f"has at least {need_red} red and at least {need_blue} blue. How many does she "
            "take on average, and with what probability is the last one she takes red? Exact "
            "fractions."
        ),
        shape="average; probability",
        result=(mean, by_red),
        work=(
            "The chance of stopping at draw n is the chance of having exactly one too few of "
            "one kind and enough of the other before it, times that of the missing kind. "
            f"Summed over n the average is {mean} and the share of endings with red {by_red}."
        ),
        traps=traps((mean, by_red), Trap((mean, 1 - by_red), "is the probability of blue")),
        points=[point("Gives exact fractions in lowest terms.", 1, "instruction")],
    )
    two = Turn(
        ask=(
            f"It was over quickly: she took no more than {limit}, which is the whole part of "
            "your average. Knowing that, with what probability was the last one red? And has "
            "that become more or less likely than you said, or is it the same?"
        ),
        shape="probability; more, less or same",
        result=(late, "more" if late > by_red else "less" if late < by_red else "same"),
        work=(
            f"P(at most {limit}) = {sum(early.values(), Fraction())}, of which with red "
            f"{given}: the quotient is {late}, against {by_red} before."
        ),
        traps=traps((late, "more"), Trap((given, "less"), "is not divided by the condition"))[:1],
        points=[
            point("Divides by the probability of the condition."),
            point("Compares with its own earlier probability.", 1, "state"),
        ],
    )
    return Made((one, two), "the whole part of your average", "combine")


def ends(
    red: int, blue: int, grey: int, need_red: int, need_blue: int
) -> dict[tuple[int, str], Fraction]:
    """Return the probability of each number of draws with the kind drawn last."""
    whole = (red, blue, grey)

    @functools.cache
    def reach(r: int, b: int, g: int) -> Fraction:
        """Return the chance of passing through a count without having stopped before it."""
        if (r, b, g) == (0, 0, 0):
            return Fraction(1)
        chance = Fraction()
        for i, have in enumerate((r, b, g)):
            before = [r, b, g]
            before[i] -= 1
            if have and not (before[0] >= need_red and before[1] >= need_blue):
                left = whole[i] - before[i]
                chance += reach(*before) * Fraction(left, sum(whole) - sum(before))
        return chance

    law: dict[tuple[int, str], Fraction] = {}
    for r in range(red + 1):
        for b in range(blue + 1):
            for g in range(grey + 1):
                if r >= need_red and b >= need_blue:
                    continue
                left = red + blue + grey - r - b - g
                for kind, more in (("red", (1, 0)), ("blue", (0, 1))):
                    if r + more[0] >= need_red and b + more[1] >= need_blue and left:
                        rest = red - r if kind == "red" else blue - b
                        key = (r + b + g + 1, kind)
                        share = reach(r, b, g) * Fraction(rest, left)
                        law[key] = law.get(key, Fraction()) + share
    return law
