"""A part of a reply, what a check finds in it, and the form in which texts are compared.

>>> normal("about **80\\\\,\\\\pi** cm, $4{,}600$ in all")
'about 80 π cm, 4,600 in all'
"""

import functools
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import regex


class MissingPartError(ValueError):
    """A reply or a conversation has no such part; the text says which."""


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
    run_code: bool = False
    """Whether code of the reply may be run, in the sandbox."""

    @property
    def before(self) -> str:
        """The model's reply before this one."""
        if not self.earlier:
            raise MissingPartError("there is no earlier reply")
        return self.earlier[-1]


_NARROW = [
    *("\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f"),
    *map(chr, range(0x2080, 0x208A)),  # subscript digits
    *map(chr, (0xFF05, *range(0xFF10, 0xFF1A), *range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B))),
]
_CHARACTERS = str.maketrans(
    {character: unicodedata.normalize("NFKC", character) for character in _NARROW}
    | dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad", "")
    | dict.fromkeys("‘’‛ʼ", "'")
    | dict.fromkeys("“”„‟", '"')
    | dict.fromkeys("−‐‑", "-")
    | dict.fromkeys("⟶⟹⇒➜➔➝", "→")
    | {"⇄": "⇌", "⁄": "/", "º": "°", "˚": "°"}
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
_WRAPPED = [
    (r"\\(?:text\w*|math\w+|operatorname|boxed|emph|mbox|ce|mathop)\s*\{([^{}]*)\}", r"\1"),
    (r"(?<=\w)_\{(\w+)\}", r"\1"),
    (r"(?<=[A-Z)])_(\d)", r"\1"),
    (r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}", r"\1/\2"),
]
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
        text = _replaced(text, _BEFORE_COMMANDS)
        for _ in range(4):  # braces within braces
            text = _replaced(text, _WRAPPED)
        text = regex.sub(r"\\([A-Za-z]+)(\s?)", _command, text)
    return _replaced(text, _AFTER_COMMANDS)


def _replaced(text: str, replacements: Sequence[tuple[str, str]]) -> str:
    for pattern, by in replacements:
        text = regex.sub(pattern, by, text)
    return text


def _command(match: "regex.Match[str]") -> str:
    name = str(match[1])
    return _COMMANDS[name] + str(match[2]) if name in _COMMANDS else str(match[0])
