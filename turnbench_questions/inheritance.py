"""An estate divided by an invented custom; then somebody died a year earlier."""

import random
from collections.abc import Set
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
    """What a level sets.

    By hand, in both turns: about 5,000 divisions with a remainder at level 8, 16,000 at 9 and
    50,000 at 10, of what everybody has, year after year.
    """

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
    pennies: bool = False
    """Whether the estate is so many pennies, each division in whole ones, and the youngest of three
    or more takes three parts."""
    digits: int = 6
    deaths: int = 1
    """How many of the children have died by turn 2."""
    years: int = 0
    """In how many years more is divided later, with a part of what everybody has."""
    later_deaths: int = 0
    """How many of the family die in those years."""


_SMALL = ((3, 4), (0, 3), (0, 2), (0, 2))
_LARGE = ((4, 5), (1, 3), (1, 2), (0, 2))
_DEEP = ((4, 5), (1, 3), (1, 3), (1, 2), (0, 2))
_DEEPER = ((5, 6), (2, 3), (1, 3), (1, 2), (0, 2))
LEVELS = by_level(
    Level(((3, 3), (1, 2), (0, 0)), (3, 6), 3, dead=1),
    Level(((3, 4), (1, 2), (0, 2), (0, 0)), (5, 9), 3, dead=1),
    Level(_SMALL, (7, 14)),  # as it was before there were levels
    Level(_LARGE, (9, 15)),
    Level(_LARGE, (9, 16), advances=1),
    Level(_DEEP, (12, 22), 6, 3, advances=2, refusals=1),
    Level(_DEEP, (14, 28), 9, 3, 3, 1, pennies=True),
    Level(_DEEPER, (25, 45), 18, 3, 4, 2, True, 6, 2, 20, 9),
    Level(_DEEPER, (25, 45), 20, 3, 4, 2, True, 6, 2, 64, 11),
    Level(_DEEPER, (25, 45), 22, 3, 4, 2, True, 7, 2, 190, 12),
)


_BACK = 20
"""Which part of what they have all pay back each year."""
Amount = Fraction | int
"""A share of the estate, or pennies."""


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

    @property
    def names(self) -> set[str]:
        """The names of this person and everybody below."""
        return {self.name}.union(*(child.names for child in self.children))


class Year(NamedTuple):
    """What happens in a year after the first division."""

    comes: int
    """How many pennies more are divided at New Year."""
    dies: str = ""
    """Who dies after that."""


def make(rng: random.Random, level: int) -> Made:
    """Return a question about shares, then with an earlier death."""
    sets = LEVELS[level]
    more = aside(rng)
    names = rng.sample(PEOPLE, 26)
    further = WORDS["more_people"]
    names += more.sample(further, len(further)) if level > 3 else []
    if sets.pennies:
        # Those who are grown in vain, below the living, are to cost no names.
        names += more.sample(WORDS["relatives"], len(WORDS["relatives"]))
        root = _named(_grown(rng, [""] * 2_000, 0, sets.children), names)
    else:
        root = _grown(rng, names, 0, sets.children)
    dead = sum(child.dead for child in root.children)
    redraw_if(abs(dead - sets.dead) > sets.pennies)
    weight = rng.randint(2, 3) + 2 * sets.pennies
    youngest, spouse = (3, Fraction(2, 7)) if sets.pennies else (1, Fraction(1, 4))
    estate: Amount = Fraction(1)
    if sets.pennies:
        estate = more.randint(3 * 10**sets.digits, 10 ** (sets.digits + 1))

    nothing = estate * 0

    def division(of: Person, left: Amount, had: dict[str, Amount]) -> dict[str, Amount]:
        whole = divided(of, weight, left + sum(had.values()), youngest, spouse)
        return {name: share - had.get(name, 0) for name, share in whole.items()}

    plain = division(root, estate, {})
    refusing = _refusing(more, root, sets.refusals)
    family = root
    for name in refusing:
        family = _without(family, name)
    first = division(family, estate, {})
    heirs_now = [name for name in first if "'" not in name]
    redraw_if(len(heirs_now) < sets.advances)
    advances: dict[str, Amount] = {
        name: more.randint(int(first[name] // 6), int(first[name] // 2))
        if sets.pennies
        else Fraction(1, more.choice([60, 72, 80, 90, 96, 120]))
        for name in more.sample(heirs_now, sets.advances)
    }
    shares = division(family, estate, advances)
    alive = [c for c in family.children if not c.dead and len(c.children) >= 2]
    if sets.pennies:  # such draws are dear, so what would be refused below isn't drawn
        alive = [c for c in alive if c.name not in advances]
    redraw_if(len(alive) < sets.deaths or not sets.shares[0] <= len(shares) <= sets.shares[1])
    late = rng.choice(alive)
    dying = [late, *more.sample([c for c in alive if c != late], sets.deaths - 1)]
    redraw_if(any(child.name in advances for child in dying))
    changed_family = family
    for child in dying:
        changed_family = _dying(changed_family, child.name)
    refusing_now = _refusing(
        more, changed_family, sets.refusals, set(advances) if sets.pennies else set()
    )
    redraw_if({c.name for c in dying} & set(refusing_now) or set(advances) & set(refusing_now))
    for name in refusing_now:
        changed_family = _without(changed_family, name)
    unpaid = more.choice(list(advances)) if sets.advances > 1 else ""
    paid = {name: part for name, part in advances.items() if name != unpaid}
    found = more.randint(10_000, 90_000) if sets.pennies else 0
    changed = division(changed_family, estate + found, paid)
    redraw_if(min([*shares.values(), *changed.values()]) < 0)
    at_first = shares
    years: list[Year] = []
    if sets.years:
        alive_still = [name for name in _living(family) if name in _living(changed_family)]
        redraw_if(len(alive_still) < sets.later_deaths + 5)
        dead_later = more.sample(alive_still, sets.later_deaths)
        redraw_if(set(dead_later) & set(paid))
        when = sorted(more.sample(range(sets.years - 1), sets.later_deaths))
        deaths = dict(zip(when, dead_later, strict=True))
        years = [Year(more.randint(2_000, 9_999), deaths.get(n, "")) for n in range(sets.years)]
        shares, changed = (
            in_years(some, held, years, weight, youngest, spouse)
            for some, held in ((family, shares), (changed_family, changed))
        )
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
        others = [name for name in at_first if name != late.name and shares.get(name, 1)]
        redraw_if(len(others) < sets.asked)
        heirs = [late.name, *more.sample(others, sets.asked - 1)]
    result, after, flat, without = (
        tuple(part.get(name, nothing) for name in heirs)
        for part in (shares, changed, divided(root, 1, estate, youngest, spouse), plain)
    )
    rest = [name for name in changed if changed[name] > shares.get(name, nothing)]
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
        measure = "in pennies" if sets.pennies else "as a fraction of the estate that is left"
        facts += f" Had in advance, {measure}: {had}."
    asked = f"Which share of {'the estate that is left' if advances else 'the estate'} do"
    values = "fractions"
    to_spouse = "two sevenths" if sets.pennies else "a quarter"
    eldest = f"The eldest child of any parent takes {weight} parts, each other child one."
    if sets.pennies:
        eldest = (
            f"The eldest child of any parent takes {weight} parts, the youngest of three or more "
            "three parts, each other child one."
        )
        rules += (
            " Every division is in whole pennies: what goes to a spouse beside children is rounded "
            "down, and so is the part of every child but the eldest; the eldest child of that "
            "parent (of those who count) takes what is left. Ages are counted among those who "
            "count, so the youngest is the youngest of them."
        )
        facts += f" The estate that is left is {estate:,} pennies."
        asked, values = "How many pennies do", "pennies"
    get = "get"
    if years:
        facts += _of_years(root.name, years)
        get = "have in the end"
    turn_1 = Turn(
        f"Custom of the valley above {rng.choice(TOWNS)} (invented): an estate goes to the "
        f"children of the deceased. {eldest} Whoever died before the deceased takes no part, yet "
        f"the part that person would have had goes down: {to_spouse} of it to the spouse if there "
        "is one, the rest to that person's own children by the same rule, living or dead; with a "
        "spouse and no children all of it goes to the spouse, without either the person counts as "
        f"never born, so that the next in age becomes the eldest.{rules} Old {root.name} has now "
        f"died, widowed. The family, eldest first everywhere: {described(root)}{facts} {asked} "
        f"{first_names} {get}?",
        shape=f"the {values} for {first_names}",
        result=result,
        work=_work(shares),
        traps={"gives the eldest no larger part": flat},
        points=[
            "Applies the larger part of the eldest at every generation.",
            "Treats a dead person without spouse and children as never born.",
        ],
    )
    if years:
        turn_1.traps["stops after the first division"] = tuple(
            at_first.get(name, nothing) for name in heirs
        )
    if sets.refusals or advances:
        turn_1.traps["leaves refusals and advances out"] = without
    news = ""
    if refusing_now:
        news += f" {listed(refusing_now)} now {_refuse(refusing_now)} too."
    if unpaid:
        news += f" And what {unpaid} was said to have had in advance was never paid."
    if found:
        news += f" And {found:,} pennies more have been found in a clock, so so much more is left."
    back, more_than = "your first division", "gets more than by your first division"
    if years:
        back, more_than = "your first answer", "has more in the end than by your first answer"
        news += " What was told of the years after the first division (ships, deaths) is as before."
    same_ones = NUMBERS[sets.asked]
    died = listed([child.name for child in dying])
    turn_2 = Turn(
        f"A letter changes your division: {died} died the week before old {root.name}, "
        f"leaving no spouse.{news} Redo it for the same {same_ones}. And who of the whole family "
        f"{more_than}: how many people {'(spouses too) ' * bool(years)}is that?",
        shape=f"the {values} for {first_names}; number of people with more",
        result=(*after, len(rest)),
        work=f"{_work(changed)} More than before get {', '.join(rest)}.",
        traps={"leaves the division as it was": (*result, 0)},
        points=[
            f"Lets the part of {died} go down, 0 for {late.name}"
            + (", the rest unchanged." if not news else "."),
            "[state] Compares with its own first division.",
        ],
    )
    return Made((turn_1, turn_2), back, "change_premise")


def _refuse(names: list[str]) -> str:
    """Return the verb for those who refuse."""
    return "refuses" if len(names) == 1 else "refuse"


def _refusing(
    rng: random.Random, root: Person, many: int, kept: Set[str] = frozenset()
) -> list[str]:
    """Return some who could refuse: below the children, with a part of their own or below.

    Nobody of those kept is among them or below them.
    """
    below = [p for child in root.children if child.dead for p in child.children if p.counts]
    below = [person for person in below if not kept & person.names]
    redraw_if(len(below) < many)
    return [person.name for person in rng.sample(below, many)]


def _living(person: Person) -> list[str]:
    """Return who is alive below somebody."""
    found = []
    for child in person.children:
        found += [*([] if child.dead else [child.name]), *_living(child)]
    return found


def _line(person: Person, name: str) -> list[Person]:
    """Return the people from somebody down to one below; empty if that one isn't there."""
    if person.name == name:
        return [person]
    for child in person.children:
        if line := _line(child, name):
            return [person, *line]
    return []


def in_years(
    family: Person,
    held: dict[str, Amount],
    years: list[Year],
    weight: int,
    youngest: int,
    spouse: Fraction,
) -> dict[str, Amount]:
    """Return what everybody has after some years, whole pennies.

    Each year everybody pays a part of it back, which is divided again with what comes; and what
    somebody has who dies goes down, or over to the nearest line that counts.
    """
    held = dict(held)

    def divide(of: Person, amount: Amount) -> None:
        for name, part in divided(of, weight, amount, youngest, spouse).items():
            held[name] = held.get(name, 0) + part

    for year in years:
        paid = {name: amount // _BACK for name, amount in held.items()}
        for name, amount in paid.items():
            held[name] -= amount
        divide(family, year.comes + sum(paid.values()))
        if year.dies:
            family = _dying(family, year.dies)
            left = held.pop(year.dies, 0)
            line = _line(family, year.dies)
            fit = [one for one in line if any(child.counts for child in one.children)]
            redraw_if(not fit)
            divide(fit[-1], left)
    return held


def _of_years(root: str, years: list[Year]) -> str:
    """Return what is divided after the first division."""
    told = "; ".join(
        f"{n}: {year.comes:,}" + (f", {year.dies} dies" if year.dies else "")
        for n, year in enumerate(years, 1)
    )
    return (
        f" So much for the first division. After it a ship of old {root}'s comes home every New "
        f"Year for {len(years)} years. On that day everybody who has anything, spouses too, pays "
        f"back a {_BACK}th part of it, rounded down; and what is paid back and what the ship "
        f"brings is divided, together, as old {root}'s estate by the same custom among those who "
        "count on that day. What somebody has is all that came to that person by the first "
        "division (without what was had in advance) and since, less what was paid back. "
        "Advances are not reckoned again, and who has refused counts as never born for ever. In "
        f"some years somebody dies some time after New Year, leaving no spouse, and from then on "
        f"counts as one who died before old {root}. What that person has is divided at once, by "
        "the same custom, as that person's own estate among those below; if nobody below counts, "
        "as if it were the estate of that person's parent, and if nobody below that one counts "
        "either, of the parent's parent, and so on upwards (those themselves get nothing of it). "
        f"The years, with the pennies that the ship brings: {told}. Whoever has died has 0."
    )


def _without(person: Person, name: str) -> Person:
    """Return a family without somebody and everybody below."""
    left = (child for child in person.children if child.name != name)
    return person._replace(children=tuple(_without(child, name) for child in left))


def divided(
    person: Person,
    weight: int,
    part: Amount = Fraction(1),
    youngest: int = 1,
    spouse: Fraction = Fraction(1, 4),
) -> dict[str, Amount]:
    """Return what everybody below a person gets of that person's part, pennies in whole ones.

    Args:
        person: whose part it is.
        weight: how many parts the eldest child takes.
        part: what there is to divide.
        youngest: how many parts the youngest of three or more takes.
        spouse: what a spouse beside children takes of the part.
    """
    children = [child for child in person.children if child.counts]
    weights = [1] * len(children)
    weights[-1:] = [youngest if len(children) > 2 else 1]
    weights[:1] = [weight]
    parts = [_of(part, own, sum(weights)) for own in weights]
    parts[0] = part - sum(parts[1:])
    shares: dict[str, Amount] = {}
    for child, own in zip(children, parts, strict=True):
        mine = own
        below = any(grandchild.counts for grandchild in child.children)
        if not child.dead:
            shares[child.name] = mine
            continue
        if child.spouse:
            taken = _of(mine, spouse.numerator, spouse.denominator) if below else mine
            shares[f"{child.name}'s spouse"] = taken
            mine -= taken
        if below:
            shares |= divided(child, weight, mine, youngest, spouse)
    return shares


def _of(part: Amount, parts: int, of: int) -> Amount:
    """Return so many parts of an amount, whole pennies rounded down."""
    return part * parts // of if isinstance(part, int) else part * parts / of


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


def _named(person: Person, names: list[str]) -> Person:
    """Return a family with names."""
    redraw_if(not names)
    name = names.pop(0)
    return person._replace(
        name=name, children=tuple(_named(child, names) for child in person.children)
    )


def _dying(person: Person, name: str) -> Person:
    children = tuple(_dying(child, name) for child in person.children)
    return person._replace(children=children, dead=person.dead or person.name == name)


def _work(shares: dict[str, Amount]) -> str:
    return ", ".join(f"{name} {share}" for name, share in shares.items()) + "."
