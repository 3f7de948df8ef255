"""About how many tokens a text has, without a tokenizer: most models' are not to be had.

A text is cut into words, numbers, symbols and letters of other scripts, and each piece has a
weight: its mean tokens in the vocabularies of a family of models. The weights of `tokens.toml` are
a least-squares fit to the texts of `tests/running/token_texts.toml`, whose counts by six real
tokenizers are recorded there; on a few hundred characters and more they are within 15%.

>>> round(text_tokens("Prices rose by 12%."))       # 3 words, a number, a run of symbols
5
"""

import functools
import pathlib
import re
import tomllib
from collections.abc import Sequence

from harness.types import Message

FRAME = 4
"""Tokens that a message takes beyond its text."""
_LONG_WORD = 6
_PIECES = re.compile(
    r"(?P<word>[^\W\d_\u0370-\uffff]+)|(?P<digits>\d{1,3})|(?P<newline>[ \t]*\n\s*)"
    r"|(?P<indent>[ \t]{2,})|(?P<han>[\u3400-\u9fff\uf900-\ufaff])|(?P<kana>[\u3040-\u30ff])"
    r"|(?P<hangul>[\uac00-\ud7a3])|(?P<other>[\u0370-\u1dff])|(?P<symbol>[^\w\s]+)"
)


@functools.cache
def weights_of(model: str) -> dict[str, float]:
    """Return the weights of a model's family, by its name."""
    text = pathlib.Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    families = tomllib.loads(text)["family"]
    weights: dict[str, float] = next(
        family["weights"] for family in families if re.match(family["models"], model)
    )
    return weights


def prompt_tokens(messages: Sequence[Message], model: str = "") -> float:
    """Return about how many tokens the messages of a request have."""
    return sum(text_tokens(message.content, model) + FRAME for message in messages)


@functools.lru_cache(512)
def text_tokens(text: str, model: str = "") -> float:
    """Return about how many tokens a text has for a model."""
    weights = weights_of(model)
    total = 0.0
    for piece in _PIECES.finditer(text):
        kind, length = piece.lastgroup or "", piece.end() - piece.start()
        total += weights[kind]
        if kind == "word":
            total += max(0, length - _LONG_WORD) * weights["long"]
            if not (word := piece[0]).isascii():
                total += sum(letter > "\x7f" for letter in word) * weights["accent"]
        elif kind == "symbol":
            total += (length - 1) * weights["more"]
    return total
