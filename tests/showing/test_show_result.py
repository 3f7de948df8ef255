"""The page of a result: one table, the outcome in words, charts; the same for every format."""

import json
import pathlib
import re
from dataclasses import replace
from typing import Any

import pytest

from harness.results.result import Result
from harness.results.show import show_result
from harness.showing import Chart, Note, Table, csv, frame, html, text
from harness.showing.show_result import report_page, result_page, sampling_of


def graded(folder: pathlib.Path, **more: Any) -> Result:
    rows = [
        {"question_id": q, "model": m, "judge": ["j", "t"], "score": level + q % 3 - turn, "turn": turn, **more}
        for q in range(1, 31)
        for m, level in (("a", 3), ("b", 6), ("=c", 6))
        for turn in (1, 2)
    ]
    path = folder / "j_single.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return show_result(input_file=path, intervals=True)


def test_a_result_opens_with_its_outcome_in_words(tmp_path: pathlib.Path) -> None:
    first, table, *_ = result_page(graded(tmp_path)).items
    assert isinstance(first, Note)
    assert "=c and b do not differ significantly on 30 questions" in first.text
    assert "b is better than a by 3.00" in first.text
    assert isinstance(table, Table)


def test_models_without_a_question_in_common_are_not_said_to_be_alike(tmp_path: pathlib.Path) -> None:
    rows = [
        {"question_id": q, "model": m, "judge": ["j", "t"], "score": level + q % 3, "turn": 1}
        for m, level, questions in (("a", 3, range(1, 7)), ("b", 6, range(7, 13)))
        for q in questions
    ]
    path = tmp_path / "j_single.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    first = result_page(show_result(input_file=path, intervals=True)).items[0]
    assert isinstance(first, Note)
    assert first.text == "b and a were not compared: they have no question in common."


def test_without_intervals_there_is_the_table_only(tmp_path: pathlib.Path) -> None:
    items = result_page(replace(graded(tmp_path), detail=None)).items
    assert [type(item) for item in items] == [Table]


def test_the_title_says_what_was_measured_and_not_that_the_judge_was(tmp_path: pathlib.Path) -> None:
    page = result_page(graded(tmp_path))
    assert page.title == "Scores of 3 models on j_single"
    assert page.facts["judge"] == "j"


def test_what_made_a_report_stands_with_its_facts(tmp_path: pathlib.Path) -> None:
    result = graded(tmp_path, sampling={"temperature": 0})
    page = report_page(result_page(result), judge_sampling=sampling_of(result), version="turnbench 1", cost="")
    assert list(page.facts) == ["mode", "questions", "judge", "judge set", "judge sampling", "version"]
    assert "<bdi>temperature=0</bdi>" in html(page)


def test_programs_get_what_the_table_shows_and_a_frame_has_it_too(tmp_path: pathlib.Path) -> None:
    result = graded(tmp_path)
    page = result_page(result, intervals=True)
    assert list(frame(page).columns) == csv(page).splitlines()[0].split(",")
    assert list(result.frame()["average_low"]) == [row["average_low"] for row in page.rows]
    assert page.data["rows"] == result.table_rows()
    assert "'=c" in csv(page)
    assert "=c  " in text(page)


def test_the_charts_stand_in_the_order_of_the_table(tmp_path: pathlib.Path) -> None:
    result = graded(tmp_path).sorted_by("model")
    charts = {item.title: item for item in result_page(result).items if isinstance(item, Chart)}
    order = [row["model"] for row in result.rows()]
    for title in ("Scores", "Differences between models"):
        svg = charts[title].draw()
        assert [svg.index(f">{model}<") for model in order] == sorted(svg.index(f">{model}<") for model in order)


@pytest.mark.parametrize("form", [text, html])
def test_an_interval_is_written_in_one_way(tmp_path: pathlib.Path, form: Any) -> None:
    written = form(result_page(graded(tmp_path)))
    assert re.search(r"\d \(-?[\d.]+ to -?[\d.]+\)", written)
    assert not re.search(r"\[-?[\d.]+, -?[\d.]+\]", written)


def test_pairs_with_one_model_are_a_list_and_no_matrix_of_gaps(tmp_path: pathlib.Path) -> None:
    asked = [("b", "a"), ("c", "a"), ("c", "b")]
    pairs = [
        {"question_id": q, "model_1": one, "model_2": two, "g1_winner": "tie", "g2_winner": "tie", "turn": 1}
        for q in range(1, 5)
        for one, two in asked
    ]

    def items(name: str, *models: str) -> dict[str, Any]:
        rows = [{**row, "judge": ["j", "t"]} for row in pairs if row["model_2"] in models]
        path = tmp_path / name
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        page = result_page(show_result("pairwise-all", input_file=path, intervals=True))
        return {item.title: item for item in page.items if isinstance(item, Chart | Table)}

    title = "Win rate of the row's model against the column's, ties half"
    assert items("baseline_pair.jsonl", "a")[title].rows == [{"model": name, "a": 0.5} for name in "bc"]
    assert len(items("all_pair.jsonl", "a", "b")["Every two models"].instead.rows) == 3


def test_the_test_is_named_as_it_was_made_where_pairs_may_have_been_chosen(tmp_path: pathlib.Path) -> None:
    def told(often: int) -> str:
        about: dict[str, Any] = {"judge": ["j", "pair-v2"], "turn": 1}
        rows = [
            about | {"question_id": q, "model_1": m, "model_2": n, "g1_winner": "model_1", "g2_winner": "model_1"}
            for m, n, count in (("x", "y", often), ("y", "z", 10), ("x", "z", 10))
            for q in range(count)
        ]
        path = tmp_path / f"j{often}_pair.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        result = show_result("pairwise-all", input_file=path, intervals=True)
        return text(result_page(result, intervals=True))

    assert "(sign-flip test, Holm)" in told(10)
    assert "(sign-flip test that accounts for pairs chosen by earlier results, Holm)" in told(100)


@pytest.mark.parametrize("models", [3, 8])
def test_a_matrix_of_many_models_has_numbers_over_its_columns(models: int, tmp_path: pathlib.Path) -> None:
    names = [f"organisation/model-{at}" for at in range(models)]
    rows = [
        {
            "question_id": q,
            "model_1": one,
            "model_2": other,
            "g1_winner": "model_1",
            "g2_winner": "tie" if q % 3 else "model_1",
        }
        | {"judge": ["j", "t"], "turn": 1}
        for q in range(1, 5)
        for at, one in enumerate(names)
        for other in names[at + 1 :]
    ]
    path = tmp_path / "j_pair.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    shown = text(result_page(show_result("pairwise-all", input_file=path, intervals=True)))
    (head,) = re.findall("ties half\n\n(.*)", shown)
    assert head.split() == ["model", *(names if models == 3 else map(str, range(1, models + 1)))]
