"""Texts to tokens, for every language.

    words("Az Őrség, 3.5 km")    -> ("az", "őrség", "3", "5", "km")
    words("猫坐在GPU上。")         -> ("猫", "坐", "在", "gpu", "上")

`words` takes runs of letters, marks and digits, in small letters; of scripts that put no spaces
between words every character is a token. On English texts without accents these are the tokens of
Google's rouge-score. Nothing is stemmed.
"""

import functools
import unicodedata

import regex

Tokens = tuple[str, ...]

_SPACELESS = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_WORDS = regex.compile(
    rf"[{_SPACELESS}]\p{{M}}*|[[\p{{L}}\p{{M}}\p{{N}}]--[{_SPACELESS}]]+", regex.VERSION1
)


@functools.lru_cache(4096)
def words(text: str) -> Tokens:
    """Return the words of a text in any language, in small letters."""
    return tuple(_WORDS.findall(unicodedata.normalize("NFC", text).lower()))
