r"""What a judge says, apart from what it only shows: reasoning is cut off, and shown passages are taken out.

    'The answer ends with "Rating: [[10]]". Rating: [[2]]'    ->  'The answer ends with <shown>. Rating: [[2]]'

Quotation marks of every kind, code, block quotes and HTML comments show; struck text is withdrawn and leaves nothing.
Marks around a bare verdict (`[[7]]` in backticks) may be decoration: it stays, and the two signs around it say so.
"""

import html
import re
from collections import deque
from collections.abc import Callable

from harness.old.judging.verdicts.brackets import Fault
from harness.old.patterns import late_re

SHOWN, DECORATED, OBJECT, QUOTED, PLANTED, ANNOUNCED = "\ue000", "\ue001", "\ue002", "\ue03e", "\ue03f", "\x1f"
"""Signs for a passage that was taken out, for the ends of a decorated verdict, for an object (`objects`), for a verdict
in a passage that was taken out (before its sign), for one that a judged answer holds as well, and for the line break
after a colon (a blank, to expressions; two in a list)."""

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
        **dict.fromkeys("؟⁇⁈⁉\u037e", "?"),
    }
)
# A tag in code or quotation marks is talked about, not used.
_REASONED = late_re(
    r"(?=[<\[])(?<![`\"'“‘])(?:</(?:think|thinking|thought)>|\[/THINK\]|<\|channel\|>final<\|message\|>)", re.I
)
REASONS = late_re(r"^[ \t]*(?:<(?:think|thinking|thought)>|\[THINK\]|<\|channel\|>analysis)", re.I | re.M)


def spoken(text: str) -> str | Fault:
    """Return what follows the judge's reasoning. Reasoning left open has no end, so nothing follows it."""
    ends = deque(_REASONED.finditer(text), maxlen=1)
    rest = text[ends[0].end() :] if ends else text
    return Fault("the text ends inside its reasoning") if REASONS.search(rest) else rest


def folded_text(text: str) -> str:
    """Return a text in plain characters: without emphasis and invisible ones, with plain brackets, digits, lists."""
    return re.sub(r"(?m)^([ \t]*)\*(?=[ \t])", r"\1-", text).translate(_FOLDED)


def _plain_marks(text: str) -> str:
    """Return a folded text with the notations of quotation marks and double brackets made one."""
    if "&" in text:
        text = html.unescape(text)
    if "<<" in text:
        text = re.sub(r"<<(?!\s)([^<>]{0,2000})>>", r"«\1»", text)
    if "\\" in text:
        text = re.sub(r"\\n(?=(?:\\n|[\s\"'`]){0,9}\[\[)", "\n", text)  # escaped once too often
        text = re.sub(r"\\[a-zA-Z]{2,10}\{([^{}\n]{0,40}[:=] ?)\}", r"\1", text)  # \text{Rating: }
        text = re.sub(r"\\([\"'])|\\[a-zA-Z]{2,10}(?={)", r"\1", text)
        text = re.sub(r"\\?\[ ?\\?\[", "[[", re.sub(r"\\?\] ?\\?\]", "]]", text))
    if "''" in text:
        text = re.sub(r"(?<!`)``([^`]{1,1000}?)''", r"“\1”", text).replace("''", '"')
    return re.sub(r"(?=_)(?:(?<![^\W_])_+|_+(?![^\W_]))", "", text)  # emphasis, but not within a name


# A passage begins at the first mark that can open one and reaches to the mark that closes it, whatever stands between.
# One that is cut off reaches to the end; marks that are also something else (`’`, `»`, backticks) then open nothing.
# Every alternative stops at its own mark, so that a text of nothing but marks is read in linear time.
_FENCE = re.compile(
    r"(?P<span>`{3,})[^`\n]+(?P=span)(?!`)"
    r"|(?P<mark>`{3,}|~{3,})[^`~\n]*(?=\n|\Z).*?(?:(?P=mark)[`~]*(?!\w)|\Z)"
    r"|\"{3}.*?\"{3}",
    re.S | re.M,
)
_LEFT = r"(?<![A-Za-z0-9.,)'\"\]])"
"""What cannot stand before a mark that opens: quotation marks that look alike at both ends."""
_RIGHT = r"(?:(?<![ \n(\[:])\"|\"(?![\w\[{]))"
"""A straight mark that can close."""
_LETTER = r"[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
"""What follows an apostrophe within a word, and no closing mark: a letter of a script with blanks between words."""
_INDENTED = r"(?: {4}|\t)(?![ \t]*(?:[-+•]|\d+[.)]) )[^\n]*"
"""A line of code, not of a list within a list."""
_PASSAGE = re.compile(
    # Looked at first: most characters begin nothing, and forty alternatives at each of them took half a judging's time.
    r"(?=[>`~<\[\"“”„‟❝«»‹›〝「『《〈⟨⟪＜‘’‚❛'´″]|(?m:^)[ \t])(?:"
    rf"(?m:^)[ \t]*>[^\n]*|(?<=\n){_INDENTED}(?:\n+{_INDENTED})*"
    r"|(?P<ticks>`+)[^`]{1,1000}(?P=ticks)(?!`)|~~[^~]*~~|<!--.*?(?:-->|\Z)"
    r"|<(?P<tag>s|del|strike|blockquote|q|pre|code)>.*?(?:</(?P=tag)>|\Z)"
    r"|(?:\[|<\|)The Start of [^\]|\n]{1,60}(?:\]|\|>).*?(?:(?:\[|<\|)The End of [^\]|\n]{1,60}(?:\]|\|>)|\Z)|"
    + "|".join(f"{mark}.+?(?:{chr(ord(mark) + 1)}|\\Z)" for mark in "❝「『《〈⟨⟪")
    + r"|«.+?(?:»|\Z)|‹.+?(?:›|\Z)|〝.+?(?:[〞〟]|\Z)|＜.+?(?:＞|\Z)|»[^«»]+[«»]|›[^‹›]+[‹›]"
    rf"|{_LEFT}\".+?(?:{_RIGHT}|\Z)|[“‟„](?:[^“”„]|„[^“”]{0, 300}[“”])+(?:[“”]|\Z)|{_LEFT}”[^”]+”"
    rf"|[‘‚❛](?:[^‘’‚❜]|’(?={_LETTER})){{1,1000}}[‘’❜](?!{_LETTER})"
    rf"|{_LEFT}['’`´″](?!\s)(?:[^'’`´″]|(?<=\w)['’](?={_LETTER})){{1,1000}}(?<!\s)['’`´″](?!{_LETTER}))",
    re.S | re.I,
)
_ELEMENT = late_re(r"<([a-z_]{4,20})>(?:\s*(?P<bare>\[\[[^\[\]\n]*\]\])\s*|.{0,2000}?)</\1>(?P<end>\s*(?=<|\Z))?", re.S)
_VERDICT = late_re(rf"\[\[|\[RESULT\]|{PLANTED}", re.I)
_APART = late_re(r"(?:[.!?…。>][ \t]*\n|\A)\s*\Z")
_WITHDRAWN = late_re(r"~~|<(?:s|del|strike)>", re.I)
_MARKS = "\"“”„‟«»‹›「」『』〝〟《》〈〉‘’‚❛❜❝❞'"
_DECORATION = late_re(
    rf"\s*(?:(?:`{{3,}}|~{{3,}})[^\n]*\n(.*?)(?:\n[`~ \t]*)?|`+(.*?)`+|<code>(.*)</code>"
    rf"|[{_MARKS}](.*)[{_MARKS}])",
    re.S | re.I,
)
"""A passage whose marks may be there to set something off."""
_WHOLE = late_re(r"\s*```[\w-]*[ \t]*\n((?:(?!```).)*?)\s*(?:```)?\s*", re.S)
_TAGS = late_re(r"</?[a-z_]{1,12}>|<\|[^|>\n]{0,40}\|>|\[(?:END|/[A-Z]{2,12})\]\W*\Z", re.I)
_BREAKS = r"\n(?:\s|[-_=]{3,}(?=\s))*"
"""Line breaks, with the rules across the page between them."""


def _stands_apart(passage: re.Match[str]) -> bool:
    """Return whether no words lead to a passage: it begins the text, or a line after a whole sentence."""
    return _APART.search(passage.string[max(0, passage.start() - 80) : passage.start()]) is not None


def _sign(passage: re.Match[str]) -> str:
    """Return what stands for a passage that was taken out."""
    return (QUOTED if _VERDICT.search(passage[0]) else "") + SHOWN


def _element(passage: re.Match[str]) -> str:
    """Return what an element leaves: itself if no words lead to it and, unless it is bare, only further ones follow."""
    end = passage["end"] or ""
    if (passage["bare"] or passage["end"] is not None) and _stands_apart(passage):
        return passage[0]
    return (f"{DECORATED}{passage['bare']}{DECORATED}" if passage["bare"] else _sign(passage)) + end


def said(text: str, is_bare: Callable[[str], bool]) -> str:
    """Return a folded text without its shown passages; `is_bare` knows a verdict that has no other word beside it."""
    text = _plain_marks(text)
    whole = _WHOLE.fullmatch(text) if text.lstrip().startswith("```") else None
    text = whole[1] if whole else text  # a block around all of a reply quotes nobody

    def instead(passage: re.Match[str]) -> str:
        """Return what a passage leaves in the text: itself if it is a bare verdict, a sign, or nothing."""
        if passage.re is _PASSAGE and _WITHDRAWN.match(passage[0]):
            return ""
        set_off = _DECORATION.fullmatch(passage[0]) if len(passage[0]) < 150 else None
        inside = next(filter(None, set_off.groups()), "").strip() if set_off else ""
        if passage.re is _FENCE and inside[:1] == OBJECT and is_bare(inside) and _stands_apart(passage):
            return f"\n{inside}\n"  # how judges write an object
        if is_bare(inside.rstrip(".")):
            return f"{DECORATED}{inside}{DECORATED}"
        return _sign(passage) + ("." if inside.endswith((".", "!", "?", "。")) else "")

    if "</" in text:
        text = _ELEMENT.sub(_element, text)
    if "```" in text or "~~~" in text or '"""' in text:
        text = _FENCE.sub(instead, text)
    text = _TAGS.sub("", _PASSAGE.sub(instead, text))
    text = re.sub(r"\[\[[^\[\]\n]{0,60}\]\] ?(?:-{1,2}>|=>|→|⇒)", "", text)  # what an arrow leads away from
    # A line that ends with a colon announces the next one, or all of a list.
    announced = rf":[ \t]*{_BREAKS}([-+•].*(?:\n[ \t]*[-+•].*)+)?"
    return re.sub(announced, lambda lines: re.sub(_BREAKS, ANNOUNCED * (2 if lines[1] else 1), lines[0]), text)
