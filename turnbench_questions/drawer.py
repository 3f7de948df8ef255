"""Drawing unseen until there is enough of some kinds: exact expectation and probability."""

import collections
import operator
import random
from fractions import Fraction
from typing import NamedTuple

from turnbench_questions.template import (
    NUMBERS,
    WOMEN,
    Made,
    Turn,
    aside,
    by_level,
    listed,
    redraw_if,
)

QUESTION_ID = 1034
CATEGORY = "math"
LEVEL = 5
Range = tuple[int, int]


class Level(NamedTuple):
    """What a level sets.

    By hand a step is a count for what is taken of each colour, with the last colour and its run:
    9,000 in both turns at level 8, 25,000 at level 9, 50,000 at level 10.
    """

    red: Range
    """Between which numbers that of the red ones is drawn; the next two likewise."""
    blue: Range
    grey: Range
    need_red: int
    need_blue: Range
    green: Range | None = None
    need_green: int = 0
    first_grey: bool = False
    """Whether turn 2 says that the first one taken was grey."""
    miscounted: bool = False
    """Whether turn 2 says that one of the red ones was blue."""
    run: int = 0
    """After how many of one colour in a row the drawing stops too; 0 if it doesn't."""
    white: Range | None = None
    need_white: int = 0


LEVELS = by_level(
    Level((2, 4), (2, 4), (1, 4), 1, (1, 1)),
    Level((3, 4), (2, 4), (1, 3), 2, (1, 1)),
    Level((3, 5), (3, 5), (2, 4), 2, (1, 2)),  # as it was before there were levels
    Level((4, 6), (3, 6), (2, 4), 2, (2, 3), first_grey=True),
    Level((4, 6), (4, 6), (3, 5), 3, (2, 3), first_grey=True, miscounted=True),
    Level((4, 5), (4, 5), (2, 4), 2, (2, 2), (3, 4), 1, first_grey=True, miscounted=True),
    Level((3, 4), (3, 4), (3, 3), 2, (1, 2), first_grey=True, miscounted=True, run=3),
    Level((6, 6), (5, 5), (4, 5), 3, (3, 3), (4, 5), 3, True, True, 3),
    Level((5, 6), (4, 5), (3, 4), 3, (2, 3), (3, 4), 2, True, True, 3, (3, 4), 1),
    Level((6, 6), (5, 5), (4, 4), 3, (3, 3), (4, 4), 3, True, True, 3, (3, 4), 2),
)
_COLOURS = ("red", "blue", "grey", "green", "white")
Drawer = tuple[int, ...]
"""How many there are, or are needed, of each colour."""


def make(rng: random.Random, level: int) -> Made:
    """Return a question about the average number of draws, then about how it ended."""
    sets = LEVELS[level]
    more = aside(rng)
    drawer: Drawer = tuple(rng.randint(*r) for r in (sets.red, sets.blue, sets.grey))
    need: Drawer = (sets.need_red, rng.randint(*sets.need_blue), 0)
    if sets.green:
        drawer, need = (*drawer, more.randint(*sets.green)), (*need, sets.need_green)
    if sets.white:
        drawer, need = (*drawer, more.randint(*sets.white)), (*need, sets.need_white)
    red, blue = drawer[:2]
    law = ends(drawer, need, sets.run)
    mean = Fraction(sum(n * share for (n, _), share in law.items()))
    by_red = _red(law)
    redraw_if(mean.denominator < 3 or by_red.denominator < 3)
    redraw_if(red == blue and need[0] == need[1])
    limit = int(mean)
    now = (red - 1, blue + 1, *drawer[2:]) if sets.miscounted else drawer
    redraw_if(sets.miscounted and now[0] == now[1] and need[0] == need[1])
    known = ends(now, need, sets.run, "grey" if sets.first_grey else "")
    early = {key: share for key, share in known.items() if key[0] <= limit}
    early_red, stopped = _red(early), Fraction(sum(early.values()))
    redraw_if(not early_red)
    late = early_red / stopped
    who = rng.choice(WOMEN)
    thing = rng.choice(["skeins of wool", "seed packets", "spools of thread", "candles"])
    holds = ", ".join(f"{n} {colour}" for n, colour in zip(drawer, _COLOURS, strict=False))
    wanted = [f"at least {n} {kind}" for n, kind in zip(need, _COLOURS, strict=False) if n]
    in_a_row = ""
    if sets.run:
        in_a_row = (
            f"; but as soon as {NUMBERS[sets.run]} of the same colour, whichever it is, have come "
            "one directly after the other, she stops too, whatever she has by then"
        )
    turn_1 = Turn(
        f"In the dark {who} takes {thing} from a drawer one by one, without putting any back: "
        f"{holds}, well mixed. She stops as soon as she has {listed(wanted)}{in_a_row}. How many "
        "does she take on average, and with what probability is the last one she takes red? Exact "
        f"fractions{' in lowest terms' * (level > 5)}.",
        shape="average; probability",
        result=(mean, by_red),
        work="The chance of stopping at draw n is the chance of having exactly one too few of one "
        "kind and enough of the other before it, times that of the missing kind. Summed over n the "
        f"average is {mean} and the share of endings with red {by_red}.",
        traps={"is the probability of blue": (mean, 1 - by_red)},
        points=["[instruction] Gives exact fractions in lowest terms."],
    )
    if sets.run:
        turn_1.work = (
            "For every number taken of each colour, with the colour taken last and how often it "
            "came in a row, count the ways to get there without having stopped. Summed over the "
            f"ends the average is {mean} and the share of endings with red {by_red}."
        )
        loose = ends(drawer, need)
        turn_1.traps["forgets the colours in a row"] = (
            Fraction(sum(n * share for (n, _), share in loose.items())),
            _red(loose),
        )
    facts = "Knowing that"
    miscounted = ""
    if sets.miscounted:
        miscounted = (
            f"Daylight shows that I miscounted: there were {red - 1} red and {blue + 1} blue, the "
            "rest was as I said. "
        )
        facts = "Knowing all that"
    if sets.first_grey:
        facts = "Also, the first one was grey. Knowing all that"
    with_red = f"P(at most {limit}) = {stopped}, of which with red {early_red}"
    if sets.first_grey:
        with_red += ", both given that the first is grey"
    turn_2 = Turn(
        f"{miscounted}It was over quickly: she took no more than {limit}, which is the whole part "
        f"of your average. {facts}, with what probability was the last one red? And has that "
        "become more or less likely than you said, or is it the same?",
        shape="probability; more, less or same",
        result=(late, "more" if late > by_red else "less" if late < by_red else "same"),
        work=f"{with_red}: the quotient is {late}, against {by_red} before.",
        traps={
            "is not divided by the condition": (early_red, "less"),
            "is that of the first count": _trap(law, limit, by_red),
        },
        points=[
            "Divides by the probability of the condition.",
            "[state] Compares with its own earlier probability.",
        ],
    )
    return Made((turn_1, turn_2), "the whole part of your average", "combine")


def ends(
    drawer: Drawer, need: Drawer, run: int = 0, first: str = ""
) -> dict[tuple[int, str], Fraction]:
    """Return the probability of each number of draws with the kind drawn last.

    Args:
        drawer: how many there are of each kind.
        need: of how many of each kind the drawing stops.
        run: after how many of one kind in a row it stops too; 0 if it doesn't.
        first: the kind that is known to have come first.
    """
    law: dict[tuple[int, str], Fraction] = collections.defaultdict(Fraction)
    kinds = _COLOURS[: len(drawer)]
    start = tuple(int(kind == first) for kind in kinds)
    # How many orders lead to what is taken, the kind taken last and how often it came in a row.
    reached = {(start, first, 1): 1}
    orders = 1
    for number in range(sum(start) + 1, sum(drawer) + 1):
        orders *= sum(drawer) - number + 1
        ended: dict[str, int] = collections.defaultdict(int)
        going_on: dict[tuple[Drawer, str, int], int] = collections.defaultdict(int)
        for (had, last, times), ways in reached.items():
            for at, kind in enumerate(kinds):
                left = drawer[at] - had[at]
                if not left:
                    continue
                taken = (*had[:at], had[at] + 1, *had[at + 1 :])
                row = times + 1 if run and kind == last else 1
                if row == run > 1 or all(map(operator.ge, taken, need)):
                    ended[kind] += ways * left
                else:
                    going_on[taken, kind if run else "", row] += ways * left
        for kind, ways in ended.items():
            law[number, kind] += Fraction(ways, orders)
        reached = going_on
    return law


def _red(law: dict[tuple[int, str], Fraction]) -> Fraction:
    """Return the probability of ending with red."""
    return Fraction(sum(share for (_, kind), share in law.items() if kind == "red"))


def _trap(
    law: dict[tuple[int, str], Fraction], limit: int, before: Fraction
) -> tuple[Fraction, str]:
    """Return what turn 2 would be of a law without what else is known."""
    early = {key: share for key, share in law.items() if key[0] <= limit}
    late = _red(early) / Fraction(sum(early.values()))
    return late, "more" if late > before else "less" if late < before else "same"
