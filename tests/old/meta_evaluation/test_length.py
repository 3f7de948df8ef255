"""What length does to the verdicts."""

import csv
import gzip
import itertools
import json
import math
import pathlib

import numpy as np
import pytest

from harness.old.errors import UsageError
from harness.old.judgments.reading import read_judgments
from harness.old.meta_evaluation.length import LengthReport, length_report
from harness.old.results.matrix import Floats, Ints, Pairs, pairs
from tests.old.observed import named

Row = tuple[int, int, int, float, float, float]
"""Question, model_1, model_2, outcome, length_1, length_2."""


def arrays(rows: list[Row], models: int = 2) -> tuple[Pairs, Floats, Floats]:
    question, one, other = (np.array([row[at] for row in rows], dtype=np.int64) for at in range(3))
    outcome, length_1, length_2 = (np.array([row[at] for row in rows], dtype=np.float64) for at in range(3, 6))
    n = int(question.max()) + 1
    names = tuple("xyzuvw"[:models])
    turn = np.ones(len(rows), dtype=np.int64)
    found = Pairs(tuple(range(n)), (None,) * n, names, question, turn, one, other, outcome)
    return found, length_1, length_2


def report(rows: list[Row], models: int = 2, seed: int = 0) -> LengthReport:
    return length_report(*arrays(rows, models), resamplings=500, seed=seed)


def worked() -> list[Row]:
    """Return the pairs of the docstring's example, two on each of 50 questions."""
    long = [(0, 1, 1.0 if i < 45 else 0.0, 1500.0, 1000.0) for i in range(60)]
    short = [(0, 1, 1.0 if i < 20 else 0.0, 500.0, 1000.0) for i in range(40)]
    return [(at % 50, *row) for at, row in enumerate(long + short)]


def simulated(seed: int, questions: int = 60, slope: float = 0.4) -> list[Row]:
    """Return all pairs of four models on every question, three in ten a tie."""
    generator = np.random.default_rng(seed)
    strength = np.array([-1.0, -0.2, 0.3, 0.9])
    rows: list[Row] = []
    for q in range(questions):
        lengths = 1000 + 100 * strength + generator.normal(0, 300, 4)
        for one, other in itertools.combinations(range(4), 2):
            odds = strength[one] - strength[other] + slope * (lengths[one] - lengths[other]) / 400
            outcome = 0.5 if generator.random() < 0.3 else float(generator.random() < 1 / (1 + math.exp(-odds)))
            rows.append((q, one, other, outcome, float(lengths[one]), float(lengths[other])))
    return rows


def test_the_worked_line_of_the_docstring() -> None:
    found = report(worked())
    assert (found.longer_wins.value, found.decided, found.ties, found.equal) == (0.65, 100, 0, 0)
    assert (found.spread, found.prior, found.n, found.left_out) == (500, False, 100, 0)
    assert found.slope.value == pytest.approx(math.log(65 / 35))
    assert found.slope_with_models.value == pytest.approx(math.log(3) / 2)
    first, second = named(found.rows)
    assert (first.model, first.win_rate.value, first.mean_difference, first.n) == ("x", 0.65, 100, 100)
    assert first.equal_length.value == pytest.approx(math.sqrt(3) / (1 + math.sqrt(3)))
    assert second.equal_length.value == pytest.approx(1 / (1 + math.sqrt(3)))


def test_ties_and_pairs_of_equal_length_are_no_decided_pairs() -> None:
    rows = [(0, 0, 1, 1.0, 9.0, 5.0), (1, 0, 1, 0.5, 9.0, 5.0), (2, 0, 1, 1.0, 5.0, 5.0), (3, 0, 1, 0.0, 7.0, 5.0)]
    found = report([*rows, (4, 0, 1, math.nan, 7.0, 5.0), (4, 0, 1, 1.0, math.nan, 5.0)])
    assert (found.longer_wins.value, found.decided, found.ties, found.equal) == (0.5, 2, 1, 1)
    assert (found.n, found.left_out) == (4, 2)


def test_the_fit_is_where_the_likelihood_is_greatest() -> None:
    rows = simulated(1)
    found = report(rows, 4)
    assert found.spread is not None
    assert found.slope_with_models.value is not None
    best = {row.model: row.equal_length.value for row in named(found.rows)}
    table = np.array(rows)
    one, other, outcome = table[:, 1].astype(int), table[:, 2].astype(int), table[:, 3]
    d = (table[:, 4] - table[:, 5]) / found.spread

    def likelihood(coefficients: Floats) -> float:
        odds = coefficients[one] - coefficients[other] + coefficients[4] * d
        return float((outcome * odds - np.logaddexp(0, odds)).sum())

    # strengths from the win rates at equal length: every model met every other equally often
    strengths = np.zeros(4)
    for _ in range(2000):
        won = 1 / (1 + np.exp(strengths[None, :] - strengths[:, None]))
        rates = (won.sum(axis=1) - 0.5) / 3
        strengths += np.array([best["xyzu"[at]] for at in range(4)], dtype=np.float64) - rates
    top = np.append(strengths, found.slope_with_models.value)
    for at in range(5):
        for change in (-0.01, 0.01):
            assert likelihood(top) > likelihood(top + change * (np.arange(5) == at))


def test_models_are_as_good_at_equal_length_as_in_fact_if_length_does_nothing() -> None:
    rows = [(q, 0, 1, float(q % 4 > 0), 5.0 + 2 * side, 6.0) for q in range(40) for side in (0, 1)]
    found = report(rows)
    assert found.slope_with_models.value == pytest.approx(0, abs=1e-9)
    for row in named(found.rows):
        assert row.equal_length.value == pytest.approx(row.win_rate.value)


def test_the_order_of_rows_and_of_the_models_in_a_row_changes_nothing() -> None:
    rows = simulated(2)
    turned = [(q, other, one, 1 - won, long_2, long_1) for q, one, other, won, long_1, long_2 in reversed(rows)]
    first, second = report(rows, 4), report(turned, 4)
    assert second.longer_wins.value == first.longer_wins.value
    for one, other in ((first.slope, second.slope), (first.slope_with_models, second.slope_with_models)):
        assert [other.value, other.low, other.high] == pytest.approx([one.value, one.low, one.high])
    for row, same in zip(named(first.rows), named(second.rows), strict=True):
        assert (row.model, row.n) == (same.model, same.n)
        assert same.equal_length.low == pytest.approx(row.equal_length.low)


def test_the_same_seed_gives_the_same_digits() -> None:
    assert report(simulated(3), 4, seed=5) == report(simulated(3), 4, seed=5)


def test_a_step_without_a_question_is_nearly_the_fit_without_it() -> None:
    rows = simulated(4, questions=40)
    found, length_1, length_2 = arrays(rows, 4)
    slopes = []
    for left in range(40):
        kept = [row for row in rows if row[0] != left]
        without = length_report(*arrays(kept, 4), resamplings=10)
        assert without.spread is not None
        assert without.slope_with_models.value is not None
        slopes.append(without.slope_with_models.value / without.spread)
    whole = length_report(found, length_1, length_2, resamplings=4000)
    assert whole.spread is not None
    assert whole.slope_with_models.low is not None
    assert whole.slope_with_models.high is not None
    error = math.sqrt(39 / 40 * ((np.array(slopes) - np.mean(slopes)) ** 2).sum()) * whole.spread
    assert (whole.slope_with_models.high - whole.slope_with_models.low) / 3.92 == pytest.approx(error, rel=0.05)


def test_the_interval_covers_the_slope_at_its_rate() -> None:
    found = [length_report(*arrays(simulated(seed, 40), 4), resamplings=400) for seed in range(100, 250)]
    slopes = [(row.slope_with_models, (row.spread or 0.0) / 400) for row in found]
    # ties flatten the curve, so the slope to be found is that of very many questions
    true = length_report(*arrays(simulated(7, 4000), 4), resamplings=10)
    per_unit = (true.slope_with_models.value or 0.0) / ((true.spread or 0.0) / 400)
    hits = [(own.low or 0.0) < per_unit * unit < (own.high or 0.0) for own, unit in slopes]
    assert 0.90 <= np.mean(hits) <= 0.99


def test_a_model_that_lost_everything_gets_the_stated_prior() -> None:
    rows = [(q, 0, 1, 1.0, 10.0 + q % 3, 11.0) for q in range(30)]
    found = report(rows)
    assert found.prior
    best, *_ = named(found.rows)
    assert (best.model, best.win_rate.value) == ("x", 1)
    assert best.equal_length.value is not None
    assert 0.9 < best.equal_length.value < 1


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param([(q, 0, 1, float(q % 2), 10.0 + 4 * (q % 2), 12.0) for q in range(30)], id="length-decides-all"),
        pytest.param([(q, 0, 1, float(q % 2), 12.0, 12.0) for q in range(30)], id="all-equally-long"),
        pytest.param([(0, 0, 1, math.nan, 12.0, 11.0)], id="no-outcome"),
    ],
)
def test_where_there_is_no_slope_there_is_no_number(rows: list[Row]) -> None:
    found = report(rows)
    assert (found.slope.value, found.slope_with_models.value) == (None, None)
    assert [row.equal_length.value for row in named(found.rows)] == [None] * len(found.rows)


def test_groups_that_never_met_are_fitted_side_by_side() -> None:
    generator = np.random.default_rng(8)
    rows = [
        (q, side, side + 1, float(generator.random() < 0.7), float(generator.integers(50, 90)), 70.0)
        for q in range(60)
        for side in (0, 2)
    ]
    apart = report(rows, 4)
    assert apart.prior
    assert {row.model for row in named(apart.rows)} == set("xyzu")
    assert all(0.5 < (row.equal_length.value or 0) < 0.9 for row in named(apart.rows) if row.model in "xz")


# Published data


@pytest.mark.reference
def test_win_rates_at_equal_length_are_near_the_published_ones(reference_data: pathlib.Path) -> None:
    """AlpacaEval fits each model alone, with tanh and the question's difficulty; one shared slope comes close."""
    folder = reference_data / "alpaca_eval"
    with gzip.open(folder / "lc_rows.csv.gz", "rt", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    with (folder / "official_values.csv").open(encoding="utf-8") as file:
        official = {row["model"]: row for row in csv.DictReader(file)}
    names = ["baseline", *sorted(official)]
    table: list[Row] = [
        (
            int(row["instruction_index"]),
            names.index(row["model"]),
            0,
            float(row["preference"]) - 1,
            float(row["len_model"]),
            float(row["len_baseline"]),
        )
        for row in rows
    ]
    found, length_1, length_2 = arrays(table, 6)
    found = found._replace(models=tuple(names))
    shown = {row.model: row for row in named(length_report(found, length_1, length_2, resamplings=100).rows)}
    for model, row in official.items():
        assert shown[model].win_rate.value == pytest.approx(float(row["pkg_win_rate"]) / 100, abs=1e-9)
        assert shown[model].equal_length.value == pytest.approx(float(row["length_controlled_winrate"]) / 100, abs=0.06)
    order = sorted(official, key=lambda model: -float(official[model]["length_controlled_winrate"]))
    assert [model for model in shown if model != "baseline"] == order


@pytest.mark.reference
def test_gpt_4_prefers_longer_answers_mostly_because_better_models_write_more(reference_data: pathlib.Path) -> None:
    folder = reference_data / "mt_bench"
    found = pairs(read_judgments(folder / "human_judgment" / "gpt4_pair.jsonl").observations)
    characters: dict[tuple[str, int, int], float] = {}
    for model in found.models:
        path = folder / "model_answer" / f"{model}.jsonl"
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            row = json.loads(line)
            for turn, text in enumerate(row["choices"][0]["turns"], 1):
                characters[model, row["question_id"], turn] = len(text)

    def lengths(side: Ints) -> Floats:
        keys = zip(side.tolist(), found.question.tolist(), found.turn.tolist(), strict=True)
        return np.array([characters.get((found.models[m], int(found.questions[q]), t), math.nan) for m, q, t in keys])

    shown = length_report(found, lengths(found.model_1), lengths(found.model_2))
    assert (shown.n, shown.left_out, shown.decided, shown.ties, shown.equal) == (1600, 800, 1241, 352, 7)
    assert shown.longer_wins.value == pytest.approx(972 / 1241)
    assert shown.slope.value == pytest.approx(0.761, abs=5e-4)
    assert shown.slope_with_models.value == pytest.approx(0.234, abs=5e-4)


def test_versions_of_a_model_are_held_against_the_first() -> None:
    # z is y, asked to be verbose: it writes 400 characters more, and wins more of its pairs with x for that alone.
    generator = np.random.default_rng(3)
    rows: list[Row] = []
    for q in range(400):
        for version, longer in ((1, 0.0), (2, 400.0)):
            one, other = 1000 + generator.normal(0, 300), 1000 + longer + generator.normal(0, 300)
            won = float(generator.random() < 1 / (1 + math.exp(-0.005 * (one - other))))
            rows.append((q, 0, version, won, one, other))
    found = length_report(*arrays(rows, 3), variants=["y", "z"], resamplings=400)
    first, verbose = named(found.variants)
    assert (first.win_rate_moved.value, first.equal_length_moved.value) == (0.0, 0.0)
    assert verbose.win_rate.value is not None
    assert verbose.win_rate_moved.value == pytest.approx(verbose.win_rate.value - (first.win_rate.value or 0))
    assert (verbose.win_rate_moved.low or 0) > 0.15
    low, high = verbose.equal_length_moved.low, verbose.equal_length_moved.high
    assert low is not None
    assert high is not None
    assert low < 0 < high
    with pytest.raises(UsageError, match="no pair of w counts; the models are: x, y, z"):
        length_report(*arrays(rows, 3), variants=["y", "w"], resamplings=10)
