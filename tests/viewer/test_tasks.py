"""What readers come for, in a real browser: each task with its clicks and choices counted."""

import json
import pathlib
from typing import Any

import pytest

import harness
from harness import store
from harness.cli.main import viewer as main
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

    def follow(self, selector: str) -> None:
        """Click on what leads to another page from disk."""
        self.steps += 1
        self.page.locator(f"{selector}:visible").first.click()
        self.page.wait_for_load_state()

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


def test_what_got_worse_since_another_run_takes_three_steps(
    viewer: Any, data: pathlib.Path, watched: Any, tmp_path: pathlib.Path
) -> None:
    old = small(tmp_path)
    judged = old / "small" / "model_judgment" / "lu_single.jsonl"
    grade = json.loads(judged.read_text().splitlines()[26])  # of cat
    write(judged, [{**grade, "score": 10}], "ab")
    reader = Reader(watched)
    page = watched.open(viewer(data, "--compare-with", str(old))[1])
    reader.choose("Compare with", f"the other run: {tmp_path.name}")
    assert "this run less the other run" in reader.words
    assert reader.steps == 1
    reader = Reader(watched)
    watched.open(viewer(data, "--compare-with", str(old))[1])
    reader.click(TAB.format("verdicts"))
    assert "Grades: 1 got worse by 1 or more, 0 better" in reader.words
    reader.choose("Only", "worse than in the other run")
    reader.click(".tb-list tbody a")
    assert "lu likes cat here" in reader.words
    assert page.locator("[data-here]").count() == 1
    assert reader.steps == 3


def test_a_ballot_there_and_back_takes_a_key_a_vote_and_three_clicks(
    viewer: Any, watched: Any, tmp_path: pathlib.Path
) -> None:
    home, ballot, votes = small(tmp_path / "data"), tmp_path / "b.html", tmp_path / "votes.jsonl"
    assert main(["--data-dir", str(home), "--ballot", str(ballot), "4"]) == 0
    reader, page = Reader(watched), watched.page
    page.goto(ballot.as_uri())
    for key in "abta":
        page.keyboard.press(key)
    page.get_by_label("Your name").fill("Ida")
    with page.expect_download() as saved:
        reader.follow("#save")
    saved.value.save_as(votes)
    harness.import_data("votes", [votes], "small", data_dir=home)
    watched.open(viewer(home)[1])
    reader.click(TAB.format("verdicts"))
    reader.choose("Judge", "Ida")
    assert "4 verdicts" in reader.words
    assert reader.steps == 3


def test_pages_from_disk_answer_in_two_and_three_clicks(
    data: pathlib.Path, watched: Any, tmp_path: pathlib.Path
) -> None:
    assert main(["--data-dir", str(data), "--export", str(tmp_path)]) == 0
    first = (tmp_path / "index.html").as_uri()
    reader, page = Reader(watched), watched.page
    page.goto(first)
    assert "ant is the best of 3 models" in page.inner_text("main")
    reader.follow("main a:text-is('cat')")
    reader.follow(".tb-list tbody a")
    assert "What is 5?" in page.inner_text("main")
    assert reader.steps == 2
    reader = Reader(watched)
    page.goto(first)
    reader.follow("nav a:text-is('Judges')")
    reader.follow(".tb-table a[href*='flipped']")
    reader.follow(".tb-list tbody a")
    assert "changed with the order: a tie" in page.inner_text("main")
    assert reader.steps == 3


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
