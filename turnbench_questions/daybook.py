"""A warehouse day-book of some 9,000 words with corrections; then without one clerk."""

import datetime
import random

from turnbench_questions.book import Book, Entry, living, of_kinds
from turnbench_questions.filler import sentences
from turnbench_questions.template import MEN, TOWNS, WORDS, Made, Turn, listed, redraw_if

QUESTION_ID = 1056
CATEGORY = "extraction"
LEVEL = 3

_MARKS = WORDS["marks"]
_HOUSES = ("Adeyemi", "Brandão", "Castellan", "Dragić", "Eklund", "Fonseca")
_ENTRIES = 165
_BUSINESS = ("house", "shed", "swap", "beside")
_CORRECTED = {"void": (*_BUSINESS, "void"), "read": ("house", "shed")}
State = dict[str, dict[str, str | int]]


def make(rng: random.Random) -> Made:
    """Return a question about crates at the close of the book, then without one clerk."""
    clerks = rng.sample(MEN, 4)
    date = datetime.date(1887, 1, 3)
    start: State = {
        mark: {"house": rng.choice(_HOUSES), "shed": rng.randint(1, 7)} for mark in _MARKS
    }
    book: Book = {}
    dates: dict[int, datetime.date] = {}
    for number in range(1, _ENTRIES + 1):
        date += datetime.timedelta(days=rng.random() < 0.4)
        dates[number] = date
        book[number] = _entry(rng, rng.choice(clerks), book)
    marks = rng.sample(_MARKS, 5)
    clerk = rng.choice(clerks)
    since = dates[_ENTRIES // 2 + 1]
    rest = {n: e for n, e in book.items() if e.writer != clerk or dates[n] < since}
    right, after, naive = (
        {mark: final(start, entries)[mark] for mark in marks}
        for entries in (book, rest, of_kinds(book, *_BUSINESS))
    )
    changed = [mark for mark in marks if right[mark] != after[mark]]
    redraw_if(sum(right[mark] != naive[mark] for mark in marks) < 2 or len(changed) < 3)
    opening = "; ".join(f"{m}, {s['house']}, shed {s['shed']}" for m, s in start.items())
    text = "\n\n".join(
        f"No. {n}. {_day(dates[n])}, {e.writer}. {_written(e)} {sentences(rng, 2, 3)}"
        for n, e in book.items()
    )
    mark_list = listed([f"`{mark}`" for mark in marks])
    turn_1 = Turn(
        f"The day-book of a warehouse in {rng.choice(TOWNS)}, kept by {listed(clerks)}. At New "
        "Year the crates belonged to these houses and stood in these sheds: "
        f"{opening}.\n\n{text}\n\n---\n\nA void entry counts as never written, with all it says, "
        "and voiding can itself be void. A corrected reading holds from the first. For "
        f"{mark_list}: to which house does each crate belong at the end of the book and in which "
        "shed does it stand? A JSON object in a code block, from mark to an object with `house` "
        "(string) and `shed` (integer).",
        result=right,
        work="\n".join(_story(mark, book) for mark in marks),
        traps={"leaves the corrections out": naive},
        points=["[state] Applies corrections also where they stand far from what they correct."],
    )
    turn_2 = Turn(
        f"{clerk} has confessed: from {_day(since)} on (that day included) every entry of his is "
        "invented, what he says about other entries too. Strike them all out. The same object as "
        "you gave, as it is then, and a further key `changed`: the marks (in the order above) "
        "whose house or shed is now another.",
        result={**after, "changed": changed},
        work="\n".join(_story(mark, rest) for mark in marks),
        traps={"takes his entries to have had no effect": {**right, "changed": []}},
        points=[
            "[state] Brings back to life what only he had voided or corrected.",
            "[state] Keeps his entries from before that day.",
        ],
    )
    return Made((turn_1, turn_2), "as you gave", "change_premise")


def _entry(rng: random.Random, clerk: str, before: Book) -> Entry:
    mark, other = rng.sample(_MARKS, 2)
    kinds = (*_BUSINESS, "nothing", "void", "read")
    kind = rng.choices(kinds, [5, 5, 2, 2, 3, 2, 2])[0]
    if kind not in _CORRECTED:
        return Entry(clerk, kind, mark, other, _value(rng, kind))
    corrected = {entry.about for entry in before.values()}
    fit = [n for n in of_kinds(before, *_CORRECTED[kind]) if n not in corrected]
    if len(fit) < 8:
        return Entry(clerk, "nothing")
    about = rng.choice(fit)
    if kind == "void":
        return Entry(clerk, kind, about=about)
    old = before[about]
    return Entry(clerk, kind, value=_value(rng, old.kind, old.value), about=about)


def _value(rng: random.Random, kind: str, old: str | int | None = None) -> str | int:
    """Return a house or a shed, another one than before."""
    choices: list[str | int] = [*_HOUSES] if kind == "house" else [*range(1, 8)]
    return rng.choice([value for value in choices if value != old])


def corrected(book: Book) -> Book:
    """Return the entries that count, with the values that are to be read in them."""
    alive = living(book)
    read = {entry.about: entry.value for entry in of_kinds(alive, "read").values()}
    return {n: entry._replace(value=read.get(n, entry.value)) for n, entry in alive.items()}


def final(start: State, book: Book) -> State:
    """Return where every crate is at the end and whose."""
    state = {mark: dict(place) for mark, place in start.items()}
    for entry in of_kinds(corrected(book), *_BUSINESS).values():
        crate, other = state[entry.thing], state[entry.other]
        if entry.kind == "swap":
            crate["house"], other["house"] = other["house"], crate["house"]
        elif entry.kind == "beside":
            crate["shed"] = other["shed"]
        else:
            crate[entry.kind] = entry.value
    return state


def _day(date: datetime.date) -> str:
    return f"{date.day} {date:%B}"


def _written(entry: Entry) -> str:
    """Return what an entry says."""
    crate, other = entry.thing, entry.other
    place = f"shed {entry.value}" if isinstance(entry.value, int) else f"the house of {entry.value}"
    return {
        "house": f"The house of {entry.value} has bought the crate {crate} where it stands.",
        "shed": f"The crate {crate} was carried over into shed {entry.value}.",
        "swap": f"The owners of {crate} and {other} have exchanged these two crates, which stay in "
        "their places.",
        "beside": f"The crate {crate} was put into the shed where {other} stands today.",
        "nothing": "No business in crates.",
        "void": f"No. {entry.about} is void.",
        "read": f"In No. {entry.about} read {place} instead of what stands there.",
    }[entry.kind]


def _story(mark: str, book: Book) -> str:
    """Return the entries that count for a crate."""
    parts = []
    for number, entry in corrected(book).items():
        if entry.thing == mark or (entry.kind == "swap" and entry.other == mark):
            value = f" {entry.value}" if entry.kind in {"house", "shed"} else ""
            parts.append(f"No. {number} {entry.kind}{value}")
    return f"{mark}: {', '.join(parts[-6:]) or 'as at New Year'}"
