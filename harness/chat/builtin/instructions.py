"""Countable instructions: what a question asks for that a program can check in an answer, without understanding either.

    "Exactly four sentences, at most 60 words, and don't use \"sorry\"."
      -> count(sentences, 4..4), count(words, ..60), forbid("sorry")

Only wordings that clearly address the answer are taken; a text quoted inside the question is not searched. What is not
recognised is not an instruction: finding too little is meant to be the commoner mistake.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from harness.chat.builtin.structure import cells, json_keys, json_value, rows
from harness.chat.builtin.tokens import (
    bullets,
    code_blocks,
    count_words,
    lines,
    paragraphs,
    prose,
    sentences,
    words,
)

Unit: TypeAlias = Literal["words", "sentences", "lines", "paragraphs", "bullets", "characters", "rows", "cells"]
Kind: TypeAlias = Literal[
    "count", "start", "not_start", "forbid", "require", "open", "close", "json", "csv", "table", "code", "case"
]

COUNTERS: dict[Unit, Callable[[str], int]] = {
    "words": count_words,
    "sentences": lambda text: len(sentences(text)),
    "lines": lambda text: len(lines(text)),
    "paragraphs": lambda text: len(paragraphs(text)),
    "bullets": lambda text: len(bullets(text)),
    "characters": len,
    "rows": lambda text: max(0, len(rows(text)) - 1),
}
SPLITTERS: dict[Unit, Callable[[str], Sequence[str]]] = {
    "sentences": sentences,
    "lines": lines,
    "paragraphs": paragraphs,
    "bullets": bullets,
    "cells": cells,
}
MARKS: dict[str, str] = {
    "exclamation mark": "!\uff01",
    "exclamation point": "!\uff01",
    "question mark": "?\uff1f",
    "comma": ",\uff0c",
    "semicolon": ";\uff1b",
    "dash": "\u2013\u2014",
    "bracket": "()[]\uff08\uff09",
    "parenthes": "()\uff08\uff09",
    "digit": "0123456789",
    "numeral": "0123456789",
}


@dataclass(frozen=True, slots=True)
class Instruction:
    """One thing that an answer can be checked for."""

    kind: Kind
    unit: Unit = "words"
    """What is counted, or what a beginning is a beginning of."""
    least: int | None = None
    most: int | None = None
    each: Unit | None = None
    """The part of the answer for which a count holds; None: the whole answer."""
    items: tuple[str, ...] = ()
    """Words, characters, keys or beginnings, as the kind says."""

    @property
    def subject(self) -> tuple[Kind, Unit, Unit | None]:
        """What it is about: a later instruction on the same subject replaces it."""
        return self.kind, self.unit, self.each

    def __str__(self) -> str:
        """Return the instruction in a few words."""
        named = ", ".join(self.items)
        if self.kind == "count":
            bound = _bound(self.least, self.most)
            return f"{bound} {self.unit}" + (f" in each of the {self.each}" if self.each else "")
        if self.kind == "start":
            return f"each of the {self.unit} begins with {named or 'a different letter'}"
        texts: dict[Kind, str] = {
            "not_start": f"none of the {self.unit} begins with {named}",
            "forbid": f"without {named}",
            "require": f"with {named}",
            "open": f"begins with {named}",
            "close": f"ends with {named}",
            "json": "JSON" + (f" with the keys {named}" if named else ""),
            "csv": "CSV" + (f" with the columns {named}" if named else ""),
            "table": "a table",
            "code": "code in a block",
            "case": f"{named} case",
        }
        return texts[self.kind]

    def obeyed(self, answer: str) -> float:
        """Return how far an answer obeys, from 0 to 1; a count that is nearly right earns a part."""
        if not answer.strip():
            return 0.0
        return _CHECKS[self.kind](self, answer)


def _bound(least: int | None, most: int | None) -> str:
    if least == most:
        return f"exactly {least}"
    if least is None:
        return f"at most {most}"
    return f"at least {least}" if most is None else f"{least} to {most}"


def _check_count(wanted: Instruction, answer: str) -> float:
    parts: Sequence[str] = SPLITTERS[wanted.each](answer) if wanted.each else (answer,)
    if not parts:
        return 0.0
    return sum(_nearness(COUNTERS[wanted.unit](part), wanted.least, wanted.most) for part in parts) / len(parts)


def _nearness(count: int, least: int | None, most: int | None) -> float:
    """Return 1 inside the bounds, at most a half outside, and nothing from a quarter beyond them."""
    edge = least if least is not None and count < least else most if most is not None and count > most else None
    if edge is None:
        return 1.0
    return max(0.0, 0.5 - 2 * abs(count - edge) / max(edge, 1))


def _check_start(wanted: Instruction, answer: str) -> float:
    parts = SPLITTERS[wanted.unit](answer)
    firsts = [found.group(0).lower() for part in parts if (found := re.search(r"\w.*", part))]
    if not firsts:
        return 0.0
    if not wanted.items:
        return len({first[0] for first in firsts}) / len(firsts)
    openings = tuple(item.lower() for item in wanted.items)
    return sum(1 for first in firsts if first.startswith(openings)) / len(firsts)


def _check_not_start(wanted: Instruction, answer: str) -> float:
    parts = SPLITTERS[wanted.unit](answer)
    barred = {item.lower() for item in wanted.items}
    return _share(next(iter(words(part)), "") not in barred for part in parts)


def _check_forbid(wanted: Instruction, answer: str) -> float:
    present = set(words(answer))
    low = answer.lower()
    return _share(not _stands(item, low, present) for item in wanted.items)


def _check_require(wanted: Instruction, answer: str) -> float:
    present = set(words(answer))
    low = answer.lower()
    return _share(_stands(item, low, present) for item in wanted.items)


def _stands(item: str, low: str, present: set[str]) -> bool:
    """Return whether a word, a phrase, or a single letter or mark stands in a text."""
    item = item.lower()
    if item == "bulleted lines":
        return bool(bullets(low))
    if len(item) == 1 or not item.isascii() or " " in item or not item.isalnum():
        return item in low
    return item in present


def _check_open(wanted: Instruction, answer: str) -> float:
    return float(_bare(answer).lower().startswith(tuple(_bare(item).lower() for item in wanted.items)))


def _check_close(wanted: Instruction, answer: str) -> float:
    end = answer.rstrip(" \n*_\"'\u201d\u2019)")
    if wanted.items == ("a question",):
        return float(end.endswith(("?", "\uff1f")))
    closings = tuple(re.sub(r"[\W_]+$", "", item).lower() for item in wanted.items)
    return float(re.sub(r"[\W_]+$", "", end).lower().endswith(closings))


def _check_json(wanted: Instruction, answer: str) -> float:
    value = json_value(answer)
    if value is None:
        return 0.0
    present = json_keys(value)
    return 0.5 + 0.5 * _share(key in present for key in wanted.items)


def _check_csv(wanted: Instruction, answer: str) -> float:
    block = (code_blocks(answer) or (answer,))[0]
    table = [line for line in lines(block) if "," in line or ";" in line]
    if not table:
        return 0.0
    header = table[0].lower()
    return 0.5 + 0.5 * _share(key.lower() in header for key in wanted.items)


def _check_case(wanted: Instruction, answer: str) -> float:
    letters = [letter for letter in prose(answer) if letter.isalpha() and letter.lower() != letter.upper()]
    return _share((letter.islower() if wanted.items == ("lower",) else letter.isupper()) for letter in letters)


def _share(outcomes: Iterable[bool]) -> float:
    found = list(outcomes)
    return sum(found) / len(found) if found else 1.0


def _bare(text: str) -> str:
    return text.strip().lstrip("\"'\u201c\u2018*_# ")


_CHECKS: dict[Kind, Callable[[Instruction, str], float]] = {
    "count": _check_count,
    "start": _check_start,
    "not_start": _check_not_start,
    "forbid": _check_forbid,
    "require": _check_require,
    "open": _check_open,
    "close": _check_close,
    "json": _check_json,
    "csv": _check_csv,
    "table": lambda _, answer: float(len(rows(answer)) > 1),
    "code": lambda _, answer: float(bool(code_blocks(answer))),
    "case": _check_case,
}
