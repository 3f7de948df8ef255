"""Models compared by strength, whomever they met."""

import itertools
from collections.abc import Iterable

import numpy as np
import pytest

from harness.old.records import Observation
from harness.old.results.matrix import pairs
from harness.old.results.pairs.comparing import anytime, compared_strengths, meetings_note
from harness.old.results.pairs.davidson import chances
from harness.old.results.statistics.paired import Paired, PairedTable
from harness.old.results.statistics.ranks import rank_ranges
from harness.old.results.statistics.signflip import sign_flips
from tests.old.observed import Origin, pair

J = Origin("j")
SAID = {1.0: "model_1", 0.0: "model_2", 0.5: "tie"}


def row(question: int, one: str, other: str, outcome: float | None) -> Observation:
    return pair(question, 1, one, other, (None if outcome is None else SAID[outcome],), J)


def found(rows: Iterable[Observation], baseline: str | None = None) -> PairedTable:
    return compared_strengths(pairs(list(rows)), baseline=baseline, resamplings=500)


def of(table: PairedTable, one: str, other: str) -> Paired:
    [own] = [own for own in table.pairs if {own.model_1, own.model_2} == {one, other}]
    return own


def outcomes(questions: int, seed: int, lead: float) -> list[float]:
    """Return the outcomes of a model whose ln p is greater by `lead`."""
    win, loss, _ = (float(own[0]) for own in chances(np.array([lead]), np.array([np.log(0.5)])))
    drawn = np.random.default_rng(seed).random(questions)
    return [1.0 if u < win else 0.0 if u < win + loss else 0.5 for u in drawn.tolist()]


def test_the_worked_line_of_the_docstring() -> None:
    table = found([row(1, "x", "y", 1.0), row(1, "x", "z", 1.0), row(1, "y", "z", 0.5)])
    assert of(table, "x", "y").difference.value == pytest.approx(0.75)


def test_of_a_complete_design_it_is_the_difference_of_mean_outcomes_and_p_is_exact() -> None:
    strengths = {"a": 0.0, "b": 0.3, "c": 0.8, "d": 3.0}
    games = {
        two: outcomes(40, at, strengths[two[0]] - strengths[two[1]])
        for at, two in enumerate(itertools.combinations(strengths, 2))
    }
    table = found(row(q, *two, own[q]) for two, own in games.items() for q in range(40))
    mean = {
        model: np.mean(
            [np.array(own) if two[0] == model else 1 - np.array(own) for two, own in games.items() if model in two],
            axis=0,
        )
        for model in strengths
    }
    for own in table.pairs:
        differences = mean[own.model_1] - mean[own.model_2]
        assert own.difference.value == pytest.approx(differences.mean())
        assert own.p == pytest.approx(sign_flips(differences[:, None])[0].p)
        assert own.p_method == "exact"


def test_a_copy_that_met_only_the_weak_is_not_better_than_the_original() -> None:
    against_weak, against_strong = outcomes(80, 1, 3.0), outcomes(80, 2, -1.5)
    rows = [row(q, "original", "weak", against_weak[q]) for q in range(80)]
    rows += [row(q, "copy", "weak", against_weak[q]) for q in range(80)]
    rows += [row(q, "original", "strong", against_strong[q]) for q in range(80)]
    rows += [row(q, "strong", "weak", own) for q, own in enumerate(outcomes(80, 3, 4.5))]
    table = found(rows)
    assert of(table, "copy", "original").better is None
    ranks = rank_ranges(table)
    assert ranks["strong"].first == 1
    assert ranks["copy"].last > 1


def test_two_that_never_met_are_compared_through_a_third() -> None:
    rows = [row(q, "x", "z", own) for q, own in enumerate(outcomes(40, 1, 1.5))]
    rows += [row(100 + q, "y", "z", own) for q, own in enumerate(outcomes(40, 2, -1.5))]
    assert of(found(rows), "x", "y").verdict == "better"


def test_a_model_that_always_won_is_better() -> None:
    table = found(row(q, "x", "y", 1.0) for q in range(10))
    assert of(table, "x", "y").verdict == "better"
    assert of(table, "x", "y").difference.value == pytest.approx(1.0)


def test_models_without_a_chain_of_pairs_are_not_compared() -> None:
    rows = [row(q, "a", "b", 1.0) for q in range(20)] + [row(q, "c", "d", 1.0) for q in range(20)]
    table = found(rows)
    assert of(table, "a", "c").p is None
    assert of(table, "a", "c").difference.value is None
    assert of(table, "a", "b").verdict == "better"


def test_a_baseline_is_in_no_pair_and_the_rest_are_compared_by_what_they_did_against_it() -> None:
    rows = [row(1, "x", "base", 1.0), row(1, "base", "y", 1.0), row(2, "x", "base", 0.5), row(2, "y", "base", 0.0)]
    [own] = found(rows, baseline="base").pairs
    assert (own.model_1, own.model_2) == ("x", "y")
    assert own.difference.value == pytest.approx(0.75)


def test_a_pair_without_a_verdict_does_not_count() -> None:
    rows = [row(1, "x", "y", 1.0), row(2, "x", "y", None)]
    assert of(found(rows), "x", "y").n == 1


def test_neither_the_order_of_rows_nor_who_is_named_first_matters() -> None:
    own = [row(q, "x", "y", o) for q, o in enumerate(outcomes(12, 1, 0.7))]
    own += [row(q, "z", "y", o) for q, o in enumerate(outcomes(9, 2, 0.2))]
    turned = [pair(o.question_id, 1, str(o.opponent), o.model, (_other(o.games[0]),), J) for o in reversed(own)]
    one, other = found(own), found(turned)
    for two in itertools.combinations("xyz", 2):
        assert of(one, *two).p == pytest.approx(of(other, *two).p)


def _other(game: float | None) -> str:
    assert game is not None
    return SAID[1.0 - game]


def test_pairs_that_met_until_they_were_apart_need_more_to_be_told_apart() -> None:
    rows = [row(q, "x", "y", own) for q, own in enumerate(outcomes(100, 1, 0.9))]
    rows += [row(q, "z", other, 0.5) for q in range(4) for other in ("x", "y")]
    own = of(found(rows), "x", "y")
    assert own.p_method == "mixture"
    assert anytime(0.0027) == pytest.approx(0.057, abs=0.001)
    assert anytime(1.0) == 1.0


def test_a_note_says_who_met_whom_only_where_win_rates_are_over_unequal_opponents() -> None:
    rows = [row(q, *two, 1.0) for q in range(5) for two in itertools.combinations("abc", 2)]
    assert meetings_note(pairs(rows)) is None
    note = meetings_note(pairs([*rows, *(row(q, "d", "a", 1.0) for q in range(5))]))
    assert note is not None
    assert "d met only a (5)" in note
