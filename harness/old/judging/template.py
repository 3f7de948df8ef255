"""Prompt templates: a closed set of placeholders, filled in one pass, and the fence around answers.

Values are never looked at again once they are in, so braces or placeholders inside an answer stay text:

>>> Template.parse("Q: {question}", known={"question"}).fill({"question": "what is {answer}?"})
'Q: what is {answer}?'
"""

import re
import string
from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Self

from harness.old.judging.neutral import neutralised
from harness.old.records import content_hash

FENCE = "<<<text "
"""The beginning of the line before an answer."""
_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{([A-Za-z][A-Za-z0-9_]*)\}")


@dataclass(frozen=True, slots=True)
class Template:
    """A text with placeholders: literal pieces, each followed by the name of a placeholder or by nothing."""

    pieces: tuple[tuple[str, str | None], ...]

    @classmethod
    def parse(cls, text: str, known: Set[str]) -> Self:
        """Return the template of a text in which `{name}` is a placeholder, and `{{`, `}}` are braces.

        Other braces, as in an example of JSON, stay as they are; so does a `}}` without a `{{`.

        Raises:
            ValueError: a placeholder that is not in `known`; its argument is the name.
        """
        pieces: list[tuple[str, str | None]] = []
        literal, position, doubled = "", 0, 0
        for found in _PLACEHOLDER.finditer(text):
            literal += text[position : found.start()]
            position = found.end()
            name = found[1]
            if name is None:
                doubled += 1 if found[0] == "{{" else -1
                literal += found[0][0] if doubled >= 0 else found[0]
                doubled = max(doubled, 0)
            elif name in known:
                pieces.append((literal, name))
                literal = ""
            else:
                raise ValueError(name)
        pieces.append((literal + text[position:], None))
        return cls(tuple(pieces))

    @classmethod
    def parse_format(cls, text: str, known: Set[str]) -> Self:
        """Return the template of a text that was written for Python's `str.format`, as FastChat's prompts are.

        Raises:
            ValueError: a placeholder that is not in `known` or has a format of its own, or braces that do not match.
        """
        pieces: list[tuple[str, str | None]] = []
        for literal, name, form, conversion in string.Formatter().parse(text):
            if name is not None and (name not in known or form or conversion):
                raise ValueError(f"{{{name}{'!' if conversion else ''}{conversion or ''}{':' if form else ''}{form}}}")
            pieces.append((literal, name))
        return cls(tuple(pieces))

    @classmethod
    def parse_named(cls, text: str, names: Mapping[str, str]) -> Self:
        """Return the template of a text with another project's placeholders; `names` maps them to ours.

        Everything else in braces, and every other brace, is text.
        """
        pieces: list[tuple[str, str | None]] = []
        position = 0
        for found in re.finditer("|".join(re.escape(f"{{{name}}}") for name in names), text):
            pieces.append((text[position : found.start()], names[found[0][1:-1]]))
            position = found.end()
        return cls((*pieces, (text[position:], None)))

    @property
    def names(self) -> frozenset[str]:
        """The placeholders that occur."""
        return frozenset(name for _, name in self.pieces if name is not None)

    def fill(self, values: Mapping[str, str]) -> str:
        """Return the text with every placeholder replaced by its value; a missing value is a `KeyError`."""
        return "".join(literal + (values[name] if name is not None else "") for literal, name in self.pieces)


def fenced(text: str, *, judge_set: str, question: str) -> str:
    """Return the text, neutralised, between two marker lines that it cannot contain.

    The marker is derived from the judge set, the question and the text itself, so it repeats exactly from run to run,
    and a text that quotes a marker changes its own.
    """
    text = neutralised(text)
    salt = 0
    while True:
        marker = content_hash(judge_set, question, text, salt)[:12]
        if marker not in text:
            return f"{FENCE}{marker}>>>\n{text}\n<<<end {marker}>>>"
        salt += 1
