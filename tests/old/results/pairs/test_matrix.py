"""Every model against every other, and the mean over opponents."""

import json
import pathlib
from typing import Any

import numpy as np
import pytest

from harness.old.judgments.reading import read_judgments
from harness.old.records import Observation, QuestionId
from harness.old.results.finding import without_voters
from harness.old.results.matrix import Pairs, pairs
from harness.old.results.pairs.matrix import mean_over_opponents, pair_matrix, tallies
from harness.old.results.pairs.pairwise import pairwise_rows
from harness.old.results.pairs.rates import rates
from harness.old.results.statistics.bootstrap import Estimate
from harness.old.results.table import ALL
from tests.old.observed import Origin
from tests.old.observed import pair as _pair

GPT_4 = Origin("gpt-4")
PUBLISHED = {
    "gpt-4": (61.2, 67.9, 49.3, 66.1, 56.3, 66.2, 76.6, 72.2),
    "gpt-3.5-turbo": (50.9, 60.6, 32.6, 63.8, 55.0, 48.8, 52.8, 53.8),
    "vicuna-13b-v1.2": (39.7, 39.2, 20.1, 18.0, 36.9, 29.2, 47.0, 47.5),
    "llama-13b": (15.1, 15.1, 7.8, 7.5, 2.1, 9.3, 6.8, 10.1),
}
"""arXiv 2306.05685v4, Table 7, in percent."""
CATEGORIES = ("writing", "roleplay", "reasoning", "math", "coding", "extraction", "stem", "humanities")


def pair(question: QuestionId, one: str, other: str, winner: str | None, turn: int = 1) -> Observation:
    return _pair(question, turn, one, other, (winner,), GPT_4)


def some_pairs(questions: int = 40, seed: int = 0, *, models: int = 4) -> list[Observation]:
    """Return random votes in which a lower number is better; one of twenty is none, and not all pairs are there."""
    generator = np.random.default_rng(seed)

    def winner(i: int, j: int) -> str | None:
        chances = np.array([1.0 + j, 1.0 + i, 1.5])
        drawn = generator.choice(3, p=chances / chances.sum())
        return None if generator.random() < 0.05 else ("model_1", "model_2", "tie")[drawn]

    return [
        pair(q, f"m{i}", f"m{j}", winner(i, j), turn)
        for q in range(questions)
        for turn in (1, 2)
        for i in range(models)
        for j in range(i)
        if generator.random() < 0.8
    ]


def ends(estimate: Estimate) -> tuple[float, float]:
    assert estimate.low is not None
    assert estimate.high is not None
    return estimate.low, estimate.high


def means_of(found: Pairs, **more: Any) -> list[tuple[str, Estimate]]:
    """Return each model's mean over its opponents on all questions, best first."""
    lines = mean_over_opponents(found, **more)
    return [(line.model, line.fields["mean_over_opponents"]) for line in lines if line.group is ALL]


def repeated(question: QuestionId, one: str, other: str, wins: int, losses: int, ties: int) -> list[Observation]:
    winners = ["model_1"] * wins + ["model_2"] * losses + ["tie"] * ties
    return [pair(question, one, other, winner) for winner in winners]


def test_the_worked_line_of_the_docstring() -> None:
    found = pairs([*repeated(1, "x", "y", 6, 2, 2), *repeated(1, "x", "z", 1, 1, 0)])
    cells = {(line.model, line.group): line.fields for line in pair_matrix(found).lines}
    counts = {"win": 6, "loss": 2, "tie": 2, "excluded": 0}
    assert cells["x", "y"] == counts | {"win_rate_adjusted": Estimate(0.7, None, None, 1, None)}
    means = dict(means_of(found))
    assert means["x"].value == pytest.approx(0.55)
    assert means["y"].value == pytest.approx(0.2)


def test_each_cell_is_the_plain_table_of_its_two_models() -> None:
    found = some_pairs()
    for line in pair_matrix(pairs(found), resamplings=100).lines:
        of_two = pairwise_rows([p for p in found if {p.model, p.opponent} == {line.model, line.group}])
        [own] = [plain.fields for plain in of_two if plain.model == line.model]
        counts = [line.fields[name] for name in ("win", "loss", "tie", "excluded")]
        assert counts == [own[name] for name in ("win", "loss", "tie", "excluded")]
        assert sum(counts[:3]) == own["n"]
        assert line.fields["win_rate_adjusted"].value == pytest.approx(own["win_rate_adjusted"])


def test_cells_mirror_each_other_and_models_stand_best_first() -> None:
    found = some_pairs()
    lines = pair_matrix(pairs(found), resamplings=200).lines
    assert list(dict.fromkeys(line.model for line in lines)) == [line.model for line in pairwise_rows(found)]
    cells = {(line.model, line.group): line.fields for line in lines}
    assert len(cells) == 12
    for (model, opponent), own in cells.items():
        other = cells[opponent, model]
        assert (own["win"], own["loss"], own["tie"]) == (other["loss"], other["win"], other["tie"])
        low, high = ends(own["win_rate_adjusted"])
        assert ends(other["win_rate_adjusted"]) == pytest.approx((1 - high, 1 - low))


def test_models_that_never_met_have_an_empty_cell() -> None:
    found = pair_matrix(pairs([pair(1, "x", "y", "tie"), pair(1, "y", "z", "tie"), pair(2, "x", "z", None)]))
    [fields] = [line.fields for line in found.lines if (line.model, line.group) == ("z", "x")]
    assert [*fields.values()] == [0, 0, 0, 1, Estimate(None, None, None, 0, None)]


def test_tallies_count_each_pair_once() -> None:
    found = some_pairs()
    wins, ties = tallies(pairs(found))
    assert wins.sum() + ties.sum() / 2 == sum(p.games != (None,) for p in found)
    assert (ties == ties.swapaxes(1, 2)).all()


def test_the_mean_gives_every_opponent_the_same_weight() -> None:
    found = some_pairs()
    for model, mean in means_of(pairs(found), resamplings=100):
        shares = []
        for opponent in {f"m{k}" for k in range(4)} - {model}:
            both = pairwise_rows([p for p in found if {p.model, p.opponent} == {model, opponent}])
            [own] = [plain.fields for plain in both if plain.model == model]
            shares.append(own["win"] / own["n"])
        assert mean.value == pytest.approx(sum(shares) / 3)


@pytest.mark.parametrize("questions", [pytest.param(12, id="studentized"), pytest.param(40, id="percentile")])
def test_the_order_of_rows_does_not_matter(questions: int) -> None:
    found = some_pairs(questions)
    groups: dict[QuestionId, Any] = {q: "ab"[q % 2] for q in range(questions)}
    shuffled = [found[k] for k in np.random.default_rng(1).permutation(len(found))]
    for function in (mean_over_opponents, pair_matrix):
        assert str(function(pairs(shuffled, groups), resamplings=200)) == str(
            function(pairs(found, groups), resamplings=200)
        )


def test_with_one_opponent_the_mean_is_the_win_rate_and_so_is_its_interval() -> None:
    found = pairs([p for p in some_pairs() if {p.model, p.opponent} == {"m0", "m1"}])
    pooled = {row.model: row.fields["win_rate"] for row in rates(found) if row.group is ALL and row.turn is None}
    for model, mean in means_of(found):
        assert mean.value == pytest.approx(pooled[model].value)
        assert ends(mean) == pytest.approx(ends(pooled[model]), abs=0.01)


def test_below_five_questions_there_is_no_interval_and_where_all_agree_a_bound() -> None:
    assert all(mean.low is None and mean.method is None for _, mean in means_of(pairs(some_pairs(4))))
    _, same = means_of(pairs([pair(q, "x", "y", "model_1") for q in range(40)]))[0]
    assert (same.value, same.high, same.method) == (1, 1, "bound")
    assert same.low == pytest.approx(0.05 ** (1 / 40))


def test_a_model_without_a_verdict_comes_last() -> None:
    rows = means_of(pairs([pair(1, "x", "y", "model_1"), pair(1, "x", "z", None)]))
    assert [(model, mean.value) for model, mean in rows] == [("x", 1.0), ("y", 0.0), ("z", None)]


@pytest.mark.parametrize("questions", [pytest.param(10, id="studentized"), pytest.param(40, id="percentile")])
def test_intervals_of_the_mean_cover(questions: int) -> None:
    """Of three models; m0 wins against m1 with chance 2 / 4.5, against m2 with chance 3 / 5.5."""
    true = (2 / 4.5 + 3 / 5.5) / 2
    hits = 0
    for seed in range(150):
        found = pairs(some_pairs(questions, seed, models=3))
        own = dict(means_of(found, resamplings=300))["m0"]
        low, high = ends(own)
        hits += low <= true <= high
    assert 0.89 <= hits / 150 <= 0.99


@pytest.mark.reference
def test_the_papers_table_by_category_comes_out_to_the_last_digit(reference_data: pathlib.Path) -> None:
    folder = reference_data / "mt_bench"
    lines = (folder / "question.jsonl").read_text("utf-8").splitlines()
    categories = {row["question_id"]: row["category"] for row in map(json.loads, lines)}
    votes = read_judgments(folder / "human_judgment" / "human.jsonl").observations
    rows = mean_over_opponents(pairs(without_voters(votes, ["author*"]), categories), resamplings=100)
    means = {(line.model, line.group): line.fields["mean_over_opponents"].value or 0 for line in rows}
    found = {model: tuple(round(100 * means[model, name], 1) for name in CATEGORIES) for model, _ in means}
    assert {model: found[model] for model in PUBLISHED} == PUBLISHED
