"""Units are counted as readers of the language count them."""

import time

import pytest

from harness.old.checks.check import Passage, Split
from harness.old.checks.units import UNITS, cells_of, spans_of, tables

TABLE = "Before:\n\n| pair | road |\n| --- | :-: |\n| a\\|b | north |\n| c | |\n\nAfter."
CODE = "Look:\n\n```python\nprint(1)\n\nprint(2)\n```\n\nDone.\n\n---\n"


def parts(unit: str, text: str) -> list[str]:
    return [text[start:end] for start, end in spans_of(unit, Passage.whole(text))]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        pytest.param("It isn't a well-being thing.", 5, id="apostrophes and hyphens join"),
        pytest.param("It costs 3.5 or 1,000 at 10:30.", 7, id="numbers are one word each"),
        pytest.param("one — two / three & four", 4, id="marks alone are none"),
        pytest.param("shop—open", 2, id="a dash parts"),
        pytest.param("**bold** and _soft_", 3, id="emphasis"),
        pytest.param("我喜欢iPhone 15手机", 7, id="Chinese by character, Latin by word"),
        pytest.param("你好，世界！", 4, id="Chinese marks are none"),
        pytest.param("これはペンです", 7, id="Japanese by character"),
        pytest.param("मैं हिन्दी बोलता हूँ", 4, id="vowel signs belong to their word"),
        pytest.param("Ő két órán át várt, s elment.", 7, id="Hungarian"),
        pytest.param("나는 학생입니다", 2, id="Korean by spaces"),
        pytest.param("Это не что-то", 3, id="Russian"),
        pytest.param("", 0, id="nothing"),
    ],
)
def test_words(text: str, count: int) -> None:
    assert len(parts("words", text)) == count


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("Dr. Ito came. She left!", ["Dr. Ito came.", "She left!"], id="an abbreviation"),
        pytest.param("I met J. R. Smith. He sat.", ["I met J. R. Smith.", "He sat."], id="initials"),
        pytest.param("I said no. See no. 5 of it.", ["I said no.", "See no. 5 of it."], id="a number's abbreviation"),
        pytest.param("So do I. Then x. We go.", ["So do I.", "Then x.", "We go."], id="a letter that is a word"),
        pytest.param("He cried “Stop!” and ran. Why?", ["He cried “Stop!” and ran.", "Why?"], id="it goes on small"),
        pytest.param('"Come in." She sat.', ['"Come in."', "She sat."], id="a quote is closed with its mark"),
        pytest.param("It costs 3.50 now... and more. Yes", ["It costs 3.50 now... and more."], id="an open end"),
        pytest.param("# A title.\n\nIt rains. It pours.", ["It rains.", "It pours."], id="headings are none"),
        pytest.param("Dear Amina,\n\nYou came. Thanks.\n\nNino", ["You came.", "Thanks."], id="a letter"),
        pytest.param("1. It rains.\n2. It pours.", ["It rains.", "It pours."], id="a numbered list"),
        pytest.param("It goes on\nin the next line. So.", ["It goes on\nin the next line.", "So."], id="wrapped"),
        pytest.param("我来了。你呢？“好！”他说。", ["我来了。", "你呢？", "“好！”", "他说。"], id="Chinese"),
        pytest.param("यह अच्छा है। वह भी।", ["यह अच्छा है।", "वह भी।"], id="Hindi"),
        pytest.param(
            "Pl. ez. 1848. március 15-én volt.", ["Pl. ez.", "1848. március 15-én volt."], id="Hungarian ordinal"
        ),
        pytest.param("...", [], id="marks alone"),
    ],
)
def test_sentences(text: str, said: list[str]) -> None:
    assert parts("sentences", text) == said


@pytest.mark.parametrize(
    ("unit", "text", "said"),
    [
        pytest.param("lines", "one\n\n  two  \n---\n```\nthree\n```", ["one", "two", "three"], id="lines"),
        pytest.param(
            "lines", TABLE, ["Before:", "| pair | road |", "| a\\|b | north |", "| c | |", "After."], id="rulers"
        ),
        pytest.param("paragraphs", "# Title\n\none\nstill\n \ntwo\n\n***\n", ["one\nstill", "two"], id="paragraphs"),
        pytest.param("headings", "# A\ntext\n## B\n#tag", ["# A", "## B"], id="headings"),
        pytest.param(
            "bullets", "* one\n- two\n  more\n\n+ three\n\ntail\n---", ["one", "two\n  more", "three"], id="bullets"
        ),
        pytest.param("bullets", "**bold** is none\n•tight", ["tight"], id="bullets without space"),
        pytest.param("items", "1. one\n2) two\n(3) three\n3.5 no", ["one", "two", "three\n3.5 no"], id="items"),
        pytest.param("items", "一、甲\n二、乙", ["甲", "乙"], id="Chinese items"),
        pytest.param("rows", TABLE, ["| a\\|b | north |", "| c | |"], id="rows"),
        pytest.param("cells", TABLE, ["a\\|b", "north", "c", ""], id="cells"),
        pytest.param("code", CODE, ["print(1)\n\nprint(2)\n"], id="code"),
        pytest.param("quotes", 'He: "a b", “c”, «d», 「戊」, „f“.', ["a b", "c", "d", "戊", "f"], id="quotes"),
        pytest.param("highlights", "*a* and **b c** but 2 * 3 * 4", ["a", "b c"], id="highlights"),
        pytest.param("placeholders", "Dear [name], [date]!", ["[name]", "[date]"], id="placeholders"),
        pytest.param("capital_words", "NASA met the EU and A Bob", ["NASA", "EU", "A"], id="capital words"),
        pytest.param("letters", "a-1 é", ["a", "1", "é"], id="letters"),
        pytest.param("characters", "a b\nc", ["a", " ", "b", "c"], id="characters"),
    ],
)
def test_parts(unit: str, text: str, said: list[str]) -> None:
    assert parts(unit, text) == said


def test_parts_between_a_text_leave_out_empty_ones() -> None:
    assert len(spans_of(Split("***"), Passage.whole("***\none\n***\ntwo"))) == 2


def test_a_passage_has_only_its_own_parts() -> None:
    whole = Passage.whole("one two\nthree")
    assert len(spans_of("words", whole.part(spans_of("line", whole)[0]))) == 2


def test_tables_are_found_with_their_headers() -> None:
    ((header, *body),) = tables(Passage.whole(TABLE))
    assert [TABLE[s:e] for s, e in cells_of(TABLE, header)] == ["pair", "road"]
    assert len(body) == 2


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a" * 30_000, id="one word"),
        pytest.param("- " * 30_000, id="dashes"),
        pytest.param("*" * 30_000, id="asterisks"),
        pytest.param("[" * 30_000, id="brackets"),
        pytest.param('"' * 30_000, id="quotation marks"),
        pytest.param("." * 30_000, id="dots"),
        pytest.param("a. " * 20_000, id="initials"),
        pytest.param("|-" * 30_000, id="rulers"),
        pytest.param("\n" * 30_000, id="blank lines"),
        pytest.param(" " * 30_000, id="spaces"),
        pytest.param("```\n" * 15_000, id="fences"),
        pytest.param("“„«" * 20_000, id="quotes never closed"),
        pytest.param("* " + "x\n* " * 15_000, id="bullets"),
        pytest.param("* x" + "\nx" * 15_000, id="a bullet of many lines"),
        pytest.param(" " * 30_000 + "|\n" + " " * 30_000 + "|", id="spaces before a bar"),
        pytest.param("`" * 30_000, id="backticks"),
    ],
)
@pytest.mark.parametrize("unit", UNITS)
def test_no_text_takes_long(unit: str, text: str) -> None:
    began = time.process_time()
    spans_of(unit, Passage.whole(text))
    assert time.process_time() - began < 20  # seconds; what is quadratic takes hours
