"""A small machine whose program changes itself, run on paper; then with lines replaced."""

import itertools
import random
from collections.abc import Sequence
from typing import NamedTuple

from turnbench_questions.template import (
    NUMBERS,
    PEOPLE,
    Made,
    RedrawError,
    Turn,
    aside,
    by_level,
    different,
    listed,
    numbered,
    redraw_if,
)

QUESTION_ID = 1044
CATEGORY = "coding"
LEVEL = 8


class Level(NamedTuple):
    """What a level sets.

    From the eighth level on both turns are one run of so many steps, each of which needs the one
    before: 4,000 at level 8, 16,000 at level 9, 30,000 at level 10.
    """

    lines: int
    steps: tuple[int, int]
    """The fewest and the most of the first run, which ends by itself; from the fourth level on
    its steps are counted out, and it begins again after the last line."""
    again: tuple[int, int]
    """The same of the second run."""
    patches: int
    """How often the program changes itself at least."""
    discs: str = "ABC"
    kinds: int = 8
    """How many kinds of line there are."""
    moduli: tuple[int, ...] = (13, 17, 19)
    machines: int = 1
    """How many machines turn 2 asks about: lines replaced in some, all of them in the last."""
    goes_on: bool = False
    """Whether turn 2 goes on from where turn 1 ends, one line after the other replaced."""


LEVELS = by_level(
    Level(10, (8, 16), (8, 20), 1),
    Level(10, (14, 28), (14, 34), 2),
    Level(10, (22, 48), (22, 55), 3),  # as it was before there were levels
    Level(10, (50, 50), (50, 50), 4),
    Level(11, (70, 70), (70, 70), 6, kinds=9),
    Level(12, (90, 90), (90, 90), 8, "ABCD", 10, (23, 29, 31)),
    Level(12, (120, 120), (120, 120), 10, "ABCD", 11, (29, 31, 37), 2),
    Level(14, (1000, 1000), (1000, 1000), 80, "ABCDEF", 12, (79, 83, 89, 97), 3, goes_on=True),
    Level(15, (4000, 4000), (4000, 4000), 300, "ABCDEFG", 12, (101, 103, 107), 3, goes_on=True),
    Level(16, (6000, 6000), (6000, 6000), 400, "ABCDEFG", 12, (181, 191, 193), 4, goes_on=True),
)
_KINDS = ("set", "add", "sub", "swap", "jump", "skip", "patch", "half")
_FURTHER = ("gain", "more", "times", "feed")
_REPLACING = ("add", "sub", "set")
_LASTING = ("add", "sub", "swap", "raise", "gain", "more", "times", "feed", "over", "lose")
"""The kinds of a machine that goes on: none forgets what a disc has shown."""
_MOVING = ("add", "sub", "gain", "lose")
_NUMBERLESS = {"swap", "half", "gain", "lose", "over"}
_COLOURS = ("green", "blue", "red")
"""Of the machines of turn 2."""
_STRETCH = 40
"""In so many steps of a run that is counted out half of the lines must be carried out."""


class Line(NamedTuple):
    """An instruction, a register, a number and another register."""

    kind: str
    register: str
    number: int
    other: str


class Step(NamedTuple):
    """The line carried out, and what the discs show after it."""

    line: int
    discs: tuple[int, ...]
    numbers: tuple[int, ...] = ()
    """Those in the lines after it."""
    then: int = 1
    """The line that comes next."""


def make(rng: random.Random, level: int) -> Made:
    """Return a question about the registers at the end."""
    sets = LEVELS[level]
    return _counted_out(rng, sets) if level > 3 else _ending(rng, sets)


def _ending(rng: random.Random, sets: Level) -> Made:
    """Return the question about a program that ends by itself."""
    modulus = rng.choice(sets.moduli)
    program = [_line(rng, _KINDS, sets.discs) for _ in range(10)]
    redraw_if(any(x.kind == "jump" and x.number == n for n, x in enumerate(program, 1)))
    redraw_if(len({line.kind for line in program}) < 6)
    at = rng.randint(2, 9)
    new = _line(rng, _REPLACING, sets.discs)
    steps = run(program, modulus, most=sets.steps[1])
    redraw_if(not sets.steps[0] <= len(steps) <= sets.steps[1])
    redraw_if([program[step.line - 1].kind for step in steps].count("patch") < sets.patches)
    changed = [*program[: at - 1], new, *program[at:]]
    again = run(changed, modulus, most=sets.again[1])
    redraw_if(len(steps) == len(again) or not sets.again[0] <= len(again) <= sets.again[1])
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


def _counted_out(rng: random.Random, sets: Level) -> Made:
    """Return the question about a program that goes round and round, for so many steps."""
    turns, discs, last = sets.steps[0], sets.discs, sets.lines
    modulus = rng.choice(sets.moduli)
    more = aside(rng)
    program = _mixed(more, sets)
    redraw_if(not _rich(program, modulus, sets))
    steps = run(program, modulus, discs, turns)
    if sets.goes_on:
        changes, again = _exchanges(more, program, steps, modulus, sets)
    else:
        changes = _changes(more, program, modulus, sets)
        again = [run(_with(program, change), modulus, discs, turns) for change in changes]
    frozen = run(program, modulus, discs, turns, patching=False)
    ends = [one[-1].discs for one in (steps, frozen, *again)]
    pairs = itertools.combinations(ends, 2)
    redraw_if(any(different(one, other) < len(discs) - 2 for one, other in pairs))
    counted = max(
        (n for n in range(1, last + 1) if _times(steps, n) > turns // 20),
        key=lambda n: sum(_times(one, n) != _times(steps, n) for one in again),
    )
    first = _times(steps, counted)
    differences = [abs(_times(one, counted) - first) for one in again]
    skips = "; for “skip” the number is what the disc is compared with"
    moments, separator, each = [turns], ";", ""
    round_again = f"after {last} comes 1 again, and"
    if sets.goes_on:
        skips, separator, each = "", ",", " after each of these, in this order"
        moments = [turns * n // 4 for n in (1, 2, 3, 4)]
        round_again = (
            f"these numbers go from 1 to {last} and round, so that {last} raised by 1 is 1, and"
        )

    def shown_at(run: list[Step]) -> list[int]:
        """Return what the discs show at the moments that turn 1 asks about."""
        return [value for n in moments for value in run[n - 1].discs]

    turn_1 = Turn(
        f"{rng.choice(PEOPLE)} built a machine out of wooden discs, with {NUMBERS[len(discs)]} of "
        f"them, {listed(list(discs))}, that show 0 to {modulus - 1} and go round ({modulus - 1} + "
        f"1 is 0, 0 − 1 is {modulus - 1}). All begin at 0. Each turn of the crank carries out one "
        "line, which is one step: in order from line 1, unless a line says otherwise, and after "
        f"line {last} comes line 1. Lines that are skipped take no turn; to skip line {last} is to "
        f"go on at line 1.\n\n{numbered(map(written, program))}\n\nTo raise the number in "
        "a line changes the last number written in it from then on, and a line may raise its own; "
        f"{round_again} a line in which no number is written stays as it is. A "
        f"jump goes to the line its number then names{skips}. What do the discs show after exactly "
        f"{listed([str(n) for n in moments])} turns, and how many of "
        f"{'these' if len(moments) == 1 else f'the {turns}'} turns carried out line {counted}?",
        shape=f"{f'{separator} '.join(discs)}{each}; turns with line {counted}",
        result=(*shown_at(steps), first),
        work=_milestones(steps, discs),
        traps={
            "leaves the program as written, though it changes itself": (
                *shown_at(frozen),
                _times(frozen, counted),
            )
        },
        points=["[state] Carries the changed numbers along when lines are carried out again."],
    )
    if sets.goes_on:
        turn_2 = _cranked_on(program, modulus, sets, changes, steps, again, counted, differences)
        return Made((turn_1, turn_2), "your count", "extend")
    differ = [
        f"in the {name} one "
        + listed([f"line {at} reads “{written(line)[:-1]}”" for at, line in change.items()])
        for name, change in zip(_COLOURS, changes, strict=False)
    ]
    stand = "stands one more that reads"
    if sets.machines > 1:
        stand = f"stand {NUMBERS[sets.machines]} more that read"
    values = f"{', '.join(discs)} and the difference"
    turn_2 = Turn(
        f"Your machine is painted white. In the workshop {stand} differently from the start: "
        f"{'; '.join(differ)}. Everything else as before, with all numbers as first written. For "
        f"each: what do the discs show after {turns} turns, and by how many does the number of "
        f"turns with line {counted} differ from your count (0 if it doesn't)?",
        shape=f"{values}{' of each machine, in this order' * (sets.machines > 1)}",
        result=_each_run(again, differences),
        work="\n\n".join(
            f"The {name} one:\n{_milestones(one, discs)}"
            for name, one in zip(_COLOURS, again, strict=False)
        ),
        traps={
            "takes the changes for harmless": (*steps[-1].discs, 0) * sets.machines,
        },
        points=["[state] Starts with the numbers as first written, not as left by the first run."],
    )
    return Made((turn_1, turn_2), "your count", "change_premise")


def _cranked_on(
    program: list[Line],
    modulus: int,
    sets: Level,
    changes: list[dict[int, Line]],
    steps: list[Step],
    again: list[list[Step]],
    counted: int,
    differences: list[int],
) -> Turn:
    """Return the turn in which the machine goes on, with one line after the other replaced."""
    turns, discs = sets.steps[0], sets.discs
    exchanged = [f"line {at} by “{written(line)}”" for one in changes for at, line in one.items()]
    unchanged = run(program, modulus, discs, turns * (sets.machines + 1))
    anew, now = list[list[Step]](), program
    for change in changes:
        now = _with(now, change)
        anew.append(run(now, modulus, discs, turns))
    rest = " ".join(
        f"From where that leaves it {one.replace(' by', ' is replaced by', 1)} Again {turns} turns."
        for one in exchanged[1:]
    )
    return Turn(
        f"Nothing is put back: your machine stands as these {turns} turns have left it, its discs, "
        "the numbers in its lines and the line that comes next. Then "
        f"{exchanged[0].replace(' by', ' is replaced by', 1)} The crank is turned {turns} times "
        f"more. {rest} All other lines keep the numbers that they have by then. For each of these "
        f"{NUMBERS[sets.machines]} runs of {turns} turns: what do the discs show at its end, and "
        f"by how many does its number of turns with line {counted} differ from your count (0 if it "
        "doesn't)?",
        shape=f"{', '.join(discs)} and the difference of each run, in this order",
        result=_each_run(again, differences),
        work="\n\n".join(f"Run {n}:\n{_milestones(one, discs)}" for n, one in enumerate(again, 1)),
        traps={
            "takes the changes for harmless": tuple(
                value
                for n in range(1, sets.machines + 1)
                for value in (
                    *unchanged[(n + 1) * turns - 1].discs,
                    abs(
                        _times(unchanged[n * turns : (n + 1) * turns], counted)
                        - _times(steps, counted)
                    ),
                )
            ),
            "puts the machine back to the start": _each_run(anew, differences),
        },
        points=["[state] Goes on with the discs and numbers that the run before has left."],
    )


def _each_run(runs: list[list[Step]], differences: list[int]) -> tuple[int, ...]:
    """Return what the discs show at the end of each run, and its difference."""
    return tuple(
        value
        for one, difference in zip(runs, differences, strict=True)
        for value in (*one[-1].discs, difference)
    )


def _mixed(rng: random.Random, sets: Level) -> list[Line]:
    """Return a program with a line of each kind, and of those that forget nothing some more."""
    if sets.goes_on:
        again = (*_LASTING[3:], "add")
        mixed = [*_LASTING, *rng.choices(again, k=sets.lines - len(_LASTING))]
        rng.shuffle(mixed)
        moved = iter(rng.sample(sets.discs, len(sets.discs)) * len(mixed))
        own = [next(moved) if kind in _MOVING else sets.discs for kind in mixed]
        lines = [
            _line(rng, (kind,), disc, sets.lines, sets.discs)
            for kind, disc in zip(mixed, own, strict=True)
        ]
        # What is raised must be a number.
        others = [n for n, line in enumerate(lines, 1) if line.kind not in _NUMBERLESS]
        return [
            line._replace(number=rng.choice(others)) if line.kind in {"feed", "raise"} else line
            for line in lines
        ]
    kinds = ["raise" if kind == "patch" else kind for kind in (_KINDS + _FURTHER)[: sets.kinds]]
    if "more" in kinds:
        kinds.remove("jump")  # with discs that show many numbers it would hardly ever not jump
    further = [kind for kind in kinds if kind not in {"set", "half", "jump", "sub"}]
    kinds += rng.choices(further, k=sets.lines - len(kinds))
    turned = [sets.discs[n % len(sets.discs)] for n in range(sets.lines)]
    rng.shuffle(kinds)
    rng.shuffle(turned)
    return [
        _line(rng, (kind,), disc, sets.lines, sets.discs)
        for kind, disc in zip(kinds, turned, strict=True)
    ]


def _changes(
    rng: random.Random, program: list[Line], modulus: int, sets: Level
) -> list[dict[int, Line]]:
    """Return which lines each machine of turn 2 has otherwise."""

    def good(change: dict[int, Line]) -> bool:
        return _rich(_with(program, change), modulus, sets)

    found = list[dict[int, Line]]()
    for at in rng.choices(range(2, sets.lines + 1), k=40):
        line = _line(rng, _REPLACING, sets.discs, sets.lines, sets.discs)
        if program[at - 1][:3] == line[:3] or not good({at: line}):
            continue
        if sets.machines == 1:
            return [{at: line}]
        for earlier in found:
            both = dict(sorted((earlier | {at: line}).items()))
            if at not in earlier and good(both):
                return [*[earlier, {at: line}][: sets.machines - 1], both]
        found.append({at: line})
    raise RedrawError


def _exchanges(
    rng: random.Random, program: list[Line], steps: list[Step], modulus: int, sets: Level
) -> tuple[list[dict[int, Line]], list[list[Step]]]:
    """Return which line is replaced before each further run, and these runs."""
    changes, runs = list[dict[int, Line]](), list[list[Step]]()
    for _ in range(30):
        at = rng.randint(2, sets.lines)
        line = _line(rng, _REPLACING[:2], sets.discs, sets.lines, sets.discs)
        if program[at - 1].kind == line.kind or any(at in change for change in changes):
            continue
        numbers = [*steps[-1].numbers]
        numbers[at - 1] = line.number
        start = steps[-1]._replace(numbers=(*numbers,))
        changed = _with(program, {at: line})
        if not _rich(changed, modulus, sets, start):
            continue
        program = changed
        steps = run(program, modulus, sets.discs, sets.steps[0], start=start)
        changes.append({at: line})
        runs.append(steps)
        if len(runs) == sets.machines:
            return changes, runs
    raise RedrawError


def _with(program: list[Line], change: dict[int, Line]) -> list[Line]:
    """Return a program with some lines replaced."""
    return [change.get(n, line) for n, line in enumerate(program, 1)]


def _rich(program: list[Line], modulus: int, sets: Level, start: Step | None = None) -> bool:
    """Return whether a run is worth the work: it neither falls into a rut nor stands still."""
    turns = sets.steps[0]
    most = modulus // 4 if sets.goes_on else turns
    for short in (turns // 64, turns // 16, turns // 4) if sets.goes_on else (turns // 4,):
        begun = run(program, modulus, sets.discs, short, start=start)
        if not _moving(begun, most) or (sets.goes_on and len(set(begun)) < short):
            return False
    steps = run(program, modulus, sets.discs, turns, start=start)
    lines = [step.line for step in steps]
    stretches = (lines[n : n + _STRETCH] for n in range(0, len(lines) - _STRETCH + 1, 10))
    # Of a long run each quarter must have as many turns of its own as a short run has.
    part = len(lines) // 4 if sets.goes_on else len(lines)
    ways = [
        {tuple(lines[n : n + 8]) for n in range(begin, begin + part - 7)}
        for begin in range(0, len(lines) - part + 1, part)
    ]
    return (
        _moving(steps, most)
        and sum(program[line - 1].kind in {"raise", "feed"} for line in lines) >= sets.patches
        and all(len(some) >= 2.5 * len(program) for some in ways)
        and all(len(set(stretch)) * 2 >= len(program) for stretch in stretches)
        and not (sets.goes_on and len(set(steps)) < len(steps))
    )


def _moving(steps: list[Step], most: int) -> bool:
    """Return whether each disc shows many numbers; no more than so many are asked for."""
    shown = zip(*(step.discs for step in steps), strict=True)
    many = min(len(steps) // 16, most)
    return all(len(set(numbers)) >= many for numbers in shown)


def _times(steps: list[Step], line: int) -> int:
    """Return how many of the steps carried out a line."""
    return sum(step.line == line for step in steps)


def _milestones(steps: list[Step], discs: str) -> str:
    """Return each twentieth step of a run, or of a long one fewer, one a line."""
    every = max(20, len(steps) // 20)
    return "\n".join(
        f"step {n}, line {steps[n - 1].line}: {_shown(steps[n - 1], discs)}"
        for n in range(every, len(steps) + 1, every)
    )


def run(
    program: list[Line],
    modulus: int,
    discs: str = "ABC",
    turns: int = 0,
    patching: bool = True,
    most: int = 200,
    start: Step | None = None,
) -> list[Step]:
    """Return the steps of a run: round and round for some turns, or till the program ends.

    With a step to start from it goes on as that one has left the machine.

    Raises:
        RedrawError: it doesn't end within `most` steps.
    """
    shows = dict.fromkeys(discs, 0)
    numbers = [line.number for line in program]
    last, at, steps = len(program), 1, list[Step]()
    if start:
        shows = dict(zip(discs, start.discs, strict=True))
        numbers, at = [*start.numbers], start.then
    while len(steps) < turns if turns else at <= last:
        redraw_if(len(steps) == most and not turns)
        at = (at - 1) % last + 1
        (kind, disc, _, other), number, here = program[at - 1], numbers[at - 1], at
        value = shows[disc]
        at += 1
        if kind == "add":
            shows[disc] = (value + number) % modulus
        elif kind == "sub":
            shows[disc] = (value - number) % modulus
        elif kind == "gain":
            shows[disc] = (value + shows[other]) % modulus
        elif kind == "lose":
            shows[disc] = (value - shows[other]) % modulus
        elif kind == "times":
            shows[disc] = value * number % modulus
        elif kind == "set":
            shows[disc] = number % modulus
        elif kind == "half":
            shows[disc] = value // 2
        elif kind == "swap":
            shows[disc], shows[other] = shows[other], value
        elif (kind == "jump" and value != 0) or (kind == "more" and value > shows[other]):
            at = number
        elif (kind == "skip" and value > number) or (kind == "over" and value > shows[other]):
            at += 1
        elif kind in {"patch", "raise", "feed"} and patching:
            there = program[number - 1].kind
            # The last number written in a line of kind "patch" is the 1.
            redraw_if(there in {"swap", "half", "patch"} and not turns)
            if there not in _NUMBERLESS:
                by = value if kind == "feed" else 1
                numbers[number - 1] = (numbers[number - 1] + by - 1) % last + 1
        steps.append(Step(here, tuple(shows.values()), tuple(numbers), (at - 1) % last + 1))
    return steps


def stop(steps: list[Step]) -> tuple[int, ...]:
    """Return what the discs show in the end, and the number of steps."""
    return *steps[-1].discs, len(steps)


def trace(steps: list[Step]) -> str:
    """Return the steps of a run, one a line."""
    lines = (f"line {step.line}: {_shown(step, 'ABC')}" for step in steps)
    return numbered(lines, "step {}, {}")


def _shown(step: Step, discs: str) -> str:
    return ", ".join(f"{disc} {value}" for disc, value in zip(discs, step.discs, strict=True))


def _line(
    rng: random.Random, kinds: Sequence[str], turned: str, most: int = 9, discs: str = ""
) -> Line:
    """Return a line that turns one of some discs; of three discs the other one is the next."""
    kind, disc, number = rng.choice(kinds), rng.choice(turned), rng.randint(1, most)
    if not discs:
        return Line(kind, disc, number, turned[turned.index(disc) - 2])
    return Line(kind, disc, number, rng.choice([one for one in discs if one != disc]))


def written(line: Line) -> str:
    """Return a line in words."""
    kind, register, number, other = line
    return {
        "set": f"Set {register} to {number}.",
        "add": f"Turn {register} forward by {number}.",
        "sub": f"Turn {register} back by {number}.",
        "half": f"Set {register} to half its value, rounded down.",
        "swap": f"Exchange {register} and {other}.",
        "jump": f"If {register} isn't 0, go on at line {number}.",
        "skip": f"If {register} is more than {number}, skip the next line.",
        "patch": f"Raise the number in line {number} by 1.",
        "lose": f"Turn {register} back by what {other} shows.",
        "over": f"If {register} is more than {other}, skip the next line.",
        "gain": f"Turn {register} forward by what {other} shows.",
        "more": f"If {register} is more than {other}, go on at line {number}.",
        "times": f"Multiply what {register} shows by {number}, going round as often as it takes.",
        "raise": f"Raise by 1 the number in line {number}.",
        "feed": f"Raise by what {register} shows the number in line {number}.",
    }[kind]
