"""Leaderboard, Answers and Compare in a real browser: by click, key and link."""

import re
from typing import Any

import pytest

from tests.old.browser.conftest import OpenView, settled

pytestmark = pytest.mark.browser
ANSWERS = "?tab=answers&bench=small&question=2&model=builtin%2Foutline"
COMPARE = "?tab=compare&bench=small&question=2&model=builtin%2Feliza&model=builtin%2Foutline"


def selected(page: Any) -> str:
    """Return the name of the open tab."""
    return str(page.locator("[role=tab][aria-selected=true]").inner_text())


def test_the_leaderboard_opens_first_and_names_its_judge_in_the_address(open_view: OpenView, demo: str) -> None:
    page = open_view(demo)
    assert selected(page) == "Leaderboard"
    assert "judge=builtin%2Foverlap" in page.url
    page.get_by_role("heading", name="Scores").wait_for()
    page.get_by_role("img", name=re.compile("average score of 3 models")).wait_for()


@pytest.mark.parametrize("name", ["Leaderboard", "Answers", "Compare", "Find", "Judge", "Vote", "Runs"])
def test_every_tab_opens_by_click_and_its_address_opens_it_again(name: str, open_view: OpenView, demo: str) -> None:
    page = open_view(demo, "?tab=answers" if name == "Leaderboard" else "?tab=leaderboard")
    before = settled(page)
    page.get_by_role("tab", name=name).click()
    settled(page, before)
    link = page.url
    assert f"tab={name.lower()}" in link
    again = open_view(demo, link.removeprefix(demo))
    assert selected(again) == name
    assert again.url == link


def test_a_link_opens_the_same_question_and_model(open_view: OpenView, demo: str) -> None:
    page = open_view(demo, ANSWERS)
    assert selected(page) == "Answers"
    assert page.locator("#tb-question").input_value() == "2"
    assert page.locator("#tb-model").input_value() == "builtin/outline"
    assert page.get_by_role("heading", name="Reference by ref").count() == 2


def test_keys_go_to_the_next_and_the_previous_question_and_model(open_view: OpenView, demo: str) -> None:
    page = open_view(demo, ANSWERS)
    for key, wanted in (
        ("j", "question=3"),
        ("ArrowRight", "question=4"),
        ("k", "question=3"),
        ("n", "model=builtin%2Freference"),
    ):
        before = settled(page)
        page.keyboard.press(key)
        settled(page, before)
        assert wanted in page.url


def test_keys_pressed_in_a_field_are_text(open_view: OpenView, demo: str) -> None:
    page = open_view(demo, ANSWERS)
    page.locator("#tb-question").press("j")
    assert "question=2" in page.url
    assert sorted(page.locator("#tb-question").input_value()) == ["2", "j"]


def test_the_browsers_back_button_goes_back(open_view: OpenView, demo: str) -> None:
    page = open_view(demo, ANSWERS)
    before = settled(page)
    page.get_by_role("link", name=re.compile("Next question")).click()
    before = settled(page, before)
    page.go_back()
    settled(page, before)
    assert "question=2" in page.url
    assert page.locator("#tb-question").input_value() == "2"


def test_a_question_is_chosen_by_its_id_and_a_model_from_the_list(open_view: OpenView, demo: str) -> None:
    page = open_view(demo, ANSWERS)
    before = settled(page)
    page.locator("#tb-question").fill("5")
    page.locator("#tb-question").press("Enter")
    before = settled(page, before)
    assert "question=5" in page.url
    page.locator("#tb-model").select_option("builtin/eliza")
    settled(page, before)
    assert "model=builtin%2Feliza" in page.url
    assert "question=5" in page.url


def test_a_number_of_the_leaderboard_leads_to_the_judgments_behind_it(open_view: OpenView, demo: str) -> None:
    page = open_view(demo, "?tab=leaderboard&bench=small")
    before = settled(page)
    page.locator("td a[href*='f.category']").first.click()
    settled(page, before)
    assert selected(page) == "Find"
    assert "f.category=" in page.url
    assert "model=builtin" in page.url


def test_the_mode_changes_with_a_click_and_keeps_the_judge(open_view: OpenView, demo: str) -> None:
    page = open_view(demo, "?tab=leaderboard&bench=small")
    before = settled(page)
    page.get_by_role("link", name="all pairs", exact=True).click()
    settled(page, before)
    assert "mode=pairwise-all" in page.url
    assert "judge=builtin%2Foverlap" in page.url
    page.get_by_role("heading", name="Every two models").wait_for()


def test_the_radar_shows_the_models_that_were_ticked(open_view: OpenView, demo: str) -> None:
    page = open_view(demo, "?tab=leaderboard&bench=small")
    page.get_by_text("Models shown").click()
    before = settled(page)
    page.get_by_role("checkbox", name="builtin/eliza").uncheck()
    settled(page, before)
    label = page.get_by_role("img", name=re.compile("by category of")).get_attribute("aria-label")
    assert "builtin/eliza" not in label
    assert "builtin/outline" in label


def test_verdicts_are_named_by_model_and_both_games_are_there(open_view: OpenView, demo: str) -> None:
    page = open_view(demo, COMPARE)
    chips = page.locator(".tb-judged summary .tb-chip").all_inner_texts()
    assert any(re.match(r"Game 1: (builtin/\w+ wins|tie)", chip) for chip in chips)
    assert any(re.match(r"Game 2: (builtin/\w+ wins|tie)", chip) for chip in chips)
    assert page.get_by_text("The judge saw builtin/outline as A and builtin/eliza as B.").count() == 2


def test_the_sides_of_a_comparison_stand_at_the_same_height(open_view: OpenView, demo: str) -> None:
    page = open_view(demo, COMPARE)
    left, right = (page.locator(f".tb-side-{side}").first.bounding_box() for side in (1, 2))
    assert left["y"] == right["y"]
    assert left["x"] < right["x"]
