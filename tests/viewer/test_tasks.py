"""What readers come for, in a real browser: each task with its clicks and choices counted."""

import pathlib
from typing import Any

import pytest

from harness import store
from harness.types import Vote
from tests.viewer.small import small, write

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    folder = small(tmp_path_factory.mktemp("tasks"))
    vote = {"question_id": 1, "model_a": "ant", "model_b": "bee", "judge": "cyd", "turn": 1}
    write(folder / "small" / "human_judgment" / "cyd.jsonl", [{**vote, "winner": "model_b"}])
    return folder


class Reader:
    """Somebody who clicks, chooses and types; each of it is counted."""

    def __init__(self, watched: Any) -> None:
        self.watched, self.page, self.steps = watched, watched.page, 0

    def click(self, selector: str) -> None:
        """Click on what leads to another view."""
        self.steps += 1
        self.watched.leads(self.page.locator(f"{selector}:visible").first.click)

    def choose(self, label: str, value: str) -> None:
        """Choose an option of a drop-down."""
        self.steps += 1
        self.watched.choose(label, value)

    def press(self, key: str) -> None:
        """Press a key that leads to another view."""
        self.watched.leads(lambda: self.page.keyboard.press(key))

    @property
    def words(self) -> str:
        """What the page says."""
        return str(self.page.locator("[data-title]:visible").inner_text())


TAB = "#tb-tabs [role=tab][data-tab-id={}]"


@pytest.mark.parametrize("width", [1440, 1024, 390])
def test_where_a_model_loses_against_another_takes_four_steps(
    viewer: Any, data: pathlib.Path, watched: Any, width: int
) -> None:
    reader = Reader(watched)
    watched.open(viewer(data)[1], width=width)
    assert reader.words.startswith("ant is the best of 3 models")
    reader.choose("Model", "bee")
    reader.choose("against", "ant")
    assert "ant is better than bee" in reader.words
    reader.click("a[href*='only=win']:not([href*='turn='])")
    assert "10 verdicts" in reader.words
    reader.click(".tb-list tbody a")
    assert "ant is better" in reader.words
    assert reader.steps == 4


def test_flips_and_disagreement_with_people_take_two_clicks_each(
    viewer: Any, data: pathlib.Path, watched: Any
) -> None:
    for only, count in (("flipped", "6 verdicts"), ("people", "1 verdict")):
        reader = Reader(watched)
        watched.open(viewer(data)[1])
        reader.click(TAB.format("judges"))
        assert "agrees with people on" in reader.words
        reader.click(f".tb-table a[href*='only={only}']")
        assert count in reader.words
        assert reader.steps == 2


def test_a_verdict_with_its_prompt_takes_three_clicks(
    viewer: Any, data: pathlib.Path, watched: Any
) -> None:
    reader = Reader(watched)
    page = watched.open(viewer(data)[1])
    reader.click(TAB.format("verdicts"))
    reader.click(".tb-list tbody a")
    page.get_by_text("What the judge was shown").first.click()
    reader.steps += 1
    assert page.get_by_text("asked", exact=True).first.is_visible()
    assert reader.steps == 3


def test_all_reasons_with_a_word_need_no_click(
    viewer: Any, data: pathlib.Path, watched: Any
) -> None:
    reader = Reader(watched)
    page = watched.open(viewer(data)[1])
    reader.press("/")
    page.keyboard.type("likes cat")
    reader.press("Enter")
    assert "24 verdicts" in reader.words
    assert page.locator(".tb-list mark").first.inner_text() == "likes cat"
    assert reader.steps == 0


def test_ten_blind_votes_take_two_clicks_and_ten_keys(
    viewer: Any, data: pathlib.Path, watched: Any
) -> None:
    reader = Reader(watched)
    page = watched.open(viewer(data)[1])
    reader.click(TAB.format("vote"))
    page.get_by_label("Your name").fill("zoe")
    reader.click("button:has-text('Begin')")
    for key in "abtabtabta":
        reader.press(key)
    path = data / "small" / "human_judgment" / "zoe.jsonl"
    assert len(list(store.rows(path, Vote))) == 10
    assert reader.steps == 2


def test_two_readers_write_notes_at_once_and_see_each_others(
    viewer: Any, data: pathlib.Path, watched: Any, chromium: Any
) -> None:
    from tests.viewer.conftest import Watched

    context = chromium.new_context(locale="en-US")
    readers = {"ida": Reader(watched), "ole": Reader(Watched(context.new_page()))}
    for name, reader in readers.items():
        page = reader.watched.open(viewer(data)[1], "?tab=verdicts&judge=mo&model=cat")
        reader.click(".tb-list tbody a")
        page.get_by_text("Write a note").first.click()
        reader.steps += 1
        page.get_by_label("Your name").first.fill(name)
        page.get_by_label("What you think").first.fill(f"{name} thinks not")
    for reader in readers.values():
        reader.click("form:has(textarea) button")
        assert reader.steps == 3
    for reader in readers.values():
        notes = reader.page.locator(".tb-note:visible")
        reader.page.wait_for_function("document.querySelectorAll('.tb-note').length === 2")
        assert notes.all_inner_texts() == ["ida:\n\nida thinks not", "ole:\n\nole thinks not"]
    reader.click(TAB.format("verdicts"))
    reader.choose("Only", "with a note")
    assert "1 verdict;" in reader.words
    context.close()


def test_two_readers_at_once_see_each_their_own_view(
    viewer: Any, data: pathlib.Path, watched: Any, chromium: Any
) -> None:
    from tests.viewer.conftest import Watched

    context = chromium.new_context(locale="en-US")
    other = Watched(context.new_page())
    first, second = Reader(watched), Reader(other)
    address = viewer(data)[1]
    watched.open(address)
    other.open(address, "?tab=questions&model=cat&sort=low")
    first.choose("Model", "bee")
    second.click(".tb-list tbody a")
    first.choose("against", "cat")
    assert "What is 5?" in second.words
    assert "bee is better than cat" in first.words
    context.close()
    assert other.faults == []
