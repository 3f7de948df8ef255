"""Outages: survived as long as there is patience, told of, and not waited for when nothing is left.

The time is the idle loop's: hours are over at once.
"""

import asyncio
import logging
import pathlib
import random
from collections.abc import Callable

import pytest

from harness.old.chat.standing import Standing
from harness.old.errors import EndpointError, TransientError
from harness.old.records import Reply, Request
from harness.old.running import engine
from harness.old.running.options import RunOptions
from harness.old.running.retry import RetryPolicy
from harness.old.running.watch import Tally
from tests.old.running.test_lanes import run, texts
from tests.old.small_bench import Scripted

pytestmark = pytest.mark.usefixtures("idle_time")
Fails = Callable[[float, int], TransientError | None]


@pytest.fixture(autouse=True)
def _usual_policy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "RETRY", RetryPolicy())


def endpoint(fails: Fails, latency: float = 1.0) -> Scripted:
    """Return a chat model that fails as a function of the time and of the number of the call says."""

    async def reply(request: Request) -> Reply:
        number = len(model.requests)
        await asyncio.sleep(latency)
        error = fails(asyncio.get_running_loop().time(), number)
        if error is not None:
            raise error
        return Reply("ok")

    model = Scripted(reply)
    return model


def failure(kind: str) -> TransientError:
    return TransientError("m: nothing", kind=kind, connected=kind != "no connection")


class Watched:
    """Remembers when a run ended and what it said of an outage."""

    def __init__(self) -> None:
        self.now = 0.0
        self.silences: list[float] = []

    def __call__(self, tally: Tally) -> None:
        try:
            self.now = asyncio.get_running_loop().time()
        except RuntimeError:
            return
        if tally.failing_since is not None:
            assert tally.given_up_at is not None
            self.silences.append(self.now - tally.failing_since)


@pytest.mark.parametrize("kind", ["overload", "outage", "no connection", "server error", "timeout"])
@pytest.mark.parametrize("parallel", [4, 64, None])
@pytest.mark.parametrize("seconds", [95.0, 590.0])
def test_an_outage_in_the_middle_is_survived(
    seconds: float, parallel: int | None, kind: str, tmp_path: pathlib.Path
) -> None:
    watch = Watched()
    model = endpoint(lambda now, number: failure(kind) if 3 < now < 3 + seconds else None)
    tally, records = run(tmp_path, {"m": model}, texts(400), RunOptions(parallel), watch)
    assert (len(records), tally.failures) == (400, [])
    assert max(watch.silences) > seconds - 60
    assert tally.failing_since is None


@pytest.mark.parametrize("kind", ["overload", "outage", "no connection"])
def test_the_last_job_survives_one_too(kind: str, tmp_path: pathlib.Path) -> None:
    model = endpoint(lambda now, number: failure(kind) if 3 < now < 300 else None, latency=2.0)
    tally, records = run(tmp_path, {"m": model}, texts(3), RunOptions(1))
    assert (len(records), tally.failures) == (3, [])


@pytest.mark.parametrize("share", [2, 3, 5])
def test_an_endpoint_that_flaps_is_worked_with(share: int, tmp_path: pathlib.Path) -> None:
    random.seed(share)  # where four of five calls fail, in one run of 25 a call has bad luck for ten minutes
    model = endpoint(lambda now, number: None if number % share == 0 else failure("overload"))
    tally, records = run(tmp_path, {"m": model}, texts(400))
    assert (len(records), tally.failures) == (400, [])


def test_an_endpoint_that_is_up_and_down_by_turns_is_worked_with(tmp_path: pathlib.Path) -> None:
    model = endpoint(lambda now, number: failure("outage") if now % 60 > 20 else None)
    tally, records = run(tmp_path, {"m": model}, texts(400))
    assert (len(records), tally.failures) == (400, [])


@pytest.mark.parametrize(("count", "patience"), [(1, 600.0), (400, 30.0), (400, 600.0)])
@pytest.mark.parametrize("kind", ["overload", "outage", "no connection"])
def test_patience_ends_and_the_run_with_it_at_once(
    kind: str, count: int, patience: float, tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture
) -> None:
    watch = Watched()
    model = endpoint(lambda now, number: failure(kind) if now > 1.5 else None)
    with caplog.at_level(logging.WARNING, "turnbench"):
        tally, _ = run(tmp_path, {"m": model}, texts(count + 1), RunOptions(1, patience=patience), watch)
    assert len(tally.failures) >= count
    if count > 1:
        assert all(f"given up after {patience:g} s" in failed.message for failed in tally.failures)
    assert patience <= watch.now <= patience + 65
    (warning,) = caplog.messages
    assert "(--patience)" in warning


def test_a_request_that_alone_fails_is_not_waited_for(tmp_path: pathlib.Path) -> None:
    async def reply(request: Request) -> Reply:
        await asyncio.sleep(1)
        watch.now = asyncio.get_running_loop().time()
        if request.messages[-1].content == "t99":
            raise failure("server error")
        return Reply("ok")

    watch = Watched()
    tally, records = run(tmp_path, {"m": Scripted(reply)}, texts(100), RunOptions(10), watch)
    assert (len(records), len(tally.failures)) == (99, 1)
    assert watch.now < 60


@pytest.mark.parametrize("parallel", [1, 16])
def test_an_endpoint_that_never_answers_is_given_up_within_minutes(parallel: int, tmp_path: pathlib.Path) -> None:
    model = endpoint(lambda now, number: failure("timeout"), latency=240.0)
    watch = Watched()
    with pytest.raises(EndpointError, match="without an answer"):
        run(tmp_path, {"m": model}, texts(100), RunOptions(parallel), watch)
    assert watch.now <= (500 if parallel == 1 else 250)


def test_an_endpoint_that_falls_silent_is_given_up_too(tmp_path: pathlib.Path) -> None:
    async def reply(request: Request) -> Reply:
        if len(model.requests) > 5:
            await asyncio.sleep(240)
            raise failure("timeout")
        return Reply("ok")

    model, watch = Scripted(reply), Watched()
    tally, _ = run(tmp_path, {"m": model}, texts(100), RunOptions(2), watch)
    assert len(tally.failures) == 95
    assert watch.now <= 20 * 60


@pytest.mark.parametrize("seconds", [1e9, 1e308])
def test_a_wish_for_ages_is_not_obeyed(
    seconds: float, tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture
) -> None:
    watch = Watched()
    wish = TransientError("m: 429", kind="rate limit", retry_after=seconds)
    model = endpoint(lambda now, number: wish if number > 20 else None)
    with caplog.at_level(logging.WARNING, "turnbench"):
        tally, records = run(tmp_path, {"m": model}, texts(100), RunOptions(max_wait=100), watch)
    assert len(records) + len(tally.failures) == 100
    assert 600 <= watch.now <= 900
    assert "asks to wait for 1" in caplog.messages[0]
    assert "called again after 100 s (--max-wait)" in caplog.messages[0]


def test_a_wish_within_the_limit_is_obeyed_and_costs_no_patience(tmp_path: pathlib.Path) -> None:
    wish = TransientError("m: 429", kind="rate limit", retry_after=500.0)
    model = endpoint(lambda now, number: wish if 2 < now < 3000 else None)
    tally, records = run(tmp_path, {"m": model}, texts(40), RunOptions(4))
    assert (len(records), tally.failures) == (40, [])


def test_a_reset_in_a_header_is_waited_for_no_longer(tmp_path: pathlib.Path) -> None:
    async def reply(request: Request) -> Reply:
        standing.note(
            [(b"x-ratelimit-remaining-requests", b"0"), (b"x-ratelimit-reset-requests", b"99999999d")],
            asyncio.get_running_loop().time(),
        )
        watch.now = asyncio.get_running_loop().time()
        return Reply("ok")

    watch, model, standing = Watched(), Scripted(reply), Standing()
    model.standing = standing  # type: ignore[attr-defined]
    run(tmp_path, {"m": model}, texts(3), RunOptions(1, max_wait=50))
    assert watch.now == pytest.approx(100, abs=1)
