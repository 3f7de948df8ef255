"""A small machine whose program changes itself, run on paper; then with one line replaced."""

import random
from typing import NamedTuple

from harness.extras.questions.template import PEOPLE, Made, Turn, redraw_if

_KINDS = ("set", "add", "sub", "swap", "jump", "skip", "patch", "half")


class Line(NamedTuple):
    """An instruction, a register and a number."""

    kind: str
    register: str
    number: int


class Stop(NamedTuple):
    """Where a run ended."""

    a: int
    b: int
    c: int
    steps: int


def make(rng: random.Random) -> Made:
    """Return a question about the registers at the end."""
    modulus = rng.choice([13, 17, 19])
    program = [Line(rng.choice(_KINDS), rng.choice("ABC"), rng.randint(1, 9)) for _ in range(10)]
    redraw_if(any(x.kind == "jump" and x.number == n for n, x in enumerate(program, 1)))
    redraw_if(len({line.kind for line in program}) < 6)
    at = rng.randint(2, 9)
    new = Line(rng.choice(["add", "sub", "set"]), rng.choice("ABC"), rng.randint(1, 9))
    steps = _run(program, modulus, True) or []
    redraw_if(
        not 22 <= len(steps) <= 48 or [program[n - 1].kind for n, _ in steps].count("patch") < 3
    )
    end, frozen = steps[-1][1], run(program, modulus, patching=False)
    changed = [*program[: at - 1], new, *program[at:]]
    later = run(changed, modulus)
    redraw_if(
        frozen is None or later is None or end.steps == later.steps or not 22 <= later.steps <= 55
    )
    redraw_if(len({end, frozen, later}) < 3)
    listing = "\n".join(f"{n}. {written(line)}" for n, line in enumerate(program, 1))
    one = Turn(
        f"{rng.choice(PEOPLE)} built a machine out of wooden discs, with three of them, A, B and "
        f"C, that show 0 to {modulus - 1} and go round ({modulus - 1} + 1 is 0, 0 − 1 is "
        f"{modulus - 1}). All begin at 0. The lines are carried out in order from line 1, unless a "
        "line says otherwise; after line 10 it stops. Each line carried out is one step, lines "
        f"that are skipped aren't.\n\n{listing}\n\n“Raise the number in line n by 1” changes the "
        "last number written in that line from then on (10 becomes 1). A jump goes to the line its "
        "number then names; for “skip” the number is what the disc is compared with. What do the "
        "discs show in the end, and after how many steps?",
        shape="A; B; C; steps",
        result=tuple(end),
        work=trace(program, modulus),
        traps={"leaves the program as written, though it changes itself": tuple(frozen)},
        points=["[state] Carries the changed numbers along when lines are carried out again."],
    )
    two = Turn(
        f"In the workshop line {at} reads differently from the start: “{written(new)}” Everything "
        "else as before, discs at 0 and all numbers as first written. Where does it end now, and "
        "by how many steps does that differ from your count (0 if it doesn't)?",
        shape="A; B; C; steps; difference",
        result=(*later, abs(later.steps - end.steps)),
        work=trace(changed, modulus),
        traps={"takes the change for harmless": (*end, 0)},
        points=["[state] Starts with the numbers as first written, not as left by the first run."],
    )
    return Made((one, two), "your count", "change_premise")


def run(program: list[Line], modulus: int, patching: bool = True) -> Stop | None:
    """Return how a run ends; None after 200 steps."""
    seen = _run(program, modulus, patching)
    return None if seen is None else seen[-1][1]


def trace(program: list[Line], modulus: int) -> str:
    """Return the steps of a run, one a line."""
    seen = _run(program, modulus, True) or []
    return "\n".join(f"step {s.steps}, line {n}: A {s.a}, B {s.b}, C {s.c}" for n, s in seen)


def _run(program: list[Line], modulus: int, patching: bool) -> list[tuple[int, Stop]] | None:
    discs = dict.fromkeys("ABC", 0)
    numbers = [line.number for line in program]
    at, seen = 1, list[tuple[int, Stop]]()
    while at <= len(program):
        if len(seen) == 200:
            return None
        line, number, here = program[at - 1], numbers[at - 1], at
        other = "ABC"["ABC".index(line.register) - 2]
        value = discs[line.register]
        at += 1
        if line.kind == "set":
            value = number
        elif line.kind == "add":
            value += number
        elif line.kind == "sub":
            value -= number
        elif line.kind == "half":
            value //= 2
        elif line.kind == "swap":
            value, discs[other] = discs[other], value
        elif line.kind == "jump" and value != 0:
            at = number
        elif line.kind == "skip" and value > number:
            at += 1
        elif line.kind == "patch" and patching:
            if program[number - 1].kind in {"swap", "half"}:
                return None
            numbers[number - 1] = numbers[number - 1] % 10 + 1
        discs[line.register] = value % modulus
        seen.append((here, Stop(discs["A"], discs["B"], discs["C"], len(seen) + 1)))
    return seen


def written(line: Line) -> str:
    """Return a line in words."""
    register, number = line.register, line.number
    other = "ABC"["ABC".index(register) - 2]
    return {
        "set": f"Set {register} to {number}.",
        "add": f"Turn {register} forward by {number}.",
        "sub": f"Turn {register} back by {number}.",
        "half": f"Set {register} to half its value, rounded down.",
        "swap": f"Exchange {register} and {other}.",
        "jump": f"If {register} isn't 0, go on at line {number}.",
        "skip": f"If {register} is more than {number}, skip the next line.",
        "patch": f"Raise the number in line {number} by 1.",
    }[line.kind]
