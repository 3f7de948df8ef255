"""`show_result --changes`: what changed, and how much of it noise alone would change."""

import pathlib
from typing import Any

import pytest

import harness
from harness.errors import MissingError, UsageError
from tests.viewer.small import small, write


def graded(folder: pathlib.Path, grades: dict[int, float], sample: int = 0) -> pathlib.Path:
    """Write a judge's grades of one model; return the data folder."""
    home = folder / "small"
    questions = [{"question_id": n, "category": "x", "turns": ["?"]} for n in range(1, 31)]
    write(home / "question.jsonl", questions)
    rows: list[dict[str, Any]] = [
        {"question_id": n, "model": "m", "judge": ["j", "t"], "turn": 1, "score": score}
        for n, score in grades.items()
    ]
    for row in rows:
        row |= {"sample": sample, "judge_set": "mt_bench", "judgment": f"because {row['score']}"}
    name = f"j@mt_bench#{sample + 1}_single" if sample else "j_single"
    write(home / "model_judgment" / f"{name}.jsonl", rows)
    return folder


def test_a_run_says_what_changed_since_another(tmp_path: pathlib.Path) -> None:
    old = graded(tmp_path / "old", dict.fromkeys(range(1, 31), 5))
    grades = dict.fromkeys(range(1, 31), 5.0) | {3: 2.0, 4: 4.5, 5: 7.0, 6: 4.0}
    new = graded(tmp_path / "new", grades)
    words: dict[str, Any] = {"bench_name": "small", "data_dir": str(new)}
    result = harness.show_result(changes=True, compare_with=old, **words)
    assert result.page.outcome == (
        "2 got worse by 1 or more, 1 better; the judge's own noise is not known."
    )
    rows = [(row["question_id"], row["from"], row["to"]) for row in result.rows()]
    assert rows == [(3, 5, 2), (6, 5, 4), (5, 5, 7)]
    assert result.rows()[0]["reason"] == "because 2.0"


def test_noise_is_what_a_judge_changes_when_it_judges_again(tmp_path: pathlib.Path) -> None:
    old = graded(tmp_path / "old", dict.fromkeys(range(1, 31), 5))
    graded(old, {n: 5 + (n % 3 == 0) for n in range(1, 31)}, sample=1)  # 10 of 30 differ by 1
    new = graded(tmp_path / "new", dict.fromkeys(range(1, 31), 3))
    words: dict[str, Any] = {"bench_name": "small", "data_dir": str(new)}
    page = harness.show_result(changes=True, compare_with=old, **words).page
    assert page.outcome.startswith("30 got worse by 1 or more, 0 better; the judge's own noise")
    assert page.outcome.endswith("gives about 5 each way.")


def test_a_sample_is_compared_with_the_same_sample(tmp_path: pathlib.Path) -> None:
    data = graded(tmp_path, dict.fromkeys(range(1, 31), 5))
    graded(data, {n: 5 + 4 * (n % 3 == 0) for n in range(1, 31)}, sample=1)
    words: dict[str, Any] = {"bench_name": "small", "data_dir": str(data)}
    page = harness.show_result(changes=True, compare_with=data, **words).page
    assert page.outcome.startswith("0 got worse by 1 or more, 0 better")


def test_two_models_are_compared_question_by_question(tmp_path: pathlib.Path) -> None:
    words: dict[str, Any] = {"bench_name": "small", "data_dir": str(small(tmp_path))}
    words |= {"judge_model": ["lu"], "mode": "single"}
    result = harness.show_result(changes=True, model_list=["ant", "bee"], **words)
    assert result.page.outcome.startswith("12 got worse by 1 or more, 0 better")
    assert {row["model"] for row in result.rows()} == {"bee"}


def test_two_models_are_compared_by_their_pairs_with_one_opponent(tmp_path: pathlib.Path) -> None:
    words: dict[str, Any] = {"bench_name": "small", "data_dir": str(small(tmp_path))}
    words |= {"changes": True, "model_list": ["cat", "bee"]}
    with pytest.raises(MissingError, match="--mode pairwise-baseline --baseline-model NAME"):
        harness.show_result(mode="pairwise-all", **words)
    pairs = tmp_path / "small" / "model_judgment" / "lu_pair.jsonl"
    pairs.write_text(pairs.read_text().replace('"g2_winner":"model_1"', '"g2_winner":"tie"', 3))
    page = harness.show_result(mode="pairwise-baseline", baseline_model="ant", **words).page
    assert page.outcome.startswith("0 got worse, 3 better")


def test_changes_need_something_to_compare_with(tmp_path: pathlib.Path) -> None:
    words: dict[str, Any] = {"bench_name": "small", "data_dir": str(small(tmp_path))}
    with pytest.raises(UsageError, match="--model-list OLD NEW, or another run"):
        harness.show_result(changes=True, **words)
    with pytest.raises(MissingError, match="no such folder"):
        harness.show_result(changes=True, compare_with=tmp_path / "none", **words)
