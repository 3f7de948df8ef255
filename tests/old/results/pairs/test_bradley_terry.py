"""Strengths by Bradley-Terry with ties."""

import itertools
import json
import math
import pathlib
import re
from typing import Any

import numpy as np
import pytest

from harness.old.errors import UsageError
from harness.old.judgments.reading import read_judgments
from harness.old.records import Observation, QuestionId
from harness.old.results.finding import without_voters
from harness.old.results.matrix import Floats, pairs
from harness.old.results.pairs.bradley_terry import Ranking, ranking, rankings_by_group
from harness.old.results.pairs.davidson import fit
from harness.old.results.pairs.existence import has_estimate
from harness.old.results.pairs.games import Games
from harness.old.results.statistics.bootstrap import Estimate
from tests.old.observed import Origin, exchanged
from tests.old.observed import pair as _pair

GPT_4 = Origin("gpt-4")
POINTS = 400 / math.log(10)


def pair(question: QuestionId, one: str, other: str, winner: str | None) -> Observation:
    return _pair(question, 1, one, other, (winner,), GPT_4)


def met(one: str, other: str, wins: int, losses: int, ties: int, question: int = 1) -> list[Observation]:
    winners = ["model_1"] * wins + ["model_2"] * losses + ["tie"] * ties
    return [pair(question, one, other, winner) for winner in winners]


def drawn(
    strengths: dict[str, float], nu: float, questions: int, seed: int = 0, *, spread: float = 0.0
) -> list[Observation]:
    """Return votes by the model's own chances; `spread`: how much strengths vary from question to question."""
    generator = np.random.default_rng(seed)
    found = []
    for question in range(questions):
        own = {model: value + spread * generator.normal() for model, value in strengths.items()}
        for one, other in itertools.combinations(strengths, 2):
            p, q = math.exp(own[one]), math.exp(own[other])
            chances = np.array([p, q, nu * math.sqrt(p * q)])
            at = int(generator.choice(3, p=chances / chances.sum()))
            found.append(pair(question, one, other, ("model_1", "model_2", "tie")[at]))
    return found


def likelihood(counts: dict[tuple[str, str], tuple[float, float, float]], p: dict[str, float], nu: float) -> float:
    """Return the logarithm of the likelihood, written down from the definition."""
    total = 0.0
    for (i, j), (wins, losses, ties) in counts.items():
        tie = nu * math.sqrt(p[i] * p[j])
        chances = [x / (p[i] + p[j] + tie) for x in (p[i], p[j], tie)]
        total += sum(n * math.log(x) for n, x in zip((wins, losses, ties), chances, strict=True) if n)
    return total


def rated(found: Ranking) -> dict[str, float]:
    return {row.model: row.fields["rating"].value for row in found.rows if row.fields["rating"].value is not None}


def ends(estimate: Estimate) -> tuple[float, float]:
    assert estimate.low is not None
    assert estimate.high is not None
    return estimate.low, estimate.high


TRUE = {"a": 0.9, "b": 0.3, "c": 0.0, "d": -1.2}


def test_the_worked_line_of_the_docstring() -> None:
    found = ranking(pairs(met("x", "y", 6, 2, 2)))
    assert found.nu == pytest.approx(2 / math.sqrt(12))
    assert rated(found) == pytest.approx({"x": 1000 + POINTS * math.log(3) / 2, "y": 1000 - POINTS * math.log(3) / 2})
    assert [round(value, 1) for value in rated(found).values()] == [1095.4, 904.6]
    assert (found.n, found.excluded, found.refits) == (10, 0, 0)
    assert found.rows[0].fields["rating"] == Estimate(rated(found)["x"], None, None, 1, None)


def test_no_other_strengths_on_a_grid_or_nearby_are_more_likely() -> None:
    counts = {("a", "b"): (5.0, 2.0, 3.0), ("b", "c"): (4.0, 3.0, 0.0), ("a", "c"): (2.0, 3.0, 1.0)}
    found = ranking(pairs([p for (i, j), (w, x, t) in counts.items() for p in met(i, j, int(w), int(x), int(t))]))
    p = {model: math.exp((value - 1000) / POINTS) for model, value in rated(found).items()}
    assert found.nu is not None
    best = likelihood(counts, p, found.nu)
    axis = np.linspace(-2, 2, 41)
    grid = [
        likelihood(counts, {"a": math.exp(a), "b": math.exp(b), "c": 1.0}, math.exp(log_nu))
        for a, b, log_nu in itertools.product(axis, axis, axis[::2])
    ]
    assert best > max(grid) > best - 0.02
    for model, up in itertools.product((*p, "nu"), (0.999, 1.001)):
        near = {own: value * (up if own == model else 1) for own, value in p.items()}
        assert likelihood(counts, near, found.nu * (up if model == "nu" else 1)) < best


def test_at_the_optimum_expected_wins_and_ties_are_those_observed() -> None:
    votes = drawn(TRUE, 0.8, 30)
    found = ranking(pairs(votes), resamplings=10)
    p = {model: math.exp((value - 1000) / POINTS) for model, value in rated(found).items()}
    points, ties = dict.fromkeys(p, 0.0), 0.0
    for vote in votes:
        i, j = vote.model, str(vote.opponent)
        tie = (found.nu or 0) * math.sqrt(p[i] * p[j])
        total = p[i] + p[j] + tie
        points[i] += (p[i] + tie / 2) / total
        points[j] += (p[j] + tie / 2) / total
        ties += tie / total
    assert ties == pytest.approx(sum(vote.value == 0.5 for vote in votes))
    for model, expected in points.items():
        own = [vote for vote in votes if model in (vote.model, vote.opponent)]
        won = sum(vote.value == (1.0 if vote.model == model else 0.0) for vote in own)
        assert expected == pytest.approx(won + sum(vote.value == 0.5 for vote in own) / 2)


def test_strengths_come_back_from_simulated_votes() -> None:
    found = ranking(pairs(drawn(TRUE, 0.7, 3000)), resamplings=10)
    assert [row.model for row in found.rows] == ["a", "b", "c", "d"]
    assert found.nu == pytest.approx(0.7, rel=0.05)
    assert rated(found) == pytest.approx({model: 1000 + POINTS * value for model, value in TRUE.items()}, abs=12)


def test_without_ties_it_is_plain_bradley_terry() -> None:
    found = ranking(pairs([*met("x", "y", 3, 1, 0), *met("y", "z", 2, 1, 0)]))
    assert found.nu == 0
    value = rated(found)
    assert value["x"] - value["y"] == pytest.approx(POINTS * math.log(3))
    assert value["y"] - value["z"] == pytest.approx(POINTS * math.log(2))


def test_the_order_of_rows_and_of_the_two_models_does_not_matter() -> None:
    votes = drawn(TRUE, 0.7, 40)
    turned = [exchanged(v) for v in votes]
    shuffled = [turned[k] for k in np.random.default_rng(1).permutation(len(turned))]
    assert ranking(pairs(shuffled), resamplings=200) == ranking(pairs(votes), resamplings=200)


def test_with_all_outcomes_turned_round_the_order_is_turned_round() -> None:
    votes = drawn(TRUE, 0.7, 40)
    turned = [exchanged(v, games_too=False) for v in votes]
    one, other = ranking(pairs(votes), resamplings=50), ranking(pairs(turned), resamplings=50)
    assert rated(other) == pytest.approx({model: 2000 - value for model, value in rated(one).items()})
    assert other.nu == pytest.approx(one.nu)


def test_an_anchor_shifts_all_ratings_alike_and_has_no_interval() -> None:
    votes = pairs(drawn(TRUE, 0.7, 40))
    free, anchored = ranking(votes, resamplings=200), ranking(votes, anchor="c", resamplings=200)
    shift = 1000 - rated(free)["c"]
    assert rated(anchored) == pytest.approx({model: value + shift for model, value in rated(free).items()})
    intervals = {row.model: (row.fields["rating"].low, row.fields["rating"].method) for row in anchored.rows}
    assert intervals["c"] == (None, None)
    assert intervals["a"][0] is not None
    assert "c = 1000" in anchored.scale
    assert "mean 1000" in free.scale


def test_an_unknown_anchor_is_refused() -> None:
    with pytest.raises(UsageError, match="no pair with the anchor 'q'; the models are: x, y"):
        ranking(pairs(met("x", "y", 1, 1, 0)), anchor="q")


@pytest.mark.parametrize(
    ("votes", "why_not"),
    [
        pytest.param([], "fewer than two models were compared", id="nothing"),
        pytest.param([pair(1, "x", "y", None)], "fewer than two models were compared", id="no-verdict"),
        pytest.param(met("x", "y", 3, 0, 0), "^y never won or tied against the other$", id="only-wins"),
        pytest.param(
            [*met("x", "y", 1, 1, 1), *met("x", "z", 2, 0, 0), *met("y", "z", 1, 0, 0)],
            "^z never won or tied against any of the others$",
            id="a-model-that-always-lost",
        ),
        pytest.param(
            [*met("x", "y", 1, 1, 0), *met("z", "u", 1, 1, 0), *met("z", "v", 1, 1, 1)],
            "^x, y never compared with any of the others$",
            id="two-islands",
        ),
        pytest.param(met("x", "y", 0, 0, 4), "there are too many ties", id="only-ties"),
        pytest.param(met("x", "y", 1, 0, 1), "there are too many ties", id="a-win-and-a-tie"),
        pytest.param(
            [*met("x", "y", 1, 0, 0), *met("y", "z", 0, 0, 1), *met("x", "z", 0, 0, 1)],
            "there are too many ties",
            id="a-round-of-a-win-and-two-ties",
        ),
    ],
)
def test_where_no_estimate_exists_it_says_why(votes: list[Observation], why_not: str) -> None:
    found = ranking(pairs(votes))
    assert not found.rows
    assert found.nu is None
    assert found.why_not is not None
    assert re.search(why_not, found.why_not)


def test_existence_is_told_as_by_climbing_the_likelihood() -> None:
    """All patterns of outcomes of three models: without an estimate the likelihood rises along some ray for ever.

    The rays are those of whole-number directions; the condition is linear, so small ones suffice.
    """
    first, second = np.array([0, 0, 1]), np.array([1, 2, 2])
    patterns = np.array(list(itertools.product((0.0, 1.0), repeat=9))).reshape(-1, 3, 3)
    patterns = patterns[np.all(np.any(patterns, axis=2), axis=1)]
    told = has_estimate(Games(first, second, patterns), 3)
    steps = np.array(list(itertools.product(range(-4, 5), range(-4, 5), range(-2, 3))))
    lead = np.stack([steps[:, 0], steps[:, 1], steps[:, 1] - steps[:, 0]], axis=1)
    gains: Floats = np.stack([lead, -lead, np.repeat(2 * steps[:, [2]], 3, axis=1)], axis=2)
    top = gains == gains.max(axis=2, keepdims=True)
    moves = (gains != gains.max(axis=2, keepdims=True)).any(axis=(1, 2))
    for pattern, exists in zip(patterns, told, strict=True):
        allowed = top | (pattern == 0)
        ever = np.logical_and(moves, allowed.reshape(len(steps), -1).all(axis=1))
        if not pattern[:, 2].any():
            ever &= (lead != 0).any(axis=1)  # without ties, nu = 0 is no obstacle
            ever &= (gains[:, :, 2] <= gains[:, :, :2].max(axis=2)).all(axis=1)
        assert exists != ever.any(), pattern


def test_what_exists_is_fitted_and_finite() -> None:
    generator = np.random.default_rng(0)
    first, second = np.triu_indices(5, 1)
    counts = generator.poisson(0.7, size=(500, 10, 3)).astype(float)
    games = Games(first, second, counts)
    exists = has_estimate(games, 5)
    found = fit(games, 5)
    assert 50 < exists.sum() < 500
    assert (np.isfinite(found.strengths).all(axis=1) == exists).all()
    assert (np.isfinite(found.nu) == exists).all()
    assert np.abs(found.strengths[exists]).max() < 20


def test_what_was_never_compared_has_no_estimate() -> None:
    found = ranking(pairs([*met("x", "y", 2, 0, 0), *met("u", "v", 1, 0, 0)]))
    assert found.why_not == "u, v never compared with any of the others"
    votes = [*met("x", "y", 4, 0, 0), *met("y", "z", 2, 1, 1)]
    assert ranking(pairs(votes)).why_not == "x never lost or tied against any of the others"


def test_a_model_without_a_verdict_is_named_and_left_out() -> None:
    found = ranking(pairs([*met("x", "y", 2, 1, 1), pair(2, "x", "z", None)]))
    assert found.missing == ("z",)
    assert [row.model for row in found.rows] == ["x", "y"]
    assert (found.n, found.excluded) == (4, 1)


def test_an_interval_always_holds_its_own_estimate() -> None:
    """x is nearly separated from the rest: it lost on two questions of 40."""
    votes = [pair(q, "x", "y", "model_2" if q in {7, 9} else "model_1") for q in range(40)]
    votes += [pair(q, "y", "z", "model_2" if q % 3 else "model_1") for q in range(40)]
    for row in ranking(pairs(votes), resamplings=1000).rows:
        assert row.fields["rating"].low is not None
        assert row.fields["rating"].value is not None
        assert row.fields["rating"].high is not None
        assert row.fields["rating"].low < row.fields["rating"].value < row.fields["rating"].high
        assert row.fields["rating"].method == "studentized"


def test_a_question_that_alone_makes_the_estimate_leaves_no_interval_without_a_prior() -> None:
    votes = [pair(q, "x", "y", "model_2" if q == 7 else "model_1") for q in range(10)]
    found = ranking(pairs(votes))
    assert (found.refits, found.without_estimate) == (10, 1)
    assert [row.fields["rating"].low for row in found.rows] == [None, None]
    assert found.rows[0].fields["rating"].value == pytest.approx(1000 + POINTS * math.log(9) / 2)


def test_the_same_seed_gives_the_same_digits() -> None:
    votes = pairs(drawn(TRUE, 0.7, 40))
    assert ranking(votes, resamplings=200) == ranking(votes, resamplings=200)
    assert ranking(votes, resamplings=200) != ranking(votes, resamplings=200, seed=1)


def test_each_group_is_ranked_on_its_questions_alone() -> None:
    votes = drawn(TRUE, 0.7, 40)
    groups: dict[QuestionId, Any] = {q: "ba"[q % 2] for q in range(40)}
    found = rankings_by_group(pairs(votes, groups), resamplings=200)
    assert [group for group, _ in found] == ["b", "a"]
    for group, own in found:
        alone = ranking(pairs([v for v in votes if groups[v.question_id] == group]), resamplings=200)
        assert rated(own) == pytest.approx(rated(alone))


def test_refits_do_not_depend_on_where_they_start() -> None:
    first, second = np.triu_indices(4, 1)
    counts = 0.25 + np.random.default_rng(0).poisson(4.0, size=(50, 6, 3)).astype(np.float64)
    games = Games(first, second, counts)
    plain = fit(games, 4)
    near = fit(games, 4, np.array([1.0, 0.0, 0.0, -1.0]), np.eye(5) / 20)
    assert near.strengths == pytest.approx(plain.strengths, abs=1e-5)
    assert near.nu == pytest.approx(plain.nu, abs=1e-5)


@pytest.mark.parametrize("questions", [pytest.param(12, id="studentized"), pytest.param(40, id="percentile")])
def test_intervals_cover(questions: int) -> None:
    """Strengths vary by question, so the target is the fit on very many questions."""
    target = rated(ranking(pairs(drawn(TRUE, 0.7, 2000, 99, spread=0.7)), resamplings=1))
    hits: list[Floats] = []
    for seed in range(100):
        found = ranking(pairs(drawn(TRUE, 0.7, questions, seed, spread=0.7)), resamplings=300)
        for row in found.rows:
            if row.fields["rating"].low is not None:
                low, high = ends(row.fields["rating"])
                hits.append(np.array(low <= target[row.model] <= high, dtype=np.float64))
    assert len(hits) > 350
    assert 0.9 <= np.mean(hits) <= 0.985


@pytest.mark.reference
@pytest.mark.parametrize(
    ("name", "order"),
    [
        pytest.param(
            "gpt4_pair",
            ["gpt-4", "claude-v1", "gpt-3.5-turbo", "vicuna-13b-v1.2", "alpaca-13b", "llama-13b"],
            id="gpt-4",
        ),
        pytest.param(
            "human",
            ["gpt-4", "claude-v1", "gpt-3.5-turbo", "vicuna-13b-v1.2", "alpaca-13b", "llama-13b"],
            id="experts",
        ),
    ],
)
def test_the_published_votes_rank_the_six_models(reference_data: pathlib.Path, name: str, order: list[str]) -> None:
    folder = reference_data / "mt_bench"
    votes = read_judgments(folder / "human_judgment" / f"{name}.jsonl").observations
    lines = (folder / "question.jsonl").read_text("utf-8").splitlines()
    categories = {row["question_id"]: row["category"] for row in map(json.loads, lines)}
    found = ranking(pairs(without_voters(votes, ["author*"]), categories), resamplings=1000)
    assert [row.model for row in found.rows] == order
    assert found.without_estimate == 0
    for row in found.rows:
        low, high = ends(row.fields["rating"])
        assert low < (row.fields["rating"].value or 0) < high
