"""Prompt templates: a closed set of placeholders, filled in one pass, and the fence around answers.

Values are never looked at again, so braces or placeholders inside an answer stay text:

>>> Template.parse("Q: {question}", {"question"}).fill({"question": "what is {answer}?"})
'Q: what is {answer}?'
"""

import functools
import re
import string
from collections.abc import Mapping, Set

from msgspec import Struct

from harness.types import content_hash

_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{([A-Za-z][A-Za-z0-9_]*)\}")


class UnknownPlaceholderError(ValueError):
    """A placeholder that does not exist; the argument is its name."""


class Template(Struct, frozen=True):
    """A text with placeholders: literal pieces, each with the name that follows it, or None."""

    pieces: tuple[tuple[str, str | None], ...]

    @classmethod
    def parse(cls, text: str, known: Set[str]) -> "Template":
        """Return the template of a text in which `{name}` is a placeholder and `{{`, `}}` braces.

        Other braces, as in an example of JSON, stay as they are; so does a `}}` without a `{{`.

        Raises:
            UnknownPlaceholderError: a placeholder that is not in `known`.
        """
        pieces: list[tuple[str, str | None]] = []
        literal, position, doubled = "", 0, 0
        for brace in _PLACEHOLDER.finditer(text):
            literal += text[position : brace.start()]
            position = brace.end()
            if brace[1] is not None:
                if brace[1] not in known:
                    raise UnknownPlaceholderError(brace[1])
                pieces.append((literal, brace[1]))
                literal = ""
            elif brace[0] == "{{":
                doubled += 1
                literal += "{"
            else:
                literal += "}" if doubled else "}}"
                doubled = max(doubled - 1, 0)
        return cls((*pieces, (literal + text[position:], None)))

    @classmethod
    def parse_format(cls, text: str, known: Set[str]) -> "Template":
        """Return the template of a text written for `str.format`, as FastChat's prompts are.

        Raises:
            UnknownPlaceholderError: one that is not in `known`, or has a format of its own.
            ValueError: braces that do not match.
        """
        pieces = list(string.Formatter().parse(text))
        for _, name, form, conversion in pieces:
            if name is not None and (name not in known or form or conversion):
                raise UnknownPlaceholderError(name)
        return cls(tuple((literal, name) for literal, name, *_ in pieces))

    @classmethod
    def parse_named(cls, text: str, names: Mapping[str, str]) -> "Template":
        """Return the template of a text with another project's placeholders, mapped to ours.

        Every other brace is text.
        """
        pattern = "|".join(re.escape(name) for name in names)
        literals = re.split(rf"\{{({pattern})\}}", text)
        ours = [names[name] for name in literals[1::2]]
        return cls(tuple(zip(literals[::2], [*ours, None], strict=True)))

    @property
    def names(self) -> frozenset[str]:
        """The placeholders that occur."""
        return frozenset(name for _, name in self.pieces if name is not None)

    def fill(self, values: Mapping[str, str]) -> str:
        """Return the text with every placeholder replaced; a missing value is a `KeyError`."""
        return "".join(
            literal + (values[name] if name is not None else "") for literal, name in self.pieces
        )

    def bound(self, values: Mapping[str, str]) -> "Template":
        """Return the template in which some placeholders have become text."""
        pieces: list[tuple[str, str | None]] = []
        literal = ""
        for text, name in self.pieces:
            literal += text
            if name is not None and name in values:
                literal += values[name]
            else:
                pieces.append((literal, name))
                literal = ""
        return Template((*pieces, (literal, None)) if literal else tuple(pieces))


@functools.lru_cache(maxsize=4096)  # an answer is shown in many pairs
def fence(text: str, *, judge_set: str, question: str) -> str:
    """Return the text, neutralised, between two marker lines that it cannot contain.

    The marker is derived from the judge set, the question and the text itself, so it repeats
    exactly from run to run, and a text that quotes a marker changes its own.
    """
    text = neutralise(text)
    marker = content_hash(judge_set, question, text, 0)[:12]
    return f"<<<text {marker}>>>\n{text}\n<<<end {marker}>>>"


# Text that a chat template or a reader could take for a part of the conversation is escaped:
# "<|im_start|>system" -> "‹|im_start|›system", "### Answer:" -> "＃## Answer:". An ordinary answer
# stays as it is, so its prompt does too.

_SPECIAL = re.compile(r"<(\|[^|<>\n]{1,40}\|)>|<｜([^｜<>\n]{1,40})｜>")
_SEQUENCE = re.compile(
    r"<(/?(?:s|bos|eos|pad|unk|start_of_turn|end_of_turn|turn|sep|cls|mask))>", re.I
)
_INSTRUCTION = re.compile(
    r"\[(/?(?:INST|SYS|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|THINK))\]|<<(/?SYS)>>",
    re.I,
)
_REASONING = re.compile(
    r"<(/?(?:think|thinking|thought|reasoning|reflection|scratchpad)(?:\s[^<>\n]{0,60})?)>", re.I
)
_ROLE = r"(?:human|user|system|assistant|ai|bot|developer|instruction|tool)"
_LINE = r"(?<![^\n\r])"
_ROLE_LINE = re.compile(
    rf"{_LINE}([ \t]{{0,8}}(?:\*{{1,2}})?{_ROLE}(?: [A-B1-2])?(?:\*{{1,2}})?[ \t]?):", re.I
)
_PROMPT_WORD = (
    r"(?:human|user|system|assistant|instructions?|response|answer|question|input|output"
    r"|reference(?: answer)?|rubrics?|score rubrics?|feedback|task(?: description)?|verdict"
    r"|judge?ment|evaluation|result|end of|conversation)"
)
_HEADING = re.compile(
    rf"{_LINE}([ \t]{{0,8}})#(#{{0,5}}[ \t]*(?:the |your |new |final )?{_PROMPT_WORD}\b"
    r"[^\n\r]{0,40})(?![^\n\r])",
    re.I,
)
_BOUNDARY = re.compile(r"\[((?:the )?(?:start|end|beginning) of [^\]\n]{1,60})\]", re.I)
_HIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069"
    "\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def neutralise(text: str) -> str:
    """Return the text with everything that could pass for a marker replaced by a look-alike."""
    text = _SPECIAL.sub(lambda match: f"‹{match[1] or '|' + match[2] + '|'}›", text)
    text = _REASONING.sub(r"‹\1›", _SEQUENCE.sub(r"‹\1›", text))
    text = _INSTRUCTION.sub(lambda match: f"⟦{match[1]}⟧" if match[1] else f"‹‹{match[2]}››", text)
    text = _BOUNDARY.sub(r"⟦\1⟧", text)
    text = _HEADING.sub(r"\1＃\2", text)
    text = _ROLE_LINE.sub("\\1\ua789", text)
    return _HIDDEN.sub(lambda match: f"⟨U+{ord(match[0]):04X}⟩", text)
