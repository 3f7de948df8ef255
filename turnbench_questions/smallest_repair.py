"""A rota broken by an absence: how few changes mend it, and in how many ways."""

import random
from collections.abc import Iterator
from typing import NamedTuple

from turnbench_questions.template import (
    NUMBERS,
    PEOPLE,
    TOWNS,
    Made,
    Turn,
    aside,
    by_level,
    different,
    listed,
    redraw_if,
)

QUESTION_ID = 1024
CATEGORY = "reasoning"
LEVEL = 3


class Level(NamedTuple):
    """What a level sets.

    By hand, in both turns: to count some 9,000 rotas at level 8, 25,000 at 9 and 50,000 at 10, in
    groups of ten or so.
    """

    crew: int
    days: int
    shifts: int
    few: tuple[int, ...]
    """How many changes may be the fewest in turn 1."""
    ways: tuple[int, int]
    """Between what the number of repairs is."""
    absences: int = 2
    lates: bool = False
    """Whether there is a rule on the last shift of the day."""
    apart: bool = False
    """Whether two people may not work on one day."""
    returns: bool = False
    """Whether turn 2 takes one of the absences back."""
    one_more: tuple[int, int] = (0, 0)
    """Between what the number of rotas with one change more is, where that is asked for too."""


LEVELS = by_level(
    Level(4, 4, 2, (1, 2), (1, 8), absences=1),
    Level(5, 5, 2, (2,), (2, 12)),
    Level(5, 6, 2, (3,), (2, 40)),  # as it was before there were levels
    Level(5, 6, 2, (3, 4), (3, 40), lates=True),
    Level(6, 7, 2, (3, 4), (4, 40), lates=True, returns=True),
    Level(6, 7, 2, (3, 4), (4, 40), lates=True, apart=True, returns=True),
    Level(7, 6, 3, (3, 4), (4, 60), apart=True, returns=True),
    Level(10, 7, 3, (3,), (20, 120), 3, True, True, True, (3_000, 7_000)),
    Level(11, 7, 3, (3,), (40, 250), 3, True, True, True, (8_000, 20_000)),
    Level(12, 7, 3, (3,), (80, 500), 3, True, True, True, (18_000, 50_000)),
)
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_SHIFTS = {2: ("early", "late"), 3: ("early", "late", "night")}
_MOST = 3
_MOST_LATES = 2
_MOST_CHANGES = 5
Rota = list[str]
"""The shifts of each day in turn."""
Absences = set[tuple[str, int]]
"""People with the days on which they can't come."""


class Rules(NamedTuple):
    """What a rota keeps to, beside what always holds."""

    shifts: int
    lates: bool
    apart: frozenset[str]
    gone: Absences

    def allow(self, rota: Rota, name: str) -> bool:
        """Return whether somebody may have the shift after those of a rota."""
        day, shift = divmod(len(rota), self.shifts)
        today = rota[day * self.shifts :]
        if (name, day) in self.gone or rota.count(name) >= _MOST or name in today:
            return False
        if shift == 0 and rota[-1:] == [name]:
            return False
        last = self.lates and shift == self.shifts - 1
        if last and rota[shift :: self.shifts].count(name) >= _MOST_LATES:
            return False
        return not (name in self.apart and any(one in self.apart for one in today))


def make(rng: random.Random, level: int) -> Made:
    """Return a question about the smallest repair, then with another absence on top."""
    sets = LEVELS[level]
    more = aside(rng)
    crew = sorted(rng.sample(PEOPLE, sets.crew))
    apart = frozenset(more.sample(crew, 2) if sets.apart else ())
    rules = Rules(sets.shifts, sets.lates, apart, set())
    rota: Rota = []
    for _ in range(sets.days * sets.shifts):
        free = [x for x in crew if rules.allow(rota, x)]
        redraw_if(not free)
        rota.append(rng.choice(free))
    absent = rng.choice(crew)
    slots = [slot for slot, name in enumerate(rota) if name == absent]
    redraw_if(len(slots) < sets.absences)
    days = sorted({slot // sets.shifts for slot in slots[: sets.absences]})
    gone = {(absent, day) for day in days}
    other = rng.choice([name for name in crew if name != absent])
    more_days = [slot // sets.shifts for slot, name in enumerate(rota) if name == other]
    redraw_if(not more_days or len(days) < sets.absences)
    mended = repairs(rota, crew, rules._replace(gone=gone), sets.few)
    redraw_if(not sets.ways[0] <= len(mended) <= sets.ways[1])
    few, ways = different(rota, mended[0]), len(mended)
    day = rng.choice(more_days)
    back = more.choice(days) if sets.returns else None
    later = {(other, day)} | {(name, d) for name, d in gone if d != back}
    most = max(sets.few) if any(sets.one_more) else _MOST_CHANGES
    mended_now = repairs(rota, crew, rules._replace(gone=later), range(most + 1))
    redraw_if(not mended_now or (level > 3 and len(mended_now) > 2 * sets.ways[1]))
    few_now, ways_now = different(rota, mended_now[0]), len(mended_now)
    more_ways: tuple[int, ...] = ()
    more_ways_now: tuple[int, ...] = ()
    ask_more = shape_more = ""
    if any(sets.one_more):
        least, at_most = sets.one_more
        more_ways, more_ways_now = (
            (sum(1 for _ in _rotas(rota, crew, rules._replace(gone=away), fewest + 1)),)
            for away, fewest in ((gone, few), (later, few_now))
        )
        redraw_if(not least <= more_ways[0] <= at_most)
        redraw_if(not least // 2 <= more_ways_now[0] <= at_most * 2)
        ask_more = (
            ", and how many different rotas keep all rules with exactly one changed entry more "
            "than that"
        )
        shape_more = "; number of rotas with one change more"
    shifts = _SHIFTS[sets.shifts]
    table = "\n".join(
        f"| {name} | {' | '.join(rota[sets.shifts * n : sets.shifts * (n + 1)])} |"
        for n, name in enumerate(_DAYS[: sets.days])
    )
    head = f"| day | {' | '.join(shifts)} |\n|{' --- |' * (sets.shifts + 1)}"
    last = shifts[-1]
    once = "nobody works early and late on one day"
    if sets.shifts == 3:
        once = "nobody has two shifts on one day"
    extra = f"; nobody works {last} more than twice in the week" * sets.lates
    if apart:
        extra += f"; {listed(sorted(apart))} never work on the same day"
    three = "all three rules" if not extra else "all rules"
    entries = NUMBERS[len(rota)]
    turn_1 = Turn(
        f"The rota of a pharmacy in {rng.choice(TOWNS)}, kept by {listed(crew)}:\n\n{head}\n"
        f"{table}\n\nRules: {once}; nobody works early on the day after a {last} one; nobody works "
        f"more than {_MOST} shifts in the week{extra}. Now {absent} can't come on "
        f"{listed([_DAYS[d] for d in days])}. How many of the {entries} entries have to change at "
        "least so that all rules hold again, and how many different rotas do it with so "
        f"few{ask_more}?",
        shape=f"fewest entries changed; number of such rotas{shape_more}",
        result=(few, ways, *more_ways),
        work=f"Going through all ways of changing one, two and three entries: fewer than {few} "
        f"never do, with {few} there are {ways} rotas. One of them: "
        f"{_shown(rota, mended[0], shifts)}.{_told(few, more_ways)}",
        traps={"only fills the gaps and breaks another rule": (len(days), ways, *more_ways)},
        points=[
            f"Shows a rota with so few changes that keeps {three}.",
            "Gives a reason why fewer changes don't do.",
        ],
    )
    if few == len(days):
        turn_1.traps["lets anybody fill each gap"] = (
            few,
            (sets.crew - 1) ** few,
            *more_ways,
        )
        if more_ways:
            turn_1.traps["counts the fewest changes again"] = (few, ways, ways)
    among = any(one in mended for one in mended_now)
    returned = f" But {absent} can come on {_DAYS[back]} after all." if back is not None else ""
    those = "those with the fewest changes" if more_ways else "them"
    turn_2 = Turn(
        f"While we talk {other} rings: not on {_DAYS[day]} either, on top of what you dealt with."
        f"{returned} Nothing has been put up yet, so the old rota above is still what we count "
        f"from. Fewest changes now, and in how many ways{ask_more}? Is one of your earlier repairs "
        "among "
        f"{those}?",
        shape=f"fewest entries changed; number of such rotas{shape_more}; yes or no",
        result=(few_now, ways_now, *more_ways_now, "yes" if among else "no"),
        work=f"Now {few_now} at least, with {ways_now} rotas, such as "
        f"{_shown(rota, mended_now[0], shifts)}.{_told(few_now, more_ways_now)}",
        traps={
            "adds to the first repair instead of starting anew": (
                few + 2,
                ways_now,
                *more_ways_now,
                "no",
            )
        },
        points=["[state] Counts changes from the rota as put up, not from its own repair."],
    )
    return Made((turn_1, turn_2), "what you dealt with", "extend")


def repairs(rota: Rota, crew: list[str], rules: Rules, few: range | tuple[int, ...]) -> list[Rota]:
    """Return the repairs with the fewest changes, if these are as few as is allowed."""
    must = [(name, slot // rules.shifts) in rules.gone for slot, name in enumerate(rota)]

    def order(new: Rota) -> tuple[list[int], list[str]]:
        changed = [slot for slot, name in enumerate(new) if name != rota[slot]]
        free = [slot for slot in changed if not must[slot]]
        return free, [new[slot] for slot in changed if must[slot]] + [new[slot] for slot in free]

    for changes in range(sum(must), max(few) + 1):
        found = list(_rotas(rota, crew, rules, changes))
        if found:
            return sorted(found, key=order) if changes in few else []
    return []


def _rotas(rota: Rota, crew: list[str], rules: Rules, changes: int) -> Iterator[Rota]:
    """Yield the rotas that keep the rules with exactly so many changes."""
    must = [(name, slot // rules.shifts) in rules.gone for slot, name in enumerate(rota)]
    ahead = [sum(must[at:]) for at in range(len(rota) + 1)]
    total, lates = dict.fromkeys(crew, 0), dict.fromkeys(crew, 0)
    begun: Rota = []

    def go_on(left: int) -> Iterator[Rota]:
        at = len(begun)
        if ahead[at] > left:
            return
        if at == len(rota):
            if left == 0:
                yield list(begun)
            return
        day, shift = divmod(at, rules.shifts)
        today = begun[day * rules.shifts :]
        late = rules.lates and shift == rules.shifts - 1
        for name in crew if left else [rota[at]]:
            if (
                total[name] >= _MOST
                or (late and lates[name] >= _MOST_LATES)
                or name in today
                or (name, day) in rules.gone
                or (shift == 0 and begun[-1:] == [name])
                or (name in rules.apart and any(one in rules.apart for one in today))
            ):
                continue
            total[name] += 1
            lates[name] += late
            begun.append(name)
            yield from go_on(left - (name != rota[at]))
            begun.pop()
            total[name] -= 1
            lates[name] -= late

    return go_on(changes)


def _told(few: int, more: tuple[int, ...]) -> str:
    """Return how many rotas have one change more, if that is asked for."""
    return f" With {few + 1} changes there are {more[0]} rotas." if more else ""


def _shown(old: Rota, new: Rota, shifts: tuple[str, ...]) -> str:
    return "; ".join(
        f"{_DAYS[slot // len(shifts)]} {shifts[slot % len(shifts)]} {a} → {b}"
        for slot, (a, b) in enumerate(zip(old, new, strict=True))
        if a != b
    )
