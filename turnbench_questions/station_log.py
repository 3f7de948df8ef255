"""A rain gauge's log of some 8,000 words whose readings are put right later."""

import datetime
import random

from turnbench_questions.filler import sentences
from turnbench_questions.template import PEOPLE, TOWNS, Made, Turn, redraw_if

QUESTION_ID = 1061
CATEGORY = "stem"
LEVEL = 3

_MAY = slice(61, 92)
"""The days of May, counted from the first of March."""


def make(rng: random.Random) -> Made:
    """Return a question about a month's rain, then with a further correction."""
    begin = datetime.date(1931, 3, 1)
    dates = [begin + datetime.timedelta(days=n) for n in range(153)]
    days = [f"{date.day} {date:%B}" for date in dates]
    readings = [0 if rng.random() < 0.35 else rng.randint(1, 29) * 2 for _ in days]
    # Two stretches that a later entry corrects, and three single days.
    first, second = rng.randint(57, 63), rng.randint(75, 88)
    half, drop = range(first, first + 9), range(second, second + 8)
    other = [day for day in range(62, 92) if day not in {*half, *drop}]
    single = {day: rng.randint(1, 29) * 2 for day in rng.sample(other, 3)}

    def true(doubled: int) -> list[int]:
        """Return the rain of each day of May, the first days with leaves doubled."""
        rain = [single.get(n, reading) for n, reading in enumerate(readings)]
        for n in half[:doubled]:
            rain[n] *= 2
        for n in drop:
            rain[n] = max(0, rain[n] - 2)
        return rain[_MAY]

    entered, all_doubled, some_doubled = readings[_MAY], true(9), true(3)
    redraw_if(any(m.count(max(m)) > 1 for m in (entered, all_doubled, some_doubled)))
    plain, result, after, undoubled = map(answer, (entered, all_doubled, some_doubled, true(0)))
    redraw_if(len({plain, result, undoubled, after}) < 4)
    redraw_if(plain[1] == result[1] or after[0] == result[0])
    observer = rng.choice(PEOPLE)
    leaves = (
        f"On cleaning the gauge it turned out that from {days[half[0]]} to {days[half[-1]]}, both "
        "included, leaves had covered half the funnel; what is entered for those days is half of "
        "what fell."
    )
    splinter = (
        f"The glass stood on a splinter from {days[drop[0]]} to {days[drop[-1]]}, both included: "
        "on every day on which there was any rain, 2 tenths too many are entered."
    )
    notes = [(half[-1] + 30, leaves), (drop[-1] + 20, splinter)]
    for n, value in single.items():
        slip = f"By the carbon copy the entry of {days[n]} is a slip of the pen; it should be"
        notes.append((n + 45, f"{slip} {value} tenths."))
    entries = []
    for n, reading in enumerate(readings):
        parts = [f"{days[n]}. {f'{reading} tenths' if reading else 'No rain'}."]
        parts += [text for at, text in notes if at == n]
        entries.append(" ".join([*parts, sentences(rng, 3, 4)]))
    log = "\n\n".join(entries)
    turn_1 = Turn(
        f"Log of the rain station near {rng.choice(TOWNS)}, 1931, kept by {observer}, in tenths of "
        f"a millimetre, read every evening:\n\n{log}\n\n---\n\nFrom everything the log says: how "
        "much rain fell in May, in tenths of a millimetre, on which day of May did most fall, and "
        "on how many days of May none?",
        shape="tenths; day of the month; days without rain",
        result=result,
        work=f"As entered May has {plain[0]} tenths. Doubled are the days with leaves, the "
        f"splinter takes 2 off its days, the slips of the pen are put right: {result[0]}.",
        traps={"adds up what is entered": plain, "overlooks the leaves in the funnel": undoubled},
        points=[
            "[state] Finds every correction, though they stand weeks after the days they concern.",
            "Doesn't correct days outside the stretches, nor dry ones.",
        ],
    )
    clean = days[half[3]]
    turn_2 = Turn(
        f"A letter of {observer}'s has turned up: “The leaves came off on the morning of {clean}, "
        "I only noted it too late; from that day on the funnel was clear.” All else in the log "
        "stands. How do your three results change, and by how many tenths does the month's total "
        "differ from the one you gave?",
        shape="tenths; day of the month; days without rain; difference",
        result=(*after, result[0] - after[0]),
        work=f"From {clean} on nothing is doubled: {after[0]} tenths.",
        traps={"doubles no day at all": (*undoubled, result[0] - undoubled[0])},
        points=["[state] Leaves the days before the leaves came off doubled."],
    )
    return Made((turn_1, turn_2), "the one you gave", "change_premise")


def answer(rain: list[int]) -> tuple[int, int, int]:
    """Return the sum of a month, its wettest day and how many days were dry."""
    return sum(rain), rain.index(max(rain)) + 1, rain.count(0)
