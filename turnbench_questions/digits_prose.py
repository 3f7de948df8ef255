"""Prose whose words have as many letters as a row of digits says; then another end to the row."""

import random
from typing import Any, NamedTuple

from turnbench_questions.template import (
    TOWNS,
    WORDS,
    Made,
    Turn,
    aside,
    by_level,
    listed,
    redraw_if,
)

QUESTION_ID = 1007
CATEGORY = "writing"
LEVEL = 4


class Level(NamedTuple):
    """What a level sets."""

    words: int
    longer: int = 1
    """By how many words the new end is longer than the old one."""
    banned: int = 0
    """How many letters may not occur."""
    once: bool = False
    """Whether each word may occur only once."""


LEVELS = by_level(
    Level(10),
    Level(18),
    Level(26),  # as it was before there were levels, but for a word on punctuation
    Level(28, banned=1),
    Level(30, 2, 1, once=True),
    Level(34, 4, 1, once=True),
    Level(38, 6, 1, once=True),
    Level(42, 8, 2, once=True),
    Level(48, 10, 2, once=True),
    Level(56, 14, 2, once=True),
)
_DIGITS = "2233344455556667789"
_USUAL = 26
_BANNED = ("d", "l", "u", "c", "m", "h", "s")
_WORDS = [row.split() for row in WORDS["of_letters"]]


def make(rng: random.Random, level: int) -> Made:
    """Return a request for prose in which a program can check every word."""
    sets = LEVELS[level]
    more = aside(rng)
    row = [int(rng.choice(_DIGITS)) for _ in range(_USUAL)]
    for place in rng.sample(range(4, 24), 2):
        row[place] = 1
    row += [int(more.choice(_DIGITS)) for _ in range(sets.words - len(row))]
    row = row[: sets.words]
    cut = rng.randint(14, 17) * sets.words // _USUAL
    tail = row[cut:]
    further = [int(more.choice(_DIGITS)) for _ in range(sets.longer - 1)]
    new = [*row[:cut], *tail[::-1], *further, rng.randint(3, 8)]
    while new[: len(row)] == row:
        rng.shuffle(tail)
        new = [*row[:cut], *tail, *further, rng.randint(3, 8)]
    letters = sorted(more.sample(_BANNED, sets.banned))
    subject, town = rng.choice(WORDS["sundial_subjects"]), rng.choice(TOWNS)
    rules = []
    checks: list[dict[str, Any]] = []
    if letters:
        quoted = listed([f"“{letter}”" for letter in letters])
        rules.append(f"without the letter{'s' * (len(letters) > 1)} {quoted} anywhere")
        pattern = f"[{''.join(letters)}{''.join(letters).upper()}]"
        checks.append({"kind": "not_contains", "pattern": pattern, "name": "letters banned"})
    if sets.once:
        rules.append("without any word that occurs twice")
        checks.append({"kind": "distinct", "of": "words"})
    besides = f", {' and '.join(rules)}" if rules else ""
    text, text_now = (_text(digits, letters, sets.once) for digits in (row, new))
    short = [*row[:9], row[9] + 1 if row[9] < 9 else 8, *row[10:]]
    turn_1 = Turn(
        f"Prose for a sundial in {town}, about {subject}. The words, one after the other, must "
        f"have as many letters as this row of digits says: {_shown(row)}. So {len(row)} words in "
        "all, in two or more sentences that make sense and that somebody would want to read twice; "
        f"no names, no numerals, no apostrophes, no hyphens, no accents{besides}. Reply with the "
        "text alone.",
        checks=[_check(row), *checks],
        points=[
            "[instruction 3] Every word has the number of letters that the row demands.",
            "[quality 2] The sentences are grammatical and make sense together.",
            "[quality] The words aren't bent to the count: no filler lists of nouns.",
        ],
        note=f"A program checks the row: {_shown(row)}. What is left to judge is whether it is "
        "prose.",
        right=[text],
        wrong=[_text(short, letters, sets.once), _text(row[:-1], letters, sets.once)],
    )
    if sets.once:
        turn_1.wrong.append(_text(row, letters, once=False))
    if letters:
        places = [(at, w) for at, n in enumerate(row) for w in _WORDS[n - 1] if letters[0] in w]
        at, spoilt = places[0]
        words = text.split()
        turn_1.wrong.append(" ".join([*words[:at], spoilt, *words[at + 1 :]]))
    turn_2 = Turn(
        f"The mason has already cut your first {cut} words, so they stay exactly as they are, with "
        "the punctuation between them; the mark behind the last of them may change. "
        f"After them the row is now {_shown(new[cut:])} ({len(new) - cut} words). Give me the "
        "whole text again; the new end must reverse what the reader thought of the beginning. Same "
        "rules.",
        checks=[_check(new), *checks, {"kind": "keeps", "of": "words", "at_least": cut}],
        points=[
            f"[state 2] The first {cut} words stand unchanged.",
            "[quality] The new end turns the meaning of the beginning.",
        ],
        note=f"The whole row is now {_shown(new)}.",
        right=[text_now],
        wrong=[text, _text([*new[:-1], new[-1] + 1], letters, sets.once)],
    )
    return Made((turn_1, turn_2), f"your first {cut} words", "revise")


def _shown(row: list[int]) -> str:
    return " ".join(map(str, row))


def _text(row: list[int], letters: list[str], once: bool) -> str:
    """Return words of so many letters, without some letters, each only once if that is asked."""
    used: list[str] = []
    for digit in row:
        fit = [word for word in _WORDS[digit - 1] if not set(letters) & set(word.lower())]
        free = [word for word in fit if not once or word not in used]
        redraw_if(not free)
        used.append(free[0])
    return " ".join(used) + "."


def _check(row: list[int]) -> dict[str, str]:
    """Return the check of letters by word."""
    words = "[^A-Za-z]+".join(f"[A-Za-z]{{{digit}}}" for digit in row)
    pattern = rf"\A[^A-Za-z0-9]*{words}[^A-Za-z0-9]*\z"
    return {"kind": "contains", "pattern": pattern, "name": "letters of each word"}
