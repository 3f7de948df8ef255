"""Which file of judgments is meant: pairs in both orders or in one, several files of one judge."""

import pathlib
import re
from collections.abc import Callable

import pytest

from harness.old.errors import UsageError
from harness.old.judgments.file_name import judgment_files
from harness.old.meta_evaluation.position import judge_position
from harness.old.results.finding import ask, usual_file
from harness.old.results.query import Query
from harness.old.results.show import show_result
from tests.old.small_bench import question, small_bench, write

PAIR = {"question_id": 1, "model_1": "x", "model_2": "y", "turn": 1}


def both_orders(judge: str, judge_set: str) -> dict[str, object]:
    winners = {"g1_winner": "model_1", "g2_winner": "model_1"}
    return {**PAIR, **winners, "judge": [judge, "pair-v2"], "judge_set": judge_set, "judge_set_version": "1"}


def one_order(judge: str, judge_set: str) -> dict[str, object]:
    row = both_orders(judge, judge_set)
    del row["g2_winner"]
    return {**row, "shown_first": "model_1"}


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    """Return a results folder with pairs in one order by `once`, and in both and in one by `twice`."""
    made = small_bench(tmp_path, question(1)).folder / "model_judgment"
    write(made / "once@s_pair1.jsonl", [one_order("once", "s")])
    write(made / "twice@s_pair.jsonl", [both_orders("twice", "s")])
    write(made / "twice@s_pair1.jsonl", [one_order("twice", "s")])
    return made


def query(data: pathlib.Path, judge: str, judge_set: str | None) -> Query:
    return Query.of("pairwise-all", judge_model=judge, judge_set=judge_set, bench_name="small", data_dir=data)


def test_pairs_in_one_order_are_found_by_judge(folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
    assert usual_file(query(tmp_path, "once", "s")).name == "once@s_pair1.jsonl"
    assert usual_file(query(tmp_path, "once", None)).name == "once@s_pair1.jsonl"
    result = show_result("pairwise-all", bench_name="small", data_dir=tmp_path, judge_model="once")
    assert [(row["model"], row["win"]) for row in result.rows()] == [("x", 1), ("y", 0)]
    assert any("in one order only" in note for note in result.notes)


def test_where_there_are_both_the_file_must_be_named(folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
    for judge_set in ("s", None):
        with pytest.raises(UsageError, match=re.escape("--input-file: twice@s_pair.jsonl, twice@s_pair1.jsonl")):
            usual_file(query(tmp_path, "twice", judge_set))
    both = show_result("pairwise-all", bench_name="small", data_dir=tmp_path, input_file=folder / "twice@s_pair.jsonl")
    assert not any("in one order only" in note for note in both.notes)


def test_several_judges_are_read_in_both_orders_where_they_have_them(
    folder: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    assert len(judgment_files(folder, ("pair", "pair1"))) == 3
    sources = ask(Query("pairwise-all", bench_name="small", data_dir=tmp_path, every_judge=True))
    assert [source.path.name for source in sources] == ["once@s_pair1.jsonl", "twice@s_pair.jsonl"]


def test_position_says_that_one_order_tells_nothing(folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
    alone = judge_position(bench_name="small", data_dir=tmp_path, judge_model="once")
    assert alone.rows[0]["n"] == 0
    assert any("position bias cannot be estimated" in note for note in alone.notes)
    report = judge_position(
        input_file=write(folder / "mixed_pair.jsonl", [both_orders("j", "s"), {**one_order("j", "s"), "turn": 2}])
    )
    assert report.rows[0]["n"] == 1
    assert any("one order" in note for note in report.notes)


def test_the_field_that_groups_is_the_one_named_where_questions_are_unknown(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path / "apart.jsonl", [both_orders("j", "s")])
    result = show_result("pairwise-all", input_file=path, data_dir=tmp_path, by="difficulty")
    assert (result.bench, result.table.by) == (None, "difficulty")


@pytest.mark.parametrize(
    ("function", "word", "meant"),
    [(show_result, "judge_modle", "judge_model"), (show_result, "comon", "common"), (judge_position, "tuns", "turns")],
)
def test_a_word_that_there_is_not_is_refused_by_the_function_that_was_called(
    function: Callable[..., object], word: str, meant: str
) -> None:
    told = f"{function.__name__}() got an unexpected keyword argument {word!r}; did you mean {meant!r}?"
    with pytest.raises(TypeError, match=f"^{re.escape(told)}$"):
        function(**{word: 1})
