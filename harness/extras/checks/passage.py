"""A part of a reply, what a check finds in it, and the form in which texts are compared.

>>> normal("about **80\\\\,\\\\pi** cm, $4{,}600$ in all")
'about 80 π cm, 4,600 in all'
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import regex

if TYPE_CHECKING:
    from harness.extras.checks.sandbox import Sandbox


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one check finds in one reply."""

    passed: bool | None
    """None: not decided, since its code may not be run."""
    reason: str = ""
    """If it fails, what was found instead, in a few words."""


PASSED = Outcome(True)


@dataclass(frozen=True, slots=True)
class Passage:
    """A reply, or the part of it that a check looks at, and the conversation before it."""

    text: str
    questions: Sequence[str] = ()
    """The user's turns up to the one that the reply answers."""
    earlier: Sequence[str] = ()
    """The model's earlier replies."""
    sandbox: "Sandbox | None" = None
    """Where code of the reply may be run."""


_CHARACTERS = str.maketrans(
    dict.fromkeys(
        "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f", " "
    )
    | dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad", "")
    | dict.fromkeys("‘’‛ʼ", "'")
    | dict.fromkeys("“”„‟", '"')
    | dict.fromkeys("−‐‑", "-")
    | dict.fromkeys("⟶⟹⇒➜➔➝", "→")
    | {"⇄": "⇌", "⁄": "/", "％": "%", "º": "°", "˚": "°"}
    | {
        chr(code): str(digit)
        for start in (0x2080, 0xFF10)
        for digit, code in enumerate(range(start, start + 10))
    }
    | {chr(code): chr(code - 0xFEE0) for code in (*range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B))}
)
"""Subscript and wide digits, wide letters, the many spaces, quotation marks, hyphens, arrows."""
_COMMANDS = {
    "times": "×", "cdot": "·", "div": "÷", "pm": "±", "pi": "π", "degree": "°", "circ": "°",
    "percent": "%", "le": "≤", "leq": "≤", "ge": "≥", "geq": "≥", "lt": "<", "gt": ">",
    "ne": "≠", "neq": "≠", "approx": "≈", "sim": "~", "to": "→", "rightarrow": "→",
    "longrightarrow": "→", "Rightarrow": "→", "Longrightarrow": "→", "implies": "→",
    "xrightarrow": "→", "rightleftharpoons": "⇌", "ldots": "…", "dots": "…", "quad": " ",
    "qquad": " ", "left": "", "right": "", "big": "", "Big": "", "displaystyle": "",
}  # fmt: skip
_BEFORE_COMMANDS = [
    (r"\{,\}", ","),
    (r"\\[,;:> ]", " "),
    (r"\\!", ""),
    (r"\\([%$#&*.~|<>_-])", r"\1"),
    (r"\^\s*\{?\s*\\circ\s*\}?", "°"),
    (r"\\[()\[\]]|\$\$", ""),
    (r"\$(?! )([^$\n]+)(?<! )\$(?!\d)", r"\1"),
]
_WRAPPED = (
    r"\\(?:text\w*|math\w+|operatorname|boxed|emph|mbox|ce|mathop)\s*\{([^{}]*)\}",
    r"(?<=\w)_\{(\w+)\}|(?<=[A-Z)])_(\d)",
    r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}",
)
_AFTER_COMMANDS = [
    (r"</?(?:sub|b|strong|i|em|u)>", ""),
    (r"&nbsp;|<br ?/?>", " "),
    (r"-{1,2}>", "→"),
    (r"\*\*(?! )([^\n]+?)\*\*", r"\1"),
    (r"__(?! )([^\n]+?)__", r"\1"),
    (r"(?<![\w*])\*(?![ *])([^*\n]+?)(?<! )\*(?![\w*])", r"\1"),
    (r"(?<!\w)_(?! )([^_\n]+?)(?<! )_(?!\w)", r"\1"),
    (r"`([^`\n]+)`", r"\1"),
    (r"[ \t]+", " "),
]


@functools.lru_cache(4096)
def normal(text: str) -> str:
    """Return a text without what looks different and reads alike.

    LaTeX becomes plain text (spaces, braces, percent, degrees, arrows, `\\text`, fractions as
    a/b), emphasis and code marks go, and spaces, quotation marks, hyphens and wide digits become
    the usual ones.
    """
    text = text.translate(_CHARACTERS)
    if "\\" in text or "$" in text or "{" in text or "_" in text:
        for pattern, by in _BEFORE_COMMANDS:
            text = regex.sub(pattern, by, text)
        text = _unwrapped(text)
        text = regex.sub(r"\\([A-Za-z]+)(\s?)", _command, text)
    for pattern, by in _AFTER_COMMANDS:
        text = regex.sub(pattern, by, text)
    return text


def _unwrapped(text: str) -> str:
    """Return a text with the contents of LaTeX's braces in their place, to a depth of four."""
    wrapper, subscript, fraction = _WRAPPED
    for _ in range(4):
        before = text
        text = regex.sub(wrapper, r"\1", text)
        text = regex.sub(subscript, lambda match: match[1] or match[2], text)
        text = regex.sub(fraction, r"\1/\2", text)
        if text == before:
            break
    return text


def _command(match: "regex.Match[str]") -> str:
    name = str(match[1])
    return _COMMANDS[name] + str(match[2]) if name in _COMMANDS else str(match[0])
