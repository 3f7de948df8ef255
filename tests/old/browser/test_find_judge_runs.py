"""Find, Judge and Runs in a real browser: by click, key and link."""

import json
import pathlib
import shutil
import time
from typing import Any

import pytest

from tests.old.browser.conftest import OpenView, settled
from tests.old.small_bench import rows

pytestmark = pytest.mark.browser
FIND = "?tab=find&bench=small"


def selected(page: Any) -> str:
    """Return the name of the open tab."""
    return str(page.locator("[role=tab][aria-selected=true]").inner_text())


def test_a_filter_is_in_the_address_and_its_link_restores_it(open_view: OpenView, demo: str) -> None:
    page = open_view(demo, FIND)
    page.get_by_role("heading", name="36 of 36 grades").wait_for()
    before = settled(page)
    page.locator("#tb-f\\.category").select_option("math")
    before = settled(page, before)
    page.locator("#tb-f\\.min").fill("1")
    page.locator("#tb-f\\.min").press("Enter")
    settled(page, before)
    assert "f.category=math" in page.url
    assert "f.min=1" in page.url
    told = page.locator("#tb-pane-find h2").inner_text()
    again = open_view(demo, page.url.removeprefix(demo))
    assert again.locator("#tb-pane-find h2").inner_text() == told == "12 of 36 grades"
    assert again.locator("#tb-f\\.category").input_value() == "math"


def test_a_row_leads_to_its_answer_or_its_comparison(open_view: OpenView, demo: str) -> None:
    for mode, tab in (("single", "Answers"), ("pairwise-all", "Compare")):
        page = open_view(demo, f"{FIND}&mode={mode}&f.sort=-question")
        before = settled(page)
        page.get_by_role("link", name="Open question 6").first.click()
        settled(page, before)
        assert selected(page) == tab
        assert "question=6" in page.url


def test_a_head_sorts_and_a_key_clears(open_view: OpenView, demo: str) -> None:
    page = open_view(demo, FIND + "&turn=1")
    for wanted in ("f.sort=score", "f.sort=-score"):
        before = settled(page)
        page.locator("#tb-found th a", has_text="score").click()
        settled(page, before)
        assert page.url.endswith(wanted)
    scores = [float(text) for text in page.locator("#tb-found .tb-chip-score").all_inner_texts()]
    assert scores == sorted(scores, reverse=True)
    before = settled(page)
    page.keyboard.press("c")
    settled(page, before)
    assert "turn=" not in page.url


def test_a_text_is_found_in_answers(open_view: OpenView, demo: str) -> None:
    page = open_view(demo, FIND)
    before = settled(page)
    page.locator("#tb-f\\.text").fill("yenisei")
    page.locator("#tb-f\\.text").press("Enter")
    settled(page, before)
    page.get_by_role("heading", name="6 of 36 grades").wait_for()
    assert set(page.locator("#tb-found tbody td:nth-child(4)").all_inner_texts()) == {"builtin/reference"}


def test_the_judge_is_drawn(open_view: OpenView, demo: str) -> None:
    page = open_view(demo, "?tab=judge&bench=small")
    assert "judge=builtin%2Foverlap" in page.url
    page.get_by_role("group", name="chart of the report on position").locator("svg").wait_for()
    page.get_by_text("there are no votes; cast some in the tab Vote").first.wait_for()


def test_a_run_is_followed_without_a_click(
    demo: str, demo_data: pathlib.Path, open_view: OpenView, request: pytest.FixtureRequest
) -> None:
    bench = shutil.copytree(demo_data / "small", demo_data / "growing")
    request.addfinalizer(lambda: shutil.rmtree(bench))
    path = bench / "model_answer" / "new.jsonl"
    given = {row["question_id"]: row for row in rows(path.with_name("builtin%2Feliza.jsonl"))}

    def add(number: int) -> None:
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(given[number] | {"model_id": "new", "tstamp": time.time()}) + "\n")

    add(1)
    page = open_view(demo, "?tab=runs&bench=growing")
    line = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="new", exact=True))
    line.get_by_text("1 of 6").wait_for()
    page.get_by_text("running", exact=True).wait_for()
    add(2)
    line.get_by_text("2 of 6").wait_for(timeout=30_000)
