"""The parts of a text, as its readers would count them: words, sentences, lines, bullets, rows, quotes ...

    spans_of("sentences", Passage.whole("Dr. Ito came. She left!"))     [Span(0, 13), Span(14, 23)]

Text is taken as Markdown as models write it. Chinese and Japanese have no spaces between words: each character is a
word. Every function here is linear in the length of the text.
"""

import itertools
import re
from collections.abc import Callable, Iterator

from harness.old.checks.check import Passage, Span, Split, Unit
from harness.old.patterns import late_re

CJK = "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Characters of Chinese and Japanese, each of which counts as a word."""
LETTER = (  # \w lacks the vowel signs that letters of these scripts carry: Hebrew, Arabic, those of India, Thai, ...
    r"\w\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0900-\u0963\u0966-\u0dff\u0e31-\u0e4e\u0eb1-\u0ece"
    r"\u0f71-\u0f84\u1000-\u109f\u17b4-\u17d3"
)
_RUN = f"(?:(?![{CJK}])[{LETTER}])+"
_WORD = late_re(rf"[{CJK}]|{_RUN}(?:(?:['’.\-‐‑]|(?<=\d)[,:/](?=\d)){_RUN})*")
_LETTERS = late_re(rf"[{LETTER}]")
_LINE = late_re(r"[^\n\r\v\f\x85\u2028\u2029]+")
_FENCE = late_re(r"\s*(?:```|~~~)")
_RULE = late_re(r"\s*(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,}|(?:=\s*){3,})$")
_HEADING = late_re(r"\s{0,3}#{1,6}(?:\s|$)")
_BULLET = late_re(r"\s*[-*+•‣◦▪–·]\s+(?=\S)|\s*[•‣◦▪]")
_ITEM = late_re(
    r"\s*(?:\*\*)?[(（]?(?:\d{1,4}|[０-９]{1,3}|[a-zA-Z])[.)．）、](?!\d)\s*|\s*[一二三四五六七八九十]{1,3}、\s*|\s*[①-⑳]\s*"
)
_DELIMITER = late_re(r"\s*(?:\|\s*)?:?-+:?\s*(?:\|\s*:?-+:?\s*)*(?:\|\s*)?$")
_CODE = late_re(r"^[ \t]*(`{3,}+|~{3,}+)[^\n]*+\n(.*?)(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.M | re.S)
_QUOTE = late_re(r'"([^"\n]+)"|“([^“”]+)”|„([^„“”"]+)[“”"]|«([^«»]+)»|»([^«»]+)«|「([^「」]+)」|『([^『』]+)』')
_HIGHLIGHT = late_re(r"\*\*(?!\s)([^\n*]+)\*\*|(?<!\*)\*(?!\s)([^\n*]+)\*(?!\*)")
_PLACEHOLDER = late_re(r"\[[^\[\]\n]*\]")
_CLOSERS = r"[\"'”’»」』）)\]*_]*"
_WIDE_END = late_re(rf"[。！？｡।॥؟۔።։။។]+{_CLOSERS}")
_SENTENCE_END = late_re(rf"(?:[.!?…]+|[。！？｡।॥؟۔።։။។]+){_CLOSERS}")
_BEFORE_WORD = r"(?:^|[\s(\"“„«])"
_ABBREVIATION = late_re(
    _BEFORE_WORD
    + r"(?:Mr|Mrs|Ms|[Dd]r|[Pp]rof|St|Mt|Capt|Lt|Rev|Hon|Gen|Col|Sgt|Sr|Sra|Sig|Mme|Mlle|Hr|Fr|Ing|ifj|özv|"
    r"[Ee]\.g|[Ii]\.e|cf|vs|ca|bzw|z\. ?B|d\. ?h|[Pp]l|[Kk]b|ún|ill|(?!I)[A-ZÀ-ÞА-Я]|(?:[A-Z]\.)+[A-Z])$"
)
_BEFORE_NUMBER = late_re(_BEFORE_WORD + r"(?:[Nn]os?|[Nn]r|[Ff]ig|[Vv]ol|[Pp]p?|[Cc]h|[Aa]rt|[Ss]ec|approx|[Kk]b)$")


def words(passage: Passage) -> list[Span]:
    """Return the words: runs of letters and digits with apostrophes and hyphens in them; of Chinese, each character."""
    return _matches(_WORD, passage)


def characters(passage: Passage) -> list[Span]:
    """Return the characters, spaces too, ends of lines not."""
    start, end = passage.span
    return [Span(n, n + 1) for n in range(start, end) if passage.text[n] not in "\n\r"]


def letters(passage: Passage) -> list[Span]:
    """Return the letters and digits."""
    return _matches(_LETTERS, passage)


def capital_words(passage: Passage) -> list[Span]:
    """Return the words entirely in capitals."""
    return [span for span in words(passage) if passage.at(span).isupper()]


def lines(passage: Passage) -> list[Span]:
    """Return the lines with content: not blank, and no rule, code fence or table ruler."""
    found = []
    for span in _raw_lines(passage):
        line = passage.at(span)
        if line.strip() and not (_FENCE.match(line) or _RULE.match(line) or ("|" in line and _DELIMITER.match(line))):
            found.append(_trimmed(passage.text, span))
    return found


def headings(passage: Passage) -> list[Span]:
    """Return the Markdown headings."""
    return [span for span in _raw_lines(passage) if _HEADING.match(passage.at(span))]


def paragraphs(passage: Passage) -> list[Span]:
    """Return the blocks between blank lines; headings and rules alone do not count."""
    found = []
    for block in _blocks(passage):
        if any(not _HEADING.match(passage.at(line)) for line in lines(passage.part(block))):
            found.append(_trimmed(passage.text, block))
    return found


def bullets(passage: Passage) -> list[Span]:
    """Return the points of unnumbered lists, each with the lines that belong to it, without its mark."""
    return _list(passage, _BULLET)


def items(passage: Passage) -> list[Span]:
    """Return the points of numbered lists, each with the lines that belong to it, without its number."""
    return _list(passage, _ITEM)


def rows(passage: Passage) -> list[Span]:
    """Return the rows of the Markdown tables, headers left out."""
    return [row for table in tables(passage) for row in table[1:]]


def cells(passage: Passage) -> list[Span]:
    """Return the cells of those rows."""
    return [cell for row in rows(passage) for cell in cells_of(passage.text, row)]


def code(passage: Passage) -> list[Span]:
    """Return the contents of fenced code blocks."""
    return _matches(_CODE, passage)


def quotes(passage: Passage) -> list[Span]:
    """Return the texts in quotation marks."""
    return _matches(_QUOTE, passage)


def highlights(passage: Passage) -> list[Span]:
    """Return the texts between *asterisks* or **pairs of them**."""
    return [span for span in _matches(_HIGHLIGHT, passage) if passage.at(span).strip()]


def placeholders(passage: Passage) -> list[Span]:
    """Return the texts in [square brackets], with the brackets."""
    return _matches(_PLACEHOLDER, passage)


def sentences(passage: Passage) -> list[Span]:
    """Return the sentences; a heading, a signature or a line that ends in a colon is not one.

    A sentence ends neither at an abbreviation or an initial, nor where the text continues in lower case, and never
    reaches across a blank line or into the next point of a list.
    """
    found = []
    for block in _segments(passage):
        begin = block.start
        for match in _SENTENCE_END.finditer(passage.text, *block):
            if _ends_sentence(passage.text, begin, match, block.end):
                span = _trimmed(passage.text, Span(begin, match.end()))
                begin = match.end()
                if _LETTERS.search(passage.text, *span):
                    found.append(span)
    return found


UNITS: dict[str, Callable[[Passage], list[Span]]] = {
    function.__name__: function
    for function in (
        *(characters, letters, words, capital_words, sentences, lines, paragraphs, headings, bullets, items),
        *(rows, cells, code, quotes, highlights, placeholders),
    )
}
"""The units by name."""


def full_name(unit: str) -> str | None:
    """Return a unit's name in the plural, whichever was written; None if there is no such unit."""
    return next((name for name in (unit, f"{unit}s") if name in UNITS), None)


def singular(unit: Unit) -> str:
    """Return a unit's name for one of it."""
    first, blank, rest = plural(unit).partition(" ")
    return first.removesuffix("s") + blank + rest


def plural(unit: Unit) -> str:
    """Return a unit's name for several of it."""
    if isinstance(unit, Split):
        return f"parts between {unit.split!r}"
    name = full_name(unit) or unit
    return {"code": "blocks of code", "capital_words": "words in capitals"}.get(name, name)


def spans_of(unit: Unit, passage: Passage) -> list[Span]:
    """Return where the parts of a passage are."""
    if isinstance(unit, Split):
        return _split(passage, unit.split)
    name = full_name(unit)
    assert name is not None
    return UNITS[name](passage)


def tables(passage: Passage) -> list[list[Span]]:
    """Return the Markdown tables, each as its lines: the header, then the rows (the ruler is left out)."""
    every = _raw_lines(passage)
    found: list[list[Span]] = []
    number = 0
    while number + 1 < len(every):
        header, ruler = (passage.at(span) for span in every[number : number + 2])
        if "|" in header and "-" in ruler and _DELIMITER.match(ruler):
            body = number + 2
            while (
                body < len(every) and "|" in passage.at(every[body]) and _adjoin(passage, *every[body - 1 : body + 1])
            ):
                body += 1
            found.append([_trimmed(passage.text, span) for span in (every[number], *every[number + 2 : body])])
            number = body
        else:
            number += 1
    return found


def cells_of(text: str, row: Span) -> list[Span]:
    """Return the cells of one line of a table."""
    bars = [row.start - 1]
    escaped = False
    for place in range(row.start, row.end):
        if text[place] == "|" and not escaped:
            bars.append(place)
        escaped = text[place] == "\\" and not escaped
    bars.append(row.end)
    found = [_trimmed(text, Span(a + 1, b)) for a, b in itertools.pairwise(bars)]
    begins, ends = text[row.start] == "|", text[row.end - 1] == "|"
    return found[1 if begins else 0 : -1 if ends and len(found) > 1 else None]


def first_letters(text: str) -> str:
    """Return a text from its first letter or digit on: marks, bullets and numbers of lists are skipped."""
    item = _ITEM.match(text) or _BULLET.match(text)
    rest = text[item.end() :] if item and item.end() < len(text) else text
    first = _LETTERS.search(rest)
    return rest[first.start() :].lstrip("_") if first else ""


def _matches(pattern: re.Pattern[str], passage: Passage) -> list[Span]:
    """Return what a pattern matches: of one with groups, the last group in a match."""
    return [Span(*match.span(match.lastindex or 0)) for match in pattern.finditer(passage.text, *passage.span)]


def _trimmed(text: str, span: Span) -> Span:
    said = text[span.start : span.end]
    start = span.start + len(said) - len(said.lstrip())
    return Span(start, max(start, span.start + len(said.rstrip())))


def _raw_lines(passage: Passage) -> list[Span]:
    return _matches(_LINE, passage)


def _adjoin(passage: Passage, first: Span, second: Span) -> bool:
    """Return whether no blank line is between two lines."""
    return passage.text.count("\n", first.end, second.start) <= 1


def _blocks(passage: Passage) -> list[Span]:
    """Return the runs of lines with no blank one between them."""
    found: list[Span] = []
    for line in _raw_lines(passage):
        if not passage.at(line).strip():
            continue
        between = passage.text[found[-1].end : line.start] if found else ""
        if found and not between.strip("\r\n") and _adjoin(passage, found[-1], line):
            found[-1] = Span(found[-1].start, line.end)
        else:
            found.append(line)
    return found


def _list(passage: Passage, mark: re.Pattern[str]) -> list[Span]:
    """Return the points of a list: a line with the mark, and the lines after it till a blank one or a new point."""
    found: list[Span] = []
    for block in _blocks(passage):
        inside = False
        for line in _raw_lines(passage.part(block)):
            text = passage.at(line)
            match = mark.match(text)
            if match and not _RULE.match(text):
                found.append(Span(line.start + match.end(), line.end))
                inside = True
            elif inside and not (_BULLET.match(text) or _ITEM.match(text) or _HEADING.match(text)):
                found[-1] = Span(found[-1].start, line.end)
            else:
                inside = False
    return [_trimmed(passage.text, span) for span in found]


def _segments(passage: Passage) -> Iterator[Span]:
    """Yield the stretches that sentences do not reach across, without the marks of lists; headings are left out."""
    for block in _blocks(passage):
        begin: int | None = None
        for line in _raw_lines(passage.part(block)):
            text = passage.at(line)
            mark = _ITEM.match(text) or _BULLET.match(text)
            heading = _HEADING.match(text)
            if (mark or heading) and begin is not None:
                yield Span(begin, line.start)
                begin = None
            if not heading and begin is None:
                begin = line.start + (mark.end() if mark else 0)
        if begin is not None:
            yield Span(begin, block.end)


def _ends_sentence(text: str, begin: int, match: re.Match[str], end: int) -> bool:
    """Return whether a mark ends the sentence that began at `begin`, in a stretch that ends at `end`."""
    if match.end() >= end or _WIDE_END.fullmatch(match[0]):
        return True
    if not text[match.end()].isspace():
        return False
    rest = text[match.end() : min(end, match.end() + 40)].lstrip(" \t\r\n*_\"“„«'‘(-–—")
    if rest[:1].islower():
        return False
    before = text[max(begin, match.start() - 12) : match.start()]
    short = _ABBREVIATION.search(before) or (rest[:1].isdigit() and _BEFORE_NUMBER.search(before))
    return match[0] != "." or not short


def _split(passage: Passage, mark: str) -> list[Span]:
    """Return the parts between the occurrences of a text that are not empty."""
    begin, found = passage.span.start, []
    while (place := passage.text.find(mark, begin, passage.span.end)) >= 0:
        found.append(Span(begin, place))
        begin = place + len(mark)
    found.append(Span(begin, passage.span.end))
    return [_trimmed(passage.text, span) for span in found if passage.at(span).strip()]
