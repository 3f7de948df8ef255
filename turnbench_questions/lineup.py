"""A line of people rearranged by instructions; then as if some of them had never been given."""

import random
from typing import NamedTuple

from turnbench_questions.template import (
    NUMBERS,
    PEOPLE,
    TOWNS,
    WORDS,
    Made,
    Turn,
    Value,
    aside,
    by_level,
    different,
    listed,
    number_in_words,
    numbered,
    redraw_if,
)

QUESTION_ID = 1023
CATEGORY = "reasoning"
LEVEL = 9


class Level(NamedTuple):
    """What a level sets.

    By hand, in both turns: about 900 instructions at level 8, 3,000 at 9 and 9,500 at 10, each of
    which moves about five singers.
    """

    people: int
    steps: int
    undone: int
    """How many instructions turn 2 takes back."""
    kinds: int
    """How many kinds of instruction there are; those at the end read more of the row."""
    rounds: int = 1
    """How many times the instructions are gone through."""


LEVELS = by_level(
    Level(8, 5, 1, 4),
    Level(10, 8, 1, 7),
    Level(12, 10, 2, 7),  # as it was before there were levels
    Level(12, 14, 2, 8),
    Level(13, 18, 2, 9),
    Level(15, 27, 3, 11),
    Level(17, 38, 4, 12),
    Level(30, 46, 5, 12, 10),
    Level(36, 54, 6, 12, 30),
    Level(40, 60, 7, 12, 84),
)
_KINDS = (
    *("exchange", "behind", "turned", "left end", "neighbour", "mirror", "alphabet"),
    *("between", "if before", "odd places", "count on", "ends"),
)
_SHOWN = 46
_SHOWN_NAMES = 1_200
"""About how many rows and names a worked answer shows at most."""
Line = tuple[str, ...]


class Step(NamedTuple):
    """An instruction: its kind, two people, two places and a number."""

    kind: str
    a: str
    b: str
    i: int
    j: int
    k: int


def make(rng: random.Random, level: int) -> Made:
    """Return a question about an order after some steps, then without a few of them."""
    sets = LEVELS[level]
    usual = LEVELS[3]
    more = aside(rng)
    everybody = rng.sample(PEOPLE, usual.people)
    everybody += [name for name in more.sample(PEOPLE, len(PEOPLE)) if name not in everybody]
    everybody += WORDS["more_people"] if sets.people > len(everybody) else []
    line = tuple(everybody[: sets.people])
    kinds = rng.sample(_KINDS[:7], 7) + rng.sample(_KINDS[:7], 3)
    if sets.kinds != usual.kinds:
        kinds = []
    while len(kinds) < sets.steps:
        kinds += more.sample(_KINDS[: sets.kinds], sets.kinds)
    steps = [_step(rng, line, kind) for kind in kinds[: sets.steps]]
    rows = moved(line, steps * sets.rounds)
    undone = sorted(rng.sample(range(1, max(3, sets.steps - 2)), sets.undone))
    rest = [step for n, step in enumerate(steps) if n not in undone]
    rows_again = moved(line, rest * sets.rounds)
    result, again, slip = rows[-1], rows_again[-1], rows[-2]
    backwards = moved(result, [steps[n] for n in reversed(undone)])[-1]
    redraw_if(len({result, again, backwards, slip}) < 4)
    for all_rows, many in ((rows, len(steps)), (rows_again, len(rest))):
        redraw_if(len({line, *all_rows[many - 1 :: many]}) <= sets.rounds)
    instructions = numbered([written(step, len(line) - 1) for step in steps], "({}) {}", " ")
    people = number_in_words(sets.people)
    numbers = listed([str(n + 1) for n in undone])
    one = sets.undone == 1
    over, in_rounds = "", ","
    if sets.rounds > 1:
        times = number_in_words(sets.rounds)
        over = (
            f" He gives them {times} times over: after the last he begins with the first again, by "
            "the row as it stands then, until all have been carried out "
            f"{times} times."
        )
        in_rounds = f", in any of the {times} rounds,"
    turn_1 = Turn(
        f"{people.capitalize()} singers of a choir in {rng.choice(TOWNS)} stand in a row, from "
        f"left to right: {', '.join(line)}. Places are numbered from the left, 1 to {len(line)}. "
        "Their conductor moves them about, one instruction after another, each meaning the row as "
        f"it stands at that moment: {instructions}{over} Who stands where in the end?",
        shape=f"the {people} names from left to right",
        label="Row",
        result=result,
        work=_shown(rows),
        traps={"leaves the last instruction out": slip},
        points=["Shows the row after each instruction, or most of them."],
    )
    turned_back: tuple[Value, ...] = (*backwards, len(line) - different(result, backwards))
    turn_2 = Turn(
        f"He finds in the score that instruction{'' if one else 's'} {numbers} "
        f"{'was' if one else 'were'} meant for another choir. How would your row look had "
        f"{'this one' if one else f'these {NUMBERS[sets.undone]}'} never been given{in_rounds} "
        "and the others, in their order and by their words, had? And how many singers stand where "
        "they stood in your first row?",
        shape=f"the {people} names from left to right; how many are in the same place",
        label="Row",
        result=(*again, len(line) - different(result, again)),
        work=_shown(rows_again),
        traps={
            f"turns the {'one' if one else NUMBERS[sets.undone]} back at the end, though what "
            "came between depends on them": turned_back
        },
        points=[
            "Starts again from the beginning, since later instructions read the row.",
            "[state] Compares with its own first row.",
        ],
    )
    return Made((turn_1, turn_2), "your first row", "change_premise")


def _shown(rows: list[Line]) -> str:
    """Return the rows with their numbers, of many only some and the last."""
    every = -(-len(rows) // min(_SHOWN, _SHOWN_NAMES // len(rows[0])))
    last = len(rows)
    return "\n".join(
        f"{n}: {', '.join(row)}" for n, row in enumerate(rows, 1) if n % every == 0 or n == last
    )


def moved(line: Line, steps: list[Step]) -> list[Line]:
    """Return the row after each step."""
    row, rows, last = list(line), list[Line](), len(line) - 1
    for step in steps:
        row = _apply(row, step, last)
        rows.append(tuple(row))
    return rows


def _apply(row: list[str], step: Step, last: int) -> list[str]:
    """Return the row after a step."""
    kind, a, b, i, j, k = step
    row = list(row)
    at, to = row.index(a), row.index(b)
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
        row.insert(0, row.pop((at + 1) % len(row)))
    elif kind == "mirror":
        row[at], row[last - at] = row[last - at], row[at]
    elif kind == "alphabet":
        start = min(i, last - 3)
        row[start : start + 4] = sorted(row[start : start + 4])
    elif kind == "between":
        low, high = sorted((at, to))
        row[low + 1 : high] = reversed(row[low + 1 : high])
    elif kind == "if before":
        if at < to:
            row[at], row[to] = row[to], row[at]
        else:
            row = row[k:] + row[:k]
    elif kind == "odd places":
        row = row[::2] + row[1::2]
    elif kind == "count on":
        row.insert(0, row.pop((at + len(b)) % len(row)))
    else:
        moves = min(row[0], row[-1])
        if moves != a:
            row.remove(moves)
            row.insert(row.index(a) + 1, moves)
    return row


def written(step: Step, last: int) -> str:
    """Return an instruction in words, for a row whose last place has that index."""
    kind, a, b, i, j, k = step
    start = min(i, last - 3) + 1
    return {
        "exchange": f"Whoever are in places {i + 1} and {j + 1} change places.",
        "behind": f"{a} goes to the place right after {b}; gaps close.",
        "turned": f"Places {i + 1} to {j + 1} are turned round in their order.",
        "left end": f"The {k} on the far right go to the far left, their order unchanged.",
        "neighbour": f"Whoever stands right after {a} (after place {last + 1} comes place 1) goes "
        "to the far left.",
        "mirror": f"{a} changes places with whoever is as far from the right end as {a} is from "
        "the left.",
        "alphabet": f"Places {start} to {start + 3} line up by the alphabet.",
        "between": f"Those who stand between {a} and {b}, these two not, turn round in their "
        "order.",
        "if before": f"If {a} stands to the left of {b}, the two change places; if not, the {k} on "
        "the far left go to the far right, their order unchanged.",
        "odd places": "Those in places 1, 3, 5 and so on go to the left, in their order; those in "
        "even places follow, in theirs.",
        "count on": f"Count from {a} as many places to the right as {b}’s name has letters (after "
        f"place {last + 1} comes place 1); whoever you reach goes to the far left.",
        "ends": "Of the two at the ends, the one whose name comes first in the alphabet goes to "
        f"the place right after {a}; if that one is {a}, nothing changes.",
    }[kind]


def _step(rng: random.Random, line: Line, kind: str) -> Step:
    a, b = rng.sample(line, 2)
    i, j = sorted(rng.sample(range(len(line)), 2))
    return Step(kind, a, b, i, j, rng.randint(2, 4))
