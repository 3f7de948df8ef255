"""A bar for each model under each heading: as long as its number, from the least that there can be."""

import re

import pytest

from harness.old.errors import UsageError
from harness.old.showing.charts import bar_chart
from tests.old.showing.charts.pictures import HOSTILE, estimate, root_of, texts_of


def widths(svg: str) -> list[float]:
    """Return the widths of the bars."""
    bars = [path.get("d", "") for path in root_of(svg) if "fill-opacity" in path.get("style", "")]
    corners = [[float(x) for x in re.findall(r"[ML] (\S+)", bar)] for bar in bars]
    return [max(xs) - min(xs) for xs in corners]


def test_bars_begin_where_the_scale_does() -> None:
    svg = bar_chart({"wit": {"a": estimate(2.0), "b": estimate(3.0)}}, label="wit", scale=(1.0, 5.0))
    a, b = widths(svg)
    assert b == pytest.approx(2 * a, abs=0.05)
    assert texts_of(svg)[-5:] == ["wit", "a", "2.00", "b", "3.00"]


def test_without_a_scale_they_begin_at_nought() -> None:
    a, b = widths(bar_chart({"x": {"a": estimate(2.0), "b": estimate(3.0)}}, label="x"))
    assert b == pytest.approx(1.5 * a, abs=0.05)


def test_each_group_has_a_heading_and_an_empty_one_is_left_out() -> None:
    none = estimate(None)
    svg = bar_chart({"math": {"a": estimate(1.0), "b": none}, "wit": {"a": none}}, label="x", scale=(0.0, 1.0))
    texts = texts_of(svg)
    assert texts[-5:] == ["math", "a", "1.00", "b", "–"]
    assert "wit" not in texts


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_any_name_is_text_and_nothing_else(name: str) -> None:
    texts_of(bar_chart({name: {name: estimate(1.0)}}, label=name))


def test_without_any_number_there_is_no_chart() -> None:
    with pytest.raises(UsageError, match="a chart of wit needs at least one number"):
        bar_chart({"wit": {"a": estimate(None)}}, label="wit")
