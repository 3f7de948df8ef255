"""Judgment file to table: which file, which rows, which notes."""

import json
import pathlib
from typing import Any

import pytest

from harness.old.bench import load_bench
from harness.old.errors import DataError, MissingError, UsageError
from harness.old.judging.builtin import NOTICE
from harness.old.records import Mode
from harness.old.results.result import Result
from harness.old.results.show import show_result

QUESTIONS = [
    {"question_id": 1, "category": "writing", "turns": ["Name three rivers.", "Now two lakes."]},
    {"question_id": 2, "category": "math", "turns": ["What is 2 + 2?", "And 3 + 3?"]},
]
SINGLE_KEYS = ["model", "turn_1", "turn_2", "average", "n", "excluded"]
PAIR_KEYS = ["model", "win", "loss", "tie", "win_rate", "loss_rate", "tie_rate", "win_rate_adjusted", "n", "excluded"]


def write(path: pathlib.Path, *rows: dict[str, Any]) -> pathlib.Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def grade(model: str, question: int, score: float, turn: int = 1, **more: Any) -> dict[str, Any]:
    row = {"question_id": question, "model": model, "judge": ["gpt-4", "single-v1"], "score": score, "turn": turn}
    return {**row, **more}


def pair(one: str, other: str, winner: str, question: int = 1, **more: Any) -> dict[str, Any]:
    row = {"question_id": question, "model_1": one, "model_2": other, "g1_winner": winner, "g2_winner": winner}
    return {**row, "judge": ["gpt-4", "pair-v2"], "turn": 1, **more}


def vote(one: str, other: str, winner: str, judge: str, question: int = 1) -> dict[str, Any]:
    return {"judge": judge, "model_a": one, "model_b": other, "question_id": question, "turn": 1, "winner": winner}


def other_notes(result: Result) -> list[str]:
    """Return the notes but for those on what rows lack: verdicts, or questions, turns, opponents in common."""
    of_rows = (
        "intervals are for",
        "give no verdict",
        "failed verdicts as the worst",
        "unequal opponents",
        "different questions",
        "fewer turns",
        "are judged",
        "is judged",
    )
    return [note for note in result.notes if not any(words in note for words in of_rows)]


GRADES = [
    grade("x", 1, 8),
    grade("x", 1, 6, 2),
    grade("x", 2, 4),
    grade("x", 2, -1, 2),
    grade("y", 1, 9.5),
    grade("y", 2, 10),
]
PAIRS = [pair("x", "y", "model_1"), pair("y", "x", "tie", 2), pair("x", "z", "model_2"), pair("z", "y", "error", 2)]


@pytest.fixture
def bench(tmp_path: pathlib.Path) -> pathlib.Path:
    """Return the folder of a benchmark `tiny` in a data folder."""
    write(tmp_path / "tiny" / "question.jsonl", *QUESTIONS)
    return tmp_path / "tiny"


def judged(bench: pathlib.Path, name: str, *rows: dict[str, Any]) -> pathlib.Path:
    return write(bench / "model_judgment" / name, *rows)


def show(bench: pathlib.Path, mode: Any = "single", **more: Any) -> Result:
    """Show the benchmark's own judgments."""
    return show_result(mode, bench_name=bench.name, data_dir=bench.parent, **more)


# Rows


def test_grades_become_rows_with_exactly_these_keys(bench: pathlib.Path) -> None:
    judged(bench, "gpt-4_single.jsonl", *GRADES)
    result = show(bench)
    assert result.rows() == [
        {"model": "y", "turn_1": 9.75, "turn_2": None, "average": 9.75, "n": 2, "excluded": 0},
        {"model": "x", "turn_1": 6.0, "turn_2": 6.0, "average": 6.0, "n": 3, "excluded": 1},
    ]
    assert [list(row) for row in result.rows()] == [SINGLE_KEYS] * 2
    assert (result.mode, result.bench, result.judge, result.judge_set) == ("single", "tiny", "gpt-4", "unstated")
    assert result.categories == [
        {"model": "y", "writing": 9.5, "math": 10.0},
        {"model": "x", "writing": 7.0, "math": 4.0},
    ]
    assert other_notes(result) == []


def test_pairs_become_rows_with_exactly_these_keys(bench: pathlib.Path) -> None:
    judged(bench, "gpt-4_pair.jsonl", *PAIRS)
    rows = show(bench, "pairwise-all").rows()
    assert [list(row) for row in rows] == [PAIR_KEYS] * 3
    assert {row["model"]: list(row.values())[1:] for row in rows} == {
        "z": [1, 0, 0, 1.0, 0.0, 0.0, 1.0, 1, 1],
        "x": [1, 1, 1, 1 / 3, 1 / 3, 1 / 3, 0.5, 3, 0],
        "y": [0, 1, 1, 0.0, 0.5, 0.5, 0.25, 2, 1],
    }


def test_pairs_with_two_scores_show_the_mean_of_each_side(bench: pathlib.Path) -> None:
    given: dict[str, Any] = {"g1_scores": [8, 5], "g2_scores": [6, 5]}
    rows = [pair("x", "y", "model_1", **given), pair("y", "x", "model_1", 2, g1_scores=[9, 2], g2_scores=[9, 4])]
    judged(bench, "gpt-4_pair.jsonl", *rows, pair("x", "z", "error", g1_scores=[1, 1]), pair("x", "y", "tie", turn=2))
    result = show(bench, "pairwise-all")
    assert {row["model"]: row["score"] for row in result.rows()} == {"x": 5.0, "y": 7.0, "z": None}
    assert result.categories == [
        {"model": "y", "writing": 5.0, "math": 9.0},
        {"model": "x", "writing": 7.0, "math": 3.0},
    ]
    assert any(note.startswith("score: the mean of the two scores") for note in result.notes)


def test_a_repeated_pair_counts_once_and_in_one_order_one_game_will_do(bench: pathlib.Path) -> None:
    first: dict[str, Any] = {"g1_scores": [1, 2], "g2_scores": [1, 2]}
    last: dict[str, Any] = {"g1_scores": [5, 2], "g2_scores": [5, 2]}
    judged(bench, "gpt-4_pair.jsonl", pair("x", "y", "model_1", **first), pair("x", "y", "model_1", **last))
    assert {row["model"]: row["score"] for row in show(bench, "pairwise-all").rows()} == {"x": 5.0, "y": 2.0}
    one_order = {name: value for name, value in pair("x", "y", "model_1").items() if name != "g2_winner"}
    path = write(bench / "once_pair1.jsonl", {**one_order, "shown_first": "model_1", "g1_scores": [7, 3]})
    shown = show_result("pairwise-all", input_file=path).rows()
    assert {row["model"]: row["score"] for row in shown} == {"x": 7.0, "y": 3.0}


def test_json_has_null_where_there_is_no_number(bench: pathlib.Path) -> None:
    judged(bench, "gpt-4_single.jsonl", grade("x", 1, -1))
    judged(bench, "gpt-4_pair.jsonl", pair("x", "y", "error"))
    single, both = json.loads(json.dumps([show(bench).rows(), show(bench, "pairwise-all").rows()]))
    assert single == [{"model": "x", "turn_1": None, "turn_2": None, "average": None, "n": 0, "excluded": 1}]
    nothing = {"win": 0, "loss": 0, "tie": 0, "n": 0, "excluded": 1}
    rates = dict.fromkeys(["win_rate", "loss_rate", "tie_rate", "win_rate_adjusted"])
    assert both == [{"model": model, **nothing, **rates} for model in ("x", "y")]


def test_failed_ratings_count_on_request_and_the_table_says_so(bench: pathlib.Path) -> None:
    judged(bench, "gpt-4_single.jsonl", *GRADES)
    result = show(bench, count_failed=True)
    assert result.rows()[1] == {"model": "x", "turn_1": 6.0, "turn_2": 2.5, "average": 4.25, "n": 4, "excluded": 0}
    assert other_notes(result) == ["judgments without a grade count as -1 (--count-failed)"]


def test_one_turn_only(bench: pathlib.Path) -> None:
    judged(bench, "gpt-4_single.jsonl", *GRADES)
    result = show(bench, turns=[2])
    assert [row["model"] for row in result.rows()] == ["x"]
    assert other_notes(result) == ["turn 2 only"]
    with pytest.raises(UsageError, match=r"gpt-4_single\.jsonl contains no judgment of turn 3"):
        show(bench, turns=[3])


def test_a_table_of_some_of_the_questions_says_so(bench: pathlib.Path) -> None:
    judged(bench, "gpt-4_single.jsonl", grade("x", 1, 7))
    assert "1 of the 2 questions of tiny is judged, none of math" in show(bench).notes
    judged(bench, "gpt-4_single.jsonl", grade("x", 1, 7), grade("x", 2, 7))
    assert not any("judged, none of" in note or "are judged" in note for note in show(bench).notes)


def test_rows_of_a_rerun_are_told(bench: pathlib.Path) -> None:
    judged(bench, "gpt-4_single.jsonl", grade("x", 1, -1), grade("x", 1, 7))
    result = show(bench)
    assert (result.rows()[0]["average"], result.rows()[0]["n"]) == (7, 1)
    assert other_notes(result) == ["1 row is repeated; the last valid one of each counts (--repeated average: all)"]


def test_a_judge_for_trying_out_is_told(bench: pathlib.Path) -> None:
    judged(bench, "builtin%2Foverlap_single.jsonl", grade("x", 1, 7, judge=["builtin/overlap", "t"]))
    result = show(bench)
    assert (result.judge, other_notes(result)) == ("builtin/overlap", [NOTICE])


# Models


def test_named_models_are_shown_and_absent_ones_told(bench: pathlib.Path) -> None:
    judged(bench, "gpt-4_single.jsonl", *GRADES)
    result = show(bench, model_list=["x", "who"])
    assert [row["model"] for row in result.rows()] == ["x"]
    assert [row["model"] for row in result.categories] == ["x"]
    assert other_notes(result) == ["no single judgment of who"]


@pytest.mark.parametrize(("mode", "rows"), [("single", GRADES), ("pairwise-all", PAIRS)])
def test_a_model_that_is_answered_and_not_judged_is_named(bench: pathlib.Path, mode: Mode, rows: Any) -> None:
    judged(bench, f"gpt-4_{'single' if mode == 'single' else 'pair'}.jsonl", *rows)
    for model in ("x", "late", "later"):
        write(bench / "model_answer" / f"{model}.jsonl", {"question_id": 1})
    told = "answered, but not judged by gpt-4, so not in the table: late, later"
    assert told in show(bench, mode).notes
    assert told not in show(bench, mode, model_list=["x", "y"]).notes
    for model in ("late", "later"):
        (bench / "model_answer" / f"{model}.jsonl").unlink()
    assert not any("not judged by" in note for note in show(bench, mode).notes)


def test_if_no_named_model_is_there_it_is_an_error(bench: pathlib.Path) -> None:
    judged(bench, "gpt-4_single.jsonl", *GRADES)
    judged(bench, "gpt-4_pair.jsonl", *PAIRS)
    with pytest.raises(UsageError, match=r"contains no single judgment of who, what$"):
        show(bench, model_list=["who", "what"])
    with pytest.raises(UsageError, match="contains no pairwise-all judgment of who"):
        show(bench, "pairwise-all", model_list=["who"])


def test_an_empty_list_of_models_is_all(bench: pathlib.Path) -> None:
    judged(bench, "gpt-4_single.jsonl", *GRADES)
    judged(bench, "gpt-4_pair.jsonl", *PAIRS)
    assert len(show(bench, model_list=[]).rows()) == 2
    assert len(show(bench, "pairwise-all", model_list=[]).rows()) == 3


def test_named_models_are_compared_among_themselves(bench: pathlib.Path) -> None:
    judged(bench, "gpt-4_pair.jsonl", *PAIRS)
    rows = show(bench, "pairwise-all", model_list=["x", "y"]).rows()
    assert [(row["model"], row["win"], row["loss"], row["tie"]) for row in rows] == [("x", 1, 0, 1), ("y", 0, 1, 1)]


def test_a_baseline_keeps_its_pairs_and_loses_its_row(bench: pathlib.Path) -> None:
    judged(bench, "gpt-4_pair.jsonl", *PAIRS)
    result = show(bench, "pairwise-baseline", baseline_model="x", model_list=["y", "x", "z"])
    rows = [(row["model"], row["win"], row["loss"], row["tie"]) for row in result.rows()]
    assert rows == [("z", 1, 0, 0), ("y", 0, 1, 1)]
    assert [note.split(",")[0] for note in result.notes][-2] == "win rates are over different questions"


def test_what_is_said_of_a_baselines_questions_counts_the_pairs_that_are_shown(bench: pathlib.Path) -> None:
    judged(bench, "gpt-4_pair.jsonl", *PAIRS)
    result = show(bench, "pairwise-baseline", baseline_model="x", model_list=["z"])
    assert any(note.startswith(f"1 of the {len(QUESTIONS)} questions of tiny") for note in result.notes)


def test_a_model_with_few_questions_is_on_no_board_and_last_in_every_order(bench: pathlib.Path) -> None:
    questions = [{"question_id": n, "category": "math", "turns": ["Why?"]} for n in range(9)]
    write(bench / "question.jsonl", *questions)
    rows = [pair("x", "base", ("model_1", "model_2")[q % 2], q) for q in range(9)]
    judged(bench, "gpt-4_pair.jsonl", *rows, *(pair("few", "base", "model_1", q) for q in range(3)))
    board = bench / "board.csv"
    result = show(bench, "pairwise-baseline", baseline_model="base", board=board, sort="win_rate")
    assert [row["model"] for row in result.rows()] == ["x", "few"]
    assert [line.split(",")[0] for line in board.read_text().splitlines()] == ["model", "x"]
    assert "not on the board, since judged on too few questions to be ranked: few" in result.notes


def test_the_only_model_with_enough_questions_is_not_the_first_of_anything(bench: pathlib.Path) -> None:
    write(bench / "question.jsonl", *({"question_id": n, "category": "math", "turns": ["Why?"]} for n in range(9)))
    judged(bench, "gpt-4_single.jsonl", *(grade(m, q, 5 + q % 3) for m, n in (("x", 9), ("y", 4)) for q in range(n)))
    assert [(row["model"], row["rank_first"]) for row in show(bench).table_rows()] == [("x", None), ("y", None)]
    assert [row["rank_first"] for row in show(bench, model_list=["x"]).table_rows()] == [1]


def test_a_board_does_not_place_a_model_of_few_pairs_among_those_of_another_run(bench: pathlib.Path) -> None:
    write(bench / "question.jsonl", *({"question_id": n, "category": "math", "turns": ["Why?"]} for n in range(9)))
    board = bench / "board.csv"

    def on_board(model: str, pairs: int, **more: Any) -> list[str]:
        judged(bench, "gpt-4_pair.jsonl", *(pair(model, "base", "model_1", q) for q in range(pairs)))
        return show(bench, "pairwise-baseline", baseline_model="base", board=board, **more).notes

    def names() -> list[str]:
        return [line.split(",")[0] for line in board.read_text().splitlines()[1:]]

    assert "x: 1 of 1 by win_rate" in on_board("x", 9)
    notes = on_board("new", 4)
    assert "not on the board, judged on too few pairs compared with its other rows: new (4 of 9)" in notes
    on_board("x", 4, overwrite=True)
    assert (names(), "9" in board.read_text().splitlines()[1].split(",")) == (["x"], True)
    board.unlink()
    on_board("new", 4)
    board.write_text(board.read_text().replace("new,100.0", "new,100.5"))
    notes = on_board("x", 9)
    assert names() == ["x", "new"]
    assert "x: 1 of 1 by win_rate" in notes
    assert "y: 1-2 of 2 by win_rate" in on_board("y", 9)
    assert "last on the board, judged on too few pairs compared with its other rows: new (4 of 9)" in notes


def test_the_model_in_every_pair_is_the_baseline(bench: pathlib.Path) -> None:
    judged(bench, "gpt-4_pair.jsonl", pair("x", "y", "model_1"), pair("y", "z", "model_1"))
    assert [row["model"] for row in show(bench, "pairwise-baseline").rows()] == ["x", "z"]


def test_a_baseline_that_must_be_said(bench: pathlib.Path) -> None:
    judged(bench, "gpt-4_pair.jsonl", *PAIRS)
    with pytest.raises(UsageError, match="pairwise-baseline needs --baseline-model; the models are: x, y, z"):
        show(bench, "pairwise-baseline")
    with pytest.raises(UsageError, match="no pair with the baseline 'w'; the models are: x, y, z"):
        show(bench, "pairwise-baseline", baseline_model="w")


def test_of_one_pair_either_may_be_the_baseline(bench: pathlib.Path) -> None:
    judged(bench, "gpt-4_pair.jsonl", pair("x", "y", "model_1"))
    with pytest.raises(UsageError, match="needs --baseline-model; the models are: x, y"):
        show(bench, "pairwise-baseline")


def test_flags_that_change_nothing_are_told(bench: pathlib.Path) -> None:
    judged(bench, "gpt-4_pair.jsonl", *PAIRS)
    result = show(bench, "pairwise-all", baseline_model="x", count_failed=True)
    assert len(result.rows()) == 3
    assert other_notes(result) == [
        "--count-failed is about one judge's single grades and has no effect here",
        "--baseline-model is about pairwise-baseline and has no effect here",
    ]


# What an interval is of


def test_the_table_says_what_its_intervals_are_of_and_by_takes_the_mix_as_given(bench: pathlib.Path) -> None:
    questions = [{"question_id": n, "category": "ab"[n % 2], "turns": ["Why?"]} for n in range(40)]
    write(bench / "question.jsonl", *questions)
    judged(bench, "gpt-4_single.jsonl", *(grade("x", n, 3 + 4 * (n % 2) + n % 3) for n in range(40)))
    mixed, any_mix, none = show(bench, by="category"), show(bench), show(bench, by="none")
    assert any("in this mix of category; intervals do not include the judge's bias" in note for note in mixed.notes)
    assert any("in any mix of categories (this mix: --by category)" in note for note in any_mix.notes)
    assert any_mix.table_rows() == none.table_rows()
    (bench / "question.jsonl").unlink()
    alone = show_result(input_file=bench / "model_judgment" / "gpt-4_single.jsonl")
    assert alone.table_rows() == any_mix.table_rows()
    widths = [row["average_high"] - row["average_low"] for found in (mixed, any_mix) for row in found.table_rows()]
    assert widths[1] > 1.5 * widths[0]


# Different questions


def uneven(bench: pathlib.Path) -> None:
    questions = [{"question_id": n, "category": "math", "turns": ["Why?"]} for n in range(10)]
    write(bench / "question.jsonl", *questions)
    rows = [grade(m, n, 5 + n % 3) for m in ("x", "y") for n in range(10 if m == "x" else 7)]
    judged(bench, "gpt-4_single.jsonl", *rows, *(grade("few", n, 10) for n in range(3)))


def test_a_model_with_few_questions_is_listed_last_without_a_rank(bench: pathlib.Path) -> None:
    uneven(bench)
    result = show(bench)
    assert [row["model"] for row in result.rows()][-1] == "few"
    assert {row["model"]: row["rank_first"] for row in result.table_rows()}["few"] is None
    assert any("7 of 10 are common to all 2 that are ranked" in note for note in result.notes)


def test_common_counts_the_questions_that_all_ranked_models_have(bench: pathlib.Path) -> None:
    uneven(bench)
    result = show(bench, common=True)
    assert {row["model"]: row["n"] for row in result.rows()} == {"x": 7, "y": 7, "few": 3}
    assert any(note.startswith("only the 7 questions") for note in result.notes)


# Which judgments


def test_the_only_judge_is_taken(bench: pathlib.Path) -> None:
    path = judged(bench, "org%2Fj_single.jsonl", grade("x", 1, 7, judge="org/j"))
    judged(bench, ".org%2Fj_single.jsonl", grade("x", 1, 1, judge="org/j"))
    assert show(bench).path == path
    assert show(bench, judge_model="org/j").path == path


SETS: dict[str, Any] = {"judge_set": "strict", "judge_set_version": "2"}


def test_of_several_judges_one_must_be_chosen(bench: pathlib.Path) -> None:
    judged(bench, "gpt-4_single.jsonl", grade("x", 1, 7))
    judged(bench, "gpt-4@strict_single.jsonl", grade("x", 1, 6, **SETS))
    judged(bench, "o3_single.jsonl", grade("x", 1, 5, judge="o3"))
    every = "choose one with --judge-model and --judge-set: gpt-4 with unstated; gpt-4 with strict 2; o3 with unstated"
    with pytest.raises(UsageError) as raised:
        show(bench)
    assert set(str(raised.value).split(": ", 1)[1].split("; ")) == set(every.split(": ", 1)[1].split("; "))
    assert "choose one with --judge-model and --judge-set: " in str(raised.value)
    with pytest.raises(UsageError, match="choose one with --judge-model: gpt-4 with unstated; o3 with unstated"):
        show(bench, judge_set="unstated")
    for flags, average in (
        ({"judge_model": "gpt-4"}, 7),
        ({"judge_model": "gpt-4", "judge_set": "unstated"}, 7),
        ({"judge_model": "gpt-4", "judge_set": "strict"}, 6),
        ({"judge_model": "gpt-4", "judge_set": "strict 2"}, 6),
        ({"judge_set": "strict"}, 6),
        ({"judge_model": "o3"}, 5),
    ):
        assert show(bench, **flags).rows()[0]["average"] == average


def test_a_judge_that_used_one_other_set_needs_no_flag_for_it(bench: pathlib.Path) -> None:
    judged(bench, "gpt-4@strict_single.jsonl", grade("x", 1, 6, **SETS))
    judged(bench, "o3_single.jsonl", grade("x", 1, 5, judge="o3"))
    assert show(bench, judge_model="gpt-4").judge_set == "strict 2"
    judged(bench, "gpt-4@mild_single.jsonl", grade("x", 1, 9, judge_set="mild", judge_set_version="1"))
    with pytest.raises(UsageError, match="choose one with --judge-set: gpt-4 with mild 1; gpt-4 with strict 2"):
        show(bench, judge_model="gpt-4")


def test_a_second_sample_is_shown_only_by_its_file(bench: pathlib.Path) -> None:
    first = judged(bench, "gpt-4@strict_single.jsonl", grade("x", 1, 6, **SETS))
    second = judged(bench, "gpt-4@strict#1_single.jsonl", grade("x", 1, 2, sample=1, **SETS))
    assert show(bench, judge_model="gpt-4").path == first
    assert show_result(input_file=second).rows()[0]["average"] == 2


def test_a_judge_whose_name_holds_an_at_sign_is_no_set(bench: pathlib.Path) -> None:
    judged(bench, "claude@20240620_single.jsonl", grade("x", 1, 6, judge="claude@20240620"))
    judged(bench, "claude_single.jsonl", grade("x", 1, 5, judge="claude"))
    assert show(bench, judge_model="claude").rows()[0]["average"] == 5
    assert show(bench, judge_model="claude@20240620").rows()[0]["average"] == 6


def test_a_file_that_two_tools_wrote_is_split_by_judge_set(bench: pathlib.Path) -> None:
    ours: dict[str, Any] = {"judge_set": "mt_bench", "judge_set_version": "1"}
    judged(bench, "gpt-4_single.jsonl", grade("x", 1, 4), grade("x", 1, 6, **ours))
    for flags in ({}, {"judge_model": "gpt-4"}):
        with pytest.raises(UsageError, match="not comparable, choose one with --judge-set: mt_bench 1, unstated"):
            show(bench, **flags)
    for judge_set, average in (("unstated", 4), ("mt_bench", 6), ("mt_bench 1", 6)):
        assert show(bench, judge_set=judge_set).rows()[0]["average"] == average
        assert show(bench, judge_set=judge_set, judge_model="gpt-4").rows()[0]["average"] == average


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        pytest.param({"judge": ["o3", "t"]}, "choose one with --judge-model: gpt-4, o3", id="judges"),
        pytest.param({"sampling": {"temperature": 1}}, "split the file by the judge's sampling", id="sampling"),
        pytest.param({"made_from": {"question": "other"}}, "two versions of question 1", id="wordings"),
    ],
)
def test_one_table_never_mixes(changes: dict[str, Any], message: str, bench: pathlib.Path) -> None:
    rows = grade("x", 1, 5, made_from={"question": "one"}), grade("y", 1, 5, **changes)
    path = judged(bench, "gpt-4_single.jsonl", *rows)
    with pytest.raises(UsageError, match=message):
        show_result(input_file=path)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        pytest.param({}, r"no single judgments in .*; run gen_judgment --mode single first", id="none"),
        pytest.param({"judge_model": "o3"}, "no single judgments by o3 in .*; run gen_judgment", id="judge"),
        pytest.param(
            {"judge_set": "s"}, "judge set s in .*; run gen_judgment --mode single --judge-set s first", id="set"
        ),
        pytest.param(
            {"mode": "pairwise-all"}, "no pairwise-all judgments in .*; run gen_judgment --mode p", id="pairs"
        ),
    ],
)
def test_nothing_judged_yet(flags: dict[str, Any], message: str, bench: pathlib.Path) -> None:
    with pytest.raises(MissingError, match=message):
        show(bench, **flags)


def test_somebody_elses_judgments_are_told(bench: pathlib.Path) -> None:
    judged(bench, "gpt-4_single.jsonl", *GRADES)
    with pytest.raises(MissingError, match=r"by o3 in .*; there are: gpt-4 with unstated; run gen_judgment"):
        show(bench, judge_model="o3")
    with pytest.raises(UsageError, match="matches --judge-model gpt-4 and --judge-set s; there are"):
        show_result(input_file=bench / "model_judgment" / "gpt-4_single.jsonl", judge_model="gpt-4", judge_set="s")


def test_the_mode_must_fit_the_file(bench: pathlib.Path) -> None:
    grades, pairs = judged(bench, "a_single.jsonl", *GRADES), judged(bench, "a_pair.jsonl", *PAIRS)
    with pytest.raises(UsageError, match=r"a_pair\.jsonl holds pairs; show it with --mode pairwise-all"):
        show_result("single", input_file=pairs)
    with pytest.raises(UsageError, match=r"a_single\.jsonl holds grades; show it with --mode single"):
        show_result("pairwise-all", input_file=grades)
    with pytest.raises(UsageError, match="no mode 'pairs'; there are: single, pairwise-baseline, pairwise-all"):
        show_result("pairs", input_file=pairs)  # type: ignore[arg-type]


def test_files_that_hold_nothing_or_are_not_there(tmp_path: pathlib.Path) -> None:
    with pytest.raises(MissingError, match=r"empty\.jsonl contains no judgments; run gen_judgment --mode single first"):
        show_result(input_file=write(tmp_path / "empty.jsonl"))
    with pytest.raises(DataError, match=r"none\.jsonl: cannot be read: No such file"):
        show_result(input_file=tmp_path / "none.jsonl")


# Votes


VOTES = [
    vote("x", "y", "model_a", "expert_0"),
    vote("y", "x", "model_b", "expert_1"),
    vote("x", "y", "tie (inconsistent)", "author_0"),
]


def test_votes_are_pooled_over_voters(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path / "human.jsonl", *VOTES)
    result = show_result("pairwise-all", input_file=path)
    assert [(row["model"], row["win"], row["loss"], row["tie"]) for row in result.rows()] == [
        ("x", 2, 0, 1),
        ("y", 0, 2, 1),
    ]
    assert (result.judge, result.judge_set) == ("human", "votes")


def test_voters_are_left_out_or_chosen(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path / "human.jsonl", *VOTES)
    assert show_result("pairwise-all", input_file=path, exclude=["author*"]).rows()[0]["n"] == 2
    one = show_result("pairwise-all", input_file=path, judge_model="expert_1")
    assert (one.judge, one.rows()[0]["n"]) == ("expert_1", 1)
    with pytest.raises(UsageError, match=r"--exclude \* leaves no vote of .*human\.jsonl"):
        show_result("pairwise-all", input_file=path, exclude=["*"])
    with pytest.raises(UsageError, match="holds no vote by gpt-4; there are: author_0, expert_0, expert_1"):
        show_result("pairwise-all", input_file=path, judge_model="gpt-4")


def test_votes_and_judgments_do_not_mix(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path / "both.jsonl", *VOTES, pair("x", "y", "tie"))
    with pytest.raises(UsageError, match="mixes judgments and votes, which are not comparable; split it"):
        show_result("pairwise-all", input_file=path)


# Categories


def test_a_file_belongs_to_the_questions_it_lies_beside(bench: pathlib.Path) -> None:
    path = judged(bench, "gpt-4_single.jsonl", *GRADES)
    result = show_result(input_file=path)
    assert result.bench == "tiny"
    assert result.categories


def test_a_file_from_elsewhere_has_no_table_by_category(tmp_path: pathlib.Path) -> None:
    result = show_result(input_file=write(tmp_path / "a" / "b" / "some.jsonl", *GRADES))
    assert (result.bench, result.categories) == (None, [])
    assert other_notes(result) == ["no table by category: the question set is unknown (see --bench-name)"]


def test_an_unknown_question_ends_the_table_by_category(bench: pathlib.Path) -> None:
    path = judged(bench, "gpt-4_single.jsonl", *GRADES, grade("x", 99, 5))
    for result in (show(bench), show_result(input_file=path)):
        assert (len(result.rows()), result.categories) == (2, [])
        assert other_notes(result) == ["no table by category: question 99 is not in tiny"]


def test_another_wording_ends_the_table_by_category(bench: pathlib.Path) -> None:
    content = load_bench("tiny", bench.parent).questions[0].content
    judged(bench, "gpt-4_single.jsonl", grade("x", 1, 5, made_from={"question": content}))
    assert show(bench).categories
    judged(bench, "gpt-4_single.jsonl", grade("x", 1, 5, made_from={"question": "0" * 16}))
    result = show(bench)
    assert result.categories == []
    assert other_notes(result) == ["no table by category: question 1 has another wording in tiny"]


def test_the_user_may_say_which_questions_they_are(bench: pathlib.Path, tmp_path: pathlib.Path) -> None:
    path = write(tmp_path / "some.jsonl", *GRADES, grade("x", 99, 5))
    result = show(bench, input_file=path)
    assert result.bench == "tiny"
    assert result.categories[0] == {"model": "y", "writing": 9.5, "math": 10.0}
    assert other_notes(result) == ["the table by category uses --bench-name, although question 99 is not in tiny"]


def test_questions_that_share_no_id_give_no_table_even_if_named(bench: pathlib.Path, tmp_path: pathlib.Path) -> None:
    result = show(bench, input_file=write(tmp_path / "some.jsonl", grade("x", 99, 5)))
    assert (result.bench, result.categories) == (None, [])
    assert other_notes(result) == ["no table by category: question 99 is not in tiny"]


@pytest.mark.parametrize("name", ["broken", "100%"])
def test_questions_that_cannot_be_read_do_not_stop_the_table(name: str, tmp_path: pathlib.Path) -> None:
    write(tmp_path / name / "question.jsonl", {"question_id": 1})
    result = show_result(input_file=write(tmp_path / name / "model_judgment" / "a_single.jsonl", *GRADES))
    assert len(result.rows()) == 2
    [note] = other_notes(result)
    assert note.startswith("no table by category: ")


def test_pairs_have_no_table_by_category_and_no_note_about_it(tmp_path: pathlib.Path) -> None:
    result = show_result("pairwise-all", input_file=write(tmp_path / "some.jsonl", *PAIRS))
    assert result.categories == []
    assert not any("table by category" in note for note in result.notes)


# Repeats, and judgments that no longer fit


def test_repeated_rows_count_as_the_flag_says(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path / "some.jsonl", grade("x", 1, 2), grade("x", 1, 8), grade("x", 2, 5))
    assert [show_result(input_file=path).rows()[0]["average"] for _ in "a"] == [6.5]
    assert show_result(input_file=path, repeated="average").rows()[0]["average"] == 5
    with pytest.raises(UsageError, match="1 row is repeated"):
        show_result(input_file=path, repeated="refuse")
    with pytest.raises(UsageError, match="--repeated must be one of"):
        show_result(input_file=path, repeated="first")


def test_a_match_that_stands_both_ways_round_is_not_silently_a_repeat(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path / "some.jsonl", pair("x", "y", "model_1"), pair("y", "x", "model_1"))
    last, both = (show_result("pairwise-all", input_file=path, repeated=how) for how in ("last", "average"))
    assert any("1 of them name the two models of a match in both orders" in note for note in last.notes)
    assert [(row["model"], row["win"]) for row in last.rows()] == [("y", 1), ("x", 0)]
    assert [(row["model"], row["win"], row["loss"]) for row in both.rows()] == [("x", 1, 1), ("y", 1, 1)]


def test_with_unequal_choices_the_interval_is_of_the_average_beside_it(tmp_path: pathlib.Path) -> None:
    rows = [grade("x", q, 6 + q % 3) for q in range(20)]
    path = write(tmp_path / "some.jsonl", *rows, *(grade("x", 3, 1, choice=c) for c in range(1, 40)))
    result = show_result(input_file=path)
    [row] = result.table_rows()
    assert row["average_low"] <= row["average"] <= row["average_high"]


def test_where_the_comparison_goes_the_other_way_than_the_averages_a_note_says_so(tmp_path: pathlib.Path) -> None:
    rows = [grade("x", q, 6) for q in range(10)] + [grade("x", q, 9) for q in range(10, 14)]
    path = write(tmp_path / "some.jsonl", *rows, *(grade("y", q, 6.5) for q in range(10)))
    result = show_result(input_file=path)
    assert [row["model"] for row in result.rows()] == ["x", "y"]
    assert any("x over y (compared: -0.5)" in note for note in result.notes)


def test_of_pairs_too_a_model_judged_on_few_questions_is_listed_last_without_a_rank(tmp_path: pathlib.Path) -> None:
    rows = [pair("x", "y", ("model_1", "model_2")[q % 2], q) for q in range(20)]
    path = write(tmp_path / "some.jsonl", *rows, *(pair("z", "x", "model_1", q) for q in range(3)))
    result = show_result("pairwise-all", input_file=path, intervals=True)
    assert [row["model"] for row in result.rows()][-1] == "z"
    assert set(result.table.ranks["win_rate_adjusted"]) == {"x", "y"}
    assert "judged on too few questions to be ranked: z (3 of 20 questions)" in result.notes


def test_each_criterion_has_its_own_ranks_and_counts_common_questions_where_these_are_wanted(
    tmp_path: pathlib.Path,
) -> None:
    means = {"wit": {"x": 7, "y": 3}, "style": {"x": 4, "y": 4}}
    rows = [grade(m, q, v, criterion=c) for c, own in means.items() for m, v in own.items() for q in range(12)]
    few = [grade("few", q, 9, criterion=c) for c in means for q in range(3)]
    path = write(tmp_path / "some.jsonl", *rows, *few, grade("x", 12, 1, criterion="wit"))
    result = show_result(input_file=path)
    ends = ("wit_rank_first", "wit_rank_last", "style_rank_first", "style_rank_last")
    assert {row["model"]: tuple(row[end] for end in ends) for row in result.table_rows()} == {
        "x": (1, 1, 1, 2),
        "y": (2, 2, 1, 2),
        "few": (None, None, None, None),
    }
    assert [row["model"] for row in result.rows()] == ["x", "y", "few"]
    assert any("judged on too few questions to be ranked: few (3 of 13 questions)" in note for note in result.notes)
    [of_x, *_] = show_result(input_file=path, common=True).rows()
    assert (of_x["wit"], of_x["n"]) == (7, 24)


@pytest.mark.parametrize("kind", ["grades", "labels", "pairs"])
def test_a_panel_lists_a_model_last_that_one_of_its_judges_hardly_saw(kind: str, tmp_path: pathlib.Path) -> None:
    def rows(judge: str, few: int) -> list[dict[str, Any]]:
        own = {"judge": [judge, "single-v1"]}
        counts = {"x": 12, "y": 12, "few": few}
        if kind == "pairs":
            return [
                pair(m, "x", "model_1" if m == "few" else "tie", q) | own
                for m in ("y", "few")
                for q in range(counts[m])
            ]
        value = {"x": 4, "y": 4, "few": 9}
        said = {m: {"label": "good"} if kind == "labels" else {"score": v} for m, v in value.items()}
        return [grade(m, q, 1) | own | said[m] for m in counts for q in range(counts[m])]

    path = write(tmp_path / "some.jsonl", *rows("j", 12), *rows("k", 3))
    mode: Mode = "pairwise-all" if kind == "pairs" else "single"
    result = show_result(mode, input_file=path, judge_model=["j", "k"])
    assert list(dict.fromkeys(row["model"] for row in result.rows()))[-1] == "few"
    assert any("few (3 of 12 questions)" in note for note in result.notes)
    common = show_result(mode, input_file=path, judge_model=["j", "k"], common=True)
    assert "only the 12 questions on which all ranked models were judged (--common)" in common.notes


# What is incomplete


def test_where_nothing_is_ranked_nobody_is_said_to_be_too_little_judged_for_it(tmp_path: pathlib.Path) -> None:
    counts = {"x": 12, "y": 12, "few": 3}
    rows = [grade(m, q, 5, judge=[judge, "t"]) for judge in "jk" for m, n in counts.items() for q in range(n)]
    path = write(tmp_path / "some.jsonl", *rows)
    told = "judged on too few questions beside the others, so listed last: few (3 of 12 questions)"
    assert told in show_result(input_file=path, judge_model=["j", "k"]).notes
    assert told in show_result(input_file=path, judge_model="j", intervals=False).notes
    assert not any("ranked" in note for note in show_result(input_file=path, judge_model="j", intervals=False).notes)
    assert told not in show_result(input_file=path, judge_model="j").notes


def test_models_without_any_common_question_are_not_sent_to_a_flag_that_leaves_none(tmp_path: pathlib.Path) -> None:
    rows = [grade(m, q, 5) for m, start in (("x", 0), ("y", 8)) for q in range(start, start + 8)]
    [told, *_] = show_result(input_file=write(tmp_path / "some.jsonl", *rows)).notes
    assert told.startswith("models were judged on different questions: 0 of 16 are common to all; averages")
    assert "--common" not in told


def test_a_turn_that_was_judged_on_some_of_the_questions_only_is_told(bench: pathlib.Path) -> None:
    judged(bench, "gpt-4_single.jsonl", *(grade(m, q, 5, t) for m in "xy" for q, t in ((1, 1), (1, 2), (2, 1))))
    told = "questions were not judged on all turns: turn 2 on 1 of the 2 that have it"
    assert told in show(bench).notes
    assert told not in show(bench, turns=[1]).notes
    judged(bench, "gpt-4_single.jsonl", grade("x", 1, 5), grade("x", 2, 5))  # a judge set may be for first turns
    assert not any("all turns" in note for note in show(bench).notes)


def test_samples_of_unequal_size_are_not_said_to_be_of_each_judgment(bench: pathlib.Path) -> None:
    path = judged(bench, "both.jsonl", *(grade("x", q, 9) for q in (1, 2)), grade("x", 1, 3, sample=1))
    told = (
        "what is in more of them weighs more: sample 0 has 2 judgments, sample 1 has 1 judgment (--sample N shows one)"
    )
    assert f"2 samples count, of unequal size; {told}" in show_result(input_file=path).notes
    rows = [grade("x", q, 9, sample=s, judge=[j, "t"]) for q in (1, 2) for j, s in (("j", 0), ("k", 0), ("k", 1))]
    panel = show_result(input_file=judged(bench, "panel.jsonl", *rows), judge_model=["j", "k"])
    assert "2 samples of each judgment of k count, averaged (--sample N shows one)" in panel.notes


def test_grades_of_two_scales_in_one_table_are_told(tmp_path: pathlib.Path) -> None:
    rows = [grade("x", q, 5, scale=[1, 10], judge_set="own") for q in range(3)]
    path = write(tmp_path / "some.jsonl", *rows, *(grade("y", q, 5, scale=[1, 5], judge_set="own") for q in range(3)))
    told = "grades of several scales are in one table, which are not comparable: 1 to 5, 1 to 10"
    assert told in show_result(input_file=path).notes
    assert not any("scales" in note for note in show_result(input_file=path, model_list=["x"]).notes)


def test_the_way_a_comparison_of_pairs_goes_is_said_to_be_that_of_strengths(tmp_path: pathlib.Path) -> None:
    rows = [pair("x", "y", ("model_1", "model_1", "model_2")[q % 3], q) for q in range(24)]
    rows += [pair("z", "y", ("model_1", "tie")[q % 2], q) for q in range(24)]
    rows += [pair("x", "w", "model_1" if q % 12 else "tie", q) for q in range(24)]
    rows += [pair("w", "y", "model_2" if q % 8 else "model_1", q) for q in range(4)]
    notes = show_result("pairwise-all", input_file=write(tmp_path / "some.jsonl", *rows)).notes
    assert any("uses the strength over all pairs: " in note for note in notes)
    assert any("ranks and tests (by strength, Bradley-Terry) are not: " in note for note in notes)


@pytest.mark.parametrize("mode", ["single", "pairwise-all"])
def test_questions_that_were_edited_after_they_were_judged_are_told(bench: pathlib.Path, mode: Mode) -> None:
    now = {question.question_id: question.content for question in load_bench("tiny", bench.parent).questions}
    rows = [
        one | {"made_from": {"question": "0123456789abcdef" if one["question_id"] == 2 else now[1]}}
        for q in (1, 2)
        for one in (grade("x", q, 5), pair("x", "y", "tie", q))
    ]
    judged(bench, "gpt-4_single.jsonl", *rows[::2])
    judged(bench, "gpt-4_pair.jsonl", *rows[1::2])
    told = "1 question edited since (such as question 2): answers to the earlier wording are judged here"
    assert any(note.startswith(told) for note in show(bench, mode).notes)
