"""The resistance between two corners of a network; then broken wires, then corners joined."""

import random
from fractions import Fraction
from typing import NamedTuple

from turnbench_questions.template import (
    NUMBERS,
    PEOPLE,
    Made,
    Turn,
    aside,
    by_level,
    listed,
    redraw_if,
)

QUESTION_ID = 1064
CATEGORY = "stem"
LEVEL = 7


class Level(NamedTuple):
    """What a level sets.

    By hand the balance at n corners is solved in n³/3 steps with fractions whose digits grow,
    for each network asked about: 3,700 steps at level 8, 16,000 at level 9, 28,000 at level 10.
    """

    corners: int
    """With the terminals."""
    wires: int
    loose: int = 1
    """How many joints come loose together in turn 2."""
    drops: int = 1
    """How many pairs of corners turn 2 joins."""
    swapped: int = 0
    """How many resistors turn 2 has replaced while the joints are loose."""
    elsewhere: int = 0
    """How many more pairs of terminals turn 2 asks about."""
    digits: int = 18
    """The most digits of a denominator in the results, above the usual level."""


LEVELS = by_level(
    Level(4, 5),
    Level(5, 7),
    Level(6, 9),  # as it was before there were levels
    Level(7, 12),
    Level(7, 13, swapped=1),
    Level(8, 15, swapped=1, elsewhere=1),
    Level(8, 16, loose=2, swapped=1, elsewhere=1),
    Level(14, 33, loose=2, drops=2, swapped=2, elsewhere=2, digits=32),
    Level(21, 54, loose=3, drops=3, swapped=3, elsewhere=3, digits=60),
    Level(24, 64, loose=4, drops=3, swapped=4, elsewhere=4, digits=80),
)
Edges = list[tuple[str, int]]
"""Two corners and the ohms between them."""


class Shape(NamedTuple):
    """What a network is begun with: its pairs of corners and its bridges."""

    pairs: tuple[str, ...]
    asked: str
    """The bridge whose current is asked for."""
    bridges: tuple[str, ...]
    """Without which it has only series and parallel; one of them breaks."""


_SHAPES = {
    4: Shape(("AC", "AD", "CB", "DB", "CD"), "CD", ("CD",)),
    5: Shape(("AC", "AD", "CD", "CE", "DB", "EB", "DE"), "DE", ("CD", "DE")),
    6: Shape(("AC", "AD", "CD", "CE", "DF", "EF", "EB", "FB", "DE"), "DE", ("CD", "EF", "DE")),
}
_FURTHER = "GHJKLMNPQRSTUVWXYZ"
_OHMS = (1, 2, 3, 4, 6)
"""Of the wires that a network has more, few enough for numbers that one can write down."""


def make(rng: random.Random, level: int) -> Made:
    """Return a question about an exact resistance in a network with bridges."""
    sets = LEVELS[level]
    shape = _SHAPES[min(sets.corners, 6)]
    more = aside(rng)
    edges = [(pair, rng.randint(1, 6)) for pair in shape.pairs]
    broken = [rng.choice(shape.bridges)]
    edges = _grown(more, edges, sets)
    ohms_of = dict(edges)
    broken += more.sample([pair for pair in ohms_of if pair not in broken], sets.loose - 1)
    kept = [pair for pair in ohms_of if pair not in (*broken, shape.asked)]
    swapped = {p: ohms_of[p] + more.randint(1, 3) for p in more.sample(kept, sets.swapped)}
    damaged = [(p, swapped.get(p, ohms)) for p, ohms in _without(edges, *broken)]
    corners = sorted(set("".join(ohms_of)) - set("AB" + shape.asked))
    solder = sets.drops - 1
    apart = ["".join(sorted(more.sample(corners, 2))) for _ in range(solder + sets.elsewhere)]
    drops, terminals = [shape.asked, *apart[:solder]], apart[solder:]
    redraw_if(len(set(apart)) < len(apart) or set(apart) & set(ohms_of))
    redraw_if(not _conducts(damaged, sets.corners))
    one, other = tuple(shape.asked)
    whole, cut = resistance(edges), resistance(damaged)
    shorted = resistance(_joined(edges, drops))
    between = [resistance(edges, *pair) for pair in terminals]
    volts = potentials(edges)
    share = (volts[one] - volts[other]) / ohms_of[shape.asked]
    asked_for = [whole, cut, shorted, *between]
    redraw_if(not share or len(set(asked_for)) < len(asked_for))
    if level <= 3:
        redraw_if(not 4 < whole.denominator < 800)
    else:
        digits = [len(str(x.denominator)) for x in (share, cut - whole, *asked_for)]
        redraw_if(max(digits) > sets.digits)
    series = resistance(_without(edges, *shape.bridges))
    listing = ", ".join(f"{_named(pair)} {ohms} Ω" for pair, ohms in edges)
    where, against = f"from {one} to {other}", f"from {other} to {one}"
    if share < 0:
        where, against = against, where
    current = abs(share)
    balance = ", ".join(f"{corner} {volt} V" for corner, volt in sorted(volts.items()))
    terms = "" if level == 3 else " All fractions in lowest terms."
    turn_1 = Turn(
        f"{rng.choice(PEOPLE)} has soldered a network for the physics club: {listing}. Between the "
        "terminals A and B, what is its resistance, exactly, as a fraction in ohms? And if 1 "
        "ampere goes in at A and out at B, how much of it passes through the resistor between "
        f"{one} and {other}, exactly, and in which direction?{terms}",
        shape=f"resistance; current; “from {one} to {other}” or “from {other} to {one}”",
        result=(whole, current, where),
        work="With 1 A in at A and B at 0 V, the balance of currents at every other corner gives "
        f"{balance}. So the resistance is {whole} Ω and {_named(shape.asked)} carries {current} A "
        f"{where}.",
        traps={
            "leaves the bridges out to have series and parallel": (series, current, where),
            "has the direction wrong": (whole, current, against),
        },
        points=["Solves the balance at the corners, or star and delta; no bridge is dropped."],
    )
    loose = listed([_named(pair) for pair in broken])
    joined = " and ".join(shape.asked)
    fused = f"{joined} as one corner"
    soldered = f"a drop of solder joins {joined} directly"
    for pair in drops[1:]:
        soldered += f", and another joins {' and '.join(pair)}"
        fused += f", and {' and '.join(pair)} as one"
    further = "".join(
        f" With the network as it was at first, what is the resistance between {a} and {b} alone, "
        "nothing being connected to A or B?"
        if n == 0
        else f" And between {a} and {b}?"
        for n, (a, b) in enumerate(map(tuple, terminals))
    )
    elsewhere = "".join(
        f" Between {a} and {b} the intact network has {ohms} Ω."
        for (a, b), ohms in zip(map(tuple, terminals), between, strict=True)
    )
    turn_2 = Turn(
        f"{_damage(loose, sets.loose, swapped)} By how much does the resistance you found go up? "
        f"Then {'all that is put right' if swapped else 'it is mended'}, and instead {soldered}. "
        "What is the resistance then, and does the pupil tell the truth who says that a drop of "
        f"solder between any two corners can never raise it?{further}",
        shape="; ".join(
            ["rise; resistance with the drop" + "s" * (sets.drops > 1), "yes or no"]
            + [f"resistance between {a} and {b}" for a, b in map(tuple, terminals)]
        ),
        result=(cut - whole, shorted, "yes", *between),
        work=f"{_supposed(loose, swapped)} it is {cut} Ω, {cut - whole} more. With {fused} it "
        f"is {shorted} Ω. A wire less never lowers a resistance and one more never raises it."
        f"{elsewhere}",
        traps={"gives the resistance instead of the rise": (cut, shorted, "yes", *between)},
        points=[
            "[state] Goes back to the intact network for the drop of solder.",
            "[honesty] Agrees with the pupil, with a reason that holds for any network.",
        ],
    )
    return Made((turn_1, turn_2), "the resistance you found", "change_premise")


def _grown(rng: random.Random, edges: Edges, sets: Level) -> Edges:
    """Return a network with as many corners and wires as a level sets."""
    edges = list(edges)
    corners = sorted({corner for pair, _ in edges for corner in pair})
    for corner in _FURTHER[: sets.corners - len(corners)]:
        edges += [(end + corner, rng.choice(_OHMS)) for end in sorted(rng.sample(corners, 3))]
        corners.append(corner)
    has = {pair for pair, _ in edges} | {"AB"}
    free = [a + b for n, a in enumerate(corners) for b in corners[n + 1 :] if a + b not in has]
    free = [pair for pair in free if pair[::-1] not in has]
    pairs = rng.sample(free, sets.wires - len(edges))
    return edges + [(pair, rng.choice(_OHMS)) for pair in pairs]


def _damage(loose: str, joints: int, swapped: dict[str, int]) -> str:
    """Return in words what is wrong with the network in turn 2."""
    head = "One joint has" if joints == 1 else f"{NUMBERS[joints].capitalize()} joints have"
    text = f"{head} come loose: {loose} {'doesn' if joints == 1 else 'don'}'t conduct"
    if swapped:
        ohms = listed([f"{_named(pair)} has {ohms} Ω" for pair, ohms in swapped.items()])
        text += f", and by a slip of the hand {ohms} now"
    return f"{text}."


def _supposed(loose: str, swapped: dict[str, int]) -> str:
    """Return what the damage is, for the worked answer."""
    if not swapped:
        return f"Without {loose}"
    return f"Without {loose} and with " + listed(
        [f"{_named(pair)} of {ohms} Ω" for pair, ohms in swapped.items()]
    )


def _named(pair: str) -> str:
    return "–".join(pair)


def potentials(edges: Edges, into: str = "A", out: str = "B") -> dict[str, Fraction]:
    """Return the volts of every corner with 1 A in at one and another, where it goes out, at 0."""
    corners = sorted({corner for pair, _ in edges for corner in pair} - {out})

    def conductance(one: str, other: str) -> Fraction:
        """Return that of all wires at a corner, or less that between two."""
        wires = (Fraction(1, ohms) for pair, ohms in edges if {one, other} <= set(pair))
        return sum(wires, Fraction()) * (1 if one == other else -1)

    rows = [[*(conductance(x, y) for y in corners), Fraction(x == into)] for x in corners]
    for n in range(len(corners)):
        rows[n] = [value / rows[n][n] for value in rows[n]]
        for r in range(len(corners)):
            if r != n and rows[r][n]:
                rows[r] = [x - rows[r][n] * y for x, y in zip(rows[r], rows[n], strict=True)]
    return {corner: row[-1] for corner, row in zip(corners, rows, strict=True)} | {out: Fraction()}


def resistance(edges: Edges, one: str = "A", other: str = "B") -> Fraction:
    """Return the resistance between two corners."""
    return potentials(edges, one, other)[one]


def _without(edges: Edges, *pairs: str) -> Edges:
    return [edge for edge in edges if edge[0] not in pairs]


def _joined(edges: Edges, drops: list[str]) -> Edges:
    """Return a network in which the two corners of each drop of solder are one."""
    for one, other in map(tuple, drops):
        edges = [(pair.replace(other, one), ohms) for pair, ohms in edges]
    return [(pair, ohms) for pair, ohms in edges if pair[0] != pair[1]]


def _conducts(edges: Edges, corners: int) -> bool:
    """Return whether all corners hang together."""
    reached, before = {"A"}, 0
    while before != len(reached):
        before = len(reached)
        reached |= {corner for pair, _ in edges if reached & set(pair) for corner in pair}
    return before == corners
