"""Pages of results: what stands on them, for whom."""

import csv
import io
import json
import pathlib
import re
from typing import Any

import pytest

from harness import gen_answer, gen_judgment, show_result
from harness.errors import DataError, MissingError, UsageError
from harness.registry import find
from harness.reporting.formats import text
from harness.store import Failure, Pending
from tests.reporting.folders import bench, grades, pairs, write


@pytest.fixture
def data(tmp_path: pathlib.Path) -> pathlib.Path:
    return bench(tmp_path)


def test_grades_and_pairs_are_shown_without_flags_pairs_first(data: pathlib.Path) -> None:
    grades(data, {"a": 8.0, "b": 5.0})
    pairs(data, {("a", "b"): lambda q, t: ("model_1", "model_1")})
    page = text(show_result(data_dir=str(data)).page, 80)
    assert page.index("pairs judged by gpt-4") < page.index("graded from 1 to 10 by gpt-4")
    assert page.startswith("a is better than b in pairs on 24 questions: win rate 1.00")


def test_two_models_have_a_row_a_turn_from_one_side_and_no_rank(data: pathlib.Path) -> None:
    games = {0: ("model_1", "model_1"), 1: ("model_1", "model_2"), 2: ("tie", "tie")}
    pairs(data, {("a", "b"): lambda q, t: games[q % 3]})
    page = text(show_result(data_dir=str(data)).page, 80)
    assert re.search(r"a in turn 1 +8 +16 \(8\) +0 ", page)
    assert "b in turn 1" not in page
    assert "rank" not in page


@pytest.mark.parametrize(
    ("flips", "others", "sentence"),
    [
        pytest.param(20, "model_1", "", id="up to a third nothing"),
        pytest.param(
            21,
            "model_1",
            "35% of the pairs that it decides, where a judge that guesses changes half.",
            id="above it",
        ),
        pytest.param(
            21, "tie", "so it may be guessing: a judge that guesses", id="all of the decided"
        ),
    ],
)
def test_flips_are_said_above_a_third_beside_what_guessing_gives(
    tmp_path: pathlib.Path, flips: int, others: str, sentence: str
) -> None:
    data, sides = bench(tmp_path, 60), ("model_1", "model_2")

    def winners(question: int, turn: int) -> tuple[str, str]:
        flipped = sides if question % 2 else sides[::-1]
        return flipped if question < flips else (others, others)

    games = {("a", "b"): winners}
    pairs(data, games, questions=60)
    outcome = show_result(data_dir=str(data)).page.outcome
    assert sentence in outcome
    assert ("guess" in outcome) == bool(sentence)


def test_three_models_have_rank_ranges_and_both_turns(data: pathlib.Path) -> None:
    grades(data, {"a": 9.0, "b": 5.0, "c": 5.0})
    result = show_result(data_dir=str(data))
    page = text(result.page, 80)
    assert page.startswith("a is the best of 3 models on 24 questions")
    header = next(line for line in page.splitlines() if line.startswith("rank"))
    assert "turn 1  turn 2" in header
    assert {"average_low", "turn_1", "category_math", "questions", "failed"} <= {*result.rows()[0]}
    ranks = [(row["rank_first"], row["rank_last"]) for row in result.rows()]
    assert ranks == [(1, 1), (2, 3), (2, 3)]


def test_categories_stand_where_the_width_allows_else_their_flag(data: pathlib.Path) -> None:
    grades(data, {"a": 9.0, "b": 5.0})
    page = show_result(data_dir=str(data)).page
    assert "writing" in text(page, 80)
    assert "writing" not in text(page, 20)
    assert "By category: --by category. Everything: --details" in " ".join(text(page, 20).split())


def test_judges_of_one_set_are_a_panel_and_their_disagreement_is_said(data: pathlib.Path) -> None:
    grades(data, {"a": 7.0, "b": 5.0}, judge="one")
    grades(data, {"a": 6.0, "b": 7.0}, judge="two")
    page = text(show_result(data_dir=str(data)).page, 80)
    assert "the mean of the judges" in page
    assert "in the mean of one and two" in page.replace("\n", " ")
    assert "two alone calls b better (p <0.001, over the 4 looked at <0.001)" in " ".join(
        page.split()
    )
    assert "a less b" in page


def test_flips_of_samples_are_not_called_a_part_of_the_ties_of_their_mean(
    data: pathlib.Path,
) -> None:
    folder = data / "mt_bench" / "model_judgment"
    for sample, games in enumerate([("model_1", "model_2"), ("model_1",) * 2, ("model_1",) * 2]):
        pairs(data, {("a", "b"): lambda *_, games=games: games})
        rows = [json.loads(line) for line in (folder / "gpt-4_pair.jsonl").read_text().splitlines()]
        write(
            folder / f"gpt-4@mt_bench#{sample}_pair.jsonl", [r | {"sample": sample} for r in rows]
        )
    (folder / "gpt-4_pair.jsonl").unlink()
    page = text(show_result(data_dir=str(data)).page, 80)
    assert re.search(r"win  tie  loss  flipped.*\na in turn 1 +24 +0 +0 +24 ", page)


def test_a_builtin_judge_joins_no_panel_unless_named(data: pathlib.Path) -> None:
    grades(data, {"a": 7.0, "b": 5.0}, judge="gpt-4")
    grades(data, {"a": 6.0, "b": 7.0}, judge="builtin/overlap", drop=lambda m, q, turn: q > 9)
    result = show_result(data_dir=str(data))
    page = text(result.page, 80)
    assert page.startswith("a is better than b on 24 questions: 6.99 and 5.01")
    assert "the mean of the judges" not in page
    assert result.exit_code == 0
    both = show_result(data_dir=str(data), judge_model=["gpt-4", "builtin/overlap"]).page
    assert "the mean of the judges" in text(both, 80).replace("\n", " ")


def test_over_a_tenth_missing_is_the_first_line_with_cause_and_command(data: pathlib.Path) -> None:
    grades(
        data,
        {"a": 9.0, "b": 3.0},
        unread=lambda model, question, turn: model == "b" and question < 6,
        drop=lambda model, question, turn: model == "a" and question > 21,
    )
    file = data / "mt_bench" / "model_judgment" / "gpt-4_single.jsonl"
    with Pending(file) as pending:
        pending.fail("a 22", Failure(kind="rate limit", message="slow down", status=429))
    result = show_result(data_dir=str(data))
    page = text(result.page, 100)
    assert page.startswith("No result yet: 16 of 96 grades are missing, 6 of them in b's turn")
    assert "12 replies without a verdict:" in page
    assert "--redo failed" in page
    assert "1 call failed (last: HTTP 429, rate limit)" in page
    assert "3 judgments never made:" in page
    assert "better than" not in page
    assert result.exit_code == 1


def test_a_missing_pair_is_counted_once(data: pathlib.Path) -> None:
    pairs(data, {("a", "b"): lambda q, t: ("error", "error") if q < 6 else ("tie", "tie")})
    page = text(show_result(data_dir=str(data)).page, 100)
    assert page.startswith("No result yet: 12 of 48 pairs are missing, 6 of them in a's turn 1.")
    pairs(data, {("a", "b"): lambda q, t: ("error", "error")})
    nothing = show_result(data_dir=str(data)).page.outcome
    assert nothing == "No result: none of the 48 pairs could be read."


def test_where_no_judgment_is_chosen_those_that_there_are_are_named(data: pathlib.Path) -> None:
    grades(data, {"a": 9.0, "b": 5.0})
    with pytest.raises(MissingError, match=r"there are those of gpt-4 with judge set mt_bench$"):
        show_result(data_dir=str(data), judge_set="battle_en")


def test_what_all_have_in_common_is_compared_on_request(data: pathlib.Path) -> None:
    grades(data, {"a": 9.0, "b": 3.0}, drop=lambda m, question, turn: m == "a" and question < 8)
    result = show_result(data_dir=str(data), common=True)
    assert result.page.outcome.startswith("a is better than b on 16 questions")
    assert result.exit_code == 0


def test_only_the_models_asked_for_are_shown(data: pathlib.Path) -> None:
    grades(data, {"a": 9.0, "b": 5.0, "c": 2.0})
    result = show_result(data_dir=str(data), model_list=["c", "b"])
    assert [row["model"] for row in result.rows()] == ["b", "c"]
    some = show_result(data_dir=str(data), model_list=["c", "nobody"])
    assert some.page.notes[0].text == "Not judged: nobody."
    with pytest.raises(MissingError, match="there are those of a, b and c"):
        show_result(data_dir=str(data), model_list=["nobody"])


def test_notes_are_at_most_two_and_details_have_the_rest(data: pathlib.Path) -> None:
    grades(
        data,
        {"a": 9.0, "b": 5.0, "c": 5.0},
        judge="builtin/overlap",
        unread=lambda model, question, turn: question == 3 and turn == 1,
    )
    page = show_result(data_dir=str(data)).page
    assert len([note for note in page.notes if note.text]) == 1
    details = text(show_result(data_dir=str(data), details=True).page, 80)
    assert "Models compared on what both did" in details
    assert "95% intervals\n" in details
    assert "Left out: 3 judgments without a verdict." in details


def test_a_baseline_is_found_and_not_ranked(data: pathlib.Path) -> None:
    win, lose = ("model_1", "model_1"), ("model_2", "model_2")
    pairs(
        data,
        {
            ("a", "base"): lambda q, t: win,
            ("b", "base"): lambda q, t: lose if q % 2 else win,
            ("c", "base"): lambda q, t: lose,
        },
    )
    result = show_result("pairwise-baseline", data_dir=str(data))
    assert [row["model"] for row in result.rows()] == ["a", "b", "c"]
    assert "pairs against base judged by gpt-4" in text(result.page, 80)
    two = show_result("pairwise-baseline", data_dir=str(data), model_list=["a", "b"])
    assert two.page.outcome == (
        "a beats base on 24 questions: win rate 1.00 (0.81 to 1.00). b is not decided against it: "
        "win rate 0.50 (0.30 to 0.70). a is better than b."
    )
    one = show_result("pairwise-baseline", data_dir=str(data), model_list="a")
    assert one.page.outcome.startswith("a beats base on 24 questions: win rate 1.00")


def test_another_run_is_compared_by_model_and_by_renamed_model(data: pathlib.Path) -> None:
    grades(data, {"new": 5.0})
    now = data / "mt_bench" / "model_judgment" / "gpt-4_single.jsonl"
    rows = [json.loads(line) for line in now.read_text().splitlines()]
    write(data / "old.jsonl", [{**row, "model": "old", "score": row["score"] + 1} for row in rows])
    result = show_result(
        data_dir=str(data), against=data / "old.jsonl", compare="new=old", fail_if_worse=True
    )
    assert result.page.outcome.startswith("new (before: old) is worse than in the other run")
    assert result.exit_code == 1
    (row,) = csv.DictReader(io.StringIO(find("format", "csv")(result.page)))
    assert (row["model_1"], row["model_2"], row["verdict"]) == ("new", "old", "worse")
    assert float(row["difference"]) == pytest.approx(-1)
    write(data / "same.jsonl", rows)
    same = show_result(data_dir=str(data), against=data / "same.jsonl", fail_if_worse=True)
    assert "The run passes." in same.page.outcome
    assert same.exit_code == 0


def test_a_model_that_gained_on_the_baseline_passes(data: pathlib.Path) -> None:
    win, lose = ("model_1", "model_1"), ("model_2", "model_2")
    pairs(data, {("a", "base"): lambda q, t: lose if q % 4 else win})
    now = data / "mt_bench" / "model_judgment" / "gpt-4_pair.jsonl"
    (data / "old.jsonl").write_bytes(now.read_bytes())
    pairs(data, {("a", "base"): lambda q, t: win})
    result = show_result(
        "pairwise-baseline",
        data_dir=str(data),
        baseline_model="base",
        against=data / "old.jsonl",
        fail_if_worse=True,
    )
    assert result.page.outcome.startswith("a is better than in the other run")
    assert result.exit_code == 0


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({"cost": True, "efficiency": True}, "--cost and --efficiency exclude each other"),
        ({"against": "x", "board": "y"}, "--against and --board exclude each other"),
        ({"cost": True, "by": ["category"]}, "--by and --cost exclude each other"),
        ({"margin": 0.1}, "--margin is for --against"),
        ({"allow": ["judge"]}, "--allow is for --board or --against"),
        ({"by": ["category", "turn"]}, "--by takes one field"),
        ({"by": ["n"]}, "--by n: every row has a field of this name already"),
        ({"against": "x", "compare": ["a"]}, "--compare a: write NEW=OLD"),
    ],
)
def test_flags_that_exclude_each_other_are_refused_before_anything_is_read(
    tmp_path: pathlib.Path, flags: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        show_result(data_dir=str(tmp_path / "nothing"), bench_name="none", **flags)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("math", "math_low"), "'math_low' would be the end of the interval of 'math'"),
        (("depth", "model"), "'model' is a column that every table has"),
    ],
)
def test_criteria_that_would_clash_in_a_flat_table_are_refused(
    data: pathlib.Path, names: tuple[str, str], message: str
) -> None:
    rows = [
        {"question_id": q, "model": "a", "turn": 1, "judge": ["j", "x"], "score": 5}
        | {"criterion": name}
        for q in range(12)
        for name in names
    ]
    write(data / "mt_bench" / "model_judgment" / "j_single.jsonl", rows)
    with pytest.raises(DataError, match=message):
        show_result(data_dir=str(data))


def test_categories_that_would_clash_in_a_flat_table_are_refused(data: pathlib.Path) -> None:
    path = data / "mt_bench" / "question.jsonl"
    path.write_text(path.read_text().replace('"coding"', '"math_low"'))
    with pytest.raises(DataError, match=r"question.jsonl.*categories: 'math_low' would be"):
        show_result(data_dir=str(data))


def test_columns_can_be_sorted_by_and_unknown_ones_are_named(data: pathlib.Path) -> None:
    grades(data, {"a": 9.0, "b": 5.0, "c": 7.0})
    result = show_result(data_dir=str(data), sort="model")
    assert [row["model"] for row in result.rows()] == ["a", "b", "c"]
    with pytest.raises(UsageError, match="no such column"):
        show_result(data_dir=str(data), sort="beauty")


def test_a_notebook_gets_a_table_without_scripts(data: pathlib.Path) -> None:
    grades(data, {"a": 9.0, "b": 5.0})
    shown = show_result(data_dir=str(data))._repr_html_()
    assert "<table" in shown
    assert "<script" not in shown


def test_short_facts_have_their_rates_and_categories(data: pathlib.Path) -> None:
    labels = ("CORRECT", "CORRECT", "INCORRECT", "NOT_ATTEMPTED")
    rows = [
        {"question_id": q, "turn": 1, "model": model, "judge": ["j", "t"], "judge_set": "facts"}
        | {"label": labels[(q + shift) % 4]}
        for shift, model in enumerate(("a", "b"))
        for q in range(24)
    ]
    write(data / "mt_bench" / "model_judgment" / "j@facts_single.jsonl", rows)
    page = text(show_result(data_dir=str(data)).page, 80)
    assert re.search(r"a +50 +.* 25 +25 +67 +0\.57\n", page)
    assert re.search(r"correct +writing +math +coding\na +50 +50 +50\n", page)
    rows[0]["label"] = None
    write(data / "mt_bench" / "model_judgment" / "j@facts_single.jsonl", rows)
    note = show_result(data_dir=str(data)).page.notes[0]
    assert note.text == "Left out: 1 judgment without a verdict."


def test_a_run_that_was_stopped_says_how_many_questions_are_judged(data: pathlib.Path) -> None:
    grades(data, {"a": 9.0, "b": 5.0}, questions=20)
    notes = show_result(data_dir=str(data)).page.notes
    assert notes[0].text == "20 of the 24 questions of mt_bench are judged."
    assert "judged." not in str(show_result(data_dir=str(data), first_n=20))


def test_csv_by_a_field_has_a_row_for_each_group_of_each_model(data: pathlib.Path) -> None:
    games = {0: ("model_1", "model_1"), 1: ("model_1", "model_2"), 2: ("model_2", "model_2")}
    pairs(data, {("a", "b"): lambda q, t: games[q % 3]})
    result = show_result(data_dir=str(data), by=["category"])
    rows = list(csv.DictReader(io.StringIO(find("format", "csv")(result.page))))
    records = {
        (row["model"], row["category"]): [int(row[name]) for name in ("win", "tie", "loss", "n")]
        for row in rows
    }
    assert records["a", "total"] == [16, 16, 16, 48]
    assert records["a", "writing"] == [16, 0, 0, 16]
    assert records["a", "math"] == [0, 16, 0, 16]
    assert records["b", "coding"] == [16, 0, 0, 16]
    assert len(rows) == 8
    assert rows[0]["win_rate_adjusted_low"]


def test_criteria_by_category_are_in_csv(data: pathlib.Path) -> None:
    marks = {"a": 4, "b": 2}
    rows = [
        {"question_id": q, "model": model, "turn": 1, "judge": ["j", "x"], "scale": [1, 5]}
        | {"score": marks[model] + (q % 3 == 1), "criterion": criterion}
        for q in range(12)
        for model in marks
        for criterion in ("clear", "model_low")
    ]
    write(data / "mt_bench" / "model_judgment" / "j_single.jsonl", rows)
    result = show_result(data_dir=str(data), by=["category"])
    table = {(row["model"], row["category"], row["metric"]): row for row in result.rows()}
    assert table["a", "math", "clear"]["average"] == 5
    assert table["b", "coding", "model_low"]["average"] == 2
    assert (table["b", "total", "clear"]["n"], table["b", "writing", "clear"]["n"]) == (12, 4)
    assert len(table) == 16
    names = {chart.name for chart in result.page.charts}
    assert names == {"numbers", "category_writing", "category_math", "category_coding"}


def test_labels_by_a_field_show_every_rate_and_the_count_of_each_group(data: pathlib.Path) -> None:
    labels = ["CORRECT", "CORRECT", "INCORRECT", "NOT_ATTEMPTED"]
    rows = [
        {"question_id": q, "model": "a", "turn": 1, "judge": ["j", "x"]}
        | {"label": labels[q % 4], "share": float(labels[q % 4] == "CORRECT")}
        for q in range(24)
    ]
    write(data / "mt_bench" / "model_judgment" / "j_single.jsonl", rows)
    result = show_result(data_dir=str(data), by=["category"])
    page = text(result.page, 100)
    head, total, *groups = page.partition("By category\n\n")[2].splitlines()[:5]
    for name in ("correct", "wrong", "not tried", "of tried", "F1", "count"):
        assert name in head
    assert re.search(r"a +total +50 .* 25 +25 +67 +0.57 +24$", total)
    assert [line.split()[1] for line in groups] == ["writing", "math", "coding"]
    whole, math, *_ = result.rows()
    rates = ("correct", "incorrect", "not_attempted", "given_attempted", "f1", "n")
    assert [whole[name] for name in rates] == [0.5, 0.25, 0.25, 2 / 3, 4 / 7, 24]
    assert set(rates) <= set(math)


def test_a_value_that_stands_for_all_is_refused(data: pathlib.Path) -> None:
    grades(data, {"a": 9.0, "b": 5.0})
    path = data / "mt_bench" / "question.jsonl"
    path.write_text(path.read_text().replace('"math"', '"total"'))
    with pytest.raises(UsageError, match="a question has the value 'total'"):
        show_result(data_dir=str(data), by=["category"])


def test_the_paragraph_of_a_paper_says_what_the_rows_say(data: pathlib.Path) -> None:
    rows = [
        {"question_id": q, "model": model, "turn": 1, "judge": ["j", "x"], "scale": [1, 10]}
        | {"score": -1 if q == 3 else score, "tstamp": 1767225600 + 86400 * (q > 11)}
        | {"judge_set": "mt_bench", "judge_set_version": "0.9", "sampling": {"temperature": 0.0}}
        | {"made_from": {"template": "abcdef0123456789"}}
        | {"details": [{"provider_model": "j-2026", "sampling_applied": {"temperature": 0.5}}]}
        for q in range(24)
        for model, score in (("a", 7), ("b", 5))
    ]
    write(data / "mt_bench" / "model_judgment" / "j_single.jsonl", rows)
    result = show_result(data_dir=str(data))
    paragraph = find("format", "methods")(result.page)
    for words in (
        "a and b are compared on 23 questions of mt_bench",
        "j graded each answer from 1 to 10 (judge set mt_bench version 0.9; served as j-2026",
        "prompts abcdef012345, temperature 0.5, 2026-01-01 to 2026-01-02)",
        "Of 48 verdicts 2 (4.2%) could not be read",
        "Student's t intervals over questions",
        "arXiv:2306.05685",
    ):
        assert words in paragraph
    facts = json.loads(find("format", "json")(result.page))
    assert (facts["failures"], facts["sampling"]) == (2, [{"temperature": 0.0}])
    assert {"turnbench", "date"} <= set(facts)


def test_a_reply_without_a_label_is_one_failure_not_one_for_each_label(data: pathlib.Path) -> None:
    labels = ["CORRECT", "INCORRECT", "NOT_ATTEMPTED", None]
    rows = [
        {"question_id": q, "model": model, "turn": 1, "judge": ["j", "x"], "label": labels[q % 4]}
        for q in range(24)
        for model in ("a", "b")
    ]
    write(data / "mt_bench" / "model_judgment" / "j_single.jsonl", rows)
    page = show_result(data_dir=str(data)).page
    assert page.facts["failures"] == 12
    assert any(cause.text == "12 replies without a verdict" for cause in page.causes)


def test_flips_of_a_judge_with_samples_are_its_own(tmp_path: pathlib.Path) -> None:
    data = bench(tmp_path)
    always, never = ("model_1", "model_1"), ("model_1", "model_2")
    pairs(data, {("a", "b"): lambda question, turn: always}, judge="sure")
    pairs(data, {("a", "b"): lambda question, turn: never}, judge="torn")
    folder = data / "mt_bench" / "model_judgment"
    for judge in ("sure", "torn"):
        rows = map(json.loads, (folder / f"{judge}_pair.jsonl").read_text().splitlines())
        again = folder / f"{judge}@mt_bench#2_pair.jsonl"
        write(again, [row | {"sample": 1} for row in rows])
    result = show_result(mode="pairwise-all", data_dir=str(data))
    flipped = {(row["judge"], row["model"]): row["flipped"] for row in result.rows()}
    assert flipped["sure", "a"] == 0
    assert flipped["torn", "a"] == flipped["all together", "a"] == 96


def test_the_paragraph_on_methods_says_that_pairs_were_drawn_or_a_run_was_stopped(
    tmp_path: pathlib.Path,
) -> None:
    where: dict[str, Any] = {"data_dir": str(tmp_path), "first_n": 12}
    gen_answer(["builtin/outline", "builtin/eliza", "builtin/reference"], **where)
    gen_judgment("builtin/overlap", share=0.6, **where)
    gen_judgment("builtin/overlap", until=3, **where)
    assert " models on up to " in show_result("single", data_dir=str(tmp_path)).page.outcome
    paragraph = find("format", "methods")(show_result(data_dir=str(tmp_path)).page)
    assert re.search(r"These are \d+% of the pairs, drawn at random; models are ranked", paragraph)
    assert "those of a stopped run (O'Brien and Fleming)" in paragraph
    assert "where that of the difference of strengths does" in paragraph
