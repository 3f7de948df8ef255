"""Verdicts that were weighted by log-probabilities: the win rate is the mean of the preferences."""

import csv
import gzip
import io
import json
import pathlib
from collections.abc import Sequence
from typing import Any

import pytest

from harness.old.cli import show_result
from harness.old.judgments.case import WIN, outcome
from harness.old.judgments.observations import Observations
from harness.old.records import Observation, Source
from harness.old.results.matrix import pairs
from harness.old.results.pairs.comparing import compared_strengths
from harness.old.results.pairs.matrix import pair_matrix
from harness.old.results.pairs.pairwise import pairwise_rows
from harness.old.results.pairs.rates import adjusted_rates
from harness.old.results.statistics.ranks import RankRange, rank_ranges
from tests.old.small_bench import write


def weighed(question: int, *games: float | None, model: str = "x", baseline: str = "base") -> Observation:
    source = Source("j", judge_set="w", method="logprobs", form="pair")
    return Observation(question, 1, model, baseline, WIN, outcome(games, "logprobs"), games, source)


def test_the_worked_line_of_the_docstring() -> None:
    (row,) = pairwise_rows([weighed(q, x) for q, x in enumerate([0.9, 0.6, 0.5, 0.2])], baseline="base")
    assert row.model == "x"
    assert row.fields == {
        "win_rate": pytest.approx(0.55),
        "standard_error": pytest.approx(0.1443375673),
        "discrete_win_rate": 0.625,
        "win": 2,
        "loss": 1,
        "n_draws": 1,
        "n": 4,
        "excluded": 0,
    }


def test_two_games_count_by_their_mean_not_by_their_sides() -> None:
    (row,) = pairwise_rows([weighed(1, 0.9, 0.2), weighed(2, 0.6, None)], baseline="base")
    assert [row.fields[name] for name in ("win", "loss", "n_draws", "excluded")] == [1, 0, 0, 1]
    assert row.fields["win_rate"] == pytest.approx(0.55)
    table = pairs([weighed(1, 0.9, 0.2), weighed(2, 0.6, None)])
    assert table.outcome.tolist()[0] == 1.0
    assert table.share.tolist()[0] == pytest.approx(0.55)


def test_intervals_and_the_matrix_are_of_the_same_mean() -> None:
    observed = [weighed(q, 0.8 if q % 2 else 0.4) for q in range(40)]
    table = pairs(observed)
    interval = adjusted_rates(table, baseline="base")["x"]
    assert interval.value == pytest.approx(0.6)
    assert interval.low is not None
    assert interval.low > 0.5
    cells = {line.model: line.fields for line in pair_matrix(table).lines}
    assert (cells["x"]["win"], cells["x"]["loss"]) == (20, 20)
    assert cells["x"]["win_rate"].value == pytest.approx(0.6)
    assert cells["base"]["win_rate"].value == pytest.approx(0.4)


def test_models_are_ranked_by_preferences_where_sides_say_the_opposite() -> None:
    strong = [weighed(q, 0.95 if q % 2 else 0.45, model="strong") for q in range(40)]
    weak = [weighed(q, 0.55 if q % 2 else 0.51, model="weak") for q in range(40)]
    rows = pairwise_rows(strong + weak, baseline="base")
    assert [row.model for row in rows] == ["strong", "weak"]
    compared = compared_strengths(pairs(strong + weak), baseline="base", resamplings=0)
    assert rank_ranges(compared) == {"strong": RankRange(1, 1), "weak": RankRange(2, 2)}


def row(question: int, preference: float) -> dict[str, Any]:
    side = "model_1" if preference > 0.5 else "model_2" if preference < 0.5 else "tie"
    return {
        "question_id": question,
        "model_1": "x",
        "model_2": "base",
        "shown_first": "model_2",
        "g2_winner": side,
        "g2_preference": preference,
        "judge": ["j", "t"],
        "turn": 1,
        "score_method": "logprobs",
        "judge_set": "w",
        "judge_set_version": "1",
    }


@pytest.mark.parametrize("more", [[], ["--intervals"]], ids=["table", "intervals"])
def test_the_command_shows_the_mean_of_the_preferences(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str], more: Sequence[str]
) -> None:
    path = tmp_path / "j@w_pair1.jsonl"
    write(path, [row(q, share) for q, share in enumerate([0.9, 0.3, 0.3, 0.3, 0.5, 0.5])])
    called = ["--mode", "pairwise-baseline", "--input-file", str(path), "--baseline-model", "base"]
    assert show_result.main([*called, "--format", "json", *more]) == 0
    shown = json.loads(capsys.readouterr().out)
    (found,) = shown["rows"]
    assert found["win_rate"] == pytest.approx(2.8 / 6)
    assert found["discrete_win_rate"] == pytest.approx(2 / 6)
    assert found["n_draws"] == 2
    if more:
        assert shown["intervals"]["rows"][0]["win_rate"] == pytest.approx(2.8 / 6)
    assert show_result.main([*called, *more]) == 0
    text = capsys.readouterr().out
    assert "0.467" in text
    assert "win_rate is the mean preference" in text


@pytest.mark.reference
def test_published_rows_give_the_published_win_rates(reference_data: pathlib.Path) -> None:
    folder = reference_data / "alpaca_eval"
    official = {row["model"]: row for row in csv.DictReader((folder / "official_values.csv").read_text().splitlines())}
    text = gzip.decompress((folder / "lc_rows.csv.gz").read_bytes()).decode()
    given = [
        weighed(int(row["instruction_index"]), float(row["preference"]) - 1, model=row["model"])
        for row in csv.DictReader(io.StringIO(text))
        if row["preference"]
    ]
    rows = pairwise_rows(Observations.of(given), baseline="base")
    assert {row.model for row in rows} == set(official)
    for found in rows:
        own, wanted = found.fields, official[found.model]
        for name in ("win_rate", "standard_error", "discrete_win_rate"):
            assert 100 * own[name] == pytest.approx(float(wanted[name]), abs=1e-8)
        counts = [own[name] for name in ("win", "loss", "n_draws", "n")]
        assert counts == [int(wanted[name]) for name in ("n_wins", "n_wins_base", "n_draws", "n_total")]
