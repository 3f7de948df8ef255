"""The position chart: four parts of each bar that add up to the whole, n and what was left out beside."""

import re

import pytest

from harness.old.errors import UsageError
from harness.old.results.pairs.position import KINDS
from harness.old.results.table import Row
from harness.old.showing.charts import position_chart
from harness.old.showing.charts.sheet import SMALL, text_width
from tests.old.showing.charts.pictures import HOSTILE, root_of, texts_of

COLOURS = ("#bcd5e8", "#c04f00", "#0072b2", "#d5d9de")


def row(by: str, group: str | int | None, *counts: int, errors: int = 0) -> Row:
    return {"by": by, "group": group, "n": sum(counts), "errors": errors, **dict(zip(KINDS, counts, strict=True))}


def widths_of(svg: str) -> list[float]:
    """Return how wide each part of the bars is, the legend left out."""
    found = []
    for path in root_of(svg):
        xs = [float(x) for x in re.findall(r"[ML] (\S+)", path.get("d", ""))]
        if path.get("style", "")[-8:-1] in COLOURS:
            found.append(max(xs) - min(xs))
    return found[4:]


def test_parts_are_as_wide_as_their_shares() -> None:
    svg = position_chart([row("all", None, 46, 16, 2, 9)])
    widths = widths_of(svg)
    assert [width / sum(widths) for width in widths] == pytest.approx([46 / 73, 16 / 73, 2 / 73, 9 / 73], abs=1e-4)


def test_parts_say_their_share_and_bars_their_n() -> None:
    texts = texts_of(position_chart([row("all", None, 46, 16, 2, 9)]))
    assert texts[:4] == ["consistent", "biased to first", "biased to second", "one-sided tie"]
    assert {"all pairs", "63%", "22%", "73"} <= set(texts)
    assert "3%" not in texts  # too narrow for its number
    assert "no verdict" not in texts


def test_large_counts_do_not_touch_the_bars() -> None:
    svg = position_chart([row("all", None, 1_234_567, 0, 0, 0, errors=2)])
    ends = {text.text: float(text.get("x", "")) for text in root_of(svg).iter() if text.tag.endswith("text")}
    bar_ends = max(float(x) for path in root_of(svg) for x in re.findall(r"[ML] (\S+)", path.get("d", "")))
    assert ends["1234567"] - text_width(["1234567"], 20.0, SMALL) > bar_ends + 4.0


def test_pairs_without_verdict_are_counted_beside() -> None:
    texts = texts_of(position_chart([row("all", None, 5, 0, 0, 0, errors=2)]))
    assert "no verdict" in texts
    assert "2" in texts


def test_groups_are_named() -> None:
    rows = [row("category", "math", 3, 1, 0, 0), row("category", None, 1, 0, 0, 0)]
    rows += [row("turn", turn, 2, 0, 0, 0) for turn in (1, 2)]
    texts = texts_of(position_chart(rows))
    assert {"math", "no category", "turn 1", "turn 2"} <= set(texts)


def test_a_single_group_is_not_drawn_beside_all() -> None:
    rows = [row("all", None, 3, 1, 0, 0), row("judge", "gpt-4", 3, 1, 0, 0)]
    assert "gpt-4" not in texts_of(position_chart(rows))
    assert "gpt-4" in texts_of(position_chart([*rows, row("judge", "claude", 1, 0, 0, 0)]))


def test_a_group_without_pairs_has_no_bar() -> None:
    assert widths_of(position_chart([row("all", None, 0, 0, 0, 0, errors=3)])) == []


def test_hostile_names_are_text() -> None:
    svg = position_chart([row("category", name, 3, 1, 1, 1) for name in HOSTILE])
    assert "<script" not in svg
    assert HOSTILE[3] in texts_of(svg)


def test_nothing_to_draw_is_said() -> None:
    with pytest.raises(UsageError, match="no pairs to draw"):
        position_chart([])
