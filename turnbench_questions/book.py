"""A book of numbered entries, in which an entry may say that an earlier one is void.

An entry of the kind `void` voids the one that it is about, one of the kind `unless` does so unless
the entry `value`, between the two, is void.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple


class Entry(NamedTuple):
    """An entry: who wrote it, what was done with what, or about which entry it speaks."""

    writer: str
    kind: str
    thing: str = ""
    other: str = ""
    value: Any = 0
    about: int = 0


Book = dict[int, Entry]


def void(book: Book, struck: Iterable[int] = ()) -> list[int]:
    """Return the numbers that are void, those that were struck out among them.

    What a void entry says of others doesn't count.
    """
    dead: set[int] = set(struck)
    unless: list[tuple[int, int]] = []
    for number in sorted(book, reverse=True):
        if any(about == number and other not in dead for about, other in unless):
            dead.add(number)
        if number in dead:
            continue
        entry = book[number]
        if entry.kind == "void":
            dead.add(entry.about)
        elif entry.kind == "unless":
            unless.append((entry.about, entry.value))
    return sorted(dead)


def living(book: Book) -> Book:
    """Return the entries that count."""
    dead = void(book)
    return {number: entry for number, entry in book.items() if number not in dead}


def of_kinds(book: Book, *kinds: str) -> Book:
    """Return the entries of some kinds."""
    return {number: entry for number, entry in book.items() if entry.kind in kinds}
