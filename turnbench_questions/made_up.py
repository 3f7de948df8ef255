"""Words that no dictionary has: replies made of them prove checks that count letters."""

import itertools
import string
from typing import NamedTuple

from turnbench_questions.template import redraw_if

_LETTERS = "aeu" + "".join(letter for letter in string.ascii_lowercase if letter not in "aeu")


class Letters(NamedTuple):
    """What the letters of a word or sentence must be."""

    banned: str = ""
    first: str = ""
    counted: str = ""
    """A letter that occurs a given number of times; others as often as it comes."""


def word(size: int, times: int, letters: Letters, used: set[str]) -> str:
    """Return a new word of some size that has the counted letter so many times.

    It is added to those that are used.
    """
    fixed = letters.first + letters.counted * (times - (letters.first == letters.counted != ""))
    redraw_if(len(fixed) > size or set(fixed) & set(letters.banned))
    free = [one for one in _LETTERS if one not in letters.banned and one != letters.counted]
    for rest in itertools.product(free, repeat=size - len(fixed)):
        found = fixed + "".join(rest)
        if found not in used:
            used.add(found)
            return found
    redraw_if(True)
    return ""


def sentence(words: int, size: int, times: int, letters: Letters, used: set[str]) -> str:
    """Return a sentence of new words with so many letters and counted letters in all."""
    sizes = [size // words + (at < size % words) for at in range(words)]
    often = [times // words + (at < times % words) for at in range(words)]
    found = [
        word(sizes[at], often[at], letters if at == 0 else letters._replace(first=""), used)
        for at in range(words)
    ]
    return " ".join(found).capitalize() + "."


def no_neighbours() -> str:
    """Return the pattern of two neighbouring words that begin with the same letter."""
    pairs = "|".join(f"{one}[a-z]*[^a-z]+{one}" for one in string.ascii_lowercase)
    return rf"(?i)\b(?:{pairs})"
