"""Published tables, to the digit: MT-Bench's leaderboard, FastChat's win rates, the paper."""

import json
from pathlib import Path
from typing import Any

import pytest

from harness import bench
from harness.results import of_rows, panels, rank, summarize
from harness.results.scores import Scores
from harness.store import rows
from harness.types import Judgment, Vote

pytestmark = pytest.mark.reference
FIRST = ["writing", "roleplay", "reasoning", "math"]
CATEGORIES = [*FIRST, "coding", "extraction", "stem", "humanities"]
TABLE_7 = {
    "gpt-4": (61.2, 67.9, 49.3, 66.1, 56.3, 66.2, 76.6, 72.2),
    "gpt-3.5-turbo": (50.9, 60.6, 32.6, 63.8, 55.0, 48.8, 52.8, 53.8),
    "vicuna-13b-v1.2": (39.7, 39.2, 20.1, 18.0, 36.9, 29.2, 47.0, 47.5),
    "llama-13b": (15.1, 15.1, 7.8, 7.5, 2.1, 9.3, 6.8, 10.1),
}


@pytest.fixture
def folder(reference_data: Path) -> Path:
    return reference_data / "mt_bench"


@pytest.fixture
def expected(folder: Path) -> Any:
    return json.loads((folder / "expected.json").read_text())


def votes(path: Path, questions: Any = ()) -> Scores:
    return of_rows((place.row for place in rows(path, Vote)), questions)


def grades(path: Path) -> Scores:
    (panel,) = panels(of_rows(place.row for place in rows(path, Judgment)))
    return panel.combined


def test_the_averages_of_the_34_published_models(folder: Path, expected: Any) -> None:
    scores = grades(folder / "model_judgment" / "gpt-4_single.scores_only.jsonl")
    groups = {row.key: row for row in summarize(scores, by=("model", "turn"))}
    whole = {row["model"]: row for row in summarize(scores)}
    assert len(whole) == 34
    for model, numbers in expected["single_official"].items():
        assert whole[model].mean.value == pytest.approx(numbers["average"])
        assert whole[model].failed == numbers["minus1_rows"]
        for turn in (1, 2):
            assert groups[model, turn].mean.value == pytest.approx(numbers[f"turn{turn}"])
            assert groups[model, turn].n == numbers[f"n_turn{turn}"]


@pytest.mark.parametrize("name", ["medusa_gpt-4", "stefanstud_gpt-4", "jxiw_gpt-4"])
def test_the_averages_of_other_peoples_runs(folder: Path, expected: Any, name: str) -> None:
    whole = summarize(grades(folder / "other_runs" / f"{name}_single.jsonl"))
    published = expected["single_runs"][f"{name}_single.jsonl"]["models"]
    assert {row["model"]: row.mean.value for row in whole} == pytest.approx(
        {model: numbers["average"] for model, numbers in published.items()}
    )


@pytest.mark.parametrize("name", ["stefanstud_gpt-4_pair", "ku-nlp_japanese-vicuna_gpt-4_pair"])
def test_fastchats_win_rates_of_other_peoples_pairs(folder: Path, expected: Any, name: str) -> None:
    published = expected["pair_runs"][name]
    path = folder / "other_runs" / f"{name}.jsonl"
    scores = of_rows(place.row for place in rows(path, Judgment))
    for row in summarize(scores):
        numbers = published["win_rates"][row["model"]]
        assert (row.win, row.loss, row.tie) == (numbers["win"], numbers["loss"], numbers["tie"])
        assert row.mean.value == pytest.approx(numbers["win_rate_adjusted"])
    (whole,) = summarize(scores, by=())
    assert whole.failed == published["error_rows"]
    assert whole.flipped == published["biased_first"] + published["biased_second"]
    assert whole.one_sided == published["one_side_tie"]


def test_fastchats_win_rates_of_gpt_4s_pairs(folder: Path, expected: Any) -> None:
    scores = votes(folder / "human_judgment" / "gpt4_pair.jsonl").of(turns=[1])
    for row in summarize(scores):
        numbers = expected["gpt4_pair_fastchat_win_rates"]["turn1"][row["model"]]
        assert (row.win, row.loss, row.tie) == (numbers["win"], numbers["loss"], numbers["tie"])


def wins_over_opponents(scores: Scores) -> dict[tuple[str, Any], float]:
    """Return each model's wins / pairs, ties included in the pairs, as a mean over its opponents.

    By model and category, as in the paper's table by category (Zheng et al. 2023, arXiv:2306.05685,
    Table 7): 6 wins of 10 against one opponent and 1 of 2 against another are 0.55.
    """
    shares_of: dict[tuple[str, Any], list[float]] = {}
    for group in summarize(scores, by=("model", "opponent", "category")):
        if group.n:
            shares_of.setdefault((group["model"], group["category"]), []).append(
                group.win / group.n
            )
    return {key: sum(shares) / len(shares) for key, shares in shares_of.items()}


def test_the_papers_table_by_category(folder: Path) -> None:
    questions = bench.load_questions(folder / "question.jsonl")
    scores = votes(folder / "human_judgment" / "human.jsonl", questions)
    experts = [source.judge for source in scores.sources if source.judge.startswith("expert")]
    groups = wins_over_opponents(scores.of(judges=experts))
    for model, published in TABLE_7.items():
        assert [round(100 * groups[model, name], 1) for name in CATEGORIES] == list(published)


def test_what_the_eight_models_of_the_first_screen_are(folder: Path) -> None:
    names = "gpt-4 gpt-3.5-turbo claude-v1 vicuna-33b-v1.3 wizardlm-30b Llama-2-70b-chat"
    scores = grades(folder / "model_judgment" / "gpt-4_single.scores_only.jsonl")
    ranking = rank(scores.of(models=[*names.split(), "vicuna-13b-v1.3", "llama-13b"]))
    ranks = [ranking.ranks[model] for model in ranking.names]
    assert ranks == [(1, 1), (2, 3), (2, 3), (4, 6), (4, 6), (4, 7), (6, 7), (8, 8)]
    assert (ranking.best, ranking.worst) == ("gpt-4", "llama-13b")
    assert ranking.models[0].mean.interval == pytest.approx((8.60, 9.38), abs=0.005)
