"""The parts of a reply as its readers would count them: words, sentences, lines, bullets, rows.

    spans_of("sentences", Passage.whole("Dr. Ito came. She left!"))   [Span(0, 13), Span(14, 23)]

Text is taken as Markdown. Chinese and Japanese have no spaces between words: each character is a
word. Every function is linear in the length of the text.
"""

import itertools
import re
from collections.abc import Callable, Iterator
from typing import TypeAlias

import msgspec
import regex

from harness.extras.checks.passage import Passage, Span


class Split(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The parts between the occurrences of a text, as a unit."""

    split: str


Unit: TypeAlias = str | Split

CJK = r"\p{Han}\p{Hiragana}\p{Katakana}ー"
LETTER = r"\p{L}\p{M}\p{N}"
_RUN = rf"[[{LETTER}_]--[{CJK}]]+"
_WORD = regex.compile(rf"[{CJK}]|{_RUN}(?:(?:['’.\-‐‑]|(?<=\d)[,:/](?=\d)){_RUN})*", regex.VERSION1)
_LETTERS = regex.compile(rf"[{LETTER}]")
_LINE = re.compile(r"[^\n\r\v\f\x85\u2028\u2029]+")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_RULE = re.compile(r"\s*(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,}|(?:=\s*){3,})$")
_HEADING = re.compile(r"\s{0,3}#{1,6}(?:\s|$)")
_BULLET = re.compile(r"\s*[-*+•‣◦▪–·]\s+(?=\S)|\s*[•‣◦▪]")
_ITEM = re.compile(
    r"\s*(?:\*\*)?(?:(?P<open>[(（])?(?P<number>\d{1,4}|[０-９]{1,3}|[a-zA-Z])[.)．）、](?!\d)"
    r"|[一二三四五六七八九十]{1,3}、|[①-⑳])\s*"
)
_NUMBERED = re.compile(r"[*_]*\d{1,4}[.)]?[*_]*")
_RULER = re.compile(r"\s*(?:\|\s*)?:?-+:?\s*(?:\|\s*:?-+:?\s*)*(?:\|\s*)?$")
_CODE = re.compile(r"^[ \t]*(`{3,}+|~{3,}+)[^\n]*+\n(.*?)(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.M | re.S)
_QUOTE = re.compile(
    r'"([^"\n]+)"|“([^“”]+)”|„([^„“”"]+)[“”"]|«([^«»]+)»|»([^«»]+)«|「([^「」]+)」|『([^『』]+)』'
)
_HIGHLIGHT = re.compile(r"\*\*(?!\s)([^\n*]+)\*\*|(?<!\*)\*(?!\s)([^\n*]+)\*(?!\*)")
_PLACEHOLDER = re.compile(r"\[[^\[\]\n]*\]")
_CLOSERS = r"[\"'”’»」』）)\]*_]*"
_WIDE_END = re.compile(rf"[。！？｡।॥؟۔።։။។]+{_CLOSERS}")
_SENTENCE_END = re.compile(rf"(?:[.!?…]+|[。！？｡।॥؟۔።։။។]+){_CLOSERS}")
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


def words(passage: Passage) -> list[Span]:
    """Return runs of letters and digits, apostrophes and hyphens; of Chinese, each character."""
    return _matches(_WORD, passage)


def characters(passage: Passage) -> list[Span]:
    """Return the characters, spaces too, ends of lines not."""
    return [Span(n, n + 1) for n in range(*passage.span) if passage.reply[n] not in "\n\r"]


def letters(passage: Passage) -> list[Span]:
    """Return the letters and digits."""
    return _matches(_LETTERS, passage)


def capital_words(passage: Passage) -> list[Span]:
    """Return the words entirely in capitals."""
    return [span for span in words(passage) if passage.at(span).isupper()]


def lines(passage: Passage) -> list[Span]:
    """Return the lines with content: not blank, and no rule, code fence or table ruler."""
    return [
        _trimmed(passage, line)
        for line in _raw_lines(passage)
        if (text := passage.at(line)).strip()
        and not (_FENCE.match(text) or _RULE.match(text) or ("|" in text and _RULER.match(text)))
    ]


def headings(passage: Passage) -> list[Span]:
    """Return the Markdown headings, without their marks."""
    found = []
    for line in _raw_lines(passage):
        if match := _HEADING.match(passage.at(line)):
            found.append(_trimmed(passage, Span(line.start + match.end(), line.end)))
    return found


def paragraphs(passage: Passage) -> list[Span]:
    """Return the blocks between blank lines; headings and rules alone do not count."""
    return [
        _trimmed(passage, block)
        for block in _blocks(passage)
        if any(not _HEADING.match(passage.at(line)) for line in lines(passage.part(*block)))
    ]


def bullets(passage: Passage) -> list[Span]:
    """Return the points of unnumbered lists, each with the lines that belong to it."""
    return [span for span, _ in _points(passage, _BULLET)]


def items(passage: Passage) -> list[Span]:
    """Return the points of numbered lists, each with the lines that belong to it.

    A row of a table that begins with a number is one too. Lines that begin with "(4)" are a list
    only from "(1)" on, and at least two of them: else they refer to numbers of the question.
    """
    points = _points(passage, _ITEM)
    bracketed = [at for at, (_, mark) in enumerate(points) if mark["open"]]
    refer = set(bracketed) - set(
        _runs(bracketed, [str(points[at][1]["number"]) for at in bracketed])
    )
    found = [span for at, (span, _) in enumerate(points) if at not in refer]
    for row in rows(passage):
        first = cells_of(passage, row)[0]
        if _NUMBERED.fullmatch(passage.at(first)):
            found.append(row)
    return sorted(found)


def rows(passage: Passage) -> list[Span]:
    """Return the rows of the Markdown tables, headers left out."""
    return [row for table in tables(passage) for row in table[1:]]


def cells(passage: Passage) -> list[Span]:
    """Return the cells of those rows."""
    return [cell for row in rows(passage) for cell in cells_of(passage, row)]


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

    A sentence ends neither at an abbreviation or an initial, nor where the text continues in lower
    case, and never reaches across a blank line or into the next point of a list.
    """
    found = []
    for block in _segments(passage):
        begin = block.start
        for match in _SENTENCE_END.finditer(passage.reply, *block):
            if _ends_sentence(passage.reply, begin, match, block.end):
                span = _trimmed(passage, Span(begin, match.end()))
                begin = match.end()
                if _LETTERS.search(passage.reply, *span):
                    found.append(span)
    return found


UNITS: dict[str, Callable[[Passage], list[Span]]] = {
    function.__name__: function
    for function in (
        *(characters, letters, words, capital_words, sentences, lines, paragraphs, headings),
        *(bullets, items, rows, cells, code, quotes, highlights, placeholders),
    )
}
"""The units by name."""


def full_name(unit: str) -> str | None:
    """Return a unit's name in the plural, whichever was written; None if there is no such unit."""
    return next((name for name in (unit, f"{unit}s") if name in UNITS), None)


def plural(unit: Unit) -> str:
    """Return a unit's name for several of it."""
    if isinstance(unit, Split):
        return f"parts between {unit.split!r}"
    name = full_name(unit) or unit
    return {"code": "blocks of code", "capital_words": "words in capitals"}.get(name, name)


def singular(unit: Unit) -> str:
    """Return a unit's name for one of it."""
    first, blank, rest = plural(unit).partition(" ")
    return first.removesuffix("s") + blank + rest


def counted(number: int, unit: Unit) -> str:
    """Return a number with its unit: "1 word", "3 words"."""
    return f"{number} {singular(unit) if number == 1 else plural(unit)}"


def spans_of(unit: Unit, passage: Passage) -> list[Span]:
    """Return where the parts of a passage are."""
    if isinstance(unit, Split):
        return _split(passage, unit.split)
    return UNITS[full_name(unit) or unit](passage)


def tables(passage: Passage) -> list[list[Span]]:
    """Return the Markdown tables, each as its lines: the header, then the rows."""
    every = _raw_lines(passage)
    found: list[list[Span]] = []
    number = 0
    while number + 1 < len(every):
        header, ruler = (passage.at(span) for span in every[number : number + 2])
        if "|" in header and "-" in ruler and _RULER.match(ruler):
            last = number + 1
            while (
                last + 1 < len(every)
                and "|" in passage.at(every[last + 1])
                and _adjoin(passage, every[last], every[last + 1])
            ):
                last += 1
            body = every[number + 2 : last + 1]
            found.append([_trimmed(passage, span) for span in (every[number], *body)])
            number = last + 1
        else:
            number += 1
    return found


def cells_of(passage: Passage, row: Span) -> list[Span]:
    """Return the cells of one line of a table."""
    marks = re.finditer(r"\\.|\|", passage.at(row))
    bars = [row.start - 1, *(row.start + m.start() for m in marks if m[0] == "|"), row.end]
    found = [_trimmed(passage, Span(a + 1, b)) for a, b in itertools.pairwise(bars)]
    begins, ends = passage.reply[row.start] == "|", passage.reply[row.end - 1] == "|"
    return found[1 if begins else 0 : -1 if ends and len(found) > 1 else None]


def after_mark(text: str) -> str:
    """Return a text from its first letter or digit on: marks, bullets and numbers are skipped."""
    item = _ITEM.match(text) or _BULLET.match(text)
    rest = text[item.end() :] if item and item.end() < len(text) else text
    first = _LETTERS.search(rest)
    return rest[first.start() :] if first else ""


def _matches(pattern: "re.Pattern[str] | regex.Pattern[str]", passage: Passage) -> list[Span]:
    """Return what a pattern matches: of one with groups, the last group in a match."""
    found = pattern.finditer(passage.reply, *passage.span)
    return [Span(*match.span(match.lastindex or 0)) for match in found]


def _trimmed(passage: Passage, span: Span) -> Span:
    text = passage.at(span)
    start = span.start + len(text) - len(text.lstrip())
    return Span(start, max(start, span.start + len(text.rstrip())))


def _raw_lines(passage: Passage) -> list[Span]:
    return _matches(_LINE, passage)


def _adjoin(passage: Passage, first: Span, second: Span) -> bool:
    """Return whether no blank line is between two lines."""
    return passage.reply.count("\n", first.end, second.start) <= 1


def _blocks(passage: Passage) -> list[Span]:
    """Return the runs of lines with no blank one between them."""
    found: list[Span] = []
    last: Span | None = None
    for line in _raw_lines(passage):
        if not passage.at(line).strip():
            last = None
            continue
        if last is not None and _adjoin(passage, last, line):
            found[-1] = Span(found[-1].start, line.end)
        else:
            found.append(line)
        last = line
    return found


def _points(passage: Passage, mark: re.Pattern[str]) -> list[tuple[Span, re.Match[str]]]:
    """Return the points of a list: a line with the mark, and those after it that belong to it."""
    found: list[tuple[Span, re.Match[str]]] = []
    for block in _blocks(passage):
        inside = False
        for line in _raw_lines(passage.part(*block)):
            text = passage.at(line)
            match = mark.match(text)
            if match and not _RULE.match(text):
                found.append((Span(line.start + match.end(), line.end), match))
                inside = True
            elif inside and not (_BULLET.match(text) or _ITEM.match(text) or _HEADING.match(text)):
                found[-1] = (Span(found[-1][0].start, line.end), found[-1][1])
            else:
                inside = False
    return [(_trimmed(passage, span), match) for span, match in found]


def _runs(places: list[int], numbers: list[str]) -> Iterator[int]:
    """Yield the places whose numbers are a run from 1 (or a) on of two or more."""
    run: list[int] = []
    last = 0
    for place, number in zip([*places, -1], [*numbers, ""], strict=True):
        value = int(number) if number.isdecimal() else ord(number.lower() or "`") - ord("`")
        if not (run and value == last + 1):
            yield from run if len(run) > 1 else ()
            run = []
        if run or value == 1:
            run.append(place)
        last = value


def _segments(passage: Passage) -> Iterator[Span]:
    """Yield the stretches that sentences do not reach across, without marks of lists."""
    for block in _blocks(passage):
        begin: int | None = None
        for line in _raw_lines(passage.part(*block)):
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
    """Return whether a mark ends the sentence that began at `begin`, in a stretch up to `end`."""
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
    found, begin = [], passage.span.start
    for piece in passage.text.split(mark):
        if piece.strip():
            found.append(_trimmed(passage, Span(begin, begin + len(piece))))
        begin += len(piece) + len(mark)
    return found
