"""Pairs to rows."""

from typing import Any

import numpy as np
import pytest

from harness.old.judgments.observations import Observations
from harness.old.records import Observation
from harness.old.results.finding import of_models
from harness.old.results.pairs.pairwise import pairwise_rows, standard_error
from harness.old.results.table import Line
from tests.old.observed import Origin
from tests.old.observed import pair as _pair


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
    winners = ["model_1"] * 20 + ["model_2"] * 18 + ["tie"] * 35 + [None] * 2
    found = pairwise_rows([pair("x", "y", winner, question=at) for at, winner in enumerate(winners)])
    own = next(line.fields for line in found if line.model == "x")
    assert own == {
        "win": 20,
        "loss": 18,
        "tie": 35,
        "win_rate": 20 / 73,
        "loss_rate": 18 / 73,
        "tie_rate": 35 / 73,
        "win_rate_adjusted": 37.5 / 73,
        "n": 73,
        "excluded": 2,
    }


def counts(lines: list[Line]) -> list[tuple[Any, ...]]:
    return [(line.model, *(line.fields[name] for name in ("win", "loss", "tie", "excluded"))) for line in lines]


PAIRS = [
    pair("x", "y", "model_1", "model_1"),
    pair("y", "x", "model_1", "model_1", question=2),
    pair("x", "z", "model_2", "model_2"),
    pair("z", "y", "tie", "model_1"),
    pair("y", "z", "model_1", None, question=2),
]


def test_both_models_of_every_pair_are_counted_whichever_stands_first() -> None:
    assert counts(pairwise_rows(PAIRS)) == [("z", 1, 0, 1, 1), ("y", 1, 1, 1, 1), ("x", 1, 2, 0, 0)]


def test_wins_and_losses_of_all_models_balance() -> None:
    rows = [line.fields for line in pairwise_rows(PAIRS)]
    assert sum(row["win"] for row in rows) == sum(row["loss"] for row in rows)
    assert sum(row["n"] + row["excluded"] for row in rows) == 2 * len(PAIRS)


def test_against_a_baseline_its_pairs_count_and_it_has_no_row() -> None:
    assert counts(pairwise_rows(PAIRS, baseline="y")) == [("x", 1, 1, 0, 0), ("z", 0, 0, 1, 1)]


def test_named_models_are_compared_among_themselves() -> None:
    shown = of_models(Observations.of(PAIRS), ("x", "y"))
    assert counts(pairwise_rows(shown)) == [("x", 1, 1, 0, 0), ("y", 1, 1, 0, 0)]


def test_named_models_meet_a_baseline_that_is_not_named() -> None:
    shown = of_models(Observations.of(PAIRS), ("x",), "z")
    assert counts(pairwise_rows(shown, baseline="z")) == [("x", 0, 1, 0, 0)]


def test_a_model_without_any_verdict_comes_last_and_has_no_rate() -> None:
    rows = pairwise_rows([pair("a", "b", None, "tie"), pair("x", "y", "model_2", "model_2")])
    assert [row.model for row in rows] == ["y", "x", "a", "b"]
    last = [rows[-1].fields[name] for name in ("n", "excluded", "win_rate", "win_rate_adjusted")]
    assert last == [0, 1, None, None]


def test_no_pairs_are_no_rows() -> None:
    assert pairwise_rows([]) == []
    assert pairwise_rows(PAIRS, baseline="nobody") == []


def test_the_standard_error_is_that_of_the_mean_of_the_pairs() -> None:
    assert standard_error(2.5, 2.25, 4) == pytest.approx(np.std([1, 1, 0.5, 0], ddof=1) / 2)
    assert standard_error(1, 1, 1) is None
