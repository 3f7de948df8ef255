"""The radar: at most four models, a spoke for each category, gaps where there is no score."""

import re

import pytest

from harness.old.errors import UsageError
from harness.old.showing.charts import radar_chart
from tests.old.showing.charts.pictures import HOSTILE, root_of, scored, texts_of

GROUPS = {"writing": 9.0, "math": 4.0, "coding": 5.5, "stem": 10.0}


def lines_of(svg: str) -> list[str]:
    return [path.get("d", "") for path in root_of(svg) if "stroke-width: 1.8" in path.get("style", "")]


def test_each_category_has_a_spoke_and_each_model_a_line_and_a_name() -> None:
    svg = radar_chart(scored({"a": 7.0, "b": 6.0}, GROUPS))
    assert set(texts_of(svg)) >= {*GROUPS, "a", "b", "10"}
    assert len(lines_of(svg)) == 2


def test_lines_differ_in_more_than_colour() -> None:
    svg = radar_chart(scored(dict.fromkeys("abcd", 7.0), GROUPS))
    dashes = re.findall(r"stroke-dasharray: ([^;]*);[^\"]*stroke-width: 1.8", svg)
    assert len(set(dashes)) == 3  # and one line without dashes


def test_the_least_score_is_the_centre_and_the_greatest_the_rim() -> None:
    (line,) = lines_of(radar_chart(scored({"a": 7.0}, {"x": 10.0, "y": 1.0, "z": 1.0})))
    points = [tuple(map(float, pair)) for pair in re.findall(r"[ML] (\S+) (\S+)", line)]
    top, centre = points[0], points[1]
    assert points[1] == points[2]
    assert top[0] == centre[0]
    assert centre[1] - top[1] == pytest.approx(118.0)


def test_a_category_without_score_is_a_gap() -> None:
    whole = radar_chart(scored({"a": 7.0}, GROUPS))
    gap = radar_chart(scored({"a": 7.0}, {**GROUPS, "math": None}))
    assert lines_of(whole)[0].count("M") == 1
    assert lines_of(gap)[0].count("M") == 2


def test_models_are_chosen_in_the_order_named() -> None:
    rows = scored(dict.fromkeys("abcdefgh", 7.0), GROUPS)
    assert texts_of(radar_chart(rows, models=["h", "b"]))[-2:] == ["h", "b"]
    assert texts_of(radar_chart(rows))[-4:] == list("abcd")


def test_hostile_names_are_text() -> None:
    groups = dict.fromkeys(HOSTILE[:4], 5.0)
    svg = radar_chart(scored(dict.fromkeys(HOSTILE[:4], 5.0), groups))
    assert "<script" not in svg
    assert HOSTILE[3] in texts_of(svg)


def test_what_cannot_be_drawn_says_why() -> None:
    rows = scored(dict.fromkeys("abcdefgh", 7.0), GROUPS)
    with pytest.raises(UsageError, match="at most 4 models, not 8; name fewer"):
        radar_chart(rows, models=list("abcdefgh"))
    with pytest.raises(UsageError, match="no scores of z; there are: a, b"):
        radar_chart(rows, models=["z"])
    with pytest.raises(UsageError, match="at least three categories, and these scores have 2"):
        radar_chart(scored({"a": 7.0}, {"x": 1.0, "y": 2.0}))
    with pytest.raises(UsageError, match="a scale from 10 to 1 holds no scores"):
        radar_chart(rows, scale=(10.0, 1.0))
