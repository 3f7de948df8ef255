"""A recessive trait in a family: exact probabilities, then more that is known."""

import itertools
import random
from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

from turnbench_questions.template import (
    MEN,
    NUMBERS,
    TOWNS,
    WOMEN,
    WORDS,
    Made,
    RedrawError,
    Turn,
    aside,
    by_level,
    listed,
    redraw_if,
)

QUESTION_ID = 1065
CATEGORY = "stem"
LEVEL = 4


class Level(NamedTuple):
    """What a level sets; from the fourth on the family is a `Clan`.

    By hand a product of weights is a step, and the sums go through the family there and back in
    each turn: 4,400 steps at level 8, 10,000 at level 9, 20,000 at level 10.
    """

    healthy: tuple[int, int]
    """The fewest and the most healthy children of the couple that is asked about."""
    caught: tuple[int, ...]
    """How many percent of carriers a test finds."""
    children: int = 0
    """Of the first couple."""
    grandchildren: int = 0
    later: int = 0
    """How many children of grandchildren are named."""
    cousins: int = 0
    """How many couples of grandchildren are cousins; the first of them is asked about."""
    ill: int = 0
    tests: int = 0
    """How many people are tested before turn 1."""
    changes: int = 0
    """How many things turn 2 changes."""
    carriers: int = 1
    """How many beside the couple are asked about."""
    digits: int = 15
    """The most digits of a denominator in the results."""


LEVELS = by_level(
    Level((2, 2), (50,)),
    Level((2, 3), (50, 75)),
    Level((2, 4), (80, 90)),  # as it was before there were levels
    Level((1, 2), (80, 90), 3, 2, 0, 1, 1, 0, 1),
    Level((1, 2), (80, 90), 3, 3, 1, 1, 1, 1, 2),
    Level((1, 3), (75, 80), 3, 4, 1, 1, 1, 1, 2),
    Level((1, 3), (75, 80), 3, 5, 2, 1, 2, 2, 3),
    Level((2, 3), (75, 80), 4, 12, 6, 4, 3, 5, 6, carriers=4, digits=30),
    Level((2, 4), (75, 80), 5, 17, 9, 6, 4, 7, 6, carriers=6, digits=45),
    Level((2, 4), (75, 80), 6, 22, 12, 8, 5, 9, 6, carriers=8, digits=60),
)


class Person(NamedTuple):
    """Somebody of a family, by name; who comes from outside has no parents."""

    name: str
    mother: str = ""
    father: str = ""
    ill: bool = False


class Clan(NamedTuple):
    """A family and what is known of it."""

    people: dict[str, Person]
    unnamed: dict[tuple[str, str], int]
    """Further children of a mother and a father, all well."""
    every: int
    """One in so many from outside has an altered copy."""
    caught: Fraction
    """How many of those with an altered copy the test finds."""
    clear: frozenset[str] = frozenset()
    """In whom the test found nothing."""
    found: frozenset[str] = frozenset()
    """In whom it found an altered copy."""

    def couples(self) -> dict[tuple[str, str], list[str]]:
        """Return the parents with their children of a name."""
        couples = dict[tuple[str, str], list[str]]()
        for name, mother, father, _ in self.people.values():
            if mother:
                couples.setdefault((mother, father), []).append(name)
        return couples | {pair: [] for pair in self.unnamed if pair not in couples}

    def ill(self) -> list[str]:
        """Return who is ill."""
        return [name for name, person in self.people.items() if person.ill]


Factor = tuple[tuple[str, ...], dict[tuple[int, ...], int]]
"""Some people, and a weight for each way in which they may have altered copies."""


def make(rng: random.Random, level: int) -> Made:
    """Return a question about the next child, given what is known of the family."""
    sets = LEVELS[level]
    return _of_clan(rng, sets) if sets.children else _of_couple(rng, sets)


def _of_couple(rng: random.Random, sets: Level) -> Made:
    """Return the question about a man with an ill brother, and his wife."""
    every = rng.choice([8, 10, 12, 15])
    healthy = rng.randint(*sets.healthy)
    caught = rng.choice(sets.caught)
    he, she = rng.choice(MEN), rng.choice(WOMEN)
    carrier = Fraction(1, every)
    missed = Fraction(100 - caught, 100)
    before, first = chances(carrier, 0), chances(carrier, healthy)
    after = chances(carrier, healthy, missed)
    turn_1 = Turn(
        f"{he}, who is well, has a brother with a disease that everybody has who has two "
        f"altered copies of one gene, and nobody else; their parents are well. {he}'s wife "
        f"{she} is well; her family is unrelated and nothing is known of it; of healthy people in "
        f"her region exactly 1 in {every} carries one altered copy. Every child gets one copy of "
        "each parent at random. "
        f"With what probability has their first child the disease? They then have {healthy} "
        "children, all well: with what probability will the next one have it, and with what "
        f"probability is {he} a carrier, knowing that? Exact fractions.",
        shape="first child; next child; he is a carrier",
        result=(before[0], first[0], first[1]),
        work=f"He is a carrier with 2/3, she with {carrier}. A child of two carriers has it with "
        f"1/4: {before[0]}. Both carriers before: {Fraction(2, 3) * carrier}; {healthy} healthy "
        f"children weigh that with (3/4)^{healthy}. Next child {first[0]}, he a carrier "
        f"{first[1]}.",
        traps={
            "takes 1/2 for a healthy brother of a patient": (carrier / 8, first[0], first[1]),
            "learns nothing from healthy children": (before[0], before[0], Fraction(2, 3)),
        },
        points=[
            "Uses 2/3 for him, with the reason.",
            "Updates both partners on the healthy children, not one alone.",
        ],
    )
    turn_2 = Turn(
        f"{she} then takes a test that finds {caught} % of carriers and never gives a false alarm. "
        f"It finds nothing. Everything you worked with still holds, the {healthy} healthy children "
        "too. Again: the next child, he as a carrier, and now she as a carrier.",
        shape="next child; he is a carrier; she is a carrier",
        result=after,
        work=f"Her being a carrier now weighs {missed} as much: {', '.join(map(str, after))}.",
        traps={"takes the negative test for certainty": (Fraction(), Fraction(2, 3), Fraction())},
        points=[
            "Sees that the test on her moves his probability too.",
            "[state] Keeps the healthy children in the calculation.",
        ],
    )
    return Made((turn_1, turn_2), "Everything you worked with", "combine")


def _of_clan(rng: random.Random, sets: Level) -> Made:
    """Return the question about the next child of two grandchildren of a couple."""
    more = aside(rng)
    clan, pair = _drawn(more, sets, every=rng.choice([8, 9, 10, 12]))
    others = more.sample([name for name in clan.people if name not in pair], 4 + sets.carriers)
    open_ones = [name for name in others if _carries(clan, name).denominator > 100]
    redraw_if(len(open_ones) < sets.carriers)
    asked = (*pair, *open_ones[: sets.carriers])
    first = answers(clan, pair, asked)
    changed, said = _changed(more, clan, pair, sets.changes)
    again = answers(changed, pair, asked)
    together = asked[1:3]
    both = _posterior(changed, together).get((1, 1), Fraction())
    redraw_if(any(old == new for old, new in zip(first, again, strict=True)))
    redraw_if(sets.carriers > 1 and any(chance in (0, 1) for chance in again))
    redraw_if(both == again[2] * again[3])
    redraw_if(max(len(str(x.denominator)) for x in (*first, *again, both)) > sets.digits)
    mother, father = pair
    names = listed(asked)
    families = "\n".join(f"- {line}" for line in _families(clan))
    tested = ""
    if sets.tests:
        tested = (
            f" A test finds {clan.caught * 100} % of those who have an altered copy, one or two, "
            "each independently of everybody else, and never gives a false alarm; "
            f"of these people only {listed(sorted(clan.clear))} took it, and it found nothing."
        )
    chance = "with what probability"
    turn_1 = Turn(
        f"From the papers of a doctor in {more.choice(TOWNS)}. A disease: everybody has it from "
        "birth on who has two altered copies of one gene, and nobody else. Every child gets one "
        "copy of each parent at random. Those whose parents aren't in the list come from outside "
        "and are related to nobody but their children and children's children: before anything "
        "is known of the family each of them has one altered copy with a probability of exactly "
        f"1 in {clan.every}, independently, and none of them has two.\n\n{families}\n\n"
        f"Ill {'is' if len(clan.ill()) == 1 else 'are'} {listed(clan.ill())}; all others, the "
        f"children without names too, are well.{tested} Given all this, {chance} will the next "
        f"child of {mother} and {father} have the disease, and {chance} has each of {names} "
        "exactly one altered copy? Exact fractions in lowest terms.",
        shape="; ".join(["next child", *asked]),
        result=(*first,),
        work=f"Summed over all ways in which the family can have altered copies: the next child "
        f"{first[0]}; {_one_each(asked, first[1:])}.",
        traps={
            "learns nothing from the healthy children of the couple": (
                *answers(clan._replace(unnamed=clan.unnamed | {pair: 0}), pair, asked),
            ),
            "leaves out what the test didn't find": (
                *answers(clan._replace(clear=frozenset()), pair, asked),
            ),
        },
        points=[
            "Counts those who are well as evidence, and not only those who are ill.",
            "Updates both partners together, since their children tell of both.",
        ],
    )
    turn_2 = Turn(
        f"More has come to light. {' '.join(said)} Everything else you worked with holds. Again: "
        f"the next child of {mother} and {father}, and each of {names} with exactly one altered "
        f"copy. And now also: {chance} have {listed(together)} both exactly one?",
        shape="; ".join(["next child", *asked, f"both {listed(together)}"]),
        result=(*again, both),
        work=f"Summed anew: the next child {again[0]}; {_one_each(asked, again[1:])}; both "
        f"{listed(together)} {both}.",
        traps={
            "takes the two for independent": (*again, again[2] * again[3]),
            "leaves everything as it was": (
                *first,
                _posterior(clan, together).get((1, 1), Fraction()),
            ),
        },
        points=[
            "[state] Begins again with all that is known, the healthy children too.",
            "Sees that the two are related, so that one tells of the other.",
        ],
    )
    return Made((turn_1, turn_2), "Everything else you worked with", "combine")


def _drawn(rng: random.Random, sets: Level, every: int) -> tuple[Clan, tuple[str, str]]:
    """Return a family and the couple that is asked about: cousins."""
    men, women = rng.sample(MEN, len(MEN)), rng.sample(WOMEN, len(WOMEN))
    if sets.carriers > 1:
        men, women = WORDS["further_men"] + men, WORDS["further_women"] + women
    mothers = {*women}
    people = dict[str, Person]()

    def add(woman: bool, mother: str = "", father: str = "") -> str:
        redraw_if(not (women if woman else men))
        name = (women if woman else men).pop()
        people[name] = Person(name, mother, father)
        return name

    def marry(name: str) -> tuple[str, str]:
        """Return a mother and a father: a person and somebody from outside."""
        return (name, add(False)) if name in mothers else (add(True), name)

    first = (add(True), add(False))
    couples = [marry(add(rng.random() < 0.5, *first)) for _ in range(sets.children)]
    generation = [
        (add(rng.random() < 0.5, *couple), couple)
        for n in range(sets.grandchildren)
        for couple in [couples[n % len(couples)]]
    ]
    single = list(generation)
    married = list[tuple[str, str]]()
    for _ in range(sets.cousins):
        pairs = [
            (one, other)
            for one in single
            for other in single
            if one[0] in mothers and other[0] not in mothers and one[1] != other[1]
        ]
        redraw_if(not pairs)
        chosen = rng.choice(pairs)
        single = [one for one in single if one not in chosen]
        married.append((chosen[0][0], chosen[1][0]))
    if sets.later:
        redraw_if(not single)
        married.append(marry(rng.choice(single)[0]))
    for n in range(sets.later):
        add(rng.random() < 0.5, *married[1:][n % (len(married) - 1)])
    unnamed = {couple: rng.randint(0, 2) for couple in couples}
    unnamed[married[0]] = rng.randint(*sets.healthy)
    clan = Clan(
        people,
        {pair: number for pair, number in unnamed.items() if number},
        every,
        Fraction(rng.choice(sets.caught), 100),
    )
    for name in _fallen_ill(rng, clan, married[0], sets.ill):
        people[name] = people[name]._replace(ill=True)
    certain = {end for name in clan.ill() for end in people[name][:3]}
    tested = [name for name in people if name not in certain]
    redraw_if(len(tested) < sets.tests)
    clan = clan._replace(clear=frozenset(rng.sample(tested, sets.tests)))
    redraw_if(any(not _uncertain(clan, name) for name in (*married[0], *clan.clear)))
    return clan, married[0]


def _fallen_ill(rng: random.Random, clan: Clan, pair: tuple[str, str], number: int) -> list[str]:
    """Return who are ill in a family in which copies went down by chance."""
    for _ in range(200):
        copies = dict[str, int]()
        sick = list[str]()
        for name, mother, father, _ill in clan.people.values():
            if mother:
                copies[name] = sum(rng.random() * 2 < copies[one] for one in (mother, father))
            else:
                copies[name] = rng.random() < 0.4
            if copies[name] == 2:
                sick.append(name)
        if len(sick) == number and not set(pair) & set(sick):
            return sick
    raise RedrawError


_CHANGES = ("clear", "father", "every", "mistaken", "found", "void")
"""What turn 2 changes, as many as a level sets."""


def _changed(
    rng: random.Random, clan: Clan, pair: tuple[str, str], number: int
) -> tuple[Clan, list[str]]:
    """Return a family with more and other things known of it, and what is said of that."""
    said = list[str]()
    lost = rng.choice(sorted(clan.clear) or [""])
    untested = rng.sample([one for one in clan.people if one not in clan.clear], 5)
    open_ones = [name for name in untested if _uncertain(clan, name)]
    redraw_if(len(open_ones) < 2)
    clear, found = open_ones[:2]
    child = rng.choice([one for one in clan.people.values() if one.mother])
    mistaken = rng.choice(clan.ill())
    every = rng.choice([n for n in (5, 6, 15, 20) if n != clan.every])
    for change in _CHANGES[:number]:
        if change == "clear":
            test = "The test" if clan.clear else _test(clan)
            said.append(f"{test} has now been made with {clear}, and found nothing.")
            clan = clan._replace(clear=clan.clear | {clear})
        elif change == "father":
            people = {**clan.people, child.name: child._replace(father=_STRANGER)}
            clan = clan._replace(people={_STRANGER: Person(_STRANGER), **people})
            said.append(
                f"The father of {child.name} isn't {child.father} but a man from outside of whom "
                f"nothing else is known; the mother is {child.mother} as before."
            )
        elif change == "every":
            said.append(
                f"Of people from outside exactly 1 in {every} has one altered copy, and not 1 in "
                f"{clan.every}."
            )
            clan = clan._replace(every=every)
        elif change == "mistaken":
            people = {**clan.people, mistaken: clan.people[mistaken]._replace(ill=False)}
            clan = clan._replace(people=people)
            said.append(f"{mistaken} was ill with something else and hasn't this disease.")
        elif change == "found":
            clan = clan._replace(found=frozenset({found}))
            said.append(f"The test of {found} did find an altered copy, one or two.")
        else:
            clan = clan._replace(clear=clan.clear - {lost})
            said.append(f"The test of {lost} was made with somebody else's blood: forget it.")
    return clan, said


_STRANGER = "a man from outside"


def _test(clan: Clan) -> str:
    """Return in words what the test does."""
    return (
        f"A test that finds {clan.caught * 100} % of those who have an altered copy, one or two, "
        "and never gives a false alarm,"
    )


def _families(clan: Clan) -> list[str]:
    """Return a line for each couple with its children."""
    lines = []
    for pair, names in clan.couples().items():
        number = clan.unnamed.get(pair, 0)
        children = (
            f"{NUMBERS[number]}{' more' * bool(names)} {'child' if number == 1 else 'children'}"
        )
        lines.append(f"{' and '.join(pair)} have {listed([*names, *[children] * bool(number)])}.")
    return lines


def _one_each(names: Iterable[str], chances: Iterable[Fraction]) -> str:
    """Return the chance of each to have exactly one altered copy."""
    return ", ".join(f"{name} {chance}" for name, chance in zip(names, chances, strict=True))


def _uncertain(clan: Clan, name: str) -> bool:
    """Return whether somebody may have exactly one altered copy, or not."""
    return 0 < _carries(clan, name) < 1


def _carries(clan: Clan, name: str) -> Fraction:
    """Return the chance that somebody has exactly one altered copy."""
    return _posterior(clan, (name,)).get((1,), Fraction())


def answers(clan: Clan, pair: tuple[str, str], carriers: Iterable[str]) -> list[Fraction]:
    """Return the chance that a couple's next child is ill, then those of the carriers."""
    both = _posterior(clan, pair).get((1, 1), Fraction())
    return [both / 4, *(_carries(clan, name) for name in carriers)]


def _posterior(clan: Clan, about: tuple[str, ...]) -> dict[tuple[int, ...], Fraction]:
    """Return how likely people have no, one or two altered copies: by sums over the others."""
    factors = _factors(clan)
    while left := {name for names, _ in factors for name in names} - set(about):
        name = min(left, key=lambda one: (len(_beside(factors, one)), one))
        near = [factor for factor in factors if name in factor[0]]
        factors = [factor for factor in factors if name not in factor[0]]
        beside = tuple(sorted(_beside(near, name) - {name}))
        factors.append(_product(clan, near, beside, over=(name,)))
    weights = _product(clan, factors, about)[1]
    total = sum(weights.values())
    redraw_if(not total)
    return {state: Fraction(weight, total) for state, weight in weights.items()}


def _beside(factors: Iterable[Factor], name: str) -> set[str]:
    """Return who stands in a factor with somebody."""
    return {other for names, _ in factors if name in names for other in names}


def _product(
    clan: Clan, factors: list[Factor], names: tuple[str, ...], over: tuple[str, ...] = ()
) -> Factor:
    """Return the product of factors for some people, summed over others."""
    table = dict[tuple[int, ...], int]()
    for state in itertools.product(*(_copies(clan, name) for name in names + over)):
        copies = dict(zip(names + over, state, strict=True))
        weight = 1
        for those, weights in factors:
            weight *= weights.get(tuple(copies[name] for name in those), 0)
        if weight:
            kept = state[: len(names)]
            table[kept] = table.get(kept, 0) + weight
    return names, table


def _copies(clan: Clan, name: str) -> tuple[int, ...]:
    """Return how many altered copies somebody may have, as far as being ill or well tells."""
    return (2,) if clan.people[name].ill else (0, 1)


def _factors(clan: Clan) -> list[Factor]:
    """Return what is known as weights, whole numbers."""
    most, missed = clan.caught.denominator, clan.caught.denominator - clan.caught.numerator
    factors = list[Factor]()
    for name, mother, father, _ in clan.people.values():
        none, some = (1, 1) if mother else (clan.every - 1, 1)
        if name in clan.clear:
            none, some = none * most, some * missed
        if name in clan.found:
            none = 0
        factors.append(((name,), {(0,): none, (1,): some, (2,): some}))
        if mother:
            factors.append(((name, mother, father), _PASSED))
    for (mother, father), number in clan.unnamed.items():
        risks = {(m, f): 4 - m * f for m in range(3) for f in range(3)}
        factors.append(((mother, father), {pair: well**number for pair, well in risks.items()}))
    return factors


def _passed(child: int, mother: int, father: int) -> int:
    """Return in how many of four cases a child has so many altered copies, by its parents'."""
    ways = {0: (2 - mother) * (2 - father), 2: mother * father}
    return ways[child] if child in ways else mother * (2 - father) + father * (2 - mother)


_PASSED = {state: _passed(*state) for state in itertools.product(range(3), repeat=3)}
"""By the copies of a child, its mother and its father."""


def chances(
    carrier: Fraction, healthy: int, missed: Fraction = Fraction(1)
) -> tuple[Fraction, Fraction, Fraction]:
    """Return the chance that the next child is ill, that he and that she is a carrier."""
    total, ill, his, hers = Fraction(), Fraction(), Fraction(), Fraction()
    for man, woman in itertools.product((0, 1), repeat=2):
        # His parents are both carriers, so a third of their healthy sons have no altered copy.
        weight = Fraction(1 + man, 3) * (carrier * missed if woman else 1 - carrier)
        risk = Fraction(man * woman, 4)
        weight *= (1 - risk) ** healthy
        total += weight
        ill += weight * risk
        his += weight * man
        hers += weight * woman
    return ill / total, his / total, hers / total
