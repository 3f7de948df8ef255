"""The verdict is where one looks: above the texts, at the turn asked for, one step from the next."""

import html
import json
import pathlib
import re
from typing import Any

import pytest

from harness import gen_answer, gen_judgment
from harness.old.errors import DataError
from tests.old.small_bench import answer, question, small_bench, write
from tests.old.viewer.test_app import grade, pair
from viewer.old import store
from viewer.old.app import Views
from viewer.old.context import Context
from viewer.old.later import Later
from viewer.old.state import State, parse
from viewer.old.store import Store


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for what is made beside the page."""
    whole = Later.get
    monkeypatch.setattr(Later, "get", lambda *given, **named: whole(*given, **{**named, "patience": 60}))


@pytest.fixture
def views(tmp_path: pathlib.Path) -> Views:
    """Return the views of three questions, two models and two judges."""
    bench = small_bench(tmp_path, question(1, "math"), question(2, "math"), question(3))
    for model in ("a", "b"):
        write(bench.answer_file(model), [answer(n, model, f"{model} one", f"{model} two") for n in (1, 2, 3)])
    folder = bench.folder / "model_judgment"
    write(folder / "j_single.jsonl", [grade(n, "a", 2 * n, turn=t) for n in (1, 2, 3) for t in (1, 2)])
    write(folder / "k_single.jsonl", [{**grade(1, "a", 7), "judge": ["k", "single-v1"]}])
    pairs = [pair(1, "a", "b", "model_1", "model_1"), {**pair(1, "a", "b", "model_1", "model_2"), "turn": 2}]
    write(folder / "j_pair.jsonl", [*pairs, pair(2, "b", "a", "model_1", "model_1")])
    return Views(Context(Store(tmp_path, ["small"])))


def texts(part: str) -> str:
    """Return what is read of some HTML, cells apart."""
    return " ".join(html.unescape(re.sub("<[^>]+>", " ", part)).split())


def verdicts(page: str) -> str:
    """Return what the strip of verdicts says."""
    found = re.search(r'<div class="tb-verdicts">.*?</table>', page, re.DOTALL)
    assert found is not None
    return texts(found[0])


def strip(page: str) -> dict[str, str]:
    """Return the labels of the strip of questions, by the question that each leads to."""
    found = re.search(r'<nav class="tb-strip".*?</nav>', page)
    links = re.findall(r'<a href="([^"]+)"[^>]*aria-label="([^"]+)"', found[0] if found else "")
    return {parse(html.unescape(target)).question: label for target, label in links}


def test_grades_by_turn_and_judge_come_before_the_texts(views: Views) -> None:
    page = views.view("?tab=answers&question=1&model=a")[1]
    assert verdicts(page).endswith("j 2 2 grade k 7 – grade j 1 won, 0 tied, 0 lost 0 won, 1 tied, 0 lost pairs")
    assert page.index("tb-verdicts") < page.index("tb-turn")


def test_games_without_a_verdict_are_counted_apart(views: Views) -> None:
    path = views.context.store.data_dir / "small" / "model_judgment" / "j_pair.jsonl"
    won, lost = pair(1, "a", "b", "model_1", "model_1"), pair(1, "a", "b", "error", "model_1")
    write(path, [won, lost | {"turn": 2}])
    page = views.view("?tab=compare&question=1&model=a&model=b&mode=pairwise-all")[1]
    assert "a is ahead: a wins 1, b 0, 0 tied, 1 without a verdict, of all turns, judges and votes." in page
    assert verdicts(page).endswith("a 1, b 0, ties 0, no verdict 1")
    page = views.view("?tab=answers&question=1&model=a")[1]
    assert verdicts(page).endswith("j 1 won, 0 tied, 0 lost 0 won, 0 tied, 0 lost, 1 no verdict pairs")


def test_answers_that_no_judge_has_judged_say_so_beside_those_of_others(views: Views) -> None:
    said = "No judge has judged these answers yet"
    assert said in views.view("?tab=answers&question=3&model=b")[1]
    assert said not in views.view("?tab=answers&question=3&model=a")[1]
    assert said not in views.view("?tab=answers&question=2&model=b")[1]


def test_a_label_and_the_grades_of_dimensions_are_shown_as_what_they_are(views: Views, tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "small" / "model_judgment"
    row = {name: value for name, value in grade(1, "a", 7).items() if name != "score"}
    write(
        folder / "l@facts_single.jsonl", [{**row, "judge": ["l", "facts-v1"], "label": "not attempted", "share": 0.9}]
    )
    write(folder / "m@parts_single.jsonl", [{**row, "judge": ["m", "x"], "scores": {"clear": 4, "true": 2.5}}])
    page = views.view("?tab=answers&question=1&model=a")[1]
    assert "l (facts) not attempted" in verdicts(page)
    assert "m (parts) clear 4.0 true 2.5" in verdicts(page)
    assert "no score" not in page


def test_the_judge_of_the_address_comes_first(views: Views) -> None:
    assert "as k 7" in verdicts(views.view("?tab=answers&question=1&model=a&judge=k")[1])


def test_the_verdict_of_both_games_and_turns_comes_before_the_answers(views: Views) -> None:
    page = views.view("?tab=compare&question=1&model=a&model=b")[1]
    assert verdicts(page).endswith("all turns j a wins tie changed when swapped a 1, b 0, ties 1")
    turned = views.view("?tab=compare&question=1&model=b&model=a")[1]
    assert verdicts(turned).endswith("b 0, a 1, ties 1")
    assert '<span class="tb-chip tb-chip-win-2">a wins</span>' in turned


@pytest.mark.parametrize("tab", ["answers", "compare"])
def test_the_page_opens_at_the_turn_of_its_address(tab: str, views: Views) -> None:
    page = views.view(f"?tab={tab}&question=1&model=a&model=b&turn=2")[1]
    assert re.search(r'aria-label="Turn 2" data-here="1 2"', page)
    assert "data-here" not in views.view(f"?tab={tab}&question=1&model=a&model=b&turn=1")[1]


def test_all_questions_lead_to_one_another_coloured_by_their_grade(views: Views) -> None:
    page = views.view("?tab=answers&question=2&model=a")[1]
    assert strip(page) == {"1": "Question 1: 3.7", "2": "Question 2: 4.0", "3": "Question 3: 6.0"}
    shares = re.findall(r"--share: ([\d.]+)", page)
    assert [float(share) for share in shares] == sorted(float(share) for share in shares)
    assert strip(views.view("?tab=answers&question=2&model=a&f.category=math")[1]).keys() == {"1", "2"}


def test_all_questions_of_a_pair_are_coloured_by_who_won(views: Views) -> None:
    page = views.view("?tab=compare&question=1&model=a&model=b")[1]
    assert strip(page) == {
        "1": "Question 1: a 1, b 0, ties 1",
        "2": "Question 2: a 0, b 1, ties 0",
        "3": "Question 3: not judged",
    }
    assert re.findall(r'class="tb-q-([\w-]+)"', page) == ["win-1", "win-2", "none"]


def found(views: Views, query: str) -> list[State]:
    """Return where the rows of Find lead."""
    page = views.view(f"?tab=find&bench=small&{query}")[1]
    targets = re.findall(r'<a href="([^"]+)" aria-label="Open question', page)
    return [parse(html.unescape(target)) for target in targets]


def bar(views: Views, state: State) -> dict[str, State]:
    """Return where the bar of what was found leads, by its keys."""
    page = views.view(state.query())[1]
    links = re.search(r'<nav class="tb-bar tb-found-bar".*?</nav>', page)
    assert links is not None
    return {
        key: parse(html.unescape(target)) for target, key in re.findall(r'<a href="([^"]+)" data-key="(.)"', links[0])
    }


def test_what_find_found_is_stepped_through_in_its_order(views: Views) -> None:
    items = found(views, "mode=single&judge=j&f.sort=-score")
    assert [(one.question, one.turn) for one in items] == [(n, t) for n in "321" for t in (1, 2)]
    state = items[0]
    assert bar(views, state).keys() == {"]", "b"}
    for item in items[1:]:
        state = bar(views, state)["]"]
        assert state == item
    assert bar(views, state).keys() == {"[", "b"}
    assert bar(views, state)["["] == items[-2]


def test_the_way_back_leads_to_the_same_place_of_the_same_list(views: Views) -> None:
    item = found(views, "mode=single&judge=j&f.sort=-score")[3]
    back = bar(views, item)["b"]
    page = views.view(back.query())[1]
    assert back.looked_for("sort") == "-score"
    assert back.judge == "j"
    assert re.findall(r'data-here="(\d+)"', page) == ["3"]
    assert views.view(item.to(tab="find").query())[0].query() == back.query()


def test_pairs_are_stepped_through_on_compare(views: Views) -> None:
    items = found(views, "mode=pairwise-all")
    assert [one.tab for one in items] == ["compare"] * 3
    assert bar(views, items[0])["]"] == items[1]


@pytest.mark.parametrize(
    "way", ["", "x", "?tab=find&f.text=%2F(%2F", "?bench=nowhere", "?tab=find&f.min=99", "?" * 500]
)
def test_a_way_back_that_leads_nowhere_does_no_harm(way: str, views: Views) -> None:
    page = views.view(State("answers", question="1", models=("a",), found=way, at=7).query())[1]
    assert "a one" in page
    assert "this view cannot be shown" not in page


def test_rows_are_shown_as_they_stand_in_the_files(views: Views) -> None:
    page = views.view("?tab=answers&question=1&model=a")[1]
    assert "Rows of this page as JSON" in page
    assert html.escape('"choices"') not in page
    shown = texts(views.view("?tab=answers&question=1&model=a&f.show=rows")[1])
    assert '"question_id": 1' in shown
    assert '"choices": [' in shown
    assert '"b one"' not in shown
    for name in ("question.jsonl:1", "a.jsonl:1", "j_single.jsonl:1", "k_single.jsonl:1", "j_pair.jsonl:2"):
        assert name in shown


def test_a_judgment_leads_to_its_row(views: Views) -> None:
    page = views.view("?tab=compare&question=2&model=a&model=b")[1]
    links = [parse(html.unescape(one)) for one in re.findall(r'href="([^"]+)"[^>]*>Row as JSON', page)]
    assert [link.looked_for("show") for link in links] == ["j_pair.jsonl:3"]
    shown = views.view(links[0].query())[1]
    row = re.search(r'data-here="j_pair.jsonl:3".*?<pre hidden>(.*?)</pre>', shown, re.DOTALL)
    assert row is not None
    assert json.loads(html.unescape(row[1])) == pair(2, "b", "a", "model_1", "model_1")


def test_answers_and_prompts_can_be_copied_as_they_were_written(views: Views) -> None:
    page = views.view("?tab=answers&question=1&model=a")[1]
    copied = [html.unescape(text) for text in re.findall(r'data-copy="1">Copy</button><pre hidden>(.*?)</pre>', page)]
    assert {"a one", "a two", "<prompt>"} <= set(copied)


@pytest.mark.parametrize("tab", ["answers", "compare"])
def test_a_question_that_is_not_there_leaves_the_way_to_others(tab: str, views: Views) -> None:
    page = views.view(f"?tab={tab}&question=99")[1]
    assert "no question 99" in page
    assert 'aria-label="Go to a question"' in page


def test_a_damaged_line_leaves_judge_and_mode_to_choose(views: Views, tmp_path: pathlib.Path) -> None:
    (tmp_path / "small" / "model_judgment" / "j_single.jsonl").write_text("{broken\n{}\n", encoding="utf-8")
    page = views.view("?tab=leaderboard&bench=small&judge=j")[1]
    assert "j_single.jsonl:1" in page
    assert 'aria-label="Mode"' in page
    assert '<option value="k"' in page


@pytest.mark.parametrize("tab", ["answers", "compare"])
def test_half_a_character_in_an_answer_can_be_sent(tab: str, views: Views, tmp_path: pathlib.Path) -> None:
    write(tmp_path / "small" / "model_answer" / "a.jsonl", [answer(1, "a", "before \ud800 after", "x")])
    page = views.view(f"?tab={tab}&question=1&model=a&model=b&f.show=rows")[1]
    assert page.encode()
    assert "before ⟨U+D800⟩ after" in page


def test_a_damaged_answer_leaves_the_table(
    views: Views, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = store._result

    def with_answers(*given: Any, **words: Any) -> Any:
        if words["check_answers"]:
            raise DataError("not valid JSON", path=tmp_path / "a.jsonl", line=3)
        return made(*given, **words)

    monkeypatch.setattr(store, "_result", with_answers)
    page = views.view("?tab=leaderboard&bench=small&judge=j")[1]
    assert "a.jsonl:3: not valid JSON" in page
    assert 'aria-label="Scores"' in page


def test_judgments_of_answers_that_have_been_replaced_are_said_to_be(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, *(question(n, turns=["Name three rivers.", "And two lakes?"]) for n in (1, 2)))
    gen_answer(["builtin/eliza", "builtin/outline"], bench_name="small", data_dir=tmp_path)
    for mode in ("single", "pairwise-all"):
        gen_judgment("builtin/overlap", bench_name="small", data_dir=tmp_path, mode=mode)
    told = "are of answers that have been replaced since, by builtin/overlap"
    addresses = [
        "?tab=compare&question={}&model=builtin/eliza&model=builtin/outline&mode=pairwise-all",
        "?tab=answers&question={}&model=builtin/eliza",
    ]
    page = Views(Context(Store(tmp_path, ["small"])))
    assert not any(told in page.view(address.format(1))[1] for address in addresses)
    path = bench.answer_file("builtin/eliza")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    rows[0]["choices"][0]["turns"][1] = "Something else."
    write(path, rows)
    page = Views(Context(Store(tmp_path, ["small"])))
    for address in addresses:
        assert f"1 of the 2 judgments here {told}" in page.view(address.format(rows[0]["question_id"]))[1]
        assert told not in page.view(address.format(rows[1]["question_id"]))[1]
