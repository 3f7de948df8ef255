"""A store's notes in English, German and Chinese, with corrections across the languages."""

import random
from collections.abc import Sequence
from typing import NamedTuple

from harness.extras.questions.template import PEOPLE, Made, Trap, Turn, attempt, point, traps

_GOODS = {
    "rice": ("Reis", "大米"),
    "lentils": ("Linsen", "扁豆"),
    "sugar": ("Zucker", "糖"),
    "flour": ("Mehl", "面粉"),
    "salt": ("Salz", "盐"),
}
_LANGUAGES = 3
_CORRECTED = {"double": {"in", "out", "swap"}, "mixed": {"in", "out"}}


class Note(NamedTuple):
    """A numbered line of the store's book."""

    language: int
    kind: str
    good: str = ""
    other: str = ""
    sacks: int = 0
    line: int = 0


def make(rng: random.Random) -> Made:
    """Return a question about stocks, then without the Chinese lines."""
    return attempt(rng, _draw)


def _draw(rng: random.Random) -> Made | None:
    start = {good: rng.randint(20, 60) for good in _GOODS}
    notes = [_note(rng, number) for number in range(1, 25)]
    kinds = [note.kind for note in notes]
    about = [(note.kind, note.line) for note in notes if note.kind in {"double", "mixed"}]
    fit = all(kinds[line - 1] in _CORRECTED[kind] for kind, line in about)
    if not fit or len(set(about)) < len(about):
        return None
    if kinds.count("void") < 3 or kinds.count("double") < 2 or kinds.count("mixed") < 2:
        return None
    result = stocks(start, notes)
    without = stocks(start, [n if n.language != 2 else None for n in notes])
    plain = stocks(start, [n if n.kind in {"in", "out", "swap"} else None for n in notes])
    values = (*result.values(), *without.values(), *plain.values())
    if (
        min(values) < 0
        or sum(result[g] != without[g] for g in _GOODS) < 4
        or result == plain
        or not revived(notes)
    ):
        return None
    book = "\n".join(f"{number}. {written(note)}" for number, note in enumerate(notes, 1))
    begin = ", ".join(f"{good} {sacks}" for good, sacks in start.items())
    who = rng.choice(PEOPLE)
    rules = (
        "Lines speak of earlier lines only. First see which lines are void (a void line does "
        "nothing, and what it says of other lines doesn't count either), then apply what is "
        "left; one line can be both doubled and turned round"
    )
    one = Turn(
        ask=(
            f"{who}'s store is kept by three people who write in their own languages and "
            f"correct each other. In the morning there were, in sacks: {begin}. Today's "
            f"book:\n\n{book}\n\n{rules}. How many sacks of each are there in the evening?"
        ),
        shape="rice; lentils; sugar; flour; salt",
        label="Sacks",
        result=tuple(result.values()),
        work=f"Void are the lines {void(notes)}. What is left gives {result}.",
        traps=traps(
            tuple(result.values()),
            Trap(tuple(plain.values()), "leaves the lines out that correct others"),
            Trap(tuple(without.values()), "doesn't read the Chinese lines"),
        ),
        points=[point("Finds every void line, also where voiding lines are void.", 1, "state")],
    )
    two = Turn(
        ask=(
            "Everything in Chinese came from the trainee, who was in the wrong store. Take "
            "your account and strike out all the Chinese lines, including what they say about "
            "others. What stands there now, and which line numbers not in Chinese have come "
            "back to life?"
        ),
        shape="rice; lentils; sugar; flour; salt; revived line numbers in rising order, 0 if none",
        label="Sacks",
        result=(*without.values(), *(revived(notes) or (0,))),
        work="Void without the Chinese lines: "
        f"{void([n if n.language != 2 else None for n in notes])}; revived: {revived(notes)}.",
        traps=[Trap((*plain.values(), 0), "leaves all corrections out")],
        points=[
            point("Lets lines that only a Chinese line had voided count again.", 1, "state"),
            point("Lets the corrections in English and German stand.", 1, "state"),
        ],
    )
    return Made((one, two), "Take your account", "change_premise")


def void(notes: Sequence[Note | None]) -> list[int]:
    """Return the numbers of the lines that a living line voids; later lines decide first."""
    dead: set[int] = set()
    for number in range(len(notes), 0, -1):
        note = notes[number - 1]
        if note is not None and number not in dead and note.kind == "void":
            dead.add(note.line)
    return sorted(dead)


def revived(notes: list[Note]) -> tuple[int, ...]:
    """Return the lines in other languages that are void only with the Chinese ones."""
    without = void([n if n.language != 2 else None for n in notes])
    return tuple(n for n in void(notes) if n not in without and notes[n - 1].language != 2)


def stocks(start: dict[str, int], notes: Sequence[Note | None]) -> dict[str, int]:
    """Return the sacks in the evening."""
    dead = void(notes)
    alive = {n: note for n, note in enumerate(notes, 1) if note is not None and n not in dead}
    now = dict(start)
    factor = {note.line: 2 for note in alive.values() if note.kind == "double"}
    swapped = [note.line for note in alive.values() if note.kind == "mixed"]
    for number, note in alive.items():
        sacks = note.sacks * factor.get(number, 1)
        sign = {"in": 1, "out": -1}.get(note.kind, 0) * (-1 if number in swapped else 1)
        if note.kind == "swap":
            now[note.good] -= sacks
            now[note.other] += sacks
        elif sign:
            now[note.good] += sign * sacks
    return now


def written(note: Note) -> str:
    """Return a line in its language."""
    good, other = (
        name if note.language == 0 else _GOODS[name][note.language - 1] if name else ""
        for name in (note.good, note.other)
    )
    n, line = note.sacks, note.line
    return {
        "in": (f"{n} sacks of {good} came in.", f"{n} Sack {good} geliefert.", f"进{good}{n}袋。"),
        "out": (f"{n} sacks of {good} sold.", f"{n} Sack {good} verkauft.", f"卖出{good}{n}袋。"),
        "swap": (
            f"{n} sacks of {good} given for as many of {other}.",
            f"{n} Sack {good} gegen ebenso viele {other} getauscht.",
            f"{n}袋{good}换同样多的{other}。",
        ),
        "void": (f"Line {line} is void.", f"Zeile {line} gilt nicht.", f"第{line}行作废。"),
        "double": (
            f"In line {line} it was twice as many.",
            f"In Zeile {line} waren es doppelt so viele.",
            f"第{line}行的数量应加倍。",
        ),
        "mixed": (
            f"Line {line} is the wrong way round: out is in, in is out.",
            f"Zeile {line} ist verkehrt herum: rein ist raus, raus ist rein.",
            f"第{line}行写反了：进是出，出是进。",
        ),
    }[note.kind][note.language]


def _note(rng: random.Random, number: int) -> Note:
    language = rng.randrange(_LANGUAGES)
    kind = rng.choice(["in", "out", "in", "out", "swap", "void", "double", "mixed"])
    if number < 7 and kind not in {"in", "out", "swap"}:
        kind = "in"
    good, other = rng.sample(list(_GOODS), 2)
    if kind in {"in", "out", "swap"}:
        return Note(language, kind, good, other if kind == "swap" else "", rng.randint(2, 9))
    return Note(language, kind, line=rng.randint(1, number - 1))
