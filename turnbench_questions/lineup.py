"""A line of people rearranged by instructions; then as if two of them had never been given."""

import random
from typing import NamedTuple

from turnbench_questions.template import (
    PEOPLE,
    TOWNS,
    Made,
    Turn,
    Value,
    different,
    numbered,
    redraw_if,
)

QUESTION_ID = 1023
CATEGORY = "reasoning"

_KINDS = ("exchange", "behind", "turned", "left end", "neighbour", "mirror", "alphabet")
Line = tuple[str, ...]


class Step(NamedTuple):
    """An instruction: its kind, two people, two places and a number."""

    kind: str
    a: str
    b: str
    i: int
    j: int
    k: int


def make(rng: random.Random) -> Made:
    """Return a question about an order after ten steps, then without two of them."""
    line = tuple(rng.sample(PEOPLE, 12))
    steps = [_step(rng, line, kind) for kind in rng.sample(_KINDS, 7) + rng.sample(_KINDS, 3)]
    rows = moved(line, steps)
    undone = sorted(rng.sample(range(1, 8), 2))
    rows_again = moved(line, [step for n, step in enumerate(steps) if n not in undone])
    result, again, slip = rows[-1], rows_again[-1], rows[-2]
    backwards = moved(result, [steps[n] for n in reversed(undone)])[-1]
    redraw_if(len({result, again, backwards, slip}) < 4)
    instructions = numbered(map(written, steps), "({}) {}", " ")
    first, second = undone[0] + 1, undone[1] + 1
    turn_1 = Turn(
        f"Twelve singers of a choir in {rng.choice(TOWNS)} stand in a row, from left to right: "
        f"{', '.join(line)}. Places are numbered from the left, 1 to 12. Their conductor moves "
        "them about, one instruction after another, each meaning the row as it stands at that "
        f"moment: {instructions} Who stands where in the end?",
        shape="the twelve names from left to right",
        label="Row",
        result=result,
        work=numbered(map(", ".join, rows), "{}: {}"),
        traps={"leaves the last instruction out": slip},
        points=["Shows the row after each instruction, or most of them."],
    )
    turned_back: tuple[Value, ...] = (*backwards, 12 - different(result, backwards))
    turn_2 = Turn(
        f"He finds in the score that instructions {first} and {second} were meant for another "
        "choir. How would your row look had these two never been given, and the others, in their "
        "order and by their words, had? And how many singers stand where they stood in your first "
        "row?",
        shape="the twelve names from left to right; how many are in the same place",
        label="Row",
        result=(*again, 12 - different(result, again)),
        work=numbered(map(", ".join, rows_again), "{}: {}"),
        traps={
            "turns the two back at the end, though what came between depends on them": turned_back
        },
        points=[
            "Starts again from the beginning, since later instructions read the row.",
            "[state] Compares with its own first row.",
        ],
    )
    return Made((turn_1, turn_2), "your first row", "change_premise")


def moved(line: Line, steps: list[Step]) -> list[Line]:
    """Return the row after each step."""
    row, rows = list(line), list[Line]()
    for kind, a, b, i, j, k in steps:
        at = row.index(a)
        if kind == "exchange":
            row[i], row[j] = row[j], row[i]
        elif kind == "behind":
            row.remove(a)
            row.insert(row.index(b) + 1, a)
        elif kind == "turned":
            row[i : j + 1] = reversed(row[i : j + 1])
        elif kind == "left end":
            row = row[-k:] + row[:-k]
        elif kind == "neighbour":
            row.insert(0, row.pop((at + 1) % 12))
        elif kind == "mirror":
            row[at], row[11 - at] = row[11 - at], row[at]
        else:
            row[min(i, 8) : min(i, 8) + 4] = sorted(row[min(i, 8) : min(i, 8) + 4])
        rows.append(tuple(row))
    return rows


def written(step: Step) -> str:
    """Return an instruction in words."""
    kind, a, b, i, j, k = step
    start = min(i, 8) + 1
    return {
        "exchange": f"Whoever are in places {i + 1} and {j + 1} change places.",
        "behind": f"{a} goes to the place right after {b}; gaps close.",
        "turned": f"Places {i + 1} to {j + 1} are turned round in their order.",
        "left end": f"The {k} on the far right go to the far left, their order unchanged.",
        "neighbour": f"Whoever stands right after {a} (after place 12 comes place 1) goes to the "
        "far left.",
        "mirror": f"{a} changes places with whoever is as far from the right end as {a} is from "
        "the left.",
        "alphabet": f"Places {start} to {start + 3} line up by the alphabet.",
    }[kind]


def _step(rng: random.Random, line: Line, kind: str) -> Step:
    a, b = rng.sample(line, 2)
    i, j = sorted(rng.sample(range(12), 2))
    return Step(kind, a, b, i, j, rng.randint(2, 4))
