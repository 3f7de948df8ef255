"""Checks of a benchmark's answers become rows of `model_metric/checks.jsonl`."""

import pathlib
from typing import Any

import pytest

import harness
from harness.old.bench import Bench, load_bench
from harness.old.errors import MissingError
from harness.old.metrics.checks import plan_checks
from harness.old.metrics.run import run_metrics
from tests.old.small_bench import answer, question, rows, small_bench, write

FEW = {"kind": "count", "of": "words", "at_most": 3}
SHORTER = {"kind": "shorter"}
CODE = {"kind": "code", "cases": [{"stdout": "1"}]}


def checked(
    tmp_path: pathlib.Path, *checks: list[dict[str, Any]], turns: tuple[str, str] = ("A b c d.", "A b.")
) -> Bench:
    bench = small_bench(tmp_path, question(1, checks=list(checks)), question(2))
    write(bench.answer_file("m"), [answer(1, "m", *turns), answer(2, "m", *turns)])
    return load_bench(bench.name, tmp_path)


def test_a_row_says_which_checks_a_turn_meets_and_where_it_breaks_one(tmp_path: pathlib.Path) -> None:
    bench = checked(tmp_path, [FEW, {"kind": "ends", "text": ".", "name": "stop"}], [SHORTER])
    report = run_metrics(plan_checks(bench))
    first, second = rows(bench.metric_file("checks"))
    assert (report.written, report.paths) == (2, (bench.metric_file("checks"),))
    assert {name: first[name] for name in ("question_id", "turn", "model", "metric", "value", "variant")} == {
        "question_id": 1,
        "turn": 1,
        "model": "m",
        "metric": "checks",
        "value": 0.5,
        "variant": "default",
    }
    assert first["values"] == {"strict": 0.5, "loose": 0.5, "strict_all": 0.0, "loose_all": 0.0}
    assert first["checks"] == [
        {
            "kind": "count",
            "name": "count",
            "text": "at most 3 words",
            "strict": False,
            "loose": False,
            "found": "4 words",
            "spans": [[6, 7]],
        },
        {"kind": "ends", "name": "stop", "text": "ends with “.”", "strict": True, "loose": True},
    ]
    assert (second["turn"], second["value"]) == (2, 1.0)


def test_a_second_run_checks_only_what_changed(tmp_path: pathlib.Path) -> None:
    bench = checked(tmp_path, [FEW], [SHORTER])
    run_metrics(plan_checks(bench))
    assert run_metrics(plan_checks(bench)).written == 0
    changed = checked(tmp_path, [FEW | {"at_most": 4}], [SHORTER])
    report = run_metrics(plan_checks(changed))
    assert (report.written, report.superseded) == (1, 1)
    assert [row["value"] for row in rows(bench.metric_file("checks"))] == [1.0, 1.0]


def test_code_that_is_not_run_leaves_its_checks_undecided(tmp_path: pathlib.Path) -> None:
    bench = checked(tmp_path, [FEW, CODE], [CODE])
    plan = plan_checks(bench)
    assert plan.notices == ["2 checks run a model's code; they are left undecided without --run-code"]
    run_metrics(plan)
    first, second = rows(bench.metric_file("checks"))
    assert first["value"] == 0.0
    assert first["checks"][1]["strict"] is None
    assert second["value"] is None
    assert second["note"] == "1 of 1 checks not decided: code is run only with --run-code"


def test_a_benchmark_without_checks_is_refused(tmp_path: pathlib.Path) -> None:
    with pytest.raises(MissingError, match="no question of small has checks"):
        plan_checks(small_bench(tmp_path))


def test_the_function_does_what_the_command_does(tmp_path: pathlib.Path) -> None:
    bench = checked(tmp_path, [FEW], [])
    assert harness.auto_checks("small", data_dir=tmp_path).written == 1
    assert len(rows(bench.metric_file("checks"))) == 1


def test_run_bench_checks_by_itself(tmp_path: pathlib.Path) -> None:
    small_bench(tmp_path, question(1, checks=[[FEW], []]))
    report = harness.run_bench("builtin/eliza", "builtin/overlap", "small", data_dir=tmp_path)
    assert report.checks is not None
    assert report.checks.written == 1


def test_every_choice_is_checked_and_tables_take_their_mean(tmp_path: pathlib.Path) -> None:
    bench = checked(tmp_path, [FEW], [])
    row = answer(1, "m", "One two three.", "x")
    row["choices"].append({"index": 1, "turns": ["One two three four.", "x"]})
    write(bench.answer_file("m"), [row, answer(2, "m", "x", "y")])
    run_metrics(plan_checks(bench))
    assert [(row["choice"], row["value"]) for row in rows(bench.metric_file("checks"))] == [(0, 1.0), (1, 0.0)]
    shown = harness.show_result(metric="checks", bench_name=bench.name, data_dir=tmp_path)
    assert shown.rows()[0]["checks strict"] == 0.5
    assert plan_checks(bench).rows == 0
