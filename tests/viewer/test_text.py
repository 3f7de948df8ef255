"""Whatever a text holds, its HTML has only our elements, and attributes that fetch nothing."""

import re
import time
from collections.abc import Callable
from html.parser import HTMLParser

import pytest

from tests.viewer.hostile import TEXTS
from viewer import text

ALLOWED = re.compile(
    r"div|p|span|a|ul|ol|li|em|strong|s|code|pre|blockquote|hr|br|table|thead|tbody|tr|th|td|mark|"
    r"math|m(row|i|n|o|s|text|space|sup|sub|frac|sqrt|style|padded)"
)
ATTRIBUTES = re.compile(
    r"class|dir|href|title|target|rel|tabindex|role|aria-label|start|"
    r"alttext|display|mathvariant|stretchy|fence|separator"
)


class Elements(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)


SHOWN: dict[str, Callable[[str], str]] = {
    "styled": text.styled,
    "plain": text.plain,
    "unlike": lambda written: text.unlike(written, "other words"),
    "marked": lambda written: text.marked(text.styled(written), "<s"),
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("how", SHOWN)
def test_a_hostile_text_is_nothing_but_text(name: str, how: str) -> None:
    written, seen = TEXTS[name]
    elements = Elements(SHOWN[how](written))
    for tag, attributes in elements.found:
        assert ALLOWED.fullmatch(tag)
        assert all(map(ATTRIBUTES.fullmatch, attributes))
        assert (attributes.get("href") or "https://").startswith(("http://", "https://", "mailto:"))
    assert seen in "".join(elements.words)


def test_formulas_are_drawn_and_prices_are_not() -> None:
    assert "<mfrac>" in text.styled(r"half: $\frac{1}{2}$")
    assert text.styled("\\[\nx^2\n\\]").count("<math") == 1
    assert "<math" not in text.styled("from $5 to $10, or ${a}/${b}")


@pytest.mark.parametrize(
    ("written", "rows"),
    [
        pytest.param(
            "\\[\n\\begin{aligned}\na &= b \\\\\nc &= d\n\\end{aligned}\n\\]", 2, id="aligned"
        ),
        pytest.param("\\begin{align*}\na &= b \\\\\nc &= d\n\\end{align*}", 2, id="align"),
        pytest.param("\\begin{gather}\na = b \\\\\nc = d\n\\end{gather}", 2, id="gather"),
        pytest.param("\\begin{equation}\na = b \\label{eq:1}\n\\end{equation}", 0, id="equation"),
    ],
)
def test_equations_are_drawn_with_and_without_signs_around_them(written: str, rows: int) -> None:
    page = text.styled(f"So:\n\n{written}\n\nThat is it.")
    drawn = page.partition("<math")[2].partition(">")[2].partition("</math>")[0]
    assert drawn.count("<mtr") == rows
    assert not re.search("label|&amp;|begin", drawn)


def test_code_is_coloured_where_the_language_is_known() -> None:
    assert 'class="tb-c-k"' in text.styled("```python\nreturn 1\n```")
    assert "tb-c-" not in text.styled("```brainfuck\nreturn 1\n```")


def test_a_long_text_is_cut_and_says_so() -> None:
    page = text.styled("sea " * 10_000)
    assert page.count("sea ") == 10_000
    assert "From here on as it was written" in page
    page = text.styled("word " * 50_000)
    assert len(page) < 201_000
    assert "50,000 of 250,000 characters" in page


@pytest.mark.parametrize(
    "written",
    [
        "[" * 20_000,
        "*a " * 7_000,
        ">" * 20_000,
        "|a" * 1_900 + "|\n" + "|-" * 1_900 + "|\n" + "a\n" * 4_000,
        "\n".join("`" * n for n in range(1, 190)),
        "![" * 10_000,
        "$a" * 10_000,
        "\\begin{align}\n" * 1_500,
    ],
)
def test_no_text_takes_long(written: str) -> None:
    begun = time.process_time()
    text.styled(written)
    assert time.process_time() - begun < 2


def test_what_hides_or_turns_other_characters_is_shown() -> None:
    assert text.escaped("a\u202eb\x00") == "a⟨U+202E⟩b⟨U+0000⟩"


def test_a_mark_breaks_no_sign_and_no_tag() -> None:
    page = text.styled("a < b & class [p](https://p.example)")
    assert text.marked(page, "lt") == text.marked(page, "amp") == page
    assert text.marked(page, "< b").count("<mark>&lt; b</mark>") == 1
    assert text.marked(page, "p").count("<mark>") == 1


def test_what_only_one_of_two_texts_has_is_marked() -> None:
    page = text.unlike("the sea is deep and blue", "the sea is deep and wide")
    assert page == '<pre class="tb-plain">the sea is deep and <mark>blue</mark></pre>'
    assert "<mark>" not in text.unlike("the same words", "the same words")
