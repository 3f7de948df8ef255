"""A small machine whose program changes itself, run on paper; then with one line replaced."""

import random
from typing import NamedTuple

from turnbench_questions.template import PEOPLE, Made, Turn, numbered, redraw_if

QUESTION_ID = 1044
CATEGORY = "coding"
LEVEL = 3

_KINDS = ("set", "add", "sub", "swap", "jump", "skip", "patch", "half")


class Line(NamedTuple):
    """An instruction, a register and a number."""

    kind: str
    register: str
    number: int


class Step(NamedTuple):
    """The line carried out, and what the discs show after it."""

    line: int
    a: int
    b: int
    c: int


def make(rng: random.Random) -> Made:
    """Return a question about the registers at the end."""
    modulus = rng.choice([13, 17, 19])
    program = [Line(rng.choice(_KINDS), rng.choice("ABC"), rng.randint(1, 9)) for _ in range(10)]
    redraw_if(any(x.kind == "jump" and x.number == n for n, x in enumerate(program, 1)))
    redraw_if(len({line.kind for line in program}) < 6)
    at = rng.randint(2, 9)
    new = Line(rng.choice(["add", "sub", "set"]), rng.choice("ABC"), rng.randint(1, 9))
    steps = run(program, modulus)
    redraw_if(not 22 <= len(steps) <= 48)
    redraw_if([program[step.line - 1].kind for step in steps].count("patch") < 3)
    changed = [*program[: at - 1], new, *program[at:]]
    again = run(changed, modulus)
    redraw_if(len(steps) == len(again) or not 22 <= len(again) <= 55)
    end, later, frozen = map(stop, (steps, again, run(program, modulus, patching=False)))
    redraw_if(len({end, frozen, later}) < 3)
    listing = numbered(map(written, program))
    turn_1 = Turn(
        f"{rng.choice(PEOPLE)} built a machine out of wooden discs, with three of them, A, B and "
        f"C, that show 0 to {modulus - 1} and go round ({modulus - 1} + 1 is 0, 0 − 1 is "
        f"{modulus - 1}). All begin at 0. The lines are carried out in order from line 1, unless a "
        "line says otherwise; after line 10 it stops. Each line carried out is one step, lines "
        f"that are skipped aren't.\n\n{listing}\n\n“Raise the number in line n by 1” changes the "
        "last number written in that line from then on (10 becomes 1). A jump goes to the line its "
        "number then names; for “skip” the number is what the disc is compared with. What do the "
        "discs show in the end, and after how many steps?",
        shape="A; B; C; steps",
        result=end,
        work=trace(steps),
        traps={"leaves the program as written, though it changes itself": frozen},
        points=["[state] Carries the changed numbers along when lines are carried out again."],
    )
    turn_2 = Turn(
        f"In the workshop line {at} reads differently from the start: “{written(new)}” Everything "
        "else as before, discs at 0 and all numbers as first written. Where does it end now, and "
        "by how many steps does that differ from your count (0 if it doesn't)?",
        shape="A; B; C; steps; difference",
        result=(*later, abs(len(again) - len(steps))),
        work=trace(again),
        traps={"takes the change for harmless": (*end, 0)},
        points=["[state] Starts with the numbers as first written, not as left by the first run."],
    )
    return Made((turn_1, turn_2), "your count", "change_premise")


def run(program: list[Line], modulus: int, patching: bool = True) -> list[Step]:
    """Return the steps of a run."""
    discs = dict.fromkeys("ABC", 0)
    numbers = [line.number for line in program]
    at, steps = 1, list[Step]()
    while at <= len(program):
        redraw_if(len(steps) == 200)
        (kind, disc, _), number, here = program[at - 1], numbers[at - 1], at
        value, other = discs[disc], _other(disc)
        at += 1
        new = {"set": number, "add": value + number, "sub": value - number, "half": value // 2}
        discs[disc] = new.get(kind, value) % modulus
        if kind == "swap":
            discs[disc], discs[other] = discs[other], value
        elif kind == "jump" and value != 0:
            at = number
        elif kind == "skip" and value > number:
            at += 1
        elif kind == "patch" and patching:
            redraw_if(program[number - 1].kind in {"swap", "half"})
            numbers[number - 1] = numbers[number - 1] % 10 + 1
        steps.append(Step(here, *discs.values()))
    return steps


def stop(steps: list[Step]) -> tuple[int, ...]:
    """Return what the discs show in the end, and the number of steps."""
    return *steps[-1][1:], len(steps)


def trace(steps: list[Step]) -> str:
    """Return the steps of a run, one a line."""
    lines = (f"line {line}: A {a}, B {b}, C {c}" for line, a, b, c in steps)
    return numbered(lines, "step {}, {}")


def _other(disc: str) -> str:
    return "ABC"["ABC".index(disc) - 2]


def written(line: Line) -> str:
    """Return a line in words."""
    register, number = line.register, line.number
    return {
        "set": f"Set {register} to {number}.",
        "add": f"Turn {register} forward by {number}.",
        "sub": f"Turn {register} back by {number}.",
        "half": f"Set {register} to half its value, rounded down.",
        "swap": f"Exchange {register} and {_other(register)}.",
        "jump": f"If {register} isn't 0, go on at line {number}.",
        "skip": f"If {register} is more than {number}, skip the next line.",
        "patch": f"Raise the number in line {number} by 1.",
    }[line.kind]
