"""Endpoints behind the engine: how each is spared, replaced, and given up.

Where time matters, the chat models live in this process and the time is the idle loop's (see `conftest.py`): exact, and
over at once. Where servers are called, only order and counts are asserted.
"""

import asyncio
import dataclasses
import logging
import pathlib
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from harness.old.chat import ChatModel, Endpoint, open_pool, resolve
from harness.old.chat.endpoint import Limits
from harness.old.chat.price import Price
from harness.old.chat.standing import Standing
from harness.old.errors import EndpointError, Interrupted, TransientError, UsageError
from harness.old.judging.run import JudgeOptions, plan_judgments, run_judgments
from harness.old.records import Message, Reply, Request, Sampling, Usage
from harness.old.running import engine
from harness.old.running.jobs import Course, Job, Steps
from harness.old.running.limiter import START
from harness.old.running.options import RunOptions
from harness.old.running.pending import Pending
from harness.old.running.rates import MINUTE
from harness.old.running.retry import RetryPolicy
from harness.old.running.watch import Tally, Watcher, nobody
from tests.old.protocol_server import (
    Asked,
    Fault,
    ProtocolServer,
    cut_json,
    dropped,
    error_in_200,
    html_page,
    no_choices,
    outage,
    overloaded,
    rate_limited,
    seeded,
    slow_drip,
    verdict,
)
from tests.old.small_bench import Scripted, answer, question, rows, small_bench, write


class Records:
    """Where the records of a run go."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def put(self, record: str) -> bool:
        self.texts.append(record)
        return True


def said(name: str) -> Steps[str]:
    reply = yield Request((Message("user", name),), Sampling(max_tokens=10))
    return reply.text


Models = dict[str, ChatModel | Sequence[ChatModel]]


def run(
    folder: pathlib.Path,
    models: Models,
    names: Sequence[tuple[str, str]],
    options: RunOptions = RunOptions(),
    watch: Watcher = nobody,
) -> tuple[Tally, list[str]]:
    """Run one job for each (model, text), and return the counts and the records."""
    records = Records()
    with Pending(folder / "m.jsonl", folder / "state") as pending:
        courses: list[Course[Any]] = [
            Course(Job(f"{model} {name}", model, lambda n=name: said(n)), records.put, pending)  # type: ignore[misc]
            for model, name in names
        ]
        return engine.run(courses, models, options, planned=len(names), watch=watch), records.texts


def texts(count: int, model: str = "m") -> list[tuple[str, str]]:
    return [(model, f"t{number}") for number in range(count)]


def pool_of(*servers: ProtocolServer, limits: Limits | None = None) -> Sequence[ChatModel]:
    """Return the chat models of one pool over these servers."""
    first, *more = (
        dataclasses.replace(resolve("m", base_url=server.openai_url, environ={}), limits=limits or Limits())
        for server in servers
    )
    return open_pool(dataclasses.replace(first, pool=tuple(more)))


class Timed(Scripted):
    """An endpoint that takes its time, and remembers when it was called and how many calls it had at once."""

    def __init__(
        self,
        latency: float = 0.0,
        *,
        fails: Callable[[int], Exception | None] = lambda number: None,
        limits: Limits | None = None,
        usage: Usage | None = None,
    ) -> None:
        super().__init__(self._answer)
        self.endpoint = Endpoint("m", "openai", "m", limits=limits or Limits())
        self.begun: list[float] = []
        self.most_at_once = self._at_once = 0
        self._latency, self._fails, self._usage = latency, fails, usage or Usage()

    async def _answer(self, request: Request) -> Reply:
        number = len(self.begun)
        self.begun.append(now())
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        await asyncio.sleep(self._latency)
        self._at_once -= 1
        error = self._fails(number)
        if error is not None:
            raise error
        return Reply("ok", usage=self._usage)


def now() -> float:
    return asyncio.get_running_loop().time()


# One endpoint


@pytest.mark.usefixtures("idle_time")
def test_found_out_by_itself_the_number_of_calls_grows_while_the_endpoint_keeps_up(tmp_path: pathlib.Path) -> None:
    model = Timed(0.3)
    tally, records = run(tmp_path, {"m": model}, texts(200))
    assert len(records) == 200
    assert model.most_at_once > 2 * START
    assert tally.limit is not None
    assert tally.limit > 2 * START


def test_a_429_halves_the_calls_at_once(tmp_path: pathlib.Path) -> None:
    limits: list[int | None] = []

    def seen(tally: Tally) -> None:
        limits.append(tally.limit)

    with ProtocolServer(latency=0.01, faults={3: rate_limited(0)}) as server:
        run(tmp_path, {"m": pool_of(server)}, texts(12), watch=seen)
    assert min(limit for limit in limits if limit is not None) <= 8
    assert server.statuses == {200: 12, 429: 1}


@pytest.mark.usefixtures("idle_time")
@pytest.mark.parametrize("parallel", [None, 8])
def test_retry_after_holds_for_all_calls_to_the_endpoint(tmp_path: pathlib.Path, parallel: int | None) -> None:
    told: list[float] = []

    def limited(number: int) -> Exception | None:
        if number != 20:
            return None
        told.append(now())
        return TransientError("come later", kind="rate limit", retry_after=40.0)

    model = Timed(0.5, fails=limited)
    _, records = run(tmp_path, {"m": model}, texts(100), RunOptions(parallel))
    assert (len(records), len(model.begun), len(told)) == (100, 101, 1)
    after = [begun - told[0] for begun in model.begun if begun > told[0]]
    assert min(after) == pytest.approx(40.0)
    assert len(after) > 20


@pytest.mark.usefixtures("idle_time")
def test_nothing_is_begun_when_the_headers_say_that_nothing_is_left(tmp_path: pathlib.Path) -> None:
    model = Timed(fails=lambda number: note(number))
    model.standing = Standing()  # type: ignore[attr-defined]

    def note(number: int) -> None:
        left = str(max(0, 19 - number)).encode()
        headers = [(b"x-ratelimit-remaining-requests", left), (b"x-ratelimit-reset-requests", b"50s")]
        if number < 20:
            model.standing.note(headers, now())  # type: ignore[attr-defined]

    _, records = run(tmp_path, {"m": model}, texts(40), RunOptions(4))
    assert len(records) == len(model.begun) == 40
    assert model.begun[19] == 0.0
    assert model.begun[20] == pytest.approx(50.0)


@pytest.mark.usefixtures("idle_time")
@pytest.mark.parametrize(
    ("options", "limits"),
    [
        pytest.param(RunOptions(4, rpm=5), Limits(), id="the run's"),
        pytest.param(RunOptions(4), Limits(rpm=5), id="the endpoint's"),
        pytest.param(RunOptions(4, tpm=55), Limits(), id="tokens"),
    ],
)
def test_no_minute_has_more_calls_than_allowed(tmp_path: pathlib.Path, options: RunOptions, limits: Limits) -> None:
    model = Timed(limits=limits, usage=Usage(prompt_tokens=1, completion_tokens=10))
    _, records = run(tmp_path, {"m": model}, texts(12), options)
    assert len(records) == len(model.begun) == 12
    assert model.begun[4] == 0.0
    assert min(later - earlier for earlier, later in zip(model.begun, model.begun[5:], strict=False)) >= MINUTE
    assert model.begun[-1] < 2.1 * MINUTE


@pytest.mark.usefixtures("idle_time")
def test_an_endpoints_own_bound_on_calls_at_once_holds(tmp_path: pathlib.Path) -> None:
    model = Timed(0.01, limits=Limits(parallel=3))
    run(tmp_path, {"m": model}, texts(40))
    assert model.most_at_once == 3


def test_an_endpoint_that_only_fails_is_given_up_with_one_cause_and_others_go_on(tmp_path: pathlib.Path) -> None:
    with (
        ProtocolServer(faults=lambda asked: outage() if asked.number >= 5 else None) as broken,
        ProtocolServer() as good,
    ):
        models: Models = {"m": pool_of(broken), "n": pool_of(good)}
        jobs = [job for number in range(150) for job in (("m", f"t{number}"), ("n", f"t{number}"))]
        tally, records = run(tmp_path, models, jobs)
    assert len(records) + len(tally.failures) == 300
    assert tally.done == len(records) >= 155
    assert {failure.key[0] for failure in tally.failures} == {"m"}
    causes = {failure.message for failure in tally.failures if "given up" in failure.message}
    assert len(causes) == 1
    assert "answered 500" in causes.pop()
    assert len(broken.requests) < 150


def test_an_endpoint_that_comes_back_loses_nothing(tmp_path: pathlib.Path) -> None:
    with ProtocolServer(faults=lambda asked: outage() if 5 <= asked.number < 18 else None) as server:
        tally, records = run(tmp_path, {"m": pool_of(server)}, texts(100))
    assert (len(records), tally.failures) == (100, [])


# Several endpoints


@pytest.mark.usefixtures("idle_time")
def test_calls_are_shared_by_a_pool(tmp_path: pathlib.Path) -> None:
    one, two = Timed(0.5), Timed(0.5)
    _, records = run(tmp_path, {"m": (one, two)}, texts(100))
    assert len(records) == 100
    assert abs(len(one.begun) - len(two.begun)) <= 2


def test_the_others_of_a_pool_take_over_from_one_that_fails(tmp_path: pathlib.Path) -> None:
    with ProtocolServer(faults=lambda asked: outage()) as broken, ProtocolServer() as good:
        tally, records = run(tmp_path, {"m": pool_of(broken, good)}, texts(60))
    assert (len(records), tally.failures) == (60, [])
    assert len({asked.digest for asked in good.requests}) == 60


@pytest.mark.usefixtures("idle_time")
def test_a_rate_limit_of_one_endpoint_does_not_hold_up_the_others(tmp_path: pathlib.Path) -> None:
    busy = Timed(0.1, fails=lambda number: TransientError("busy", kind="rate limit", retry_after=600.0))
    good = Timed(0.1)
    _, records = run(tmp_path, {"m": (busy, good)}, texts(100))
    assert (len(records), len(good.begun)) == (100, 100)
    assert good.begun[-1] < 10
    assert len(busy.begun) <= START


def test_a_refused_key_takes_one_endpoint_out_and_not_the_run(
    tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture
) -> None:
    with ProtocolServer(api_key="sk-right") as locked, ProtocolServer() as good, caplog.at_level(logging.WARNING):
        tally, records = run(tmp_path, {"m": pool_of(locked, good)}, texts(40))
    assert (len(records), tally.failures) == (40, [])
    warnings = [record.getMessage() for record in caplog.records]
    assert len(warnings) == 1
    assert "answered 401" in warnings[0]
    assert "continuing with the other endpoints of m" in warnings[0]


def test_a_pool_of_refused_keys_stops_the_run(tmp_path: pathlib.Path) -> None:
    with (
        ProtocolServer(api_key="a") as one,
        ProtocolServer(api_key="b") as two,
        pytest.raises(EndpointError, match="answered 401"),
    ):
        run(tmp_path, {"m": pool_of(one, two)}, texts(40))


# Cost


def priced(reply: Callable[[Request], Reply], price: Price | None) -> Scripted:
    model = Scripted(reply)
    model.endpoint = Endpoint("m", "openai", "m", price=price)  # type: ignore[attr-defined]
    return model


def test_a_run_stops_before_it_could_exceed_its_cost(tmp_path: pathlib.Path) -> None:
    reply = Reply("ok", usage=Usage(prompt_tokens=10, completion_tokens=10))
    model = priced(lambda request: reply, Price(prompt=0.0, completion=1e6))
    with pytest.raises(Interrupted, match=r"could exceed \$55\.00 \(so far \$50\.00\), 15 of 20 left; .* --max-cost"):
        run(tmp_path, {"m": model}, texts(20), RunOptions(4, max_cost=55.0))
    assert len(model.requests) == 5


def test_a_call_that_may_fit_later_waits_for_those_in_flight(tmp_path: pathlib.Path) -> None:
    reply = Reply("ok", usage=Usage(prompt_tokens=10, completion_tokens=1))
    model = priced(lambda request: reply, Price(prompt=0.0, completion=1e6))
    tally, records = run(tmp_path, {"m": model}, texts(20), RunOptions(4, max_cost=30.0))
    assert (len(records), tally.cost) == (20, 20.0)


def test_a_limit_on_the_cost_needs_prices(tmp_path: pathlib.Path) -> None:
    model = priced(lambda request: Reply("ok"), None)
    with pytest.raises(UsageError, match="needs the price of m"):
        run(tmp_path, {"m": model}, texts(1), RunOptions(max_cost=1.0))
    assert model.requests == []


# Everything at once


@pytest.mark.slow
def test_with_a_tenth_of_calls_failing_in_all_ways_nothing_is_lost_or_doubled(tmp_path: pathlib.Path) -> None:
    faults = (
        rate_limited(0),
        outage(500),
        outage(502),
        outage(503),
        overloaded(),
        Fault(408, "Too slow."),
        Fault(409, "Conflict."),
        dropped(),
        cut_json(),
        no_choices(),
        error_in_200(),
        html_page(),
    )
    at_random = seeded(0.1, faults, seed=3, tries=2)

    def failing(asked: Asked) -> Fault | None:
        return slow_drip(0.2) if asked.number in {7, 700, 1400} else at_random(asked)  # each takes the whole timeout

    bench = small_bench(tmp_path, *(question(number) for number in range(1, 1001)))
    said = [answer(number, "a", f"{number} one", f"{number} two") for number in range(1, 1001)]
    write(bench.answer_file("a"), said)
    with ProtocolServer(verdict, faults=failing) as server:
        made = plan_judgments(["j"], bench, "single", JudgeOptions(base_url=server.openai_url, timeout=2.0))
        report = run_judgments(made)
    stored = rows(bench.folder / "model_judgment" / "j_single.jsonl")
    assert report.complete
    assert len(stored) == len({(row["question_id"], row["turn"]) for row in stored}) == 2000
    assert all(row["judgment"].endswith(f"Rating: [[{row['score']}]]") for row in stored)
    good = [asked for asked in server.requests if asked.status == 200]
    assert len(server.requests) == 2000 + report.tally.retries
    assert report.tally.retries > 150
    assert len({asked.digest for asked in good}) == 2000


def test_jobs_of_several_models_wait_aside_no_further_than_allowed(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.old.running.queue.AHEAD", 3)
    go = asyncio.Event()

    async def slow(request: Request) -> Reply:
        await go.wait()
        return Reply("slow")

    def quick(request: Request) -> Reply:
        if len(fast.requests) == 2:
            go.set()
        return Reply("quick")

    fast = Scripted(quick)
    jobs = [("s", f"s{n}") for n in range(12)] + [("f", "f1"), ("f", "f2")]
    late = jobs[:8] + jobs[12:] + jobs[8:12]
    _, records = run(tmp_path, {"s": Scripted(slow), "f": fast}, late)
    assert sorted(records) == ["quick"] * 2 + ["slow"] * 12


def test_a_transient_failure_that_says_when_to_come_again_costs_no_try_of_the_breaker(tmp_path: pathlib.Path) -> None:
    def busy(request: Request) -> Reply:
        if len(model.requests) <= 25:
            raise TransientError("busy", kind="rate limit", retry_after=0.0)
        return Reply("ok")

    model = Scripted(busy)
    tally, records = run(tmp_path, {"m": model}, texts(1), RunOptions(1))
    assert (len(records), tally.failures, tally.retries) == (1, [], 25)


@pytest.mark.parametrize("fault", [outage(503), outage(500), outage(502), dropped(), cut_json()], ids=str)
def test_servers_that_fail_hundreds_of_times_in_a_row_are_waited_for(
    fault: Fault, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "RETRY", RetryPolicy(first=0.0, longest=0.0, patience=600.0))
    with ProtocolServer(faults=lambda asked: fault if 20 <= asked.number < 320 else None) as server:
        tally, records = run(tmp_path, {"m": pool_of(server)}, texts(100), RunOptions(8))
    assert (len(records), tally.failures) == (100, [])
    assert len(server.requests) == 400


@pytest.mark.parametrize("parallel", [1, 16])
def test_a_server_that_never_answers_ends_the_run(parallel: int, tmp_path: pathlib.Path) -> None:
    async def never(asked: Asked) -> str:
        await asyncio.Event().wait()
        return "unreached"

    with ProtocolServer(never) as server:
        endpoint = dataclasses.replace(resolve("m", base_url=server.openai_url, environ={}), silence=0.02)
        with pytest.raises(EndpointError, match=r"sent nothing for 0\.02 s.* \(2 calls without an answer\)"):
            run(tmp_path, {"m": open_pool(endpoint)}, texts(100), RunOptions(parallel))
        assert len(server.requests) <= max(2, parallel)
