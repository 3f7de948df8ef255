"""The sheet: names as text, the same SVG every time, nothing that points elsewhere."""

import re
from xml.etree import ElementTree

import pytest

from harness.old.showing.charts.sheet import (
    COLOURS,
    INK,
    QUIET,
    RULE,
    SHEET,
    Sheet,
    ems_of,
    places_of,
    shortened,
    text_width,
    ticks,
)
from tests.old.showing.charts.pictures import HOSTILE, SVG, root_of, styles_of, texts_of, tips_of


def drawn(name: str = "a", ems: float | None = None) -> str:
    sheet = Sheet(100.0, 50.0, f"about {name}")
    sheet.box(0.0, 0.0, 10.0, 10.0, "#ff0000")
    sheet.line([0.0, 10.0], [5.0, 5.0], dashes=(4, 2))
    sheet.dot(5.0, 5.0, 2.0, "#00ff00", hollow=True)
    for kind in range(4):
        sheet.marker(20.0 + 5 * kind, 20.0, kind, 3.0, "#0000ff")
    sheet.text(50.0, 25.0, name, ems=ems)
    return sheet.svg()


@pytest.mark.parametrize("name", HOSTILE[:2] + HOSTILE[3:6])
def test_any_name_is_text_and_nothing_else(name: str) -> None:
    assert texts_of(drawn(name)) == [name]
    assert root_of(drawn(name)).get("aria-label") == f"about {name}"


def test_what_hides_or_moves_is_escaped() -> None:
    assert texts_of(drawn(HOSTILE[6])) == [r"a\u202eb\x00\n\x1b[2J"]


def test_a_long_name_is_shortened_in_the_middle_and_whole_in_the_tooltip() -> None:
    svg = drawn(HOSTILE[2], ems=8.0)
    assert texts_of(svg) == ["xxxxx…yyyyy"]
    assert tips_of(svg) == [HOSTILE[2]]


def test_a_short_name_has_no_tooltip() -> None:
    assert tips_of(drawn("gpt-4", ems=8.0)) == []


def test_a_name_from_right_to_left_keeps_its_place() -> None:
    style = styles_of(drawn("مساعد-13b"))["مساعد-13b"]
    assert "direction: rtl" in style
    assert "text-anchor: end" in style
    assert "rtl" not in drawn("model مساعد")


def test_the_same_drawing_is_the_same_text() -> None:
    assert drawn() == drawn()


@pytest.mark.parametrize("colour", [INK, QUIET, RULE, SHEET, *COLOURS])
def test_colours_follow_the_page_and_have_one_to_fall_back_on(colour: str) -> None:
    assert re.fullmatch(r"var\(--tb-[a-z0-9-]+, #[0-9a-f]{6}\)", colour)


def test_the_picture_has_its_size_in_pixels_and_bends_to_its_place() -> None:
    root = root_of(drawn())
    assert (root.get("width"), root.get("height"), root.get("viewBox")) == ("100", "50", "0 0 100 50")
    assert "width: 100%" in root.get("style", "")
    assert root.get("role") == "img"


def test_shapes_are_drawn_in_their_order() -> None:
    tags = [element.tag.removeprefix(SVG) for element in ElementTree.fromstring(drawn())]
    assert tags == ["path"] * 7 + ["text"]


@pytest.mark.parametrize(
    ("text", "ems", "short"),
    [
        pytest.param("gpt-4", 10.0, "gpt-4", id="fits"),
        pytest.param("abcdefghijklmnop", 5.0, "abc…nop", id="latin"),
        pytest.param("模型甲乙丙丁戊己", 5.0, "模型…戊己", id="chinese"),
        pytest.param("", 5.0, "", id="empty"),
    ],
)
def test_names_are_shortened_to_a_width(text: str, ems: float, short: str) -> None:
    assert shortened(text, ems) == short
    assert ems_of(short) <= ems


def test_the_room_for_names_is_that_of_the_widest() -> None:
    assert text_width(["a", "WWWW"], 10.0, 10.0) == 40.0
    assert text_width(["W" * 50], 10.0, 10.0) <= 100.0
    assert text_width([], 10.0) == 0.0


def test_ticks_are_round_and_hold_the_values() -> None:
    assert ticks(2.3, 9.3) == [2.0, 4.0, 6.0, 8.0, 10.0]
    assert ticks(0.31, 0.68) == [0.3, 0.4, 0.5, 0.6, 0.7]
    assert ticks(-0.02, 0.02, most=4) == [-0.02, -0.01, 0.0, 0.01, 0.02]
    assert ticks(1.0, 10.0, most=5)[-1] == 10.0
    assert (places_of([0.0, 0.25, 0.5]), places_of([1.0, 2.0])) == (2, 0)
