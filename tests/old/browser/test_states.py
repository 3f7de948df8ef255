"""A data folder that is empty, unfinished, damaged or growing: every tab says what is there and what to do."""

import json
import pathlib
import shutil
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from harness.old.names import file_stem
from tests.old.browser.conftest import OpenView, ServeViewer, Watched, settled
from tests.old.small_bench import answer, question, write

pytestmark = pytest.mark.browser
TABS = ("leaderboard", "answers", "compare", "find", "judge", "vote", "runs")


def graded(number: int, model: str, score: object = 7) -> dict[str, Any]:
    """Return the row of a grade."""
    row = {"question_id": number, "model": model, "judge": ["judge", "single-v1"], "turn": 1, "score": score}
    return {**row, "user_prompt": "Grade it.", "judgment": f"Well said: [[{score}]]", "tstamp": 1.0}


def paired(number: int, winner: str = "model_1") -> dict[str, Any]:
    """Return the row of a pair."""
    row = {"question_id": number, "model_1": "a", "model_2": "b", "judge": ["judge", "pair-v2"], "turn": 1}
    games = {f"g{game}_{name}": f"Game {game}." for game in (1, 2) for name in ("user_prompt", "judgment")}
    return {**row, "g1_winner": winner, "g2_winner": winner, **games, "tstamp": 1.0}


NAMES = ("org/a\u3000b", "org/a\u200db", "org/a\u00a0b", "org/a\u200bb", "org/a b")
"""Names that look alike, with characters that are no letters."""


def fill(folder: pathlib.Path) -> None:
    """Write one benchmark for each state."""
    asked = [question(number) for number in (1, 2, 3)]
    said = {model: [answer(n, model, f"{model} says {n}", "And so on.") for n in (1, 2, 3)] for model in "ab"}
    grades = [graded(number, model) for model in "ab" for number in (1, 2, 3)]
    names = ("questions", "answers", "judgments", "damaged", "nothing", "growing", "odd")
    for name in names:
        write(folder / name / "question.jsonl", asked)
    for name in ("answers", "damaged", "growing", "odd"):
        for model, rows in said.items():
            write(folder / name / "model_answer" / f"{model}.jsonl", rows)
    for name in ("judgments", "damaged", "growing"):
        write(folder / name / "model_judgment" / "judge_single.jsonl", grades)
        write(folder / name / "model_judgment" / "judge_pair.jsonl", [paired(n) for n in (1, 2, 3)])
    write(folder / "named" / "question.jsonl", asked)
    for model in NAMES:
        rows = [answer(1, model, f"said by {model!a}", "And so on.")]
        write(folder / "named" / "model_answer" / f"{file_stem(model)}.jsonl", rows)
    damaged = folder / "damaged"
    good = json.dumps(said["a"][0])
    (damaged / "model_answer" / "a.jsonl").write_text(good + "\n{not json\n" + good[:60], encoding="utf-8")
    (damaged / "model_answer" / "c.jsonl").write_bytes(b"\x00\xff\xfe\n" * 5)
    (damaged / "model_answer" / "d.jsonl").mkdir()
    with (damaged / "model_judgment" / "judge_single.jsonl").open("ab") as file:
        file.write(b'{"question_id": 1, "model": 7, "turn": "x"}\nnull\n[1]\n\xff\xfe\n{"question_id": 2, "mod')
    (damaged / "model_judgment" / "judge_pair.jsonl").write_text("garbage\n" * 3, encoding="utf-8")
    write(damaged / "human_judgment" / "me.jsonl", [{"question_id": 1, "winner": "nobody"}])
    write(damaged / "reference_answer" / "ref.jsonl", [{"question_id": 1, "choices": "none"}])
    for room in ("model_answer", "model_judgment", "human_judgment", "reference_answer"):
        (folder / "nothing" / room).mkdir()
    (folder / "nothing" / "model_answer" / "a.jsonl").write_bytes(b"")
    (folder / "nothing" / "model_judgment" / "judge_single.jsonl").write_bytes(b"")
    (folder / "nothing" / "model_judgment" / "judge_pair.jsonl").write_bytes(b"")
    rows = [graded(1, "a", -1), graded(99, "a"), graded(2, "gone"), graded(3, "a", "high"), paired(1, "error")]
    write(folder / "odd" / "model_judgment" / "judge_single.jsonl", rows)
    write(folder / "odd" / "model_judgment" / "judge_pair.jsonl", [paired(1, "error"), paired(99), {}])
    (folder / "broken").mkdir()
    (folder / "broken" / "question.jsonl").write_text('{"question_id": 1}\n', encoding="utf-8")
    (folder / "empty").mkdir()
    (folder / "empty" / "question.jsonl").write_bytes(b"")


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    folder = tmp_path_factory.mktemp("states") / "data"
    fill(folder)
    return folder


@pytest.fixture(scope="module")
def address(states: pathlib.Path, serve_viewer: ServeViewer) -> str:
    return serve_viewer(states)


@pytest.fixture
def page(watched: Watched, address: str) -> Iterator[Any]:
    """Return one page for all tests, which asks for nothing from elsewhere."""
    if watched.address != address:
        watched.address = address
        watched.page.goto(address + "?tab=answers&bench=questions")
        settled(watched.page)
    yield watched.page
    assert watched.told() == []


def seen(page: Any, tab: str, bench: str, more: str = "") -> str:
    """Return the text of a view."""
    before = settled(page)
    page.evaluate("(query) => turnbench.go(query)", f"?tab={tab}&bench={bench}{more}")
    settled(page, before)
    return str(page.locator(f"#tb-pane-{tab}").inner_text())


@pytest.mark.parametrize(
    ("bench", "tab", "more", "wanted"),
    [
        pytest.param("questions", "leaderboard", "", "no answers yet", id="no answers, leaderboard"),
        pytest.param("questions", "leaderboard", "", "gen_answer --bench-name questions", id="no answers, what to do"),
        pytest.param("questions", "answers", "", "Question 1, first part?", id="no answers, the questions are there"),
        pytest.param("questions", "compare", "", "gen_answer", id="no answers, compare"),
        pytest.param("questions", "find", "", "gen_judgment", id="no answers, find"),
        pytest.param("answers", "leaderboard", "", "gen_judgment --bench-name answers", id="no judgments, leaderboard"),
        pytest.param("answers", "answers", "", "a says 1", id="no judgments, the answers are there"),
        pytest.param("answers", "compare", "", "b says 1", id="no judgments, both answers are there"),
        pytest.param("answers", "find", "", "gen_judgment --bench-name answers", id="no judgments, find"),
        pytest.param("judgments", "leaderboard", "", "7.00", id="no answers but judgments, the scores are there"),
        pytest.param(
            "judgments", "answers", "&model=a", "Well said", id="no answers but judgments, the words are there"
        ),
        pytest.param("judgments", "compare", "", "Game 1.", id="no answers but judgments, the games are there"),
        pytest.param("judgments", "find", "", "7", id="no answers but judgments, find"),
        pytest.param("damaged", "answers", "&model=a&question=1", "a says 1", id="damaged, what is good is there"),
        pytest.param("damaged", "answers", "&model=c&question=1", "no answer by c", id="damaged, a file of bytes"),
        pytest.param("damaged", "answers", "&model=c&question=1", "c.jsonl: no", id="damaged, its lines are named"),
        pytest.param("damaged", "answers", "&model=d&question=1", "no answer by d", id="damaged, a folder for a file"),
        pytest.param("damaged", "leaderboard", "", "judge_single.jsonl", id="damaged, the leaderboard names the file"),
        pytest.param("damaged", "find", "", "judge_single.jsonl", id="damaged, find names the file"),
        pytest.param("broken", "answers", "", "question.jsonl", id="broken questions are named"),
        pytest.param("empty", "answers", "", "question.jsonl", id="empty questions are named"),
        pytest.param("../judgments", "answers", "", "no benchmark", id="no benchmark of that name"),
        pytest.param("questions", "answers", "&question=77", "no question 77", id="no question of that id"),
    ],
)
def test_it_says_what_is_there(bench: str, tab: str, more: str, wanted: str, page: Any) -> None:
    assert wanted in seen(page, tab, bench, more)


@pytest.mark.parametrize("bench", ["questions", "answers", "judgments", "nothing", "damaged", "odd", "broken", "empty"])
def test_no_tab_breaks_and_none_is_empty(bench: str, page: Any) -> None:
    for tab in TABS:
        for mode in ("single", "pairwise-all"):
            text = seen(page, tab, bench, f"&mode={mode}")
            assert len(text.strip()) > 20, tab
            assert "this view cannot be shown" not in text, f"{tab}: {text}"
            assert "Traceback" not in text


def test_files_that_grow_are_shown_as_they_are_now(states: pathlib.Path, page: Any) -> None:
    file = states / "growing" / "model_answer" / "a.jsonl"
    assert "no answer of a" not in seen(page, "answers", "growing", "&model=a&question=3")
    with file.open("a", encoding="utf-8") as rows:
        rows.write(json.dumps(answer(3, "a", "a thinks again", "Yes.")) + "\n")
    assert "a thinks again" in seen(page, "answers", "growing", "&model=a&question=3")
    grades = states / "growing" / "model_judgment" / "judge_single.jsonl"
    with grades.open("a", encoding="utf-8") as rows:
        rows.write(json.dumps(graded(1, "b", 1)) + "\n" + '{"question_id": 2, "model": "b", "ju')
    assert "5.00" in seen(page, "leaderboard", "growing")
    file.unlink()
    assert "a thinks again" not in seen(page, "answers", "growing", "&model=a&question=3")
    shutil.rmtree(states / "growing")
    assert "no benchmark 'growing' here" in seen(page, "answers", "growing")


def test_a_data_folder_that_is_not_there_shows_what_is_shipped(
    tmp_path: pathlib.Path, open_view: OpenView, serve_viewer: ServeViewer
) -> None:
    page = open_view(serve_viewer(tmp_path / "nowhere"))
    assert "gen_answer --bench-name" in page.locator("#tb-pane-leaderboard").inner_text()


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_the_model_chosen_from_the_list_is_the_one_shown(name: str, page: Any) -> None:
    other = quote(NAMES[0] if name != NAMES[0] else NAMES[1])
    seen(page, "answers", "named", f"&question=1&model={other}")
    before = settled(page)
    places = page.locator("#tb-model option").evaluate_all("(all) => all.map((option) => option.value)")
    page.locator("#tb-model").select_option(index=places.index(name))  # by value, white space is all one to Playwright
    settled(page, before)
    assert page.locator("#tb-model").input_value() == name
    assert page.get_by_text(f"said by {name!a}").locator("visible=true").count() == 1  # the hidden one is for Copy
