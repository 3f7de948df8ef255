"""Whatever a model writes is laid out or shown as it was written, soon."""

import random
import re

import pytest
from pygments.lexers import get_all_lexers

from tests.old.viewer.test_text import ALLOWED, Tags
from viewer.old import text
from viewer.old.limited import TooLong
from viewer.old.styling import LANGUAGES, MOST_CODE, MOST_FORMULAS, MOST_PARTS, styled
from viewer.old.text import MOST_LINES, markdown_html, time_of_view

PATTERNS = (
    '"' * 81 + "\n",
    "\\" * 75 + "a",
    "a " * 600 + "!",
    "\n" * 1_200,
    "a." * 600,
    "(" * 600 + "[{" * 300,
    "<a " * 400,
    "x" * 1_200,
)
"""What made lexers backtrack: endless quotes, escapes, words, lines, names, brackets, tags."""
MARKDOWN = (
    "- ",
    "> ",
    "* ",
    "**",
    "_",
    "`",
    "```",
    "\n",
    "\n\n",
    "[a](",
    ")",
    "![",
    "|",
    "|-|",
    "#",
    "a",
    " ",
    "<",
    "&",
    "~~",
)
LATEX = (
    "\\frac", "{", "}", "\\left(", "\\right)", "^", "_", "&", "\\\\", "\\sqrt", "\\begin{matrix}", "\\end{matrix}", "x",
    "\\text{", "\\sum", "\\hat", "\\binom", "\\overline", "'", " ",
)  # fmt: skip


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let every text take too long, and return those that were tried."""
    tried: list[str] = []

    class Slow:
        def call(self, given: str, seconds: float) -> None:
            tried.append(given)
            raise TooLong

    monkeypatch.setattr(text, "_styling", Slow)
    return tried


@pytest.mark.parametrize("pattern", PATTERNS, ids=[repr(pattern[:2]) for pattern in PATTERNS])
def test_no_language_holds_up_the_viewer(pattern: str) -> None:
    names = {alias for _, aliases, _, _ in get_all_lexers() for alias in aliases} | LANGUAGES
    assert len(names) > 600
    for name in sorted(names):
        html = markdown_html(f"````````{name}\n{pattern}\n````````", whole=True)
        assert "tb-code" in html or "Shown unformatted" in html
        if name not in LANGUAGES:
            assert "tb-c-" not in html


@pytest.mark.parametrize("seed", range(8))
def test_random_markdown_and_formulas_are_shown(seed: int) -> None:
    drawn = random.Random(seed)
    for _ in range(12):
        marks = "".join(drawn.choice(MARKDOWN) for _ in range(3_000))
        formula = "".join(drawn.choice(LATEX) for _ in range(drawn.randint(1, 200)))
        assert Tags(markdown_html(marks)).tags <= ALLOWED
        assert Tags(markdown_html(f"$${formula}$$ and ${formula}$")).tags <= ALLOWED


def test_a_text_that_takes_too_long_is_shown_as_it_was_written_and_not_tried_again(calls: list[str]) -> None:
    for _ in range(3):
        html = markdown_html("**slow** one")
        assert '<pre class="tb-plain">**slow** one</pre>' in html
        assert "Shown unformatted" in html
    assert calls == ["**slow** one"]


def test_all_texts_of_a_view_share_its_time(calls: list[str]) -> None:
    with time_of_view():
        shown = [markdown_html(f"slow number {number}") for number in range(20)]
    assert len(calls) == 2
    assert all("Shown unformatted" in html for html in shown)
    with time_of_view():
        markdown_html("slow number 19")
    assert len(calls) == 3


@pytest.mark.parametrize(
    "written",
    [
        pytest.param("- a\n" * 20_000, id="list marks"),
        pytest.param("```python\n" + "x = 1\n" * 5_000, id="unclosed fence"),
        pytest.param("word\n" * 10_000, id="lines"),
    ],
)
def test_the_first_part_is_shown_and_then_all_when_asked(written: str) -> None:
    first = markdown_html(written, more="<a>all</a>")
    assert len(first) < 150_000
    assert re.search(r"Cut here: [\d,]+ of [\d,]+ characters are not shown. <a>all</a>", first)
    assert first.count("<li>") <= MOST_LINES
    whole = markdown_html(written, whole=True)
    assert "Cut here" not in whole


def test_a_text_of_too_many_parts_is_shown_as_it_was_written() -> None:
    assert styled("*a* " * (MOST_PARTS // 2)).startswith('<pre class="tb-plain">')
    assert styled("*a* " * 100).startswith("<p>")


def test_of_many_formulas_the_first_are_drawn() -> None:
    html = styled(" ".join(f"$x_{{{n}}}$" for n in range(MOST_FORMULAS + 50)))
    assert html.count("<math") == MOST_FORMULAS
    assert f"<code>$x_{{{MOST_FORMULAS}}}$</code>" in html


def test_long_code_is_not_coloured() -> None:
    assert "tb-c-" in styled("```python\nimport this\n```")
    assert "tb-c-" not in styled("```python\n" + "import this\n" * (MOST_CODE // 12 + 1) + "```")
