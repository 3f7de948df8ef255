"""Text of models comes out as the characters it is, laid out where it is Markdown, and nothing in it can run."""

import html
import re
from html.parser import HTMLParser

import pytest

from viewer.old.text import MOST, exact, markdown_html, plain_html, readable, unlike

ALLOWED = frozenset(
    re.findall(
        r"\w+",
        "div p br strong em s a ul ol li blockquote hr code pre span table thead tbody tr th td "
        "math mrow mi mn mo mfrac msup msub msqrt mtext munderover msubsup mover munder mtable mtr mtd mspace",
    )
)


class Tags(HTMLParser):
    """Collects elements and attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: dict[str, str] = {}
        self.texts = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name: value or "" for name, value in attrs}

    def handle_data(self, data: str) -> None:
        self.texts += data


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        pytest.param("# One\n\n**two**", '<p class="tb-heading tb-h1">One</p><p><strong>two</strong></p>', id="marks"),
        pytest.param("```python\nx = 1\n```", '<span class="tb-c-mi">1</span>', id="code"),
        pytest.param("| a | b |\n|---|---|\n| 1 | 2 |", "<td>2</td>", id="table"),
        pytest.param("so $x^2$ is", "<msup><mi>x</mi><mn>2</mn></msup>", id="formula"),
        pytest.param("$$\n\\frac{a}{b}\n$$", "<mfrac>", id="formula on lines of its own"),
        pytest.param("\\(x^2\\) and \\[y_1\\]", "<msub>", id="formula in brackets"),
        pytest.param("你好，世界", "<p>你好，世界</p>", id="Chinese"),
        pytest.param("a\nb", "a<br />\nb", id="line break"),
    ],
)
def test_it_is_laid_out(text: str, wanted: str) -> None:
    assert wanted in markdown_html(text)


@pytest.mark.parametrize(
    "text",
    [
        "List<int>",
        "<div>",
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[a](javascript:alert(1))",
        "![a](data:image/png;base64,AA)",
        "&lt;b&gt; &amp;",
        "it costs $5 to $10",
        "<style>*{display:none}</style>",
        "</div></div><h1>x",
        "$\\text{<img src=x onerror=alert(1)>}$",
        "$\\href{javascript:alert(1)}{x}$",
        '```"><script>alert(1)</script>\nx\n```',
        "![](//evil.example/a.png)",
        '<https://example.org/"onmouseover=alert(1)>',
        "[x](https://example.org/'\"><svg/onload=alert(1)>)",
        "[x]: https://example.org\n[x]",
    ],
)
def test_it_stays_visible_and_nothing_in_it_runs(text: str) -> None:
    tags = Tags(markdown_html(text))
    assert tags.tags <= ALLOWED
    assert not [name for name in tags.attributes if name.startswith("on") or name in {"src", "style", "srcset"}]
    assert re.match("https?://|mailto:|$", tags.attributes.get("href", ""))
    words = re.findall("[A-Za-z0-9]{3,}", text)
    assert all(word in tags.texts + str(tags.attributes) for word in words)


def test_a_picture_is_shown_as_its_address_and_not_fetched() -> None:
    html = markdown_html("![a cat](https://example.org/cat.png)")
    assert "picture: a cat (https://example.org/cat.png)" in html
    assert "<img" not in html


def test_a_link_leads_out_without_telling_where_from() -> None:
    html = markdown_html("[here](https://example.org/?a=1&b=2)")
    assert 'href="https://example.org/?a=1&amp;b=2"' in html
    assert 'rel="noopener noreferrer nofollow"' in html


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("a\u202eb", "a⟨U+202E⟩b", id="turned"),
        pytest.param("a\x00b\x1b[2J", "a⟨U+0000⟩b⟨U+001B⟩[2J", id="control"),
        pytest.param("a\ud800b", "a⟨U+D800⟩b", id="half a character"),
        pytest.param("a\nb\tc", "a\nb\tc", id="lines and tabs"),
        pytest.param("👩‍🚀 é", "👩‍🚀 é", id="joined characters"),
    ],
)
def test_what_hides_is_shown(text: str, shown: str) -> None:
    assert readable(text) == shown


def test_a_text_comes_back_from_a_field_as_it_is_but_for_half_a_character() -> None:
    assert html.unescape(exact("a\u200bb\r\n<\"'&amp;\u202e")) == "a\u200bb\r\n<\"'&amp;\u202e"
    assert exact("\ud800") == "\ufffd"


@pytest.mark.parametrize("render", [markdown_html, plain_html])
def test_a_long_text_is_cut_with_a_notice_and_shown_whole_when_asked(render: object) -> None:
    text = "word " * 200_000
    cut = render(text, more="<a>all</a>")  # type: ignore[operator]
    assert len(cut) < 2 * MOST
    assert "980,000 of 1,000,000 characters are not shown. <a>all</a>" in cut
    assert len(render(text, whole=True)) > 1_000_000  # type: ignore[operator]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[" * MOST, id="brackets"),
        pytest.param(">" * MOST, id="quotes"),
        pytest.param("[a](" * (MOST // 4), id="links"),
        pytest.param("$" + "\\frac{" * 300 + "$", id="formula"),
        pytest.param("**a*b" * (MOST // 5), id="stars"),
        pytest.param("\n".join(" " * n + "- a" for n in range(150)), id="lists"),
    ],
)
def test_what_is_made_to_be_slow_is_shown_all_the_same(text: str) -> None:
    assert Tags(markdown_html(text)).tags <= ALLOWED


def test_nothing_is_said_to_be_nothing() -> None:
    assert "(no text)" in markdown_html(" \n")


@pytest.mark.parametrize(
    ("text", "other", "marked"),
    [
        pytest.param("a b c d e", "a b c d e", [], id="equal"),
        pytest.param("by 1666 as we know", "by 1665 as we know", ["by 1666"], id="short-run"),
        pytest.param("it was in 1666 and in all of London", "it was in 1665 and in all of London", ["1666"], id="word"),
        pytest.param("yes", "no", ["yes"], id="one-word"),
        pytest.param("x y", "", ["x y"], id="nothing-beside"),
        pytest.param("", "x", [], id="nothing"),
    ],
)
def test_words_that_another_text_has_not_are_found(text: str, other: str, marked: list[str]) -> None:
    assert [text[start:end] for start, end in unlike(text, other)] == marked


def test_differences_of_long_texts_of_one_word_are_found_at_once() -> None:
    assert unlike("a " * 200_000, "a " * 100_000 + "b") == []
