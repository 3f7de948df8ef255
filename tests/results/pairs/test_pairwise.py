"""Pairs to rows."""

import pytest

from harness.records import Observation
from harness.results.pairs.pairwise import PairwiseRow, pairwise_rows
from tests.observed import Origin
from tests.observed import pair as _pair


def pair(one: str, other: str, *winners: str | None, question: int = 1) -> Observation:
    return _pair(question, 1, one, other, winners, Origin("gpt-4"))


@pytest.mark.parametrize(
    ("winners", "winner"),
    [
        pytest.param(("model_1", "model_1"), "model_1", id="both-1"),
        pytest.param(("model_2", "model_2"), "model_2", id="both-2"),
        pytest.param(("tie", "tie"), "tie", id="both-tie"),
        pytest.param(("model_1", "model_2"), "tie", id="they-disagree"),
        pytest.param(("model_1", "tie"), "tie", id="second-tie"),
        pytest.param(("tie", "model_2"), "tie", id="first-tie"),
        pytest.param((None, "model_1"), None, id="first-failed"),
        pytest.param(("model_1", None), None, id="second-failed"),
        pytest.param(("tie", None), None, id="tie-and-failed"),
        pytest.param((None, None), None, id="both-failed"),
        pytest.param(("model_2",), "model_2", id="one-vote"),
        pytest.param((None,), None, id="one-failed-vote"),
        pytest.param((), None, id="nothing"),
    ],
)
def test_a_pair_is_won_only_if_both_games_agree(winners: tuple[str | None, ...], winner: str | None) -> None:
    value = {"model_1": 1.0, "tie": 0.5, "model_2": 0.0, None: None}
    assert pair("x", "y", *winners).value == value[winner]


def test_the_worked_line_of_the_docstring() -> None:
    row = PairwiseRow("x", win=20, loss=18, tie=35, excluded=2)
    assert row.n == 73
    assert (row.rate(row.win), row.rate(row.loss), row.rate(row.tie)) == (20 / 73, 18 / 73, 35 / 73)
    assert row.win_rate_adjusted == 37.5 / 73


PAIRS = [
    pair("x", "y", "model_1", "model_1"),
    pair("y", "x", "model_1", "model_1", question=2),
    pair("x", "z", "model_2", "model_2"),
    pair("z", "y", "tie", "model_1"),
    pair("y", "z", "model_1", None, question=2),
]


def test_both_models_of_every_pair_are_counted_whichever_stands_first() -> None:
    assert pairwise_rows(PAIRS) == [
        PairwiseRow("z", win=1, loss=0, tie=1, excluded=1),
        PairwiseRow("y", win=1, loss=1, tie=1, excluded=1),
        PairwiseRow("x", win=1, loss=2, tie=0, excluded=0),
    ]


def test_wins_and_losses_of_all_models_balance() -> None:
    rows = pairwise_rows(PAIRS)
    assert sum(row.win for row in rows) == sum(row.loss for row in rows)
    assert sum(row.n + row.excluded for row in rows) == 2 * len(PAIRS)


def test_against_a_baseline_its_pairs_count_and_it_has_no_row() -> None:
    assert pairwise_rows(PAIRS, baseline="y") == [
        PairwiseRow("x", win=1, loss=1, tie=0, excluded=0),
        PairwiseRow("z", win=0, loss=0, tie=1, excluded=1),
    ]


def test_named_models_are_compared_among_themselves() -> None:
    rows = pairwise_rows(PAIRS, models=["x", "y"])
    assert rows == [PairwiseRow("x", 1, 1, 0, 0), PairwiseRow("y", 1, 1, 0, 0)]


def test_named_models_meet_a_baseline_that_is_not_named() -> None:
    assert pairwise_rows(PAIRS, models=["x"], baseline="z") == [PairwiseRow("x", 0, 1, 0, 0)]


def test_a_model_without_any_verdict_comes_last_and_has_no_rate() -> None:
    rows = pairwise_rows([pair("a", "b", None, "tie"), pair("x", "y", "model_2", "model_2")])
    assert [row.model for row in rows] == ["y", "x", "a", "b"]
    assert (rows[-1].n, rows[-1].excluded, rows[-1].rate(0), rows[-1].win_rate_adjusted) == (0, 1, None, None)


def test_no_pairs_are_no_rows() -> None:
    assert pairwise_rows([]) == []
    assert pairwise_rows(PAIRS, baseline="nobody") == []
