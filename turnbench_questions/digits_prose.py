"""Prose whose words have as many letters as a row of digits says; then another end to the row."""

import random

from turnbench_questions.template import TOWNS, WORDS, Made, Turn

QUESTION_ID = 1007
CATEGORY = "writing"
LEVEL = 3

_WORDS = ["a", "on", "sea", "boat", "light", "harbor", "evening", "lanterns", "fisherman"]
"""Words by the number of their letters."""


def make(rng: random.Random) -> Made:
    """Return a request for prose in which a program can check every word."""
    row = [int(rng.choice("2233344455556667789")) for _ in range(26)]
    for place in rng.sample(range(4, 24), 2):
        row[place] = 1
    cut = rng.randint(14, 17)
    tail = row[cut:]
    new = [*row[:cut], *tail[::-1], rng.randint(3, 8)]
    while new[: len(row)] == row:
        rng.shuffle(tail)
        new = [*row[:cut], *tail, rng.randint(3, 8)]
    subject, town = rng.choice(WORDS["sundial_subjects"]), rng.choice(TOWNS)
    turn_1 = Turn(
        f"Prose for a sundial in {town}, about {subject}. The words, one after the other, must "
        f"have as many letters as this row of digits says: {_shown(row)}. So {len(row)} words in "
        "all, in two or more sentences that make sense and that somebody would want to read twice; "
        "no names, no numerals, no apostrophes, no hyphens, no accents. Reply with the text alone.",
        checks=[_check(row)],
        points=[
            "[instruction 3] Every word has the number of letters that the row demands.",
            "[quality 2] The sentences are grammatical and make sense together.",
            "[quality] The words aren't bent to the count: no filler lists of nouns.",
        ],
        note=f"A program checks the row: {_shown(row)}. What is left to judge is whether it is "
        "prose.",
        right=[_text(row)],
        wrong=[_text([*row[:9], row[9] + 1 if row[9] < 9 else 8, *row[10:]]), _text(row[:-1])],
    )
    turn_2 = Turn(
        f"The mason has already cut your first {cut} words, so they stay exactly as they are. "
        f"After them the row is now {_shown(new[cut:])} ({len(new) - cut} words). Give me the "
        "whole text again; the new end must reverse what the reader thought of the beginning. Same "
        "rules.",
        checks=[_check(new), {"kind": "keeps", "of": "words", "at_least": cut}],
        points=[
            f"[state 2] The first {cut} words stand unchanged.",
            "[quality] The new end turns the meaning of the beginning.",
        ],
        note=f"The whole row is now {_shown(new)}.",
        right=[_text(new)],
        wrong=[_text(row), _text([*new[:-1], new[-1] + 1])],
    )
    return Made((turn_1, turn_2), f"your first {cut} words", "revise")


def _shown(row: list[int]) -> str:
    return " ".join(map(str, row))


def _text(row: list[int]) -> str:
    return " ".join(_WORDS[digit - 1] for digit in row).capitalize() + "."


def _check(row: list[int]) -> dict[str, str]:
    """Return the check of letters by word."""
    words = "[^A-Za-z]+".join(f"[A-Za-z]{{{digit}}}" for digit in row)
    pattern = rf"\A[^A-Za-z0-9]*{words}[^A-Za-z0-9]*\z"
    return {"kind": "contains", "pattern": pattern, "name": "letters of each word"}
