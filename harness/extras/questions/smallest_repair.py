"""A rota broken by an absence: how few changes mend it, and in how many ways."""

import itertools
import random

from harness.extras.questions.template import (
    PEOPLE,
    TOWNS,
    Made,
    Trap,
    Turn,
    attempt,
    listed,
    point,
)

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat")
_MOST = 3
Rota = tuple[str, ...]
"""Early and late of each day in turn."""


def make(rng: random.Random) -> Made:
    """Return a question about the smallest repair, then with another absence on top."""
    return attempt(rng, _draw, 400)


def _draw(rng: random.Random) -> Made | None:
    crew = sorted(rng.sample(PEOPLE, 5))
    rota = _valid(rng, crew)
    if rota is None:
        return None
    absent = rng.choice(crew)
    slots = [slot for slot, name in enumerate(rota) if name == absent]
    if len(slots) < 2:
        return None
    days = sorted({slot // 2 for slot in slots[:2]})
    gone = {(absent, day) for day in days}
    few, ways = repairs(rota, crew, gone)
    other = rng.choice([name for name in crew if name != absent])
    more = [slot // 2 for slot in range(12) if rota[slot] == other]
    if few != 3 or not 2 <= ways <= 40 or not more:
        return None
    day = rng.choice(more)
    few_now, ways_now = repairs(rota, crew, gone | {(other, day)})
    if not few_now or few_now > 4 or not ways_now or len(days) < 2:
        return None
    table = "\n".join(
        f"| {name} | {rota[2 * n]} | {rota[2 * n + 1]} |" for n, name in enumerate(_DAYS)
    )
    one = Turn(
        ask=(
            f"The rota of a pharmacy in {rng.choice(TOWNS)}, kept by {listed(crew)}:\n\n| day "
            f"| early | late |\n| --- | --- | --- |\n{table}\n\nRules: nobody works early and "
            "late on one day; nobody works early on the day after a late one; nobody works "
            f"more than {_MOST} shifts in the week. Now {absent} can't come on "
            f"{listed([_DAYS[d] for d in days])}. How many of the twelve entries have to "
            "change at least so that all rules hold again, and how many different rotas do it "
            "with so few?"
        ),
        shape="fewest entries changed; number of such rotas",
        result=(few, ways),
        work=(
            f"Going through all ways of changing one, two and three entries: fewer than {few} "
            f"never do, with {few} there are {ways} rotas. One of them: "
            f"{_shown(rota, example(rota, crew, gone))}."
        ),
        traps=[Trap((len(days), ways), "only fills the gaps and breaks another rule")],
        points=[
            point("Shows a rota with so few changes that keeps all three rules."),
            point("Gives a reason why fewer changes don't do.", 1),
        ],
    )
    two = Turn(
        ask=(
            f"While we talk {other} rings: not on {_DAYS[day]} either, on top of what you "
            "dealt with. Nothing has been put up yet, so the old rota above is still what we "
            "count from. Fewest changes now, and in how many ways? Is one of your earlier "
            "repairs among them?"
        ),
        shape="fewest entries changed; number of such rotas; yes or no",
        result=(few_now, ways_now, "yes" if few_now == few else "no"),
        work=(
            f"Now {few_now} at least, with {ways_now} rotas, such as "
            f"{_shown(rota, example(rota, crew, gone | {(other, day)}))}."
        ),
        traps=[
            Trap((few + 2, ways_now, "no"), "adds to the first repair instead of starting anew")
        ],
        points=[
            point("Counts changes from the rota as put up, not from its own repair.", 1, "state")
        ],
    )
    return Made((one, two), "what you dealt with", "extend")


def holds(rota: Rota, gone: set[tuple[str, int]]) -> bool:
    """Return whether a rota keeps all rules and absences."""
    if any(rota.count(name) > _MOST for name in set(rota)):
        return False
    for day in range(6):
        early, late = rota[2 * day], rota[2 * day + 1]
        if early == late or (early, day) in gone or (late, day) in gone:
            return False
        if day < 5 and rota[2 * day + 2] == late:
            return False
    return True


def repairs(rota: Rota, crew: list[str], gone: set[tuple[str, int]]) -> tuple[int, int]:
    """Return the fewest changes and in how many ways; zeros if it takes more than four."""
    for few in range(5):
        if ways := len(_mended(rota, crew, gone, few)):
            return few, ways
    return 0, 0


def example(rota: Rota, crew: list[str], gone: set[tuple[str, int]]) -> Rota:
    """Return one smallest repair."""
    few, _ = repairs(rota, crew, gone)
    return _mended(rota, crew, gone, few)[0]


def _mended(rota: Rota, crew: list[str], gone: set[tuple[str, int]], few: int) -> list[Rota]:
    must = {slot for slot in range(12) if (rota[slot], slot // 2) in gone}
    found = []
    for more in (
        itertools.combinations(sorted(set(range(12)) - must), few - len(must))
        if (few >= len(must))
        else ()
    ):
        slots = (*must, *more)
        for names in itertools.product(crew, repeat=few):
            if any(rota[slot] == name for slot, name in zip(slots, names, strict=True)):
                continue
            new = list(rota)
            for slot, name in zip(slots, names, strict=True):
                new[slot] = name
            if holds(tuple(new), gone):
                found.append(tuple(new))
    return found


def _valid(rng: random.Random, crew: list[str]) -> Rota | None:
    rota: list[str] = []
    for slot in range(12):
        free = [
            name
            for name in crew
            if rota.count(name) < _MOST and (not rota or rota[-1] != name) and slot < 12
        ]
        if not free:
            return None
        rota.append(rng.choice(free))
    return tuple(rota) if holds(tuple(rota), set()) else None


def _shown(old: Rota, new: Rota) -> str:
    return "; ".join(
        f"{_DAYS[slot // 2]} {('early', 'late')[slot % 2]} {a} → {b}"
        for slot, (a, b) in enumerate(zip(old, new, strict=True))
        if a != b
    )
