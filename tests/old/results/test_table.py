"""One table, and what is shown of it: rows, intervals, groups, judges, turns."""

from typing import Any

import pytest

from harness.old.results.statistics.bootstrap import Estimate
from harness.old.results.statistics.ranks import RankRange
from harness.old.results.table import Line, Mean, Table


def near(value: float) -> Estimate:
    return Estimate(value, value - 1, value + 1, 40, "percentile")


def mean(value: float, n: int) -> Mean:
    return Mean(value, None, None, n, None, n, 0, (1,), (2,))


@pytest.mark.parametrize(
    ("more", "columns"),
    [
        pytest.param({}, ["model", "a", "a_low", "a_high", "n", "b", "b_low", "b_high"], id="beside"),
        pytest.param({"beside": False}, ["model", "a", "n", "b", "a_low", "a_high", "b_low", "b_high"], id="after"),
        pytest.param({"sure": False}, ["model", "a", "n", "b"], id="none"),
    ],
)
def test_intervals_stand_beside_their_numbers_or_after_all(more: dict[str, Any], columns: list[str]) -> None:
    table = Table([Line("x", {"a": near(5), "n": 9, "b": near(7)})], **more)
    assert list(table.table_rows()[0]) == columns
    assert table.rows() == [{"model": "x", "a": 5, "n": 9, "b": 7}]


def test_a_column_is_never_replaced_by_the_end_of_an_interval() -> None:
    table = Table([Line("x", {"a": near(5), "a_low": 3})], beside=False)
    assert table.table_rows() == [{"model": "x", "a": 5, "a_low": 3, "a_high": 6}]


def test_a_group_that_is_called_none_is_a_group() -> None:
    table = Table([Line("x", {"a": near(5)}), Line("x", {"a": near(6)}, group=None), Line("x", {"a": near(7)}, turn=2)])
    assert [row["a"] for row in table.rows()] == [5]
    assert [(row["category"], row["a"]) for row in table.group_rows()] == [(None, 6)]
    assert [(row["turn"], row["a"]) for row in table.turn_rows()] == [(2, 7)]


def test_ranks_are_in_the_rows_and_a_model_without_has_none() -> None:
    table = Table([Line("x", {"a": near(5)}), Line("y", {"a": near(2)})], ranks={"a": {"x": RankRange(1, 2)}})
    assert [(row["rank_first"], row["rank_last"]) for row in table.table_rows()] == [(1, 2), (None, None)]


def test_columns_that_a_judge_set_names_have_ranks_of_their_own() -> None:
    lines = [Line("x", {"wit": mean(4, 3), "n": 3}), Line("y", {"wit": mean(2, 1), "n": 1})]
    table = Table(lines, "criterion", names=("wit",), ranks={"wit": {"x": RankRange(1, 2)}})
    assert [(row["wit_rank_first"], row["wit_rank_last"]) for row in table.table_rows()] == [(1, 2), (None, None)]
    assert [(row["rank_first"], row["rank_last"]) for row in table.long_rows()] == [(1, 2), (None, None)]
    assert table.rank_rows() == [{"model": "x", "wit": "1-2"}, {"model": "y"}]


def test_models_are_reordered_judge_by_judge() -> None:
    lines = [Line(model, {"a": near(5)}, judge=judge) for model in "xy" for judge in ("j", "k")]
    rows = Table(lines).in_order({"y": 0, "x": 1}).rows()
    assert [(row["model"], row["judge"]) for row in rows] == [("y", "j"), ("y", "k"), ("x", "j"), ("x", "k")]


def test_means_with_counts_of_their_own_have_a_row_each_in_a_file_with_intervals() -> None:
    lines = [Line("x", {"wit": mean(4, 3), "n": 3}), Line("x", {"wit": mean(2, 1)}, group="jokes")]
    table = Table(lines, "criterion", names=("wit",))
    assert [row["wit"] for row in table.flat_rows(intervals=False)] == [4, 2]
    assert [(row["criterion"], row["category"], row["mean"], row["n"]) for row in table.flat_rows(intervals=True)] == [
        ("wit", None, 4, 3),
        ("wit", "jokes", 2, 1),
    ]
