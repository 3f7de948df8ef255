"""The resistance between two corners of a network; then a broken wire, then a shorted pair."""

import random
from fractions import Fraction

from harness.extras.questions.template import PEOPLE, Made, Turn, redraw_if

Edges = list[tuple[str, str, int]]


def make(rng: random.Random) -> Made:
    """Return a question about an exact resistance in a network with bridges."""
    edges = [
        (*pair, rng.randint(1, 6))
        for pair in (["AC", "AD", "CD", "CE", "DF", "EF", "EB", "FB", "DE"])
    ]
    broken = rng.choice(["CD", "EF", "DE"])
    whole, shorted = resistance(edges), resistance(joined(edges, "D", "E"))
    cut = resistance([edge for edge in edges if edge[0] + edge[1] != broken])
    volts = potentials(edges)
    share = (volts["D"] - volts["E"]) / edges[-1][2]
    redraw_if(not 4 < whole.denominator < 800 or not share or len({whole, cut, shorted}) < 3)
    without = resistance([edge for edge in edges if edge[0] + edge[1] not in {"DE", "CD", "EF"}])
    listing = ", ".join(f"{a}–{b} {ohms} Ω" for a, b, ohms in edges)
    where = "from D to E" if share > 0 else "from E to D"
    one = Turn(
        f"{rng.choice(PEOPLE)} has soldered a network for the physics club: {listing}. Between the "
        "terminals A and B, what is its resistance, exactly, as a fraction in ohms? And if 1 "
        "ampere goes in at A and out at B, how much of it passes through the resistor between D "
        "and E, exactly, and in which direction?",
        shape="resistance; current; “from D to E” or “from E to D”",
        result=(whole, abs(share), where),
        work="With 1 A in at A and B at 0 V, the balance of currents at every other corner gives "
        f"{_volts(edges)}. So the resistance is {whole} Ω and D–E carries {abs(share)} A {where}.",
        traps={
            "leaves the bridges out to have series and parallel": (without, abs(share), where),
            "has the direction wrong": (
                whole,
                abs(share),
                "from E to D" if share > 0 else "from D to E",
            ),
        },
        points=["Solves the balance at the corners, or star and delta; no bridge is dropped."],
    )
    name = "–".join(broken)
    two = Turn(
        f"One joint has come loose: {name} doesn't conduct. By how much does the resistance you "
        "found go up? Then it is mended, and instead a drop of solder joins D and E directly. What "
        "is the resistance then, and does the pupil tell the truth who says that a drop of solder "
        "can only ever lower it?",
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
    return Made((one, two), "the resistance you found", "change_premise")


def potentials(edges: Edges) -> dict[str, Fraction]:
    """Return the volts of every corner with 1 A in at A and B at 0 V."""
    corners = sorted({corner for a, b, _ in edges for corner in (a, b)} - {"B"})
    rows = [[Fraction()] * len(corners) + [Fraction(corner == "A")] for corner in corners]
    for a, b, ohms in edges:
        for here, there in ((a, b), (b, a)):
            if here != "B":
                row = rows[corners.index(here)]
                row[corners.index(here)] += Fraction(1, ohms)
                if there != "B":
                    row[corners.index(there)] -= Fraction(1, ohms)
    for n in range(len(corners)):
        pivot = next(r for r in range(n, len(corners)) if rows[r][n])
        rows[n], rows[pivot] = rows[pivot], rows[n]
        rows[n] = [value / rows[n][n] for value in rows[n]]
        for r in range(len(corners)):
            if r != n:
                rows[r] = [x - rows[r][n] * y for x, y in zip(rows[r], rows[n], strict=True)]
    return {corner: rows[n][-1] for n, corner in enumerate(corners)} | {"B": Fraction()}


def resistance(edges: Edges) -> Fraction:
    """Return the resistance between A and B."""
    return potentials(edges)["A"]


def joined(edges: Edges, one: str, other: str) -> Edges:
    """Return a network with two corners made one."""
    merged = [(one if a == other else a, one if b == other else b, ohms) for a, b, ohms in edges]
    return [edge for edge in merged if edge[0] != edge[1]]


def _volts(edges: Edges) -> str:
    return ", ".join(f"{corner} {volts} V" for corner, volts in sorted(potentials(edges).items()))
