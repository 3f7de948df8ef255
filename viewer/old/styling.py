"""Markdown as HTML: what `viewer.old.text` lets a process of its own do, since nobody knows how long a text may take.

A code fence is coloured if its language is one of a short list and it is not long. Pygments knows 600 languages, and in
some of them 80 characters take hours.
"""

import functools
import html
import re
from collections.abc import Sequence
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from pygments import highlight
from pygments.formatters.html import HtmlFormatter
from pygments.lexers import get_lexer_by_name

from viewer.old.maths import add_maths
from viewer.old.text import LINK, escaped, plain, readable

LANGUAGES = frozenset(
    re.findall(
        r"\S+",
        "bash c c++ cpp c# cs csharp css diff go golang html ini java javascript js json jsx kotlin lua matlab perl "
        "php py python python3 r rb ruby rs rust sh shell sql swift toml ts typescript xml yaml yml",
    )
)
"""Languages that are coloured, by the names that fences give them."""
MOST_CODE = 5_000
"""Characters of a fence that is still coloured."""
MOST_PARTS = 12_000
"""Parts of the page that a text may become: paragraphs, list items, cells, words in bold."""
MOST_FORMULAS = 200
"""Formulas of a text that are drawn; those after them stay as they were written."""
_DEEPEST = 40
"""Lists and quotes in one another that are laid out as such."""
_SCROLLS = '<div class="tb-scroll" tabindex="0" role="group" aria-label="table">'


def styled(text: str) -> str:
    """Return a text as HTML; as it was written where that would be too many parts, or too deep."""
    parser = _markdown()
    try:
        tokens = parser.parse(readable(text))
    except (RecursionError, ValueError, IndexError):  # of a library that reads whatever anybody wrote
        return plain(text)
    parts = len(tokens) + sum(len(token.children or ()) for token in tokens)
    if parts > MOST_PARTS or any(token.level >= _DEEPEST - 1 for token in tokens):  # deeper text is left out
        return plain(text)
    formulas = [part for token in tokens for part in (token, *(token.children or ())) if part.type == "maths"]
    for formula in formulas[MOST_FORMULAS:]:
        formula.meta["written"] = True
    rendered: str = parser.renderer.render(tokens, parser.options, {})
    return rendered


@functools.cache
def _markdown() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True, "maxNesting": _DEEPEST, "highlight": _coloured})
    parser.enable(["table", "strikethrough"])
    parser.disable(["html_block", "html_inline", "reference", "entity"])
    parser.validateLink = lambda url: bool(LINK.fullmatch(url))  # type: ignore[method-assign]
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


def _image(_: object, tokens: Sequence[Token], at: int, *__: Any) -> str:
    """Return a picture as what its author wrote: it would be fetched from elsewhere."""
    token = tokens[at]
    source, alt = escaped(token.attrGet("src") or ""), escaped(token.content)
    return f'<span class="tb-picture">picture{f": {alt}" if alt else ""} ({source})</span>'


def _link_open(_: object, tokens: Sequence[Token], at: int, *__: Any) -> str:
    target = escaped(tokens[at].attrGet("href") or "")
    return f'<a href="{target}" title="{target}" target="_blank" rel="noopener noreferrer nofollow">'


def _heading_open(_: object, tokens: Sequence[Token], at: int, *__: Any) -> str:
    """Return a heading as a paragraph that looks like one, so that the page's own headings stay its outline."""
    return f'<p class="tb-heading tb-{tokens[at].tag}">'


def _fence(_: object, tokens: Sequence[Token], at: int, *__: Any) -> str:
    token = tokens[at]
    language = token.info.split(maxsplit=1)[0] if token.info.split() else ""
    named = f'<span class="tb-language">{escaped(language)}</span>' if language else ""
    return (
        f'<div class="tb-code" tabindex="0" role="group" aria-label="code">'
        f"{named}<pre><code>{_coloured(token.content, language, '')}</code></pre></div>"
    )


def _coloured(code: str, language: str, _: str) -> str:
    """Return code with its words marked by kind; as it was written where the language is not one of the list."""
    if language.lower() not in LANGUAGES or len(code) > MOST_CODE:
        return html.escape(code)
    lexer = get_lexer_by_name(language.lower(), stripnl=False, ensurenl=False)
    marked: str = highlight(code, lexer, HtmlFormatter(nowrap=True, classprefix="tb-c-"))
    return marked
