"""Two answers that are the same text are a tie without a call, whatever set compares them."""

import pathlib
from typing import Any

import pytest

from harness.old.bench import Bench
from harness.old.estimating import estimate_plan
from harness.old.judging.run import JudgeOptions, plan_judgments, run_judgments
from harness.old.judgments.row import judged_rows
from harness.old.pipeline import plan_bench
from harness.old.results.cost import show_cost
from harness.old.results.show import show_result
from harness.old.running.options import RunOptions
from harness.old.status import bench_status
from tests.old.judging.sets.written import COMPARE, written
from tests.old.protocol_server import ProtocolServer, verdict
from tests.old.small_bench import answer, question, rows, small_bench, write

SAID = {"a": ("one", "same", "same"), "b": ("two", "same", "same")}


def alike(data_dir: pathlib.Path) -> Bench:
    """Return a benchmark of one-turn questions on which two models differ on the first only."""
    bench = small_bench(data_dir, *(question(n, turns=[f"Question {n}?"]) for n in (1, 2, 3)))
    for model, said in SAID.items():
        write(bench.answer_file(model), [answer(n, model, text) for n, text in enumerate(said, 1)])
    return bench


@pytest.mark.parametrize(
    ("rule", "games"), [pytest.param("", 2, id="both"), pytest.param('order = "random"', 1, id="random")]
)
def test_no_call_is_planned_estimated_made_or_paid_for(tmp_path: pathlib.Path, rule: str, games: int) -> None:
    bench = alike(tmp_path)
    judge_set = written(tmp_path / "small" / "s", rule, compare=COMPARE)
    with ProtocolServer(verdict) as server:
        options = JudgeOptions(judge_set=str(judge_set), base_url=server.openai_url)
        plan = plan_judgments(["j"], bench, "pairwise-all", options)
        assert (plan.rows, plan.calls, plan.jobs) == (3, games, 3 * games)
        (estimate,) = estimate_plan(plan)
        assert estimate.calls == games
        report = run_judgments(plan, RunOptions(2))
        assert (len(server.requests), report.written, report.tally.done) == (games, 3, 3 * games)
    (path,) = report.paths
    said: dict[Any, Any] = {row["question_id"]: row for row in rows(path)}
    for name in (2, 3):
        winners = {key: value for key, value in said[name].items() if key.endswith("_winner")}
        assert set(winners.values()) == {"tie"}
        assert len(winners) == games
        assert {own["given"] for own in said[name]["details"]} == {"equal answers"}
    assert [row.games for row in judged_rows(path) if row.question_id != 1] == [(0.5,) * games] * 2
    (judge,) = [row for row in show_cost(bench_name="small", data_dir=tmp_path) if row.what == "judgments"]
    assert judge.calls == games
    shown = show_result("pairwise-all", bench_name="small", data_dir=tmp_path)
    assert {row["model"]: row["tie"] for row in shown.rows()} == {"a": 2, "b": 2}


def test_status_counts_no_call_for_them(tmp_path: pathlib.Path) -> None:
    bench = alike(tmp_path)
    with ProtocolServer(verdict) as server:
        options = JudgeOptions(base_url=server.openai_url)
        one = [question for question in bench.questions if question.question_id == 2]
        run_judgments(plan_judgments(["j"], bench, "pairwise-all", options, questions=one), RunOptions(2))
        assert not server.requests
    found = bench_status(bench)
    assert (found.judges[0].judged, found.judges[0].missing) == (1, 2)
    assert [rest.calls for rest in found.rest] == [2]


def test_another_first_turn_makes_another_conversation(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, question(1))
    for model in "ab":
        write(bench.answer_file(model), [answer(1, model, f"first of {model}", "same")])
    plan = plan_judgments(["builtin/overlap"], bench, "pairwise-all")
    assert (plan.rows, plan.calls) == (2, 4)


def test_answers_that_are_not_there_yet_are_not_taken_for_equal(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, question(1), question(2))
    plan = plan_bench(["builtin/eliza", "builtin/outline"], ["builtin/overlap"], bench, "pairwise-all")
    answers = estimate_plan(plan.answers)
    (judge,) = estimate_plan(plan.judgments, answers=answers)
    assert judge.calls == plan.judgments.calls == 8
