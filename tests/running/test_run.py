import asyncio
import pathlib
import re
import signal
import time
from collections.abc import Generator
from typing import Any

import msgspec
import pytest

from harness import running, store
from harness.errors import (
    ChatError,
    EndpointError,
    Interrupted,
    TransientError,
    UsageError,
)
from harness.models import Price
from harness.options import Limits
from harness.running import Job, Outcome, worker
from harness.types import Answer, Choice, Detail, Reply, Request, Sampling
from tests.running.fakes import Model, ask, endpoint, job


@pytest.fixture
def path(tmp_path: pathlib.Path) -> pathlib.Path:
    return tmp_path / "bench" / "model_answer" / "fake.jsonl"


def run(jobs: list[Job], **limits: Any) -> Outcome:
    state = jobs[0].path.parent.parent / ".turnbench"
    return running.run(jobs, Limits(**limits), state=state, total=len(jobs))


def answers(path: pathlib.Path) -> dict[Any, list[str]]:
    return {key[0]: row.choices[0].turns for key, row in store.latest(path, Answer).items()}


def test_every_job_ends_in_one_row(path: pathlib.Path) -> None:
    model = Model()
    outcome = run([job(endpoint(model), path, n, turns=2) for n in range(100)])
    assert outcome.done == 100
    assert answers(path) == {n: [f"to {n}.1", f"to {n}.2"] for n in range(100)}
    assert len(path.read_text().splitlines()) == 100
    assert model.closed


def test_parallel_is_a_limit_that_is_used(path: pathlib.Path) -> None:
    model = Model(seconds=0.002)
    run([job(endpoint(model), path, n) for n in range(40)], parallel=7)
    assert model.most_at_once == 7


def test_the_limit_grows_until_the_endpoint_pushes_back(
    path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "RETRY", worker.Retry(first=0, longest=0))

    def answer(_: Request) -> Any:
        return (
            TransientError("busy", kind="overload", status=503) if model.under_way > 30 else "yes"
        )

    model = Model(answer, ticks=100)
    outcome = run([job(endpoint(model), path, n) for n in range(400)])
    assert outcome.done == 400
    assert 30 < model.most_at_once <= 64
    assert outcome.progress.retries < 100


def test_a_slow_model_does_not_hold_up_another(path: pathlib.Path) -> None:
    slow, fast = Model(seconds=0.2), Model()
    to_slow, to_fast = endpoint(slow, "slow"), endpoint(fast, "fast")
    jobs = [job(to_slow, path, n) for n in range(4)]
    jobs += [job(to_fast, path.with_name("fast.jsonl"), n) for n in range(50)]
    began = time.monotonic()
    outcome = run(jobs, parallel=4)
    assert outcome.done == 54
    assert time.monotonic() - began < 0.6


def test_a_tenth_of_faults_neither_loses_nor_doubles_a_row(path: pathlib.Path) -> None:
    faults = [
        TransientError("limit", kind="rate limit", status=429, retry_after=0.001),
        TransientError("broken", kind="server error", status=500),
        TransientError("cut", kind="malformed reply"),
        TransientError("dropped", kind="no connection"),
    ]
    count = 0

    def answer(request: Request) -> Any:
        nonlocal count
        count += 1
        return faults[count // 10 % 4] if count % 10 == 0 else f"to {request.messages[-1].content}"

    outcome = run([job(endpoint(Model(answer)), path, n) for n in range(1000)])
    assert (outcome.done, outcome.failures) == (1000, [])
    assert len(path.read_text().splitlines()) == len(answers(path)) == 1000


def test_a_request_that_fails_for_good_is_listed_with_its_cause(path: pathlib.Path) -> None:
    def answer(request: Request) -> Any:
        bad = request.messages[-1].content == "3.1"
        return ChatError("400: too long", kind="context too long", status=400) if bad else "yes"

    outcome = run([job(endpoint(Model(answer)), path, n) for n in range(5)])
    assert outcome.done == 4
    assert outcome.causes() == ["question 3: 400: too long"]
    assert outcome.failures[0].status == 400
    left = store.failures(path.parent.parent)
    assert [(failure.where, failure.message) for failure in left] == [
        ("question 3", "400: too long")
    ]
    again = run([job(endpoint(Model()), path, 3)])
    assert again.done == 1
    assert not store.failures(path.parent.parent)


def test_a_suspicious_request_is_tried_six_times(path: pathlib.Path) -> None:
    model = Model(lambda request: TransientError("cut off", kind="malformed reply"))
    jobs = [job(endpoint(model), path, 1), job(endpoint(Model(), "other"), path, 2)]
    outcome = run(jobs)
    assert len(model.requests) == 6
    assert outcome.causes() == ["question 1: cut off (6 tries)"]


def test_an_endpoint_that_refuses_everybody_ends_the_run(path: pathlib.Path) -> None:
    model = Model(lambda request: EndpointError("401: key refused", kind="key refused", status=401))
    with pytest.raises(EndpointError, match="key refused"):
        run([job(endpoint(model), path, n) for n in range(200)])
    assert len(model.requests) < 64


def test_an_outage_is_survived(path: pathlib.Path) -> None:
    began = time.monotonic()

    def answer(request: Request) -> Any:
        down = 0.05 < time.monotonic() - began < 0.5
        return TransientError("refused", kind="no connection") if down else "yes"

    model = Model(answer, seconds=0.01)
    outcome = run([job(endpoint(model), path, n) for n in range(300)], patience=5)
    assert (outcome.done, outcome.failures) == (300, [])
    assert len(model.requests) < 600


def test_an_endpoint_that_only_fails_is_given_up(path: pathlib.Path) -> None:
    model = Model(lambda request: TransientError("503: loading", kind="overload", status=503))
    outcome = run([job(endpoint(model), path, n) for n in range(100)], patience=0.2)
    assert outcome.done == 0
    assert len(outcome.failures) == 100
    given_up = "503: loading; given up after 0.2 s without a reply (--patience)"
    assert {failure.message for failure in outcome.failures} == {given_up}


@pytest.mark.parametrize(
    ("error", "seconds"),
    [
        (TransientError("refused", kind="no connection"), 0.2),
        (TransientError("closed", kind="closed connection"), 0.2),
        (TransientError("loading", kind="overload", status=503), 0.4),
        (TransientError("busy", kind="rate limit", status=429), 0.6),
    ],
    ids=lambda value: getattr(value, "kind", ""),
)
def test_an_endpoint_that_never_answered_is_given_up_soon(
    error: TransientError,
    seconds: float,
    path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(worker, "RETRY", worker.Retry(first=0.01))
    for name, value in (("REACHING", 0.2), ("LOADING", 0.4), ("PATIENCE", 0.6)):
        monkeypatch.setattr(worker, name, value)
    began = time.monotonic()
    outcome = run([job(endpoint(Model(lambda _: error)), path, n) for n in range(2)])
    assert seconds <= time.monotonic() - began < seconds + 0.15
    said = f"{error}; given up after {seconds:g} s without a reply (--patience)"
    assert {failure.message for failure in outcome.failures} == {said}
    assert caplog.messages == [
        f"{error}; tried again until it answers, for {seconds:g} s (--patience)"
    ]


def test_after_a_first_answer_an_endpoint_has_the_whole_patience(
    path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "REACHING", 0.1)
    monkeypatch.setattr(worker, "RETRY", worker.Retry(first=0.01, longest=0.05))
    began = time.monotonic()

    def answer(_: Request) -> Any:
        down = len(model.requests) > 1 and time.monotonic() - began < 0.4
        return TransientError("refused", kind="no connection") if down else "yes"

    model = Model(answer)
    assert run([job(endpoint(model), path, n) for n in range(4)], parallel=1).done == 4


def test_a_wait_longer_than_the_patience_ends_the_calls_and_says_until_when(
    path: pathlib.Path,
) -> None:
    error = TransientError("day limit", kind="rate limit", status=429, retry_after=2679)
    model = Model(lambda _: error)
    began = time.monotonic()
    outcome = run([job(endpoint(model), path, n) for n in range(50)], parallel=1)
    assert time.monotonic() - began < 2
    assert len(model.requests) == 1
    said = r"day limit; asks to wait until [-\d: ]+; given up: that is 2,679 s, and --patience "
    assert re.fullmatch(said + "allows 600 s more", outcome.failures[-1].message)


def test_what_would_end_a_run_is_waited_for_once_there_was_a_reply(path: pathlib.Path) -> None:
    def answer(_: Request) -> Any:
        late = 5 < len(model.requests) < 9
        return TransientError("401: refused", kind="key refused", status=401) if late else "yes"

    model = Model(answer)
    assert run([job(endpoint(model), path, n) for n in range(30)], parallel=2).done == 30


def test_a_key_that_is_withdrawn_ends_the_run_soon(
    path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "RETRY", worker.Retry(first=0.01))
    monkeypatch.setattr(worker, "REACHING", 0.2)
    refused = TransientError("401: refused", kind="key refused", status=401)
    model = Model(lambda _: refused if len(model.requests) > 9 else "yes")
    with pytest.raises(EndpointError, match="401: refused; given up"):
        run([job(endpoint(model), path, n) for n in range(30)], parallel=2)


def test_an_endpoint_that_refuses_five_requests_alike_and_answers_none_ends_the_run(
    path: pathlib.Path,
) -> None:
    model = Model(lambda _: ChatError("400: Server is pinned to x", kind="bad request"))
    with pytest.raises(EndpointError, match="pinned to x; so were 5 different requests") as error:
        run([job(endpoint(model), path, n) for n in range(50)], parallel=1)
    assert error.value.kind == "refuses all"
    assert len(model.requests) == 5


def test_a_call_that_timed_out_costs_its_prompt(path: pathlib.Path) -> None:
    failures = iter([TransientError("late", kind="timeout")])
    model = Model(lambda _: next(failures, "yes"))
    outcome = run([job(endpoint(model, price=Price(1e6, 0.0)), path, 1)])
    assert outcome.cost > 10  # the reply's own ten tokens, and those of the prompt that was read


def test_a_server_on_this_machine_gets_two_calls_at_first(path: pathlib.Path) -> None:
    seen: list[int] = []

    def answer(_: Request) -> str:
        seen.append(model.under_way)
        return "yes"

    model = Model(answer, ticks=5)
    to = endpoint(model, base_url="http://localhost:8000/v1")
    run([job(to, path, n) for n in range(60)])
    assert max(seen[:2]) == 2
    assert 4 < max(seen) <= 60


def test_replies_of_an_incomplete_row_are_used_by_the_next_run(path: pathlib.Path) -> None:
    def answer(request: Request) -> Any:
        text = request.messages[-1].content
        return ChatError("refused") if text.endswith(".2") else f"first of {text}"

    first = run([job(endpoint(Model(answer)), path, n, turns=2) for n in range(3)])
    assert len(first.failures) == 3
    model = Model()
    run([job(endpoint(model), path, n, turns=2) for n in range(3)])
    assert sorted(model.asked) == ["0.2", "1.2", "2.2"]
    assert answers(path)[1] == ["first of 1.1", "to 1.2"]
    assert not list((path.parent.parent / ".turnbench").rglob("*.pending"))


def test_the_cache_answers_equal_requests_of_another_run(
    path: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    cache = tmp_path / "cache.sqlite"
    run([job(endpoint(Model()), path, n) for n in range(5)], cache=str(cache))
    model = Model()
    other = path.with_name("other.jsonl")
    outcome = run([job(endpoint(model), other, n) for n in range(6)], cache=str(cache))
    assert model.asked == ["5.1"]
    assert outcome.progress.from_cache == 5
    assert answers(other)[2] == ["to 2.1"]


@pytest.mark.parametrize("reason", ["length", "content_filter"])
def test_the_cache_keeps_no_reply_that_is_cut_or_refused(
    path: pathlib.Path, tmp_path: pathlib.Path, reason: Any
) -> None:
    model = Model(lambda _: Reply(text="part", detail=Detail(finish_reason=reason)))
    for name in ("one.jsonl", "two.jsonl"):
        jobs = [job(endpoint(model), path.with_name(name), 1)]
        run(jobs, cache=str(tmp_path / "cache.sqlite"))
    assert model.asked == ["1.1", "1.1"]


def test_a_job_that_asks_the_same_twice_gets_two_completions(
    path: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    def steps() -> Generator[Request, Reply, Answer]:
        texts = [(yield ask("same")).text, (yield ask("same")).text]
        return Answer(question_id=1, choices=[Choice(turns=texts)])

    numbers = iter("ab")
    jobs = [Job("j", "j", endpoint(Model(lambda _: next(numbers))), path, Answer, steps)]
    for _ in range(2):
        run(jobs, cache=str(tmp_path / "cache.sqlite"))
        assert answers(path)[1] == ["a", "b"]


def test_the_cost_never_exceeds_what_it_may(path: pathlib.Path) -> None:
    # A call costs 10 * 100 + 5 * 1,800 millionths: a cent. Its 4,096 tokens could cost $7.38.
    to = endpoint(Model(seconds=0.001), price=Price(100.0, 1800.0))
    outcome = run([job(to, path, n) for n in range(50)], max_cost=7.5)
    assert outcome.cost <= 7.5
    assert 5 < outcome.done < 50
    assert outcome.stopped is not None
    assert outcome.stopped.startswith("stopped before the cost could exceed $7.50 (so far $0.")


def test_one_job_warms_the_cache_for_those_that_begin_alike(path: pathlib.Path) -> None:
    seen: list[list[str]] = []

    def answer(request: Request) -> Any:
        seen.append(list(model.asked))
        return "yes"

    model = Model(answer, seconds=0.01)
    to = endpoint(model)
    run([job(to, path, n, first=f"prompt {n % 2}") for n in range(10)])
    assert sorted(seen[0]) == ["0.1", "1.1"]
    assert len(model.asked) == 10


def test_ctrl_c_lets_the_calls_under_way_end(path: pathlib.Path) -> None:
    def answer(_: Request) -> str:
        if len(model.requests) == 10:
            signal.raise_signal(signal.SIGINT)
        return "yes"

    model = Model(answer, ticks=20)
    with pytest.raises(Interrupted, match=r"stopped, \d+ of 400 left; what was done is kept"):
        run([job(endpoint(model), path, n) for n in range(400)], parallel=4)
    assert 10 <= len(model.requests) < 40
    assert len(path.read_text().splitlines()) == len(model.requests)


def test_calls_a_minute_are_spread_evenly(path: pathlib.Path) -> None:
    times: list[float] = []

    def answer(_: Request) -> str:
        times.append(time.monotonic())
        return "yes"

    began = time.monotonic()
    run([job(endpoint(Model(answer)), path, n) for n in range(6)], rpm=1200)
    assert times[-1] - began > 0.24


def test_members_of_a_pool_share_the_calls(path: pathlib.Path) -> None:
    one, two = Model(seconds=0.005), Model(lambda _: EndpointError("no credit", kind="no credit"))
    second = endpoint(two, "two")
    outcome = run([job(endpoint(one, pool=(second,)), path, n) for n in range(20)])
    assert outcome.done == 20
    assert two.requests


def test_a_cut_reply_is_asked_again_with_a_larger_limit(path: pathlib.Path) -> None:
    def answer(request: Request) -> Any:
        whole = (request.sampling.max_tokens or 0) >= 20
        reason = "stop" if whole else "length"
        return Reply(text=reason, detail=Detail(finish_reason=reason))  # type: ignore[arg-type]

    def steps() -> Generator[Request, Reply, Answer]:
        request = msgspec.structs.replace(ask("x"), sampling=Sampling(max_tokens=10))
        replies = yield from running.uncut(request, 2.0)
        return Answer(
            question_id=1,
            choices=[Choice(turns=[r.text for r in replies], details=[replies[-1].detail])],
        )

    run([Job("j", "j", endpoint(Model(answer)), path, Answer, steps)])
    row = next(iter(store.latest(path, Answer).values()))
    assert row.choices[0].turns == ["length", "stop"]
    assert row.choices[0].details[0].note == "asked again: the first reply was cut at 10 tokens"


def test_a_model_that_cannot_be_opened_ends_the_run_and_keeps_what_is_done(
    path: pathlib.Path,
) -> None:
    good = endpoint(Model(), price=Price(0, 0))
    dear = endpoint(Model(), "dear")  # its price is unknown
    jobs = [job(good, path, n) for n in range(30)]
    with pytest.raises(UsageError, match="price of dear"):
        run([*jobs, job(dear, path.with_name("dear.jsonl"), 1)], max_cost=1.0)
    assert len(answers(path)) > 0


def test_a_run_works_where_a_loop_is_running_already(path: pathlib.Path) -> None:
    async def notebook() -> Outcome:
        return run([job(endpoint(Model()), path, n) for n in range(3)])

    assert asyncio.run(notebook()).done == 3
