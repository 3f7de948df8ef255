"""Words, sentences and tokens of a text in English or Chinese, as the built-in models count them.

A Han character or a kana counts as one word; the rest is cut at spaces and marks.

>>> words("Don't pay 1,780 euros: 明天再说。")
("don't", 'pay', '1,780', 'euros', '明', '天', '再', '说')
"""

import functools
import pathlib
import re

HAN = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_NUMBER = r"\d+(?:[.,]\d+)*"
_WORD = re.compile(
    rf"[{HAN}]|{_NUMBER}|[^\W\d_{HAN}][^\W_{HAN}]*(?:['\u2019][^\W_{HAN}]+)*|[^\W_{HAN}]+"
)
_TOKEN = re.compile(rf"[{HAN}]|[^\W_{HAN}]+|[^\w\s]|_")
_FENCE = re.compile(r"```[^\n`]*\n(.*?)(?:```|\Z)", re.DOTALL)
_LIST_MARK = re.compile(
    r"^\s*(?:[-*\u2022\u00b7\u25aa]|\(?\d{1,3}[.)\u3001\uff09]|[a-zA-Z][.)])\s+", re.MULTILINE
)
_SENTENCE_END = re.compile(
    r"[.!?]+[\"'\u201d\u2019)\]*]*(?=\s|\Z)|[\u3002\uff01\uff1f]+[\u201d\u2019\u300d\uff09]*"
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|st|no|vs|etc|e\.g|i\.e|cf|approx|prof|fig|jr|sr)"
    r"|(?-i:(?:^|[\s(])[A-Z]))\.$",
    re.IGNORECASE,
)
STOP_WORDS = frozenset(
    pathlib.Path(__file__).with_name("stop_words.txt").read_text(encoding="utf-8").split()
)
"""Words without a meaning of their own, Han characters among them."""


@functools.lru_cache(maxsize=8192)
def words(text: str) -> tuple[str, ...]:
    """Return the words in lower case; Han characters and kana singly."""
    return tuple(_WORD.findall(text.replace("\u2019", "'").lower()))


def count_tokens(text: str) -> int:
    """Return an estimate: one token a word, number, Han character and punctuation mark."""
    return len(_TOKEN.findall(text))


def cut_tokens(text: str, most: int) -> str:
    """Return the beginning of a text with at most this many estimated tokens."""
    for index, match in enumerate(_TOKEN.finditer(text)):
        if index == most:
            return text[: match.start()].rstrip()
    return text


def is_chinese(text: str) -> bool:
    """Return whether Han characters are at least a third of the words."""
    total = len(words(text))
    han = sum(re.fullmatch(f"[{HAN}]", word) is not None for word in words(text))
    return total > 0 and 3 * han >= total


def prose(text: str) -> str:
    """Return a text without its fenced code."""
    return _FENCE.sub("\n", text) if "```" in text else text


@functools.lru_cache(maxsize=8192)
def sentences(text: str) -> tuple[str, ...]:
    """Return the sentences of the prose; the end of a heading or a list item ends one too."""
    result: list[str] = []
    for line in prose(text).splitlines():
        bare = _LIST_MARK.sub("", line).strip()
        start = 0
        for match in _SENTENCE_END.finditer(bare):
            piece = bare[start : match.end()].strip()
            if _ABBREVIATION.search(piece) and match.end() < len(bare):
                continue
            if piece:
                result.append(piece)
            start = match.end()
        rest = bare[start:].strip()
        if re.search(r"\w", rest):
            result.append(rest)
    return tuple(result)
