"""In a real browser: the walks that users take, keys, Back, phones, and nothing hostile runs."""

import csv
import json
import pathlib
import re
import shutil
from typing import Any

import msgspec
import pytest

from harness import store
from harness.cli.main import viewer as main
from harness.types import Judgment, Vote
from tests.viewer.hostile import TEXTS
from tests.viewer.small import MODELS, numbered, small, write
from viewer.notes import note_on
from viewer.state import parse

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return small(tmp_path_factory.mktemp("viewer"))


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Return a benchmark in which every text and name is hostile."""
    home = tmp_path_factory.mktemp("hostile") / "data" / "small"
    texts = [written for written, _ in TEXTS.values()]
    names = ["<img src=x onerror=window.hacked=1>", '"><script>window.hacked=1</script>']
    turns = [{"category": text[:60] or "x", "turns": [text, text]} for text in texts]
    write(home / "question.jsonl", numbered(turns))
    for name in names:
        rows = [{"choices": [{"turns": [text, text]}], "system_prompt": text} for text in texts]
        write(home / "model_answer" / f"{name.replace('/', '%2F')}.jsonl", numbered(rows))
    grade = {"model": names[0], "judge": [names[0], "x"], "turn": 1, "score": 5}
    grades = [{**grade, "judgment": text, "user_prompt": text} for text in texts]
    write(home / "model_judgment" / "j_single.jsonl", numbered(grades))
    pair = {"model_1": names[0], "model_2": names[1], "judge": [names[1], "x"], "turn": 1}
    pair |= {"g1_winner": "model_1", "g2_winner": "model_2"}
    pairs = [{**pair, "g1_judgment": text, "g2_judgment": text} for text in texts]
    write(home / "model_judgment" / "j_pair.jsonl", numbered(pairs))
    judgments = store.rows(home / "model_judgment" / "j_pair.jsonl", Judgment)
    notes = [note_on(place.row, names[0], place.row.g1_judgment or "") for place in judgments]
    write(home / "note" / "eva.jsonl", [msgspec.to_builtins(note) for note in notes])
    return home.parent


def words(page: Any) -> str:
    return str(page.locator("[data-title]:visible").inner_text())


def test_the_worst_answers_of_a_model_take_two_clicks(
    viewer: Any, data: pathlib.Path, watched: Any
) -> None:
    page = watched.open(viewer(data)[1])
    assert words(page).startswith("ant is the best of 3 models")
    assert page.title() == "Board · turnbench"
    watched.leads(page.get_by_role("link", name="cat", exact=True).first.click)
    watched.leads(page.locator(".tb-list tbody a").first.click)
    assert "What is 5?" in words(page)
    reason = page.get_by_text("lu likes cat here").first
    assert reason.is_visible()
    assert "question 5" in page.title()
    watched.leads(page.go_back)
    assert parse(page.url.partition("?")[2]).model == ("cat",)
    watched.leads(page.go_back)
    assert words(page).startswith("ant is the best of 3 models")


def test_keys_walk_search_and_go_back(viewer: Any, data: pathlib.Path, watched: Any) -> None:
    page = watched.open(viewer(data)[1], "?tab=questions&sort=flip")
    watched.leads(lambda: page.keyboard.press("j"))
    assert "What is 3?" in words(page)
    watched.leads(lambda: page.keyboard.press("j"))
    assert "What is 1?" in words(page)
    watched.leads(lambda: page.keyboard.press("k"))
    assert "What is 3?" in words(page)
    watched.leads(lambda: page.keyboard.press("l"))
    watched.leads(lambda: page.keyboard.press("/"))
    page.keyboard.type("bee says")
    watched.leads(lambda: page.keyboard.press("Enter"))
    watched.choose("In", "answers")
    watched.leads(page.locator(".tb-list tbody a").first.click)
    mark = page.locator("mark").first
    assert mark.inner_text() == "bee says"
    assert mark.bounding_box()["y"] < 900
    page.keyboard.press("?")
    assert page.get_by_text("next and previous question").is_visible()


def test_a_table_is_sorted_compared_and_downloaded(
    viewer: Any, data: pathlib.Path, watched: Any
) -> None:
    page = watched.open(viewer(data)[1])
    page.get_by_role("button", name="math").dblclick()
    assert page.locator(".tb-table").first.locator("tbody th").all_inner_texts() == [
        "cat",
        "bee",
        "ant",
    ]
    watched.choose("Compare with", "mo")
    assert parse(page.url.partition("?")[2]).other == "mo"
    assert "all judges less mo" in words(page)
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download as csv").click()
    rows = list(csv.DictReader(saved.value.path().read_text().splitlines()))
    assert [row["model"] for row in rows] == ["ant", "bee", "cat"]
    assert {"average", "average_low", "change", "pair_win"} <= set(rows[0])


def test_keys_lead_to_turns_and_to_the_next_flip(
    viewer: Any, data: pathlib.Path, watched: Any
) -> None:
    both = "model=ant&model=bee"
    page = watched.open(viewer(data)[1], f"?tab=questions&{both}")
    watched.leads(page.locator(".tb-list tbody a").first.click)
    watched.leads(lambda: page.keyboard.press("n"))
    assert "What is 3?" in words(page)
    assert page.url.endswith("#pair-1-1")
    page.keyboard.press("n")
    assert page.url.endswith("#pair-2-1")
    page.keyboard.press("1")
    page.wait_for_function("location.hash === '#turn-1'")
    page.locator(".tb-grid a", has_text="flipped").last.click()
    page.wait_for_function("location.hash === '#pair-2-1'")
    verdict = page.locator("#pair-2-1")
    assert 0 <= verdict.bounding_box()["y"] < 900


def test_a_flip_is_two_clicks_away_and_opens_at_its_turn(
    viewer: Any, data: pathlib.Path, watched: Any
) -> None:
    page = watched.open(viewer(data)[1], "?tab=judges")
    watched.leads(page.locator(".tb-table a[href*='only=flipped']").first.click)
    assert "6 verdicts" in words(page)
    watched.leads(page.locator(".tb-list tbody tr", has_text="flipped").nth(3).locator("a").click)
    view = parse(page.url.partition("?")[2])
    assert (view.question, view.turn) == ("3", "2")
    assert 0 <= page.locator("[data-here]").bounding_box()["y"] < 900


def test_what_is_filtered_is_downloaded(viewer: Any, data: pathlib.Path, watched: Any) -> None:
    page = watched.open(viewer(data)[1], "?tab=verdicts")
    watched.choose("Only", "flipped when swapped")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download as jsonl").click()
    lines = saved.value.path().read_text().splitlines()
    assert {json.loads(line)["verdict"] for line in lines} == {"flipped"}
    assert len(lines) == 6


def test_a_vote_is_a_key_and_blind(viewer: Any, data: pathlib.Path, watched: Any) -> None:
    page = watched.open(viewer(data)[1], "?tab=vote", width=390)
    watched.leads(page.get_by_role("button", name="Begin").click)
    assert "type a name" in words(page)
    page.get_by_label("Your name").fill("eva")
    watched.leads(page.get_by_role("button", name="Begin").click)
    watched.leads(lambda: page.keyboard.press("a"))
    watched.leads(page.get_by_role("button", name="Tie").click)
    rows = list(store.rows(data / "small" / "human_judgment" / "eva.jsonl", Vote))
    assert [own.row.winner for own in rows] == ["model_a", "tie"]
    assert "2 of 36" in words(page)


def test_on_a_phone_rows_that_differ_at_the_end_of_their_names_can_be_told_apart(
    viewer: Any, watched: Any, tmp_path: pathlib.Path
) -> None:
    judged = small(tmp_path) / "small" / "model_judgment"
    text = (judged / "lu_single.jsonl").read_text()
    for name in ("a judge with a long name, low", "a judge with a long name, high"):
        (judged / f"{name}_single.jsonl").write_text(text.replace('["lu",', f'["{name}",'))
    for query in ("?tab=judges", "?tab=questions&question=1"):
        page = watched.open(viewer(tmp_path)[1], query, width=390)
        cut = "heads => heads.filter(head => head.scrollWidth > head.clientWidth).length"
        assert page.locator(".tb-table tbody th:visible").evaluate_all(cut) == 0


@pytest.mark.parametrize(("width", "theme"), [(390, "dark"), (1024, "light"), (1440, "dark")])
def test_every_tab_fits_the_screen_and_axe_finds_nothing(
    viewer: Any, data: pathlib.Path, watched: Any, width: int, theme: str
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    opened = "?tab=questions&question=3&model=ant&model=bee"
    queries = ["", "?tab=questions", opened, "?tab=judges", "?tab=vote", "?tab=vote&voter=zoe"]
    queries += ["?tab=verdicts&find=likes", "?other=mo&judge=lu"]
    for query in queries:
        page = watched.open(viewer(data)[1], query, width=width, theme=theme)
        page.evaluate("document.querySelectorAll('.tb-view details').forEach(d => d.open = true)")
        for more in page.get_by_role("button", name=re.compile("^More:")).all():
            more.click()
        assert page.evaluate("document.documentElement.scrollWidth") <= width, query
        page.evaluate("window.scrollTo(0, 0)")
        faults = axe.run(page, options={"resultTypes": ["violations"]}).response["violations"]
        assert [(own["id"], own["nodes"][0]["html"][:200]) for own in faults] == [], query


@pytest.mark.reference
def test_a_board_of_34_models_and_its_worst_answers(
    viewer: Any, watched: Any, reference_data: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    home, source = tmp_path / "mt_bench", reference_data / "mt_bench"
    (home / "model_judgment").mkdir(parents=True)
    shutil.copy(source / "question.jsonl", home)
    grades = source / "model_judgment" / "gpt-4_single.scores_only.jsonl"
    shutil.copy(grades, home / "model_judgment" / "gpt-4_single.jsonl")
    shutil.copytree(source / "model_answer", home / "model_answer")
    page = watched.open(viewer(tmp_path)[1])
    assert words(page).startswith("gpt-4 is the best of 34 models on 80 questions: 8.99 of 10")
    assert page.locator(".tb-table").first.locator("tbody tr").count() == 34
    box = page.locator(".tb-table").first.bounding_box()
    assert box["y"] + box["height"] <= 1260  # links are 24 px high
    watched.leads(page.get_by_role("link", name="llama-13b", exact=True).first.click)
    watched.leads(page.locator(".tb-list tbody a").first.click)
    assert page.locator(".tb-side:visible").count() == 2


def test_nothing_hostile_runs_in_the_viewer(
    viewer: Any, hostile: pathlib.Path, watched: Any
) -> None:
    address = viewer(hostile)[1]
    queries = [
        "",
        "?tab=questions",
        "?tab=judges",
        "?tab=vote&voter=eva",
        "?tab=verdicts",
        "?tab=verdicts&find=<s",
        "?tab=verdicts&only=noted",
    ]
    queries += [f"?tab=questions&question={n}" for n in range(1, len(TEXTS) + 1)]
    for query in queries:
        page = watched.open(address, query)
        page.evaluate("document.querySelectorAll('.tb-view details').forEach(d => d.open = true)")
        assert page.evaluate("window.hacked") is None, query
        inside = ".tb-view :is(img, script, style, iframe, object, embed, video)"
        assert page.locator(inside).count() == 0, query
        number = query.partition("question=")[2]
        if number:
            assert list(TEXTS.values())[int(number) - 1][1] in words(page)


def test_nothing_hostile_runs_in_pages_that_are_sent(
    hostile: pathlib.Path, watched: Any, tmp_path: pathlib.Path
) -> None:
    where = ["--data-dir", str(hostile)]
    assert main([*where, "--export", str(tmp_path / "site")]) == 0
    assert main([*where, "--ballot", str(tmp_path / "ballot.html"), "60"]) == 0
    for path in [*sorted((tmp_path / "site").glob("*.html")), tmp_path / "ballot.html"]:
        watched.page.goto(path.as_uri())
        watched.page.evaluate(
            "document.querySelectorAll('details, [hidden]').forEach("
            "d => (d.open = true, d.hidden = false))"
        )
        assert watched.page.evaluate("window.hacked") is None, path.name
        inside = (
            "main :is(img, script, style, iframe, object, embed, video, form, input:not(#voter))"
        )
        assert watched.page.locator(inside).count() == 0, path.name


def test_exported_pages_lead_to_each_other_and_sort(
    data: pathlib.Path, watched: Any, tmp_path: pathlib.Path
) -> None:
    assert main(["--data-dir", str(data), "--export", str(tmp_path)]) == 0
    page = watched.page
    page.goto((tmp_path / "index.html").as_uri())
    page.get_by_role("button", name="math").click()
    page.get_by_role("link", name="cat", exact=True).first.click()
    page.locator(".tb-list tbody a").first.click()
    assert "What is 5?" in page.inner_text("main")
    for file in tmp_path.glob("*.html"):
        page.goto(file.as_uri())
        for link in page.locator("a[href]").all():
            target = str(link.get_attribute("href")).partition("#")
            there = tmp_path / (target[0] or file.name)
            assert there.is_file(), f"{file.name}: {target}"
            if target[2]:
                assert f'id="{target[2]}"' in there.read_text()


def test_a_ballot_saves_votes_that_can_be_read(
    data: pathlib.Path, watched: Any, tmp_path: pathlib.Path
) -> None:
    assert main(["--data-dir", str(data), "--ballot", str(tmp_path / "b.html"), "4"]) == 0
    text = (tmp_path / "b.html").read_text()
    assert not any(f'"{model}"' in text for model in MODELS)
    page = watched.page
    page.goto((tmp_path / "b.html").as_uri())
    for key in "abtx":
        page.keyboard.press(key)
    page.get_by_role("button", name="Save").click()
    assert "Type your name" in page.inner_text("#message")
    page.get_by_label("Your name").fill("Ida O.")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save").click()
    path = tmp_path / "votes.jsonl"
    saved.value.save_as(path)
    votes = [own.row for own in store.rows(path, Vote)]
    assert [vote.winner for vote in votes] == ["model_a", "model_b", "tie", "tie (bothbad)"]
    assert {vote.judge for vote in votes} == {"Ida O."}
    assert all({vote.model_a, vote.model_b} <= set(MODELS) for vote in votes)
    assert "answers" in json.loads(path.read_text().splitlines()[0])


def test_a_password_is_asked_for(
    viewer: Any, data: pathlib.Path, watched: Any, tmp_path: pathlib.Path
) -> None:
    people = tmp_path / "people"
    people.write_text("ann:secret\n")
    address = viewer(data, "--auth-file", str(people))[1]
    watched.home = address
    page = watched.page
    page.goto(address)
    page.get_by_label("username").fill("ann")
    page.get_by_label("password").fill("secret")
    page.get_by_role("button", name="Login").click()
    watched.settled()
    assert words(page).startswith("ant is the best")
    page = watched.open(address, "?tab=vote&voter=bob")
    assert "ann" in words(page)
    watched.faults = [own for own in watched.faults if "401" not in own]


def test_a_page_that_is_open_follows_a_run(
    viewer: Any, tmp_path: pathlib.Path, watched: Any
) -> None:
    home = small(tmp_path)
    judged = home / "small" / "model_judgment" / "lu_single.jsonl"
    lines = judged.read_text().splitlines(keepends=True)
    judged.write_text("".join(lines[:30]))
    page = watched.open(viewer(home)[1], "?tab=verdicts&judge=lu")
    assert "66 verdicts" in words(page).replace("\n", " ")
    page.get_by_text("102 of 104 judged").wait_for()
    with judged.open("a") as file:
        file.writelines(lines[30:])
    page.get_by_text("108 of 108 judged").wait_for()
    page.get_by_text("72 verdicts").wait_for()
