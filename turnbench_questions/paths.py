"""Ways through a grid with closed crossings and no three equal steps in a row."""

import random

from turnbench_questions.template import TOWNS, Made, Turn, listed, redraw_if

QUESTION_ID = 1035
CATEGORY = "math"


def make(rng: random.Random) -> Made:
    """Return a question that counts ways, then those with one diagonal step."""
    wide, high = rng.choice([(6, 5), (5, 6), (6, 6)])
    inner = [(x, y) for x in range(wide + 1) for y in range(high + 1) if 0 < x + y < wide + high]
    closed = frozenset(rng.sample(inner, 3))
    through = rng.choice([p for p in inner if p not in closed and 0 < p[0] < wide])
    total, diagonal = count(wide, high, closed), count(wide, high, closed, diagonals=1)
    passing = total - count(wide, high, closed | {through})
    redraw_if(not 40 <= total <= 400 or not 5 <= passing < total)
    town = rng.choice(TOWNS)
    corners = listed([f"({x}, {y})" for x, y in sorted(closed)])
    loose = count(wide, high, closed, banned=())
    turn_1 = Turn(
        f"Streets of {town}, a grid: I walk from crossing (0, 0) to crossing ({wide}, {high}), "
        f"each step one block east (x + 1) or one block north (y + 1). The crossings {corners} are "
        "dug up and can't be entered. My physiotherapist allows no three steps in the same "
        "direction one after another. How many different ways are there, and how many of them pass "
        f"through ({through[0]}, {through[1]})?",
        shape="ways in all; ways through that crossing",
        result=(total, passing),
        work="For every open crossing count the ways by last direction and length of the run (1 or "
        f"2), from (0, 0) on. At ({wide}, {high}) that gives {total}; with {through} closed too "
        f"{total - passing} are left, so {passing} pass through it.",
        traps={"forgets the rule on three steps": (loose, passing)},
        points=["Keeps account of direction and run at each crossing, or an equal method."],
    )
    turn_2 = Turn(
        "A lawn is open now: at exactly one moment of the walk, no more and no less, I take a "
        "diagonal step (x + 1 and y + 1 together), which may start and end at any open crossing. "
        "It counts as a direction of its own, so it interrupts a run. How many ways of this kind "
        "are there, and how many ways are there altogether with those you counted?",
        shape="ways with one diagonal; ways altogether",
        result=(diagonal, diagonal + total),
        work=f"The same table with a diagonal used or not: {diagonal}; with the {total}: "
        f"{diagonal + total}.",
        traps={"forgets to add the first count": (diagonal, diagonal)},
        points=[
            "Lets a run begin anew after the diagonal step.",
            "[state] Uses its own count of turn 1 for the sum.",
        ],
    )
    return Made((turn_1, turn_2), "those you counted", "extend")


def count(
    wide: int,
    high: int,
    closed: frozenset[tuple[int, int]],
    diagonals: int = 0,
    banned: tuple[str, ...] = ("EEE", "NNN"),
) -> int:
    """Return how many ways there are with so many diagonal steps."""

    def ways(x: int, y: int, path: str) -> int:
        if (x, y) in closed or x > wide or y > high or path.endswith(banned):
            return 0
        if (x, y) == (wide, high):
            return int(path.count("D") == diagonals)
        diagonal = ways(x + 1, y + 1, f"{path}D") if path.count("D") < diagonals else 0
        return ways(x + 1, y, f"{path}E") + ways(x, y + 1, f"{path}N") + diagonal

    return ways(0, 0, "")
