"""The matrices: a number in every cell, its opposite across the diagonal, words in the tooltips."""

import itertools
import re

import pytest

from harness.old.errors import UsageError
from harness.old.results.statistics.paired import Paired, PairedTable
from harness.old.results.table import Line, Table
from harness.old.showing.charts import difference_chart, win_rate_chart
from tests.old.showing.charts.pictures import HOSTILE, estimate, root_of, styles_of, texts_of, tips_of


def line(model: str, opponent: str, rate: float | None) -> Line:
    known = estimate(None) if rate is None else estimate(rate, max(0.0, rate - 0.125), min(1.0, rate + 0.125))
    counts = {"win": 5, "loss": 3, "tie": 2, "excluded": 0}
    return Line(model, {**counts, "win_rate_adjusted": known}, group=opponent)


def matrix(models: tuple[str, ...] = ("a", "b", "c")) -> Table:
    rate = {(0, 1): 0.7, (1, 0): 0.3, (0, 2): 0.995, (2, 0): 0.005}
    two = itertools.permutations(range(len(models)), 2)
    return Table([line(models[i], models[j], rate.get((i, j))) for i, j in two], "pairs", "opponent")


def pair(one: str, other: str, difference: float | None, p: float | None) -> Paired:
    about = estimate(None) if difference is None else estimate(difference, difference - 0.3, difference + 0.5)
    return Paired(one, other, about, 80, 0, 1.0, p, "exact", p)


def test_each_cell_says_its_win_rate_and_a_dash_where_two_never_met() -> None:
    texts = texts_of(win_rate_chart(matrix()))
    rows = [texts[at : at + 5] for at in range(0, 15, 5)]
    assert rows == [["a", "1", "1", "70", "100"], ["b", "2", "2", "30", "–"], ["c", "3", "3", "1", "–"]]


def test_tooltips_say_who_against_whom_on_how_many() -> None:
    assert "a against b: 70% (58% to 83%) of 10" in tips_of(win_rate_chart(matrix()))


def test_differences_have_their_opposite_across_the_diagonal() -> None:
    svg = difference_chart(PairedTable(("a", "b"), (pair("a", "b", 1.25, 0.01),)))
    assert {"1.3", "-1.3"} <= set(texts_of(svg))
    assert "b less a: -1.25 (-1.75 to -0.95) on 80 questions, p 0.010, significant" in tips_of(svg)


def test_what_is_not_significant_is_neither_bold_nor_coloured() -> None:
    table = PairedTable(
        ("a", "b", "c"), (pair("a", "b", 2.0, 0.01), pair("a", "c", 0.4, 0.6), pair("b", "c", None, None))
    )
    svg = difference_chart(table)
    assert "font-weight: 700" in styles_of(svg)["2.0"]
    assert "font-weight: 700" not in styles_of(svg)["0.4"]
    assert any("not significant" in tip for tip in tips_of(svg))
    fills = [path.get("style") or "" for path in root_of(svg)]
    assert fills.count("fill: var(--tb-neutral, #f7f7f7)") == 4
    assert [fill for fill in fills if "--tb-for" in fill] == ["fill: var(--tb-for, #2166ac)"]
    assert texts_of(svg).count("–") == 2


def test_many_models_make_a_wider_picture() -> None:
    many = matrix(tuple(f"model-{at}" for at in range(16)))
    assert int(root_of(win_rate_chart(many)).get("width", "0")) > 480
    assert int(root_of(win_rate_chart(matrix())).get("width", "0")) == 420


def test_hostile_names_are_text_in_cells_and_tooltips() -> None:
    svg = win_rate_chart(matrix(HOSTILE[:3]))
    assert "<script" not in svg
    assert f"{HOSTILE[0]} against {HOSTILE[1]}: 70% (58% to 83%) of 10" in tips_of(svg)


def test_the_same_table_is_the_same_picture() -> None:
    assert win_rate_chart(matrix()) == win_rate_chart(matrix())


def test_the_further_apart_two_models_are_the_stronger_the_colour() -> None:
    fills = re.findall(
        r"fill: var\(--tb-(for|against), #[0-9a-f]+\)(?:; fill-opacity: ([0-9.]+))?", win_rate_chart(matrix())
    )
    assert fills == [("for", "0.40"), ("for", "0.99"), ("against", "0.40"), ("against", "0.99")]


def test_models_stand_in_the_order_asked_for() -> None:
    table = PairedTable(("a", "b"), (pair("a", "b", 1.25, 0.01),))
    assert texts_of(difference_chart(table, order=["b", "a"]))[:3] == ["b", "1", "1"]


def test_one_model_has_no_matrix() -> None:
    with pytest.raises(UsageError, match="at least two models"):
        difference_chart(PairedTable(("a",), ()))


def test_a_small_p_is_not_said_to_be_none() -> None:
    svg = difference_chart(PairedTable(("a", "b"), (pair("a", "b", 1.25, 1e-9),)))
    assert all(tip.endswith("on 80 questions, p < 0.001, significant") for tip in tips_of(svg) if "less" in tip)
