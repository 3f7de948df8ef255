"""What a judge's text says, and what it only shows: reasoning cut off; code, quotations and struck text marked."""

import re
from collections import deque
from dataclasses import dataclass
from typing import Literal

from harness.judging.verdicts.brackets import Fault

SIGHT = 300
"""How many characters before and after a bracket can bear on it."""

CHARACTERS = str.maketrans(
    {
        **{chr(0xFF10 + n): str(n) for n in range(10)},
        **{chr(0xFF21 + n): chr(0x41 + n) for n in range(26)},
        **{chr(0xFF41 + n): chr(0x61 + n) for n in range(26)},
        **dict(zip("［］【】〔〕：／．，；＝～＂\u00a0\u3000\u202f", '[][][]:/.,;=~"   ', strict=True)),
        **dict.fromkeys("⟦〚", "[["),
        **dict.fromkeys("⟧〛", "]]"),
        **dict.fromkeys("*\r"),
        "−": "-",
        **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad\u200e\u200f"),
    }
)
# A tag in code or quotation marks is talked about, not used.
_CLOSED = re.compile(r"(?<![`\"'“‘])(?:</(?:think|thinking|thought)>|\[/THINK\]|<\|channel\|>final<\|message\|>)", re.I)
_OPENED = re.compile(r"^[ \t]*(?:<(?:think|thinking|thought)>|\[THINK\]|<\|channel\|>analysis)", re.I | re.M)


def spoken(text: str) -> str | Fault:
    """Return what follows the judge's reasoning. Reasoning left open has no end, so nothing follows it."""
    ends = deque(_CLOSED.finditer(text), maxlen=1)
    rest = text[ends[0].end() :] if ends else text
    return Fault("the text ends inside its reasoning") if _OPENED.search(rest) else rest


@dataclass(frozen=True, slots=True)
class Span:
    """A passage that the text shows; `closed` is False if its end mark is missing."""

    start: int
    end: int
    kind: Literal["fence", "block quote", "code", "quotation", "struck", "marked"]
    closed: bool = True


_TOKEN = re.compile(
    r"(?:^|(?=[-`~<\[\"“”„«»「」『』‘’'\n]))(?:"  # where a token can begin; passes over most of a text quickly
    r"(?P<fence>^[ \t]*(?:[-+] |[0-9]{1,3}\. )?(?:`{3,}(?=[^`\n]*$)|~{3,}(?=[^~\n]*$))[^\n]*$)"
    r"|(?P<block>^[ \t]*>[^\n]*)"
    r"|(?P<ticks>`+)"
    r"|(?P<strike>~~)"
    r"|(?P<tag></?(?:blockquote|q|pre|code|s|del|strike)>|<!--|-->)"
    r"|(?P<start>(?:\[|<\|)The Start of [^\]|\n]{1,60}(?:\]|\|>))"
    r"|(?P<end>(?:\[|<\|)The End of [^\]|\n]{1,60}(?:\]|\|>))"
    r"|(?P<mark>[\"“”„«»「」『』‘’'])"
    r"|(?P<paragraph>\n[ \t]*(?=\n)))",
    re.M | re.I,
)
_CLOSERS = {'"': '"', "“": '”"', "„": '“”"', "«": "»", "»": "«", "「": "」", "『": "』", "‘": "’", "'": "'"}


def shown_passages(text: str) -> list[Span]:
    """Return the passages that are shown rather than said, in order, not overlapping."""
    tokens = list(_TOKEN.finditer(text))
    partners = _tick_partners(tokens)
    spans: list[Span] = []
    done = 0
    quotes: dict[str, re.Match[str]] = {}
    opened: dict[str, int] = {}
    for index, token in enumerate(tokens):
        kind, start = token.lastgroup or "", token.start()
        if start < done:
            continue
        if kind == "fence":
            close = _fence_close(tokens, index)
            done = close.end() if close else len(text)
            spans.append(Span(start, done, "fence", closed=close is not None))
        elif kind == "block":
            spans.append(Span(start, token.end(), "block quote"))
        elif kind == "ticks" and index in partners:
            done = tokens[partners[index]].end()
            spans.append(Span(start, done, "code"))
        elif kind == "paragraph":
            opened.pop("~~", None)
        elif kind == "strike":
            if "~~" in opened:
                spans.append(Span(opened.pop("~~"), token.end(), "struck"))
            else:
                opened["~~"] = start
        elif kind in ("tag", "start", "end"):
            name = token[0].lower().strip("</>!") if kind == "tag" else "answer"
            if kind == "end" or token[0].startswith(("</", "-->")):
                if name in opened:
                    spans.append(Span(opened.pop(name), token.end(), "code" if name == "code" else "marked"))
            else:
                opened.setdefault(name, start)
        elif kind == "mark":
            for opener in [mark for mark in quotes if _closes(text, token, quotes[mark])]:
                spans.append(Span(quotes.pop(opener).start(), token.end(), "quotation"))
                break
            else:
                if _opens(text, token):
                    quotes[token[0]] = token
    for quote in quotes.values():  # cut off inside a quotation: it reaches to the end of its line
        if quote[0] not in "'‘":
            line_end = text.find("\n", quote.start())
            spans.append(Span(quote.start(), len(text) if line_end < 0 else line_end, "quotation", closed=False))
    spans.extend(Span(start, len(text), "marked", closed=False) for name, start in opened.items() if name != "~~")
    return _outermost(spans)


def _outermost(spans: list[Span]) -> list[Span]:
    kept: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if not kept or span.end > kept[-1].end:
            kept.append(span)
    return kept


def _tick_partners(tokens: list[re.Match[str]]) -> dict[int, int]:
    """Return for each run of backticks the next run as long in the same paragraph."""
    partners: dict[int, int] = {}
    following: dict[int, int] = {}
    for index in range(len(tokens) - 1, -1, -1):
        kind = tokens[index].lastgroup
        if kind in ("paragraph", "fence"):
            following.clear()
        elif kind == "ticks":
            length = len(tokens[index][0])
            if length in following:
                partners[index] = following[length]
            following[length] = index
    return partners


def _fence_close(tokens: list[re.Match[str]], index: int) -> re.Match[str] | None:
    """Return the token that closes the code block opened by this one."""
    opener = tokens[index][0].lstrip(" \t-+.0123456789")
    mark = opener[: len(opener) - len(opener.lstrip(opener[0]))]
    for later in range(index + 1, len(tokens)):
        line = tokens[later][0].strip()
        if tokens[later].lastgroup == "fence" and line.startswith(mark) and not line.strip(mark[0]):
            return tokens[later]
    return None


def _opens(text: str, token: re.Match[str]) -> bool:
    before, after = text[token.start() - 1 : token.start()], text[token.end() : token.end() + 1]
    if token[0] not in _CLOSERS or not after.strip():
        return False
    if token[0] in "\"'":
        return not (before.isascii() and before.isalnum()) and before not in (".", ",", ")", "'", '"')
    return True


def _closes(text: str, token: re.Match[str], opener: re.Match[str]) -> bool:
    before, after = text[token.start() - 1 : token.start()], text[token.end() : token.end() + 1]
    if token[0] not in _CLOSERS[opener[0]] or (token[0] in "\"'" and not before.strip()):
        return False
    if opener[0] not in "'‘":
        return True
    # An apostrophe looks the same; a quotation in single marks is short, on one line, and ends with a word.
    inner = text[opener.end() : token.start()] if token.start() - opener.end() <= SIGHT else "\n"
    return "\n" not in inner and not after.isalnum()
