"""Voting in a real browser: by key and by button, blind, resumed by link; what lands on the disk is what was shown."""

import pathlib
import re
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from tests.old.browser.conftest import OpenView, settled
from tests.old.small_bench import rows

pytestmark = pytest.mark.browser


@pytest.fixture
def bench(demo_data: pathlib.Path) -> Iterator[pathlib.Path]:
    """Return a copy of the demo's benchmark that may be voted on, `voted`, of the same viewer."""
    yield shutil.copytree(demo_data / "small", demo_data / "voted")
    shutil.rmtree(demo_data / "voted")


def answers_of(bench: pathlib.Path) -> dict[tuple[int, int, str], str]:
    """Return which model gave an answer: by question, turn and the first words of its text as a page shows them."""
    found = {}
    for path in (bench / "model_answer").glob("*.jsonl"):
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
    bench: pathlib.Path, demo: str, open_view: OpenView
) -> None:
    page = open_view(demo, "?tab=vote&bench=voted")
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
    cast = rows(bench / "human_judgment" / "Ann.jsonl")
    assert [row["winner"] for row in cast] == ["model_a", "model_b", "tie", "tie (bothbad)"]
    assert [row["turn"] for row in cast] == [1, 2, 1, 2]
    assert {row["judge"] for row in cast} == {"Ann"}
    who = answers_of(bench)
    for row, (left, right) in zip(cast, seen, strict=True):
        where = (row["question_id"], row["turn"])
        assert (who[*where, left], who[*where, right]) == (row["model_a"], row["model_b"])


def test_a_vote_counts_that_is_cast_before_gradios_scripts_have_come(
    bench: pathlib.Path, demo: str, chromium: Any
) -> None:
    page = chromium.new_page()
    page.route("**/assets/*.js", lambda route: None)
    page.goto(demo + "?tab=vote&bench=voted&f.voter=Eve", wait_until="commit")
    page.locator("#tb-opening").get_by_role("button", name="A is better").click()
    page.unroute("**/assets/*.js")  # which lets go on what has waited
    settled(page, 1)
    assert [row["winner"] for row in rows(bench / "human_judgment" / "Eve.jsonl")] == ["model_a"]
    assert page.get_by_role("progressbar", name="votes").get_attribute("aria-valuenow") == "1"
    page.close()


def test_a_link_goes_on_where_the_voter_left_and_the_last_vote_can_be_changed(
    bench: pathlib.Path, demo: str, open_view: OpenView
) -> None:
    page = open_view(demo, "?tab=vote&bench=voted&f.voter=Bob")
    before = settled(page)
    page.get_by_role("button", name="A is better").click()
    settled(page, before)
    there = shown(page)
    again = open_view(demo, page.url.removeprefix(demo))
    assert shown(again) == there
    assert again.get_by_role("progressbar", name="votes").get_attribute("aria-valuenow") == "1"
    press(again, "u")
    again.get_by_text("You voted on this before: A is better.").wait_for()
    press(again, "b")
    assert shown(again) == there
    assert [row["winner"] for row in rows(bench / "human_judgment" / "Bob.jsonl")] == ["model_a", "model_b"]


def test_after_the_end_the_judges_stand_beside_the_votes(bench: pathlib.Path, demo: str, open_view: OpenView) -> None:
    page = open_view(demo, "?tab=vote&bench=voted&f.voter=Eve&f.max=3")
    for _ in range(3):
        assert page.get_by_text("Agreement with the judges").count() == 0
        press(page, "1")
    page.get_by_text("Thank you, Eve: you have cast 3 votes.").wait_for()
    before = settled(page)
    page.get_by_role("button", name="I have finished voting").click()
    settled(page, before)
    page.get_by_role("heading", name="Agreement with the judges").wait_for()
    page.get_by_role("rowheader", name="builtin/overlap").first.wait_for()


def test_the_buttons_stay_in_sight_and_a_name_that_cannot_be_is_refused_in_place(
    bench: pathlib.Path, demo: str, open_view: OpenView
) -> None:
    page = open_view(demo, "?tab=vote&bench=voted&f.voter=Cy", width=390, dark=True)
    box = page.locator(".tb-ballot").bounding_box()
    assert box["y"] + box["height"] <= 901
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page = open_view(demo, "?tab=vote&bench=voted&f.voter=..%2Fx")
    page.get_by_text("cannot be a voter's name").wait_for()
    assert not (bench / "human_judgment").exists()


def test_a_key_that_is_held_casts_one_vote_and_every_vote_can_be_changed(
    bench: pathlib.Path, demo: str, open_view: OpenView
) -> None:
    page = open_view(demo, "?tab=vote&bench=voted&f.voter=Dan")
    before = settled(page)
    for _ in range(20):
        page.keyboard.down("a")
    page.keyboard.up("a")
    settled(page, before)
    assert len(rows(bench / "human_judgment" / "Dan.jsonl")) == 1
    press(page, "b")
    press(page, "v")
    said = page.locator("#tb-found tbody tr").all_inner_texts()
    assert [("A is better" in row, "B is better" in row) for row in said] == [(False, True), (True, False)]
    before = settled(page)
    page.locator("#tb-found tbody th a").last.click()
    settled(page, before)
    page.get_by_text("You voted on this before: A is better.").wait_for()
    press(page, "t")
    cast = rows(bench / "human_judgment" / "Dan.jsonl")
    assert [row["winner"] for row in cast] == ["model_a", "model_b", "tie"]
    assert cast[2]["question_id"] == cast[0]["question_id"]
