"""A model that cannot be reached at all ends the run within seconds; one endpoint of a pool that cannot is named."""

import logging
import pathlib

import pytest

from harness.old.errors import EndpointError, TransientError
from harness.old.records import Reply, Request
from harness.old.running.limiter import START
from tests.old.running.test_lanes import Timed, run, texts
from tests.old.small_bench import Scripted


def nowhere() -> Timed:
    """Return an endpoint to which no connection can be made."""
    refused = TransientError("m: cannot connect", kind="no connection", connected=False)
    return Timed(0.01, fails=lambda number: refused)


@pytest.mark.usefixtures("idle_time")
def test_with_many_calls_at_once_too_the_third_refused_connection_ends_the_run(tmp_path: pathlib.Path) -> None:
    model = nowhere()
    with pytest.raises(EndpointError, match=r"cannot connect \(tried 3 times\)"):
        run(tmp_path, {"m": model}, texts(100))
    assert model.begun[-1] < 5.0
    assert len(model.begun) <= 3 * START


@pytest.mark.usefixtures("idle_time")
def test_of_a_pool_nobody_is_waited_for_when_none_can_be_reached(tmp_path: pathlib.Path) -> None:
    one, other = nowhere(), nowhere()
    with pytest.raises(EndpointError, match="cannot connect"):
        run(tmp_path, {"m": [one, other]}, texts(100))
    assert max(one.begun[-1], other.begun[-1]) < 5.0


@pytest.mark.usefixtures("idle_time")
@pytest.mark.parametrize(
    ("latency", "what"),
    [
        pytest.param(0.5, "(tried 3 times)", id="given up before the first reply"),
        pytest.param(0.005, "retried now and then", id="left alone after it"),
    ],
)
def test_an_endpoint_that_only_fails_is_named_once_though_others_do_its_work(
    latency: float, what: str, tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "turnbench"):
        tally, records = run(tmp_path, {"m": [Timed(latency), nowhere()]}, texts(400))
    assert (len(records), tally.failures) == (400, [])
    (line,) = caplog.messages
    assert line.startswith("m: cannot connect")
    assert line.endswith("continuing with the other endpoints of m")
    assert what in line


def test_a_run_that_is_over_waits_for_nobody(tmp_path: pathlib.Path) -> None:
    def once(request: Request) -> Reply:
        if len(model.requests) == 1:
            raise TransientError("m: later", kind="rate limit", retry_after=0.05)
        return Reply("ok")

    model = Scripted(once)
    tally, _ = run(tmp_path, {"m": model}, texts(2))
    assert (tally.done, tally.resumes_at) == (2, None)
