"""Metrics that need no judge, shown like grades."""

import json
import pathlib
from typing import Any

import pytest

from harness.cli import show_result as command
from harness.errors import MissingError, UsageError
from harness.results.show import show_result
from tests.small_bench import question, small_bench, write


def row(number: int, model: str, value: float | None, metric: str = "bleu", **more: Any) -> dict[str, Any]:
    values = {} if value is None else {"values": {"bleu_1": value, "bleu_4": value / 2}}
    return {"question_id": number, "turn": 1, "model": model, "metric": metric, "value": value, **values, **more}


@pytest.fixture
def bench(tmp_path: pathlib.Path) -> pathlib.Path:
    """Return a data folder with two models measured on four questions, one of them without a number."""
    folder = small_bench(tmp_path, *(question(n, "a" if n < 3 else "b") for n in range(1, 5))).folder
    rows = [row(n, m, n / 10 + (m == "x") / 5) for n in range(1, 5) for m in "xy"]
    write(folder / "model_metric" / "bleu.jsonl", [*rows[:-1], row(4, "y", None, note="empty")])
    grades = [
        {"question_id": n, "model": m, "judge": ["j", "t"], "score": n, "turn": 1} for n in range(1, 5) for m in "xy"
    ]
    write(folder / "model_judgment" / "j_single.jsonl", grades)
    return tmp_path


def test_each_number_of_a_metric_is_a_column_and_what_could_not_be_computed_is_counted(bench: pathlib.Path) -> None:
    result = show_result(metric="bleu", bench_name="small", data_dir=bench)
    assert result.rows() == [
        {"model": "x", "bleu_1": pytest.approx(0.45), "bleu_4": pytest.approx(0.225), "n": 4, "excluded": 0},
        {"model": "y", "bleu_1": pytest.approx(0.2), "bleu_4": pytest.approx(0.1), "n": 3, "excluded": 1},
    ]
    assert (result.judge, result.judge_set) == ("no judge", "bleu")


def test_the_judges_grade_stands_beside(bench: pathlib.Path) -> None:
    result = show_result(metric=["bleu", "score"], bench_name="small", data_dir=bench)
    assert [(r["model"], r["score"]) for r in result.rows()] == [("x", 2.5), ("y", 2.5)]


def test_the_command_shows_the_same(bench: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["--metric", "bleu", "--bench-name", "small", "--data-dir", str(bench), "--format", "json", "-q"]
    assert command.main(flags) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["rows"] == show_result(metric="bleu", bench_name="small", data_dir=bench).rows()


def test_a_metric_without_numbers_says_which_command_computes_it(bench: pathlib.Path) -> None:
    with pytest.raises(MissingError, match=r"no numbers of blue in .* did you mean 'bleu'"):
        show_result(metric="blue", bench_name="small", data_dir=bench)
    with pytest.raises(MissingError, match="run auto_checks --bench-name small first"):
        show_result(metric="checks", bench_name="small", data_dir=bench)


def test_two_variants_are_never_in_one_table(bench: pathlib.Path) -> None:
    path = bench / "small" / "model_metric" / "bleu.jsonl"
    with path.open("a") as file:
        file.write(json.dumps(row(1, "x", 0.9, variant="colossalai")) + "\n")
    with pytest.raises(UsageError, match="several variants, choose one with --variant: colossalai, default"):
        show_result(metric="bleu", bench_name="small", data_dir=bench)
    found = show_result(metric="bleu", variant="colossalai", bench_name="small", data_dir=bench)
    assert [r["bleu_1"] for r in found.rows()] == [0.9]
