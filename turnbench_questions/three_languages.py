"""A store's notes in English, German and Chinese, with corrections across the languages."""

import random
from typing import NamedTuple

from turnbench_questions.book import Book, Entry, living, of_kinds, void
from turnbench_questions.template import (
    PEOPLE,
    Made,
    Turn,
    aside,
    by_level,
    different,
    listed,
    numbered,
    redraw_if,
)

QUESTION_ID = 1026
CATEGORY = "reasoning"
LEVEL = 6


class Level(NamedTuple):
    """What a level sets.

    By hand, in both turns: to carry out a line about 2,200 times at level 8, 6,500 times at 9 and
    20,000 times at 10, each with a remainder, a look at whether the sacks suffice, and a sum.
    """

    lines: int
    corrections: tuple[int, int, int] = (3, 2, 2)
    """At least how many lines void, double and turn round another."""
    more: tuple[str, ...] = ()
    """Further kinds of correction."""
    struck: int = 0
    """How many lines turn 2 strikes out beside the Chinese ones."""
    recount: bool = False
    """Whether turn 2 corrects what there was in the morning."""
    days: int = 0
    """On how many days everything in the book happens, by what there is then; 0 for a book that is
    added up once."""


LEVELS = by_level(
    Level(12, (1, 1, 0)),
    Level(18, (2, 1, 1)),
    Level(24),  # as it was before there were levels, but for a mended word in German
    Level(30, recount=True),
    Level(38, (4, 3, 3), ("instead",), recount=True),
    Level(58, (7, 5, 5), ("instead", "unless"), 2, recount=True),
    Level(80, (11, 7, 7), ("instead", "unless", "unless"), 3, recount=True),
    Level(100, (14, 9, 9), ("instead", "unless", "unless"), 4, True, 28),
    Level(120, (17, 10, 10), ("instead", "unless", "unless"), 5, True, 66),
    Level(140, (19, 12, 12), ("instead", "unless", "unless"), 6, True, 170),
)
_LANGUAGES = ("English", "German", "Chinese")
_GOODS = {
    "rice": ("rice", "Reis", "大米"),
    "lentils": ("lentils", "Linsen", "扁豆"),
    "sugar": ("sugar", "Zucker", "糖"),
    "flour": ("flour", "Mehl", "面粉"),
    "salt": ("salt", "Salz", "盐"),
}
_LINES = {
    "in": ("{n} sacks of {good} came in.", "{n} Sack {good} eingegangen.", "进{good}{n}袋。"),
    "out": ("{n} sacks of {good} sold.", "{n} Sack {good} verkauft.", "卖出{good}{n}袋。"),
    "swap": (
        "{n} sacks of {good} given for as many of {other}.",
        "{n} Sack {good} gegen ebenso viele {other} getauscht.",
        "{n}袋{good}换同样多的{other}。",
    ),
    "void": ("Line {line} is void.", "Zeile {line} gilt nicht.", "第{line}行作废。"),
    "double": (
        "In line {line} it was twice as many.",
        "In Zeile {line} waren es doppelt so viele.",
        "第{line}行的数量应加倍。",
    ),
    "mixed": (
        "Line {line} is the wrong way round: out is in, in is out.",
        "Zeile {line} ist verkehrt herum: rein ist raus, raus ist rein.",
        "第{line}行写反了：进是出，出是进。",
    ),
    "instead": (
        "Line {line} was about {good}.",
        "In Zeile {line} ging es um {good}.",
        "第{line}行应为{good}。",
    ),
    "unless": (
        "Line {line} is void unless line {n} is void.",
        "Zeile {line} gilt nicht, es sei denn, dass Zeile {n} nicht gilt.",
        "除非第{n}行作废，否则第{line}行作废。",
    ),
}
_ROOM = 80
"""How many sacks of a good the store holds, where lines look at what there is."""
_CORRECTED = {"double": ("in", "out", "swap"), "mixed": ("in", "out"), "instead": ("in", "out")}


def make(rng: random.Random, level: int) -> Made:
    """Return a question about stocks, then without the Chinese lines."""
    sets = LEVELS[level]
    more = aside(rng)
    start = {good: rng.randint(20, 60) for good in _GOODS}
    book = {number: _entry(rng, number) for number in range(1, 25)}
    book = {number: entry for number, entry in book.items() if number <= sets.lines}
    while len(book) < sets.lines:
        book[len(book) + 1] = _further_entry(more, book, sets.more)
    kinds = [entry.kind for entry in book.values()]
    about = [(entry.kind, entry.about) for entry in of_kinds(book, *_CORRECTED).values()]
    fit = all(book[line].kind in _CORRECTED[kind] for kind, line in about)
    redraw_if(not fit or len(set(about)) < len(about))
    for kind, least in zip(("void", "double", "mixed"), sets.corrections, strict=True):
        redraw_if(kinds.count(kind) < least)
    foreign = [n for n, entry in book.items() if entry.writer != "Chinese"]
    named = [entry.value for entry in of_kinds(book, "unless").values()]
    voiding = [n for n in of_kinds(living(book), "void", "unless") if n in foreign]
    voiding = [n for n in voiding if n not in named]
    redraw_if(len(voiding) < sets.struck)
    struck = sorted(more.sample(voiding, sets.struck))
    rest = {number: book[number] for number in foreign if number not in struck}
    morning = dict(start)
    if sets.recount:
        miscounted = more.choice(list(start))
        morning[miscounted] += more.choice([-6, -4, 5, 7])
    revived = tuple(n for n in void(book) if n in rest and n not in void(rest))
    changes = of_kinds(book, "in", "out", "swap")
    evenings, evenings_now, evenings_plain = (
        in_days(begin, lines, sets.days) if sets.days else [stocks(begin, lines)]
        for begin, lines in ((start, book), (morning, rest), (start, changes))
    )
    result, without, plain = evenings[-1], evenings_now[-1], evenings_plain[-1]
    for some in (evenings, evenings_now):
        redraw_if(len(set(some)) < len(some))
        for sacks in zip(*some, strict=True):  # no good settles
            redraw_if(sets.days and len(set(sacks[-12:])) < 7)
    redraw_if(min(*result, *without, *plain) < 0 or different(result, without) < min(4, level + 1))
    redraw_if(result == plain or not revived)
    evening = dict(zip(_GOODS, result, strict=True))
    lines = numbered(map(written, book.values()))
    begin = ", ".join(f"{good} {sacks}" for good, sacks in start.items())
    who = rng.choice(PEOPLE)
    instead = ", and be about another good" if "instead" in sets.more else ""
    run = last = then = ""
    if sets.days:
        run = (
            f" On each of {sets.days} days, from today (day 1) to day {sets.days}, every trade "
            "that is left happens once, as corrected, in the order of the line numbers, a day "
            "beginning with what there was the evening before; and each line is meant by what "
            "there is just before it, as follows. Divide the number of sacks of its good (in an "
            "exchange: of the good that is given) by five: for this time the line is about the "
            "good that is so many places on as the remainder says, in the order rice, lentils, "
            "sugar, flour, salt and after salt again rice (with no remainder it is about its own "
            "good). If then more sacks of that one would have to go out than there are, as many "
            f"come in instead; and if by coming in there would be more than {_ROOM} of it, as many "
            "go out instead. An exchange isn’t made if there are too few sacks to give, nor if "
            f"there would be more than {_ROOM} of the good that is taken, nor of a good for itself."
        )
        last = f" of day {sets.days}"
        then = f" in the evening of day {sets.days}, all days gone through anew"
    turn_1 = Turn(
        f"{who}'s store is kept by three people who write in their own languages and correct each "
        f"other. In the morning there were, in sacks: {begin}. Today's book:\n\n{lines}\n\nLines "
        "speak of earlier lines only. First see which lines are void (a void line does nothing, "
        "and what it says of other lines doesn't count either), then apply what is left; one line "
        f"can be both doubled and turned round{instead}.{run} How many sacks of each are there "
        f"in the evening{last}?",
        shape="rice; lentils; sugar; flour; salt",
        label="Sacks",
        result=result,
        work=f"Void are the lines {void(book)}. What is left gives {evening}." + _shown(evenings),
        traps={
            "leaves the lines out that correct others": plain,
            "doesn't read the Chinese lines": without,
        },
        points=["[state] Finds every void line, also where voiding lines are void."],
    )
    also = ""
    if struck:
        plural = "s" if len(struck) > 1 else ""
        also = f", and strike out line{plural} {listed([str(n) for n in struck])} too"
    if sets.recount:
        also += f"; in the morning there were {morning[miscounted]} sacks of {miscounted}, not "
        also += f"{start[miscounted]}"
    turn_2 = Turn(
        "Everything in Chinese came from the trainee, who was in the wrong store. Take your "
        f"account and strike out all the Chinese lines, including what they say about others{also}."
        f" What stands there now{then}, and which line numbers not in Chinese have come back to "
        "life?",
        shape="rice; lentils; sugar; flour; salt; revived line numbers in rising order, 0 if none",
        label="Sacks",
        result=(*without, *revived),
        work=f"Void without the Chinese lines: {void(rest)}; revived: {revived}."
        + _shown(evenings_now),
        traps={"leaves all corrections out": (*plain, 0)},
        points=[
            f"[state] Lets lines that only a {'struck' if struck else 'Chinese'} line had voided "
            "count again.",
            "[state] Lets the corrections in English and German stand.",
        ],
    )
    return Made((turn_1, turn_2), "Take your account", "change_premise")


def stocks(start: dict[str, int], book: Book) -> tuple[int, ...]:
    """Return the sacks of each good in the evening."""
    now = dict(start)
    for entry in trades(book):
        now[entry.thing] += entry.value
        if entry.kind == "swap":
            now[entry.other] -= entry.value
    return tuple(now.values())


def trades(book: Book) -> list[Entry]:
    """Return what is done as it is to be read; the value is negative where sacks go out."""
    alive = living(book)
    doubled, mixed = (
        [entry.about for entry in of_kinds(alive, kind).values()] for kind in ("double", "mixed")
    )
    goods = {entry.about: entry.thing for entry in of_kinds(alive, "instead").values()}
    found = []
    for number, entry in of_kinds(alive, "in", "out", "swap").items():
        sacks = entry.value * (2 if number in doubled else 1) * (-1 if number in mixed else 1)
        sacks = sacks if entry.kind == "in" else -sacks
        found.append(entry._replace(thing=goods.get(number, entry.thing), value=sacks))
    return found


def in_days(start: dict[str, int], book: Book, days: int) -> list[tuple[int, ...]]:
    """Return the sacks of each good in the evening of each day, where lines look at what there is.

    The remainder by five of a good says about which one a line is instead; what isn't there comes
    in instead, and what there is no room for goes out instead.
    """
    now, goods, evenings, lines = dict(start), list(_GOODS), [], trades(book)
    for _ in range(days):
        for _, kind, good, other, sacks, _ in lines:
            good = goods[(goods.index(good) + now[good] % 5) % len(goods)]
            if kind == "swap":
                if good != other and now[good] >= -sacks and now[other] - sacks <= _ROOM:
                    now[good] += sacks
                    now[other] -= sacks
            elif 0 <= now[good] + sacks <= _ROOM:
                now[good] += sacks
            else:
                now[good] -= sacks
        evenings.append(tuple(now.values()))
    return evenings


def _shown(evenings: list[tuple[int, ...]]) -> str:
    """Return the evenings, if there are several; of many only some and the last."""
    every, last = -(-len(evenings) // 40), len(evenings)
    return "".join(
        f"\nDay {n}: {' '.join(map(str, sacks))}."
        for n, sacks in enumerate(evenings, 1)
        if last > 1 and (n % every == 0 or n == last)
    )


def written(entry: Entry) -> str:
    """Return a line in its language."""
    language = _LANGUAGES.index(entry.writer)
    good, other = (_GOODS[name][language] if name else "" for name in (entry.thing, entry.other))
    line = _LINES[entry.kind][language]
    return line.format(n=entry.value, good=good, other=other, line=entry.about)


def _entry(rng: random.Random, number: int) -> Entry:
    language = rng.choice(_LANGUAGES)
    kind = rng.choice(["in", "out", "in", "out", "swap", "void", "double", "mixed"])
    if number < 7 and kind not in {"in", "out", "swap"}:
        kind = "in"
    good, other = rng.sample(list(_GOODS), 2)
    if kind in {"in", "out", "swap"}:
        return Entry(language, kind, good, other if kind == "swap" else "", rng.randint(2, 9))
    return Entry(language, kind, about=rng.randint(1, number - 1))


def _further_entry(rng: random.Random, book: Book, more: tuple[str, ...]) -> Entry:
    """Return a line that fits those before it."""
    language = rng.choice(_LANGUAGES)
    kind = rng.choice(["in", "out", "in", "out", "swap", "void", "void", "double", "mixed", *more])
    good, other = rng.sample(list(_GOODS), 2)
    value = rng.randint(2, 9)
    if kind in _CORRECTED:
        taken = {entry.about for entry in of_kinds(book, kind).values()}
        free = [n for n in of_kinds(book, *_CORRECTED[kind]) if n not in taken]
        if kind == "instead":
            free = [n for n in free if book[n].thing != good]
        if free:
            return Entry(language, kind, good if kind == "instead" else "", about=rng.choice(free))
    elif kind in ("void", "unless"):
        speaking = list(of_kinds(book, "void", "unless", "double", "mixed", "instead"))
        about = rng.choice(speaking if rng.random() < 0.5 else list(book))
        between = [n for n in book if n > about and book[n].writer != "Chinese"]
        if kind == "void" or between:
            return Entry(
                language, kind, value=rng.choice(between) if kind == "unless" else 0, about=about
            )
    kind = kind if kind in ("in", "out", "swap") else "out"
    return Entry(language, kind, good, other if kind == "swap" else "", value)
