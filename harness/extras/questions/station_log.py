"""A rain gauge's log of some 8,000 words whose readings are put right later."""

import datetime
import random

from harness.extras.questions.filler import sentences
from harness.extras.questions.template import PEOPLE, TOWNS, Made, Turn, redraw_if

_DAYS = 153


def make(rng: random.Random) -> Made:
    """Return a question about a month's rain, then with a further correction."""
    begin = datetime.date(1931, 3, 1)
    dates = [begin + datetime.timedelta(days=n) for n in range(_DAYS)]
    readings = [0 if rng.random() < 0.35 else rng.randint(1, 29) * 2 for _ in dates]
    # Two stretches that a later entry corrects, and three single days; May is days 61 to 91.
    first, second = rng.randint(57, 63), rng.randint(75, 88)
    half, drop = range(first, first + 9), range(second, second + 8)
    other = [day for day in range(62, 92) if day not in {*half, *drop}]
    single = {day: rng.randint(1, 29) * 2 for day in rng.sample(other, 3)}
    month, name = 5, "May"

    def true(doubled: int = 9) -> dict[datetime.date, int]:
        found = {}
        for n, (date, reading) in enumerate(zip(dates, readings, strict=True)):
            value = single.get(n, reading)
            if n in half[:doubled]:
                value *= 2
            if n in drop and value:
                value -= 2
            found[date] = value
        return found

    def answer(rain: dict[datetime.date, int]) -> tuple[int, int, int]:
        mine = {date: value for date, value in rain.items() if date.month == month}
        most = max(mine.values())
        wettest = [date.day for date, value in mine.items() if value == most]
        return sum(mine.values()), wettest[0], sum(value == 0 for value in mine.values())

    plain = answer(dict(zip(dates, readings, strict=True)))
    result, undoubled = answer(true()), answer(true(0))
    after = answer(true(3))
    tops = [
        sorted(v for d, v in rain.items() if d.month == month)[-2:]
        for rain in (true(), true(3), dict(zip(dates, readings, strict=True)))
    ]
    redraw_if(any(a == b for a, b in tops) or len({plain, result, undoubled, after}) < 4)
    redraw_if(plain[1] == result[1] or after[0] == result[0])
    observer = rng.choice(PEOPLE)
    notes = [
        (
            half[-1] + 30,
            f"On cleaning the gauge it turned out that from {_day(dates[half[0]])} to "
            f"{_day(dates[half[-1]])}, both included, leaves had covered half the funnel; what is "
            "entered for those days is half of what fell.",
        ),
        (
            drop[-1] + 20,
            f"The glass stood on a splinter from {_day(dates[drop[0]])} to "
            f"{_day(dates[drop[-1]])}, both included: on every day on which there was any rain, 2 "
            "tenths too many are entered.",
        ),
        *(
            (
                day + 45,
                f"By the carbon copy the entry of {_day(dates[day])} is a slip of the pen; it "
                f"should be {value} tenths.",
            )
            for day, value in single.items()
        ),
    ]
    log = "\n\n".join(
        " ".join(
            [
                f"{_day(date)}. {_reading(reading)}",
                *(text for at, text in notes if at == n),
                sentences(rng, 3, 4),
            ]
        )
        for n, (date, reading) in enumerate(zip(dates, readings, strict=True))
    )
    one = Turn(
        f"Log of the rain station near {rng.choice(TOWNS)}, 1931, kept by {observer}, in tenths of "
        f"a millimetre, read every evening:\n\n{log}\n\n---\n\nFrom everything the log says: how "
        f"much rain fell in {name}, in tenths of a millimetre, on which day of {name} did most "
        f"fall, and on how many days of {name} none?",
        shape="tenths; day of the month; days without rain",
        result=result,
        work=f"As entered {name} has {plain[0]} tenths. Doubled are the days with leaves, the "
        f"splinter takes 2 off its days, the slips of the pen are put right: {result[0]}.",
        traps={"adds up what is entered": plain, "overlooks the leaves in the funnel": undoubled},
        points=[
            "[state] Finds every correction, though they stand weeks after the days they concern.",
            "Doesn't correct days outside the stretches, nor dry ones.",
        ],
    )
    clean = dates[half[3]]
    two = Turn(
        f"A letter of {observer}'s has turned up: “The leaves came off on the morning of "
        f"{_day(clean)}, I only noted it too late; from that day on the funnel was clear.” All "
        "else in the log stands. How do your three results change, and by how many tenths does the "
        "month's total differ from the one you gave?",
        shape="tenths; day of the month; days without rain; difference",
        result=(*after, result[0] - after[0]),
        work=f"From {_day(clean)} on nothing is doubled: {after[0]} tenths.",
        traps={"doubles no day at all": (*undoubled, result[0] - undoubled[0])},
        points=["[state] Leaves the days before the leaves came off doubled."],
    )
    return Made((one, two), "the one you gave", "change_premise")


def _day(date: datetime.date) -> str:
    return f"{date.day} {date:%B}"


def _reading(tenths: int) -> str:
    return f"{tenths} tenths." if tenths else "No rain."
