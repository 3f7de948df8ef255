"""A warehouse day-book of some 9,000 words with corrections; then without one clerk."""

import datetime
import random
from collections.abc import Sequence
from typing import NamedTuple

from harness.extras.questions.filler import sentences
from harness.extras.questions.template import (
    MEN,
    TOWNS,
    WORDS,
    Made,
    Trap,
    Turn,
    attempt,
    listed,
    point,
)

_MARKS = WORDS["marks"]
_HOUSES = ("Adeyemi", "Brandão", "Castellan", "Dragić", "Eklund", "Fonseca")
_ENTRIES = 165
State = dict[str, dict[str, str | int]]


class Entry(NamedTuple):
    """One numbered entry."""

    clerk: str
    date: datetime.date
    kind: str
    mark: str = ""
    other: str = ""
    value: str | int = ""
    about: int = 0


def make(rng: random.Random) -> Made:
    """Return a question about crates at the close of the book, then without one clerk."""
    return attempt(rng, _draw)


def _draw(rng: random.Random) -> Made | None:
    clerks = rng.sample(MEN, 4)
    date = datetime.date(1887, 1, 3)
    start: State = {
        mark: {"house": rng.choice(_HOUSES), "shed": rng.randint(1, 7)} for mark in _MARKS
    }
    entries: list[Entry] = []
    for number in range(1, _ENTRIES + 1):
        date += datetime.timedelta(days=rng.random() < 0.4)
        entries.append(_entry(rng, number, rng.choice(clerks), date, entries))
    asked = rng.sample(_MARKS, 5)
    clerk = rng.choice(clerks)
    since = entries[_ENTRIES // 2].date
    kept = [None if e.clerk == clerk and e.date >= since else e for e in entries]
    plain = [e if e.kind in {"house", "shed", "swap", "beside"} else None for e in entries]
    right, after, naive = (
        {mark: final(start, book)[mark] for mark in asked} for book in (entries, kept, plain)
    )
    if sum(right[m] != naive[m] for m in asked) < 2 or sum(right[m] != after[m] for m in asked) < 3:
        return None
    opening = "; ".join(f"{m}, {s['house']}, shed {s['shed']}" for m, s in start.items())
    book = "\n\n".join(
        f"No. {n}. {e.date.day} {e.date:%B}, {e.clerk}. {_written(e)} {sentences(rng, 2, 3)}"
        for n, e in enumerate(entries, 1)
    )
    marks = listed([f"`{mark}`" for mark in asked])
    one = Turn(
        ask=(
            f"The day-book of a warehouse in {rng.choice(TOWNS)}, kept by {listed(clerks)}. At "
            "New Year the crates belonged to these houses and stood in these sheds: "
            f"{opening}.\n\n{book}\n\n---\n\nA void entry counts as never written, with all it "
            "says, and voiding can itself be void. A corrected reading holds from the first. "
            f"For {marks}: to which house does each crate belong at the end of the book and in "
            "which shed does it stand? A JSON object in a code block, from mark to an object "
            "with `house` (string) and `shed` (integer)."
        ),
        result=right,
        work="\n".join(_story(mark, entries) for mark in asked),
        traps=[Trap(naive, "leaves the corrections out")],
        points=[
            point(
                "Applies corrections also where they stand far from what they correct.", 1, "state"
            )
        ],
    )
    two = Turn(
        ask=(
            f"{clerk} has confessed: from {since.day} {since:%B} on (that day included) every "
            "entry of his is invented, what he says about other entries too. Strike them all "
            "out. The same object as you gave, as it is then, and a further key `changed`: the "
            "marks (in the order above) whose house or shed is now another."
        ),
        result={**after, "changed": [mark for mark in asked if right[mark] != after[mark]]},
        work="\n".join(_story(mark, kept) for mark in asked),
        traps=[Trap({**right, "changed": []}, "takes his entries to have had no effect")],
        points=[
            point("Brings back to life what only he had voided or corrected.", 1, "state"),
            point("Keeps his entries from before that day.", 1, "state"),
        ],
    )
    return Made((one, two), "as you gave", "change_premise")


def _entry(
    rng: random.Random, number: int, clerk: str, date: datetime.date, before: list[Entry]
) -> Entry:
    mark, other = rng.sample(_MARKS, 2)
    kind = rng.choices(
        ["house", "shed", "swap", "beside", "nothing", "void", "read"], [5, 5, 2, 2, 3, 2, 2]
    )[0]
    if kind in {"void", "read"}:
        wanted = (
            {"house", "shed"} if kind == "read" else {"house", "shed", "swap", "beside", "void"}
        )
        corrected = {entry.about for entry in before}
        fit = [n for n, e in enumerate(before, 1) if e.kind in wanted and n not in corrected]
        if len(fit) < 8:
            return Entry(clerk, date, "nothing")
        about = rng.choice(fit)
        if kind == "void":
            return Entry(clerk, date, "void", about=about)
        old = before[about - 1]
        value = _new(rng, old.kind, old.value)
        return Entry(clerk, date, "read", value=value, about=about)
    return Entry(clerk, date, kind, mark, other, _new(rng, kind, ""))


def _new(rng: random.Random, kind: str, old: str | int) -> str | int:
    choices: list[str | int] = [*_HOUSES] if kind == "house" else [*range(1, 8)]
    return rng.choice([value for value in choices if value != old])


def final(start: State, book: Sequence[Entry | None]) -> State:
    """Return where every crate is at the end and whose; None is an entry struck out."""
    state = {mark: dict(place) for mark, place in start.items()}
    dead, read = corrections(book)
    for number, entry in enumerate(book, 1):
        if entry is None or number in dead:
            continue
        value = read.get(number, entry.value)
        if entry.kind in {"house", "shed"}:
            state[entry.mark][entry.kind] = value
        elif entry.kind == "swap":
            one, two = state[entry.mark], state[entry.other]
            one["house"], two["house"] = two["house"], one["house"]
        elif entry.kind == "beside":
            state[entry.mark]["shed"] = state[entry.other]["shed"]
    return state


def corrections(book: Sequence[Entry | None]) -> tuple[set[int], dict[int, str | int]]:
    """Return the void entries, and the values that are to be read instead."""
    dead: set[int] = set()
    read: dict[int, str | int] = {}
    for number in range(len(book), 0, -1):
        entry = book[number - 1]
        if entry is None or number in dead:
            continue
        if entry.kind == "void":
            dead.add(entry.about)
        elif entry.kind == "read":
            read[entry.about] = entry.value
    return dead, read


def _written(entry: Entry) -> str:
    """Return what an entry says."""
    shed = isinstance(entry.value, int)
    value = f"shed {entry.value}" if shed else f"the house of {entry.value}"
    return {
        "house": f"The house of {entry.value} has bought the crate {entry.mark} where it stands.",
        "shed": f"The crate {entry.mark} was carried over into shed {entry.value}.",
        "swap": f"The owners of {entry.mark} and {entry.other} have exchanged these two crates, "
        "which stay in their places.",
        "beside": f"The crate {entry.mark} was put into the shed where {entry.other} stands today.",
        "nothing": "No business in crates.",
        "void": f"No. {entry.about} is void.",
        "read": f"In No. {entry.about} read {value} instead of what stands there.",
    }[entry.kind]


def _story(mark: str, book: Sequence[Entry | None]) -> str:
    """Return the entries that count for a crate."""
    dead, read = corrections(book)
    parts = [
        f"No. {n} {e.kind} {read.get(n, e.value) if e.kind in {'house', 'shed'} else ''}".strip()
        for n, e in enumerate(book, 1)
        if e is not None
        and n not in dead
        and (e.mark == mark or (e.kind == "swap" and e.other == mark))
    ]
    return f"{mark}: {', '.join(parts[-6:]) or 'as at New Year'}"
