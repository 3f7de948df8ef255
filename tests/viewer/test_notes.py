"""A note on a verdict: written by name, shown wherever the verdict is, and counted nowhere."""

import html
import pathlib
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
import pytest

import harness
from harness import store
from harness.cli.main import viewer as main
from harness.types import Note
from tests.viewer.small import small, write
from tests.viewer.test_verdicts import table, total
from tests.viewer.test_views import words
from tests.viewer.test_vote import send
from viewer.app import Views
from viewer.data import Home

OPEN = "?tab=questions&question=3&model=ant&model=bee"
NOTED = "?tab=verdicts&only=noted"


def items(page: str) -> list[str]:
    """Return what stands for the verdicts of a page, as they come on it."""
    return re.findall(r'name="item" value="([^"]*)"', page)


def write_note(views: Views, note: str, name: str = "eva", query: str = OPEN, at: int = 0) -> str:
    """Write a note on the verdict of a page, and return the page that follows."""
    item = items(views.show(query)[1])[at]
    return send(views, query, item=item, note=note, voter=name)[1]


def test_a_note_is_on_the_page_in_the_list_and_in_the_file(
    views: Views, tmp_path: pathlib.Path
) -> None:
    page = write_note(views, "the judge is wrong")
    assert "eva : the judge is wrong" in words(page)
    (row,) = table(views.show(NOTED)[1])
    assert row[:5] == ["3", "math", "1", "lu", "ant"]
    assert row[-1] == "eva: the judge is wrong"
    note = next(store.rows(tmp_path / "small" / "note" / "eva.jsonl", Note)).row
    assert (note.question_id, note.turn, note.models, note.judge) == (3, 1, ("ant",), "lu")
    assert note.judge_set == "unstated"
    saved = views.file(NOTED, "jsonl")
    assert '"note":"eva: the judge is wrong"' in saved


def test_names_that_differ_in_capitals_have_one_file(views: Views, tmp_path: pathlib.Path) -> None:
    for name in ("Eva", "eva"):
        write_note(views, f"by {name}", name)
    folder = tmp_path / "small" / "note"
    assert [path.name for path in folder.iterdir()] == ["Eva.jsonl"]
    assert [place.row.name for place in store.rows(folder / "Eva.jsonl", Note)] == ["Eva", "eva"]
    assert "eva : by eva" in words(views.show(OPEN)[1])
    bench = harness.load_bench("small", tmp_path)
    write(tmp_path / "small" / "human_judgment" / "Uma.jsonl", [])
    assert bench.vote_file("uma").name == "Uma.jsonl"


def test_a_pair_has_one_note_for_both_orders(views: Views) -> None:
    write_note(views, "length only", at=-1)
    (row,) = table(views.show(NOTED)[1])
    assert row[3:6] == ["lu", "ant, bee", "flipped"]


def test_the_last_note_of_a_person_counts_and_an_empty_one_takes_it_back(views: Views) -> None:
    for note in ("wrong", "quite wrong"):
        write_note(views, note)
    write_note(views, "I agree", "bob")
    assert "eva: quite wrong\nbob: I agree" in views.show(NOTED)[1]
    write_note(views, "")
    assert [row[-1] for row in table(views.show(NOTED)[1])] == ["bob: I agree"]


def test_no_result_changes_and_nothing_is_read_again(views: Views, tmp_path: pathlib.Path) -> None:
    options: dict[str, Any] = {"bench_name": "small", "data_dir": str(tmp_path)}

    def results() -> list[Any]:
        return [
            harness.show_result(**options).page.facts,
            harness.show_result(**options).rows(),
            harness.judge_report(report="agreement", **options).rows(),
            views.show("")[1].partition("<table")[2],
            views.show("?tab=judges")[1].partition("<table")[2],
        ]

    before, scores = results(), views.home.data().scores
    write_note(views, "wrong")
    assert results() == before
    assert views.home.data().scores is scores


def test_a_note_on_a_verdict_that_was_given_anew_is_of_none_that_is_here(
    views: Views, tmp_path: pathlib.Path
) -> None:
    write_note(views, "wrong")
    judged = tmp_path / "small" / "model_judgment" / "lu_single.jsonl"
    row = {"question_id": 3, "model": "ant", "turn": 1, "judge": ["lu", "x"], "score": 2}
    write(judged, [{**row, "judgment": "on second thoughts"}], "ab")
    assert total(views.show(NOTED)[1]) == 0
    for query in (NOTED, OPEN):
        page = words(views.show(query)[1])
        gone = page.partition("Notes of verdicts that are not here")[2]
        assert "Question 3, turn 1, lu on ant" in gone
        assert "wrong" in gone
    judged.unlink()
    assert "of verdicts that are not here" in words(views.show(NOTED)[1])


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        pytest.param({"voter": "../x"}, "type a name", id="no name"),
        pytest.param({"note": "  "}, "type a note first", id="no words"),
        pytest.param({"note": "x" * 2001}, "may have 2,000 characters", id="too long"),
        pytest.param({"item": "0" * 16}, "no longer there", id="no such verdict"),
    ],
)
def test_what_cannot_be_written_is_said(
    views: Views, tmp_path: pathlib.Path, fields: dict[str, str], message: str
) -> None:
    item = items(views.show(OPEN)[1])[0]
    page = send(views, OPEN, **{"item": item, "voter": "eva", "note": "wrong"} | fields)[1]
    assert message in words(page)
    assert not (tmp_path / "small" / "note").exists()


def test_who_is_logged_in_writes_as_nobody_else(views: Views, tmp_path: pathlib.Path) -> None:
    view, page, _ = views.show(f"{OPEN}&voter=bob", "ann")
    assert view.voter == "ann"
    send(views, OPEN, who="ann", item=items(page)[0], note="wrong", voter="bob")
    assert [path.name for path in (tmp_path / "small" / "note").iterdir()] == ["ann.jsonl"]


def test_read_only_shows_notes_and_writes_none(tmp_path: pathlib.Path) -> None:
    views = Views(Home(small(tmp_path)))
    item = items(views.show(OPEN)[1])[0]
    write_note(views, "wrong")
    readers = Views(Home(tmp_path), read_only=True)
    page = readers.show(OPEN)[1]
    assert "wrong" in words(page)
    assert items(page) == []
    send(readers, OPEN, item=item, note="other", voter="bob")
    assert [path.name for path in (tmp_path / "small" / "note").iterdir()] == ["eva.jsonl"]


def test_notes_written_at_once_are_all_there(views: Views, tmp_path: pathlib.Path) -> None:
    page = views.show(OPEN)[1]
    given = [
        {"item": item, "note": f"note {n}", "voter": name}
        for n, item in enumerate(items(page))
        for name in ("eva", "bob")
    ]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda fields: send(views, OPEN, **fields), given))
    notes = [
        place.row.note
        for path in (tmp_path / "small" / "note").iterdir()
        for place in store.rows(path, Note)
    ]
    assert sorted(notes) == sorted(fields["note"] for fields in given)


def test_a_hostile_note_is_text(views: Views) -> None:
    written = "".join(f"<{name} onerror=x>" for name in ("img", "script", "/textarea", "/td"))
    write_note(views, written)
    for query in (OPEN, NOTED):
        page = views.show(query)[1]
        assert html.escape(written) in page
        assert written not in page


def test_a_broken_line_is_named_and_the_others_count(views: Views, tmp_path: pathlib.Path) -> None:
    write_note(views, "wrong")
    with (tmp_path / "small" / "note" / "eva.jsonl").open("a") as file:
        file.write("no json\n")
    page = words(views.show(OPEN)[1])
    assert "note/eva.jsonl:2: is not JSON" in page
    assert "eva : wrong" in page


def test_pages_that_are_sent_show_notes(tmp_path: pathlib.Path) -> None:
    views = Views(Home(small(tmp_path)))
    write_note(views, "the judge is wrong")
    assert main(["--data-dir", str(tmp_path), "--export", str(tmp_path / "site")]) == 0
    for name in ("noted.html", "question-3.html"):
        page = (tmp_path / "site" / name).read_text()
        assert "the judge is wrong" in page
        assert "Write a note" not in page
    assert "noted.html" in (tmp_path / "site" / "index.html").read_text()
    assert msgspec.json.decode((tmp_path / "small" / "note" / "eva.jsonl").read_bytes())["verdict"]
