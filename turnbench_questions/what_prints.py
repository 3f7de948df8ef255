"""What a program prints whose functions share more than they should; then some repairs."""

import contextlib
import io
import random
from typing import NamedTuple

from turnbench_questions.template import (
    NUMBERS,
    Made,
    Turn,
    aside,
    by_level,
    numbered,
    redraw_if,
)

QUESTION_ID = 1041
CATEGORY = "coding"
LEVEL = 4


class Level(NamedTuple):
    """What a level sets.

    By hand a day is some twelve steps, of which each needs the day before, and turn 2 runs the
    program anew for each repair: 1,500 steps at level 8, 4,000 at level 9, 10,000 at level 10.
    """

    repairs: int
    """How many turn 2 proposes: each alone, then all together."""
    days: int = 0
    """How often a loop at the end works the numbers out anew, from one another."""
    parts: int = 0
    """How much of the program the loop changes and reads."""
    modulus: int = 1
    """What the loop's numbers are below."""
    without: tuple[str, ...] = ()
    """Lines with these words are left out."""


LEVELS = by_level(
    Level(2, without=("steps", "Shelf", "self", "jars", "total")),
    Level(3, without=("steps",)),
    Level(3),  # as it was before there were levels
    Level(3, days=4, parts=1, modulus=31),
    Level(4, days=6, parts=2, modulus=37),
    Level(4, days=7, parts=3, modulus=43),
    Level(5, days=9, parts=4, modulus=61),
    Level(5, days=18, parts=5, modulus=89),
    Level(6, days=45, parts=6, modulus=97),
    Level(6, days=110, parts=6, modulus=997),
)
_PROGRAM = """\
def note(item, seen=[]):
    seen.append(item)
    return len(seen) + sum(seen)

class Shelf:
    jars = {jars}
    total = 0
    def put(self, n):
        self.jars.append(n)
        self.total += n
        return self

weigh = [lambda x: x * k + {add} for k in range(1, {few})]
rows = [[{fill}] * {wide}] * 3
rows[1][{at}] += {plus}
left, right = Shelf().put({one}), Shelf().put({two})
steps = (n * n for n in range({low}, {high}))
first = [n for n in steps if n % 2 == {odd}]
a = b = {alias}
a += [{extra}]
b = b + [{extra}]
a[{index}:{index}] = [note({x}), note({y})]
out = [
    weigh[0](note({z})) + {w},
    sum(map(sum, rows)),
    len(left.jars) * note({w}) + right.total - Shelf.total,
    sum(first) + sum(steps),
    sum(a) - sum(b),
    weigh[-1](note({v}, [])) + note({u}),
    left.jars[-1] * len(b) + ({p} < {q} == True) + rows[0][{at}],
]
print(*out)
"""
_NUMBERS = ("add", "fill", "plus", "one", "two", "extra", "x", "y", "z", "w", "v", "u")
_REPAIRS = {
    "`note` makes a fresh list in each call that is given none": (
        "seen=[]):\n",
        "seen=None):\n    seen = [] if seen is None else seen\n",
    ),
    "the lambda becomes `lambda x, k=k: …`": ("lambda x: x * k", "lambda x, k=k: x * k"),
    "`Shelf` makes `jars` in `__init__`, each shelf a copy of the list given": (
        "    jars = {jars}\n",
        "    def __init__(self):\n        self.jars = list({jars})\n",
    ),
    "each of the three `rows` is a list of its own": (
        "[[{fill}] * {wide}] * 3",
        "[[{fill}] * {wide} for _ in range(3)]",
    ),
    "`a` and `b` begin as two equal lists instead of one": (
        "a = b = {alias}",
        "a, b = {alias}, {alias}",
    ),
    "`steps` is made with square brackets": (
        "(n * n for n in range({low}, {high}))",
        "[n * n for n in range({low}, {high})]",
    ),
}

_PARTS = (
    ("    rows[day % 3][n % {wide}] += n % 4 - 1\n", " - rows[0][n % {wide}]"),
    ("    (left if n % 2 else right).put(n % 6)\n", " + left.total - right.jars[-2]"),
    ("    b[n % len(b)] += left.jars[-1] % 5\n", " - b[-1]"),
    ("    echo = next(echoes, {miss})\n", " + echo + sum(steps)"),
    (
        "    a.append(n % 8)\n"
        "    for x in a:\n"
        "        if x % 2 == n % 2:\n"
        "            a.remove(x)\n",
        " + sum(a)",
    ),
    (
        "    try:\n"
        "        echo *= a[n % 5]\n"
        "    except IndexError:\n"
        "        echo -= len(a)\n"
        "    else:\n"
        "        note(day % 2)\n",
        "",
    ),
)
"""Of the loop: what is done each day, and a term of the number that is worked out."""


def _looped(sets: Level) -> str:
    """Return the program of a level, with fields."""
    lines = _PROGRAM.splitlines(keepends=True)
    kept = [line for line in lines if not any(word in line for word in sets.without)]
    program = "".join(kept).replace("\n\n\n", "\n\n")
    if not sets.days:
        return program
    parts = _PARTS[: sets.parts]
    terms = "".join(term for _, term in parts)
    loop = (
        "echoes = (x + day for x in b)\n" * (sets.parts > 3)
        + f"for day in range({sets.days}):\n"
        + "    n = out[day % 7 - 1] + day\n"
        + "".join(lines for lines, _ in parts)
        + "    new = weigh[n % len(weigh)](n % 5) + note(n % 3)\n"
        + f"    out[day % 7] = (new{terms}) % {sets.modulus}\n"
    )
    return program.replace("print(*out)\n", f"{loop}print(*out)\n")


def make(rng: random.Random, level: int) -> Made:
    """Return a question about the output, then about the sum under repairs."""
    sets = LEVELS[level]
    shape = _looped(sets)
    more = aside(rng)
    low = rng.randint(2, 5)
    fields = {
        "jars": [rng.randint(2, 9) for _ in range(rng.randint(1, 3))],
        "alias": [rng.randint(2, 9) for _ in range(3)],
        "few": rng.randint(4, 6),
        "wide": rng.randint(2, 4),
        "at": rng.randint(0, 1),
        "low": low,
        "high": low + rng.randint(4, 6),
        "odd": rng.randint(0, 1),
        "index": rng.randint(1, 2),
        **{name: rng.randint(2, 9) for name in _NUMBERS},
        "p": rng.randint(1, 3),
        "q": rng.randint(4, 6),
        "miss": more.randint(2, 9),
    }
    program = shape.format(**fields)
    printed = run(program)
    together = shape
    repairs = dict(list(_REPAIRS.items())[: sets.repairs])
    repaired = {}
    for number, edit in enumerate(repairs.values(), 1):
        repaired[str(number)] = run(shape.replace(*edit).format(**fields))
        together = together.replace(*edit)
    repaired["all"] = run(together.format(**fields))
    sums = [sum(numbers) for numbers in repaired.values()]
    whole = sum(printed)
    added = whole + sum(changed - whole for changed in sums[:-1])
    redraw_if(len({whole, *sums, added}) < len(sums) + 2)
    naive = run(program.replace("{p} < {q} == True".format(**fields), "True"))
    names = f"the {NUMBERS[len(printed)]} numbers"
    jars = ", `jars`" if "jars" in program else ""
    turn_1 = Turn(
        "No interpreter here, only paper. What does this print (Python "
        f"3.12)?\n\n```python\n{program}```\n\nGo through it number by number.",
        shape=names,
        result=printed,
        work=f"The default list{jars} and the rows are shared, every lambda reads the last k, and "
        f"`a += …` changes the list that b named too, until b gets a new one.{_days(program)}",
        traps={
            "is what the repaired program prints": repaired["all"],
            "reads the chained comparison as (p < q) == True": naive,
        },
        points=[
            "[state] Sees that the default list lives on between calls.",
            "Sees that the generator is used up after `first`."
            if "steps" in program
            else "Sees that every lambda reads the last k.",
        ],
    )
    proposed = numbered(repairs, "({}) {}", "; ")
    many = NUMBERS[sets.repairs]
    everything = "both" if sets.repairs == 2 else f"all {many}"
    alone = [f"with {n} alone" for n in range(2, sets.repairs + 1)]
    each = [f"with {n}" for n in range(1, sets.repairs + 1)]
    turn_2 = Turn(
        f"{many.capitalize()} repairs are proposed: {proposed}. Take the sum of {names} you "
        f"worked out. What is that sum with repair 1 alone, {', '.join(alone)}, and with "
        f"{everything}?",
        shape="; ".join(["sum as printed", *each, "with both" if len(each) == 2 else "with all"]),
        result=(whole, *sums),
        work="\n".join(
            f"{name}: {' '.join(map(str, out))}, sum {sum(out)}" for name, out in repaired.items()
        ),
        traps={f"adds up the {many} effects": (whole, *sums[:-1], added)},
        points=[
            f"Works {everything} together out anew: the repairs act on each other.",
            f"[state] Takes the sum of its own {NUMBERS[len(printed)]} numbers as the start.",
        ],
    )
    return Made((turn_1, turn_2), f"{names} you worked out", "combine")


def _days(program: str) -> str:
    """Return the numbers after each day of the loop, for the worked answer."""
    head, loop, rest = program.partition("for day in ")
    if not loop:
        return ""
    body, last, _ = rest.rpartition("print(*out)\n")
    printed = _printed(f"{head}{loop}{body}    {last}").splitlines()
    return "\n" + numbered(printed, "Day {}: {}")


def run(program: str) -> tuple[int, ...]:
    """Return the numbers that a program prints; it is one of this file's own."""
    return tuple(map(int, _printed(program).split()))


def _printed(program: str) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(program, {"__name__": "shown"})
    return printed.getvalue()
