"""Every verdict is a row: filtered, sorted, counted, opened, and sent."""

import csv
import gzip
import html
import io
import json
import pathlib
import re
from typing import Any
from urllib.parse import quote

import msgspec
import pytest
import re2

from tests.viewer.small import numbered, small, write
from viewer.app import Views
from viewer.data import Home
from viewer.state import parse


def table(page: str) -> list[list[str]]:
    """Return the cells of the list."""
    body = page.partition("<tbody>")[2].partition("</tbody>")[0]
    return [
        [re.sub("<[^>]*>", "", cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)]
        for row in re.findall(r"<tr>(.*?)</tr>", body, re.S)
    ]


def total(page: str) -> int:
    found = re.search(r">([\d,]+) verdicts?;", page)
    assert found is not None
    return int(found[1].replace(",", ""))


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        pytest.param("", 72 + 36 + 12, id="all"),
        pytest.param("judge=lu", 36 + 36, id="a judge"),
        pytest.param("judge=lu&turn=2", 18 + 18, id="a turn"),
        pytest.param("category=math&judge=lu", 12 + 12, id="a category"),
        pytest.param("only=flipped", 6, id="flipped"),
        pytest.param("only=none", 1, id="no verdict"),
        pytest.param("only=win&model=ant&judge=lu", 20, id="won by a model"),
        pytest.param("only=loss&model=cat&judge=lu", 20, id="lost by a model"),
        pytest.param("only=tie&judge=lu", 6, id="tied"),
        pytest.param("only=judges&judge=mo", 35, id="otherwise than another judge"),
        pytest.param("model=ant&model=cat&judge=lu", 12 + 24, id="two models"),
        pytest.param("least=8&judge=lu", 12, id="grades from"),
        pytest.param("most=3.5&judge=lu", 0, id="grades to"),
        pytest.param("find=bee.*likes", 0, id="an expression that matches nothing"),
        pytest.param("find=^LU likes (ant|bee)", 24, id="an expression, in any case"),
        pytest.param("find=bee says&where=answers&judge=lu", 6 + 12, id="a text of answers"),
        pytest.param("find=is 3&where=questions&judge=lu", 6 + 6, id="a text of questions"),
    ],
)
def test_verdicts_are_filtered_and_counted(views: Views, filters: str, expected: int) -> None:
    assert total(views.show(f"?tab=verdicts&{filters}")[1]) == expected


def test_verdicts_that_people_do_not_share_are_listed(tmp_path: pathlib.Path) -> None:
    vote = {"model_a": "cat", "model_b": "ant", "judge": "zoe", "turn": 1, "winner": "model_a"}
    home = small(tmp_path)
    write(home / "small" / "human_judgment" / "zoe.jsonl", numbered([vote] * 3))
    rows = table(Views(Home(home)).show("?tab=verdicts&only=people")[1])
    assert [[*row[:1], *row[3:7]] for row in rows] == [
        [question, "lu", "ant, cat", "A", "0"] for question in ("1", "2")
    ]


def test_a_row_says_what_was_decided_by_whom_and_why(views: Views) -> None:
    row = table(views.show("?tab=verdicts&only=flipped")[1])[0]
    assert row[:6] == ["3", "math", "1", "lu", "ant, bee", "flipped"]
    assert row[8] == "first is better"


def test_a_row_says_its_sample(tmp_path: pathlib.Path) -> None:
    home = small(tmp_path)
    judged = home / "small" / "model_judgment"
    lines = (judged / "mo_single.jsonl").read_bytes().splitlines()
    rows = [msgspec.json.decode(line) for line in lines]
    write(judged / "mo@mt_bench#1_single.jsonl", [row | {"sample": 1} for row in rows])
    views = Views(Home(home))
    page = views.show("?tab=verdicts&judge=mo&turn=1&model=ant")[1]
    assert {row[3] for row in table(page)} == {"mo", "mo (sample 1)"}
    (address, *_) = re.findall(r'<tr><th scope="row"[^>]*><a href="([^"]*)"', page)
    assert "mo (sample 1)" in views.show(html.unescape(address))[1]
    sent = list(csv.DictReader(io.StringIO(views.file("?tab=verdicts&judge=mo", "csv"))))
    assert {row["judge"] for row in sent} == {"mo"}
    assert [row["judged_as"] for row in sent].count("sample 1") == len(rows)


@pytest.mark.parametrize("sort", ["question", "judge", "models", "turn", "category"])
def test_the_list_is_sorted_by_a_column_both_ways(views: Views, sort: str) -> None:
    at = {"question": 0, "category": 1, "turn": 2, "judge": 3, "models": 4}[sort]
    cells = [row[at] for row in table(views.show(f"?tab=verdicts&sort={sort}")[1])]
    assert cells == sorted(cells)
    cells = [row[at] for row in table(views.show(f"?tab=verdicts&sort=-{sort}")[1])]
    assert cells == sorted(cells, reverse=True)


def test_pages_follow_each_other(views: Views) -> None:
    first, second = (table(views.show(f"?tab=verdicts&part={n}")[1]) for n in (1, 2))
    assert (len(first), len(second)) == (100, 20)


def test_a_row_opens_its_conversation_at_its_turn(views: Views) -> None:
    page = views.show("?tab=verdicts&only=flipped&turn=2&sort=models")[1]
    address = re.findall(r'<tr><th scope="row"[^>]*><a href="([^"]*)"', page)[0]
    view = parse(html.unescape(address))
    assert (view.question, view.turn, view.model, view.judge) == ("3", "2", ("ant", "bee"), "lu")
    opened = views.show(html.unescape(address))[1]
    assert re.findall(r"data-here aria-label=\"([^\"]*)\"", opened) == ["turn 2"]


def test_what_is_filtered_is_sent_as_csv_and_jsonl(views: Views) -> None:
    texts = [views.file("?tab=verdicts&only=flipped", kind) for kind in ("csv", "jsonl")]
    rows = list(csv.DictReader(io.StringIO(texts[0])))
    lines = [msgspec.json.decode(line) for line in texts[1].splitlines()]
    assert len(rows) == len(lines) == 6
    assert {row["verdict"] for row in rows} == {line["verdict"] for line in lines} == {"flipped"}
    assert lines[0]["reason"] == "first is better"


def test_a_text_is_marked_in_the_list_and_in_the_conversation(views: Views) -> None:
    page = views.show("?tab=verdicts&find=LIKES BEE")[1]
    assert "lu <mark>likes bee</mark> here" in page
    address = re.findall(r'<tr><th scope="row"[^>]*><a href="([^"]*)"', page)[0]
    assert "<mark>likes bee</mark>" in views.show(html.unescape(address))[1]


def test_a_wrong_expression_is_named(views: Views) -> None:
    page = views.show("?tab=verdicts&find=(bee")[1]
    assert "is no regular expression" in page


def test_a_text_in_another_script_is_found_however_json_writes_it(tmp_path: pathlib.Path) -> None:
    home = small(tmp_path)
    path = home / "small" / "model_answer" / "ant.jsonl"
    path.write_text(
        '{"question_id": 1, "choices": [{"turns": ["\\u4f60\\u597d, caf\\u00e9"]}]}\n'
        '{"question_id": 2, "choices": [{"turns": ["你好, café"]}]}\n',
        encoding="utf-8",
    )
    query = "?tab=verdicts&judge=lu&model=ant&turn=1&where=answers&find=你好, Café"
    page = Views(Home(home)).show(query)[1]
    assert {row[0] for row in table(page)} == {"1", "2"}


def test_packed_files_are_shown_and_searched(tmp_path: pathlib.Path) -> None:
    home = small(tmp_path)
    for path in (home / "small").glob("model_*/*.jsonl"):
        with gzip.open(path.with_name(f"{path.name}.gz"), "wb") as packed:
            packed.write(path.read_bytes())
        path.unlink()
    views = Views(Home(home))
    assert "ant is the best of 3 models" in views.show("")[1]
    assert total(views.show("?tab=verdicts&find=lu likes bee")[1]) == 12


@pytest.mark.parametrize("between", ["\n", "\n\n"], ids=["whole lines", "blank lines"])
def test_a_search_finds_what_matches_however_it_is_written(
    tmp_path: pathlib.Path, between: str
) -> None:
    texts = ["task", "a ta\u212a", "\u017fki", "wa\u017f", "TASK\nx", "é", "É", "no", "x" * 70_000]
    texts += [*texts, "ski", "classes"]
    row = {"model": "ant", "turn": 1, "score": 5, "judge": ["lu", "x"]}
    lines = [
        json.dumps({**row, "question_id": n, "judgment": text}, ensure_ascii=n % 2 == 0)
        for n, text in enumerate(texts, 1)
    ]
    home = tmp_path / "small"
    questions: list[dict[str, Any]] = [{"turns": ["?"], "category": "math"} for _ in texts]
    write(home / "question.jsonl", numbered(questions))
    (home / "model_judgment").mkdir()
    (home / "model_judgment" / "lu_single.jsonl").write_text(between.join(lines) + "\n")
    views = Views(Home(tmp_path))
    for word in ("task", "SKI", "was", "k", "ta.k", "^task$", "é", "no", r"\pL{30}", "nowhere"):
        page = views.show(f"?tab=verdicts&find={quote(word)}")[1]
        found = [int(row[0]) for row in table(page)]
        assert found == [n for n, text in enumerate(texts, 1) if re2.search(f"(?i){word}", text)]
