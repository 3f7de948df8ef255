"""Texts to tokens, for every language.

    words("Az Őrség, 3.5 km")    -> ("az", "őrség", "3", "5", "km")
    words("猫坐在GPU上。")         -> ("猫", "坐", "在", "gpu", "上")

`words` takes runs of letters, marks and digits, in small letters; of scripts that put no spaces
between words every character is a token. On English texts without accents these are the tokens of
Google's rouge-score. Nothing is stemmed.
"""

import functools
import logging
import unicodedata
from collections.abc import Callable

import regex

from harness.errors import UsageError

Tokens = tuple[str, ...]

_SPACELESS = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_WORDS = regex.compile(
    rf"[{_SPACELESS}]\p{{M}}*|[[\p{{L}}\p{{M}}\p{{N}}]--[{_SPACELESS}]]+", regex.VERSION1
)


@functools.lru_cache(4096)
def words(text: str) -> Tokens:
    """Return the words of a text in any language, in small letters."""
    return tuple(_WORDS.findall(unicodedata.normalize("NFC", text).lower()))


def characters(text: str) -> Tokens:
    """Return every character that is not a space, in small letters."""
    return tuple("".join(unicodedata.normalize("NFC", text).lower().split()))


def whitespace(text: str) -> Tokens:
    """Return the text split at spaces."""
    return tuple(text.split())


@functools.lru_cache(4096)
def jieba_words(text: str) -> Tokens:
    """Return the words that jieba finds in a Chinese text, spaces left out.

    Raises:
        UsageError: jieba is not installed.
    """
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # its expressions, on newer Pythons
            import jieba
    except ImportError:
        raise UsageError(
            "the tokenizer jieba needs the extra [colossalai]: pip install 'turnbench[colossalai]'"
        ) from None
    jieba.setLogLevel(logging.WARNING)
    return tuple(" ".join(jieba.cut(text)).split())


TOKENIZERS: dict[str, Callable[[str], Tokens]] = {
    "words": words,
    "characters": characters,
    "whitespace": whitespace,
    "jieba": jieba_words,
}
