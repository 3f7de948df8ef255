"""Estimates by turn: a line for each name, gaps, intervals, and no more names than can be told apart."""

import pytest

from harness.old.errors import UsageError
from harness.old.showing.charts import turn_chart
from tests.old.showing.charts.pictures import HOSTILE, estimate, root_of, texts_of


def lines_of(svg: str) -> list[str]:
    return [path.get("d", "") for path in root_of(svg) if "stroke-width: 1.8" in path.get("style", "")]


def test_each_model_has_a_line_a_name_and_its_turns() -> None:
    curves = {name: {turn: estimate(5.0 + turn, 4.0, 9.0) for turn in (1, 2, 3)} for name in ("a", "b")}
    svg = turn_chart(curves)
    assert set(texts_of(svg)) >= {"a", "b", "1", "2", "3", "score by turn, 95% interval"}
    assert len(lines_of(svg)) == 2


def test_a_turn_without_estimate_is_a_gap() -> None:
    curves = {"a": {1: estimate(5.0, 4.0, 6.0), 3: estimate(5.0, 4.0, 6.0)}, "b": {2: estimate(6.0, None, None)}}
    assert [line.count("M") for line in lines_of(turn_chart(curves))] == [2, 1]


def test_hostile_names_are_text_and_too_many_are_refused() -> None:
    own = {1: estimate(5.0, 4.0, 6.0)}
    assert "<script" not in turn_chart(dict.fromkeys(HOSTILE[:4], own))
    with pytest.raises(UsageError, match="at most 4 models, not 5"):
        turn_chart(dict.fromkeys("abcde", own))
    with pytest.raises(UsageError, match="there is none"):
        turn_chart({"a": {}})
