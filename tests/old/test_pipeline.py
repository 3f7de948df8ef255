"""Both kinds of jobs in one run: what is judged when, and that the files are those of the parts."""

import json
import pathlib
from collections.abc import Sequence
from typing import Any

import pytest

from harness.old.answering import AnswerOptions, plan_answers, run_answers
from harness.old.bench import Bench
from harness.old.errors import MissingError, UsageError
from harness.old.judging.run import JudgeOptions, plan_judgments, run_judgments
from harness.old.pipeline import BenchReport, plan_bench, run_plan
from harness.old.records import Mode
from harness.old.running.options import RunOptions
from tests.old.protocol_server import Asked, ProtocolServer, bad_request, parrot, verdict
from tests.old.small_bench import answer, question, rows, small_bench, write


def reply(asked: Asked) -> str:
    return verdict(asked) if "[[" in asked.texts[-1] else parrot(asked)


def run(
    bench: Bench,
    server: ProtocolServer,
    *models: str,
    mode: Mode = "single",
    parallel: int | None = 4,
    answering: dict[str, Any] | None = None,
    judging: dict[str, Any] | None = None,
    **more: Any,
) -> BenchReport:
    plan = plan_bench(
        models,
        ["j"],
        bench,
        mode,
        AnswerOptions(base_url=server.openai_url, **answering or {}),
        JudgeOptions(base_url=server.openai_url, **judging or {}),
        **more,
    )
    return run_plan(plan, RunOptions(parallel))


def judged(bench: Bench, kind: str = "single") -> list[dict[str, Any]]:
    return rows(bench.folder / "model_judgment" / f"j_{kind}.jsonl")


def plain(row: dict[str, Any]) -> str:
    """Return a row without what differs from run to run."""
    kept = {name: value for name, value in row.items() if name not in {"tstamp", "answer_id", "details"}}
    for choice in kept.get("choices", ()):
        choice.pop("details")
    return json.dumps(kept, sort_keys=True)


@pytest.mark.parametrize(
    ("mode", "kind", "baseline", "count"),
    [
        pytest.param("single", "single", None, 18, id="single"),
        pytest.param("pairwise-all", "pair", None, 18, id="all pairs"),
        pytest.param("pairwise-baseline", "pair", "b", 12, id="against a baseline that is answered too"),
    ],
)
def test_the_rows_are_those_of_the_parts(
    tmp_path: pathlib.Path, mode: Mode, kind: str, baseline: str | None, count: int
) -> None:
    together, apart = small_bench(tmp_path / "together"), small_bench(tmp_path / "apart")
    models = ["a", "b", "c"]
    with ProtocolServer(reply) as server:
        report = run(together, server, *models, mode=mode, judging={"baseline": baseline})
        address: dict[str, Any] = {"base_url": server.openai_url}
        run_answers(plan_answers(models, apart, AnswerOptions(**address)))
        options = JudgeOptions(baseline=baseline, **address)
        run_judgments(plan_judgments(["j"], apart, mode, options, models=models))
    assert report.complete
    assert (report.answers.written, report.judgments.written, report.unjudged) == (9, count, 0)
    assert sorted(map(plain, judged(together, kind))) == sorted(map(plain, judged(apart, kind)))
    for model in models:
        one, other = rows(together.answer_file(model)), rows(apart.answer_file(model))
        assert sorted(map(plain, one)) == sorted(map(plain, other))


def test_an_answer_is_judged_while_others_are_still_made(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, *(question(n) for n in range(1, 21)))
    with ProtocolServer(reply) as server:
        run(bench, server, "a", parallel=2)
        asked = [request.model for request in server.requests]
    assert asked.index("j") < len(asked) - 1 - asked[::-1].index("a")


@pytest.mark.parametrize("parallel", [1, 3, 8])
def test_nothing_is_judged_twice_whenever_its_answer_comes(tmp_path: pathlib.Path, parallel: int) -> None:
    bench = small_bench(tmp_path, *(question(n) for n in range(1, 11)))
    write(bench.answer_file("b"), [answer(n, "b", f"One {n}.", "Two.") for n in range(1, 6)])
    with ProtocolServer(reply) as server:
        run(bench, server, "a", "b", mode="pairwise-all", parallel=parallel)
        asked = [request.digest for request in server.requests]
    assert len(asked) == len(set(asked)) == 20 + 10 + 40


def test_what_is_answered_before_the_run_is_judged_in_it(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    write(bench.answer_file("b"), [answer(n, "b", "One.", "Two.") for n in (1, 2, 3)])
    with ProtocolServer(reply) as server:
        report = run(bench, server, "a", "b", mode="pairwise-all")
    assert (report.answers.written, report.judgments.written) == (3, 6)
    assert {(row["model_1"], row["model_2"]) for row in judged(bench, "pair")} == {("a", "b")}


def test_models_that_are_not_named_are_not_judged_unless_listed(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    write(bench.answer_file("b"), [answer(n, "b", "One.", "Two.") for n in (1, 2, 3)])
    with ProtocolServer(reply) as server:
        run(bench, server, "a")
        assert {row["model"] for row in judged(bench)} == {"a"}
        run(bench, server, "a", model_list=["a", "b"])
    assert {row["model"] for row in judged(bench)} == {"a", "b"}


def test_a_second_run_does_nothing(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    with ProtocolServer(reply) as server:
        run(bench, server, "a")
        calls = len(server.requests)
        report = run(bench, server, "a")
    assert (len(server.requests), report.answers.written, report.judgments.written) == (calls, 0, 0)


def test_a_changed_question_is_answered_and_judged_anew_and_nothing_else(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    with ProtocolServer(reply) as server:
        run(bench, server, "a")
        calls = len(server.requests)
        changed = small_bench(tmp_path, question(1), question(2, turns=["Other?", "And then?"]), question(3))
        report = run(changed, server, "a")
    assert len(server.requests) - calls == 4
    assert (report.answers.superseded, report.judgments.superseded) == (1, 2)
    assert (len(rows(bench.answer_file("a"))), len(judged(bench))) == (3, 6)


def test_an_answer_that_fails_leaves_its_judgments_for_the_next_run(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    refusing = True

    def faults(asked: Asked) -> Any:
        wanted = refusing and asked.model == "a" and "Question 2" in asked.texts[-1]
        return bad_request("This cannot be answered.") if wanted else None

    with ProtocolServer(reply, faults=faults) as server:
        report = run(bench, server, "a", "b", mode="pairwise-all")
        assert (report.complete, report.unjudged, len(report.tally.failures)) == (False, 4, 1)
        assert {row["question_id"] for row in judged(bench, "pair")} == {1, 3}
        refusing = False
        report = run(bench, server, "a", "b", mode="pairwise-all")
    assert (report.complete, report.answers.written, report.judgments.written) == (True, 1, 2)


def test_redo_makes_everything_again_and_keeps_the_old_rows(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    with ProtocolServer(reply) as server:
        run(bench, server, "a")
        report = run(bench, server, "a", redo=True)
    assert (report.answers.written, report.judgments.written) == (3, 6)
    assert (report.answers.superseded, report.judgments.superseded) == (3, 6)
    assert len(rows(bench.judgment_state / "superseded" / "j_single.jsonl")) == 6


def test_a_model_may_judge_itself_and_be_at_another_address_for_it(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    with ProtocolServer(parrot) as answers, ProtocolServer(verdict) as judges:
        plan = plan_bench(
            ["j"],
            ["j"],
            bench,
            answering=AnswerOptions(base_url=answers.openai_url),
            judging=JudgeOptions(base_url=judges.openai_url),
        )
        assert run_plan(plan).complete
        assert (len(answers.requests), len(judges.requests)) == (6, 6)


@pytest.mark.parametrize(
    ("judging", "mode", "models", "error", "message"),
    [
        pytest.param({"baseline": "z"}, "pairwise-baseline", ["a"], UsageError, "no answers by 'z'", id="baseline"),
        pytest.param({}, "pairwise-baseline", ["a"], UsageError, "needs --baseline-model", id="no baseline"),
        pytest.param({}, "pairwise-all", ["a"], UsageError, "at least two models", id="one model for pairs"),
        pytest.param({"judge_set": "none"}, "single", ["a"], UsageError, "none", id="judge set"),
        pytest.param({"api_key_env": "NO_KEY"}, "single", ["a"], MissingError, "NO_KEY", id="judge's key"),
        pytest.param({"reference": "nobody"}, "single", ["a"], MissingError, "by 'nobody'", id="reference"),
    ],
)
def test_what_is_wrong_with_the_judging_is_found_before_the_first_call(
    tmp_path: pathlib.Path,
    judging: dict[str, Any],
    mode: Mode,
    models: Sequence[str],
    error: type[Exception],
    message: str,
) -> None:
    bench = small_bench(tmp_path)
    with ProtocolServer(reply) as server:
        with pytest.raises(error, match=message):
            run(bench, server, *models, mode=mode, judging=judging)
        assert not server.requests
    assert not (bench.folder / "model_answer").exists()


def test_equal_answers_are_judged_once_with_a_cache(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    with ProtocolServer(lambda asked: verdict(asked) if asked.model == "j" else "The same.") as server:
        plan = plan_bench(
            ["a", "b"],
            ["j"],
            bench,
            answering=AnswerOptions(base_url=server.openai_url),
            judging=JudgeOptions(base_url=server.openai_url),
        )
        report = run_plan(plan, RunOptions(4, cache=tmp_path / "c.sqlite"))
        calls = [request.model for request in server.requests]
    assert report.judgments.written == 12
    assert calls.count("j") == 6
    made = [detail.get("from_cache", False) for row in judged(bench) for detail in row["details"]]
    assert sorted(made) == [False] * 6 + [True] * 6
