"""Our ranking against another one."""

import csv
import itertools
import math
import pathlib

import numpy as np
import pytest

from harness.old.errors import DataError
from harness.old.judgments.reading import read_judgments
from harness.old.meta_evaluation.ranking import (
    OurScores,
    grade_scores,
    pair_scores,
    rank_correlations,
    ranking_report,
    read_ranking,
    reliability,
)
from harness.old.results.matrix import Floats, matrix, pairs
from tests.old.observed import Origin, grade, pair


def scores(table: Floats) -> OurScores:
    models = tuple(f"m{at}" for at in range(table.shape[1]))
    return OurScores(models, table, np.ones_like(table))


def simulated(seed: int, models: int = 10, rho: float = 0.9, questions: int = 60) -> tuple[OurScores, dict[str, float]]:
    """Return scores with noise of models whose true strengths correlate by `rho` with other numbers."""
    generator = np.random.default_rng(seed)
    strength: Floats = generator.normal(0, 1, models)
    other = rho * strength + math.sqrt(1 - rho**2) * generator.normal(0, 1, models)
    ours = scores(strength + generator.normal(0, 1.2, (questions, models)))
    return ours, dict(zip(ours.models, other.tolist(), strict=True))


def by_counting(x: list[float], y: list[float]) -> tuple[float, float]:
    """Return Spearman's correlation and tau-b from their definitions."""
    ranks = [[sum(b < a for b in own) + (1 + sum(b == a for b in own)) / 2 for a in own] for own in (x, y)]
    spearman = float(np.asarray(np.corrcoef(ranks))[0, 1])
    surplus, untied_x, untied_y = 0, 0, 0
    for (a, b), (c, d) in itertools.combinations(zip(x, y, strict=True), 2):
        surplus += ((a > c) - (a < c)) * ((b > d) - (b < d))
        untied_x += a != c
        untied_y += b != d
    return spearman, surplus / math.sqrt(untied_x * untied_y)


def test_the_worked_line_of_the_docstring() -> None:
    ours = OurScores(("w", "x", "y", "z"), np.array([[9.0, 8.0, 6.0, 5.0]]), np.ones((1, 4)))
    report = ranking_report(ours, {"w": 1200, "x": 1210, "y": 1100, "z": 1050})
    assert report.spearman.value == pytest.approx(0.8)
    assert report.kendall.value == pytest.approx(4 / 6)
    assert (tuple(report.models), report.questions) == (("w", "x", "y", "z"), 1)
    assert (report.spearman.low, report.kendall.high) == (None, None)


def test_ties_and_models_without_a_score_count_as_the_definitions_say() -> None:
    generator = np.random.default_rng(1)
    for _ in range(30):
        x, y = generator.integers(0, 5, 8).astype(float), generator.integers(0, 5, 8).astype(float)
        there = generator.random(8) < 0.8
        if len(set(x[there].tolist())) < 2 or len(set(y[there].tolist())) < 2:
            continue
        found = rank_correlations(np.where(there, x, np.nan)[None], y)[:, 0]
        assert found == pytest.approx(by_counting(x[there].tolist(), y[there].tolist()))


def test_scores_of_all_ties_have_no_correlation() -> None:
    report = ranking_report(scores(np.ones((20, 6))), {f"m{at}": at for at in range(6)})
    assert (report.spearman.value, report.kendall.value, report.kendall.low) == (None, None, None)


def test_a_ranking_agrees_with_itself_and_not_with_its_reverse() -> None:
    ours, _ = simulated(2)
    means = dict(zip(ours.models, ours.sums.mean(axis=0).tolist(), strict=True))
    same, reverse = ranking_report(ours, means), ranking_report(ours, {m: -value for m, value in means.items()})
    assert (same.spearman.value, same.kendall.value) == (1, 1)
    assert (reverse.spearman.value, reverse.kendall.value) == (-1, -1)
    assert same.spearman.low is not None
    assert reverse.spearman.high is not None
    assert 0 < same.spearman.low < 1
    assert reverse.spearman.high == pytest.approx(-same.spearman.low)


def test_only_the_order_of_the_numbers_matters() -> None:
    ours, theirs = simulated(3)
    assert ranking_report(ours, {m: math.exp(3 * value) for m, value in theirs.items()}) == ranking_report(ours, theirs)


def test_the_order_of_models_changes_nothing_and_the_seed_fixes_the_digits() -> None:
    ours, theirs = simulated(4, 30)
    turned = OurScores(ours.models[::-1], ours.sums[:, ::-1], ours.counts[:, ::-1])
    first = ranking_report(ours, theirs, seed=1)
    assert ranking_report(turned, dict(reversed(theirs.items())), seed=1) == first
    assert ranking_report(ours, theirs, seed=2).spearman.high != first.spearman.high


def test_models_in_one_ranking_only_are_named_and_left_out() -> None:
    ours, theirs = simulated(5, models=7)
    report = ranking_report(ours, {**{m: v for m, v in theirs.items() if m != "m0"}, "far": 3.0})
    assert (report.only_ours, report.only_theirs, len(report.models)) == (("m0",), ("far",), 6)
    few = ranking_report(ours, {m: theirs[m] for m in ("m1", "m2", "m3", "m4")})
    assert few.spearman.value is not None
    assert few.spearman.low is None
    assert ranking_report(ours, {"far": 1.0}).spearman.value is None


def test_both_samples_make_the_interval_wide() -> None:
    """Without noise in the scores only the models are a sample; more models make the interval narrower."""
    widths = []
    for models in (8, 30):
        _, theirs = simulated(6, models)
        exact = scores(np.tile(np.random.default_rng(6).normal(0, 1, models), (60, 1)))
        found = ranking_report(exact, theirs).spearman
        assert found.low is not None
        assert found.high is not None
        widths.append(found.high - found.low)
    assert widths[0] > 1.5 * widths[1] > 0
    ours, theirs = simulated(6, 30)
    noisy = ranking_report(ours, theirs).spearman
    assert noisy.low is not None
    assert noisy.high is not None
    assert noisy.high - noisy.low > widths[1]


def test_the_interval_covers_the_correlation_of_the_population() -> None:
    true = 6 / math.pi * math.asin(0.45), 2 / math.pi * math.asin(0.9)
    hits = np.zeros(2)
    for seed in range(150):
        report = ranking_report(*simulated(seed, 8), resamplings=400)
        for at, own in enumerate((report.spearman, report.kendall)):
            hits[at] += (own.low or -1.0) <= true[at] <= (own.high or 1.0)
    assert (hits / 150 >= 0.93).all()


def test_grades_and_pairs_as_scores() -> None:
    rows = [(1, "x", 8, 1), (1, "x", None, 2), (2, "x", 5, 1), (1, "y", 4, 1), (1, "y", 6, 2)]
    graded = grade_scores(matrix([grade(q, turn, m, score, Origin("j")) for q, m, score, turn in rows]))
    np.testing.assert_array_equal(graded.sums, [[8, 10], [5, 0]])
    np.testing.assert_array_equal(graded.counts, [[1, 2], [1, 0]])
    compared = pair_scores(
        pairs(
            [
                pair(1, 1, "x", "y", ("model_1", "model_1"), Origin("j")),
                pair(1, 2, "y", "x", ("tie",), Origin("j")),
                pair(2, 1, "x", "y", (None,), Origin("j")),
            ]
        )
    )
    np.testing.assert_array_equal(compared.sums, [[1.5, 0.5], [0, 0]])
    np.testing.assert_array_equal(compared.counts, [[2, 2], [0, 0]])


def test_the_interval_of_many_noisy_models_covers_too() -> None:
    """Noise as 2.5 times that on MT-Bench makes the correlation found lie below the one of the population."""
    generator = np.random.default_rng(0)
    r = 2 * math.sin(math.pi * 0.97 / 6)
    true = 0.97, 2 / math.pi * math.asin(r)
    hits, found = np.zeros(2), []
    for seed in range(120):
        worth = generator.normal(0, 1, 34)
        other = r * worth + math.sqrt(1 - r * r) * generator.normal(0, 1, 34)
        noisy = scores(worth + generator.normal(0, 2.7, (80, 34)))
        report = ranking_report(noisy, {f"m{at}": float(v) for at, v in enumerate(other)}, resamplings=40, seed=seed)
        found.append(report.spearman.value)
        for at, own in enumerate((report.spearman, report.kendall)):
            hits[at] += (own.low or -1.0) <= true[at] <= (own.high or 1.0)
    assert np.mean(np.array(found, dtype=float)) < 0.95
    assert (hits / 120 >= 0.92).all()


def test_reliability_is_what_the_choice_of_questions_leaves() -> None:
    generator = np.random.default_rng(0)
    shared = generator.normal(0, 5, (80, 1))  # moves all models alike, so no order
    ours = scores(shared + generator.normal(0, 1, 30) + generator.normal(0, 3, (80, 30)))
    found = reliability(ours.sums, ours.counts, [np.arange(80)])
    assert found == pytest.approx(1 / (1 + 9 / 80), abs=0.05)
    assert reliability(np.tile(np.arange(30.0), (80, 1)), ours.counts, [np.arange(80)]) == 1


# The file


def written(folder: pathlib.Path, text: str) -> pathlib.Path:
    path = folder / "arena.csv"
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("model,score\nx,1.5\ny,2\n", id="plain"),
        pytest.param("\ufeffModel, Score\r\nx, 1.5\r\n\r\ny, 2\r\n", id="windows-and-blanks"),
        pytest.param("rank,Model Name,votes,elo\n1,y,9,2\n2,x,7,1.5\n", id="other-columns"),
        pytest.param('model;score\n"x";1.5\ny;2\n', id="semicolons"),
        pytest.param("score\tmodel_id\n1.5\tx\n2%\ty\n", id="tabs-and-percent"),
        pytest.param("name,MMLU\nx,1.5\ny,2\n", id="two-columns-of-another-name"),
    ],
)
def test_a_ranking_is_read_however_it_is_written(text: str, tmp_path: pathlib.Path) -> None:
    assert read_ranking(written(tmp_path, text)).numbers == {"x": 1.5, "y": 2}


def test_of_ranks_the_smallest_is_best(tmp_path: pathlib.Path) -> None:
    ranking = read_ranking(written(tmp_path, "Rank,model,votes\n1,x,5\n2,y,9\n"))
    assert ranking.numbers["x"] > ranking.numbers["y"]
    assert ranking.column == "Rank"


def test_the_columns_may_be_named(tmp_path: pathlib.Path) -> None:
    path = written(tmp_path, "who,score,hard prompts\nx,1,8\ny,2,\n")
    ranking = read_ranking(path, model_column="who", score_column="Hard-Prompts")
    assert (ranking.numbers, ranking.blank, ranking.column) == ({"x": 8}, ("y",), "hard prompts")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("", r"arena\.csv:1: no header with column names", id="empty"),
        pytest.param("x\ny\n", r"arena\.csv:1: no header", id="one-column"),
        pytest.param(
            "system,elo\nx,1\n",
            r"arena\.csv:1: no column of models \(model, model_name, .*\); there are: system, elo",
            id="no-models",
        ),
        pytest.param(
            "model,votes,licence\nx,1,a\n",
            r"no column of scores \(score, rating, .*\); there are: model,",
            id="no-scores",
        ),
        pytest.param(
            "model,score\nx,1\ny,n/a\n", r"arena\.csv:3: 'n/a' in the column 'score' is not a number", id="text"
        ),
        pytest.param("model,score\nx,inf\n", r"arena\.csv:2: 'inf' .* is not a number", id="infinite"),
        pytest.param("model,score\nx,1\n,2\n", r"arena\.csv:3: no model in the column 'model'", id="no-name"),
        pytest.param(
            "model,score\nx,1\nx,2\n", r"arena\.csv:3: the model 'x' is in line 2 too; remove one", id="twice"
        ),
        pytest.param("model,score\nx,1,2\n", r"arena\.csv:2: 3 columns, but the header has 2", id="long-row"),
        pytest.param("model,score\nx,\n", r"arena\.csv: no model with a number in the column 'score'", id="no-number"),
        pytest.param('model,score\n"x"y,1\n', r"arena\.csv:2: is not valid CSV: ", id="broken-quotes"),
    ],
)
def test_what_is_no_ranking(text: str, message: str, tmp_path: pathlib.Path) -> None:
    with pytest.raises(DataError, match=message):
        read_ranking(written(tmp_path, text))


def test_a_column_asked_for_must_be_there(tmp_path: pathlib.Path) -> None:
    with pytest.raises(DataError, match=r"no column 'elo'; there are: model, score"):
        read_ranking(written(tmp_path, "model,score\nx,1\n"), score_column="elo")


def test_files_that_cannot_be_read(tmp_path: pathlib.Path) -> None:
    with pytest.raises(DataError, match=r"none\.csv: cannot be read: No such file"):
        read_ranking(tmp_path / "none.csv")
    (tmp_path / "latin.csv").write_bytes("model,score\nä,1\n".encode("latin-1"))
    with pytest.raises(DataError, match=r"latin\.csv: not UTF-8; save the file as UTF-8"):
        read_ranking(tmp_path / "latin.csv")


# Published data


@pytest.mark.reference
def test_the_first_turn_ranks_34_models_as_both_turns_do(reference_data: pathlib.Path, tmp_path: pathlib.Path) -> None:
    read = read_judgments(reference_data / "mt_bench" / "model_judgment" / "gpt-4_single.scores_only.jsonl")
    both = grade_scores(matrix(read.observations))
    average = both.sums.sum(axis=0) / both.counts.sum(axis=0)
    with (tmp_path / "both.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("model", "average"), *zip(both.models, average.tolist(), strict=True)])
    first = grade_scores(matrix([rating for rating in read.observations if rating.turn == 1]))
    theirs = read_ranking(tmp_path / "both.csv").numbers
    report = ranking_report(first, theirs)
    x = (first.sums.sum(axis=0) / first.counts.sum(axis=0)).tolist()
    spearman, kendall = by_counting(x, [theirs[model] for model in first.models])
    assert report.spearman.value == pytest.approx(spearman)
    assert report.kendall.value == pytest.approx(kendall)
    assert (len(report.models), report.questions, report.only_ours, report.undefined) == (34, 80, (), 0)
    assert spearman > 0.97
    assert report.spearman.low is not None
    assert 0.9 < report.spearman.low < spearman
