"""Text of models and people as safe HTML: Markdown with tables, code, formulas; angle brackets stay visible.

    List<int>, <div onclick=x>, ![](http://x/a.png), [a](javascript:x)

come out as the characters they are. Nothing in a text runs, and nothing is fetched: a picture is shown as its address,
a link leads out only when it is clicked and only to http, https or mail.
"""

import functools
import html
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MOST = 20_000
"""Characters of one text that are shown before "show all"."""
MOST_UNBROKEN = 4_000
"""The same for a text with words without end, which take a browser long to lay out."""
MOST_STYLED = 40_000
"""Characters of one text that are still laid out as Markdown; a longer one is shown as it stands."""
_MOST_STYLED_LINE = 20_000
_DEEPEST = 40
"""Lists and quotes in one another that are laid out as such."""
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]"
    "|[\ud800-\udfff\U000e0000-\U000e007f]"
)
_SCROLLS = '<div class="tb-scroll" tabindex="0" role="group" aria-label="table">'
_UNBROKEN = re.compile(r"\S{1000}")
_LINK = re.compile(r"(?:https?://|mailto:)[^\s\x00-\x1f]+", re.IGNORECASE)


def readable(text: str) -> str:
    """Return the text with every character shown that hides, turns or breaks others; newlines and tabs stay.

    >>> readable("a\\u202eb")
    'a\u27e8U+202E\u27e9b'
    """
    return _UNSEEN.sub(lambda found: f"\u27e8U+{ord(found[0]):04X}\u27e9", text.replace("\r\n", "\n"))


def escaped(text: object) -> str:
    """Return any value as text for a place between tags or within a quoted attribute."""
    return html.escape(readable(str(text)), quote=True)


def markdown_html(text: str, *, whole: bool = False, more: str = "") -> str:
    """Return a text of a model or a person as HTML.

    Args:
        text: the text.
        whole: show it to its end; otherwise what is too long is cut, with a notice.
        more: HTML of the link that shows all, for the notice.
    """
    shown, notice = _cut(text, whole, more)
    return f'<div class="tb-text{_breaks(shown)}" dir="auto">{_styled(shown)}</div>{notice}'


def plain_html(text: str, *, whole: bool = False, more: str = "") -> str:
    """Return a text as it stands, in lines of equal width; for prompts and whatever is no Markdown."""
    shown, notice = _cut(text, whole, more)
    return f'<pre class="tb-plain{_breaks(shown)}" dir="auto">{escaped(shown)}</pre>{notice}'


def _cut(text: str, whole: bool, more: str) -> tuple[str, str]:
    """Return what is shown of a text, and the notice on what is not."""
    most = MOST_UNBROKEN if _UNBROKEN.search(text, 0, MOST) else MOST
    if whole or len(text) <= most:
        return text, ""
    left = len(text) - most
    return text[:most], f'<p class="tb-cut">Cut here: {left:,} of {len(text):,} characters are not shown. {more}</p>'


def _breaks(text: str) -> str:
    """Return the class of a text that has words without end, which browsers take seconds to break at good places."""
    return " tb-unbroken" if _UNBROKEN.search(text) else ""


@functools.lru_cache(maxsize=128)
def _styled(text: str) -> str:
    if not text.strip():
        return '<p class="tb-quiet">(no text)</p>'
    if len(text) > MOST_STYLED or any(len(line) > _MOST_STYLED_LINE for line in text.splitlines()):
        return f'<pre class="tb-plain">{escaped(text)}</pre>'
    try:
        parser = _markdown()
        tokens = parser.parse(readable(text))
        if any(token.level >= _DEEPEST - 1 for token in tokens):  # below it the parser leaves text out
            return f'<pre class="tb-plain">{escaped(text)}</pre>'
        rendered: str = parser.renderer.render(tokens, parser.options, {})
    except (RecursionError, ValueError, IndexError):  # of a library that reads whatever anybody wrote
        return f'<pre class="tb-plain">{escaped(text)}</pre>'
    return rendered


@functools.cache
def _markdown() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    from viewer.maths import add_maths

    options = {"html": False, "breaks": True, "maxNesting": _DEEPEST, "highlight": _highlighted}
    parser = MarkdownIt("commonmark", options)
    parser.enable(["table", "strikethrough"])
    parser.disable(["html_block", "html_inline", "reference", "entity"])
    parser.validateLink = lambda url: bool(_LINK.fullmatch(url))  # type: ignore[method-assign]
    add_maths(parser)
    parser.add_render_rule("image", _image)
    parser.add_render_rule("link_open", _link_open)
    parser.add_render_rule("heading_open", _heading_open)
    parser.add_render_rule("heading_close", lambda *_: "</p>")
    parser.add_render_rule("table_open", lambda *_: f"{_SCROLLS}<table>")
    parser.add_render_rule("table_close", lambda *_: "</table></div>")
    parser.add_render_rule("fence", _fence)
    parser.add_render_rule("code_block", _fence)
    return parser


def _image(_: object, tokens: "Sequence[Token]", at: int, *__: Any) -> str:
    """Return a picture as what its author wrote: it would be fetched from elsewhere."""
    token = tokens[at]
    source, alt = escaped(token.attrGet("src") or ""), escaped(token.content)
    return f'<span class="tb-picture">picture{f": {alt}" if alt else ""} ({source})</span>'


def _link_open(_: object, tokens: "Sequence[Token]", at: int, *__: Any) -> str:
    target = escaped(tokens[at].attrGet("href") or "")
    return f'<a href="{target}" title="{target}" target="_blank" rel="noopener noreferrer nofollow">'


def _heading_open(_: object, tokens: "Sequence[Token]", at: int, *__: Any) -> str:
    """Return a heading as a paragraph that looks like one, so that the page's own headings stay its outline."""
    return f'<p class="tb-heading tb-{tokens[at].tag}">'


def _fence(_: object, tokens: "Sequence[Token]", at: int, *__: Any) -> str:
    token = tokens[at]
    language = token.info.split(maxsplit=1)[0] if token.info.split() else ""
    named = f'<span class="tb-language">{escaped(language)}</span>' if language else ""
    return (
        f'<div class="tb-code" tabindex="0" role="group" aria-label="code">'
        f"{named}<pre><code>{_highlighted(token.content, language, '')}</code></pre></div>"
    )


def _highlighted(code: str, language: str, _: str) -> str:
    """Return code with its words marked by kind; as it stands where the language is not known."""
    from pygments import highlight
    from pygments.formatters.html import HtmlFormatter
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    if not language or not re.fullmatch(r"[\w+#.-]{1,30}", language) or len(code) > MOST:
        return html.escape(code)
    try:
        lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return html.escape(code)
    marked: str = highlight(code, lexer, HtmlFormatter(nowrap=True, classprefix="tb-c-"))
    return marked
