"""The page of a result: one table, the outcome in words, charts; the same for every format."""

import json
import pathlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from harness.old.results.result import Result
from harness.old.results.show import show_result
from harness.old.results.statistics.bootstrap import Estimate
from harness.old.showing import Chart, Note, Table, csv, frame, html, text
from harness.old.showing.show_result import report_page, result_page, sampling_of
from tests.old.showing.charts.pictures import texts_of


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


def file_of(folder: pathlib.Path, rows: Iterable[dict[str, Any]], kind: str = "single") -> pathlib.Path:
    path = folder / f"j_{kind}.jsonl"
    path.write_text("".join(json.dumps({"turn": 1, "judge": ["j", "t"], **row}) + "\n" for row in rows))
    return path


def graded_as(folder: pathlib.Path, **scores: Sequence[float]) -> Result:
    """Return the result of these grades of each model on questions 0, 1, ..."""
    rows = [{"question_id": q, "model": m, "score": s} for m, own in scores.items() for q, s in enumerate(own)]
    return show_result(input_file=file_of(folder, rows), intervals=True)


def paired_as(folder: pathlib.Path, *pairs: tuple[str, str, int, str]) -> Result:
    """Return the result of pairs: two models, the question, the winner in both games."""
    rows = [
        {"question_id": q, "model_1": one, "model_2": other, "g1_winner": winner, "g2_winner": winner}
        for one, other, q, winner in pairs
    ]
    return show_result("pairwise-all", input_file=file_of(folder, rows, "pair"), intervals=True)


def outcome(result: Result) -> str:
    first = result_page(result).items[0]
    assert isinstance(first, Note)
    return first.text


def test_an_interval_that_says_another_thing_than_the_test_is_explained(tmp_path: pathlib.Path) -> None:
    noise = [1, 2, -1, 0, 2, -1, 1, 0, 1, 2]
    x, y = [5 + noise[q % 10] for q in range(20)], [5] * 20
    two = outcome(graded_as(tmp_path, x=x, y=y))
    assert two.startswith("x is better than y by 0.70 points (")
    assert " but " not in two
    more = outcome(graded_as(tmp_path, x=x, y=y, **{f"z{at}": y for at in range(8)}))
    assert re.search(r"\(0\.70 points, 0\.\d+ to 1\.\d+ for these two alone, but p = [01].* among all 45 pairs", more)


def test_worse_is_by_how_much_and_not_by_less_than_nothing(tmp_path: pathlib.Path) -> None:
    rows = [{"question_id": q, "model": "x", "score": 5 + q % 2} for q in range(10)]
    rows += [{"question_id": q, "model": "x", "score": 10} for q in range(10, 14)]
    rows += [{"question_id": q, "model": "y", "score": 6 + q % 2} for q in range(10)]
    told = outcome(show_result(input_file=file_of(tmp_path, rows), intervals=True))
    assert told == "x is worse than y by 1.00 points (0.38 to 1.62)."


def test_a_table_says_what_decides_where_an_interval_and_p_differ(tmp_path: pathlib.Path) -> None:
    told = "Where an interval and its p do not say the same, p decides (sign-flip test, Holm)."
    noise = [1, 2, -1, 0, 2, -1, 1, 0, 1, 2]
    x, y = [5 + noise[q % 10] for q in range(20)], [5] * 20
    assert told not in text(result_page(graded_as(tmp_path, x=x, y=y)))
    assert told in text(result_page(graded_as(tmp_path, x=x, y=y, **{f"z{at}": y for at in range(8)})))


def test_too_few_questions_for_any_difference_are_said_once_and_promise_none(tmp_path: pathlib.Path) -> None:
    page = result_page(graded_as(tmp_path, x=[9, 9, 8], y=[5, 4, 4], z=[1, 1, 2]))
    shown = text(page)
    assert outcome(graded_as(tmp_path, x=[9], y=[5])) == (
        "x and y do not differ significantly on 1 question (4.00 points). On fewer than 6 questions no difference is "
        "significant."
    )
    assert shown.count("On fewer than 7 questions no difference is significant.") == 1
    assert (
        "0 of 3 pairs of models differ significantly (sign-flip test, Holm); on fewer than 7 questions none can"
        in shown
    )
    assert "would be found" not in shown
    assert "95% intervals: questions resampled" not in shown
    assert "no intervals here: intervals are for 5 questions or more that do not all agree" in page.notes


def test_a_comparison_by_strength_says_on_how_many_questions_each_was_judged(tmp_path: pathlib.Path) -> None:
    winners = ["model_1", "model_1", "tie", "model_2"]
    pairs = [("a", "b", q, winners[q % 4]) for q in range(12)]
    even = [*pairs, *((m, "c", q, winners[q % 3]) for m in "ab" for q in range(12))]
    assert "by strength" not in outcome(paired_as(tmp_path, *even))
    result = paired_as(tmp_path, *pairs, *((m, "c", q, winners[q % 3]) for m in "ab" for q in range(6)))
    assert "in win rate" in outcome(result)
    told = "by strength over the pairs of all models (b was judged on 12 questions, c on 6)"
    assert told in outcome(result)
    assert "Differences are of strengths, from the pairs of all models." in text(result_page(result))


def test_models_that_no_chain_of_pairs_links_are_not_said_to_lack_a_common_question(tmp_path: pathlib.Path) -> None:
    pairs = [(*two, q, "model_1" if q % 3 else "tie") for two in (("a", "b"), ("c", "d")) for q in range(8)]
    assert "a and c were not compared: no chain of pairs links them" in outcome(paired_as(tmp_path, *pairs))


def test_where_no_game_was_decided_no_place_has_won(tmp_path: pathlib.Path) -> None:
    shown = text(result_page(paired_as(tmp_path, *(("a", "b", q, "tie") for q in range(8)))))
    assert "0 a tie in one order only; no game was decided" in shown
    assert "position:" not in text(result_page(paired_as(tmp_path, *(("a", "b", q, "error") for q in range(8)))))


def test_a_single_model_is_not_the_first_of_anything(tmp_path: pathlib.Path) -> None:
    page = result_page(graded_as(tmp_path, x=[3, 4, 5, 6, 7, 8]))
    assert " rank " not in text(page)
    assert page.data["rows"][0]["rank_first"] == 1  # as before, for programs


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


# What rests on few questions


def test_a_number_without_interval_is_not_shaded_beside_those_that_have_one(tmp_path: pathlib.Path) -> None:
    rows = [{"model": "x", "a": Estimate(5, 4, 6, 20, "percentile"), "b": Estimate(6, 5, 7, 20, "percentile")}]
    rows.append({"model": "y", "a": Estimate(4, 3, 5, 20, "percentile"), "b": Estimate(10, None, None, 1, None)})
    shown = {cells.name: cells.shares for cells in Table("", rows, scale=(1, 10)).shown()}
    assert shown["b"][0] is not None
    assert (shown["a"][1] is None, shown["b"][1]) == (False, None)
    plain = Table("", [{"model": "x", "a": 5.0, "b": 10.0}], scale=(1, 10)).shown()
    assert plain[-1].shares[0] is not None


def test_a_radar_leaves_out_models_that_are_not_ranked_and_a_single_model_has_no_rank(tmp_path: pathlib.Path) -> None:
    questions = [{"question_id": q, "category": "abcd"[q % 4], "turns": ["?"]} for q in range(24)]
    folder = tmp_path / "tiny"
    (folder / "model_judgment").mkdir(parents=True)
    (folder / "question.jsonl").write_text("".join(json.dumps(one) + "\n" for one in questions), encoding="utf-8")
    counts = {"x": 24, "y": 24, "few": 4}
    rows = [{"question_id": q, "model": m, "score": 3 + q % 5} for m, n in counts.items() for q in range(n)]
    path = file_of(folder / "model_judgment", rows)
    items = result_page(show_result(input_file=path, intervals=True)).items
    [radar] = [one for one in items if isinstance(one, Chart) and one.title == "By category"]
    assert radar.note == "Without models judged on too few questions to be ranked."
    assert "few" not in texts_of(radar.draw())
    alone = result_page(show_result(input_file=path, intervals=True, model_list=["x"])).items
    [scores] = [one for one in alone if isinstance(one, Chart) and one.title == "Scores"]
    assert "rank" not in texts_of(scores.draw())


def test_a_baseline_is_named_where_no_row_names_it(tmp_path: pathlib.Path) -> None:
    rows = [
        {"question_id": q, "model_1": "base", "model_2": m, "g1_winner": "tie", "g2_winner": "tie"}
        for m in "xy"
        for q in range(6)
    ]
    page = result_page(show_result("pairwise-baseline", input_file=file_of(tmp_path, rows, "pair")))
    assert page.facts["baseline"] == "base"
    assert "baseline: base" in text(page).splitlines()[0]
