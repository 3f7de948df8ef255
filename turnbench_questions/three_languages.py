"""A store's notes in English, German and Chinese, with corrections across the languages."""

import random

from turnbench_questions.book import Book, Entry, living, of_kinds, void
from turnbench_questions.template import PEOPLE, Made, Turn, different, numbered, redraw_if

QUESTION_ID = 1026
CATEGORY = "reasoning"
LEVEL = 3

_LANGUAGES = ("English", "German", "Chinese")
_GOODS = {
    "rice": ("rice", "Reis", "大米"),
    "lentils": ("lentils", "Linsen", "扁豆"),
    "sugar": ("sugar", "Zucker", "糖"),
    "flour": ("flour", "Mehl", "面粉"),
    "salt": ("salt", "Salz", "盐"),
}
_LINES = {
    "in": ("{n} sacks of {good} came in.", "{n} Sack {good} geliefert.", "进{good}{n}袋。"),
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
}
_CORRECTED = {"double": ("in", "out", "swap"), "mixed": ("in", "out")}


def make(rng: random.Random) -> Made:
    """Return a question about stocks, then without the Chinese lines."""
    start = {good: rng.randint(20, 60) for good in _GOODS}
    book = {number: _entry(rng, number) for number in range(1, 25)}
    kinds = [entry.kind for entry in book.values()]
    about = [(entry.kind, entry.about) for entry in of_kinds(book, "double", "mixed").values()]
    fit = all(book[line].kind in _CORRECTED[kind] for kind, line in about)
    redraw_if(not fit or len(set(about)) < len(about))
    redraw_if(kinds.count("void") < 3 or kinds.count("double") < 2 or kinds.count("mixed") < 2)
    rest = {number: entry for number, entry in book.items() if entry.writer != "Chinese"}
    revived = tuple(n for n in void(book) if n in rest and n not in void(rest))
    result, without, plain = (
        stocks(start, notes) for notes in (book, rest, of_kinds(book, "in", "out", "swap"))
    )
    redraw_if(min(*result, *without, *plain) < 0 or different(result, without) < 4)
    redraw_if(result == plain or not revived)
    evening = dict(zip(_GOODS, result, strict=True))
    lines = numbered(map(written, book.values()))
    begin = ", ".join(f"{good} {sacks}" for good, sacks in start.items())
    who = rng.choice(PEOPLE)
    turn_1 = Turn(
        f"{who}'s store is kept by three people who write in their own languages and correct each "
        f"other. In the morning there were, in sacks: {begin}. Today's book:\n\n{lines}\n\nLines "
        "speak of earlier lines only. First see which lines are void (a void line does nothing, "
        "and what it says of other lines doesn't count either), then apply what is left; one line "
        "can be both doubled and turned round. How many sacks of each are there in the evening?",
        shape="rice; lentils; sugar; flour; salt",
        label="Sacks",
        result=result,
        work=f"Void are the lines {void(book)}. What is left gives {evening}.",
        traps={
            "leaves the lines out that correct others": plain,
            "doesn't read the Chinese lines": without,
        },
        points=["[state] Finds every void line, also where voiding lines are void."],
    )
    turn_2 = Turn(
        "Everything in Chinese came from the trainee, who was in the wrong store. Take your "
        "account and strike out all the Chinese lines, including what they say about others. What "
        "stands there now, and which line numbers not in Chinese have come back to life?",
        shape="rice; lentils; sugar; flour; salt; revived line numbers in rising order, 0 if none",
        label="Sacks",
        result=(*without, *revived),
        work=f"Void without the Chinese lines: {void(rest)}; revived: {revived}.",
        traps={"leaves all corrections out": (*plain, 0)},
        points=[
            "[state] Lets lines that only a Chinese line had voided count again.",
            "[state] Lets the corrections in English and German stand.",
        ],
    )
    return Made((turn_1, turn_2), "Take your account", "change_premise")


def stocks(start: dict[str, int], book: Book) -> tuple[int, ...]:
    """Return the sacks of each good in the evening."""
    now = dict(start)
    alive = living(book)
    doubled, mixed = (
        [entry.about for entry in of_kinds(alive, kind).values()] for kind in ("double", "mixed")
    )
    for number, entry in of_kinds(alive, "in", "out", "swap").items():
        sacks = entry.value * (2 if number in doubled else 1) * (-1 if number in mixed else 1)
        now[entry.thing] += sacks if entry.kind == "in" else -sacks
        if entry.kind == "swap":
            now[entry.other] += sacks
    return tuple(now.values())


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
