"""Every view is a page, whatever the files hold and the address says."""

import html
import json
import pathlib
import re
import threading
from typing import Any
from urllib.parse import urlencode

import pytest

from harness import gen_answer, gen_judgment
from harness.old.results.replaced import NOT_CHECKED
from tests.old.small_bench import answer, question, small_bench, write
from viewer.old import later, store
from viewer.old.app import Views, tabs_of
from viewer.old.context import Context
from viewer.old.later import Later, NotYet
from viewer.old.store import Store
from viewer.old.tabs import leaderboard


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for what is made beside the page."""
    whole = Later.get
    monkeypatch.setattr(Later, "get", lambda *given, **named: whole(*given, **{**named, "patience": 60}))


def views(data: pathlib.Path) -> Views:
    """Return the views of a data folder."""
    return Views(Context(Store(data, ["small"])))


def grade(number: int, model: str, score: float, turn: int = 1, **more: object) -> dict[str, object]:
    """Return the row of a grade as FastChat writes it."""
    row = {"question_id": number, "model": model, "judge": ["j", "single-v1"], "user_prompt": "<prompt>", "turn": turn}
    return {**row, "judgment": f"Because of <b>reasons</b>. [[{score}]]", "score": score, "tstamp": 1.0, **more}


def pair(number: int, first: str, second: str, *winners: str) -> dict[str, object]:
    """Return the row of a pair as FastChat writes it."""
    names = {"question_id": number, "model_1": first, "model_2": second, "judge": ["j", "pair-v2"], "turn": 1}
    games = {f"g{at}_winner": winner for at, winner in enumerate(winners, 1)}
    words = {"g1_judgment": "A, I say", "g2_judgment": "A again", "g1_user_prompt": "p", "g2_user_prompt": "p"}
    return {**names, **games, **words, "tstamp": 1.0}


def test_without_answers_the_page_says_how_to_get_them(tmp_path: pathlib.Path) -> None:
    small_bench(tmp_path)
    state, html = views(tmp_path).view("?tab=leaderboard")
    assert state.bench == "small"
    assert "no answers yet" in html
    assert "gen_answer --bench-name small --model NAME" in html
    _, html = views(tmp_path).view("?tab=answers")
    assert "Question 1, first part?" in html
    assert "There are no answers in small yet" in html
    _, html = views(tmp_path).view("?tab=compare")
    assert "no model has answered yet" in html


@pytest.mark.parametrize("query", ["?tab=../etc", "?tab=find%00", "?tab=answers&tab=find", "?"])
def test_a_tab_that_is_none_is_the_first(query: str, tmp_path: pathlib.Path) -> None:
    small_bench(tmp_path)
    state, html = views(tmp_path).view(query)
    assert state.tab == ("answers" if "answers" in query else "leaderboard")
    assert "etc" not in state.query() + html


def test_a_table_stays_while_it_is_made_anew(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = small_bench(tmp_path).folder / "model_judgment"
    grades = [grade(1, "a", 4), grade(1, "b", 5)]
    write(folder / "j_single.jsonl", grades)
    write(folder / "j_pair.jsonl", [pair(1, "a", "b", "model_1", "model_1")])
    shown, go = views(tmp_path), threading.Event()
    assert "<table" in shown.view("?tab=leaderboard")[1]
    monkeypatch.setattr(later, "wait", lambda *_, **__: None)
    monkeypatch.setattr(store, "_result", lambda *_, **__: go.wait())
    write(folder / "j_single.jsonl", [*grades, grade(2, "a", 4)])
    html = shown.view("?tab=leaderboard")[1]
    assert "One moment: reading j_single.jsonl" in html
    assert "<table" in html
    assert "<table" not in shown.view("?tab=leaderboard&mode=pairwise-all")[1]
    go.set()


def test_the_leaderboard_says_the_benchmarks_title(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, toml='title = "Three <small> questions"')
    write(bench.folder / "model_judgment" / "j_single.jsonl", [grade(1, "m", 7)])
    assert "Three &lt;small&gt; questions: grades by j" in views(tmp_path).view("?tab=leaderboard")[1]


def test_answers_without_judgments_are_shown_and_the_next_step_named(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    write(bench.answer_file("m"), [answer(1, "m", "List<int> it is", "second")])
    _, html = views(tmp_path).view("?tab=answers&question=1")
    assert "List&lt;int&gt; it is" in html
    assert "gen_judgment --bench-name small --judge-model NAME" in html
    _, html = views(tmp_path).view("?tab=leaderboard")
    assert "there are no judgments yet" in html


def test_judgments_without_answers_are_shown(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    write(bench.folder / "model_judgment" / "j_single.jsonl", [grade(1, "lost", 7), grade(1, "lost", 4, turn=2)])
    state, html = views(tmp_path).view("?tab=answers&model=lost")
    assert state.models == ("lost",)
    assert "There is no answer by lost to question 1" in html
    assert "Because of &lt;b&gt;reasons&lt;/b&gt;" in html
    assert '<span class="tb-chip tb-chip-score">7</span>' in html


def test_a_verdict_that_swapping_changed_is_marked_and_named_by_model(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    for model in ("a", "b"):
        write(bench.answer_file(model), [answer(1, model, f"from {model}", "second")])
    write(bench.folder / "model_judgment" / "j_pair.jsonl", [pair(1, "a", "b", "model_1", "model_2")])
    _, html = views(tmp_path).view("?tab=compare&model=b&model=a")
    assert "swapping changed the verdict" in html
    assert 'tb-chip-win-2">Game 1: a wins' in html
    assert 'tb-chip-win-1">Game 2: b wins' in html
    assert "The judge saw <bdi>a</bdi> as A and <bdi>b</bdi> as B." in html
    assert "The judge saw <bdi>b</bdi> as A and <bdi>a</bdi> as B." in html


def test_compare_opens_with_the_two_best_and_says_who_is_ahead(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    for model in ("a", "b", "c"):
        write(bench.answer_file(model), [answer(1, model, f"from {model}", "second")])
    write(bench.folder / "model_judgment" / "j_single.jsonl", [grade(1, "a", 2), grade(1, "b", 5), grade(1, "c", 9)])
    won = pair(1, "b", "c", "model_2", "model_2")
    write(bench.folder / "model_judgment" / "j_pair.jsonl", [won, won | {"turn": 2, "g1_winner": "model_1"}])
    state, html = views(tmp_path).view("?tab=compare")
    assert state.models == ("c", "b")
    assert "c is ahead: c wins 1, b 0, 1 tied, of all turns, judges and votes." in html
    assert views(tmp_path).view("?tab=compare&model=a")[0].models == ("a", "c")


def test_the_outcome_stands_above_the_notes_and_many_notes_are_folded(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, *(question(n) for n in range(1, 41)))
    rows = [grade(n, model, least + n % 3) for n in range(1, 41) for model, least in (("a", 2), ("b", 7))]
    write(bench.folder / "model_judgment" / "j_single.jsonl", rows)
    _, html = views(tmp_path).view("?tab=leaderboard")
    assert html.index("b is better than a by") < html.index("intervals are for questions of this kind")
    assert "more notes" not in html
    folded = leaderboard._notes([f"note {n}" for n in range(5)])
    assert folded.index("note 1") < folded.index("<details") < folded.index("3 more notes") < folded.index("note 2")
    lacking = leaderboard._notes([*(f"note {n}" for n in range(5)), "9 of 80 judgments (11%) give no verdict"])
    assert lacking.index("give no verdict") < lacking.index("note 0") < lacking.index("<details")


def test_of_equal_rows_the_last_good_one_is_shown(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    write(bench.answer_file("m"), [answer(1, "m", "old", "x"), answer(1, "m", "new", "x"), answer(1, "m", "$ERROR$")])
    rows = [grade(1, "m", 3), grade(1, "m", 9), grade(1, "m", -1, judgment="$ERROR$")]
    write(bench.folder / "model_judgment" / "j_single.jsonl", rows)
    _, html = views(tmp_path).view("?tab=answers&question=1")
    assert "<p>new</p>" in html
    assert "<p>old</p>" not in html
    assert 'tb-chip-score">9<' in html
    assert 'tb-chip-score">3<' not in html


@pytest.mark.parametrize("tab", [tab.name for tab in tabs_of(Context(Store()))])
@pytest.mark.parametrize(
    "damage",
    [
        pytest.param("empty", id="empty files"),
        pytest.param("broken", id="broken lines"),
        pytest.param("wrong", id="values of other types"),
        pytest.param("torn", id="a last line being written"),
        pytest.param("folders", id="folders in place of files"),
    ],
)
def test_damaged_files_never_break_a_tab(tab: str, damage: str, tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    good = {
        bench.answer_file("m"): answer(1, "m", "said", "more"),
        bench.folder / "model_judgment" / "j_single.jsonl": grade(1, "m", 5),
        bench.folder / "model_judgment" / "j_pair.jsonl": pair(1, "m", "n", "tie", "tie"),
        bench.folder / "human_judgment" / "v.jsonl": {"question_id": 1},
    }
    for path, row in good.items():
        path.parent.mkdir(exist_ok=True)
        line = json.dumps(row)
        wrong = json.dumps({"question_id": 1, "choices": {"a": 1}, "score": "high", "turn": None, "judge": 3})
        text = {
            "empty": "",
            "broken": f"{line[:30]}\n\x00\n{line}\n",
            "wrong": f"{wrong}\n{line}\n",
            "torn": f"{line}\n{line[:40]}",
        }
        if damage == "folders":
            path.mkdir()
        else:
            path.write_text(text[damage], encoding="utf-8")
    for query in (f"?tab={tab}", f"?tab={tab}&question=1&model=m", f"?tab={tab}&mode=pairwise-all&model=m&model=n"):
        _, html = views(tmp_path).view(query)
        assert html
        assert "this view cannot be shown" not in html


def test_a_broken_question_file_is_named_with_its_line(tmp_path: pathlib.Path) -> None:
    small_bench(tmp_path)
    (tmp_path / "small" / "question.jsonl").write_text('{"question_id": 1}\n', encoding="utf-8")
    for tab in ("leaderboard", "answers"):
        assert "question.jsonl:1: the field &#x27;category&#x27; is missing" in views(tmp_path).view(f"?tab={tab}")[1]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        pytest.param("?tab=answers&question=99", "no question 99 in small", id="unknown question"),
        pytest.param("?bench=..", "no benchmark", id="another folder"),
        pytest.param("?tab=leaderboard&judge=nobody", "no single judgments by nobody", id="unknown judge"),
        pytest.param("?tab=answers&model=..%2F..%2Fetc", "no answer by ../../etc", id="a path for a model"),
    ],
)
def test_what_is_not_there_is_said_in_place(query: str, said: str, tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    write(bench.answer_file("m"), [answer(1, "m", "said", "more")])
    write(bench.folder / "model_judgment" / "j_single.jsonl", [grade(1, "m", 5)])
    assert said in views(tmp_path).view(query)[1]


@pytest.mark.parametrize(
    "name",
    ["a\u3000b", "a\u200db", "a\u00a0b", "a\u200bb", "a\u202eb", "a b", 'a"b', "a&amp;b", "a\nb"],
    ids=ascii,
)
def test_the_model_chosen_from_the_list_is_the_one_shown(name: str, tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    for model in (name, "first"):
        write(bench.answer_file(model), [answer(1, model, f"said by {'it' if model == name else 'another'}", "more")])
    shown = views(tmp_path)
    options = {html.unescape(value) for value in re.findall('<option value="([^"]*)"', shown.view("?tab=answers")[1])}
    assert name in options
    state, page = shown.view("?" + urlencode({"tab": "answers", "question": 1, "model": name}))
    assert state.models == (name,)
    assert "said by it" in page
    assert "said by another" not in page


def test_what_is_added_while_the_viewer_runs_is_shown(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    shown = views(tmp_path)
    assert "no answers" in shown.view("?tab=answers")[1]
    write(bench.answer_file("late"), [answer(1, "late", "here I am", "again")])
    assert "here I am" in shown.view("?tab=answers&question=1")[1]


def test_a_category_leads_from_question_to_question(tmp_path: pathlib.Path) -> None:
    small_bench(tmp_path, question(1, "a"), question(2, "b"), question(3, "a"))
    state, html = views(tmp_path).view("?tab=answers&f.category=a")
    assert state.question == "1"
    assert "question=3" in html
    assert "question=2" not in html


def test_without_voting_there_is_no_such_tab(tmp_path: pathlib.Path) -> None:
    small_bench(tmp_path)
    quiet = Views(Context(Store(tmp_path, ["small"]), read_only=True))
    assert "vote" not in quiet.named
    assert quiet.view("?tab=vote")[0].tab == "leaderboard"


@pytest.mark.parametrize("action", [None, "", "{}", "[1]", '[["tab"]]', "[" * 5000, '[["tab", "leaderboard"]]'])
def test_a_form_that_no_tab_knows_changes_nothing(action: object, tmp_path: pathlib.Path) -> None:
    small_bench(tmp_path)
    state, html = views(tmp_path).acted("?tab=answers", action)
    assert state.tab in {"answers", "leaderboard"}
    assert html


def test_votes_where_pairs_of_a_judge_are_expected_are_shown_too(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    names = {"question_id": 1, "model_a": "a", "model_b": "b", "turn": 1}
    votes = [{**names, "winner": "model_b", "judge": voter} for voter in ("ann", "bo")]
    write(bench.folder / "model_judgment" / "people_pair.jsonl", votes)
    _, html = views(tmp_path).view("?tab=compare&question=1")
    assert html.count("Game 1: b wins") == 2


@pytest.mark.parametrize("judged", [True, False])
def test_the_leaderboard_shows_metrics_with_a_judge_and_without(tmp_path: pathlib.Path, judged: bool) -> None:
    bench = small_bench(tmp_path, question(1, "writing"), question(2, "math"))
    write(bench.answer_file("m"), [answer(1, "m", "a", "b")])
    if judged:
        write(bench.folder / "model_judgment" / "j_single.jsonl", [grade(1, "m", 5)])
    numbers = [
        {"question_id": number, "turn": 1, "model": model, "metric": "chrf", "value": value}
        for number, model, value in ((1, "m", 0.25), (2, "m", 0.75), (1, "<b>", 0.5))
    ]
    write(bench.metric_file("chrf"), numbers)
    _, html = views(tmp_path).view("?tab=leaderboard")
    assert "Metrics that need no judge" in html
    assert html.count("<svg") >= 3
    assert "chrf: by category" in html
    assert "<b>" not in html.split("tb-metrics")[1]


def test_the_leaderboard_shows_labels_and_dimensions_as_what_they_are(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    label = grade(1, "m", 1) | {"score": None, "label": "CORRECT", "share": 1.0, "confidence": 0.9}
    label["judge_set"] = "facts"
    write(bench.judgment_file("j", "facts", "single"), [label])
    _, html = views(tmp_path).view("?tab=leaderboard")
    assert "coverage" in html
    assert "1.000" in html
    scored = grade(1, "m", 6) | {"scores": {"clarity": 7, "overall": 6}, "judge_set": "dims"}
    write(bench.judgment_file("j", "dims", "single"), [scored])
    _, html = views(tmp_path).view("?tab=leaderboard&judge=j&set=dims")
    assert "clarity" in html


def test_what_must_be_known_of_labels_comes_before_their_further_tables(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    labels = [
        grade(n, "m", -1 if n == 3 else 1)
        | ({"label": None} if n == 3 else {"score": None, "label": "CORRECT", "share": 1.0, "confidence": 0.9})
        | {"judge_set": "facts"}
        for n in (1, 2, 3)
    ]
    write(bench.judgment_file("j", "facts", "single"), labels)
    _, html = views(tmp_path).view("?tab=leaderboard")
    assert html.index("coverage") < html.index("give no verdict") < html.index("95% intervals (")


def test_a_pair_in_one_order_shows_its_only_game_as_it_was_played(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, question(1, turns=["Why?"]))
    for model in ("a", "b"):
        write(bench.answer_file(model), [answer(1, model, f"{model} says")])
    row = {name: value for name, value in pair(1, "a", "b", "model_1", "model_2").items() if not name.startswith("g1")}
    folder = bench.folder / "model_judgment"
    write(folder / "j@once_pair1.jsonl", [{**row, "shown_first": "model_2", "judge_set": "once"}])
    write(folder / "j@both_pair.jsonl", [pair(1, "a", "b", "model_1", "model_1")])
    write(folder / "j@both_pair1.jsonl", [{**row, "shown_first": "model_2", "judge_set": "both"}])
    page = views(tmp_path)
    files = page.context.store.judgment_files(bench, "pair")
    assert [file.label for file in files] == ["j (both)", "j (both, one order)", "j (once)"]
    _, html = page.view("?tab=compare&bench=small&mode=pairwise-all&judge=j&set=once&q=1&m=a&m=b")
    said = html[html.index("j (once)") :]
    assert "Game 2" in said
    assert "saw <bdi>b</bdi> as A and <bdi>a</bdi> as B" in said
    assert "A again" in said


def test_the_first_table_comes_before_the_look_for_replaced_answers_and_says_so(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = small_bench(tmp_path, question(1, turns=["one?"]))
    gen_answer(["builtin/eliza", "builtin/outline"], "small", data_dir=tmp_path)
    gen_judgment("builtin/overlap", bench_name="small", data_dir=tmp_path)
    patient = Later.get

    def hurried(self: Later, key: Any, what: str, *given: Any, **named: Any) -> Any:
        if "intervals" in what:
            raise NotYet(what)
        return patient(self, key, what, *given, **named)

    with monkeypatch.context() as until:
        until.setattr(Later, "get", hurried)
        _, html = views(tmp_path).view("?tab=leaderboard")
        assert NOT_CHECKED in html
        assert "builtin/outline" in html
    _, html = views(tmp_path).view("?tab=leaderboard")
    assert NOT_CHECKED not in html
    for model in ("builtin/eliza", "builtin/outline"):
        write(bench.answer_file(model), [answer(1, model, "something else")])
    _, html = views(tmp_path).view("?tab=leaderboard")
    assert "all 2 judgments are about answers that have been replaced since" in html


def test_the_leaderboard_shows_what_the_answers_cost_where_they_say_it(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, question(1, turns=["one?"]))
    usage = {"prompt_tokens": 1000, "completion_tokens": 500}
    details = [{"finish_reason": "stop", "usage": usage, "seconds": 2.0, "provider_model": "gpt-4o"}]
    choice = {"index": 0, "turns": ["x"], "details": details}
    write(bench.answer_file("a"), [{"question_id": 1, "model_id": "a", "choices": [choice]}])
    write(bench.answer_file("b"), [answer(1, "b", "x")])
    rows = [{"question_id": 1, "model": m, "judge": ["j", "t"], "turn": 1, "score": s} for m, s in (("a", 7), ("b", 5))]
    write(tmp_path / "small" / "model_judgment" / "j_single.jsonl", rows)
    _, html = views(tmp_path).view("?tab=leaderboard")
    part = html[html.index("Quality and price") :]
    assert "$7.50" in part
    assert "2.0" in part
    bench.answer_file("a").unlink()
    _, html = views(tmp_path).view("?tab=leaderboard")
    assert "Quality and price" not in html


def test_of_several_samples_the_first_one_is_shown_first(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    for sample in (0, 1, 10, 2):
        write(bench.judgment_file("j", "own", "single", sample), [grade(1, "m", 6) | {"judge_set": "own"}])
    page = views(tmp_path)
    assert [file.label for file in page.context.store.judgment_files(bench)] == [
        "j (own)",
        "j (own#1)",
        "j (own#2)",
        "j (own#10)",
    ]
    assert page.view("?tab=leaderboard")[0].judge_set == "own"
