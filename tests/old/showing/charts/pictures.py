"""What the tests of charts share: names that try to do harm, results to draw, and a look at the SVG."""

import re
from collections.abc import Mapping
from xml.etree import ElementTree

from harness.old.results.statistics.bootstrap import Estimate
from harness.old.results.table import Line, Table

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = (
    "<script>alert('1')</script>",
    "a\"b'c & <b>",
    "x" * 100 + "/" + "y" * 99,
    "模型甲乙丙丁",
    "مساعد-13b",
    "$\\frac{1}{2}$ t0",
    "a\u202eb\x00\n\x1b[2J",
)
"""Markup, quotes, 200 characters, Chinese, right to left, a formula, and characters that hide or move."""


def estimate(value: float | None, low: float | None = None, high: float | None = None, questions: int = 80) -> Estimate:
    return Estimate(value, low, high, questions, None if low is None else "percentile")


def scored(averages: Mapping[str, float], groups: Mapping[str, float | None] | None = None) -> Table:
    """Return a table of grades; each model has the same numbers by group."""
    lines = [
        Line(
            model,
            {
                "turn_1": estimate(average + 0.25, average, average + 0.5),
                "turn_2": estimate(average - 0.25),
                "average": estimate(average, average - 0.5, average + 0.5),
                "drop": estimate(0.5, -0.1, 1.1, 79),
            },
        )
        for model, average in averages.items()
    ]
    lines += [
        Line(model, {"average": estimate(value, questions=10)}, group=name)
        for model in averages
        for name, value in (groups or {}).items()
    ]
    return Table(lines)


def root_of(svg: str) -> ElementTree.Element:
    """Return the picture's element, after looking that it can stand in any page."""
    root = ElementTree.fromstring(svg)
    assert svg.startswith("<svg ")
    tags = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert tags <= {"svg", "path", "text", "title"}
    attributes = {name for element in root.iter() for name in element.attrib}
    assert attributes <= {"width", "height", "viewBox", "role", "aria-label", "style", "x", "y", "d"}
    assert not re.search(r"url\(|@import|<!|<\?", svg)
    assert set(re.findall(r"https?://[^\"' ]*", svg)) <= {"http://www.w3.org/2000/svg"}
    return root


def texts_of(svg: str) -> list[str]:
    """Return what is written in the picture, in order."""
    return [element.text or "" for element in root_of(svg).iter(f"{SVG}text")]


def tips_of(svg: str) -> list[str]:
    """Return the tooltips."""
    return [element.text or "" for element in root_of(svg).iter(f"{SVG}title")]


def styles_of(svg: str) -> dict[str, str]:
    """Return for each text how it is written."""
    return {element.text or "": element.get("style", "") for element in root_of(svg).iter(f"{SVG}text")}
