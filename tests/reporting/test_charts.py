"""Charts as SVG."""

import pathlib
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import pytest

from harness.reporting import Cell, Chart, Column, Page
from harness.reporting.charts import heat_map, marks, radar, write_charts
from harness.reporting.templates import ems_of

LONG = "a-model-with-a-very-long-name-indeed-and-a-revision-2026-10-01"
CATEGORIES = ["writing", "roleplay", "reasoning", "math", "coding", "extraction", LONG]
COLUMNS = [Column(name, name, ".1") for name in CATEGORIES]
ROWS: list[dict[str, Any]] = [
    {"model": LONG, "score": Cell(7.2, 6.8, 7.6), "math": None},
    {"model": "b", "score": 6.9, "math": 3.25},
    {"model": "c", "score": None},
]
SCORE = Column("score", format=".2")
FULL: list[dict[str, Any]] = [
    {"model": name} | dict.fromkeys(CATEGORIES, 4.0) for name in (LONG, "b")
]
CHARTS: dict[str, Callable[[], str]] = {
    "dots": lambda: marks(ROWS, [SCORE], "score"),
    "reference": lambda: marks(ROWS, [SCORE], "score", reference=5.0),
    "bars": lambda: marks(ROWS, [SCORE, Column("math")], "grade", bar=True),
    "heat map": lambda: heat_map(ROWS, COLUMNS, "score"),
    "radar": lambda: radar(FULL, COLUMNS, "score", scale=(1, 10)),
}


def texts(svg: str) -> list[str]:
    return [part.text or "" for part in ElementTree.fromstring(svg).iter() if "text" in part.tag]


@pytest.mark.parametrize("high", [0.003, 0.0725, 0.725, 0.875, 1.0])
@pytest.mark.parametrize("low", [0.0, 0.0025])
def test_labels_of_ticks_are_exact(low: float, high: float) -> None:
    row = {"model": "a", "rate": Cell(None, low, high)}
    shown = texts(marks([row], [Column("rate", format="%")], "rate"))
    labels = [float(text.rstrip("%")) for text in shown if text.endswith("%")]
    steps = {round(after - before, 9) for before, after in pairwise(labels)}
    assert len(labels) > 1
    assert len(steps) == 1


@pytest.mark.parametrize("name", CHARTS)
def test_nothing_is_cut_off_and_nothing_has_a_style_or_script_of_its_own(name: str) -> None:
    svg = CHARTS[name]()
    assert not re.search(r"style|script|href", svg)
    root = ElementTree.fromstring(svg)
    width, height = (float(root.get(side) or 0) for side in ("width", "height"))
    for part in root.iter():
        x, y = float(part.get("x") or 0), float(part.get("y") or 0)
        if part.tag.endswith("text"):
            wide = 12 * ems_of(part.text or "")
            before = {"start": 0, "middle": wide / 2, "end": wide}
            start = x - before[part.get("text-anchor") or "start"]
            assert start >= -1, part.text
            assert start + wide <= width + 12, part.text
            assert 0 < y < height
        if part.tag.endswith("rect"):
            assert x >= 0
            assert x + float(part.get("width") or 0) <= width


def test_files_bring_their_colours_and_two_of_a_name_both_stay(tmp_path: pathlib.Path) -> None:
    charts = [Chart("Scores", CHARTS["dots"], "scores"), Chart("Scores", CHARTS["bars"], "scores")]
    write_charts(tmp_path / "charts", Page("x.", charts=charts))
    paths = list((tmp_path / "charts").glob("*.svg"))
    assert len(paths) == 2
    for path in paths:
        text = path.read_text(encoding="utf-8")
        ElementTree.fromstring(text)
        assert "prefers-color-scheme: dark" in text
