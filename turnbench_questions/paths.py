"""Ways through a grid with closed crossings and no three equal steps in a row."""

import functools
import random
from typing import NamedTuple

from turnbench_questions.template import (
    NUMBERS,
    TOWNS,
    Made,
    Turn,
    aside,
    by_level,
    listed,
    redraw_if,
)

QUESTION_ID = 1035
CATEGORY = "math"
LEVEL = 7


class Level(NamedTuple):
    """What a level sets.

    By hand each crossing has a count for every last direction, run, number of diagonals, inns
    passed and parity: 4,000 in both turns at level 8, 16,000 at level 9, 40,000 at level 10.
    """

    sizes: tuple[tuple[int, int], ...]
    """Blocks to the east and to the north, of which one is drawn."""
    closed: int
    diagonals: int
    """How many steps of turn 2 are diagonal."""
    inns: bool = False
    """Whether exactly one of two crossings must be passed."""
    even: bool = False
    """Whether the number of turns must be even."""
    reopened: bool = False
    """Whether turn 2 opens a closed crossing again."""


LEVELS = by_level(
    Level(((3, 4), (4, 3), (4, 4)), 2, 1),
    Level(((5, 4), (4, 5), (5, 5)), 2, 1),
    Level(((6, 5), (5, 6), (6, 6)), 3, 1),  # as it was before there were levels
    Level(((6, 6), (7, 5), (5, 7)), 4, 1, reopened=True),
    Level(((7, 6), (6, 7)), 4, 1, inns=True, reopened=True),
    Level(((7, 7),), 5, 2, inns=True, reopened=True),
    Level(((7, 7), (8, 7), (7, 8)), 6, 2, inns=True, even=True, reopened=True),
    Level(((10, 10), (11, 10), (10, 11)), 9, 3, inns=True, even=True, reopened=True),
    Level(((15, 15), (16, 15), (15, 16)), 16, 5, inns=True, even=True, reopened=True),
    Level(((20, 20), (21, 20), (20, 21)), 26, 7, inns=True, even=True, reopened=True),
)
_FEWEST = {1: 4, 2: 12}
"""The fewest ways that make a good question, at the levels where it isn't 40."""
Crossing = tuple[int, int]


class Walk(NamedTuple):
    """What a walk must keep to."""

    wide: int
    high: int
    closed: frozenset[Crossing]
    inns: frozenset[Crossing] = frozenset()
    even: bool = False
    longest: int = 2
    """How many steps in the same direction may follow one another."""
    diagonals: int = 0


def make(rng: random.Random, level: int) -> Made:
    """Return a question that counts ways, then those with diagonal steps."""
    sets = LEVELS[level]
    more = aside(rng)
    wide, high = rng.choice(sets.sizes)
    inner = [(x, y) for x in range(wide + 1) for y in range(high + 1) if 0 < x + y < wide + high]
    dug = rng.sample(inner, sets.closed)
    closed = frozenset(dug)
    through = rng.choice([p for p in inner if p not in closed and 0 < p[0] < wide])
    middle = [p for p in inner if 0 < p[0] < wide and 0 < p[1] < high]
    open_ones = [p for p in middle if p not in closed and p != through]
    inns = frozenset(more.sample(open_ones, 2) if sets.inns else ())
    walk = Walk(wide, high, closed, inns, sets.even)
    again = dug[-1] if sets.reopened else None
    later = walk._replace(diagonals=sets.diagonals, closed=closed - {again})
    total, diagonal = count(walk), count(later)
    passing = total - count(walk._replace(closed=closed | {through}))
    redraw_if(not _FEWEST.get(level, 40) <= total or not 5 <= passing < total)
    redraw_if(level == 3 and total > 400)
    redraw_if(again and (diagonal == count(later._replace(closed=closed)) or again not in middle))
    town = rng.choice(TOWNS)
    corners = listed([f"({x}, {y})" for x, y in sorted(closed)])
    rules = "My physiotherapist allows no three steps in the same direction one after another. "
    if sets.inns:
        one, other = sorted(inns)
        rules += f"I must pass exactly one of the two inns at {one} and {other}, not both. "
    if sets.even:
        rules += (
            "And the number of turns on the way must be even, a turn being each crossing at which "
            "the direction changes. "
        )
    loose = count(walk._replace(longest=wide + high))
    turn_1 = Turn(
        f"Streets of {town}, a grid: I walk from crossing (0, 0) to crossing ({wide}, {high}), "
        f"each step one block east (x + 1) or one block north (y + 1). The crossings {corners} are "
        f"dug up and can't be entered. {rules}How many different ways are there, and how many of "
        f"them pass through ({through[0]}, {through[1]})?",
        shape="ways in all; ways through that crossing",
        result=(total, passing),
        work="For every open crossing count the ways by last direction and length of the run (1 or "
        f"2){_kept_apart(sets)}, from (0, 0) on. At ({wide}, {high}) that gives {total}; with "
        f"{through} closed too {total - passing} are left, so {passing} pass through it.",
        traps={"forgets the rule on three steps": (loose, passing)},
        points=["Keeps account of direction and run at each crossing, or an equal method."],
    )
    times = NUMBERS[sets.diagonals]
    moment = "moment" if sets.diagonals == 1 else "moments"
    steps = "a diagonal step" if sets.diagonals == 1 else "diagonal steps"
    start = "start and end at any open crossing"
    own = "It counts as a direction of its own, so it interrupts a run."
    if sets.diagonals > 1:
        own = (
            "They count as a direction of their own, so they interrupt a run; two of them may "
            "follow one another, three may not."
        )
    reopened = f"The crossing {again} has been paved and may be entered again. " if again else ""
    rest = " All other rules stay." if level > 3 else ""
    turn_2 = Turn(
        f"{reopened}A lawn is open now: at exactly {times} {moment} of the walk, no more and no "
        f"less, I take {steps} (x + 1 and y + 1 together), which may {start}. {own}{rest} How many "
        "ways of this kind are there, and how many ways are there altogether with those you "
        "counted?",
        shape=f"ways with {times} diagonal{'s' * (sets.diagonals > 1)}; ways altogether",
        result=(diagonal, diagonal + total),
        work=f"The same table with a diagonal used or not: {diagonal}; with the {total}: "
        f"{diagonal + total}.",
        traps={
            "forgets to add the first count": (diagonal, diagonal),
            "leaves the reopened crossing closed": (
                (n := count(later._replace(closed=closed))),
                n + total,
            ),
        },
        points=[
            "Lets a run begin anew after the diagonal step.",
            "[state] Uses its own count of turn 1 for the sum.",
        ],
    )
    return Made((turn_1, turn_2), "those you counted", "extend")


def _kept_apart(sets: Level) -> str:
    """Return what else the table keeps apart."""
    return ", inns passed" * sets.inns + ", parity of the turns" * sets.even


def count(walk: Walk) -> int:
    """Return how many ways there are."""

    @functools.cache
    def ways(x: int, y: int, last: str, run: int, diagonals: int, inns: int, odd: bool) -> int:
        if (x, y) in walk.closed or x > walk.wide or y > walk.high or run > walk.longest:
            return 0
        inns += (x, y) in walk.inns
        if (x, y) == (walk.wide, walk.high):
            kept = inns == min(1, len(walk.inns)) and not (walk.even and odd)
            return int(kept and diagonals == walk.diagonals)
        found = 0
        for step, dx, dy in (("E", 1, 0), ("N", 0, 1), ("D", 1, 1)):
            used = diagonals + (step == "D")
            if used <= walk.diagonals:
                turned = last not in ("", step)
                length = run + 1 if step == last else 1
                found += ways(x + dx, y + dy, step, length, used, inns, odd ^ turned)
        return found

    return ways(0, 0, "", 0, 0, 0, False)
