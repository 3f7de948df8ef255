"""A rota broken by an absence: how few changes mend it, and in how many ways."""

import itertools
import random

from turnbench_questions.template import (
    PEOPLE,
    TOWNS,
    Made,
    Turn,
    different,
    listed,
    redraw_if,
)

QUESTION_ID = 1024
CATEGORY = "reasoning"
LEVEL = 3

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat")
_MOST = 3
Rota = list[str]
"""Early and late of each day in turn."""


def make(rng: random.Random) -> Made:
    """Return a question about the smallest repair, then with another absence on top."""
    crew = sorted(rng.sample(PEOPLE, 5))
    rota: Rota = []
    for _ in range(12):
        free = [x for x in crew if rota.count(x) < _MOST and x not in rota[-1:]]
        redraw_if(not free)
        rota.append(rng.choice(free))
    absent = rng.choice(crew)
    slots = [slot for slot, name in enumerate(rota) if name == absent]
    redraw_if(len(slots) < 2)
    days = sorted({slot // 2 for slot in slots[:2]})
    gone = {(absent, day) for day in days}
    mended = repairs(rota, crew, gone)
    other = rng.choice([name for name in crew if name != absent])
    more = [slot // 2 for slot in range(12) if rota[slot] == other]
    redraw_if(not 2 <= len(mended) <= 40 or not more)
    few, ways = different(rota, mended[0]), len(mended)
    redraw_if(few != 3)
    day = rng.choice(more)
    mended_now = repairs(rota, crew, gone | {(other, day)})
    redraw_if(not mended_now or len(days) < 2)
    few_now, ways_now = different(rota, mended_now[0]), len(mended_now)
    table = "\n".join(
        f"| {name} | {rota[2 * n]} | {rota[2 * n + 1]} |" for n, name in enumerate(_DAYS)
    )
    turn_1 = Turn(
        f"The rota of a pharmacy in {rng.choice(TOWNS)}, kept by {listed(crew)}:\n\n| day | early "
        f"| late |\n| --- | --- | --- |\n{table}\n\nRules: nobody works early and late on one day; "
        f"nobody works early on the day after a late one; nobody works more than {_MOST} shifts in "
        f"the week. Now {absent} can't come on {listed([_DAYS[d] for d in days])}. How many of the "
        "twelve entries have to change at least so that all rules hold again, and how many "
        "different rotas do it with so few?",
        shape="fewest entries changed; number of such rotas",
        result=(few, ways),
        work=f"Going through all ways of changing one, two and three entries: fewer than {few} "
        f"never do, with {few} there are {ways} rotas. One of them: {_shown(rota, mended[0])}.",
        traps={"only fills the gaps and breaks another rule": (len(days), ways)},
        points=[
            "Shows a rota with so few changes that keeps all three rules.",
            "Gives a reason why fewer changes don't do.",
        ],
    )
    turn_2 = Turn(
        f"While we talk {other} rings: not on {_DAYS[day]} either, on top of what you dealt with. "
        "Nothing has been put up yet, so the old rota above is still what we count from. Fewest "
        "changes now, and in how many ways? Is one of your earlier repairs among them?",
        shape="fewest entries changed; number of such rotas; yes or no",
        result=(few_now, ways_now, "yes" if few_now == few else "no"),
        work=f"Now {few_now} at least, with {ways_now} rotas, such as "
        f"{_shown(rota, mended_now[0])}.",
        traps={"adds to the first repair instead of starting anew": (few + 2, ways_now, "no")},
        points=["[state] Counts changes from the rota as put up, not from its own repair."],
    )
    return Made((turn_1, turn_2), "what you dealt with", "extend")


def holds(rota: Rota, gone: set[tuple[str, int]]) -> bool:
    """Return whether a rota keeps all rules and absences."""
    return (
        all(rota.count(name) <= _MOST for name in rota)
        and all(a != b for a, b in itertools.pairwise(rota))
        and not any((name, slot // 2) in gone for slot, name in enumerate(rota))
    )


def repairs(rota: Rota, crew: list[str], gone: set[tuple[str, int]]) -> list[Rota]:
    """Return the repairs with the fewest changes; none if they take more than four."""
    must = {slot for slot, name in enumerate(rota) if (name, slot // 2) in gone}
    rest = [slot for slot in range(12) if slot not in must]
    found: list[Rota] = []
    for few in range(len(must), 5):
        for more in itertools.combinations(rest, few - len(must)):
            slots = (*must, *more)
            others = [[name for name in crew if name != rota[slot]] for slot in slots]
            for names in itertools.product(*others):
                new = list(rota)
                for slot, name in zip(slots, names, strict=True):
                    new[slot] = name
                if holds(new, gone):
                    found.append(new)
        if found:
            break
    return found


def _shown(old: Rota, new: Rota) -> str:
    return "; ".join(
        f"{_DAYS[slot // 2]} {('early', 'late')[slot % 2]} {a} → {b}"
        for slot, (a, b) in enumerate(zip(old, new, strict=True))
        if a != b
    )
