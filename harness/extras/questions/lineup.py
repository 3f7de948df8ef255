"""A line of people rearranged by instructions; then as if two of them had never been given."""

import random
from collections.abc import Callable
from typing import NamedTuple

from harness.extras.questions.template import PEOPLE, TOWNS, Made, Turn, redraw_if

Line = list[str]


class Step(NamedTuple):
    """An instruction in words, and what it does."""

    text: str
    apply: Callable[[Line], Line]


def make(rng: random.Random) -> Made:
    """Return a question about an order after ten steps, then without two of them."""
    line = rng.sample(PEOPLE, 12)
    steps = [_step(rng, line, kind) for kind in rng.sample(range(7), 7) + rng.sample(range(7), 3)]
    result = tuple(after(line, steps))
    undone = sorted(rng.sample(range(1, 8), 2))
    kept = [step for number, step in enumerate(steps) if number not in undone]
    again = tuple(after(line, kept))
    backwards = tuple(after(list(result), [steps[n] for n in reversed(undone)]))
    slip = tuple(after(line, steps[:-1]))
    redraw_if(len({result, again, backwards, slip}) < 4)
    told = " ".join(f"({number}) {step.text}" for number, step in enumerate(steps, 1))
    first, second = undone[0] + 1, undone[1] + 1
    one = Turn(
        f"Twelve singers of a choir in {rng.choice(TOWNS)} stand in a row, from left to right: "
        f"{', '.join(line)}. Places are numbered from the left, 1 to 12. Their conductor moves "
        "them about, one instruction after another, each meaning the row as it stands at that "
        f"moment: {told} Who stands where in the end?",
        shape="the twelve names from left to right",
        label="Row",
        result=result,
        work="\n".join(
            f"{n}: {', '.join(after(line, steps[:n]))}" for n in range(1, len(steps) + 1)
        ),
        traps={"leaves the last instruction out": slip},
        points=["Shows the row after each instruction, or most of them."],
    )
    two = Turn(
        f"He finds in the score that instructions {first} and {second} were meant for another "
        "choir. How would your row look had these two never been given, and the others, in their "
        "order and by their words, had? And how many singers stand where they stood in your first "
        "row?",
        shape="the twelve names from left to right; how many are in the same place",
        label="Row",
        result=(*again, sum(a == b for a, b in zip(result, again, strict=True))),
        work="\n".join(f"{n}: {', '.join(after(line, kept[:n]))}" for n in range(1, len(kept) + 1)),
        traps={
            "turns the two back at the end, though what came between depends on them": (
                *backwards,
                sum(a == b for a, b in zip(result, backwards, strict=True)),
            )
        },
        points=[
            "Starts again from the beginning, since later instructions read the row.",
            "[state] Compares with its own first row.",
        ],
    )
    return Made((one, two), "your first row", "change_premise")


def after(line: Line, steps: list[Step]) -> Line:
    """Return the row after some steps."""
    for step in steps:
        line = step.apply(list(line))
    return line


def _step(rng: random.Random, line: Line, kind: int) -> Step:
    a, b = rng.sample(line, 2)
    i, j = sorted(rng.sample(range(12), 2))
    k = rng.randint(2, 4)

    def exchange(row: Line) -> Line:
        row[i], row[j] = row[j], row[i]
        return row

    def behind(row: Line) -> Line:
        row.remove(a)
        row.insert(row.index(b) + 1, a)
        return row

    def turned(row: Line) -> Line:
        return row[:i] + row[i : j + 1][::-1] + row[j + 1 :]

    def left_end(row: Line) -> Line:
        return row[-k:] + row[:-k]

    def neighbour(row: Line) -> Line:
        at = (row.index(a) + 1) % 12
        other = row[at]
        row.remove(other)
        return [other, *row]

    def mirror(row: Line) -> Line:
        at = row.index(a)
        row[at], row[11 - at] = row[11 - at], row[at]
        return row

    def alphabet(row: Line) -> Line:
        low, high = min(i, 8), min(i, 8) + 4
        return row[:low] + sorted(row[low:high]) + row[high:]

    start = min(i, 8) + 1
    return [
        Step(f"Whoever are in places {i + 1} and {j + 1} change places.", exchange),
        Step(f"{a} goes to the place right after {b}; gaps close.", behind),
        Step(f"Places {i + 1} to {j + 1} are turned round in their order.", turned),
        Step(f"The {k} on the far right go to the far left, their order unchanged.", left_end),
        Step(
            f"Whoever stands right after {a} (after place 12 comes place 1) goes to the far left.",
            neighbour,
        ),
        Step(
            f"{a} changes places with whoever is as far from the right end as {a} is from the "
            "left.",
            mirror,
        ),
        Step(f"Places {start} to {start + 3} line up by the alphabet.", alphabet),
    ][kind]
