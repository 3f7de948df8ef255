"""Reading in a real browser: keys, the turn of a link, the strip of questions, stepping, copying; wide and narrow."""

import re
from typing import Any

import pytest

from tests.old.browser.conftest import OpenView, settled

pytestmark = pytest.mark.browser
ANSWERS = "?tab=answers&bench=small&question=2&model=builtin%2Foutline"
COMPARE = "?tab=compare&bench=small&question=2&model=builtin%2Feliza&model=builtin%2Foutline"


def shows(page: Any, part: str) -> bool:
    """Return whether the top of a part is within the window."""
    box = page.locator(part).first.bounding_box()
    size = page.viewport_size
    return bool(box and 0 <= box["y"] < size["height"] and 0 <= box["x"] < size["width"])


@pytest.mark.parametrize("key", ["ArrowDown", "ArrowUp", "PageDown", "End", " "])
def test_keys_that_scroll_are_left_to_the_browser(key: str, open_view: OpenView, demo: str) -> None:
    page = open_view(demo, ANSWERS)
    before = page.url
    if key == "ArrowUp":
        page.evaluate("scrollTo(0, 400)")
    start = page.evaluate("scrollY")
    page.keyboard.press(key)
    page.wait_for_function(f"scrollY != {start}")
    assert page.url == before


def test_a_key_acts_once_for_each_press(open_view: OpenView, demo: str) -> None:
    page = open_view(demo, ANSWERS)
    before = settled(page)
    for _ in range(8):
        page.keyboard.down("j")  # after the first one they are repeats, as when a key is held
    page.keyboard.up("j")
    assert settled(page, before) == before + 1
    assert "question=3" in page.url


@pytest.mark.parametrize("address", [ANSWERS, COMPARE])
@pytest.mark.parametrize("width", [1440, 1024, 390])
def test_the_verdict_is_on_the_first_screen(address: str, width: int, open_view: OpenView, demo: str) -> None:
    page = open_view(demo, address, width=width)
    assert page.evaluate("scrollY") == 0
    assert shows(page, ".tb-verdicts .tb-chip")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("address", [ANSWERS, COMPARE])
@pytest.mark.parametrize("width", [1440, 390])
def test_a_link_to_turn_2_opens_there(address: str, width: int, open_view: OpenView, demo: str) -> None:
    page = open_view(demo, f"{address}&turn=2", width=width)
    page.wait_for_function("scrollY > 100")
    box = page.get_by_role("region", name="Turn 2").bounding_box()
    assert -1 <= box["y"] < 100


def test_a_question_of_the_strip_is_one_click_away(open_view: OpenView, demo: str) -> None:
    page = open_view(demo, ANSWERS)
    links = page.get_by_role("navigation", name="Questions by grade").get_by_role("link")
    assert links.count() == 6
    before = settled(page)
    page.get_by_role("link", name=re.compile(r"^Question 5: \d")).click()
    settled(page, before)
    assert "question=5" in page.url
    colours = links.evaluate_all("(all) => all.map((one) => getComputedStyle(one).backgroundColor)")
    assert len(set(colours)) > 1


def test_found_items_are_stepped_through_by_key_and_back_is_the_same_place(open_view: OpenView, demo: str) -> None:
    page = open_view(demo, "?tab=find&bench=small&f.sort=score")
    rows = page.locator("#tb-found tbody th a").evaluate_all("(all) => all.map((one) => one.href)")
    before = settled(page)
    page.locator("#tb-found tbody th a").first.click()
    before = settled(page, before)
    for _ in range(3):
        page.keyboard.press("]")
        before = settled(page, before)
    page.get_by_text("Found: 4 of").wait_for()
    assert page.url == rows[3]
    page.keyboard.press("[")
    before = settled(page, before)
    assert page.url == rows[2]
    page.keyboard.press("b")
    settled(page, before)
    assert page.locator("[role=tab][aria-selected=true]").inner_text() == "Find"
    assert page.locator("#tb-found a[aria-current]").get_attribute("href") in rows[2]


def test_an_answer_is_copied_as_it_was_written(open_view: OpenView, demo: str) -> None:
    page = open_view(demo, ANSWERS)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator(".tb-reference [data-copy]").first.click()
    page.get_by_role("button", name="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == "The Yangtze, $6300$ km."


def test_on_a_phone_the_score_of_what_was_found_is_on_the_screen(open_view: OpenView, demo: str) -> None:
    page = open_view(demo, "?tab=find&bench=small", width=390)
    box = page.locator("#tb-found tbody .tb-chip-score").first.bounding_box()
    assert box["x"] + box["width"] <= 390


def test_charts_are_dark_in_dark_mode(open_view: OpenView, demo: str) -> None:
    page = open_view(demo, "?tab=leaderboard&bench=small", dark=True)
    chart = page.locator(".tb-sheet svg").first
    ink = chart.evaluate("(svg) => getComputedStyle(svg.querySelector('text')).fill")
    assert sum(map(int, re.findall(r"\d+", ink)[:3])) > 400
    paper = chart.evaluate("(svg) => getComputedStyle(svg.closest('.tb-sheet')).backgroundColor")
    assert sum(map(int, re.findall(r"\d+", paper)[:3])) < 120


def test_lines_have_a_readable_measure(open_view: OpenView, demo: str) -> None:
    page = open_view(demo, ANSWERS)
    widths = page.locator(".tb-text > p").evaluate_all("(all) => all.map((one) => one.getBoundingClientRect().width)")
    assert widths
    assert max(widths) < 800
