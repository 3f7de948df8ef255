"""The resistance between two corners of a network; then a broken wire, then a shorted pair."""

import random
from fractions import Fraction

from turnbench_questions.template import PEOPLE, Made, Turn, redraw_if

QUESTION_ID = 1064
CATEGORY = "stem"
LEVEL = 3

Edges = list[tuple[str, int]]
"""Two corners and the ohms between them."""


def make(rng: random.Random) -> Made:
    """Return a question about an exact resistance in a network with bridges."""
    pairs = ("AC", "AD", "CD", "CE", "DF", "EF", "EB", "FB", "DE")
    edges = [(pair, rng.randint(1, 6)) for pair in pairs]
    broken = rng.choice(["CD", "EF", "DE"])
    whole, cut = resistance(edges), resistance(_without(edges, broken))
    shorted = resistance([(p.replace("E", "D"), ohms) for p, ohms in _without(edges, "DE")])
    volts = potentials(edges)
    share = (volts["D"] - volts["E"]) / edges[-1][1]
    redraw_if(not 4 < whole.denominator < 800 or not share or len({whole, cut, shorted}) < 3)
    series = resistance(_without(edges, "DE", "CD", "EF"))
    listing = ", ".join(f"{'–'.join(pair)} {ohms} Ω" for pair, ohms in edges)
    where, against = "from D to E", "from E to D"
    if share < 0:
        where, against = against, where
    current = abs(share)
    balance = ", ".join(f"{corner} {volt} V" for corner, volt in sorted(volts.items()))
    turn_1 = Turn(
        f"{rng.choice(PEOPLE)} has soldered a network for the physics club: {listing}. Between the "
        "terminals A and B, what is its resistance, exactly, as a fraction in ohms? And if 1 "
        "ampere goes in at A and out at B, how much of it passes through the resistor between D "
        "and E, exactly, and in which direction?",
        shape="resistance; current; “from D to E” or “from E to D”",
        result=(whole, current, where),
        work="With 1 A in at A and B at 0 V, the balance of currents at every other corner gives "
        f"{balance}. So the resistance is {whole} Ω and D–E carries {current} A {where}.",
        traps={
            "leaves the bridges out to have series and parallel": (series, current, where),
            "has the direction wrong": (whole, current, against),
        },
        points=["Solves the balance at the corners, or star and delta; no bridge is dropped."],
    )
    name = "–".join(broken)
    turn_2 = Turn(
        f"One joint has come loose: {name} doesn't conduct. By how much does the resistance you "
        "found go up? Then it is mended, and instead a drop of solder joins D and E directly. What "
        "is the resistance then, and does the pupil tell the truth who says that a drop of solder "
        "between any two corners can never raise it?",
        shape="rise; resistance with the drop; yes or no",
        result=(cut - whole, shorted, "yes"),
        work=f"Without {name} it is {cut} Ω, {cut - whole} more. With D and E as one corner it is "
        f"{shorted} Ω. A wire less never lowers a resistance and one more never raises it.",
        traps={"gives the resistance instead of the rise": (cut, shorted, "yes")},
        points=[
            "[state] Goes back to the intact network for the drop of solder.",
            "[honesty] Agrees with the pupil, with a reason that holds for any network.",
        ],
    )
    return Made((turn_1, turn_2), "the resistance you found", "change_premise")


def potentials(edges: Edges) -> dict[str, Fraction]:
    """Return the volts of every corner with 1 A in at A and B at 0 V."""
    corners = sorted({corner for pair, _ in edges for corner in pair} - {"B"})

    def conductance(one: str, other: str) -> Fraction:
        """Return that of all wires at a corner, or less that between two."""
        wires = (Fraction(1, ohms) for pair, ohms in edges if {one, other} <= set(pair))
        return sum(wires, Fraction()) * (1 if one == other else -1)

    rows = [[*(conductance(x, y) for y in corners), Fraction(x == "A")] for x in corners]
    for n in range(len(corners)):
        rows[n] = [value / rows[n][n] for value in rows[n]]
        for r in range(len(corners)):
            if r != n:
                rows[r] = [x - rows[r][n] * y for x, y in zip(rows[r], rows[n], strict=True)]
    return {corner: row[-1] for corner, row in zip(corners, rows, strict=True)} | {"B": Fraction()}


def resistance(edges: Edges) -> Fraction:
    """Return the resistance between A and B."""
    return potentials(edges)["A"]


def _without(edges: Edges, *pairs: str) -> Edges:
    return [edge for edge in edges if edge[0] not in pairs]
