"""Prose whose words have as many letters as a row of digits says; then another end to the row."""

import itertools
import random
import string
from collections.abc import Sequence
from typing import Any, NamedTuple

from turnbench_questions import made_up
from turnbench_questions.made_up import no_neighbours
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
    """What a level sets.

    Prose has no chain of steps; from the eighth level on 100, 170 and 250 words, of which no two
    are the same, must each keep to five rules at once.
    """

    words: int
    longer: int = 1
    """By how many words the new end is longer than the old one."""
    banned: int = 0
    """How many letters may not occur."""
    once: bool = False
    """Whether each word may occur only once."""
    initials: int = 0
    """Every how many words the first letter is given; 0 if none is, else neighbours differ too."""
    sentences: bool = False
    """Whether the numbers of words of the sentences are given, and a further letter is banned in
    what turn 2 adds."""


LEVELS = by_level(
    Level(10),
    Level(18),
    Level(26),  # as it was before there were levels, but for a word on punctuation
    Level(28, banned=1),
    Level(30, 2, 1, once=True),
    Level(38, 4, 1, once=True, initials=9),
    Level(48, 6, 2, once=True, initials=7),
    Level(100, 16, 3, once=True, initials=3, sentences=True),
    Level(170, 30, 4, once=True, initials=3, sentences=True),
    Level(250, 40, 4, once=True, initials=2, sentences=True),
)
_DIGITS = "2233344455556667789"
_MANY_DIGITS = "2334444455555666667777889"
"""Those of so many words that there are not enough short ones."""
_USUAL = 26
_BANNED = ("d", "l", "u", "c", "m", "h", "s")
_INITIALS = "abfgpstwaeorhdlcm"
_SHORT = 10
"""At most so many words of two letters may be asked for where none may occur twice."""
_TH = {2: "2nd", 3: "3rd", 4: "4th", 5: "5th", 7: "7th", 9: "9th"}
_WORDS = [row.split() for row in WORDS["of_letters"]]


def make(rng: random.Random, level: int) -> Made:
    """Return a request for prose in which a program can check every word."""
    sets = LEVELS[level]
    more = aside(rng)
    if sets.initials:
        return _in_sentences(rng, sets)
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


class Plan(NamedTuple):
    """What a text must be, word by word."""

    row: tuple[int, ...]
    """The letters of each word."""
    initials: dict[int, str]
    """The first letters that are given, by the place of the word."""
    ends: tuple[int, ...]
    """After how many words each sentence ends; empty if it isn't said."""
    banned: str
    later: str = ""
    """A letter that is banned from some place on besides."""
    start: int = 0
    """That place."""


def _in_sentences(rng: random.Random, sets: Level) -> Made:
    """Return the request in which first letters and sentences are given too."""
    banned = "".join(sorted(rng.sample(_BANNED, sets.banned)))
    allowed = [one for one in _INITIALS if one not in banned]
    every = sets.initials

    def grown(before: Plan, words: int, later: str = "") -> Plan:
        """Return a plan that goes on after the words of another."""
        start = len(before.row)
        digits = _MANY_DIGITS if sets.words > 100 else _DIGITS
        row = [int(rng.choice(digits)) for _ in range(words)]
        usable = [one for one in allowed if one != later]
        given = {at: rng.choice(usable) for at in range(start + words) if at % every == every - 1}
        for at in range(words):
            if start + at in given and row[at] == 2:
                row[at] = rng.randint(3, 6)  # few short words begin with a given letter
        if not start:
            row[rng.choice([at for at in range(5, words // 2) if at not in given])] = 1
        ends = list(before.ends)
        while (left := start + words - (ends[-1] if ends else 0)) > 16:
            ends.append((ends[-1] if ends else 0) + rng.randint(5, min(12, left - 5)))
        return Plan(
            (*before.row, *row),
            {**{at: one for at, one in given.items() if at >= start}, **before.initials},
            (*ends, start + words),
            banned,
            later,
            start if later else 0,
        )

    none = Plan((), {}, (), banned)
    plan = grown(none, sets.words)
    cut = next(end for end in plan.ends if end >= sets.words * 11 // 20)
    kept = plan._replace(
        row=plan.row[:cut],
        initials={at: one for at, one in plan.initials.items() if at < cut},
        ends=tuple(end for end in plan.ends if end <= cut),
    )
    spare = [one for one in _BANNED if one not in banned]
    new = grown(kept, sets.words - cut + sets.longer, rng.choice(spare) if sets.sentences else "")
    plans = (plan, new)
    for one in plans:
        redraw_if(one.row.count(2) > _SHORT or len(one.row) - cut < 12)
    texts = [_made_up(one, cut) for one in plans]
    subject, town = rng.choice(WORDS["sundial_subjects"]), rng.choice(TOWNS)
    quoted = listed([f"“{letter}”" for letter in banned])
    lengths = ""
    if sets.sentences:
        lengths = f" The sentences have {_sizes(plan.ends, 0)} words, in this order."
    rules = (
        f"without the letter{'s' * (len(banned) > 1)} {quoted} anywhere, without any word that "
        "occurs twice and without two words one directly after the other (be it across the end of "
        "a sentence) that begin with the same letter"
    )
    neighbours = {"kind": "not_contains", "pattern": no_neighbours(), "name": "neighbours"}
    checks = [{"kind": "distinct", "of": "words"}, neighbours]
    short = plan._replace(row=(*plan.row[:-1], plan.row[-1] + 1))
    turn_1 = Turn(
        f"Prose for a sundial in {town}, about {subject}. The words, one after the other, must "
        f"have as many letters as this row of digits says: {_shown(plan.row)}. So "
        f"{len(plan.row)} words in all, in two or more sentences that make sense and that somebody "
        "would want to read twice; no names, no numerals, no apostrophes, no hyphens, no accents, "
        f"{rules}.{lengths} And every {_TH[every]} word begins with a given letter: "
        f"{_given(plan, 0)}. Reply with the text alone.",
        checks=[_planned(plan), *checks, *(_counted(plan) if sets.sentences else [])],
        points=[
            "[instruction 3] Every word has the number of letters that the row demands.",
            "[quality 2] The sentences are grammatical and make sense together.",
            "[quality] The words aren't bent to the count: no filler lists of nouns.",
        ],
        note=f"A program checks the row: {_shown(plan.row)}. What is left to judge is whether it "
        "is prose.",
        right=[texts[0]],
        wrong=[
            _made_up(short, cut),
            _made_up(plan._replace(initials={}), cut),
            texts[0].rsplit(" ", 1)[0] + "!",
        ],
    )
    further = f" In the new words “{new.later}” is banned besides." if new.later else ""
    if sets.sentences:
        further += f" The new sentences have {_sizes(new.ends, cut)} words."
    turn_2 = Turn(
        f"The mason has already cut your first {cut} words, so they stay exactly as they are, with "
        "the punctuation between them; the mark behind the last of them may change. "
        f"After them the row is now {_shown(new.row[cut:])} ({len(new.row) - cut} words)."
        f"{further} Every {_TH[every]} word of the whole text still begins with a given letter; "
        f"after the first {cut} words these are now {_given(new, cut)}. Give me the whole text "
        "again; the new end must reverse what the reader thought of the beginning. Same rules.",
        checks=[
            _planned(new),
            *checks,
            *(_counted(new) if sets.sentences else []),
            {"kind": "keeps", "of": "words", "at_least": cut},
        ],
        points=[
            f"[state 2] The first {cut} words stand unchanged.",
            "[quality] The new end turns the meaning of the beginning.",
        ],
        note=f"The whole row is now {_shown(new.row)}.",
        right=[texts[1]],
        wrong=[texts[0], _made_up(new._replace(row=(*new.row[:-1], new.row[-1] + 1)), cut)],
    )
    return Made((turn_1, turn_2), f"your first {cut} words", "revise")


def _sizes(ends: tuple[int, ...], start: int) -> str:
    """Return the numbers of words of the sentences after a place."""
    later = [start, *(end for end in ends if end > start)]
    return listed([str(end - begin) for begin, end in itertools.pairwise(later)])


def _given(plan: Plan, start: int) -> str:
    """Return the given first letters from a place on, in words."""
    return ", ".join(
        f"word {at + 1} with “{one}”" for at, one in sorted(plan.initials.items()) if at >= start
    )


def _made_up(plan: Plan, cut: int) -> str:
    """Return made-up words that keep to a plan; those before the cut are the same for all plans."""
    used: set[str] = set()
    words: list[str] = []
    for at, size in enumerate(plan.row):
        banned = plan.banned + (plan.later if at >= plan.start else "")
        first = plan.initials.get(at, "")
        if not first:
            near = {words[-1][0] if words else "", plan.initials.get(at + 1, "")}
            wanted = "ao" if size == 1 else string.ascii_lowercase
            first = next(
                one for one in _turned(wanted, at) if one not in near and one not in banned
            )
        redraw_if(words and words[-1][0] == first and plan.initials)
        words.append(made_up.word(size, 0, made_up.Letters(banned, first), used))
    sentences = itertools.pairwise((0, *plan.ends))
    # With a full stop, a short word would look like an abbreviation.
    return " ".join(" ".join(words[begin:end]).capitalize() + "!" for begin, end in sentences)


def _turned(letters: str, by: int) -> str:
    """Return letters that begin at another of them."""
    by %= len(letters)
    return letters[by:] + letters[:by]


def _planned(plan: Plan) -> dict[str, str]:
    """Return the check of letters by word, and of the first letters that are given."""
    parts = []
    for at, size in enumerate(plan.row):
        banned = plan.banned + (plan.later if at >= plan.start else "")
        free = "".join(one for one in string.ascii_letters if one.lower() not in banned)
        if at in plan.initials:
            parts.append(f"(?i:{plan.initials[at]})[{free}]{{{size - 1}}}")
        else:
            parts.append(f"[{free}]{{{size}}}")
    pattern = rf"\A[^A-Za-z0-9]*{'[^A-Za-z]+'.join(parts)}[^A-Za-z0-9]*\z"
    return {"kind": "contains", "pattern": pattern, "name": "letters of each word"}


def _counted(plan: Plan) -> list[dict[str, Any]]:
    """Return the checks of the sentences."""
    sizes = [end - begin for begin, end in itertools.pairwise((0, *plan.ends))]
    return [
        {"kind": "count", "of": "sentences", "exactly": len(sizes)},
        *(
            {
                "kind": "count",
                "of": "words",
                "exactly": size,
                "in": {"sentence": at},
                "name": f"sentence {at}",
            }
            for at, size in enumerate(sizes, 1)
        ),
    ]


def _shown(row: Sequence[int]) -> str:
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
