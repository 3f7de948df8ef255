"""Charts as SVG."""

import pathlib
import re
from collections.abc import Callable
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from harness.reporting import Chart, Page
from harness.reporting.charts import Mark, bars, dots, ems_of, heat_map, radar, ticks, write_charts

LONG = "a-model-with-a-very-long-name-indeed-and-a-revision-2026-10-01"
CATEGORIES = ["writing", "roleplay", "reasoning", "math", "coding", "extraction", LONG]
CHARTS: dict[str, Callable[[], str]] = {
    "dots": lambda: dots({LONG: Mark(7.2, 6.8, 7.6), "b": Mark(6.9), "c": Mark(None)}, "score"),
    "shares": lambda: dots({LONG: Mark(0.725, 0.7, 0.75)}, "rate", percent=True, reference=0.5),
    "bars": lambda: bars({"math": {LONG: Mark(3.0, 2.0, 4.0), "b": Mark(None)}}, "grade"),
    "heat map": lambda: heat_map(
        {LONG: dict.fromkeys(CATEGORIES), "b": {"math": 3.25}}, "score", ".1"
    ),
    "matrix": lambda: heat_map({"a": {"2": 0.7}, "b": {"1": 0.3}}, "win rate", "%", middle=0.5),
    "radar": lambda: radar(
        {name: dict.fromkeys(CATEGORIES, 4.0) for name in (LONG, "b")}, "score", scale=(1, 10)
    ),
}


def texts(svg: str) -> list[str]:
    return [part.text or "" for part in ElementTree.fromstring(svg).iter() if "text" in part.tag]


@pytest.mark.parametrize("high", [0.003, 0.0725, 0.7, 0.725, 0.73, 0.8, 0.875, 1.0])
@pytest.mark.parametrize("low", [0.0, 0.001, 0.0025])
def test_labels_of_ticks_are_exact(low: float, high: float) -> None:
    shown = texts(dots({"a": Mark(None, low, high)}, "rate", percent=True))
    labels = [float(text.rstrip("%")) for text in shown if text.endswith("%")]
    steps = {round(after - before, 9) for before, after in pairwise(labels)}
    assert len(labels) > 1
    assert len(steps) == 1


@pytest.mark.parametrize("name", CHARTS)
def test_nothing_is_cut_off(name: str) -> None:
    root = ElementTree.fromstring(CHARTS[name]())
    width, height = (float(root.get(side) or 0) for side in ("width", "height"))
    for part in root.iter():
        x, y = float(part.get("x") or 0), float(part.get("y") or 0)
        if part.tag.endswith("text"):
            wide = 12 * ems_of(part.text or "")
            start = (
                x
                - {"start": 0, "middle": wide / 2, "end": wide}[part.get("text-anchor") or "start"]
            )
            assert start >= -1, part.text
            assert start + wide <= width + 12, part.text
            assert 0 < y < height
        if part.tag.endswith("rect"):
            assert x >= 0
            assert x + float(part.get("width") or 0) <= width


@pytest.mark.parametrize("name", CHARTS)
def test_charts_hold_no_style_or_script_of_their_own(name: str) -> None:
    assert not re.search(r"style|script|href", CHARTS[name]())


def test_a_cell_without_a_number_is_a_dash() -> None:
    assert texts(CHARTS["heat map"]()).count("–") == 2 * len(CATEGORIES) - 1


def test_ticks_enclose_the_numbers() -> None:
    for low, high in ((0.0, 0.0), (-3.2, 7.9), (0.001, 0.0042), (999.0, 1001.0)):
        marks = ticks(low, high)
        assert marks[0] <= low
        assert marks[-1] >= high
        assert len(marks) <= 7


def test_files_bring_their_colours_and_two_of_a_name_both_stay(tmp_path: pathlib.Path) -> None:
    charts = [Chart("Scores", CHARTS["dots"], "scores"), Chart("Scores", CHARTS["bars"], "scores")]
    paths = write_charts(tmp_path / "charts", Page("x.", charts=charts))
    assert len(set(paths)) == 2
    for path in paths:
        text = path.read_text(encoding="utf-8")
        ElementTree.fromstring(text)
        assert "prefers-color-scheme: dark" in text
