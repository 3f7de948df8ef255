"""An estate divided by an invented custom; then somebody died a year earlier."""

import random
from fractions import Fraction
from typing import NamedTuple

from turnbench_questions.template import PEOPLE, TOWNS, Made, Turn, redraw_if

QUESTION_ID = 1076
CATEGORY = "humanities"
LEVEL = 3


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


def make(rng: random.Random) -> Made:
    """Return a question about shares, then with an earlier death."""
    names = rng.sample(PEOPLE, 26)
    root = _grown(rng, names, 0)
    redraw_if(sum(child.dead for child in root.children) != 2)
    weight = rng.randint(2, 3)
    shares = divided(root, weight)
    alive = [c for c in root.children if not c.dead and len(c.children) >= 2]
    redraw_if(not alive or not 7 <= len(shares) <= 14)
    late = rng.choice(alive)
    changed = divided(_dying(root, late.name), weight)
    differ = [name for name in {**shares, **changed} if shares.get(name) != changed.get(name)]
    same = [name for name in shares if name not in differ]
    redraw_if(len(differ) < 3 or len(same) < 2)
    deep = sorted(same, key=lambda name: (shares[name].denominator, name))[-2:]
    heirs = [late.name, rng.choice([name for name in differ if name != late.name]), *deep]
    result, after, flat = (
        tuple(division.get(name, Fraction()) for name in heirs)
        for division in (shares, changed, divided(root, 1))
    )
    rest = [name for name in changed if changed[name] > shares.get(name, Fraction())]
    first_names = ", ".join(heirs)
    turn_1 = Turn(
        f"Custom of the valley above {rng.choice(TOWNS)} (invented): an estate goes to the "
        f"children of the deceased. The eldest child of any parent takes {weight} parts, each "
        "other child one. Whoever died before the deceased takes no part, yet the part that person "
        "would have had goes down: a quarter of it to the spouse if there is one, the rest to that "
        "person's own children by the same rule, living or dead; with a spouse and no children all "
        "of it goes to the spouse, without either the person counts as never born, so that the "
        f"next in age becomes the eldest. Old {root.name} has now died, widowed. The family, "
        f"eldest first everywhere: {described(root)} Which share of the estate do {first_names} "
        "get?",
        shape=f"the fractions for {first_names}",
        result=result,
        work=_work(shares),
        traps={"gives the eldest no larger part": flat},
        points=[
            "Applies the larger part of the eldest at every generation.",
            "Treats a dead person without spouse and children as never born.",
        ],
    )
    turn_2 = Turn(
        f"A letter changes your division: {late.name} died the week before old {root.name}, "
        "leaving no spouse. Redo it for the same four. And who of the whole family gets more than "
        "by your first division: how many people is that?",
        shape=f"the fractions for {first_names}; number of people with more",
        result=(*after, len(rest)),
        work=f"{_work(changed)} More than before get {', '.join(rest)}.",
        traps={"leaves the division as it was": (*result, 0)},
        points=[
            f"Lets the part of {late.name} go down, 0 for {late.name}, the rest unchanged.",
            "[state] Compares with its own first division.",
        ],
    )
    return Made((turn_1, turn_2), "your first division", "change_premise")


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


def _grown(rng: random.Random, names: list[str], level: int) -> Person:
    least, most = ((3, 4), (0, 3), (0, 2), (0, 2))[level]
    many = rng.randint(least, most)
    children = tuple(_grown(rng, names, level + 1) for _ in range(many)) if level < 3 else ()
    dead = level > 0 and rng.random() < 0.45
    if level > 1 and not dead:
        children = ()
    redraw_if(not names)
    return Person(names.pop(0), dead, dead and rng.random() < 0.5, children)


def _dying(person: Person, name: str) -> Person:
    children = tuple(_dying(child, name) for child in person.children)
    return person._replace(children=children, dead=person.dead or person.name == name)


def _work(shares: dict[str, Fraction]) -> str:
    return ", ".join(f"{name} {share}" for name, share in shares.items()) + "."
