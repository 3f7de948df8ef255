"""About how many tokens a text has, without a tokenizer: most models' are not to be had.

A text is cut into words, numbers, symbols and letters of other scripts, and each piece has a
weight: its mean tokens in the vocabularies of a family of models. The weights are a least-squares
fit to the texts of `tests/running/token_texts.toml`, whose counts by six real tokenizers are
recorded there; on a few hundred characters and more they are within 15%.

>>> round(text_tokens("Prices rose by 12%."))       # 3 words, a number, a run of symbols
5
"""

import functools
import re
from collections.abc import Sequence
from typing import NamedTuple

from harness.types import Message

FRAME = 4
"""Tokens that a message takes beyond its text."""
_LONG_WORD = 6
_LONG_TEXT = 50_000
"""Characters beyond which a text is taken to go on as it began."""
_PIECES = re.compile(
    r"(?P<word>[^\W\d_\u0370-\uffff]+)|(?P<digits>\d{1,3})|(?P<newline>[ \t]*\n\s*)"
    r"|(?P<indent>[ \t]{2,})|(?P<han>[\u3400-\u9fff\uf900-\ufaff])|(?P<kana>[\u3040-\u30ff])"
    r"|(?P<hangul>[\uac00-\ud7a3])|(?P<other>[\u0370-\u1dff])|(?P<symbol>[^\w\s]+)"
)


class Weights(NamedTuple):
    """Tokens of each kind of piece."""

    word: float
    long: float
    """Each letter of a word beyond the sixth."""
    accent: float
    """Each letter with an accent, besides its word."""
    digits: float
    """Each three digits."""
    newline: float
    indent: float
    han: float
    kana: float
    hangul: float
    other: float
    """A letter of another script, such as Cyrillic."""
    symbol: float
    """A run of symbols."""
    more: float
    """Each symbol of a run but the first."""


_FAMILIES = (
    # gpt-3.5, gpt-4; gpt-4o and later; Claude up to Opus 4.6 (Claude 2's counts); Claude from Opus
    # 4.7 on, by its maker's word 30% more for Latin letters; Qwen, DeepSeek; Mistral
    (
        r"(?:ft:)?gpt-(?:3\.5|4(?![o.\d]))",
        Weights(0.90, 0.38, 2.21, 1.39, 0.76, 0.4, 1.18, 0.97, 1.32, 0.58, 0.91, 0.23),
    ),
    (
        r"(?:ft:)?(?:chat)?gpt-|o\d(?:-|$)",
        Weights(0.88, 0.21, 1.71, 1.27, 0.81, 0.4, 0.76, 0.70, 0.79, 0.33, 1.02, 0.24),
    ),
    (
        r"claude-(?:3|instant|2|(?:opus|sonnet|haiku)-4(?:-[0-6](?!\d)|-\d{8}|$))",
        Weights(0.92, 0.44, 2.65, 1.11, 0.90, 0.4, 1.06, 1.05, 1.46, 0.62, 0.94, 0.29),
    ),
    (
        r"claude-",
        Weights(1.20, 0.57, 3.10, 1.44, 1.17, 0.5, 1.06, 1.05, 1.46, 0.80, 1.22, 0.38),
    ),
    (
        r"(?i:.*(?:qwen|qwq|deepseek))",
        Weights(0.90, 0.38, 2.07, 1.63, 0.84, 0.4, 0.57, 0.68, 0.94, 0.42, 0.94, 0.25),
    ),
    (
        r"(?i:.*(?:mistral|ministral|mixtral|magistral|codestral))",
        Weights(0.88, 0.26, 1.55, 1.79, 0.93, 0.4, 0.88, 0.61, 0.67, 0.36, 1.06, 0.25),
    ),
)
_OTHERS = Weights(0.89, 0.30, 1.85, 1.55, 0.85, 0.4, 0.70, 0.67, 0.83, 0.38, 0.99, 0.25)
"""The middle of the newer vocabularies."""


@functools.cache
def weights_of(model: str) -> Weights:
    """Return the weights of a model's family, by its name."""
    return next((weights for pattern, weights in _FAMILIES if re.match(pattern, model)), _OTHERS)


def text_tokens(text: str, model: str = "") -> float:
    """Return about how many tokens a text has for a model."""
    if len(text) > _LONG_TEXT:
        return _tokens(text[:_LONG_TEXT], model) * len(text) / _LONG_TEXT
    return _tokens(text, model)


def prompt_tokens(messages: Sequence[Message], model: str = "") -> float:
    """Return about how many tokens the messages of a request have."""
    return sum(text_tokens(message.content, model) + FRAME for message in messages)


@functools.lru_cache(512)
def _tokens(text: str, model: str) -> float:
    weights = weights_of(model)
    total = 0.0
    for piece in _PIECES.finditer(text):
        kind, length = piece.lastgroup or "", piece.end() - piece.start()
        total += getattr(weights, kind)
        if kind == "word":
            total += max(0, length - _LONG_WORD) * weights.long
            if not (word := piece[0]).isascii():
                total += sum(letter > "\x7f" for letter in word) * weights.accent
        elif kind == "symbol":
            total += (length - 1) * weights.more
    return total
