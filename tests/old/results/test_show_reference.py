"""show_result on published files: the published numbers, to all digits."""

import json
import pathlib
from typing import Any

import pytest

from harness.old.results.show import show_result
from harness.old.showing.values import rounded

pytestmark = pytest.mark.reference

OFFICIAL = "model_judgment/gpt-4_single.scores_only.jsonl"
ESTIMAND = "intervals are for questions of this kind in any mix of categories"
TURNED = (
    "some are higher in the table but lower in the comparison, which counts each common question once: "
    "claude-instant-v1 over claude-v1 (compared: -0.031); ranks follow the comparison"
)
BIAS = "intervals do not include the judge's bias"
Rows = dict[str, dict[str, Any]]


@pytest.fixture
def folder(reference_data: pathlib.Path) -> pathlib.Path:
    return reference_data / "mt_bench"


@pytest.fixture
def expected(folder: pathlib.Path) -> dict[str, Any]:
    table: dict[str, Any] = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    return table


def rows_of(path: pathlib.Path, mode: Any = "single", **more: Any) -> Rows:
    """Return the rows that `show_result` shows, by model."""
    return {row.pop("model"): row for row in show_result(mode, input_file=path, **more).rows()}


def test_the_official_grades_of_34_models(folder: pathlib.Path, expected: dict[str, Any]) -> None:
    official = expected["single_official"]
    assert len(official) == 34
    assert rows_of(folder / OFFICIAL) == {
        model: {
            "turn_1": row["turn1"],
            "turn_2": row["turn2"],
            "average": row["average"],
            "n": row["n_turn1"] + row["n_turn2"],
            "excluded": row["minus1_rows"],
        }
        for model, row in official.items()
    }


def test_the_official_grades_with_failed_ones_counted(folder: pathlib.Path, expected: dict[str, Any]) -> None:
    rows = rows_of(folder / OFFICIAL, count_failed=True)
    averages = {model: row["average"] for model, row in rows.items()}
    assert averages == {model: row["average_if_minus1_kept"] for model, row in expected["single_official"].items()}
    assert {(row["n"], row["excluded"]) for row in rows.values()} == {(160, 0)}


def test_the_published_averages_are_those_rounded_half_up(folder: pathlib.Path, expected: dict[str, Any]) -> None:
    published = {m: row["published"] for m, row in expected["single_official"].items() if row.get("published")}
    rows, with_failed = rows_of(folder / OFFICIAL), rows_of(folder / OFFICIAL, count_failed=True)
    shown = {model: rounded(with_failed[model]["average"], 2) for model in published}
    assert shown == {model: f"{value:.2f}" for model, value in published.items()}
    assert len(published) >= 30
    only_with_failed = [m for m in published if rounded(rows[m]["average"], 2) != shown[m]]
    assert len(only_with_failed) == 4
    half_even = [m for m in published if f"{with_failed[m]['average']:.2f}" != shown[m]]
    assert half_even
    assert "dolly-v2-12b" in half_even


def test_the_official_grades_are_shown_by_category(folder: pathlib.Path) -> None:
    result = show_result(input_file=folder / OFFICIAL)
    assert (result.bench, result.judge, result.notes) == (
        "mt_bench",
        "gpt-4",
        [TURNED, ESTIMAND + " (this mix: --by category); " + BIAS],
    )
    assert [row["model"] for row in result.categories] == [row["model"] for row in result.rows()]
    names = {"writing", "roleplay", "reasoning", "math", "coding", "extraction", "stem", "humanities"}
    assert all(row.keys() == {"model", *names} for row in result.categories)


def test_they_are_not_about_the_shipped_questions(folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
    copy = tmp_path / "model_judgment" / "gpt-4_single.jsonl"
    copy.parent.mkdir()
    copy.write_bytes((folder / OFFICIAL).read_bytes())
    result = show_result(input_file=copy, bench_name="mt_bench", data_dir=tmp_path / "data")
    assert (len(result.rows()), result.categories) == (34, [])
    assert result.notes == ["no table by category: question 81 is not in mt_bench", TURNED, f"{ESTIMAND}; {BIAS}"]


@pytest.mark.parametrize("name", ["medusa_gpt-4_single", "stefanstud_gpt-4_single", "jxiw_gpt-4_single"])
def test_grades_of_other_runs(name: str, folder: pathlib.Path, expected: dict[str, Any]) -> None:
    models = expected["single_runs"][f"{name}.jsonl"]["models"]
    assert rows_of(folder / "other_runs" / f"{name}.jsonl") == {
        model: {
            "turn_1": row["turn1"],
            "turn_2": row["turn2"],
            "average": row["average"],
            "n": sum(row["n"]),
            "excluded": 0,
        }
        for model, row in models.items()
    }


def assert_win_rates(rows: Rows, published: Rows) -> None:
    """Compare every published number, and those that follow from them."""
    assert {m: {name: rows[m][name] for name in published[m]} for m in rows} == published
    for row in rows.values():
        assert row["n"] == row["win"] + row["loss"] + row["tie"]
        assert row["tie_rate"] == row["tie"] / row["n"]


def test_pairs_of_another_run(folder: pathlib.Path, expected: dict[str, Any]) -> None:
    run = expected["pair_runs"]["stefanstud_gpt-4_pair"]
    rows = rows_of(folder / "other_runs" / "stefanstud_gpt-4_pair.jsonl", "pairwise-all")
    assert_win_rates(rows, run["win_rates"])
    assert {(row["n"], row["excluded"]) for row in rows.values()} == {(run["usable"], run["error_rows"])}


def test_pairs_with_a_baseline_of_another_run(folder: pathlib.Path, expected: dict[str, Any]) -> None:
    """The published table keeps the baseline's own row, as pairwise-all does."""
    run = expected["pair_runs"]["ku-nlp_japanese-vicuna_gpt-4_pair"]
    path = folder / "other_runs" / "ku-nlp_japanese-vicuna_gpt-4_pair.jsonl"
    assert_win_rates(rows_of(path, "pairwise-all"), run["win_rates"])
    baseline = "openai--text-davinci-003"
    others = {model: row for model, row in run["win_rates"].items() if model != baseline}
    for more in ({}, {"baseline_model": baseline}):
        rows = rows_of(path, "pairwise-baseline", **more)
        assert_win_rates(rows, others)
        assert sum(row["n"] for row in rows.values()) == run["usable"]
        assert sum(row["excluded"] for row in rows.values()) == run["error_rows"]


def test_pairs_from_the_vote_file_of_gpt_4(folder: pathlib.Path, expected: dict[str, Any]) -> None:
    path = folder / "human_judgment" / "gpt4_pair.jsonl"
    assert_win_rates(rows_of(path, "pairwise-all", turns=[1]), expected["gpt4_pair_fastchat_win_rates"]["turn1"])


def test_human_votes_with_and_without_the_authors(folder: pathlib.Path) -> None:
    path = folder / "human_judgment" / "human.jsonl"
    everybody = show_result("pairwise-all", input_file=path)
    assert sum(row["n"] for row in everybody.rows()) == 2 * 3354
    assert "1 row is repeated; the last valid one of each counts (--repeated average: all)" in everybody.notes
    votes = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    experts = sum(v["judge"].startswith("expert") for v in votes)
    shown = show_result("pairwise-all", input_file=path, exclude=["author*"])
    assert sum(row["n"] for row in shown.rows()) == 2 * experts
