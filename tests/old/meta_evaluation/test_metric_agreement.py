"""How far metrics order answers as a judge or voters do."""

import pathlib
from collections.abc import Mapping
from typing import Any

import pytest

import harness
from harness.old.bench import Bench
from harness.old.errors import MissingError, UsageError
from tests.old.small_bench import question, small_bench, write

BLEU = {1: {"x": 0.3, "y": 0.4, "z": 0.1}, 2: {"x": 0.9, "y": 0.2, "z": 0.2}}
GRADES = {1: {"x": 9, "y": 7, "z": 7}, 2: {"x": 8, "y": 5, "z": 6}}


def number(question_id: int, model: str, value: float | None, metric: str) -> dict[str, Any]:
    return {"question_id": question_id, "turn": 1, "model": model, "metric": metric, "value": value}


def grade(question_id: int, model: str, score: float, **more: Any) -> dict[str, Any]:
    row = {"question_id": question_id, "turn": 1, "model": model, "score": score, "judge": ["gpt-4", "single-v1"]}
    return {**row, **more}


@pytest.fixture
def bench(tmp_path: pathlib.Path) -> Bench:
    """Return a benchmark whose answers are graded and measured as above."""
    bench = small_bench(tmp_path, question(1, "math", ["a"]), question(2, "writing", ["b"]))
    write(
        bench.metric_file("bleu"),
        [number(key, model, value, "bleu") for key, own in BLEU.items() for model, value in own.items()],
    )
    write(
        bench.folder / "model_judgment" / "gpt-4_single.jsonl",
        [grade(key, model, score) for key, own in GRADES.items() for model, score in own.items()],
    )
    return bench


def agreed(bench: Bench, **words: Any) -> Mapping[tuple[str, str | None], Any]:
    report = harness.judge_ranking(metric=[], bench_name=bench.name, data_dir=bench.folder.parent, **words)
    return {(row["metric"], row["category"]): (row["agree"], row["n"], row["tied"]) for row in report.rows}


def test_the_worked_line_of_the_docstring(bench: Bench) -> None:
    assert agreed(bench) == {
        ("bleu", "math"): (0.5, 2, 0),
        ("bleu", "writing"): (pytest.approx(2.5 / 3), 3, 1),
        ("bleu", None): (pytest.approx(3.5 / 5), 5, 1),
    }


def test_every_vote_counts_and_ties_say_nothing(bench: Bench, tmp_path: pathlib.Path) -> None:
    def vote(judge: str, winner: str) -> dict[str, Any]:
        return {"question_id": 1, "turn": 1, "model_a": "y", "model_b": "x", "winner": winner, "judge": judge}

    votes = write(
        tmp_path / "votes.jsonl", [vote("a", "model_a"), vote("b", "model_b"), vote("c", "model_a"), vote("d", "tie")]
    )
    assert agreed(bench, input_file=votes) == {("bleu", None): (pytest.approx(2 / 3), 3, 0)}


def test_answers_without_a_number_are_left_out_and_counted(bench: Bench) -> None:
    write(
        bench.metric_file("rouge"),
        [number(1, "x", 0.5, "rouge"), number(1, "y", None, "rouge"), number(1, "z", 0.1, "rouge")],
    )
    report = harness.judge_ranking(metric=["rouge"], bench_name=bench.name, data_dir=bench.folder.parent)
    assert [(row["agree"], row["n"]) for row in report.rows] == [(1.0, 1)]
    assert "pairs left out because an answer has no number: rouge 4" in report.notes


def test_a_metric_of_few_pairs_is_not_the_best(bench: Bench) -> None:
    write(bench.metric_file("rouge"), [number(1, "x", 0.5, "rouge"), number(1, "y", 0.1, "rouge")])
    report = harness.judge_ranking(metric=["rouge", "bleu"], bench_name=bench.name, data_dir=bench.folder.parent)
    whole = [(row["metric"], row["agree"], row["n"]) for row in report.rows if row["category"] is None]
    assert whole == [("bleu", pytest.approx(3.5 / 5), 5), ("rouge", 1.0, 1)]
    assert "on too few of these pairs to be compared, and listed last: rouge (1 of 5)" in report.notes


def test_each_criterion_has_rows_of_its_own(bench: Bench, tmp_path: pathlib.Path) -> None:
    other = {name: -score for name, score in GRADES[1].items()}
    rows = [grade(1, name, score, criterion="wit") for name, score in GRADES[1].items()]
    rows += [grade(1, name, score, criterion="tact") for name, score in other.items()]
    file = write(tmp_path / "several.jsonl", rows)
    report = harness.judge_ranking(
        metric=["bleu"], bench_name=bench.name, data_dir=bench.folder.parent, input_file=file
    )
    assert {row["criterion"]: row["agree"] for row in report.rows} == {"wit": 0.5, "tact": 0.5}
    assert {row["criterion"] for row in report.rows} == {"wit", "tact"}


def test_what_is_compared_with_must_be_said(bench: Bench, tmp_path: pathlib.Path) -> None:
    with pytest.raises(UsageError, match="name what to compare with: --against"):
        harness.judge_ranking(bench_name=bench.name, data_dir=tmp_path)
    with pytest.raises(MissingError, match="no numbers of rouge"):
        harness.judge_ranking(metric=["rouge"], bench_name=bench.name, data_dir=tmp_path)
    bench.metric_file("bleu").unlink()
    with pytest.raises(UsageError, match="no metric has numbers in"):
        harness.judge_ranking(metric=[], bench_name=bench.name, data_dir=tmp_path)
