"""An estate divided by an invented custom; then somebody died a year earlier."""

import random
from fractions import Fraction
from typing import NamedTuple

from turnbench_questions.template import (
    NUMBERS,
    PEOPLE,
    TOWNS,
    WORDS,
    Made,
    Turn,
    aside,
    by_level,
    listed,
    redraw_if,
)

QUESTION_ID = 1076
CATEGORY = "humanities"
LEVEL = 5


class Level(NamedTuple):
    """What a level sets."""

    children: tuple[tuple[int, int], ...]
    """Between what the number of somebody's children is, in each generation."""
    shares: tuple[int, int]
    """Between what the number of people is who get something."""
    asked: int = 4
    """Of how many the share is asked for."""
    dead: int = 2
    """How many of the children have died before."""
    advances: int = 0
    """How many have had some of their share before."""
    refusals: int = 0
    """How many refuse their share in turn 1, and again in turn 2."""


_SMALL = ((3, 4), (0, 3), (0, 2), (0, 2))
_LARGE = ((4, 5), (1, 3), (1, 2), (0, 2))
_DEEP = ((4, 5), (1, 3), (1, 3), (1, 2), (0, 2))
LEVELS = by_level(
    Level(((3, 3), (1, 2), (0, 0)), (3, 6), 3, dead=1),
    Level(((3, 4), (1, 2), (0, 2), (0, 0)), (5, 9), 3, dead=1),
    Level(_SMALL, (7, 14)),  # as it was before there were levels
    Level(_LARGE, (9, 15)),
    Level(_LARGE, (9, 16), advances=1),
    Level(_LARGE, (10, 18), 5, advances=1, refusals=1),
    Level(_DEEP, (12, 20), 6, advances=2, refusals=1),
    Level(_DEEP, (12, 22), 7, 3, advances=2, refusals=1),
    Level(_DEEP, (14, 28), 8, 3, advances=3, refusals=1),
    Level(_DEEP, (15, 32), 10, 3, advances=5, refusals=1),
)


class Person(NamedTuple):
    """A descendant, from the eldest child on."""

    name: str
    dead: bool = False
    spouse: bool = False
    children: tuple["Person", ...] = ()

    @property
    def counts(self) -> bool:
        """Whether a part goes to this person, the spouse or somebody below."""
        return not self.dead or self.spouse or any(child.counts for child in self.children)


def make(rng: random.Random, level: int) -> Made:
    """Return a question about shares, then with an earlier death."""
    sets = LEVELS[level]
    more = aside(rng)
    names = rng.sample(PEOPLE, 26)
    further = WORDS["more_people"]
    names += more.sample(further, len(further)) if level > 3 else []
    root = _grown(rng, names, 0, sets.children)
    redraw_if(sum(child.dead for child in root.children) != sets.dead)
    weight = rng.randint(2, 3)
    plain = divided(root, weight)
    refusing = _refusing(more, root, sets.refusals)
    family = root
    for name in refusing:
        family = _without(family, name)
    heirs_now = [name for name in divided(family, weight) if "'" not in name]
    redraw_if(len(heirs_now) < sets.advances)
    advances = {
        name: Fraction(1, more.choice([60, 72, 80, 90, 96, 120]))
        for name in more.sample(heirs_now, sets.advances)
    }
    shares = _less(divided(family, weight, 1 + Fraction(sum(advances.values()))), advances)
    alive = [c for c in family.children if not c.dead and len(c.children) >= 2]
    redraw_if(not alive or not sets.shares[0] <= len(shares) <= sets.shares[1])
    late = rng.choice(alive)
    redraw_if(late.name in advances)
    changed_family = _dying(family, late.name)
    refusing_now = _refusing(more, changed_family, sets.refusals)
    redraw_if(late.name in refusing_now or set(advances) & set(refusing_now))
    for name in refusing_now:
        changed_family = _without(changed_family, name)
    unpaid = more.choice(list(advances)) if sets.advances > 1 else ""
    paid = {name: part for name, part in advances.items() if name != unpaid}
    changed = _less(divided(changed_family, weight, 1 + Fraction(sum(paid.values()))), paid)
    redraw_if(min([*shares.values(), *changed.values()]) < 0)
    redraw_if(any(name not in changed for name in paid))
    differ = [name for name in {**shares, **changed} if shares.get(name) != changed.get(name)]
    same = [name for name in shares if name not in differ]
    if level <= 4:
        redraw_if(len(differ) < min(3, level + 1) or len(same) < min(2, level))
        deep = sorted(same, key=lambda name: (shares[name].denominator, name))[-2:]
        others = [name for name in differ if name != late.name]
        redraw_if(not others)
        heirs = [late.name, rng.choice(others), *deep][: sets.asked]
        redraw_if(len(heirs) < sets.asked)
    else:
        others = [name for name in shares if name != late.name]
        heirs = [late.name, *more.sample(others, sets.asked - 1)]
    result, after, flat = (
        tuple(division.get(name, Fraction()) for name in heirs)
        for division in (shares, changed, divided(root, 1))
    )
    rest = [name for name in changed if changed[name] > shares.get(name, Fraction())]
    first_names = ", ".join(heirs)
    rules, facts = "", ""
    if sets.refusals:
        rules += (
            " Whoever refuses counts as never born, and so does everybody below that person, "
            "whatever they would have had."
        )
        facts += f" {listed(refusing)} {_refuse(refusing)}."
    if advances:
        rules += (
            " What somebody had in advance is added to the estate before it is divided, and taken "
            "off that person's share afterwards."
        )
        had = listed([f"{name} {part}" for name, part in advances.items()])
        facts += f" Had in advance, as a fraction of the estate that is left: {had}."
    estate = "the estate" if not advances else "the estate that is left"
    turn_1 = Turn(
        f"Custom of the valley above {rng.choice(TOWNS)} (invented): an estate goes to the "
        f"children of the deceased. The eldest child of any parent takes {weight} parts, each "
        "other child one. Whoever died before the deceased takes no part, yet the part that person "
        "would have had goes down: a quarter of it to the spouse if there is one, the rest to that "
        "person's own children by the same rule, living or dead; with a spouse and no children all "
        "of it goes to the spouse, without either the person counts as never born, so that the "
        f"next in age becomes the eldest.{rules} Old {root.name} has now died, widowed. The "
        f"family, eldest first everywhere: {described(root)}{facts} Which share of {estate} do "
        f"{first_names} get?",
        shape=f"the fractions for {first_names}",
        result=result,
        work=_work(shares),
        traps={"gives the eldest no larger part": flat},
        points=[
            "Applies the larger part of the eldest at every generation.",
            "Treats a dead person without spouse and children as never born.",
        ],
    )
    if sets.refusals or advances:
        turn_1.traps["leaves refusals and advances out"] = tuple(
            plain.get(name, Fraction()) for name in heirs
        )
    news = ""
    if refusing_now:
        news += f" {listed(refusing_now)} now {_refuse(refusing_now)} too."
    if unpaid:
        news += f" And what {unpaid} was said to have had in advance was never paid."
    same_ones = NUMBERS[sets.asked]
    turn_2 = Turn(
        f"A letter changes your division: {late.name} died the week before old {root.name}, "
        f"leaving no spouse.{news} Redo it for the same {same_ones}. And who of the whole family "
        "gets more than by your first division: how many people is that?",
        shape=f"the fractions for {first_names}; number of people with more",
        result=(*after, len(rest)),
        work=f"{_work(changed)} More than before get {', '.join(rest)}.",
        traps={"leaves the division as it was": (*result, 0)},
        points=[
            f"Lets the part of {late.name} go down, 0 for {late.name}"
            + (", the rest unchanged." if not news else "."),
            "[state] Compares with its own first division.",
        ],
    )
    return Made((turn_1, turn_2), "your first division", "change_premise")


def _refuse(names: list[str]) -> str:
    """Return the verb for those who refuse."""
    return "refuses" if len(names) == 1 else "refuse"


def _refusing(rng: random.Random, root: Person, many: int) -> list[str]:
    """Return some who could refuse: below the children, with a part of their own or below."""
    below = [p for child in root.children if child.dead for p in child.children if p.counts]
    redraw_if(len(below) < many)
    return [person.name for person in rng.sample(below, many)]


def _without(person: Person, name: str) -> Person:
    """Return a family without somebody and everybody below."""
    left = (child for child in person.children if child.name != name)
    return person._replace(children=tuple(_without(child, name) for child in left))


def _less(shares: dict[str, Fraction], advances: dict[str, Fraction]) -> dict[str, Fraction]:
    """Return shares without what was had in advance."""
    return {name: share - advances.get(name, Fraction()) for name, share in shares.items()}


def divided(person: Person, weight: int, part: Fraction = Fraction(1)) -> dict[str, Fraction]:
    """Return what everybody below a person gets of that person's part."""
    children = [child for child in person.children if child.counts]
    shares: dict[str, Fraction] = {}
    for n, child in enumerate(children):
        mine = part * (1 if n else weight) / (weight + len(children) - 1)
        below = any(grandchild.counts for grandchild in child.children)
        if not child.dead:
            shares[child.name] = mine
            continue
        if child.spouse:
            shares[f"{child.name}'s spouse"] = mine / 4 if below else mine
            mine = mine * 3 / 4
        if below:
            shares |= divided(child, weight, mine)
    return shares


def described(person: Person) -> str:
    """Return the family in sentences."""
    text = f"{person.name} had {', '.join(map(_called, person.children))}."
    below = [described(child) for child in person.children if child.children]
    return " ".join([text, *below])


def _called(person: Person) -> str:
    if not person.dead:
        return person.name
    spouse = "leaving a spouse" if person.spouse else "no spouse"
    children = "" if person.children else ", no children"
    return f"{person.name} (died before, {spouse}{children})"


def _grown(
    rng: random.Random, names: list[str], depth: int, bounds: tuple[tuple[int, int], ...]
) -> Person:
    least, most = bounds[depth]
    many = rng.randint(least, most)
    inner = depth < len(bounds) - 1
    children = tuple(_grown(rng, names, depth + 1, bounds) for _ in range(many)) if inner else ()
    dead = depth > 0 and rng.random() < 0.45
    if depth > 1 and not dead:
        children = ()
    redraw_if(not names)
    return Person(names.pop(0), dead, dead and rng.random() < 0.5, children)


def _dying(person: Person, name: str) -> Person:
    children = tuple(_dying(child, name) for child in person.children)
    return person._replace(children=children, dead=person.dead or person.name == name)


def _work(shares: dict[str, Fraction]) -> str:
    return ", ".join(f"{name} {share}" for name, share in shares.items()) + "."
