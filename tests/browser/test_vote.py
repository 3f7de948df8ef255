"""Voting in a real browser: by key and by button, blind, resumed by link; what lands on the disk is what was shown."""

import pathlib
import re
import shutil
from typing import Any

import pytest

from tests.browser.conftest import OpenView, ServeViewer, settled
from tests.small_bench import rows

pytestmark = pytest.mark.browser


@pytest.fixture
def data(demo_data: pathlib.Path, tmp_path: pathlib.Path) -> pathlib.Path:
    """Return a copy of the demo's data that may be voted on."""
    shutil.copytree(demo_data, tmp_path / "data")
    return tmp_path / "data"


def answers_of(data: pathlib.Path) -> dict[tuple[int, int, str], str]:
    """Return which model gave an answer: by question, turn and the first words of its text as a page shows them."""
    found = {}
    for path in (data / "small" / "model_answer").glob("*.jsonl"):
        for row in rows(path):
            for turn, text in enumerate(row["choices"][0]["turns"], 1):
                found[row["question_id"], turn, words(text)] = row["model_id"]
    return found


def words(text: str) -> str:
    """Return a text without what Markdown and line breaks do to it."""
    return re.sub(r"[\W_]+", "", text)[:60]


def shown(page: Any) -> list[str]:
    """Return the texts of A and B that are to be voted on now, without what marks them up."""
    boxes = page.locator(".tb-side-1 .tb-text:visible, .tb-side-2 .tb-text:visible").all_inner_texts()
    return [words(text) for text in boxes[-2:]]


def press(page: Any, key: str) -> None:
    """Press a key and wait for the view that follows."""
    before = settled(page)
    page.keyboard.press(key)
    settled(page, before)


def test_votes_by_key_are_on_disk_under_the_models_that_were_shown(
    data: pathlib.Path, serve_viewer: ServeViewer, open_view: OpenView
) -> None:
    page = open_view(serve_viewer(data), "?tab=vote&bench=small")
    page.get_by_label("Your name").fill("Ann")
    before = settled(page)
    page.get_by_role("button", name="Begin").click()
    settled(page, before)
    assert "f.voter=Ann" in page.url
    seen = []
    for key in ("a", "b", "t", "x"):
        seen.append(shown(page))
        assert "builtin" not in page.locator("#tb-pane-vote").inner_text() + page.url
        press(page, key)
    cast = rows(data / "small" / "human_judgment" / "Ann.jsonl")
    assert [row["winner"] for row in cast] == ["model_a", "model_b", "tie", "tie (bothbad)"]
    assert [row["turn"] for row in cast] == [1, 2, 1, 2]
    assert {row["judge"] for row in cast} == {"Ann"}
    who = answers_of(data)
    for row, (left, right) in zip(cast, seen, strict=True):
        where = (row["question_id"], row["turn"])
        assert (who[*where, left], who[*where, right]) == (row["model_a"], row["model_b"])


def test_a_link_goes_on_where_the_voter_left_and_the_last_vote_can_be_changed(
    data: pathlib.Path, serve_viewer: ServeViewer, open_view: OpenView
) -> None:
    address = serve_viewer(data)
    page = open_view(address, "?tab=vote&bench=small&f.voter=Bob")
    before = settled(page)
    page.get_by_role("button", name="A is better").click()
    settled(page, before)
    there = shown(page)
    again = open_view(address, page.url.removeprefix(address))
    assert shown(again) == there
    assert again.get_by_role("progressbar", name="votes").get_attribute("aria-valuenow") == "1"
    press(again, "u")
    again.get_by_text("You voted on this before: A is better.").wait_for()
    press(again, "b")
    assert shown(again) == there
    assert [row["winner"] for row in rows(data / "small" / "human_judgment" / "Bob.jsonl")] == ["model_a", "model_b"]


def test_after_the_end_the_judges_stand_beside_the_votes(
    data: pathlib.Path, serve_viewer: ServeViewer, open_view: OpenView
) -> None:
    page = open_view(serve_viewer(data), "?tab=vote&bench=small&f.voter=Eve&f.max=3")
    for _ in range(3):
        assert page.get_by_text("How far the judges agree").count() == 0
        press(page, "1")
    page.get_by_text("Thank you, Eve: you have cast 3 votes.").wait_for()
    before = settled(page)
    page.get_by_role("button", name="I have finished voting").click()
    settled(page, before)
    page.get_by_role("heading", name="How far the judges agree").wait_for()
    page.get_by_role("rowheader", name="builtin/overlap").first.wait_for()


def test_the_buttons_stay_in_sight_and_a_name_that_cannot_be_is_refused_in_place(
    data: pathlib.Path, serve_viewer: ServeViewer, open_view: OpenView
) -> None:
    page = open_view(serve_viewer(data), "?tab=vote&bench=small&f.voter=Cy", width=390, dark=True)
    box = page.locator(".tb-ballot").bounding_box()
    assert box["y"] + box["height"] <= 901
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page = open_view(serve_viewer(data), "?tab=vote&bench=small&f.voter=..%2Fx")
    page.get_by_text("cannot be a voter's name").wait_for()
    assert not (data / "small" / "human_judgment").exists()


def test_read_only_has_no_tab_for_votes(
    demo_data: pathlib.Path, serve_viewer: ServeViewer, open_view: OpenView
) -> None:
    page = open_view(serve_viewer(demo_data, "--read-only"), "?tab=vote&bench=small&f.voter=Ann")
    assert page.get_by_role("tab", name="Vote").count() == 0
    assert page.locator("[role=tab][aria-selected=true]").inner_text() == "Leaderboard"
