"""The engine: how many calls at once, in which order, what is tried again, and what ends a run."""

import asyncio
import contextlib
import os
import pathlib
import signal
from collections.abc import Awaitable, Callable, Iterator, Sequence

import pytest

from harness.old.errors import ChatError, EndpointError, Interrupted, StorageError, TransientError
from harness.old.records import Message, Reply, Request
from harness.old.running import engine
from harness.old.running.jobs import Course, Job, Steps
from harness.old.running.options import RunOptions
from harness.old.running.pending import Pending
from harness.old.running.retry import RetryPolicy
from harness.old.running.watch import Tally
from tests.old.small_bench import Scripted

Answerer = Callable[[Request], Reply | Awaitable[Reply]]


class Bench:
    """Jobs over one output file, run with one scripted chat model."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.records: list[str] = []
        self.refuse: Exception | None = None
        self.syncs = 0
        self.sync_error: Exception | None = None
        self.model = Scripted(lambda request: Reply("ok"))

    def put(self, record: str) -> bool:
        if self.refuse is not None:
            raise self.refuse
        self.records.append(record)
        return True

    def sync(self) -> None:
        self.syncs += 1
        if self.sync_error is not None:
            raise self.sync_error

    def run(self, answer: Answerer, names: Sequence[str], *, turns: int = 1, parallel: int = 4) -> Tally:
        self.model = Scripted(answer)
        with Pending(self.folder / "m.jsonl", self.folder / "state") as pending:
            courses = (Course(Job(name, "m", lambda n=name: talk(n, turns)), self.put, pending) for name in names)  # type: ignore[misc]
            return engine.run(courses, {"m": self.model}, RunOptions(parallel), planned=len(names), sync=self.sync)

    @property
    def asked(self) -> list[str]:
        return [request.messages[-1].content for request in self.model.requests]


def talk(name: str, turns: int) -> Steps[str]:
    said = name
    for turn in range(1, turns + 1):
        reply = yield Request((Message("user", f"{name}{turn}"),))
        said += f" {reply.text}"
    return said


@pytest.fixture
def bench(tmp_path: pathlib.Path) -> Bench:
    return Bench(tmp_path)


def text_of(request: Request) -> str:
    return request.messages[-1].content


def test_every_job_gets_its_own_replies(bench: Bench) -> None:
    async def late_first(request: Request) -> Reply:
        for _ in range(5 if text_of(request) == "a1" else 1):
            await asyncio.sleep(0)
        return Reply(text_of(request).upper())

    tally = bench.run(late_first, ["a", "b", "c"], turns=2)
    assert sorted(bench.records) == ["a A1 A2", "b B1 B2", "c C1 C2"]
    assert (tally.done, tally.calls, tally.planned, tally.in_flight, tally.failures) == (3, 6, 3, 0, [])
    assert bench.model.closed


@pytest.mark.parametrize("parallel", [1, 2, 7])
def test_the_bound_on_calls_is_reached_and_never_exceeded(bench: Bench, parallel: int) -> None:
    now: set[str] = set()
    most = 0

    async def busy(request: Request) -> Reply:
        nonlocal most
        now.add(text_of(request))
        most = max(most, len(now))
        for _ in range(3):
            await asyncio.sleep(0)
        now.discard(text_of(request))
        return Reply("ok")

    bench.run(busy, [f"j{n}-" for n in range(20)], turns=2, parallel=parallel)
    assert most == parallel


def test_new_jobs_start_before_second_turns(bench: Bench) -> None:
    bench.run(lambda request: Reply("ok"), ["a", "b", "c", "d"], turns=2, parallel=2)
    assert [name[1] for name in bench.asked] == ["1"] * 4 + ["2"] * 4


def test_a_job_that_waits_for_its_next_try_holds_no_slot(bench: Bench) -> None:
    def once_busy(request: Request) -> Reply:
        if text_of(request) == "a1" and bench.asked.count("a1") == 1:
            raise TransientError("busy", kind="rate limit", retry_after=0)
        return Reply("ok")

    tally = bench.run(once_busy, ["a", "b", "c"], parallel=1)
    assert bench.asked == ["a1", "b1", "c1", "a1"]
    assert (tally.retries, tally.done) == (1, 3)


def test_the_retry_policy_is_asked_for_every_wait(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[float | None, int]] = []

    class Policy(RetryPolicy):
        def wait(self, error: TransientError, failed: int, elapsed: float) -> float | None:
            asked.append((error.retry_after, failed))
            return 0.0 if failed < 3 else None

    def busy(request: Request) -> Reply:
        raise TransientError("busy", kind="rate limit", retry_after=0.001)

    monkeypatch.setattr(engine, "RETRY", Policy())
    bench.run(busy, ["a"])
    assert asked == [(0.001, 1), (0.001, 2), (0.001, 3)]


def test_what_fails_for_good_is_listed_and_the_rest_goes_on(bench: Bench) -> None:
    def fails(request: Request) -> Reply:
        if text_of(request) == "a2":
            raise ChatError("m: the conversation is too long", kind="context too long")
        if text_of(request) == "b1":
            raise TransientError("m: overloaded", kind="outage")
        return Reply("ok")

    tally = bench.run(fails, ["a", "b", "c"], turns=2)
    listed = [(failure.key, failure.kind, failure.message) for failure in tally.failures]
    assert listed == [
        ("a", "context too long", "m: the conversation is too long"),
        ("b", "outage", "m: overloaded"),
    ]
    assert bench.records == ["c ok ok"]
    assert bench.asked.count("a2") == 1
    assert bench.asked.count("b1") == 6


def test_a_first_turn_whose_second_failed_is_not_asked_again(bench: Bench) -> None:
    def fails(request: Request) -> Reply:
        if text_of(request) == "a2":
            raise ChatError("no")
        return Reply("ok")

    bench.run(fails, ["a", "b"], turns=2)
    bench.run(lambda request: Reply("ok"), ["a"], turns=2)
    assert bench.asked == ["a2"]
    assert bench.records == ["b ok ok", "a ok ok"]


def test_an_endpoint_that_cannot_work_stops_the_run_at_once(bench: Bench) -> None:
    async def refused(request: Request) -> Reply:
        for _ in range(0 if text_of(request) == "c1" else 1000):
            await asyncio.sleep(0)
        if text_of(request) != "c1":
            return Reply("too late")
        raise EndpointError("the key is refused", kind="key refused")

    with pytest.raises(EndpointError, match="the key is refused"):
        bench.run(refused, [f"{name}" for name in "abcdefgh"], parallel=4)
    assert len(bench.asked) <= 4
    assert bench.model.closed
    assert bench.records == []


def test_replies_in_flight_are_kept_when_an_endpoint_that_worked_gives_up(bench: Bench) -> None:
    async def out_of_credit(request: Request) -> Reply:
        if text_of(request) == "c1":
            raise EndpointError("no credit left", kind="no credit")
        for _ in range(0 if text_of(request) == "a1" else 10):
            await asyncio.sleep(0)
        return Reply("ok")

    with pytest.raises(EndpointError, match="no credit left"):
        bench.run(out_of_credit, list("abcdef"), parallel=2)
    assert bench.records == ["a ok", "b ok"]


def test_a_server_that_never_answers_is_given_up(bench: Bench) -> None:
    def unreachable(request: Request) -> Reply:
        raise TransientError("cannot connect to 127.0.0.1", kind="no connection", connected=False)

    with pytest.raises(EndpointError, match=r"cannot connect to 127\.0\.0\.1 \(tried 3 times\)"):
        bench.run(unreachable, [str(n) for n in range(50)], parallel=2)
    assert len(bench.asked) <= 6


def test_a_server_that_goes_away_later_fails_jobs_not_the_run(bench: Bench) -> None:
    def gone(request: Request) -> Reply:
        if text_of(request) == "a1":
            return Reply("ok")
        raise TransientError("cannot connect", kind="no connection", connected=False)

    tally = bench.run(gone, ["a", "b"], parallel=1)
    assert [failure.key for failure in tally.failures] == ["b"]
    assert bench.records == ["a ok"]


def test_a_record_that_cannot_be_written_ends_the_run(bench: Bench) -> None:
    bench.refuse = StorageError("the disk is full")
    with pytest.raises(StorageError, match="the disk is full"):
        bench.run(lambda request: Reply("ok"), list("abcdef"), parallel=2)
    assert len(bench.asked) <= 2


def test_what_was_written_is_brought_to_the_disk_while_the_run_goes_on(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "SYNC_SECONDS", 0.0)

    async def until_synced(request: Request) -> Reply:
        while not bench.syncs:
            await asyncio.sleep(0)
        return Reply("ok")

    bench.run(until_synced, ["a"])
    assert bench.records == ["a ok"]


def test_a_disk_that_fails_ends_the_run(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "SYNC_SECONDS", 0.0)
    bench.sync_error = StorageError("input/output error")

    async def until_synced(request: Request) -> Reply:
        while not bench.syncs:
            await asyncio.sleep(0)
        return Reply("ok")

    with pytest.raises(StorageError, match="input/output error"):
        bench.run(until_synced, list("abcdef"), parallel=1)
    assert bench.records == ["a ok"]


def test_a_bug_in_a_model_is_not_hidden(bench: Bench) -> None:
    def buggy(request: Request) -> Reply:
        raise ZeroDivisionError("a bug")

    with pytest.raises(ZeroDivisionError, match="a bug"):
        bench.run(buggy, ["a", "b"])


def test_it_runs_where_a_loop_is_running_already(bench: Bench) -> None:
    async def notebook() -> Tally:
        return bench.run(lambda request: Reply("ok"), ["a", "b"], turns=2)

    assert asyncio.run(notebook()).done == 2
    assert sorted(bench.records) == ["a ok ok", "b ok ok"]


def test_an_error_comes_out_of_a_running_loop_too(bench: Bench) -> None:
    def refused(request: Request) -> Reply:
        raise EndpointError("the key is refused")

    async def notebook() -> None:
        bench.run(refused, ["a"])

    with pytest.raises(EndpointError, match="the key is refused"):
        asyncio.run(notebook())


@pytest.fixture
def interrupting(monkeypatch: pytest.MonkeyPatch) -> Callable[[Request], Awaitable[Reply]]:
    """A chat model that sends Ctrl-C with one of its replies, and replies when the engine has received it."""
    received = False
    interrupted = engine._Engine._interrupted

    def followed(self: engine._Engine) -> None:
        nonlocal received
        interrupted(self)
        received = True

    async def reply(request: Request) -> Reply:
        if text_of(request) == "b1":
            os.kill(os.getpid(), signal.SIGINT)
        while not received:
            await asyncio.sleep(0)
        return Reply("ok")

    monkeypatch.setattr(engine._Engine, "_interrupted", followed)
    return reply


def test_one_interrupt_finishes_the_calls_in_flight(
    bench: Bench, interrupting: Callable[[Request], Awaitable[Reply]]
) -> None:
    with pytest.raises(Interrupted, match="run the same command again to continue"):
        bench.run(interrupting, list("abcdefgh"), turns=2, parallel=2)
    assert bench.asked == ["a1", "b1"]
    assert bench.records == []
    bench.run(lambda request: Reply("new"), list("ab"), turns=2)
    assert sorted(bench.asked) == ["a2", "b2"]
    assert sorted(bench.records) == ["a ok new", "b ok new"]


def test_two_interrupts_stop_at_once(bench: Bench) -> None:
    async def impatient(request: Request) -> Reply:
        while True:
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.sleep(0)

    with pytest.raises(Interrupted):
        bench.run(impatient, list("abcd"), parallel=1)
    assert bench.asked == ["a1"]
    assert bench.model.closed


@pytest.fixture
def bare_loop() -> Iterator[asyncio.AbstractEventLoop]:
    """An event loop that leaves Ctrl-C to Python, as in a notebook."""
    with contextlib.closing(asyncio.new_event_loop()) as loop:
        yield loop


def test_an_interrupt_in_a_notebook_finishes_the_calls_in_flight(
    bench: Bench, bare_loop: asyncio.AbstractEventLoop, interrupting: Callable[[Request], Awaitable[Reply]]
) -> None:
    async def notebook() -> None:
        bench.run(interrupting, list("abcdefgh"), turns=2, parallel=2)

    with pytest.raises(Interrupted):
        bare_loop.run_until_complete(notebook())
    assert set(bench.asked) >= {"a1", "b1"}
    done = len(bench.asked)
    bench.run(lambda request: Reply("new"), list("abcdefgh"), turns=2)
    assert len(bench.asked) == 16 - done
    assert len(bench.records) == 8
