"""A warehouse day-book with corrections; then without some of its clerks' entries."""

import datetime
import random
import re
from collections import Counter
from collections.abc import Collection
from typing import Any, NamedTuple

from turnbench_questions.book import Book, Entry, of_kinds, void
from turnbench_questions.filler import sentences
from turnbench_questions.template import (
    MEN,
    NUMBERS,
    TOWNS,
    WORDS,
    Made,
    Result,
    Turn,
    by_level,
    listed,
    redraw_if,
)

QUESTION_ID = 1056
CATEGORY = "extraction"
LEVEL = 6


class Level(NamedTuple):
    """What a level sets.

    By hand, in both turns: to carry out an entry some 2,000 times at level 8, 8,000 times at 9 and
    24,000 times at 10, with a look at the warehouse and one or more dues each.
    """

    entries: int
    asked: int
    """Of how many of the sixteen crates the question asks."""
    business: int
    """How many kinds of business there are; those at the end read more of the warehouse."""
    corrections: int
    """How many kinds of corrections there are."""
    remarks: float
    """The share of entries that also talk of nothing."""
    named: float = 0
    """The share of corrections that name their entry by what it says, not by its number."""
    chains: bool = False
    """Whether an entry may be corrected several times, and corrections too; the void ones are asked
    for."""
    struck: int = 1
    """How many clerks turn 2 strikes out."""
    exchanged: int = 0
    """How many pairs of crates turn 2 exchanges at New Year, and how many signatures are false."""
    years: int = 1
    """In how many years all that the book says happens; of several the dues are asked for."""


LEVELS = by_level(
    Level(40, 3, 3, 1, 1),
    Level(80, 4, 4, 2, 1),
    Level(150, 5, 4, 2, 1),  # about as before there were levels, in fewer words
    Level(130, 6, 6, 3, 0.5),
    Level(130, 8, 8, 4, 0.3, 0.2),
    Level(145, 10, 9, 5, 0.2, 0.3, True),
    Level(160, 12, 10, 5, 0.1, 0.4, True),
    Level(160, 16, 12, 5, 0, 0.5, True, 2, 1, 12),
    Level(190, 16, 12, 5, 0, 0.6, True, 2, 2, 40),
    Level(220, 16, 12, 5, 0, 0.6, True, 2, 2, 100),
)
_MARKS = WORDS["marks"]
_HOUSES = ("Adeyemi", "Brandão", "Castellan", "Dragić", "Eklund", "Fonseca")
_SHEDS = range(1, 8)
_BUSINESS = (
    *("house", "shed", "swap", "beside", "onward", "if", "count", "exchange"),
    *("emptiest", "buys out", "gathers", "poorest"),
)
_CORRECTIONS = ("void", "read", "late", "mark", "unless")
_READ = ("house", "shed")
"""The kinds in which another value may have to be read."""
State = dict[str, dict[str, Any]]


def make(rng: random.Random, level: int) -> Made:
    """Return a question about crates at the close of the book, then without some entries."""
    sets = LEVELS[level]
    clerks = rng.sample(MEN, 4)
    marks = rng.sample(_MARKS, len(_MARKS))[: sets.asked]
    start: State = {
        mark: {"house": rng.choice(_HOUSES), "shed": rng.choice(_SHEDS)} for mark in _MARKS
    }
    date = datetime.date(1887, 1, 3)
    book: Book = {}
    dates: dict[int, datetime.date] = {}
    texts: dict[int, str] = {}
    for number in range(1, sets.entries + 1):
        date += datetime.timedelta(days=rng.random() < 0.4)
        dates[number] = date
        book[number] = _entry(rng, sets, rng.choice(clerks), book, texts)
        texts[number] = _written(book[number])
    liars = rng.sample(clerks, sets.struck)
    since, until = dates[sets.entries // 2 + 1], dates[sets.entries * 3 // 5]
    struck = {n for n, e in book.items() if e.writer == liars[0] and dates[n] >= since}
    if sets.struck > 1:
        struck |= {n for n, e in book.items() if e.writer == liars[1] and dates[n] <= until}
    others = [n for n in book if n not in struck and book[n].writer != liars[0]]
    redraw_if(len(struck) < sets.exchanged or len(others) < sets.exchanged)
    freed = sorted(rng.sample(sorted(struck), sets.exchanged))
    forged = sorted(rng.sample(others, sets.exchanged))
    struck = (struck - {*freed}) | {*forged}
    pairs = [tuple(rng.sample(_MARKS, 2)) for _ in range(sets.exchanged)]
    redraw_if(len({mark for pair in pairs for mark in pair}) < 2 * sets.exchanged)
    new_start = dict(start)
    for one, other in pairs:
        new_start[one], new_start[other] = start[other], start[one]

    def places(opening: State, entries: Book, dead: Collection[int]) -> dict[str, Any]:
        state, _, dues = final(opening, entries, dead, sets.years)
        found: dict[str, Any] = {mark: state[mark] for mark in marks}
        return found | ({"dues": dues} if sets.years > 1 else {})

    dead, dead_now = void(book), void(book, struck)
    right, after = places(start, book, dead), places(new_start, book, dead_now)
    naive = places(start, of_kinds(book, *_BUSINESS), ())
    only_struck = places(new_start, book, {*dead, *struck})
    changed = [mark for mark in marks if right[mark] != after[mark]]
    redraw_if(sum(right[mark] != naive[mark] for mark in marks) < 2)
    redraw_if(len(changed) < max(2, sets.asked // 2) or (sets.chains and only_struck == after))
    redraw_if(len({right[mark]["shed"] for mark in marks}) < min(4, sets.asked - 1))
    redraw_if(len({right[mark]["house"] for mark in marks}) < min(4, sets.asked - 1))
    opening = "; ".join(f"{m}, {s['house']}, shed {s['shed']}" for m, s in start.items())
    text = "\n\n".join(
        f"No. {n}. {_day(dates[n])}, {e.writer}. {texts[n]}"
        + (f" {sentences(rng, 1, 1)}" if rng.random() < sets.remarks else "")
        for n, e in book.items()
    )
    result, result_now = dict(right), {**after, "changed": changed}
    asked = asked_now = ""
    if sets.chains:
        result["void"] = dead
        result_now["void"] = len(dead_now)
        asked = ", and from `void` to the numbers of all void entries, ascending"
        asked_now = (
            ", while `void` is now only how many entries are void, the struck ones among them"
        )
    run, end = "", "at the end of the book"
    if sets.years > 1:
        run, end = _in_years(sets.years), f"at the end of the {sets.years}th year"
        asked += (
            f", and from `dues` to an object that has for each of the six houses the crowns it "
            f"paid in all {sets.years} years together"
        )
        asked_now += f"; all {sets.years} years are reckoned anew for it"
    traps: dict[str, Result] = {"leaves the corrections out": {**result, **naive}}
    if sets.chains:
        traps["takes everything that is said to be void for void"] = {
            **result,
            "void": sorted({e.about for e in of_kinds(book, "void", "unless").values()}),
        }
    mark_list = listed([f"`{mark}`" for mark in marks])
    turn_1 = Turn(
        f"The day-book of a warehouse in {rng.choice(TOWNS)}, kept by {listed(clerks)}. There are "
        f"seven sheds, 1 to 7, and six houses: {listed(_HOUSES)}. At New Year the sixteen crates "
        f"belonged to these houses and stood in these sheds: {opening}.\n\n{text}\n\n---\n\n"
        f"{_rules(sets)}{run} For {mark_list}: to which house does each crate belong {end} "
        "and in which shed does it stand? A JSON object in a code block, from mark to an "
        f"object with `house` (string) and `shed` (integer){asked}.",
        result=result,
        work=_stories(start, book, dead, marks, sets.years),
        traps=traps,
        points=["[state] Applies corrections also where they stand far from what they correct."],
    )
    turn_2 = Turn(
        f"{_confession(liars, _day(since), _day(until))} Strike them all out: a struck entry "
        f"counts as void.{_amendments(liars[0], freed, forged, pairs)} The same object as you "
        "gave, as it is then, and a further key `changed`: the marks (in the order above) whose "
        f"house or shed is now another{asked_now}.",
        result=result_now,
        work=_stories(new_start, book, dead_now, marks, sets.years),
        traps={
            "takes the entries to have had no effect": {**result_now, **right, "changed": []},
            "doesn't revive what only struck entries had made void": {**result_now, **only_struck},
        },
        points=[
            "[state] Brings back to life what only they had voided or corrected.",
            "[state] Keeps their entries outside those days.",
        ],
    )
    return Made((turn_1, turn_2), "as you gave", "change_premise")


def _entry(
    rng: random.Random, sets: Level, clerk: str, before: Book, texts: dict[int, str]
) -> Entry:
    """Return another entry: business, a correction of an earlier one, or nothing."""
    mark, other = rng.sample(_MARKS, 2)
    plain, deep = _BUSINESS[: min(4, sets.business)], _BUSINESS[4 : sets.business]
    corrections = _CORRECTIONS[: sets.corrections]
    weights: list[float] = [5.0, 5, 2, 2][: len(plain)]
    weights += [3] * len(deep) + [3 * (sets.remarks > 0)]
    weights += [(2.2 if sets.chains else 2) * (1 + len(deep) / 6)] * len(corrections)
    kind = rng.choices((*plain, *deep, "nothing", *corrections), weights)[0]
    number = len(before) + 1
    if kind == "late":
        kind = rng.choice((*plain, *deep))
        fit = [n for n, e in before.items() if e.kind != "nothing" and not e.about]
        fit = [n for n in fit if n not in {e.about for e in before.values()} and n < number - 3]
        if fit:
            return Entry(clerk, kind, mark, other, _value(rng, kind), rng.choice(fit))
    if kind not in corrections:
        return Entry(clerk, kind, mark, other, _value(rng, kind))
    fit = _correctable(sets, kind, before)
    if len(fit) < min(8, sets.entries // 10):
        return Entry(clerk, rng.choice(plain), mark, other, _value(rng, "house"))._replace(
            kind="house"
        )
    about = rng.choice(fit[-40:] if rng.random() < 0.7 else fit)
    old = before[about]
    name = f"No. {about}"
    if rng.random() < sets.named:
        name = _by_what_it_says(rng, about, before, texts) or name
    if kind == "unless":
        between = [n for n in range(about + 1, number) if before[n].kind != "nothing"]
        if not between:
            kind = "void"
        else:
            return Entry(clerk, kind, "", name, rng.choice(between), about)
    if kind == "void":
        return Entry(clerk, kind, "", name, about=about)
    if kind == "mark":
        new = rng.choice([m for m in _MARKS if m not in {old.thing, old.other}])
        return Entry(clerk, kind, new, name, old.thing, about)
    is_house = isinstance(old.value, str)
    return Entry(
        clerk, kind, "", name, _value(rng, "house" if is_house else "shed", old.value), about
    )


def _correctable(sets: Level, kind: str, before: Book) -> list[int]:
    """Return which entries a correction of a kind may be about."""
    kinds = {
        "read": (*_READ, "read") if sets.chains else _READ,
        "mark": _BUSINESS,
    }.get(kind, (*_BUSINESS, *_CORRECTIONS) if sets.chains else (*_BUSINESS, "void"))
    fit = [*of_kinds(before, *kinds)]
    if not sets.chains:
        corrected = {entry.about for entry in before.values()}
        fit = [n for n in fit if n not in corrected]
    return fit


def _by_what_it_says(
    rng: random.Random, about: int, before: Book, texts: dict[int, str]
) -> str | None:
    """Return an earlier entry's name as the last one in which a crate is named, if it is that."""
    entry = before[about]
    named = [mark for mark in _MARKS if re.search(rf"\b{mark}\b", texts[about])]
    rng.shuffle(named)
    for mark in named:
        later = [n for n in before if n > about and re.search(rf"\b{mark}\b", texts[n])]
        if not later:
            return f"the last entry before this one that names {mark}"
        if all(before[n].writer != entry.writer for n in later):
            return (
                f"the last entry before this one that {entry.writer} signed and that names {mark}"
            )
    return None


def _value(rng: random.Random, kind: str, old: object = None) -> Any:
    """Return what a kind of entry needs: a house, a shed or both; another one than before."""
    if kind == "if":
        return rng.choice(_SHEDS), rng.choice(_HOUSES)
    choices = _HOUSES if kind == "house" else _SHEDS
    return rng.choice([value for value in choices if value != old])


def corrected(book: Book, dead: Collection[int]) -> Book:
    """Return the business that counts, as it is to be read, in the order in which it counts."""
    alive = {n: e for n, e in book.items() if n not in dead}
    values: dict[int, Any] = {}
    things: dict[int, str] = {}
    for number, entry in sorted(alive.items(), reverse=True):  # of several the last one holds
        if entry.kind == "read":
            values.setdefault(entry.about, values.get(number, entry.value))
        elif entry.kind == "mark":
            things.setdefault(entry.about, entry.thing)
    business = of_kinds(alive, *_BUSINESS)
    order = sorted(business, key=lambda n: (business[n].about or n, n))
    return {
        n: business[n]._replace(
            value=values.get(n, business[n].value), thing=things.get(n, business[n].thing)
        )
        for n in order
    }


def final(
    start: State, book: Book, dead: Collection[int], years: int = 1
) -> tuple[State, dict[str, list[str]], dict[str, int]]:
    """Return where every crate is at the end and whose, what happened to each, and the dues."""
    state = {mark: dict(place) for mark, place in start.items()}
    story: dict[str, list[str]] = {mark: [] for mark in start}
    dues = dict.fromkeys(_HOUSES, 0)
    business = corrected(book, dead)
    for year in range(years):
        for number, entry in business.items():
            before = {mark: dict(place) for mark, place in state.items()}
            _apply(state, _later(entry, year))
            for mark, place in state.items():
                if place != before[mark]:
                    dues[place["house"]] += place["shed"]
                for what in ("house", "shed"):
                    if place[what] != before[mark][what]:
                        story[mark].append(f"No. {number} {place[what]}")
    return state, story, dues


def _later(entry: Entry, years: int) -> Entry:
    """Return what an entry says some years later, where it names a shed or a house."""

    def later(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(later, value))
        if isinstance(value, int):
            return _on(value, years)
        return _HOUSES[(_HOUSES.index(value) + years) % len(_HOUSES)]

    return entry._replace(value=later(entry.value)) if years else entry


def _apply(state: State, entry: Entry) -> None:
    """Change a state as an entry says."""
    kind, value = entry.kind, entry.value
    crate, other = state[entry.thing], state[entry.other]
    house, shed = crate["house"], crate["shed"]
    house_of_other, shed_of_other = other["house"], other["shed"]
    every = list(state.values())
    if kind in _READ:
        crate[kind] = value
    elif kind == "swap":
        crate["house"], other["house"] = house_of_other, house
    elif kind == "beside":
        crate["shed"] = shed_of_other
    elif kind == "onward":
        for one in every:
            if one["shed"] == shed:
                one["shed"] = _on(shed, 1)
    elif kind == "if":
        if house == house_of_other:
            crate["shed"] = value[0]
        else:
            other["house"] = value[1]
    elif kind == "count":
        crate["shed"] = _on(shed, sum(one["house"] == house for one in every))
    elif kind == "exchange":
        places = {shed: shed_of_other, shed_of_other: shed}
        for one in every:
            one["shed"] = places.get(one["shed"], one["shed"])
    elif kind == "emptiest":
        full = Counter(one["shed"] for one in every)
        crate["shed"] = min(_SHEDS, key=lambda n: (full[n], n))
    elif kind == "buys out":
        for one in every:
            if one["shed"] == shed_of_other:
                one["house"] = house
    elif kind == "gathers":
        for one in every:
            if one["house"] == house and one["shed"] > shed:
                one["shed"] = shed
    else:
        rich = Counter(one["house"] for one in every)
        crate["house"] = min(_HOUSES, key=lambda name: (rich[name], name))


def _on(shed: int, steps: int) -> int:
    """Return the shed some steps on; after the last comes the first."""
    return (shed - 1 + steps) % len(_SHEDS) + 1


def _written(entry: Entry) -> str:
    """Return what an entry says."""
    crate, other, value = entry.thing, entry.other, entry.value
    if entry.kind == "nothing":
        return "No business in crates."
    if entry.kind in _CORRECTIONS:
        place = f"shed {value}" if isinstance(value, int) else f"the house of {value}"
        text = {
            "void": f"{other} is void.",
            "read": f"In {other} read {place} instead of what stands there.",
            "mark": f"In {other} the crate named first should not be {value} but {crate}.",
            "unless": f"{other} is void, but only if No. {value} is not.",
        }[entry.kind]
        return text[0].upper() + text[1:]
    shed, house = value if entry.kind == "if" else (value, value)
    text = {
        "house": f"{crate} was bought, where it stands, by the house of {house}.",
        "shed": f"{crate} was carried over into shed {shed}.",
        "swap": f"{crate} and {other} were exchanged by their owners, and stay where they are.",
        "beside": f"{crate} was put into the shed where {other} stands.",
        "onward": f"{crate} and all that stands in its shed were carried one shed on.",
        "if": f"{crate} was carried into shed {shed} if it is of the same house as {other}; if "
        f"not, the house of {house} bought {other}.",
        "count": f"{crate} was carried as many sheds on as its house owns crates.",
        "exchange": f"{crate}’s shed and {other}’s shed exchanged all that stands in them.",
        "emptiest": f"{crate} was put into the shed where the fewest crates stand.",
        "buys out": f"{crate}’s house bought every crate in the shed where {other} stands.",
        "gathers": f"{crate} was joined, in its shed, by all crates of its house from sheds with "
        "higher numbers.",
        "poorest": f"{crate} was bought by the house that owns the fewest crates.",
    }[entry.kind]
    return f"Forgotten, to be read right after No. {entry.about}: {text}" if entry.about else text


def _rules(sets: Level) -> str:
    """Return how the book is to be read."""
    rules = [
        "A void entry counts as never written, with all it says, and voiding can itself be void. "
        "A corrected reading holds from the first."
    ]
    if sets.corrections > 2:
        rules.append(
            "An entry that is to be read right after another one takes effect there, even if that "
            "one is void; all others take effect in the order of their numbers."
        )
    if sets.chains:
        rules.append(
            "Corrections can be corrected too, and where several correct the same thing, the last "
            "of those that are not void holds."
        )
    if sets.named:
        rules.append(
            "Where an entry is meant by what it names, that is what stands written there, void or "
            "not, corrected or not."
        )
    if sets.business > 4:
        rules.append(
            "“On” means towards higher numbers, and after shed 7 comes shed 1. Everything is meant "
            "as things stand just before the entry takes effect; of several sheds with the fewest "
            "crates the lowest number is meant, of several houses the first in the alphabet, and "
            "an empty shed or a house without crates has the fewest."
        )
    return " ".join(rules)


def _confession(liars: list[str], since: str, until: str) -> str:
    """Return whose entries are invented."""
    first = f"{liars[0]} has confessed: from {since} on (that day included) every entry of his is"
    if len(liars) == 1:
        return f"{first} invented, what he says about other entries too."
    return (
        f"{first} invented, and {liars[1]} likewise: all of his up to {until} (that day included); "
        "what they say about other entries too."
    )


def _amendments(
    liar: str, freed: list[int], forged: list[int], pairs: list[tuple[str, ...]]
) -> str:
    """Return what else turn 2 changes."""
    if not pairs:
        return ""
    kept, more = (listed([f"No. {n}" for n in numbers]) for numbers in (freed, forged))
    swapped = listed([f"{one} and {other}" for one, other in pairs])
    return (
        f" But {kept}, which falls under this, is genuine and stays, and {more} is {liar}’s though "
        "another has signed it, and invented too. And in the list of New Year "
        f"{swapped} stand in each other’s place: each had the house and the shed that is given "
        "for the other."
        if len(pairs) == 1
        else f" But {kept}, which fall under this, are genuine and stay, and {more} are {liar}’s "
        f"though others have signed them, and invented too. And in the list of New Year {swapped} "
        f"({NUMBERS[len(pairs)]} pairs) stand in each other’s place: each had the house and the "
        "shed that is given for the other of its pair."
    )


def _day(date: datetime.date) -> str:
    return f"{date.day} {date:%B}"


def _in_years(years: int) -> str:
    """Return how the book goes on year after year."""
    return (
        f" The book is that of the first of {years} years. In every later year all of its business "
        "that counts happens again, as corrected and in the same order, beginning with what there "
        "is at the end of the year before. Only, in every later year, each shed that an entry "
        "names by its number is the one that follows the shed of the year before (2 for 1, and 1 "
        "for 7), and each house that an entry names is the one that follows in the alphabet the "
        f"house of the year before ({_HOUSES[1]} for {_HOUSES[0]}, and {_HOUSES[0]} for "
        f"{_HOUSES[-1]}); the crates stay the ones that are named. And there are dues: whenever an "
        "entry takes effect, in any year, then for each crate that it brings into another shed "
        "than before, the house that owns the crate pays as many crowns as the new shed’s number, "
        "and for each crate that it brings to another house than before, the new house pays as "
        "many crowns as the number of the shed in which the crate stands."
    )


def _stories(start: State, book: Book, dead: Collection[int], marks: list[str], years: int) -> str:
    """Return what happened last to some crates."""
    _, story, _ = final(start, book, dead, years)
    lines = [f"{mark}: {', '.join(story[mark][-6:]) or 'as at New Year'}" for mark in marks]
    return "\n".join(lines)
