"""A story in sentences of given lengths without some letters; then sorted, with more of them."""

import itertools
import random
import string
from typing import Any, NamedTuple

from turnbench_questions.made_up import Letters, sentence
from turnbench_questions.template import (
    NUMBERS,
    TOWNS,
    WORDS,
    Made,
    Turn,
    aside,
    by_level,
    listed,
    redraw_if,
)

QUESTION_ID = 1006
CATEGORY = "writing"
LEVEL = 5


class Level(NamedTuple):
    """What a level sets.

    Prose has no chain of steps; from the eighth level on 14, 17 and 20 sentences, of which no two
    share a word, must each have so many words, letters and letters of one kind.
    """

    sentences: int
    banned: int = 1
    """How many letters may not occur."""
    added: int = 1
    """How many sentences turn 2 adds."""
    lettered: int = 0
    """How many sentences have a given number of letters too."""
    initials: bool = False
    """Whether the first letters must follow the alphabet in turn 1."""
    dropped: bool = False
    """Whether turn 2 leaves a sentence out."""
    once: bool = False
    """Whether no word may occur twice."""
    counted: int = 0
    """In how many sentences one of the letters is counted by itself."""


LEVELS = by_level(
    Level(4),
    Level(6),
    Level(8),  # as it was before there were levels, but for the town, which may not be named
    Level(9, initials=True),
    Level(9, 2, 1, 1, initials=True),
    Level(10, 2, 2, 5, initials=True, dropped=True, once=True),
    Level(11, 2, 2, 11, initials=True, dropped=True, once=True),
    Level(14, 3, 4, 14, initials=True, dropped=True, once=True, counted=14),
    Level(17, 4, 6, 17, initials=True, dropped=True, once=True, counted=17),
    Level(20, 4, 8, 20, initials=True, dropped=True, once=True, counted=20),
)
_LENGTHS = (2, 3, 5, 6, 7, 9, 10, 11, 13, 14)
_MORE_LENGTHS = (16, 17, 19, 20)
_MOST_LENGTHS = (22, 24, 25, 26, 28, 29)
_ADDED = (4, 8, 12, 15)
_MORE_ADDED = (18, 21, 23, 27)
_SHARES = {"e": (0.1, 0.17), "a": (0.07, 0.13), "t": (0.07, 0.13), "s": (0.05, 0.11)}
"""Which letters are counted by themselves, and what share of the letters they may be."""
_LETTERS = ("n", "r", "o", "i")
_FIRST = WORDS["first_words"]
_BODY = ("a", "at", "sea", "lake", "table", "castle", "baggage", "headache")
"""Words without any letter that may be banned, by the number of their letters."""


def make(rng: random.Random, level: int) -> Made:
    """Return a request for a story in which every sentence is counted."""
    sets = LEVELS[level]
    more = aside(rng)
    letters = [rng.choice(_LETTERS)]
    lengths = rng.sample(_LENGTHS, 8)
    while lengths in (sorted(lengths), sorted(lengths, reverse=True)):
        rng.shuffle(lengths)
    extra = [rng.choice([4, 8, 12])]
    letters += [one for one in more.sample(_LETTERS, 4) if one not in letters]
    letters = letters[: sets.banned]
    longer = _MOST_LENGTHS if sets.sentences > 14 else ()
    rest = [n for n in (*_LENGTHS, *_MORE_LENGTHS, *longer) if n not in lengths]
    lengths = [*lengths, *more.sample(rest, len(rest))][: sets.sentences]
    redraw_if(lengths in (sorted(lengths), sorted(lengths, reverse=True)))
    extra += [n for n in more.sample(_ADDED, 4) if n not in extra]
    extra += _MORE_ADDED
    extra = extra[: sets.added]
    dropped = more.choice(lengths) if sets.dropped else 0
    kept = [n for n in lengths if n != dropped]
    longest = sorted([*kept, *extra], reverse=True)
    lettered = {n: _letters(more, n) for n in more.sample(lengths, sets.lettered)}
    new_lettered = {n: _letters(more, n) for n in extra} if sets.lettered > 2 else {}
    subject, town = rng.choice(WORDS["story_subjects"]), rng.choice(TOWNS)
    numbers = ", ".join(map(str, lengths))
    counts = {
        n: lettered.get(n) or new_lettered.get(n) or _letters(more, n) for n in (*lengths, *extra)
    }
    one_letter = more.choice([*_SHARES])
    singled = {
        n: round(counts[n] * more.uniform(*_SHARES[one_letter]))
        for n in [*more.sample(lengths, sets.counted), *(extra if sets.counted else [])]
    }
    rules_of = Letters("".join(letters), counted=one_letter)
    used: set[str] = set()
    initials = [one for one in string.ascii_lowercase if one not in letters]

    def write(place: int, words: int, size: int, times: int | None = None) -> str:
        if not sets.once:
            return _sentence(place, words, size)
        chosen = rules_of._replace(first=initials[place])
        often = singled.get(words, 0) if times is None else times
        return sentence(words, size, often, chosen, used)

    text = [write(place, n, counts[n]) for place, n in enumerate(lengths)]
    by_length = {
        **dict(zip(lengths, text, strict=True)),
        **{n: write(0, n, counts[n]) for n in extra},
    }
    later = [by_length[n] for n in longest]
    ban = {
        "kind": "not_contains",
        "pattern": f"[{''.join(letters)}{''.join(letters).upper()}]",
        "name": "letter",
    }
    unnamed = {"kind": "not_contains", "words": [town], "name": "town"}
    quoted = listed([f"“{letter}”" for letter in letters])
    count = NUMBERS[sets.sentences]
    one = sets.banned == 1
    rules = ""
    if sets.initials:
        rules += (
            " Each sentence must begin with a letter that is later in the alphabet than that with "
            "which the one before begins."
        )
    if lettered:
        rules += (
            " Letters are counted too: "
            + listed(
                [
                    f"the sentence of {n} words has exactly {lettered[n]} letters"
                    + (f", {singled[n]} of them “{one_letter}”" if n in singled else "")
                    for n in lengths
                    if n in lettered
                ]
            )
            + "."
        )
    if sets.once:
        rules += " No word may occur twice in the whole story."
    wrong_initials = [" ".join(reversed(text))]
    turn_1 = Turn(
        f"A complete story about {subject}, set in {town}, which must not be named and need not be "
        f"recognized, in {count} sentences of exactly {numbers} words, in this order. The "
        f"letter{'' if one else 's'} {quoted} must not occur anywhere.{rules} It needs a "
        "beginning, a turn and an end, and each sentence must be able to stand elsewhere in the "
        "story without becoming wrong. No title, no numerals, no dashes; the story alone.",
        checks=[
            *_counts(lengths, lettered),
            *_singled(lengths, singled, one_letter),
            *([{"kind": "distinct", "of": "words"}] * sets.once),
            ban,
            unnamed,
            *([{"kind": "sorted", "of": "sentences", "name": "first letters"}] * sets.initials),
            *([{"kind": "distinct", "of": "sentences", "by": "first_letter"}] * sets.initials),
        ],
        points=[
            f"[instruction 2] The {count} sentences have {numbers} words.",
            f"[instruction 2] The letter{'' if one else 's'} {quoted} "
            f"{'does' if one else 'do'} not occur.",
            f"[quality] It is a story with a turn, not {count} remarks.",
        ],
        note="A program counts words and letters; judge the story.",
        right=[" ".join(text)],
        wrong=[
            " ".join([*text[:3], write(3, lengths[3] + 1, counts[lengths[3]] + 1), *text[4:]]),
            " ".join(text)[:-1] + f" {letters[-1]}.",
            *(wrong_initials if sets.initials else []),
        ],
    )
    if sets.once:
        at, n = max(enumerate(lengths), key=lambda pair: pair[1])
        turn_1.wrong.append(" ".join([*text[:at], _doubled(text[at]), *text[at + 1 :]]))
        if n in singled:
            less = write(at, n, counts[n], singled[n] - 1)
            turn_1.wrong.append(" ".join([*text[:at], less, *text[at + 1 :]]))
    same = "the same sentences" if dropped else f"the same {count} sentences"
    without = f" but without that of {dropped} words" if dropped else ""
    if sets.added == 1:
        place = longest.index(extra[0]) + 1
        added = f"one more of exactly {extra[0]} words in the place that its length gives it"
        point = f"[instruction] The sentence added is the {_th(place)} and has {extra[0]} words."
    else:
        plural = listed([str(n) for n in sorted(extra)])
        added = (
            f"{NUMBERS[sets.added]} more of exactly {plural} words in the places that their "
            "lengths give them"
        )
        point = f"[instruction] The sentences added have {plural} words and stand in their places."
    if new_lettered:
        added += (
            " ("
            + listed(
                [
                    f"that of {n} words with exactly {new_lettered[n]} letters"
                    + (f", {singled[n]} of them “{one_letter}”" if n in singled else "")
                    for n in sorted(extra)
                ]
            )
            + ")"
        )
    stays = f"the banned letter{'' if one else 's'} stay{'s' if one else ''} banned"
    if sets.initials:
        stays += ", first letters no longer matter"
    if sets.once:
        stays += ", and still no word may occur twice"
    turn_2 = Turn(
        f"Now {same}{without}, word for word, sorted from the longest to the shortest by their "
        f"number of words, and {added}; {stays}. The story must work in this order too, with "
        "another ending. The story alone.",
        checks=[
            *_counts(longest, new_lettered),
            *_singled(longest, {n: singled[n] for n in extra if n in singled}, one_letter),
            *([{"kind": "distinct", "of": "words"}] * sets.once),
            ban,
            {"kind": "keeps", "of": "sentences", "exactly": len(kept)},
        ],
        points=[
            f"[state 2] All {NUMBERS[len(kept)]} sentences are kept word for word, longest first.",
            point,
            "[quality] The order gives the story another ending.",
        ],
        note=f"Words by sentence: {', '.join(map(str, longest))}.",
        right=[" ".join(later)],
        wrong=[" ".join(text), " ".join(later[:-1])],
    )
    return Made((turn_1, turn_2), same, "reformat")


def _th(place: int) -> str:
    return f"{place}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(place, 'th') }"


def _letters(rng: random.Random, words: int) -> int:
    """Return a number of letters that so many words may have."""
    return rng.randint(words * 19 // 5 + 1, words * 24 // 5)


def _sentence(place: int, words: int, letters: int) -> str:
    """Return words with so many letters in all; a later place begins with a later letter."""
    first = _FIRST[place]
    rest, slots = letters - len(first), words - 1
    found = [first]
    for left in range(slots, 0, -1):
        size = max(1, min(len(_BODY), rest // left))
        found.append(_BODY[size - 1])
        rest -= size
    return " ".join(found).capitalize() + "."


def _doubled(text: str) -> str:
    """Return a sentence in which a word stands for another of as many letters."""
    words = text.rstrip(".").split()
    pairs = itertools.combinations(range(1, len(words)), 2)
    at, other = next((i, j) for i, j in pairs if len(words[i]) == len(words[j]))
    return " ".join([*words[:at], words[other], *words[at + 1 :]]) + "."


def _singled(lengths: list[int], times: dict[int, int], letter: str) -> list[dict[str, Any]]:
    """Return the checks of a letter that is counted by itself."""
    no = f"[^{letter}{letter.upper()}]*"
    return [
        {
            "kind": "contains",
            "pattern": rf"\A(?:{no}[{letter}{letter.upper()}]){{{times[n]}}}{no}\z",
            "in": {"sentence": at},
            "name": f"“{letter}” in sentence {at}",
        }
        for at, n in enumerate(lengths, 1)
        if n in times
    ]


def _counts(lengths: list[int], letters: dict[int, int]) -> list[dict[str, Any]]:
    checks: list[dict[str, Any]] = [{"kind": "count", "of": "sentences", "exactly": len(lengths)}]
    for at, n in enumerate(lengths, 1):
        sentence = {"in": {"sentence": at}, "name": f"sentence {at}"}
        checks.append({"kind": "count", "of": "words", "exactly": n, **sentence})
    for at, n in enumerate(lengths, 1):
        if n in letters:
            pattern = rf"\A(?:[^A-Za-zÀ-ɏ]*[A-Za-zÀ-ɏ]){{{letters[n]}}}[^A-Za-zÀ-ɏ]*\z"
            place = {"in": {"sentence": at}, "name": f"letters of sentence {at}"}
            checks.append({"kind": "contains", "pattern": pattern, **place})
    return checks
