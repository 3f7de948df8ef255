"""A page as plain text: aligned tables, headings and notes; as wide as it is, or divided to fit a terminal.

Where a table is wider than the terminal, its headings break at spaces and long words over lines; columns that still
have no room stand below, from left to right, after the columns that name the rows, and a line says so. No number is
cut.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import zip_longest
from typing import NamedTuple

from harness.old.names import printable
from harness.old.showing.items import Cells, Page, Table
from harness.old.showing.lines import in_lines

_GAP = 2
_WORDS = 20
"""Characters to which a column of words is narrowed first,"""
_PARTS = re.compile(r".*[-/_.:@+]")
"""What of a word ends where a name may be broken."""
_FEWEST = (10, 8, 5)
"""and to which it is narrowed at most: the first of these with which all lines fit."""


def text(page: Page, *, width: int | None = None, bold: bool = False) -> str:
    """Return the page; `width` is the terminal's (None: as wide as need be), `bold` makes the heads of tables so."""

    def prose(line: str) -> str:
        return printable(line) if width is None else "\n".join(wrapped(printable(line), width - len("note: ")))

    return in_lines(page, prose, partial(table_text, width=width, bold=bold))


def table_text(table: Table, *, width: int | None = None, bold: bool = False) -> str:
    """Return one table without its title and note; nothing where there is no row."""
    columns = table.shown()
    if not table.rows or not columns:
        return ""
    shapes = [_shape(column, _FEWEST[0]) for column in columns]
    blocks = [[(column, shape.whole) for column, shape in zip(columns, shapes, strict=True)]]
    whole = _total(blocks[0])
    if width is not None and whole > width:
        for fewest in _FEWEST:
            blocks = _blocks(columns, [_shape(column, fewest) for column in columns], table.keys, width)
            if all(_total(block) <= width for block in blocks):
                break
    drawn = ["\n".join(_lines(block, ruled=width is not None, bold=bold)) for block in blocks]
    return f"\n\nfurther columns (the table is {whole} characters wide):\n\n".join(drawn)


class _Shape(NamedTuple):
    """How wide a column may be."""

    least: int
    usual: int
    """With its heading broken, but its numbers on one line."""
    whole: int


def _total(block: Sequence[tuple[Cells, int]]) -> int:
    return sum(width for _, width in block) + _GAP * (len(block) - 1)


def _shape(column: Cells, fewest: int) -> _Shape:
    heading, cells = str(column.heading), list(map(str, column.cells))
    every = max(map(width_of, cells))
    least = max(_least(line, fewest) for line in (heading, *cells))
    # Where only names are long they break over lines; a number and its interval stay on one while there is room.
    names = any(map(_has_letters, cells))
    usual = max(least, min(every, _WORDS) if names else every, min(_longest_word(heading), _WORDS))
    return _Shape(least, usual, max(every, width_of(heading)))


def _least(line: str, fewest: int) -> int:
    """Return the least width of a text: that of its longest number, or of so much of a word as must stay together."""
    widths = ((width_of(word), _has_letters(word)) for word in _words(line))
    return max((min(width, fewest) if letters else width for width, letters in widths), default=0)


def _blocks(columns: Sequence[Cells], shapes: Sequence[_Shape], keys: int, width: int) -> list[list[tuple[Cells, int]]]:
    """Return which columns stand beside each other, and how wide: the keys in each block, the others from the left."""
    keys = _naming(columns, min(keys, len(columns) - 1))
    usual, least = (sum(getattr(s, kind) + _GAP for s in shapes[:keys]) for kind in ("usual", "least"))
    narrow = any(usual + shape.usual > width for shape in shapes[keys:])
    sizes = [shape.least if narrow else shape.usual for shape in shapes]
    blocks: list[list[int]] = []
    room = 0
    for at in range(keys, len(columns)):
        if not blocks or sizes[at] + _GAP > room:
            blocks.append(list(range(keys)))
            room = width + _GAP - (least if narrow else usual)
        blocks[-1].append(at)
        room -= sizes[at] + _GAP
    return [
        _widened(block, columns, sizes, [s.usual if narrow else s.whole for s in shapes], width) for block in blocks
    ]


def _naming(columns: Sequence[Cells], keys: int) -> int:
    """Return how many columns of words, `keys` at least, tell the rows apart; `keys` if none do."""
    for count in range(keys, len(columns)):
        if len(set(zip(*(column.cells for column in columns[:count]), strict=True))) == len(columns[0].cells):
            return count
        if not columns[count].words:
            break
    return keys


def _widened(
    block: Sequence[int], columns: Sequence[Cells], sizes: Sequence[int], most: Sequence[int], width: int
) -> list[tuple[Cells, int]]:
    """Return the columns of a block with the room that is left, from the left."""
    spare = max(0, width - sum(sizes[at] for at in block) - _GAP * (len(block) - 1))
    found = []
    for at in block:
        more = min(spare, max(0, most[at] - sizes[at]))
        spare -= more
        found.append((columns[at], sizes[at] + more))
    return found


def _lines(block: Sequence[tuple[Cells, int]], *, ruled: bool, bold: bool) -> Iterator[str]:
    """Yield the lines of a block: the head, on a terminal a rule, and the rows."""
    for line in _row([(str(column.heading), column.words, width) for column, width in block], up=False):
        yield f"\x1b[1m{line}\x1b[0m" if bold else line
    if ruled:
        yield "─" * _total(block)
    for at in range(len(block[0][0].cells)):
        yield from _row([(str(column.cells[at]), column.words, width) for column, width in block], up=True)


def _row(cells: Sequence[tuple[str, bool, int]], *, up: bool) -> Iterator[str]:
    """Yield the lines of one row; cells of several lines begin on the first one, heads end on the last one."""
    broken = [wrapped(cell, width) for cell, _, width in cells]
    most = max(map(len, broken))
    filled = [lines if up else [""] * (most - len(lines)) + lines for lines in broken]
    for parts in zip_longest(*filled, fillvalue=""):
        padded = []
        for part, (_, left, width) in zip(parts, cells, strict=True):
            gap = " " * (width - width_of(part))
            padded.append(part + gap if left else gap + part)
        yield (" " * _GAP).join(padded).rstrip()


def wrapped(line: str, width: int) -> list[str]:
    """Return a text in lines of at most so many columns, broken at spaces, else within a word, after a hyphen or such
    where one is in its second half; intervals stay whole."""
    if width_of(line) <= width:
        return [line]
    found = [""]
    for word in _words(line):
        if found[-1] and width_of(f"{found[-1]} {word}") <= width:
            found[-1] += f" {word}"
            continue
        if found[-1]:
            found.append("")
        for letter in word:
            if found[-1] and width_of(found[-1] + letter) > width:
                part = _PARTS.match(found[-1])  # of a name, so that no number in it is cut where it need not be
                kept = part[0] if part and 2 * width_of(part[0]) > width else found[-1]
                found[-1], rest = kept, found[-1][len(kept) :]
                found.append(rest)
            found[-1] += letter
    return found


def width_of(text: str) -> int:
    """Return the columns that a text takes on a terminal: Chinese and the like take two each."""
    if text.isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text if not unicodedata.combining(c))


def _has_letters(text: str) -> bool:
    """Return whether a text is more than numbers and intervals."""
    return any(map(str.isalpha, text.replace(" to ", "")))


def _words(line: str) -> list[str]:
    return re.findall(r"\(?[-$\d]\S* to [-$\d]\S*|\S+", line)


def _longest_word(line: str) -> int:
    return max(map(width_of, _words(line)), default=0)
