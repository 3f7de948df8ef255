"""The parts of a reply as its readers would count them: words, sentences, lines, list items.

    parts("sentences", "Dr. Ito came. She left!")        ["Dr. Ito came.", "She left!"]

Text is taken as Markdown. Chinese and Japanese have no spaces between words: each character is a
word.
"""

import re
from collections.abc import Callable, Iterator

import regex

from harness.errors import near

CJK = r"\p{Han}\p{Hiragana}\p{Katakana}ー"
LETTER = r"\p{L}\p{M}\p{N}"
_RUN = rf"[[{LETTER}_]--[{CJK}]]+"
_WORD = regex.compile(rf"[{CJK}]|{_RUN}(?:(?:['’.\-‐‑]|(?<=\d)[,:/](?=\d)){_RUN})*", regex.VERSION1)
_LETTER = regex.compile(rf"[{LETTER}]")
_HEADING = re.compile(r"^[ \t]{0,3}#{1,6}(?:[ \t]+(.*))?$", re.M)
_BULLET = re.compile(r"\s*[-*+•‣◦▪–·]\s+(?=\S)|\s*[•‣◦▪]")
_ITEM = re.compile(
    r"\s*(?:\*\*)?(?:(?P<open>[(（])?(?P<number>\d{1,4}|[０-９]{1,3}|[a-zA-Z])[.)．）、](?!\d)"
    r"|[一二三四五六七八九十]{1,3}、|[①-⑳])\s*"
)
_NUMBERED = re.compile(r"[*_]*\d{1,4}[.)]?[*_]*")
_RULER = r"[ \t\r]*(?:\|[ \t]*)?:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*(?:\|[ \t\r]*)?"
_NO_TEXT = re.compile(
    r"\s*(?:(?:```|~~~).*|(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,}|(?:=\s*){3,}"
    rf"|(?=.*\|){_RULER})?"
)
"""Lines that are blank, code fences, horizontal rules and table rulers."""
_TABLE = re.compile(rf"^[^\n|]*+\|.*\n{_RULER}(?:\n[^\n|]*+\|.*)*+$", re.M)
_HIGHLIGHT = re.compile(r"\*\*(?!\s)([^\n*]+)\*\*|(?<!\*)\*(?!\s)([^\n*]+)\*(?!\*)")
_CLOSERS = r"[\"'”’»」』）)\]*_]*"
_WIDE_END = re.compile(rf"[。！？｡।॥؟۔።։។။]+{_CLOSERS}")
_SENTENCE_END = re.compile(rf"(?:[.!?…]+|[。！？｡।॥؟۔።։።។]+){_CLOSERS}")
_BEFORE_WORD = r"(?:^|[\s(\"“„«])"
_ABBREVIATION = re.compile(
    _BEFORE_WORD
    + r"(?:Mr|Mrs|Ms|[Dd]r|[Pp]rof|St|Mt|Capt|Lt|Rev|Hon|Gen|Col|Sgt|Sr|Sra|Sig|Mme|Mlle|Hr|Fr|Ing|"
    r"ifj|özv|[Ee]\.g|[Ii]\.e|cf|vs|ca|bzw|z\. ?B|d\. ?h|[Pp]l|[Kk]b|ún|ill|(?!I)[A-ZÀ-ÞА-Я]|"
    r"(?:[A-Z]\.)+[A-Z])$"
)
_BEFORE_NUMBER = re.compile(
    _BEFORE_WORD + r"(?:[Nn]os?|[Nn]r|[Ff]ig|[Vv]ol|[Pp]p?|[Cc]h|[Aa]rt|[Ss]ec|approx|[Kk]b)$"
)


def words(text: str) -> list[str]:
    """Return runs of letters and digits, apostrophes and hyphens; of Chinese, each character."""
    return [str(word) for word in _WORD.findall(text)]


def characters(text: str) -> list[str]:
    """Return the characters, spaces too, ends of lines not."""
    return [character for character in text if character not in "\n\r"]


def lines(text: str) -> list[str]:
    """Return the lines with content: not blank, and no rule, code fence or table ruler."""
    return [line.strip() for line in text.splitlines() if not _NO_TEXT.fullmatch(line)]


def headings(text: str) -> list[str]:
    """Return the Markdown headings, without their marks."""
    return [heading.strip() for heading in _HEADING.findall(text)]


def paragraphs(text: str) -> list[str]:
    """Return the blocks between blank lines; headings and rules alone do not count."""
    blocks = re.split(r"\n\s*\n", text)
    return [
        block.strip() for block in blocks if any(not _HEADING.match(line) for line in lines(block))
    ]


def bullets(text: str) -> list[str]:
    """Return the points of unnumbered lists, each with the lines that belong to it."""
    return [
        piece
        for mark, piece in _pieces(text)
        if mark and mark.re is _BULLET and not _NO_TEXT.fullmatch(mark.string)
    ]


def items(text: str) -> list[str]:
    """Return the points of numbered lists, each with the lines that belong to it.

    A row of a table that begins with a number is one too. Lines that begin with "(4)" are a list
    only if the first of them is "(1)" and there are at least two: else they refer to numbers of the
    question.
    """
    points = [(mark, piece) for mark, piece in _pieces(text) if mark and mark.re is _ITEM]
    bracketed = [mark["number"] for mark, _ in points if mark["open"]]
    is_list = len(bracketed) > 1 and bracketed[0] in "1１aA"
    texts = [piece for mark, piece in points if is_list or not mark["open"]]
    rows = [row for table in tables(text) for row in table[1:]]
    return texts + [row for row in rows if _NUMBERED.fullmatch(cells_of(row)[0])]


def highlights(text: str) -> list[str]:
    """Return the texts between *asterisks* or **pairs of them**."""
    texts = [strong or plain for strong, plain in _HIGHLIGHT.findall(text)]
    return [text for text in texts if text.strip()]


def sentences(text: str) -> list[str]:
    """Return the sentences; a heading, a signature or a line that ends in a colon is not one.

    A sentence ends neither at an abbreviation or an initial, nor where the text continues in lower
    case, and never reaches across a blank line or into the next point of a list.
    """
    texts = []
    for _, piece in _pieces(text):
        begin = 0
        for match in _SENTENCE_END.finditer(piece):
            if _ends_sentence(piece, begin, match):
                texts.append(piece[begin : match.end()].strip())
                begin = match.end()
    return [sentence for sentence in texts if _LETTER.search(sentence)]


UNITS: dict[str, Callable[[str], list[str]]] = {
    function.__name__: function
    for function in (
        *(characters, words, sentences, lines, paragraphs),
        *(headings, bullets, items, highlights),
    )
}
"""The units by name."""


def plural(unit: str) -> str:
    """Return a unit's name for several of it, whichever was written.

    Raises:
        ValueError: there is no such unit.
    """
    name = unit if unit in UNITS else f"{unit}s"
    if name not in UNITS:
        raise ValueError(f"no unit {unit!r}{near(unit, UNITS)}")
    return name


def singular(unit: str) -> str:
    """Return a unit's name for one of it."""
    return plural(unit).removesuffix("s")


def counted(number: int, unit: str) -> str:
    """Return a number with its unit: "1 word", "3 words"."""
    return f"{number} {singular(unit) if number == 1 else plural(unit)}"


def parts(unit: str, text: str) -> list[str]:
    """Return the parts of a text."""
    return UNITS[plural(unit)](text)


def tables(text: str) -> list[list[str]]:
    """Return the Markdown tables, each as its lines: the header, then the rows."""
    blocks = [match[0].splitlines() for match in _TABLE.finditer(text)]
    return [[line.strip() for line in (header, *rows)] for header, _, *rows in blocks]


def cells_of(row: str) -> list[str]:
    """Return the cells of one line of a table."""
    inner = row.strip().removeprefix("|").removesuffix("|")
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", inner)]


def after_mark(text: str) -> str:
    """Return a text from its first letter or digit on: marks, bullets and numbers are skipped."""
    item = _ITEM.match(text) or _BULLET.match(text)
    rest = text[item.end() :] if item and item.end() < len(text) else text
    first = _LETTER.search(rest)
    return rest[first.start() :] if first else ""


def _pieces(text: str) -> Iterator[tuple[re.Match[str] | None, str]]:
    """Yield the stretches between list marks, headings and blank lines, each with its list mark."""
    mark, piece = None, list[str]()
    for line in [*text.splitlines(), ""]:
        begin = _ITEM.match(line) or _BULLET.match(line)
        if begin or _HEADING.match(line) or not line.strip():
            yield mark, "\n".join(piece).strip()
            mark, piece = begin, [line[begin.end() :]] if begin else []
        else:
            piece.append(line)


def _ends_sentence(text: str, begin: int, match: re.Match[str]) -> bool:
    """Return whether a mark ends the sentence that began at `begin`."""
    if match.end() >= len(text) or _WIDE_END.fullmatch(match[0]):
        return True
    if not text[match.end()].isspace():
        return False
    rest = text[match.end() : match.end() + 40].lstrip(" \t\r\n*_\"“„«'‘(-–—")
    if rest[:1].islower():
        return False
    before = text[max(begin, match.start() - 12) : match.start()]
    short = _ABBREVIATION.search(before) or (rest[:1].isdigit() and _BEFORE_NUMBER.search(before))
    return match[0] != "." or not short
