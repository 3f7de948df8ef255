"""Pairs that were drawn at random are compared by strengths; all others on common opponents."""

import itertools
from collections.abc import Callable

import numpy as np
import pytest

from harness.judging.draw import drawn_pairs
from harness.reporting.formats import text
from harness.reporting.results_page import results_page, sections_of
from harness.reporting.section import View
from harness.results import Panel, of_rows, panels
from harness.results.strengths import expected_detectable
from harness.types import Judgment, Winner
from tests.results.rows import pair

MODELS = ["a", "b", "c", "d", "e"]


def panel(share: float | None, keep: Callable[[Judgment], bool] = lambda _: True) -> Panel:
    """Return pairs of five models of which the earlier one tends to win."""
    rng = np.random.default_rng(5)
    rows = []
    for question in range(60):
        drawn = drawn_pairs(question, 1, MODELS, share or 1)
        for one, other in itertools.combinations(MODELS, 2):
            if frozenset((one, other)) in drawn:
                chance = 0.5 + 0.1 * (MODELS.index(other) - MODELS.index(one))
                winner: Winner = "model_1" if rng.random() < chance else "model_2"
                rows.append(pair(question, one, other, winner, winner, drawn=share))
    return panels(of_rows([row for row in rows if keep(row)]))[0]


def test_a_page_says_which_share_was_drawn_and_compares_strengths() -> None:
    drawn = panel(0.3)
    assert drawn.drawn == pytest.approx(0.3, abs=0.02)
    (section,) = sections_of([drawn], View("small"))
    page = text(results_page([section], View("small")))
    assert "30% of the pairs, drawn at random" in page.replace("\n", " ")
    assert "compared by strength (Bradley-Terry)" in page.replace("\n", " ")
    ratings = [row["strength"].value for row in section.rows]
    assert ratings == sorted(ratings, reverse=True)
    compared = section.ranking.comparisons.between("a", "e")
    assert compared.difference.value == pytest.approx(ratings[0] - ratings[-1])


@pytest.mark.parametrize(
    ("share", "keep"),
    [
        pytest.param(None, lambda row: row.question_id % 3 == 0, id="nothing was drawn"),
        pytest.param(1.0, lambda row: True, id="all pairs are there"),
        pytest.param(0.5, lambda row: {"a", "b"} == set(row.models), id="two models"),
        pytest.param(
            0.5, lambda row: row.model_2 != "e" or row.question_id < 10, id="one hardly played"
        ),
    ],
)
def test_elsewhere_models_are_compared_on_common_opponents(
    share: float | None, keep: Callable[[Judgment], bool]
) -> None:
    others = panel(share, keep)
    assert others.drawn is None
    (section,) = sections_of([others], View("small"))
    assert "strength" not in section.rows[0]
    assert abs(section.ranking.comparisons.pairs[0].difference.value) <= 1


def test_a_larger_share_shows_smaller_differences() -> None:
    sizes = [expected_detectable(share, 34, 80, 2) or 0 for share in (0.05, 0.1, 0.25, 1)]
    assert sizes == sorted(sizes, reverse=True)
    assert expected_detectable(0.1, 34, 4, 2) is None
