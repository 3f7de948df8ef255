"""A rain gauge's log whose readings are put right later; then with further corrections."""

import datetime
import itertools
import random
from typing import NamedTuple

from turnbench_questions.filler import sentences
from turnbench_questions.template import (
    NUMBERS,
    PEOPLE,
    TOWNS,
    Made,
    Turn,
    Value,
    by_level,
    different,
    number_in_words,
    redraw_if,
)

QUESTION_ID = 1061
CATEGORY = "stem"
LEVEL = 6


class Level(NamedTuple):
    """What a level sets.

    By hand, in both turns: about 4,300 sums and divisions at level 8, 16,000 at 9 and 50,000 at 10,
    three for each field and day.
    """

    days: int
    """Of the log, from the first of March."""
    month: str
    """The only month that is asked about; without one, it is the whole log."""
    slips: int
    """How many single days a later entry corrects."""
    stretches: int
    """How many stretches of days it does."""
    kinds: int
    """Of stretches."""
    revised: int = 0
    """How many corrections are corrected later."""
    stores: int = 0
    """Through how many stores of water the rain runs."""
    remarks: int = 0
    """The most sentences about nothing in an entry."""
    changes: int = 1
    """How many things turn 2 changes."""
    fields: int = 1
    """Through the soil of how many fields, one below the other, the rain runs."""


LEVELS = by_level(
    Level(61, "March", 1, 1, 1, remarks=2),
    Level(92, "April", 2, 2, 2, remarks=2),
    Level(153, "May", 3, 2, 2, remarks=2),  # about as before there were levels, in fewer words
    Level(92, "", 4, 4, 3, 1, remarks=1),
    Level(92, "", 4, 5, 4, 1, 1, 0, 2),
    Level(107, "", 6, 6, 5, 2, 1, 0, 2),
    Level(122, "", 7, 8, 5, 3, 2, 0, 3),
    Level(122, "", 8, 9, 5, 4, 2, 0, 4, 6),
    Level(153, "", 10, 11, 5, 5, 2, 0, 4, 17),
    Level(245, "", 16, 17, 5, 8, 2, 0, 4, 34),
)
_KINDS = ("leaves", "splinter", "marks", "heap", "mornings")
_PARTS = {
    5: "fifth",
    6: "sixth",
    7: "seventh",
    8: "eighth",
    9: "ninth",
    11: "eleventh",
    13: "thirteenth",
}
_TRIES = 40
"""For a stretch of days, before the draw is given up."""
_SHOWN = 700
"""About how many amounts of water a worked answer shows at most."""
_BEGIN = datetime.date(1931, 3, 1)


class Note(NamedTuple):
    """A correction of the days from the first to the last."""

    kind: str
    first: int
    last: int
    value: int = 0
    at: int = 0
    """Of which day the entry is in which it stands."""


class Revision(NamedTuple):
    """A correction of a note: it ends on another day, doesn't hold, or does hold after all."""

    note: int
    kind: str
    last: int = 0
    at: int = 0


class Stores(NamedTuple):
    """Water in the soil and in the ground: how much the soil holds, and what each loses."""

    room: int
    soil: int
    soil_part: int
    ground: int
    ground_part: int
    below: tuple[tuple[int, int, int], ...] = ()
    """Of each field below the first: how much its soil holds, has at the beginning, and which part
    it loses."""


def make(rng: random.Random, level: int) -> Made:
    """Return a question about some months' rain, then with further corrections."""
    sets = LEVELS[level]
    days = [_day(n) for n in range(sets.days)]
    asked = range(sets.days)
    if sets.month:
        asked = range(*_bounds([n for n in asked if days[n].endswith(sets.month)]))
    slips, stretches = _notes(rng, sets, asked)
    notes = slips + stretches
    entered = _entered(rng, sets, stretches)
    revisions = _revisions(rng, sets, notes)
    known = revised(notes, revisions)
    stores = Stores(
        rng.randrange(170, 230, 10), rng.randint(90, 150), rng.choice((6, 7)), rng.randint(90, 150),
        rng.choice((11, 13)),
        tuple(
            (rng.randrange(120, 290, 10), rng.randint(40, 90), rng.choice((5, 6, 7, 8, 9)))
            for _ in range(sets.fields - 1)
        ),
    )  # fmt: skip
    later = stores._replace(room=stores.room - rng.randrange(30, 70, 10))
    changes, letter = _letter(rng, sets, notes, known, revisions, days)
    known_now = revised(notes, [*revisions, *changes])
    more = Note("slip", 0, 0)
    if sets.changes > 2:
        touched = {n for note in notes for n in range(note.first - 1, note.last + 2)}
        day = rng.choice([n for n in asked if n not in touched and n not in (0, sets.days - 1)])
        more = Note("slip", day, day, rng.randint(30, 60))
        known_now = [*known_now, more]
        letter += f" On {days[day]} {more.value} tenths fell, whatever I entered."
    used = later if sets.changes > 3 else stores

    def results(which: list[Note], water: Stores) -> tuple[Value, ...]:
        return answer(rain(entered, which), asked, water, sets)

    result, after = results(known, stores), results(known_now, used)
    plain, unrevised = results([], stores), results(notes, stores)
    without = results([note for note in known if note.kind != "leaves"], stores)
    redraw_if(len({result, after, plain, without}) < 4)
    for which in (known, known_now):
        amounts = [rain(entered, which)[n] for n in asked]
        redraw_if(amounts.count(max(amounts)) > 1 or min(amounts) < 0)
    redraw_if(result[0] == after[0])
    if not sets.stores:
        redraw_if(sets.slips > 2 and (plain[1] == result[1] or plain[2] == result[2]))
    elif sets.stores:
        redraw_if(int(result[5]) < 5 or int(after[5]) < 5 or result[5:] == after[5:])
        if sets.fields > 1:
            redraw_if(min(int(value) for value in result[6:]) < 1 or different(result, after) < 6)
        redraw_if(result[1] == after[1] and result[3] == after[3])
    observer = rng.choice(PEOPLE)
    said = [(note.at, _noted(note, days)) for note in notes]
    said += [(one.at, _revised(one, notes, days)) for one in revisions]
    entries = []
    for n, reading in enumerate(entered):
        parts = [f"{days[n]}. {f'{reading} tenths' if reading else 'No rain'}."]
        parts += [text for at, text in said if at == n]
        if sets.remarks:
            parts.append(sentences(rng, 1, sets.remarks))
        entries.append(" ".join(parts))
    log = ("\n\n" if sets.remarks else "\n").join(entries)
    span = f"from {days[0]} to {days[-1]}"
    when = f"in {sets.month}" if sets.month else span
    total = "month’s" if sets.month else "season’s"
    wettest = f"on which day of {sets.month}" if sets.month else "on which day"
    shape = "tenths; " + ("day of the month" if sets.month else "that day, as “3 May”")
    shape += "; days without rain"
    if not sets.month:
        shape += "; the longest run of them"
    turn_1 = Turn(
        f"Log of the rain station near {rng.choice(TOWNS)}, 1931, kept by {observer}, in tenths of "
        f"a millimetre, read every evening:\n\n{log}\n\n---\n\n{_order(sets)}From everything the "
        f"log says: how much rain fell {when}, in tenths of a millimetre, {wettest} did most fall, "
        f"and on how many days {'of ' + sets.month if sets.month else 'did'} "
        f"{'none' if sets.month else 'none fall'}?{_questions(sets, stores)}",
        shape=shape + _shape_of_stores(sets),
        result=result,
        work=_work(entered, known, asked, stores, sets),
        traps={
            "adds up what is entered": plain,
            "overlooks the leaves in the funnel": without,
            "keeps to corrections that are corrected later": unrevised,
        },
        points=[
            "[state] Finds every correction, though they stand weeks after the days they concern.",
            "Doesn't correct days outside the stretches.",
        ],
    )
    room = ""
    of_field = " of field 1" if sets.fields > 1 else ""
    if sets.changes > 3:
        room = (
            f" And the soil{of_field}, it was measured, holds no more than {used.room} tenths; "
            "whatever it had more in it than that runs off too."
        )
    many = number_in_words(len(result))
    difference = int(result[0]) - int(after[0])
    turn_2 = Turn(
        f"A letter of {observer}'s has turned up: “{letter}” All else in the log stands.{room} How "
        f"do your {many} results change, and by how many tenths does the {total} "
        "total differ from the one you gave (without a sign)?",
        shape=f"{shape}{_shape_of_stores(sets)}; difference",
        result=(*after, abs(difference)),
        work=_work(entered, known_now, asked, used, sets),
        traps={
            "changes nothing": (*result, 0),
            "leaves all leaves out": (*without, abs(int(result[0]) - int(without[0]))),
        },
        points=["[state] Leaves the days before the leaves came off doubled."],
    )
    return Made((turn_1, turn_2), "the one you gave", "change_premise")


def rain(entered: list[int], notes: list[Note]) -> list[int]:
    """Return what fell each day, the notes' kinds applied in their order."""
    amounts = list(entered)

    def of_kind(kind: str) -> list[Note]:
        return [note for note in notes if note.kind == kind]

    for note in of_kind("slip"):
        amounts[note.first] = note.value
    for note in of_kind("heap"):
        since = amounts[note.first : note.last + 1]
        for n, (before, now) in enumerate(itertools.pairwise(since), note.first + 1):
            amounts[n] = now - before
    for note in of_kind("marks"):
        for n in range(note.first, note.last + 1):
            amounts[n] *= note.value
    for note in of_kind("splinter"):
        for n in range(note.first, note.last + 1):
            amounts[n] = max(0, amounts[n] - note.value)
    for note in of_kind("leaves"):
        for n in range(note.first, note.last + 1):
            amounts[n] *= 2
    for note in of_kind("mornings"):
        for n in range(note.first, note.last + 1):
            amounts[n - 1] += amounts[n]
            amounts[n] = 0
    return amounts


def answer(amounts: list[int], asked: range, water: Stores, sets: Level) -> tuple[Value, ...]:
    """Return the sum, the wettest day, the dry days and what becomes of the water."""
    own = [amounts[n] for n in asked]
    wettest = asked[own.index(max(own))]
    if sets.month:
        return sum(own), int(_day(wettest).split()[0]), own.count(0)
    runs = [len([*group]) for dry, group in itertools.groupby(own, lambda a: a == 0) if dry]
    found: list[Value] = [sum(own), _day(wettest), own.count(0), max(runs, default=0)]
    if sets.stores:
        days, ground, brook = flow(own, water)
        run_off = [last for *_, last in (over for over, _ in days)]
        found += [sum(run_off), sum(amount > 0 for amount in run_off), *days[-1][1]]
        if sets.fields > 1:
            found += [sum(over[n] for over, _ in days) for n in range(sets.fields - 1)]
        if sets.stores > 1:
            found += [ground, brook]
    return tuple(found)


def flow(amounts: list[int], water: Stores) -> tuple[list[tuple[list[int], list[int]]], int, int]:
    """Return of each day what runs off each field and what its soil holds; of the end, what the
    ground holds and what the brook got.
    """
    fields = [(water.room, water.soil, water.soil_part), *water.below]
    soils, ground, brook = [soil for _, soil, _ in fields], water.ground, 0
    days = []
    for amount in amounts:
        out = ground // water.ground_part
        over, lost, run_off = 0, 0, []
        for n, (room, _, part) in enumerate(fields):
            down = soils[n] // part
            soils[n] += amount + over - down
            over = max(0, soils[n] - room)
            soils[n] -= over
            lost += down
            run_off.append(over)
        ground += lost - out
        brook += out + over
        days.append((run_off, list(soils)))
    return days, ground, brook


def revised(notes: list[Note], revisions: list[Revision]) -> list[Note]:
    """Return the notes that hold, as they are after their revisions, one after the other."""
    now: dict[int, Note] = dict(enumerate(notes))
    for one in revisions:
        if one.kind == "withdrawn":
            now.pop(one.note, None)
        elif one.kind == "stands":
            now[one.note] = notes[one.note]
        elif one.note in now:
            now[one.note] = now[one.note]._replace(last=one.last)
    return [now[n] for n in sorted(now)]


def _notes(rng: random.Random, sets: Level, asked: range) -> tuple[list[Note], list[Note]]:
    """Return the corrections of single days and of stretches."""
    kinds = sorted(itertools.islice(itertools.cycle(_KINDS[: sets.kinds]), sets.stretches))
    stretches: list[Note] = []
    taken: dict[str, set[int]] = {kind: set() for kind in _KINDS}
    noted: set[int] = set()
    for kind in sorted(kinds, key=lambda kind: kind != "heap"):  # nothing else on its days
        others = [kind, "heap"] if kind != "heap" else [*_KINDS]
        busy = {n for other in others for n in taken[other]}
        for _ in range(_TRIES):
            length = rng.randint(7, 11) if kind != "heap" else rng.randint(4, 6)
            most = min(asked[-1], sets.days - 8) - length
            first = rng.randint(asked[0] + 1, most)
            if busy.isdisjoint(range(first - 1, first + length + 1)):
                break
        else:
            redraw_if(True)
        taken[kind] |= {*range(first - 1, first + length + 1)}
        last = first + length - 1
        value = {"splinter": rng.randint(2, 4), "marks": 3}.get(kind, 0)
        stretches.append(Note(kind, first, last, value, _noted_on(rng, sets, last, noted)))
    fit = [n for n in asked if n not in taken["heap"] | taken["mornings"] and n < sets.days - 5]
    redraw_if(len(fit) < sets.slips)
    slips = []
    for n in sorted(rng.sample(fit, sets.slips)):
        value = 0 if rng.random() < 0.2 else rng.randint(2, 58)
        slips.append(Note("slip", n, n, value, _noted_on(rng, sets, n, noted)))
    return slips, sorted(stretches, key=lambda note: note.at)


def _noted_on(rng: random.Random, sets: Level, last: int, noted: set[int]) -> int:
    """Return another day on which a correction of days up to one is noted, and remember it."""
    free = [n for n in range(last + 2, min(last + 46, sets.days)) if n not in noted]
    redraw_if(not free)
    noted.add(day := rng.choice(free))
    return day


def _entered(rng: random.Random, sets: Level, stretches: list[Note]) -> list[int]:
    """Return what is entered of each day."""
    entered = [0 if rng.random() < 0.35 else rng.randint(1, 29) * 2 for _ in range(sets.days)]
    for note in stretches:
        whole = range(note.first, note.last + 1)
        if note.kind == "heap":
            for n in whole[1:]:
                entered[n] += entered[n - 1]
        elif note.kind == "marks":
            for n in whole:
                entered[n] = max(2, entered[n] // 3) if entered[n] else 0
    return entered


def _revisions(rng: random.Random, sets: Level, notes: list[Note]) -> list[Revision]:
    """Return corrections of corrections, in the order in which they are noted."""
    fit = [n for n, note in enumerate(notes) if note.at < sets.days - 3 and note.kind != "slip"]
    revisions: list[Revision] = []
    withdrawn: dict[int, int] = {}
    for step in range(sets.revised):
        again = [n for n, at in withdrawn.items() if at < sets.days - 2]
        if step % 3 == 2 and again:
            number = rng.choice(again)
            at = rng.randint(withdrawn.pop(number) + 1, sets.days - 1)
            revisions.append(Revision(number, "stands", 0, at))
            continue
        ends = step % 3 == 0
        kinds = ("leaves", "splinter", "marks") if ends else ("leaves", "splinter", "mornings")
        suited = [n for n in fit if notes[n].kind in kinds]
        redraw_if(not suited)
        fit.remove(number := rng.choice(suited))
        note = notes[number]
        at = rng.randint(note.at + 1, sets.days - 2)
        if ends:
            revisions.append(Revision(number, "ends", note.last - rng.randint(2, 4), at))
        else:
            revisions.append(Revision(number, "withdrawn", 0, at))
            withdrawn[number] = at
    redraw_if(len({one.at for one in revisions}) < len(revisions))
    return sorted(revisions, key=lambda one: one.at)


def _letter(
    rng: random.Random,
    sets: Level,
    notes: list[Note],
    known: list[Note],
    revisions: list[Revision],
    days: list[str],
) -> tuple[list[Revision], str]:
    """Return what the letter of turn 2 corrects, and its words."""
    fit = [n for n, note in enumerate(notes) if note.kind == "leaves" and note in known]
    redraw_if(not fit)
    number = rng.choice(fit)
    clean = notes[number].first + 3
    changes = [Revision(number, "ends", clean - 1)]
    which = (
        "The leaves"
        if len(fit) == 1 and sets.kinds < 3
        else f"The leaves of which I wrote on {days[notes[number].at]}"
    )
    letter = (
        f"{which} came off on the morning of {days[clean]}, I only noted it too late; from that "
        "day on the funnel was clear."
    )
    if sets.changes > 1:
        others = [n for n, note in enumerate(notes) if note in known and n != number]
        others = [n for n in others if notes[n].kind not in ("slip", "heap")]
        redraw_if(not others)
        other = rng.choice(others)
        changes.append(Revision(other, "withdrawn"))
        letter += (
            f" What I wrote on {days[notes[other].at]} about {_about(notes[other])} is not so."
        )
        back = [one.note for one in revisions if one.kind == "withdrawn"]
        back = [n for n in back if notes[n] not in known]
        if sets.changes > 2 and back:
            third = rng.choice(back)
            changes.append(Revision(third, "stands"))
            letter += (
                f" But what I wrote on {days[notes[third].at]} about {_about(notes[third])} is so, "
                "and I took it back wrongly."
            )
    return changes, letter


def _about(note: Note) -> str:
    """Return what a note is about."""
    return {
        "leaves": "the leaves",
        "splinter": "the splinter",
        "marks": "the old glass",
        "mornings": "the mornings",
    }[note.kind]


def _noted(note: Note, days: list[str]) -> str:
    """Return a correction in the observer's words."""
    first, last = days[note.first], days[note.last]
    marks = NUMBERS[note.value] if note.kind == "marks" else ""
    return {
        "slip": f"By the carbon copy the entry of {first} is a slip of the pen; it should be "
        f"{f'{note.value} tenths' if note.value else 'no rain'}.",
        "leaves": f"On cleaning the gauge it turned out that from {first} to {last}, both "
        "included, leaves had covered half the funnel; what is entered for those days is half of "
        "what fell.",
        "splinter": f"The glass stood on a splinter from {first} to {last}, both included: on "
        f"every day on which there was any rain, {note.value} tenths too many are entered.",
        "marks": f"From {first} to {last}, both included, the old glass was in use, and what is "
        f"entered as tenths are its marks, of {marks} tenths each.",
        "heap": f"From {first} to {last} the glass wasn't emptied between the readings: each entry "
        f"is all that had fallen since the morning of {first}.",
        "mornings": f"From {first} to {last}, both included, the glass was read in the mornings: "
        "what is entered for each of these days fell on the day before it.",
    }[note.kind]


def _revised(one: Revision, notes: list[Note], days: list[str]) -> str:
    """Return a correction of a correction in the observer's words."""
    note = notes[one.note]
    what = f"What I wrote on {days[note.at]} about {_about(note)}"
    if one.kind == "ends":
        return f"{what} holds only up to {days[one.last]}, that day included."
    if one.kind == "withdrawn":
        return f"{what} is not so, I take it back."
    return f"{what}, and took back, is so after all."


def _order(sets: Level) -> str:
    """Return in which order corrections of the same day count."""
    if sets.kinds < 3:
        return ""
    parts = [
        "slips of the pen",
        "days on which the glass wasn't emptied" if sets.kinds > 3 else "",
        "the old glass",
        "the splinter (it takes away no more than is there)",
        "the leaves",
        "the mornings" if sets.kinds > 4 else "",
    ]
    return (
        "Where several corrections concern the same day, they are to be made in this order: "
        f"{', '.join(filter(None, parts))}. What is corrected itself, holds as it was corrected. "
    )


def _questions(sets: Level, water: Stores) -> str:
    """Return what else is asked about the whole log."""
    if sets.month:
        return ""
    text = " And how long was the longest run of days without rain?"
    if not sets.stores:
        return text
    part = _PARTS
    if sets.fields > 1:
        return text + _of_fields(sets, water)
    text += (
        " Reckon also with the soil below the gauge. It can hold "
        f"{water.room} tenths, and at the beginning it held {water.soil}. Each day it first loses "
        f"the {part[water.soil_part]} part of what it holds, rounded down to whole tenths; then "
        "the day’s rain comes into it, and what is then more than it can hold runs off."
    )
    if sets.stores > 1:
        text += (
            " What the soil loses goes into the ground, which has room for everything and held "
            f"{water.ground} at the beginning; each day, before that day’s water comes into it, "
            f"the ground gives the {part[water.ground_part]} part of what it holds, rounded down, "
            "to the brook, and what runs off goes to the brook too."
        )
    text += " How much ran off in all, on how many days did anything run off, and what "
    if sets.stores == 1:
        return f"{text}did the soil hold in the end?"
    return (
        f"{text}did the soil and the ground hold in the end, and how much did the brook get in all?"
    )


def _of_fields(sets: Level, water: Stores) -> str:
    """Return what is asked about fields that lie one below the other."""
    many = number_in_words(sets.fields)
    fields = [(water.room, water.soil, water.soil_part), *water.below]
    told = "; ".join(
        f"field {n} can hold {room}, held {soil} and loses the {_PARTS[part]} part"
        for n, (room, soil, part) in enumerate(fields, 1)
    )
    return (
        f" Reckon also with the soil of {many} fields on the slope below the gauge, field 1 the "
        f"highest and field {sets.fields} the lowest. In tenths: {told}. On each day, from the "
        "highest field to the lowest, a field’s soil first loses the part of what it holds that is "
        "named for it, rounded down to whole tenths; then the whole of that day’s rain comes into "
        "it (the same amount on every field) and, with it, what ran off the field above on that "
        "day; and what is then more than it can hold runs off, to the next field, or from the "
        "lowest to the brook. What the soils lose goes into the ground, which has room for "
        f"everything and held {water.ground} at the beginning; each day, before that day’s water "
        f"comes into it, the ground gives the {_PARTS[water.ground_part]} part of what it holds, "
        "rounded down, to the brook. How much ran off the lowest field in all, on how many days "
        "did anything run off it, what did the soil of each field hold in the end, how much in all "
        "ran off each of the others, what did the ground hold in the end, and how much did the "
        "brook get in all?"
    )


def _shape_of_stores(sets: Level) -> str:
    """Return the rest of the last line."""
    if not sets.stores:
        return ""
    if sets.fields > 1:
        return (
            f"; run-off of field {sets.fields}; days with it; the {sets.fields} soils in "
            f"the end; run-off of fields 1 to {sets.fields - 1}; ground in the end; brook"
        )
    rest = "; run-off; days with run-off; soil in the end"
    return rest + "; ground in the end; brook" if sets.stores > 1 else rest


def _work(entered: list[int], notes: list[Note], asked: range, water: Stores, sets: Level) -> str:
    """Return the true amounts, month by month, and what becomes of them."""
    amounts = rain(entered, notes)
    lines = []
    for month, group in itertools.groupby(asked, lambda n: _day(n).split()[1]):
        own = [amounts[n] for n in group]
        lines.append(f"{month}: {' '.join(map(str, own))}, together {sum(own)} tenths.")
    if sets.stores:
        days, *_ = flow([amounts[n] for n in asked], water)
        if sets.fields > 1:
            every = -(-len(days) * sets.fields // _SHOWN)
            lines += [
                f"{_day(n)}: soils {' '.join(map(str, soils))}."
                for n, (_, soils) in zip(asked, days, strict=True)
                if n % every == 0 or n == asked[-1]
            ]
            return "\n".join(lines)
        run_off = [first for [first], _ in days]
        over = [f"{_day(n)} {amount}" for n, amount in zip(asked, run_off, strict=True) if amount]
        lines.append(f"Running off: {', '.join(over)}.")
    return "\n".join(lines)


def _day(number: int) -> str:
    date = _BEGIN + datetime.timedelta(days=number)
    return f"{date.day} {date:%B}"


def _bounds(numbers: list[int]) -> tuple[int, int]:
    return numbers[0], numbers[-1] + 1
