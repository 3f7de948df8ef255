"""Answers and judgments by batches: the same rows as directly, whatever happens on the way, and nothing paid twice.

The whole way is gone: plan, engine, the real SDKs, the server on loopback. Where a process is killed, it is a real one.
"""

import collections
import json
import logging
import os
import pathlib
import signal
import subprocess
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from harness.old.answering import AnswerOptions, AnswerReport, plan_answers, run_answers
from harness.old.bench import Bench
from harness.old.chat.openai_chat import OpenAIBatches
from harness.old.chat.price import Price
from harness.old.errors import EndpointError, Interrupted, UsageError
from harness.old.judging.run import JudgeOptions, plan_judgments, run_judgments
from harness.old.running import engine
from harness.old.running.options import RunOptions
from harness.old.running.watch import Tally
from tests.old.processes import Command, Starter
from tests.old.protocol_server import (
    Asked,
    BatchDesk,
    Fault,
    ProtocolServer,
    Script,
    bad_request,
    outage,
    overloaded,
    parrot,
    rate_limited,
    raw,
    verdict,
)
from tests.old.small_bench import answer, question, rows, small_bench, write

BATCH = RunOptions(batch=True)
KINDS = ["openai", "anthropic", "gemini"]
FILED = KINDS[:2]
"""Those whose results are a list apart from the batch; the third's SDK also takes seconds to start a process with."""
MADE = {
    "openai": "/v1/batches",
    "anthropic": "/v1/messages/batches",
    "gemini": "/v1/models/gemini-x:batchGenerateContent",
}
MODELS = {"openai": "m", "anthropic": "claude-sonnet-4", "gemini": "gemini-x"}


def model_of(kind: str) -> str:
    return MODELS[kind]


def answered(
    bench: Bench, server: ProtocolServer, kind: str = "openai", running: RunOptions = BATCH, **more: Any
) -> AnswerReport:
    """Answer with one model of the server."""
    options = AnswerOptions(**{"base_url": server.openai_url if kind == "openai" else None, **more})
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("ANTHROPIC_BASE_URL", server.anthropic_url)
        environment.setenv("GOOGLE_GEMINI_BASE_URL", server.url)
        plan = plan_answers([model_of(kind)], bench, options)
    return run_answers(plan, running)


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key")
    monkeypatch.setenv("GEMINI_API_KEY", "key")


def plain(value: Any) -> Any:
    """Return a row without what differs from run to run: times, ids, and by which way it came."""
    if isinstance(value, dict):
        gone = {"tstamp", "answer_id", "seconds", "batch"}
        return {name: plain(item) for name, item in value.items() if name not in gone}
    return [plain(item) for item in value] if isinstance(value, list) else value


def by_question(path: pathlib.Path) -> list[Any]:
    return sorted((plain(row) for row in rows(path)), key=lambda row: (row["question_id"], row.get("turn"), str(row)))


def repeated(asked: Sequence[Asked]) -> int:
    return sum(count - 1 for count in collections.Counter(a.digest for a in asked).values())


def left(bench: Bench) -> list[pathlib.Path]:
    """Return the ledgers and pending replies that stand there."""
    files = [*bench.answer_state.glob("batches/*.jsonl"), *bench.answer_state.glob("pending/*.jsonl")]
    return [*files, *bench.judgment_state.glob("batches/*.jsonl"), *bench.judgment_state.glob("pending/*.jsonl")]


def once(outcome: Any, share: Callable[[Asked], bool] = lambda asked: True) -> BatchDesk:
    """Return a desk at which requests of the first batch come to this."""
    return BatchDesk(lambda n: Script(outcome=lambda asked: outcome if n == 0 and share(asked) else None))


def first_of_all(asked: Asked) -> bool:
    return "Question 1," in asked.texts[0]


@pytest.mark.parametrize("kind", KINDS)
def test_the_rows_are_those_of_direct_calls(tmp_path: pathlib.Path, kind: str) -> None:
    bench = small_bench(tmp_path)
    other = small_bench(tmp_path / "other")
    with ProtocolServer(batches=BatchDesk(Script(polls=2))) as server:
        assert answered(bench, server, kind, num_choices=2, system="Be kind.").complete
        direct_calls = [a for a in server.requests if a.protocol in ("chat", "messages")]
        assert not direct_calls
        assert answered(other, server, kind, RunOptions(parallel=4), num_choices=2, system="Be kind.").complete
    path, path_2 = (b.answer_file(model_of(kind)) for b in (bench, other))
    assert by_question(path) == by_question(path_2)
    assert len(rows(path)) == 3
    details = [more for row in rows(path) for choice in row["choices"] for more in choice["details"]]
    assert all(more["batch"] is True and more["seconds"] is None for more in details)
    assert [len(made.requests) for made in server.batches.made] == [6, 6]
    assert not left(bench)


@pytest.mark.parametrize("mode", ["single", "pairwise-all"])
def test_both_games_of_all_pairs_are_one_batch(tmp_path: pathlib.Path, mode: Any) -> None:
    benches = [small_bench(tmp_path / name, *(question(n) for n in (1, 2))) for name in ("batch", "direct")]
    files: list[pathlib.Path] = []
    with ProtocolServer(verdict) as server:
        for bench, running in zip(benches, (BATCH, RunOptions(parallel=4)), strict=True):
            for model in ("a", "b"):
                write(bench.answer_file(model), [answer(n, model, f"{model}{n}.", f"{model}{n}!") for n in (1, 2)])
            plan = plan_judgments(["j"], bench, mode, JudgeOptions(base_url=server.openai_url))
            report = run_judgments(plan, running)
            assert (report.written, report.unparsed) == (plan.rows, 0)
            files += report.paths
    assert by_question(files[0]) == by_question(files[1])
    assert [len(made.requests) for made in server.batches.made] == [8]
    assert not left(benches[0])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "outcome",
    [
        pytest.param("expired", id="expired"),
        pytest.param("missing", id="no line"),
        pytest.param(rate_limited(), id="429"),
        pytest.param(outage(), id="500"),
        pytest.param(overloaded(), id="529"),
    ],
)
def test_what_failed_for_a_time_goes_into_the_next_batch(tmp_path: pathlib.Path, kind: str, outcome: Any) -> None:
    bench = small_bench(tmp_path)
    with ProtocolServer(batches=once(outcome, first_of_all)) as server:
        report = answered(bench, server, kind)
    assert (report.complete, report.tally.retries, report.written) == (True, 1, 3)
    # Three first turns, of which one failed; it goes with the second turns of the others; its own comes last.
    assert [len(made.requests) for made in server.batches.made] == [3, 3, 1]
    assert (len(server.batches.answered), repeated(server.batches.answered)) == (6, 0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("outcome", "told"),
    [
        pytest.param(bad_request("The request is wrong."), "answered 400: The request is wrong", id="bad request"),
        pytest.param("cancelled", "the batch was cancelled", id="cancelled by somebody"),
    ],
)
def test_what_failed_for_good_is_listed_with_its_cause(
    tmp_path: pathlib.Path, kind: str, outcome: Any, told: str
) -> None:
    bench = small_bench(tmp_path)
    with ProtocolServer(batches=once(outcome, first_of_all)) as server:
        report = answered(bench, server, kind)
        (failure,) = report.tally.failures
        assert "question 1" in failure.key
        assert told in failure.message
        assert sorted(row["question_id"] for row in rows(report.paths[0])) == [2, 3]
        assert answered(bench, server, kind).complete
    assert [len(made.requests) for made in server.batches.made] == [3, 2, 1, 1]


def test_what_always_fails_for_a_time_is_given_up_after_the_tries_of_the_policy(tmp_path: pathlib.Path) -> None:
    with ProtocolServer(batches=BatchDesk(Script(outcome=lambda asked: "expired"))) as server:
        report = answered(small_bench(tmp_path), server)
    assert [failure.kind for failure in report.tally.failures] == ["expired"] * 3
    assert len(server.batches.made) == engine.RETRY.tries


@pytest.mark.parametrize(
    ("kind", "refused", "sent"),
    [
        pytest.param("openai", "temperature", {"max_tokens": 4096}, id="openai, left out"),
        pytest.param("openai", "max_tokens", {"temperature": 0.7, "max_completion_tokens": 4096}, id="openai, renamed"),
        pytest.param("anthropic", "temperature", {"max_tokens": 4096}, id="anthropic"),
    ],
)
def test_a_refused_parameter_is_repaired_once_and_remembered(
    tmp_path: pathlib.Path, kind: str, refused: str, sent: dict[str, Any]
) -> None:
    bench = small_bench(tmp_path)
    with ProtocolServer(refuses=[refused]) as server:
        report = answered(bench, server, kind)
    assert (report.complete, report.tally.retries) == (True, 0)
    assert [len(made.requests) for made in server.batches.made] == [3, 3, 3]
    (row, *_) = rows(report.paths[0])
    assert [more["sampling_applied"] for more in row["choices"][0]["details"]] == [sent, sent]


def test_what_the_model_does_not_take_is_still_known_after_a_restart(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    desk = BatchDesk(lambda n: Script(polls=99 if n == 1 else 0))
    with ProtocolServer(refuses=["temperature"], batches=desk) as server:
        stop_at(server, lambda asked: len(desk.made) == 2 and asked.path.startswith("/v1/batches/"))
        with pytest.raises(Interrupted):
            answered(bench, server)
        go_on(server)
        desk.made[1].polls = 99
        assert answered(bench, server).complete
    assert [len(made.requests) for made in desk.made] == [3, 3, 3]


def test_a_batch_refused_for_one_line_is_handed_in_without_it(tmp_path: pathlib.Path) -> None:
    refusal = [{"code": "invalid_value", "message": "Too odd.", "line": 2, "param": "messages"}]
    desk = BatchDesk(lambda n: Script(refusal=refusal if n == 0 else ()))
    with ProtocolServer(batches=desk) as server:
        report = answered(small_bench(tmp_path), server)
    (failure,) = report.tally.failures
    assert ("question 2" in failure.key, "Too odd." in failure.message) == (True, True)
    assert [len(made.requests) for made in desk.made] == [3, 2, 2]


def test_a_batch_refused_as_a_whole_fails_with_the_cause(tmp_path: pathlib.Path) -> None:
    refusal = [{"code": "invalid_json_line", "message": "Not JSON.", "line": None, "param": None}]
    bench = small_bench(tmp_path)
    with ProtocolServer(batches=BatchDesk(lambda n: Script(refusal=refusal if n == 0 else ()))) as server:
        report = answered(bench, server)
        assert [f.message for f in report.tally.failures] == [report.tally.failures[0].message] * 3
        assert "Not JSON." in report.tally.failures[0].message
        assert answered(bench, server).complete


def test_a_full_queue_makes_smaller_batches(tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture) -> None:
    refusal = [{"code": "token_limit_exceeded", "message": "Enqueued token limit reached.", "line": None}]
    bench = small_bench(tmp_path, *(question(n) for n in range(1, 9)))
    desk = BatchDesk(lambda n: Script(refusal=refusal if n < 2 else ()))
    with ProtocolServer(batches=desk) as server:
        assert answered(bench, server).complete
    sizes = [len(made.requests) for made in desk.made]
    assert sizes[:2] == [8, 4]
    assert max(sizes[2:]) == 2
    assert (len(desk.answered), repeated(desk.answered)) == (16, 0)
    assert "smaller batches" in caplog.text


@pytest.mark.parametrize("kind", KINDS)
def test_a_cut_list_of_results_is_fetched_again(tmp_path: pathlib.Path, kind: str) -> None:
    with ProtocolServer(batches=BatchDesk(Script(cut=2))) as server:
        assert answered(small_bench(tmp_path), server, kind).complete
    assert [len(made.requests) for made in server.batches.made] == [3, 3]


@pytest.mark.parametrize("kind", FILED)
def test_results_that_stay_cut_are_not_paid_again(tmp_path: pathlib.Path, kind: str) -> None:
    bench = small_bench(tmp_path)
    desk = BatchDesk(lambda n: Script(cut=engine.RETRY.tries if n == 0 else 0))
    with ProtocolServer(batches=desk) as server:
        report = answered(bench, server, kind)
        assert {failure.kind for failure in report.tally.failures} == {"malformed reply"}
        assert "are truncated or damaged" in report.tally.failures[0].message
        assert answered(bench, server, kind).complete
    assert (len(server.batches.answered), repeated(server.batches.answered)) == (6, 0)


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_whose_number_was_lost_is_found_again(tmp_path: pathlib.Path, kind: str) -> None:
    made = MADE[kind]
    times = iter([True])

    def lost(asked: Asked) -> Fault | None:
        created = asked.path == made and asked.method == "POST"
        return Fault(0, how="lost") if created and next(times, False) else None

    with ProtocolServer(faults=lost, batches=BatchDesk(Script(polls=1))) as server:
        assert answered(small_bench(tmp_path), server, kind).complete
    assert [len(made.requests) for made in server.batches.made] == [3, 3]
    assert repeated(server.batches.answered) == 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_that_was_not_taken_is_handed_in_again(tmp_path: pathlib.Path, kind: str) -> None:
    made = MADE[kind]
    times = iter([outage(), rate_limited(0)])

    def failing(asked: Asked) -> Fault | None:
        return next(times, None) if asked.path == made and asked.method == "POST" else None

    with ProtocolServer(faults=failing) as server:
        report = answered(small_bench(tmp_path), server, kind)
    assert (report.complete, report.tally.retries) == (True, 2)
    assert [len(made.requests) for made in server.batches.made] == [3, 3]


def test_an_outage_while_waiting_is_waited_out(tmp_path: pathlib.Path) -> None:
    times = iter([outage(), outage(), rate_limited(0)])

    def failing(asked: Asked) -> Fault | None:
        return next(times, None) if asked.path.startswith("/v1/batches/") else None

    with ProtocolServer(faults=failing) as server:
        assert answered(small_bench(tmp_path), server).complete


@pytest.mark.parametrize("limit", ["most_requests", "most_bytes"])
def test_batches_are_split_at_the_providers_limits(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(OpenAIBatches, limit, 2 if limit == "most_requests" else 500)
    with ProtocolServer() as server:
        assert answered(small_bench(tmp_path, *(question(n) for n in range(1, 6))), server).complete
    assert [len(made.requests) for made in server.batches.made[:3]] == [2, 2, 1]
    assert all(len(data) <= 500 for data in server.batches.files.values()) or limit == "most_requests"


def test_several_models_each_have_their_own_batches(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    with ProtocolServer() as server:
        report = run_answers(plan_answers(["x", "y"], bench, AnswerOptions(base_url=server.openai_url)), BATCH)
    assert report.complete
    models = [{asked.model for _, asked in made.requests} for made in server.batches.made]
    assert models == [{"x"}, {"y"}] * 2


def test_a_server_without_batches_is_refused_before_anything_is_sent(tmp_path: pathlib.Path) -> None:
    with ProtocolServer(batches=BatchDesk(supported=False)) as server:
        with pytest.raises(
            UsageError, match=r"m: the server at .* has no batches \(it answered 404.*leave out --batch"
        ):
            answered(small_bench(tmp_path), server)
        assert [asked.method for asked in server.requests] == ["GET"]


def test_a_forgotten_v1_is_tried_and_the_batches_are_found_by_either_address(
    tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture
) -> None:
    bench = small_bench(tmp_path)
    desk = BatchDesk(Script(polls=3))
    with ProtocolServer(batches=desk) as server:
        interrupted(bench, server, desk, base_url=server.url)
        assert f"nothing answers at {server.url}; using {server.openai_url}" in caplog.text
        interrupted(bench, server, desk, base_url=server.url, stop=2)
        assert answered(bench, server).complete
    assert [len(made.requests) for made in desk.made] == [3, 3]


def test_a_server_without_batches_at_either_address_is_named_as_it_was_stated(tmp_path: pathlib.Path) -> None:
    with ProtocolServer(batches=BatchDesk(supported=False)) as server:
        with pytest.raises(UsageError, match=rf"m: the server at {server.url} has no batches \(it answered 404"):
            answered(small_bench(tmp_path), server, base_url=server.url)
        assert [asked.path.partition("?")[0] for asked in server.requests] == ["/batches", "/v1/batches"]


def test_a_server_that_answers_something_else_has_no_batches(tmp_path: pathlib.Path) -> None:
    page = Fault(200, body=b'{"hello": 1}', headers={"content-type": "application/json"})
    with ProtocolServer(faults=lambda asked: page) as server, pytest.raises(UsageError, match="has no batches"):
        answered(small_bench(tmp_path), server)


def test_a_built_in_model_is_refused(tmp_path: pathlib.Path) -> None:
    with pytest.raises(UsageError, match=r"builtin/eliza: .*runs here.* leave out --batch"):
        run_answers(plan_answers(["builtin/eliza"], small_bench(tmp_path)), BATCH)


def test_a_refused_key_ends_the_run(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "wrong")
    with ProtocolServer(api_key="right") as server, pytest.raises(EndpointError, match="check the key in MY_KEY"):
        answered(small_bench(tmp_path), server, api_key_env="MY_KEY")


def test_a_run_that_cannot_hand_in_has_no_call_in_flight_at_its_end(tmp_path: pathlib.Path) -> None:
    in_flight = []
    with ProtocolServer(api_key="right") as server:
        plan = plan_answers(["m"], small_bench(tmp_path), AnswerOptions(base_url=server.openai_url))
        with pytest.raises(EndpointError):
            run_answers(plan, BATCH, watch=lambda tally: in_flight.append(tally.in_flight))
    assert min(in_flight) == 0
    assert in_flight[-1] == 0


def test_nobody_at_the_address_ends_the_run(tmp_path: pathlib.Path) -> None:
    with ProtocolServer() as server:
        pass
    with pytest.raises(EndpointError, match=r"cannot connect to .* \(tried 3 times\)"):
        answered(small_bench(tmp_path), server)


def stop_at(server: ProtocolServer, moment: Callable[[Asked], bool]) -> None:
    """Send Ctrl-C to this process when such a call arrives."""

    def look(asked: Asked) -> Fault | None:
        if moment(asked):
            os.kill(os.getpid(), signal.SIGINT)
        return None

    server.faults = look


def go_on(server: ProtocolServer) -> None:
    server.faults = {}


@pytest.mark.parametrize("kind", KINDS)
def test_ctrl_c_leaves_the_batch_to_the_provider_and_the_next_run_collects_it(
    tmp_path: pathlib.Path, kind: str
) -> None:
    bench = small_bench(tmp_path)
    desk = BatchDesk(Script(polls=5))
    with ProtocolServer(batches=desk) as server:
        stop_at(server, lambda asked: bool(desk.made) and desk.made[-1].polls == 1)
        with pytest.raises(Interrupted, match=r"1 batch stays .*\(3 requests\).*run the same command again"):
            answered(bench, server, kind)
        go_on(server)
        assert answered(bench, server, kind).complete
    assert [len(made.requests) for made in desk.made] == [3, 3]
    assert not any(made.cancelled for made in desk.made)
    assert not left(bench)


def test_the_result_of_a_request_that_was_changed_is_not_used(
    tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture
) -> None:
    bench = small_bench(tmp_path)
    desk = BatchDesk(lambda n: Script(polls=3 if n == 0 else 0))
    with ProtocolServer(batches=desk) as server:
        interrupted(bench, server, desk)
        bench = small_bench(tmp_path, question(1), question(2, turns=("Other?", "Second?")), question(3))
        assert answered(bench, server).complete
    sizes = [len(made.requests) for made in desk.made]
    assert (sizes[:2], sum(sizes)) == ([3, 1], 3 + 1 + 3)
    assert "1 of its requests have changed" in caplog.text
    second = next(row for row in rows(bench.answer_file("m")) if row["question_id"] == 2)
    assert "Other?" in second["choices"][0]["turns"][0]


def interrupted(bench: Bench, server: ProtocolServer, desk: BatchDesk, stop: int = 1, **more: Any) -> None:
    """Hand in a batch, and stop while it is in progress, at so many looks at it."""
    stop_at(server, lambda asked: bool(desk.made) and desk.made[-1].polls == stop)
    with pytest.raises(Interrupted):
        answered(bench, server, **more)
    go_on(server)


def test_a_batch_of_which_nothing_is_asked_for_any_more_is_cancelled(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    desk = BatchDesk(lambda n: Script(polls=99 if n == 0 else 0))
    with ProtocolServer(batches=desk) as server:
        interrupted(bench, server, desk)
        assert answered(bench, server, temperature=0.0).complete
    assert [made.cancelled for made in desk.made] == [True, False, False]
    assert not left(bench)


def test_what_a_run_does_not_come_to_stays_for_a_later_one(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    desk = BatchDesk(lambda n: Script(polls=2 if n == 0 else 0))
    with ProtocolServer(batches=desk) as server:
        interrupted(bench, server, desk)
        options = AnswerOptions(base_url=server.openai_url)
        assert run_answers(plan_answers(["m"], bench, options, questions=bench.questions[:1]), BATCH).complete
        assert left(bench)
        assert answered(bench, server).complete
    assert (len(desk.answered), repeated(desk.answered)) == (6, 0)
    assert not left(bench)


def test_a_redo_that_was_stopped_goes_on_with_its_batches(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    desk = BatchDesk(lambda n: Script(polls=2 if n == 3 else 0))
    with ProtocolServer(batches=desk) as server:
        assert answered(bench, server).complete
        options = AnswerOptions(base_url=server.openai_url)
        stop_at(server, lambda asked: len(desk.made) == 4 and desk.made[-1].polls == 1)
        with pytest.raises(Interrupted):
            run_answers(plan_answers(["m"], bench, options, redo=True), BATCH)
        go_on(server)
        assert answered(bench, server).written == 0
        report = run_answers(plan_answers(["m"], bench, options, redo=True), BATCH)
    assert (report.written, report.superseded) == (3, 3)
    assert [len(made.requests) for made in desk.made] == [3, 3, 3, 3]


def test_direct_calls_for_what_is_in_a_batch_are_warned_of(
    tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture
) -> None:
    bench = small_bench(tmp_path)
    desk = BatchDesk(Script(polls=99))
    with ProtocolServer(batches=desk) as server:
        interrupted(bench, server, desk)
        answered(bench, server, running=RunOptions(parallel=2))
    assert "batch_0 (3 requests" in caplog.text
    assert "3 results are not collected; run with --batch" in caplog.text


def test_an_unknown_batch_ends_the_run_with_what_to_do(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    desk = BatchDesk(Script(polls=99))
    with ProtocolServer(batches=desk) as server:
        interrupted(bench, server, desk)
        desk.made.clear()
        with pytest.raises(EndpointError, match=r"batch_0 is not known .*use the key .*or remove .*m\.jsonl"):
            answered(bench, server)


def test_a_batch_that_is_too_old_is_handed_in_anew(tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture) -> None:
    bench = small_bench(tmp_path)
    desk = BatchDesk(lambda n: Script(polls=99 if n == 0 else 0))
    with ProtocolServer(batches=desk) as server:
        interrupted(bench, server, desk)
        (ledger,) = (bench.answer_state / "batches").glob("*.jsonl")
        lines = [json.loads(line) for line in ledger.read_text().splitlines()]
        lines[0]["at"] -= 40 * 86400
        write(ledger, lines)
        assert answered(bench, server).complete
    assert "too old" in caplog.text
    assert [len(made.requests) for made in desk.made] == [3, 3, 3]


def test_an_answer_of_another_address_is_not_used(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    desk = BatchDesk(Script(polls=99))
    with ProtocolServer(batches=desk) as server:
        interrupted(bench, server, desk)
    with ProtocolServer() as other:
        assert answered(bench, other).complete
        assert [len(made.requests) for made in other.batches.made] == [3, 3]


def test_a_limit_on_the_cost_holds_for_batches(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = small_bench(tmp_path)
    price = Price(prompt=0.0, completion=1000.0, batch=0.5)
    with ProtocolServer() as server:
        plan = plan_answers(["m"], bench, AnswerOptions(base_url=server.openai_url, max_tokens=1000))
        plan.models[0].endpoint = replace(plan.models[0].endpoint, price=price)
        # Half a dollar at most for each call: two of three fit, and what they did not use lets more follow.
        with pytest.raises(Interrupted, match=r"stopped before the cost could exceed \$0\.40"):
            run_answers(plan, RunOptions(batch=True, max_cost=0.4))
        assert not server.batches.made
        told: list[float | None] = []
        assert run_answers(plan, RunOptions(batch=True, max_cost=1.2), watch=lambda t: told.append(t.cost)).complete
    assert len(server.batches.made[0].requests) == 2
    assert told[-1] is not None
    assert 0 < told[-1] < 0.2


def test_what_an_earlier_run_has_handed_in_is_collected_whatever_the_limit(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    desk = BatchDesk(lambda n: Script(polls=2 if n == 0 else 0))
    with ProtocolServer(batches=desk) as server:
        interrupted(small_bench(tmp_path, question(2), question(3)), server, desk)
        plan = plan_answers(["m"], small_bench(tmp_path), AnswerOptions(base_url=server.openai_url))
        plan.models[0].endpoint = replace(plan.models[0].endpoint, price=Price(prompt=0.0, completion=1000.0))
        with pytest.raises(Interrupted, match=r"exceed \$0\.01 .*3 of 3 left") as stopped:
            run_answers(plan, RunOptions(batch=True, max_cost=0.01))
    assert stopped.value.exit_code == 1
    assert [len(made.requests) for made in desk.made] == [2]
    assert len(rows(next(bench.answer_state.glob("pending/*.jsonl")))) == 2


def test_the_watcher_sees_what_is_with_the_provider(tmp_path: pathlib.Path) -> None:
    seen: set[int] = set()

    def watch(tally: Tally) -> None:
        seen.add(tally.batched)

    with ProtocolServer(batches=BatchDesk(Script(polls=1))) as server:
        plan = plan_answers(["m"], small_bench(tmp_path), AnswerOptions(base_url=server.openai_url))
        run_answers(plan, BATCH, watch=watch)
    assert {0, 3} <= seen


def test_limits_on_direct_calls_are_said_to_have_no_effect(
    tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING), ProtocolServer() as server:
        answered(small_bench(tmp_path), server, running=RunOptions(batch=True, rpm=10))
    assert "--rpm" in caplog.text


class Killing(ProtocolServer):
    """A server that kills the command at one moment: before a call is worked on, or after, before it is answered."""

    def __init__(self, starter: Starter, at: int = -1, *, after: bool = True) -> None:
        self.desk = BatchDesk(Script(polls=1))
        super().__init__(lambda asked: verdict(asked) if "[[" in asked.texts[-1] else parrot(asked), batches=self.desk)
        self.starter, self.at, self.after = starter, at, after
        self.faults = self._before
        self.command: Command | None = None
        self._started = threading.Event()

    def _before(self, asked: Asked) -> Fault | None:
        if asked.number == self.at and not self.after:
            self._kill()
            return Fault(0, how="drop")
        return None

    def _done(self, asked: Asked, status: int) -> None:
        if asked.number == self.at and self.after:
            self._kill()
        super()._done(asked, status)

    def _kill(self) -> None:
        self._started.wait()
        assert self.command is not None
        os.kill(self.command.pid, signal.SIGKILL)
        self.command.ended.wait()

    def run(self, command: str, *words: str, first: str = "") -> "subprocess.CompletedProcess[str]":
        """Run a command without pauses to its end, however that comes; `first` is what its process does before."""
        self._started.clear()
        address = [] if any("claude" in word for word in words) else ["--base-url", self.openai_url]
        environment = {**os.environ, "ANTHROPIC_BASE_URL": self.anthropic_url}
        words = (*words, *address, "--batch", "-q")
        self.command = self.starter.start(f"harness.cli.{command}", words, environment, first=NO_PAUSES + first)
        self._started.set()
        return self.command.wait()


NO_PAUSES = """
import itertools, os, signal
from harness.old.jsonl import Journal
from harness.old.running import engine
from harness.old.running.batches import courier
from harness.old.running.batches.courier import Pauses

courier.PAUSES = Pauses(first=0.0, settling=0.0)

def dying_after(method, calls):
    taken = itertools.count(1)

    def dying(*arguments):
        done = method(*arguments)
        if next(taken) == calls:
            os.kill(os.getpid(), signal.SIGKILL)
        return done

    return dying
"""
AFTER_LINES = "Journal.append = dying_after(Journal.append, {})"
AFTER_RESULTS = "engine._Engine._ended = dying_after(engine._Engine._ended, {})"

MOMENTS = [
    pytest.param("openai", 1, True, id="openai, file sent"),
    pytest.param("openai", 2, False, id="openai, batch on its way"),
    pytest.param("openai", 2, True, id="openai, batch made"),
    pytest.param("openai", 3, True, id="openai, in progress"),
    pytest.param("openai", 6, False, id="openai, before the results"),
    pytest.param("openai", 8, True, id="openai, second batch made"),
    pytest.param("anthropic", 1, False, id="anthropic, batch on its way"),
    pytest.param("anthropic", 1, True, id="anthropic, batch made"),
    pytest.param("anthropic", 2, True, id="anthropic, in progress"),
    pytest.param("anthropic", 5, True, id="anthropic, results sent"),
    pytest.param("anthropic", 6, True, id="anthropic, second batch made"),
]


def gen_answer(bench: Bench, kind: str) -> list[str]:
    where = ["--bench-name", bench.name, "--data-dir", str(bench.folder.parent)]
    return ["gen_answer", "--model", model_of(kind), *where]


def gen_judgment(bench: Bench) -> list[str]:
    where = ["--bench-name", bench.name, "--data-dir", str(bench.folder.parent)]
    return ["gen_judgment", "--judge-model", "j", "--mode", "pairwise-all", *where]


def pairs(folder: pathlib.Path, *numbers: int) -> Bench:
    """Return a benchmark that two models have answered."""
    bench = small_bench(folder, *(question(n) for n in numbers))
    for model in ("a", "b"):
        write(bench.answer_file(model), [answer(n, model, f"{model}{n}.", f"{model}{n}!") for n in numbers])
    return bench


@pytest.mark.parametrize(("kind", "at", "after"), MOMENTS)
def test_a_run_killed_at_any_moment_pays_for_nothing_twice(
    tmp_path: pathlib.Path, starter: Starter, kind: str, at: int, after: bool
) -> None:
    bench = small_bench(tmp_path)
    with (server := Killing(starter, at, after=after)):
        killed = server.run(*gen_answer(bench, kind))
        before = rows(bench.answer_file(model_of(kind)))
        again = server.run(*gen_answer(bench, kind))
    assert (killed.returncode, again.returncode) == (-signal.SIGKILL, 0), again.stderr
    after_all = rows(bench.answer_file(model_of(kind)))
    assert sorted(row["question_id"] for row in after_all) == [1, 2, 3]
    assert all(row in after_all for row in before)
    assert (len(server.desk.answered), repeated(server.desk.answered)) == (6, 0)
    assert not left(bench)


@pytest.mark.parametrize("at", [3, 5])
def test_killed_judgments_of_pairs_go_on_where_they_were(tmp_path: pathlib.Path, starter: Starter, at: int) -> None:
    bench = pairs(tmp_path, 1, 2, 3)
    with (server := Killing(starter, at)):
        assert server.run(*gen_judgment(bench)).returncode == -signal.SIGKILL
        assert server.run(*gen_judgment(bench)).returncode == 0
    assert len(rows(bench.folder / "model_judgment" / "j_pair.jsonl")) == 6
    assert (len(server.desk.answered), repeated(server.desk.answered)) == (12, 0)


@pytest.mark.parametrize("kind", FILED)
@pytest.mark.parametrize("results", [1, 4])
def test_a_run_killed_among_the_results_takes_the_rest_later(
    tmp_path: pathlib.Path, starter: Starter, kind: str, results: int
) -> None:
    bench = small_bench(tmp_path)
    with (server := Killing(starter)):
        killed = server.run(*gen_answer(bench, kind), first=AFTER_RESULTS.format(results))
        assert killed.returncode == -signal.SIGKILL
        assert server.run(*gen_answer(bench, kind)).returncode == 0
    assert sorted(row["question_id"] for row in rows(bench.answer_file(model_of(kind)))) == [1, 2, 3]
    assert (len(server.desk.answered), repeated(server.desk.answered)) == (6, 0)
    assert not left(bench)


@pytest.mark.parametrize("of", [*FILED, "pairs"])
def test_killed_after_any_line_that_it_writes_a_run_pays_for_nothing_twice_and_leaves_nothing_behind(
    tmp_path: pathlib.Path, starter: Starter, of: str
) -> None:
    killed = -signal.SIGKILL
    for lines in range(1, 50):
        bench = pairs(tmp_path / str(lines), 1)
        words = gen_judgment(bench) if of == "pairs" else gen_answer(bench, of)
        with (server := Killing(starter)):
            killed = server.run(*words, first=AFTER_LINES.format(lines)).returncode
            again = server.run(*words)
        assert again.returncode == 0, f"{lines} lines: {again.stderr}"
        desk, calls = server.desk, 4 if of == "pairs" else 2
        assert (len(desk.answered), repeated(desk.answered)) == (calls, 0), f"{lines} lines"
        path = bench.folder / "model_judgment" / "j_pair.jsonl" if of == "pairs" else bench.answer_file(model_of(of))
        assert [row.get("turn") for row in rows(path)] == ([1, 2] if of == "pairs" else [None]), f"{lines} lines"
        assert not left(bench), f"{lines} lines"
        if killed == 0:
            break
    assert (killed, lines > 9) == (0, True)


@pytest.mark.parametrize("fault", [outage(503), raw(b"[]")], ids=["outage", "another shape"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_that_cannot_be_looked_at_is_left_for_a_later_run(
    tmp_path: pathlib.Path, kind: str, fault: Fault
) -> None:
    told = {"openai": "/v1/batches/", "anthropic": "/v1/messages/batches/", "gemini": "/v1/batches/"}[kind]
    bench, broken = small_bench(tmp_path), True

    def faults(asked: Asked) -> Fault | None:
        return fault if broken and asked.method == "GET" and asked.path.startswith(told) else None

    with ProtocolServer(faults=faults) as server:
        report = answered(bench, server, kind)
        messages = {failure.message for failure in report.tally.failures}
        assert (report.tally.done, len(report.tally.failures), len(messages)) == (0, 3, 1)
        assert "; given up after 0 s (--patience); batch " in (message := messages.pop())
        assert "(3 requests, submitted " in message
        assert message.endswith(" stays with the provider")
        broken = False
        assert answered(bench, server, kind).complete
    assert len(rows(bench.answer_file(model_of(kind)))) == 3
    assert len(server.batches.answered) == 6
    assert not left(bench)
