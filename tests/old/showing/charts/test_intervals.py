"""Whiskers: names, numbers, ranks and n stand beside; what has no interval is a ring."""

import re

import pytest

from harness.old.errors import UsageError
from harness.old.results.statistics.ranks import RankRange
from harness.old.results.table import Line, Table
from harness.old.showing.charts import interval_chart, rate_chart, score_chart
from harness.old.showing.charts.sheet import SMALL, text_width
from tests.old.showing.charts.pictures import HOSTILE, estimate, root_of, scored, texts_of, tips_of


def test_each_model_has_its_name_its_number_and_a_whisker() -> None:
    svg = score_chart(scored({"a": 8.275, "b": 7.0}))
    texts = texts_of(svg)
    assert texts[-4:] == ["a", "8.28", "b", "7.00"]
    assert "average score, 95% interval, n = 80 questions" in texts
    whiskers = [path for path in root_of(svg) if "stroke-width: 2" in path.get("style", "")]
    assert len(whiskers) == 2


def test_a_longer_whisker_is_a_longer_line() -> None:
    svg = interval_chart({"a": estimate(5.0, 4.0, 6.0), "b": estimate(5.0, 3.0, 7.0)}, label="score")
    ends = [
        [float(x) for x in re.findall(r"[ML] (\S+)", path.get("d", ""))]
        for path in root_of(svg)
        if "stroke-width: 2" in path.get("style", "")
    ]
    (a_low, a_high), (b_low, b_high) = ends
    assert b_high - b_low == pytest.approx(2 * (a_high - a_low), abs=1e-3)


def test_n_stands_beside_each_where_it_differs() -> None:
    texts = texts_of(interval_chart({"a": estimate(1.0, 0.0, 2.0, 80), "b": estimate(2.0, 1.0, 3.0, 7)}, label="x"))
    assert texts[-6:] == ["a", "1.00", "80", "b", "2.00", "7"]
    assert "x, 95% interval, n: questions" in texts


def test_a_chart_without_intervals_does_not_speak_of_any() -> None:
    none, some = estimate(1.0, None, None, 3), estimate(2.0, 1.0, 3.0, 3)
    svg = interval_chart({"a": none, "b": none}, label="x")
    assert "x, without intervals, n = 3 questions" in texts_of(svg)
    assert root_of(svg).get("aria-label") == "x of 2 models"
    assert (
        root_of(interval_chart({"a": none, "b": some}, label="x"))
        .get("aria-label", "")
        .endswith(", some with a 95% interval")
    )


def test_large_counts_do_not_touch_the_values() -> None:
    svg = interval_chart({"a": estimate(0.1, 0.0, 0.2, 1_234_567), "b": estimate(0.2, 0.1, 0.3, 7)}, label="x")
    ends = {text.text: float(text.get("x", "")) for text in root_of(svg).iter() if text.tag.endswith("text")}
    assert ends["1234567"] - ends["0.10"] > text_width(["1234567"], 20.0, SMALL) + 4.0


def test_the_numbers_of_an_axis_do_not_touch_where_names_are_long() -> None:
    names = ("question × model × order, turn 1", "rest")
    rows = {name: estimate(0.5, -0.26, 0.86, n) for name, n in zip(names, (80, 284), strict=True)}
    svg = interval_chart(rows, label="share", as_percent=True)
    below = [
        text for text in root_of(svg).iter() if text.tag.endswith("text") and re.match(r"-?\d+%$", text.text or "")
    ]
    axis = [text for text in below if text.get("y") == below[0].get("y")]
    assert len(axis) > 2
    gap = float(axis[1].get("x", "")) - float(axis[0].get("x", ""))
    assert gap > text_width([axis[0].text or ""], 20.0, SMALL) + 4.0


def test_an_estimate_without_interval_is_a_ring_and_none_is_a_dash() -> None:
    svg = interval_chart({"a": estimate(1.0), "b": estimate(None, questions=0)}, label="score")
    assert texts_of(svg)[-3:] == ["b", "–", "0"]
    assert svg.count("fill: var(--tb-sheet, #ffffff)") == 1
    assert "stroke-width: 2" not in svg


def test_ranks_stand_beside_as_ranges() -> None:
    texts = texts_of(score_chart(scored({"a": 8.0, "b": 7.0}), ranks={"a": RankRange(1, 2)}))
    assert texts[-6:] == ["a", "8.00", "1-2", "b", "7.00", "–"]


@pytest.mark.parametrize(
    ("column", "number", "label"),
    [
        pytest.param("turn_1", "8.25", "turn 1,", id="turn"),
        pytest.param("drop", "0.50", "turn 1 less turn 2,", id="drop"),
    ],
)
def test_any_column_of_the_scores_can_be_drawn(column: str, number: str, label: str) -> None:
    texts = texts_of(score_chart(scored({"a": 8.0}), column=column))
    assert texts[-1] == number
    assert any(text.startswith(label) for text in texts)


def test_another_aggregate_is_called_by_its_name() -> None:
    texts = texts_of(score_chart(Table([Line("a", {"min": estimate(8.0)})]), column="min"))
    assert any(text.startswith("min, without intervals") for text in texts)


def test_win_rates_are_in_per_cent() -> None:
    rate = estimate(0.645, 0.5, 0.75)
    texts = texts_of(rate_chart(Table([Line("a", {"win_rate_adjusted": rate})])))
    assert texts[-2:] == ["a", "65%"]
    assert "50%" in texts


def test_hostile_names_are_text() -> None:
    svg = score_chart(scored(dict.fromkeys(HOSTILE, 5.0)))
    assert {HOSTILE[1], HOSTILE[3], HOSTILE[4]} <= set(texts_of(svg))
    assert HOSTILE[2] in tips_of(svg)
    assert "<script" not in svg


def test_the_same_scores_are_the_same_picture() -> None:
    rows = scored({"a": 8.0, "b": 7.0})
    assert score_chart(rows) == score_chart(rows)


def test_what_cannot_be_drawn_says_why() -> None:
    with pytest.raises(UsageError, match="no column 'maths' in the scores of a; there are: turn_1, turn_2"):
        score_chart(scored({"a": 8.0}), column="maths")
    with pytest.raises(UsageError, match="at least one model with a value"):
        interval_chart({"a": estimate(None)}, label="score")


def test_the_axis_says_what_a_ring_is_and_promises_no_interval_where_there_is_none() -> None:
    bare = estimate(5.0, None, None, 1)
    assert "x, without intervals, n = 1 question" in texts_of(interval_chart({"a": bare, "b": bare}, label="x"))
    mixed = texts_of(interval_chart({"a": estimate(1.0, 0.0, 2.0, 80), "b": bare}, label="x"))
    assert "x, 95% interval (ring: none), n: questions" in mixed
