"""Find shows the judgments that fit, in the order asked for, and each leads to its item."""

import json
import pathlib
import re
from array import array
from typing import Any
from urllib.parse import quote

import pytest

from harness.old.errors import UsageError
from tests.old.small_bench import answer, question, small_bench, write
from tests.old.viewer.test_app import grade, pair
from viewer.old import index, search
from viewer.old.app import Views
from viewer.old.context import Context
from viewer.old.index import Columns, read_columns
from viewer.old.later import Later, NotYet
from viewer.old.search import By, Lines, Places, Wanted, in_answers, in_judgments, look
from viewer.old.state import parse
from viewer.old.store import JudgmentFile, Store


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for what is made beside the page."""
    whole = Later.get
    monkeypatch.setattr(Later, "get", lambda *given, **named: whole(*given, **{**named, "patience": 60}))


@pytest.fixture
def views(tmp_path: pathlib.Path) -> Views:
    """Return the views of a benchmark with two judges, votes and a verdict that could not be read."""
    questions = [
        question(1, "math", level="easy", tags=["sums", "long"]),
        question(2, "writing", level="hard"),
        question(3, "writing", ["Only <b>one</b> part."], level="hard"),
    ]
    bench = small_bench(tmp_path, *questions)
    for model in ("a", "b", "c"):
        said = "The Ångström “scale”" if model == "c" else "plain"
        write(bench.answer_file(model), [answer(n, model, f"{said} {n}", "second") for n in (1, 2, 3)])
    folder = bench.folder / "model_judgment"
    write(
        folder / "j_single.jsonl", [grade(1, "a", 9), grade(1, "b", 2.5), grade(2, "a", -1), grade(2, "a", 6, turn=2)]
    )
    other = [grade(1, "a", 4), grade(1, "b", 3)]
    write(folder / "k_single.jsonl", [{**row, "judge": ["k", "single-v1"], "judgment": "Quite Dull."} for row in other])
    pairs = [
        pair(1, "a", "b", "model_1", "model_2"),
        pair(2, "b", "a", "model_1", "model_1"),
        pair(3, "a", "c", "tie", "error"),
    ]
    write(folder / "j_pair.jsonl", pairs)
    vote = {"judge": "v", "turn": 1, "tstamp": 1.0}
    votes = [
        {**vote, "question_id": 2, "model_a": "a", "model_b": "b", "winner": "model_a"},
        {**vote, "question_id": 1, "model_a": "a", "model_b": "b", "winner": "model_b"},
    ]
    write(bench.folder / "human_judgment" / "v.jsonl", votes)
    return Views(Context(Store(tmp_path, ["small"])))


def rows(views: Views, query: str) -> list[str]:
    """Return what the rows of the table lead to: question, turn, models and judge."""
    _, html = views.view(f"?tab=find&bench=small&{query}")
    body = html.partition("<tbody>")[2]
    found = []
    for link in re.findall(r'<a href="(\?tab=(?:answers|compare)[^"]*)"', body):
        to = parse(link.replace("&amp;", "&"))
        found.append(f"{to.question}.{to.turn} {'/'.join(to.models)} {to.judge}")
    return found


ALL = ["1.1 a j", "1.1 a k", "1.1 b j", "1.1 b k", "2.1 a j", "2.2 a j"]


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        pytest.param("", ALL, id="everything, in the order of the questions"),
        pytest.param("f.category=writing", ALL[4:], id="category"),
        pytest.param("f.field=level&f.value=easy", ALL[:4], id="another field"),
        pytest.param("f.field=tags&f.value=sums", ALL[:4], id="a field with several values"),
        pytest.param("f.field=level", ALL, id="a field without a value"),
        pytest.param("turn=2", ["2.2 a j"], id="turn"),
        pytest.param("model=b", ["1.1 b j", "1.1 b k"], id="model"),
        pytest.param("model=a&model=b", ALL, id="either of two models"),
        pytest.param("model=nobody", [], id="a model that is not there"),
        pytest.param("judge=k", ["1.1 a k", "1.1 b k"], id="judge"),
        pytest.param("f.min=3&f.max=6", ["1.1 a k", "1.1 b k", "2.2 a j"], id="scores"),
        pytest.param("f.min=nan&f.max=x", ALL, id="scores that are none"),
        pytest.param("f.flag=failed", ["2.1 a j"], id="unparsed"),
        pytest.param("f.flag=disagree", ["1.1 a j", "1.1 a k"], id="judges disagree"),
        pytest.param("f.text=%2Fq.ite+d.ll%2F", ["1.1 a k", "1.1 b k"], id="pattern in a judgment"),
        pytest.param("f.flag=humans", ["1.1 a j", "1.1 a k", "1.1 b j", "1.1 b k"], id="against votes"),
        pytest.param("f.text=quite+dull", ["1.1 a k", "1.1 b k"], id="text of a judgment"),
        pytest.param("f.text=PLAIN+2", ["2.1 a j"], id="text of an answer"),
        pytest.param("f.text=Question+2", ["2.1 a j", "2.2 a j"], id="text of a question"),
        pytest.param(
            "f.sort=-score", ["1.1 a j", "2.2 a j", "1.1 a k", "1.1 b k", "1.1 b j", "2.1 a j"], id="best first"
        ),
        pytest.param(
            "f.sort=score", ["1.1 b j", "1.1 b k", "1.1 a k", "2.2 a j", "1.1 a j", "2.1 a j"], id="worst first"
        ),
        pytest.param("f.sort=nonsense", ALL, id="no such order"),
    ],
)
def test_grades(query: str, wanted: list[str], views: Views) -> None:
    assert rows(views, query) == wanted


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        pytest.param("", ["1.1 a/b j", "2.1 b/a j", "3.1 a/c j"], id="everything"),
        pytest.param("f.flag=changed", ["1.1 a/b j"], id="changed when swapped"),
        pytest.param("f.flag=failed", ["3.1 a/c j"], id="a game without a verdict"),
        pytest.param("f.flag=humans", ["1.1 a/b j", "2.1 b/a j"], id="against votes"),
        pytest.param("f.winner=b", ["2.1 b/a j"], id="a model wins"),
        pytest.param("f.winner=lost&model=a", ["2.1 b/a j"], id="a model loses"),
        pytest.param("f.winner=tie", ["1.1 a/b j"], id="a tie, as swapping gives it"),
        pytest.param("model=b&model=a", ["1.1 a/b j", "2.1 b/a j"], id="two models against each other"),
        pytest.param("f.text=Ångström", ["3.1 a/c j"], id="text that is not ASCII"),
        pytest.param("f.sort=-question", ["3.1 a/c j", "2.1 b/a j", "1.1 a/b j"], id="sorted"),
    ],
)
def test_pairs(query: str, wanted: list[str], views: Views) -> None:
    assert rows(views, f"mode=pairwise-all&{query}") == wanted


def test_a_tie_that_swapping_made_a_win_is_changed_as_it_is_on_compare(views: Views) -> None:
    file = views.context.store.data_dir / "small" / "model_judgment" / "j_pair.jsonl"
    write(file, [pair(1, "a", "b", "tie", "model_1"), pair(2, "a", "b", "tie", "tie")])
    assert rows(views, "mode=pairwise-all&f.flag=changed") == ["1.1 a/b j"]
    _, html = views.view("?tab=compare&bench=small&question=1&model=a&model=b")
    assert "swapping changed the verdict" in html


def test_names_and_texts_of_a_filter_are_escaped(views: Views) -> None:
    _, html = views.view("?tab=find&f.text=%3Cscript%3E&model=%3Cimg+src%3Dx%3E")
    assert "<script>" not in html
    assert "<img" not in html
    assert "&lt;script&gt;" in html
    assert "Nothing matches all of these filters" in html


def test_a_damaged_line_is_named_and_the_others_are_there(views: Views) -> None:
    file = views.context.store.data_dir / "small" / "model_judgment" / "k_single.jsonl"
    file.write_text("{broken\n" + file.read_text(encoding="utf-8"), encoding="utf-8")
    assert rows(views, "judge=k") == ["1.1 a k", "1.1 b k"]
    _, html = views.view("?tab=find")
    assert "k_single.jsonl:1: not valid JSON" in html


def test_rows_that_come_are_found(views: Views) -> None:
    assert "2.1 c j" not in rows(views, "")
    file = views.context.store.data_dir / "small" / "model_judgment" / "j_single.jsonl"
    write(file, [grade(2, "c", 7)])
    assert rows(views, "judge=j") == ["2.1 c j"]


def test_of_a_file_that_grew_what_was_added_is_read(views: Views, monkeypatch: pytest.MonkeyPatch) -> None:
    file = views.context.store.data_dir / "small" / "model_judgment" / "k_single.jsonl"
    before = rows(views, "judge=k")
    read: list[str] = []

    def reading(file: JudgmentFile) -> Columns:
        read.append(file.path.name)
        return read_columns(file)

    monkeypatch.setattr(index, "read_columns", reading)
    with file.open("a", encoding="utf-8") as more:
        more.write(json.dumps(grade(2, "b", 4) | {"judge": ["k", "single-v1"]}) + "\n")
        more.write('{"question_id": 2, "mod')
    assert rows(views, "judge=k") == [*before, "2.1 b k"]
    with file.open("a", encoding="utf-8") as more:
        more.write('el": "c", "judge": ["k", "single-v1"], "turn": 1, "score": 3}\n')
    assert rows(views, "judge=k") == [*before, "2.1 b k", "2.1 c k"]
    assert read == []
    file.write_text(file.read_text(encoding="utf-8").replace('"b"', '"d"'), encoding="utf-8")
    assert rows(views, "judge=k&model=d") != []
    assert read == ["k_single.jsonl"]


def test_while_it_indexes_it_says_so(views: Views, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object, **__: object) -> None:
        raise NotYet("indexing 2 files of judgments")

    monkeypatch.setattr(Later, "get", never)
    _, html = views.view("?tab=find")
    assert "One moment: indexing 2 files of judgments" in html
    assert "data-refresh" in html


def test_a_judgment_of_a_question_that_is_gone_stays_findable(views: Views) -> None:
    file = views.context.store.data_dir / "small" / "model_judgment" / "j_single.jsonl"
    write(file, [grade(99, "a", 7)])
    _, html = views.view("?tab=find&judge=j")
    assert "1 of 3 grades" in html
    assert "not among the questions" in html


PLACES = Places(range(10))


def ids_of(found: By) -> dict[tuple[int, frozenset[str]], set[int]]:
    """Return the questions that were found, whose ids are their places."""
    return {which: set(places) for which, places in found.items()}


def test_a_search_names_questions_by_their_places_and_passes_over_others(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path / "j_single.jsonl", [{**grade(1, "m", 5), "question_id": key} for key in (7, "8", "9 b", 1)])
    assert ids_of(in_judgments(Lines(path), "because", Places([8, "9 b", 7]))) == {(1, frozenset({"m"})): {0, 1, 2}}


def test_a_search_decodes_what_json_escapes(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"question_id": 1, "choices": [{"turns": ["a \\u00c5ngstr\\u00f6m", "said \\"so\\" \\/ here"]}]}\n', "utf-8"
    )
    assert ids_of(in_answers(Lines(path), "ångström", PLACES)) == {(1, frozenset()): {1}}
    assert ids_of(in_answers(Lines(path), '"so" / HERE', PLACES)) == {(2, frozenset()): {1}}
    assert ids_of(in_answers(Lines(path), "question_id", PLACES)) == {}


@pytest.mark.parametrize("escaped", [True, False], ids=["as numbers", "as they are"])
def test_a_search_finds_scripts_without_capitals_however_they_are_written(
    escaped: bool, tmp_path: pathlib.Path
) -> None:
    rows = [
        {"question_id": n, "choices": [{"turns": [said]}]} for n, said in enumerate(("你好，世界", "再见 Welt", "x"))
    ]
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(json.dumps(row, ensure_ascii=escaped) for row in rows), "utf-8")
    assert ids_of(in_answers(Lines(path), "世界", PLACES)) == {(1, frozenset()): {0}}
    assert ids_of(in_answers(Lines(path), "再见 WELT", PLACES)) == {(1, frozenset()): {1}}
    assert ids_of(in_answers(Lines(path), "ö", PLACES)) == {}


def test_a_search_finds_what_stands_across_two_blocks(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "j_single.jsonl", [grade(n, "m", 5) for n in range(1, 9)])
    every = {(1, frozenset({"m"})): set(range(1, 9))}
    for size in (1, 7, 64, 1000):
        monkeypatch.setattr(search, "_BLOCK", size)
        assert ids_of(in_judgments(Lines(path), "because", PLACES)) == every


def test_a_search_leaves_out_what_the_judge_was_shown(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path / "j_single.jsonl", [grade(1, "m", 5)])
    assert ids_of(in_judgments(Lines(path), "prompt", PLACES)) == {}
    assert ids_of(in_judgments(Lines(path), "BECAUSE", PLACES)) == {(1, frozenset({"m"})): {1}}


def test_large_files_are_shared_among_processes(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "_LARGE", 1)
    bench = small_bench(tmp_path, question(1, turns=["because"]))
    graded = [write(tmp_path / f"{name}_single.jsonl", [grade(1, name, 5)]) for name in ("k", "l", "m")]
    occurs = look(Wanted("because", [1], bench.questions, [Lines(tmp_path / "gone.jsonl")], [*map(Lines, graded)]))
    assert [*occurs.questions] == [0]
    assert {path: {**own} for path, own in occurs.files.items()} == {
        path: {(1, frozenset({path.name[0]})): array("i", [0])} for path in graded
    }


@pytest.mark.parametrize("text", ["/[/", "/(?P<a/", "/*/"])
def test_a_pattern_that_is_none_says_so_and_the_filters_stay(text: str, views: Views) -> None:
    html = views.view(f"?tab=find&bench=small&f.text={quote(text)}")[1]
    assert "is not a regular expression" in html
    assert 'aria-label="Filters"' in html


def test_a_pattern_without_end_is_ended(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "SECONDS", 0.2)
    bench = small_bench(tmp_path, question(1, turns=["a" * 60 + "b"]))
    with pytest.raises(UsageError, match=r"searching for /\(a\|a\)\*\$/ takes over"):
        look(Wanted("/(a|a)*$/", [1], bench.questions, [], []))


def test_a_single_slash_is_a_text(views: Views) -> None:
    assert len(rows(views, "f.text=%2F")) == len(rows(views, "f.text=%3C%2Fb"))


def test_a_search_for_a_pattern_is_slow_and_no_text_waits_for_it(views: Views, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, get = {}, Later.get

    def noted(*given: Any, **named: Any) -> Any:
        asked[given[2]] = named.get("lane")
        return get(*given, **named)

    monkeypatch.setattr(Later, "get", noted)
    for text in ("/because/", "because"):
        views.view(f"?tab=find&bench=small&f.text={quote(text)}")
        assert asked.pop("searching for the text in 4 files") == ("pattern" if text == "/because/" else "first")
    assert search._apart(0, True) is not search._apart(0, False)
