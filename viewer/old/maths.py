r"""LaTeX between dollars, `\(...\)` and `\[...\]` in Markdown, as MathML, which browsers render natively.

    "cost is $\frac{a}{b}$"  ->  cost is <math>...</math>          "from $5 to $10"  ->  stays as it is

A formula that cannot be parsed stays text. The MathML is rebuilt from a closed list of elements, so
that the output can contain nothing else.
"""

import functools
import html
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING
from xml.etree import ElementTree

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

_LONGEST = 2_000
"""Characters of a formula that is still drawn."""
_DELIMITERS = (("$$", "$$"), ("\\[", "\\]"), ("\\(", "\\)"), ("$", "$"))
_BLOCKS = {"$$": "$$", "\\[": "\\]"}
_WORD = re.compile(r"\w+")
_ELEMENTS = frozenset(
    _WORD.findall(
        "math mrow mi mn mo ms mtext mspace msup msub msubsup mfrac msqrt mroot mover munder munderover mtable mtr mtd "
        "mstyle mpadded mphantom menclose mmultiscripts mprescripts none semantics"
    )
)
_ATTRIBUTES = frozenset(
    _WORD.findall(
        "display mathvariant stretchy fence separator accent accentunder columnalign rowalign linethickness notation "
        "width height depth lspace rspace minsize maxsize movablelimits form displaystyle scriptlevel columnspacing "
        "rowspacing columnlines rowlines symmetric largeop"
    )
)
_VALUE = re.compile(r"[\w .%+-]{1,60}")


def add_maths(markdown: "MarkdownIt") -> None:
    """Teach a Markdown parser formulas."""
    markdown.inline.ruler.before("escape", "maths", _inline)
    markdown.block.ruler.before("fence", "maths_block", _block, {"alt": ["paragraph", "blockquote", "list"]})
    markdown.add_render_rule("maths", _render)


def _inline(state: "StateInline", silent: bool) -> bool:
    for opening, closing in _DELIMITERS:
        if not state.src.startswith(opening, state.pos):
            continue
        start = state.pos + len(opening)
        end = state.src.find(closing, start, start + _LONGEST)
        while end > 0 and state.src[end - 1] == "\\" and closing == "$":
            end = state.src.find(closing, end + 1, start + _LONGEST)
        formula = state.src[start:end] if end > 0 else ""
        if not formula.strip() or (opening == "$" and not _is_formula(formula, state.src[end + 1 : end + 2])):
            if opening == "$$":
                return False
            continue
        if not silent:
            token = state.push("maths", "", 0)
            token.content = formula
            token.markup = opening
            token.info = closing
        state.pos = end + len(closing)
        return True
    return False


def _is_formula(text: str, after: str) -> bool:
    """Return whether what stands between two single dollars is a formula, and not two prices or `${a}/${b}`."""
    if text[0].isspace() or text[-1].isspace() or "\n\n" in text or "`" in text:
        return False
    return not (after and after.isascii() and (after.isalnum() or after in "{_"))


def _block(state: "StateBlock", first: int, last: int, silent: bool) -> bool:
    begin = state.bMarks[first] + state.tShift[first]
    opening = state.src[begin : begin + 2]
    closing = _BLOCKS.get(opening)
    if closing is None or state.is_code_block(first):
        return False
    for line in range(first, min(last, first + 60)):
        end = state.src.find(closing, begin + 2 if line == first else state.bMarks[line], state.eMarks[line])
        if end < 0:
            continue
        if state.src[end + 2 : state.eMarks[line]].strip():
            return False
        formula = state.src[begin + 2 : end]
        if not formula.strip() or len(formula) > _LONGEST:
            return False
        if not silent:
            token = state.push("maths", "", 0)
            token.content, token.markup, token.info, token.block = formula, opening, closing, True
            token.map = [first, line + 1]
            state.line = line + 1
        return True
    return False


def _render(_: object, tokens: "Sequence[Token]", at: int, *__: object) -> str:
    token = tokens[at]
    as_block = token.markup in _BLOCKS
    drawn = None if token.meta.get("written") else mathml(token.content, as_block=as_block)
    if drawn is None:
        return f"<code>{html.escape(token.markup + token.content + token.info)}</code>"
    return (
        f'<span class="tb-maths" tabindex="0" role="group" aria-label="formula">{drawn}</span>' if as_block else drawn
    )


@functools.lru_cache(maxsize=1024)
def mathml(formula: str, *, as_block: bool = False) -> str | None:
    """Return the formula as a `<math>` element; None if it cannot be read."""
    from latex2mathml.converter import convert

    try:
        root = ElementTree.fromstring(convert(formula.strip(), display="block" if as_block else "inline"))
        clean = _clean(root)
    except Exception:  # the library has no error of its own, and raises whatever its input leads to
        return None
    if clean is None:
        return None
    clean.set("alttext", formula.strip())
    return ElementTree.tostring(clean, encoding="unicode")


def _clean(element: ElementTree.Element) -> ElementTree.Element | None:
    """Return the element rebuilt from its known parts; None if it is of an unknown kind."""
    tag = element.tag.rpartition("}")[2]
    if tag not in _ELEMENTS:
        return None
    kept = {name: value for name, value in element.attrib.items() if name in _ATTRIBUTES and _VALUE.fullmatch(value)}
    clean = ElementTree.Element(tag, kept)
    clean.text, clean.tail = element.text, element.tail
    for part in element:
        inside = _clean(part)
        if inside is not None:
            clean.append(inside)
    return clean
