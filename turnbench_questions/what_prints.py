"""What a program prints whose functions share more than they should; then three repairs."""

import contextlib
import io
import random

from turnbench_questions.template import Made, Turn, numbered, redraw_if

QUESTION_ID = 1041
CATEGORY = "coding"
LEVEL = 4

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
}


def make(rng: random.Random) -> Made:
    """Return a question about the output, then about the sum under repairs."""
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
    }
    program = _PROGRAM.format(**fields)
    printed = run(program)
    together = _PROGRAM
    repaired = {}
    for number, edit in enumerate(_REPAIRS.values(), 1):
        repaired[str(number)] = run(_PROGRAM.replace(*edit).format(**fields))
        together = together.replace(*edit)
    repaired["all"] = run(together.format(**fields))
    sums = [sum(numbers) for numbers in repaired.values()]
    whole = sum(printed)
    added = whole + sum(changed - whole for changed in sums[:3])
    redraw_if(len({whole, *sums, added}) < 6)
    naive = (*printed[:-1], printed[-1] + 1)
    turn_1 = Turn(
        "No interpreter here, only paper. What does this print (Python "
        f"3.12)?\n\n```python\n{program}```\n\nGo through it number by number.",
        shape="the seven numbers",
        result=printed,
        work="The default list, `jars` and the rows are shared, every lambda reads the last k, and "
        "`a += …` changes the list that b named too, until b gets a new one.",
        traps={
            "is what the repaired program prints": repaired["all"],
            "reads the chained comparison as (p < q) == True": naive,
        },
        points=[
            "[state] Sees that the default list lives on between calls.",
            "Sees that the generator is used up after `first`.",
        ],
    )
    repairs = numbered(_REPAIRS, "({}) {}", "; ")
    turn_2 = Turn(
        f"Three repairs are proposed: {repairs}. Take the sum of the seven numbers you worked out. "
        "What is that sum with repair 1 alone, with 2 alone, with 3 alone, and with all three?",
        shape="sum as printed; with 1; with 2; with 3; with all",
        result=(whole, *sums),
        work="\n".join(
            f"{name}: {' '.join(map(str, out))}, sum {sum(out)}" for name, out in repaired.items()
        ),
        traps={"adds up the three effects": (whole, *sums[:3], added)},
        points=[
            "Works all three together out anew: the repairs act on each other.",
            "[state] Takes the sum of its own seven numbers as the start.",
        ],
    )
    return Made((turn_1, turn_2), "the seven numbers you worked out", "combine")


def run(program: str) -> tuple[int, ...]:
    """Return the numbers that a program prints; it is one of this file's own."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(program, {"__name__": "shown"})
    return tuple(map(int, printed.getvalue().split()))
