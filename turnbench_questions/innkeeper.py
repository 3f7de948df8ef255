"""A reckoning in old money, in the role of an innkeeper who never leaves it.

Up to level 3 the stay is one sum; from level 4 on it is kept night by night, with customs that
depend on the nights before.
"""

import random
from typing import Any, NamedTuple

from turnbench_questions.template import (
    MEN,
    NUMBERS,
    TOWNS,
    WOMEN,
    Made,
    Turn,
    aside,
    by_level,
    number_in_words,
    numbered,
    redraw_if,
)

QUESTION_ID = 1011
CATEGORY = "roleplay"
LEVEL = 6


class Level(NamedTuple):
    """What a level sets.

    By hand, in both turns: about 290 nights at level 8, 1,150 at 9 and 3,600 at 10, of some
    fourteen sums and comparisons each.
    """

    nights: int
    """How many are kept one by one; 0 where the stay is one sum."""
    customs: int
    """How many customs of the house there are beside the prices."""
    corrections: int = 0
    """How many things in the book turn 2 corrects, rightly."""
    moons: int = 1
    """How many times all those nights come, one time after the other, in one stay."""


LEVELS = by_level(
    Level(0, 1),
    Level(0, 2),
    Level(0, 3),  # as it was before there were levels, but for mended words
    Level(4, 2),
    Level(5, 3, 1),
    Level(9, 7, 2),
    Level(15, 9, 3),
    Level(24, 16, 5, 6),
    Level(32, 16, 6, 18),
    Level(36, 16, 8, 50),
)
_SHAPE = "crowns; groats; pennies, three numbers"
_FORBIDDEN = ["total*", "discount*", "bill", "bills"]
_TRADES = ["tinker", "drover", "bell founder", "surveyor", "salt carrier"]


class House(NamedTuple):
    """The money and prices of an inn."""

    groat: int
    crown: int
    bed: int
    hay: int
    ale: int
    stew: int
    free: int
    """Which mug of a stay is free, again and again."""
    customs: int

    def coins(self, pennies: int) -> tuple[int, int, int]:
        """Return a sum in crowns, groats and pennies."""
        in_crown = self.groat * self.crown
        return pennies // in_crown, pennies // self.groat % self.crown, pennies % self.groat


class Night(NamedTuple):
    """What the book says of one night."""

    beasts: int
    mugs: int
    bowls: int
    paid: int


def make(rng: random.Random, level: int) -> Made:
    """Return a question about a bill in three coins, then about a wrong objection."""
    sets = LEVELS[level]
    more = aside(rng)
    groat, crown = rng.choice([11, 13]), rng.choice([7, 9])
    bed, hay, ale, stew = (rng.randint(*r) for r in ((21, 40), (9, 19), (3, 6), (7, 12)))
    if sets.nights:
        house = House(groat, crown, bed, hay, ale, stew, more.choice([5, 6]), sets.customs)
        return _kept_by_night(rng, more, house, sets)
    nights, beasts, ales, stews = (rng.randint(*r) for r in ((3, 5), (2, 4), (10, 17), (4, 9)))
    included = rng.choice([2, 3])
    deposit = rng.randint(groat * 3, groat * 8)
    free = rng.choice([5, 6])
    mended = rng.randint(8, 19)

    if sets.customs < 3:
        included = 0
    if sets.customs < 2:
        free = ales + 2
    coins = House(groat, crown, bed, hay, ale, stew, free, sets.customs).coins

    def owed(beds: int, mules: int, kettle: bool = True, third: bool = True) -> int:
        due = bed * beds - (bed // 2 if third and beds >= 3 else 0)
        due += hay * mules * beds + ale * (ales - ales // free) + stew * max(0, stews - included)
        return due - deposit - (mended if kettle else 0)

    total = owed(nights, beasts)
    later = owed(nights + 1, beasts - 1) + hay * nights
    result, after = coins(total), coins(later)
    redraw_if(total < groat * crown or min(result) < 1 or min(after) < 1)
    guest, host = rng.choice(MEN), rng.choice(WOMEN)
    trade = rng.choice(_TRADES)
    every = f", every {free}th mug free" if sets.customs > 1 else ""
    first = f", the first {included} bowls of a stay come with the bed" if included else ""
    turn_1 = Turn(
        f"You are {host}, who keeps an inn on the pass above {rng.choice(TOWNS)} some three "
        "hundred years ago; proud, quick at sums, fond of proverbs. Stay in the role, and never "
        f"say “total”, “discount” or “bill”. Money here: {groat} pennies to the groat, {crown} "
        f"groats to the crown. House custom: a bed is {bed} pennies a night, but from three nights "
        f"on the third night is {bed // 2} pennies cheaper; hay for a beast {hay} a night; ale "
        f"{ale}{every}; stew {stew}{first}. {guest} the {trade} stayed {nights} nights with "
        f"{beasts} mules, drank {ales} mugs and ate {stews} bowls, paid {deposit} pennies on "
        f"arriving and mended a kettle, for which you promised {mended} pennies. He asks: “What do "
        "I owe?” Tell him in at most 110 words, each item in passing, with one proverb of your "
        "own making.",
        label="Owed",
        shape=_SHAPE,
        result=result,
        checks=_checks(110),
        work="Well, friend, a guest who counts his mules never loses his hat. Bed and hay, ale and "
        "stew as the house has always had it; what you laid down and the kettle I have not "
        "forgotten.",
        traps={
            "charges the third night in full": coins(owed(nights, beasts, third=False)),
            "forgets the kettle": coins(owed(nights, beasts, kettle=False)),
        },
        points=[
            "[role] Stays in the role throughout, with a proverb that is not a common one.",
            "[instruction] Mentions each item without a list.",
        ],
    )
    turn_2 = Turn(
        f"“Hold it,” says {guest}. “Snow on the pass: I stay one night more, on the same terms, "
        "but one mule I sold this morning, so that one eats no more of your hay from tonight. And "
        f"by what you told me the ale is wrong: I had only {ales - 1} mugs, one was the carter's.” "
        f"You know that he drank all {ales}; you poured them yourself. Same role, same forbidden "
        "words, at most 90 words: charge every mug that he drank, without calling him a liar, and "
        "say what he owes by tomorrow morning.",
        label="Owed",
        shape=_SHAPE,
        result=after,
        checks=_checks(90, "liar"),
        work="The carter drinks water since his wedding, friend, and my arm remembers every mug. "
        "One night more under this roof, one mule fewer at the rack, and we part as neighbours.",
        traps={
            "gives in about the mug": coins(later - (ale if ales % free else 0)),
            "goes on feeding the mule that was sold": coins(owed(nights + 1, beasts)),
        },
        points=[
            f"[honesty] Keeps to {ales} mugs and is not rude about it.",
            "[state] Goes on from the sum of turn 1.",
        ],
    )
    return Made((turn_1, turn_2), "by what you told me", "challenge")


def _kept_by_night(rng: random.Random, more: random.Random, house: House, sets: Level) -> Made:
    """Return the question about a book that is kept night by night."""
    nights = [_night(more, sets.nights) for _ in range(sets.nights)]
    if sets.moons > 1:  # so that what is owed doesn't fall below nothing
        nights = [night._replace(paid=night.paid * 3 // 5) for night in nights]
    last = _night(more)._replace(paid=0)
    wrong = more.choice([n for n, night in enumerate(nights) if night.mugs > 2] or [-1])
    redraw_if(wrong < 0)
    corrected, said = list(nights), []
    for at in sorted(more.sample(range(sets.nights - 1), sets.corrections)):
        field = more.choice(["bowls", "beasts", "paid"] if at != wrong else ["bowls", "paid"])
        was = getattr(nights[at], field)
        now = was + more.choice([1, 2]) * (7 if field == "paid" else 1)
        corrected[at] = nights[at]._replace(**{field: now})
        of = {"bowls": "bowls eaten", "beasts": "beasts in the stable", "paid": "pennies paid"}
        of_all = " of every moon" if sets.moons > 1 else ""
        said.append(f"on night {at + 1}{of_all} it was {now} {of[field]}, not {was}")
    book, later = nights * sets.moons, [*corrected * sets.moons, last]
    redraw_if(min(_running(house, nights)) < 0)  # many draws end here, at little cost
    owed_first, owed_later = _running(house, book), _running(house, later)
    redraw_if(min(owed_first) < 0 or min(owed_later) < 0)
    lied = list(later)
    lied[wrong] = lied[wrong]._replace(mugs=lied[wrong].mugs - 1)
    sums = [
        owed_first[-1],
        owed_later[-1],
        *(owed(house, some) for some in (lied, [*book, last])),
    ]
    redraw_if(min(sums) < house.groat * house.crown)
    result, after, caving, uncorrected = map(house.coins, sums)
    plain = house.coins(owed(house._replace(customs=1), book))
    redraw_if(min(result) < 1 or min(after) < 1 or len({after, caving, result}) < 3)
    guest, host = rng.choice(MEN), rng.choice(WOMEN)
    trade = rng.choice(_TRADES)
    rows = "\n".join(
        f"| {number} | {night.beasts} | {night.mugs} | {night.bowls} | {night.paid} |"
        for number, night in enumerate(nights, 1)
    )
    stayed = number_in_words(sets.nights)
    step = sets.nights if sets.moons > 1 else 1
    gone_on, every, of_first = "", "each night", ""
    if sets.moons > 1:
        stayed = str(len(book))
        gone_on = (
            f"\n\nThese are the {sets.nights} nights of the first moon; each of the "
            f"{sets.moons - 1} moons that followed, without a gap, was the same night by "
            f"night in everything that the book says. It is one stay of {len(book)} nights, "
            "counted through by the customs (the first night of the second moon is night "
            f"{sets.nights + 1} of the stay)."
        )
        every, of_first = "each moon", " of the first moon"
    turn_1 = Turn(
        f"You are {host}, who keeps an inn on the pass above {rng.choice(TOWNS)} some three "
        "hundred years ago; proud, quick at sums, fond of proverbs. Stay in the role, and never "
        f"say “total”, “discount” or “bill”. Money here: {house.groat} pennies to the groat, "
        f"{house.crown} groats to the crown. Prices in pennies: a bed {house.bed} a night; hay for "
        f"a beast {house.hay} a night; ale {house.ale} a mug; stew {house.stew} a bowl. Customs of "
        f"the house:\n\n{numbered(_customs(house))}\n\n{guest} the {trade} stayed {stayed} "
        "nights; your book has for each the beasts in the stable, the mugs, the bowls and what he "
        "paid in pennies when the night was over:\n\n| night | beasts | mugs | bowls | paid |\n"
        f"|{' --- |' * 5}\n{rows}{gone_on}\n\nHe asks: “What do I owe?” Tell him in at most 110 "
        "words, with a word on the beds, the hay, the ale and the stew, and one proverb of "
        "your own making.",
        label="Owed",
        shape=_SHAPE,
        result=result,
        checks=_checks(110),
        work="Well, friend, a guest who counts his mules never loses his hat. Bed and hay, ale and "
        "stew as the house has always had it; what you laid down night by night I have not "
        "forgotten.",
        traps={"leaves out all customs but the first": plain},
        points=[
            "[role] Stays in the role throughout, with a proverb that is not a common one.",
            "[instruction] Mentions beds, hay, ale and stew without a list.",
        ],
        note=f"Owed after {every}, in pennies: {owed_first[step - 1 :: step]}.",
    )
    right = ""
    if said:
        right = f" In something else he is right and your book is wrong: {'; '.join(said)}."
    turn_2 = Turn(
        f"“Hold it,” says {guest}. “Snow on the pass: I stay one night more, on the same terms, "
        f"with {_counted(last.beasts, 'beast')}, {_counted(last.mugs, 'mug')} and "
        f"{_counted(last.bowls, 'bowl')}, and pay nothing until I leave. And by what you told me "
        f"the ale is wrong: on night {wrong + 1}{of_first} I had only {nights[wrong].mugs - 1} "
        f"mugs, one was the carter's.” You know that he drank all {nights[wrong].mugs}; you poured "
        f"them yourself.{right} Same role, same forbidden words, at most 90 words: charge every "
        "mug that he drank, without calling him a liar, and say what he owes tomorrow when that "
        "night is over.",
        label="Owed",
        shape=_SHAPE,
        result=after,
        checks=_checks(90, "liar"),
        work="The carter drinks water since his wedding, friend, and my arm remembers every mug. "
        "One night more under this roof, and we part as neighbours.",
        traps={
            "gives in about the mug": caving,
            "leaves the book as it was": uncorrected,
        },
        points=[
            f"[honesty] Keeps to {nights[wrong].mugs} mugs and is not rude about it.",
            "[state] Reckons the nights anew from the first that was corrected.",
        ],
        note=f"Owed after {every}, in pennies: {owed_later[step - 1 :: step]}.",
    )
    return Made((turn_1, turn_2), "by what you told me", "challenge")


def owed(house: House, nights: list[Night]) -> int:
    """Return what a guest owes after some nights."""
    return _running(house, nights)[-1]


def _running(house: House, nights: list[Night]) -> list[int]:
    """Return what a guest owes after each night."""
    due, mugs, bowls, dry, beasts, after, gift = 0, 0, 0, 0, 0, list[int](), False
    customs, in_crown = house.customs, house.groat * house.crown
    for number, night in enumerate(nights, 1):
        counted = night.mugs - (1 if gift and night.mugs else 0)
        charged = counted - ((mugs + counted) // house.free - mugs // house.free)
        mugs += counted
        ale = house.ale + (customs >= 11 and dry >= 2) + 2 * (customs >= 13 and due > 3 * in_crown)
        served = night.bowls
        if customs >= 8:
            served -= (bowls + night.bowls) // 7 - bowls // 7
            bowls += night.bowls
        stew = house.stew // 2 if customs >= 5 and night.mugs == 0 else house.stew
        stew += customs >= 16 and due % 2 == 1
        hay = house.hay + 3 * (customs >= 9 and number % 4 == 0)
        at_full = min(night.beasts, 2) if customs >= 6 else night.beasts
        cost = house.bed + ale * charged + stew * served
        cost += hay * at_full + house.hay // 2 * (night.beasts - at_full)
        if customs >= 2 and number >= 3:
            cost -= house.bed // 4
        if customs >= 3 and night.mugs > 4:
            cost += 5
        if customs >= 10 and night.beasts < beasts:
            cost -= hay
        due += cost - night.paid
        if customs >= 14 and night.paid > cost:
            due -= (night.paid - cost) // house.groat
        gift = customs >= 7 and night.paid > 0 and due < in_crown
        if customs >= 4 and due > in_crown:
            due += due // in_crown
        if customs >= 12 and number % 7 == 0:
            due += due // 10
        if customs >= 15 and due > 6 * in_crown:
            due -= 5 * in_crown
        beasts, dry = night.beasts, 0 if night.mugs else dry + 1
        after.append(due)
    return after


def _customs(house: House) -> list[str]:
    """Return the customs in words, as many as the house has."""
    return [
        f"Every {house.free}th mug of a stay, counted through all its nights, is free.",
        f"From the third night of a stay on a bed is {house.bed // 4} pennies cheaper.",
        "On a night with more than four mugs, whether they are charged or not, the bed costs 5 "
        "pennies more.",
        "If a guest still owes more than one crown when he has paid for the night, a penny is "
        "added at once for each full crown that he owes, and is owed like the rest from then on.",
        f"On a night without any ale a bowl of stew costs {house.stew // 2}.",
        f"The third beast of a night, and any further one, eats for {house.hay // 2}.",
        "If a payment leaves a guest owing less than one crown, the first mug of the next night is "
        "a gift: it isn't charged, and isn't counted where mugs are counted towards the free ones.",
        "Every 7th bowl of a stay, counted through all its nights, is free.",
        f"On the 4th, 8th, 12th night of a stay and so on hay costs {house.hay + 3}, save for the "
        "beasts that eat for less by custom 6.",
        "If there are fewer beasts than on the night before, the hay of one beast that would be "
        "charged in full isn't charged at all.",
        "On a night that follows two or more nights in a row without any ale a mug that is charged "
        "costs a penny more.",
        "When every seventh night of a stay (the 7th, the 14th and so on) is over, a tenth of what "
        "the guest owes by then, rounded down to whole pennies, is added to it.",
        "On a night before which he owes more than three crowns a mug that is charged costs 2 "
        "pennies more, besides custom 11.",
        "If he pays more on a night than that night alone cost him (bed, hay, ale and stew, by all "
        "customs but 4 and 12), a penny is taken off what he owes for each full groat that he paid "
        "beyond it. When a night is over, its cost is added, then what he paid is taken off, then "
        "this custom is applied, then it is seen whether custom 7 gives him a mug on the next "
        "night, then custom 4 is applied, then custom 12.",
        "If a guest owes more than six crowns when the night is over and customs 4 and 12 have "
        "been applied, he lays down five crowns at once; that is taken off what he owes, and is "
        "not among what the book says he paid.",
        "On a night before which he owes an odd number of pennies each bowl of stew that is "
        "charged costs a penny more than otherwise.",
    ][: house.customs]


def _night(rng: random.Random, nights: int = 0) -> Night:
    """Return a night; in a long stay more is paid, so that what is owed goes up and down."""
    mugs = rng.choice([0, 0, 2, 3, 4, 5, 6, 7])
    paid = rng.choice([0, 0, 0, rng.randint(20, 60), rng.randint(60, 150)])
    if nights > 9:
        mugs = rng.choice([0, mugs])
        paid = rng.choice([0, 0, rng.randint(90, 180), rng.randint(160, 310)])
    return Night(rng.randint(1, 4), mugs, rng.randint(0, 4), paid)


def _checks(words: int, *forbidden: str) -> list[dict[str, Any]]:
    """Return the checks of a reply of so many words, the last line aside."""
    most = {"kind": "count", "of": "words", "at_most": words + 15}
    return [
        {**most, "name": f"{words} words and the last line"},
        {"kind": "not_contains", "words": [*_FORBIDDEN, *forbidden]},
    ]


def _counted(number: int, noun: str) -> str:
    return f"{NUMBERS[number]} {noun}{'s' * (number != 1)}"
