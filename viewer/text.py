r"""Text of models and people as safe HTML: Markdown with tables, code and formulas.

    List<int>, <div onclick=x>, ![](http://x/a.png), [a](javascript:x)

come out as the characters they are. Nothing in a text runs and nothing is fetched: HTML is off, a
picture is a link to its address, and a link leads only to http, https or mail. LaTeX between
dollars, `\(...\)` and `\[...\]` becomes MathML, rebuilt from a closed list of elements.
"""

import functools
import html
import itertools
import re
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

MOST, MOST_PLAIN = 20_000, 200_000
"""Characters of a text that are laid out, and shown; the rest is counted."""
_MOST_LINE = 4_000
"""Of a line that is still laid out: longer ones are data, and slow to parse and to break."""
_MOST_CELLS = 20_000
"""Of a table."""
_MOST_CODE = 5_000
"""Of code that is coloured."""
_MOST_FORMULAS = 100
_DEEPEST = 20
"""Lists and quotes within each other."""
_LANGUAGE = re.compile(
    r"bash|c|c\+\+|cpp|css|go|html|java|javascript|js|json|py|python|python3|rs|rust|sh|shell|sql|"
    "ts|typescript"
)
"""Names of lexers that take linear time. Of Pygments' 600 some take hours for a line."""
_LINK = re.compile(r"(?:https?://|mailto:)[^\s\x00-\x1f]+", re.IGNORECASE)
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
"""Characters that hide, turn or break others."""


def readable(text: str) -> str:
    """Return a text in which such characters are shown by their number.

    >>> readable("a\\u202eb")
    'a⟨U+202E⟩b'
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _UNSEEN.sub(lambda match: f"\u27e8U+{ord(match[0]):04X}\u27e9", text)


def escaped(text: object) -> str:
    """Return any value as text to read, in an element or a quoted attribute."""
    return html.escape(readable(str(text)), quote=True)


def styled(text: str) -> str:
    """Return a text of a model or a person as HTML."""
    beginning = text[:MOST]
    if not beginning.strip():
        return '<p class="tb-quiet">(no text)</p>'
    inside = _laid_out(beginning)
    if len(text) > MOST:
        inside += '<p class="tb-quiet">From here on as it was written:</p>'
        inside += plain(text[MOST:MOST_PLAIN])
    if len(text) > MOST_PLAIN:
        left = f"{len(text) - MOST_PLAIN:,} of {len(text):,} characters are not shown"
        inside += f'<p class="tb-quiet">Cut here: {left}.</p>'
    return f'<div class="tb-words" dir="auto">{inside}</div>'


def plain(text: str) -> str:
    """Return a text as it was written."""
    return f'<pre class="tb-plain">{escaped(text)}</pre>'


def marked(page: str, needle: str) -> str:
    """Return HTML of this module with a text marked wherever it is, in any case."""
    if not needle:
        return page
    pattern = re.compile(rf"({re.escape(escaped(needle))})|&#?\w+;|<[^>]*>", re.IGNORECASE)
    return pattern.sub(lambda match: f"<mark>{match[1]}</mark>" if match[1] else match[0], page)


def excerpt(text: str, start: int, end: int, around: int = 70) -> str:
    """Return a place of a text, marked, and its surroundings, in one line, nothing laid out."""
    first, last = max(0, start - around), end + around
    before = escaped(text[first:start].replace("\n", " "))
    found = escaped(text[start:end][:around].replace("\n", " "))
    after = escaped(text[end:last].replace("\n", " "))
    left, right = "…" if first else "", "…" if last < len(text) else ""
    return f"{left}{before}<mark>{found}</mark>{after}{right}"


def unlike(text: str, other: str) -> str:
    """Return a text as it was written, with what the other text does not have marked.

    A word counts as shared if it stands in a run of three words that both texts have: linear time,
    whatever two models wrote.
    """
    pieces = re.findall(r"\s*\S+\s*", text[:MOST])
    words, others = [piece.strip() for piece in pieces], other.split()
    size = max(1, min(3, len(words), len(others)))
    runs = {tuple(others[at : at + size]) for at in range(len(others) - size + 1)}
    shared = [False] * len(words)
    for at in range(len(words) - size + 1):
        if tuple(words[at : at + size]) in runs:
            shared[at : at + size] = [True] * size
    parts = []
    for is_shared, run in itertools.groupby(zip(shared, pieces, strict=True), lambda word: word[0]):
        part = escaped("".join(piece for _, piece in run))
        parts.append(part if is_shared else f"<mark>{part}</mark>")
    return f'<pre class="tb-plain">{"".join(parts)}</pre>'


def _laid_out(text: str) -> str:
    lines = text.split("\n")
    cells = len(lines) * max(line.count("|") for line in lines)  # short rows are filled up
    if cells > _MOST_CELLS or any(len(line) > _MOST_LINE for line in lines):
        return plain(text)
    parser = _parser()
    try:
        tokens = parser.parse(readable(text))
    except (RecursionError, ValueError, IndexError):  # a library that reads whatever anybody wrote
        return plain(text)
    if any(token.level >= _DEEPEST - 1 for token in tokens):  # what is deeper would be left out
        return plain(text)
    inline = [part for token in tokens for part in (token, *(token.children or ()))]
    for formula in [part for part in inline if part.type == "formula"][_MOST_FORMULAS:]:
        formula.hidden = True
    rendered: str = parser.renderer.render(tokens, parser.options, {})
    return rendered


@functools.cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True, "maxNesting": _DEEPEST})
    parser.enable(["table", "strikethrough"])
    parser.disable(["html_block", "html_inline", "reference", "entity"])
    parser.validateLink = lambda url: bool(_LINK.fullmatch(url))  # type: ignore[method-assign]
    parser.inline.ruler.before("escape", "formula", _inline_formula)
    blocks: Any = {"alt": ["paragraph", "blockquote", "list"]}
    parser.block.ruler.before("fence", "formula", _block_formula, blocks)
    scroll = '<div class="tb-wide" tabindex="0" role="group" aria-label="table">'
    rules: dict[str, Any] = {
        "formula": _formula,
        "image": _image,
        "link_open": lambda _, tokens, at, *__: _anchor(tokens[at].attrGet("href")),
        "heading_open": lambda _, tokens, at, *__: f'<p class="tb-heading tb-{tokens[at].tag}">',
        "heading_close": lambda *_: "</p>",
        "th_open": _cell,
        "td_open": _cell,
        "table_open": lambda *_: f"{scroll}<table>",
        "table_close": lambda *_: "</table></div>",
        "fence": _code,
        "code_block": _code,
    }
    for name, rule in rules.items():
        parser.add_render_rule(name, rule)
    return parser


def _anchor(address: object) -> str:
    target = escaped(address)
    return (
        f'<a href="{target}" title="{target}" target="_blank" rel="noopener noreferrer nofollow">'
    )


def _image(_: object, tokens: Sequence[Token], at: int, *__: Any) -> str:
    """Return a picture as a link to it: shown, it would be fetched from elsewhere."""
    address = tokens[at].attrGet("src")
    return f"{_anchor(address)}[picture: {escaped(tokens[at].content or address)}]</a>"


def _cell(_: object, tokens: Sequence[Token], at: int, *__: Any) -> str:
    right = "right" in str(tokens[at].attrGet("style") or "")
    return f"<{tokens[at].tag}{' class=tb-right' if right else ''}>"


def _code(_: object, tokens: Sequence[Token], at: int, *__: Any) -> str:
    token = tokens[at]
    language = next(iter(token.info.split()), "")
    label = f'<span class="tb-language">{escaped(language)}</span>' if language else ""
    code = _coloured(token.content, language.lower())
    scroll = 'class="tb-code" tabindex="0" role="group" aria-label="code"'
    return f"<div {scroll}>{label}<pre><code>{code}</code></pre></div>"


def _coloured(code: str, language: str) -> str:
    if not _LANGUAGE.fullmatch(language) or len(code) > _MOST_CODE:
        return html.escape(code)
    from pygments import highlight
    from pygments.formatters.html import HtmlFormatter
    from pygments.lexers import get_lexer_by_name

    lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    coloured: str = highlight(code, lexer, HtmlFormatter(nowrap=True, classprefix="tb-c-"))
    return coloured


# Formulas

_EQUATIONS = r"\{(?:equation|align|alignat|gather|multline|eqnarray)\*?\}"
_DISPLAY = (
    r"(\$\$)((?:(?!\$\$).){1,2000})(\$\$)|(\\\[)((?:(?!\\\]).){1,2000})(\\\])"
    rf"|(\\begin{_EQUATIONS})((?:(?!\\(?:begin|end){_EQUATIONS}).){{1,2000}})(\\end{_EQUATIONS})"
)
_BLOCK = re.compile(rf"(?:{_DISPLAY})[ \t]*$", re.DOTALL | re.MULTILINE)
_INLINE = re.compile(
    rf"{_DISPLAY}|(\\\()((?:(?!\\\)).){{1,1000}})(\\\))"
    r"|(\$)(?!\s)([^$`]{1,1000})(?<!\s)(\$)(?![a-zA-Z0-9{_])",  # and no words between prices
    re.DOTALL,
)


def _inline_formula(state: StateInline, silent: bool) -> bool:
    match = _INLINE.match(state.src, state.pos)
    if match is None:
        return False
    if not silent:
        _add(state, match, block=False)
    state.pos = match.end()
    return True


def _block_formula(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    begin = state.bMarks[first] + state.tShift[first]
    match = _BLOCK.match(state.src, begin, state.eMarks[last - 1])
    if match is None or state.is_code_block(first):
        return False
    if not silent:
        _add(state, match, block=True)
        state.line = first + 1 + match[0].count("\n")
    return True


def _add(state: StateInline | StateBlock, match: re.Match[str], *, block: bool) -> None:
    token = state.push("formula", "", 0)
    token.markup, token.content, token.info = filter(None, match.groups())
    token.block = block


def _formula(_: object, tokens: Sequence[Token], at: int, *__: object) -> str:
    token = tokens[at]
    written = token.markup + token.content + token.info
    inside = written if token.markup.startswith("\\begin") else token.content
    drawn = None if token.hidden else mathml(inside, token.block)
    return drawn or f"<code>{html.escape(written)}</code>"


_NUMBERING = re.compile(r"\\label\{[^{}]*\}|\\(?:nonumber|notag)(?![a-zA-Z])")
_ENVIRONMENT = re.compile(r"(\\(?:begin|end)\{)(\w+)\*?\}(?:\[[tbc]\]|\{\d+\})?")
_KNOWN = dict.fromkeys(("aligned", "alignat", "alignedat"), "align*") | dict.fromkeys(
    ("gather", "gathered", "multline", "eqnarray"), "matrix"
)
"""What latex2mathml calls environments that it does not know, or the nearest to them."""


def _known_environment(match: re.Match[str]) -> str:
    known = _KNOWN.get(match[2])
    return f"{match[1]}{known}}}" if known is not None else match[0]


@functools.lru_cache(maxsize=1024)
def mathml(formula: str, block: bool = False) -> str | None:
    """Return a formula as a `<math>` element; None if it cannot be read."""
    from latex2mathml.converter import convert

    try:
        known = _ENVIRONMENT.sub(_known_environment, _NUMBERING.sub("", formula.strip()))
        drawn = convert(known, display="block" if block else "inline")
        clean = _clean(ElementTree.fromstring(drawn))
    except Exception:  # the library raises whatever its input leads to
        return None
    if clean is None:
        return None
    clean.set("alttext", formula.strip())
    return ElementTree.tostring(clean, encoding="unicode")


_ELEMENT = re.compile(
    "math|mrow|mi|mn|mo|ms|mtext|mspace|msup|msub|msubsup|mfrac|msqrt|mroot|mover|munder|"
    "munderover|mtable|mtr|mtd|mstyle|mpadded|mphantom|menclose"
)
_ATTRIBUTE = re.compile(
    "display|mathvariant|stretchy|fence|separator|accent|accentunder|columnalign|rowalign|"
    "linethickness|notation|lspace|rspace|minsize|maxsize|movablelimits|form|displaystyle|"
    "scriptlevel|columnspacing|rowspacing|columnlines|rowlines|symmetric|largeop"
)


def _clean(element: ElementTree.Element) -> ElementTree.Element | None:
    """Return an element rebuilt from its known parts; None if it is of an unknown kind."""
    tag = element.tag.rpartition("}")[2]
    if not _ELEMENT.fullmatch(tag):
        return None
    attributes = {
        name: value
        for name, value in element.attrib.items()
        if _ATTRIBUTE.fullmatch(name) and re.fullmatch(r"[\w .%+-]{1,40}", value)
    }
    clean = ElementTree.Element(tag, attributes)
    clean.text, clean.tail = element.text, element.tail
    for part in element:
        inside = _clean(part)
        if inside is not None:
            clean.append(inside)
    return clean
