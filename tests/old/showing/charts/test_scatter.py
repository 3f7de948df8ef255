"""Points have numbers that can be read."""

import re

from harness.old.results.statistics.bootstrap import Estimate
from harness.old.showing.charts.scatter import Point, scatter_chart


def labels_of(places: list[tuple[float, float]]) -> list[str]:
    """Return the labels within a chart of points at these places."""
    points = [Point(f"judge {at}", x, Estimate(y, None, None, 9, None)) for at, (x, y) in enumerate(places)]
    svg = scatter_chart(points, x_label="price", y_label="agreement")
    inside = svg.split("agreement</text>")[1].split("judge 0")[0]
    return re.findall(r">(\d(?:, \d)*)</text>", inside)


def test_points_in_one_place_share_a_label() -> None:
    assert labels_of([(0.0, 0.5), (0.0, 0.58), (0.0, 0.5), (0.0, 0.5005), (3.0, 0.5)])[:3] == ["1, 3, 4", "2", "5"]


def test_each_point_has_its_number_where_there_is_room() -> None:
    assert labels_of([(0.0, 0.5), (1.0, 0.6), (2.0, 0.7)])[:3] == ["1", "2", "3"]
