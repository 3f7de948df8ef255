r"""What a judge says, apart from what it only shows: reasoning is cut off, and shown passages are taken out.

    'The answer ends with "Rating: [[10]]". Rating: [[2]]'    ->  'The answer ends with <shown>. Rating: [[2]]'

Quotation marks of every kind, code, block quotes and HTML comments show; struck text is withdrawn and leaves nothing.
Marks around a bare verdict (`[[7]]` in backticks) may be decoration: it stays, and the two signs around it say so.
"""

import re
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from harness.judging.verdicts.brackets import Fault

SHOWN, DECORATED, OBJECT = "\ue000", "\ue001", "\ue002"
"""Signs for a passage that was taken out, for the ends of a decorated verdict, and for an object (`objects`)."""

_FOLDED = str.maketrans(
    {
        **{chr(0xFF10 + n): str(n) for n in range(10)},
        **{chr(0xFF21 + n): chr(0x41 + n) for n in range(26)},
        **{chr(0xFF41 + n): chr(0x61 + n) for n in range(26)},
        **dict(zip("［］【】〔〕（）：／．，；＝～＂？！｡", "[][][]()" + ':/.,;=~"?!。', strict=True)),
        **dict.fromkeys("\u00a0\u2007\u2009\u200a\u202f\u3000\u2028\u2029\u0085\x0b\x0c", " "),
        **dict.fromkeys("⟦〚", "[["),
        **dict.fromkeys("⟧〛", "]]"),
        **dict.fromkeys("*\r\u200b\u200c\u200d\u2060\ufeff\u00ad" + "\u200e\u200f\u061c"),
        **dict.fromkeys(map(chr, range(0xE000, 0xE040))),  # our own signs
        **dict.fromkeys("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"),
        "−": "-",
        "؟": "?",
    }
)
# A tag in code or quotation marks is talked about, not used.
_REASONED = re.compile(
    r"(?<![`\"'“‘])(?:</(?:think|thinking|thought)>|\[/THINK\]|<\|channel\|>final<\|message\|>)", re.I
)
_REASONS = re.compile(r"^[ \t]*(?:<(?:think|thinking|thought)>|\[THINK\]|<\|channel\|>analysis)", re.I | re.M)


def spoken(text: str) -> str | Fault:
    """Return what follows the judge's reasoning. Reasoning left open has no end, so nothing follows it."""
    ends = deque(_REASONED.finditer(text), maxlen=1)
    rest = text[ends[0].end() :] if ends else text
    return Fault("the text ends inside its reasoning") if _REASONS.search(rest) else rest


def folded_text(text: str) -> str:
    """Return a text in plain characters: without emphasis and invisible ones, with plain brackets, digits, blanks."""
    return text.translate(_FOLDED)


def _plain_marks(text: str) -> str:
    """Return a folded text with the notations of quotation marks and double brackets made one."""
    if "&" in text:
        text = re.sub(r"&(?:quot|#34|ldquo|rdquo);", '"', text)
    if "\\" in text:
        text = re.sub(r"\\n(?=(?:\\n|[\s\"'`]){0,9}\[\[)", "\n", text)  # escaped once too often
        text = re.sub(r"\\([\"'])|\\[a-zA-Z]{2,10}(?={)", r"\1", text)
        text = re.sub(r"\\?\[ ?\\?\[", "[[", re.sub(r"\\?\] ?\\?\]", "]]", text))
    text = text.replace("[ [", "[[").replace("] ]", "]]")
    if "''" in text:
        text = re.sub(r"``([^`\n]{0,300}?)''", r"“\1”", text).replace("''", '"')
    return re.sub(r"(?<![^\W_])_+|_+(?![^\W_])", "", text)  # emphasis, but not within a name


class _Span(NamedTuple):
    """A shown passage; its inside is what stands between its marks."""

    start: int
    end: int
    kind: str
    inside: str


# Where a token can begin comes first, so that most of a text is passed over quickly.
_TOKEN = re.compile(
    r"(?:^|(?=[-`~<\[\"“”„«»‹›「」『』〝〟《》〈〉‘’‚'\n]))(?:"
    r"(?P<fence>^[ \t]*(?:[-+] |[0-9]{1,3}\. )?(?:`{3,}(?=[^`\n]*$)|~{3,}(?=[^~\n]*$))[^\n]*$)"
    r"|(?P<block>^[ \t]*>[^\n]*)"
    r"|(?P<ticks>`+)"
    r"|(?P<strike>~~)"
    r"|(?P<tag></?(?:blockquote|q|pre|code|s|del|strike)>|<!--|-->)"
    r"|(?P<start>(?:\[|<\|)The Start of [^\]|\n]{1,60}(?:\]|\|>))"
    r"|(?P<end>(?:\[|<\|)The End of [^\]|\n]{1,60}(?:\]|\|>))"
    r"|(?P<mark>[\"“”„«»‹›「」『』〝〟《》〈〉‘’‚'])"
    r"|(?P<paragraph>\n[ \t]*(?=\n)))",
    re.M | re.I,
)
_CLOSERS = {
    '"': '"',
    "“": '”"',
    "„": "“”",
    "”": "”",
    "«": "»",
    "»": "«»",
    "‹": "›",
    "›": "‹›",
    "〝": "〟",
    "「": "」",
    "『": "』",
    "《": "》",
    "〈": "〉",
    "‘": "’",
    "‚": "‘’",
    "'": "'",
}
_MAY_NOT_OPEN = "”»›‘'‚"
"""Marks that are also something else: left open, they hide nothing."""
_WITHDRAWN = ("s", "del", "strike", "~~")
_WHOLE = re.compile(r"\s*```[\w-]*[ \t]*\n((?:(?!```).)*?)\s*(?:```)?\s*", re.S)
_TAGS = re.compile(r"</?[a-z_]{1,12}>|<\|[^|>\n]{0,40}\|>", re.I)


def said(text: str, is_bare: Callable[[str], bool]) -> str:
    """Return a folded text without its shown passages; `is_bare` knows a verdict that has no other word beside it."""
    text = _plain_marks(text)
    whole = _WHOLE.fullmatch(text) if text.lstrip().startswith("```") else None
    text = whole[1] if whole else text  # a block around all of a reply quotes nobody
    pieces: list[str] = []
    place = 0
    for span in _shown(text):
        pieces += [text[place : span.start], _instead(span, is_bare)]
        place = span.end
    made = _TAGS.sub("", "".join([*pieces, text[place:]]))
    made = re.sub(r"\[\[[^\[\]\n]{0,60}\]\] ?(?:-{1,2}>|=>|→|⇒)", "", made)  # what an arrow leads away from
    return re.sub(r":[ \t]*\n\s*", ": ", made)  # a line that ends with a colon announces the next one


def _instead(span: _Span, is_bare: Callable[[str], bool]) -> str:
    """Return what a shown passage leaves in the text: itself if it is a bare verdict, a sign, or nothing."""
    if span.kind in _WITHDRAWN:
        return ""
    inside = span.inside.strip()
    if len(inside) < 100 and span.kind in ("fence", "ticks", "mark", "code") and is_bare(inside.rstrip(".")):
        if inside.startswith(OBJECT):
            return inside if span.kind == "fence" else SHOWN
        return f"{DECORATED}{inside}{DECORATED}"
    return SHOWN + ("." if inside.endswith((".", "!", "?", "。")) else "")


def _shown(text: str) -> list[_Span]:
    """Return the outermost shown passages of a text, in order."""
    tokens = list(_TOKEN.finditer(text))
    partners = _partners(tokens)
    spans: list[_Span] = []
    opened: dict[str, re.Match[str]] = {}
    done = 0
    for index, token in enumerate(tokens):
        kind = token.lastgroup or ""
        if token.start() < done:
            continue
        if kind in ("fence", "ticks"):
            close = tokens[partners[index]] if index in partners else None
            if close or kind == "fence":
                done = close.end() if close else len(text)
                inside = text[token.end() : close.start() if close else done]
                spans.append(_Span(token.start(), done, kind, inside))
        elif kind == "block":
            spans.append(_Span(token.start(), token.end(), kind, ""))
        elif kind == "paragraph":
            opened.pop("~~", None)
        elif kind:
            closed = _closed_by(text, token, opened)
            if closed is not None:
                start = opened.pop(closed)
                name = closed if kind != "mark" else kind
                spans.append(_Span(start.start(), token.end(), name, text[start.end() : token.start()]))
            elif _opens(text, token):
                opened.setdefault(_name(token), token)
    for name, token in opened.items():  # cut off inside of it
        if name not in _MAY_NOT_OPEN and name != "~~":
            spans.append(_Span(token.start(), len(text), "open", ""))
    return _outermost(spans)


def _outermost(spans: list[_Span]) -> list[_Span]:
    kept: list[_Span] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if not kept or span.start >= kept[-1].end:
            kept.append(span)
        elif span.end > kept[-1].end:  # two that overlap show all that either does
            kept[-1] = kept[-1]._replace(end=span.end, kind="open")
    return kept


def _partners(tokens: list[re.Match[str]]) -> dict[int, int]:
    """Return for each code fence the one that closes it, for each run of backticks the next one as long."""
    partners: dict[int, int] = {}
    ticks: dict[int, int] = {}
    fences: dict[str, list[tuple[int, int]]] = {"`": [], "~": []}
    for index in range(len(tokens) - 1, -1, -1):
        kind, line = tokens[index].lastgroup, tokens[index][0].strip()
        if kind in ("paragraph", "fence"):
            ticks.clear()
        if kind == "fence":
            mark = line.lstrip("-+.0123456789 ")
            length = len(mark) - len(mark.lstrip(mark[0]))
            closers = fences[mark[0]]
            close = next((later for later, long in reversed(closers[-20:]) if long >= length), None)
            if close is not None:
                partners[index] = close
            if not line.strip(mark[0]):
                closers.append((index, length))
        elif kind == "ticks":
            if len(line) in ticks:
                partners[index] = ticks[len(line)]
            ticks[len(line)] = index
    return partners


def _name(token: re.Match[str]) -> str:
    """Return what a token opens or closes: a mark itself, the name of a tag, or an answer."""
    if token.lastgroup == "tag":
        return token[0].lower().strip("</>!")
    return "answer" if token.lastgroup in ("start", "end") else token[0]


def _closed_by(text: str, token: re.Match[str], opened: dict[str, re.Match[str]]) -> str | None:
    """Return the name of what this token closes; None if it closes nothing."""
    if token.lastgroup != "mark":
        closes = token.lastgroup in ("strike", "end") or token[0].startswith(("</", "-->"))
        return _name(token) if closes and _name(token) in opened else None
    before, after = text[token.start() - 1 : token.start()], text[token.end() : token.end() + 1]
    if token[0] == '"' and (after.isalnum() or after in ("[", "{")) and not before.strip(" \n([:"):
        return None  # can only open
    for name in [mark for mark in opened if token[0] in _CLOSERS.get(mark, "")]:
        if name not in "'‘‚":
            return name
        # An apostrophe looks the same: a quotation in single marks is short, on one line, and ends with a word.
        inner = text[opened[name].end() : token.start()] if token.start() - opened[name].end() <= 300 else "\n"
        if "\n" not in inner and before.strip() and not after.isalnum():
            return name
    return None


def _opens(text: str, token: re.Match[str]) -> bool:
    if token.lastgroup != "mark":
        return token.lastgroup in ("strike", "start") or not token[0].startswith(("</", "-->"))
    before, after = text[token.start() - 1 : token.start()], text[token.end() : token.end() + 1]
    if token[0] not in _CLOSERS or after in ("", "\n"):
        return False
    if token[0] in "\"'”":
        return not (before.isascii() and before.isalnum()) and before not in (".", ",", ")", "'", '"', "]")
    return True
