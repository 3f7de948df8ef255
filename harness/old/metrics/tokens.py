"""Texts to tokens, for every language.

    words("Az Őrség, 3.5 km")    -> ("az", "őrség", "3", "5", "km")
    words("猫坐在GPU上。")         -> ("猫", "坐", "在", "gpu", "上")

`words` takes runs of letters, their marks and digits, in small letters; of scripts that put no spaces between words
(Chinese, Japanese, Thai, Lao, Khmer, Burmese) every character is a token. On English texts without accents these are
the tokens of Google's rouge-score. Nothing is stemmed.
"""

import functools
import unicodedata
from collections.abc import Callable

import regex

from harness.old.metrics.segmentation import jieba_segmenter

Tokens = tuple[str, ...]
Tokenize = Callable[[str], Tokens]

REMEMBERED = 4096
"""Texts whose tokens are kept: what several metrics read one after the other is cut once."""
_SPACELESS = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_WORDS = regex.compile(rf"[{_SPACELESS}]\p{{M}}*|[[\p{{L}}\p{{M}}\p{{N}}]--[{_SPACELESS}]]+", regex.VERSION1)


@functools.lru_cache(REMEMBERED)
def words(text: str) -> Tokens:
    """Return the words of a text in any language, in small letters."""
    return tuple(_WORDS.findall(unicodedata.normalize("NFC", text).lower()))


def characters(text: str) -> Tokens:
    """Return every character that is not a space, in small letters."""
    return tuple("".join(unicodedata.normalize("NFC", text).lower().split()))


def whitespace(text: str) -> Tokens:
    """Return the text split at spaces."""
    return tuple(text.split())


@functools.lru_cache(REMEMBERED)
def jieba_words(text: str) -> Tokens:
    """Return the words that jieba finds in a Chinese text, spaces left out.

    Raises:
        UsageError: the extra [zh] is not installed.
    """
    return tuple(" ".join(jieba_segmenter().cut(text)).split())


TOKENIZERS: dict[str, Tokenize] = {
    "words": words,
    "characters": characters,
    "whitespace": whitespace,
    "jieba": jieba_words,
}
