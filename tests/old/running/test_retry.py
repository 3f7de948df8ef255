"""Which failures are tried again, and after which wait."""

import pytest

from harness.old.errors import TransientError
from harness.old.running.options import RunOptions
from harness.old.running.retry import RetryPolicy, policy_of

POLICY = RetryPolicy(tries=6, first=0.5, longest=4.0)


@pytest.mark.parametrize(
    ("failed", "least", "most"),
    [
        pytest.param(1, 0.25, 0.5, id="the first wait"),
        pytest.param(2, 0.5, 1.0, id="twice as long"),
        pytest.param(3, 1.0, 2.0, id="twice as long again"),
        pytest.param(5, 2.0, 4.0, id="never longer than the longest"),
    ],
)
def test_the_wait_doubles_and_is_partly_random(failed: int, least: float, most: float) -> None:
    waits = [POLICY.wait(TransientError("busy"), failed, 0.0) for _ in range(200)]
    assert all(wait is not None and least <= wait <= most for wait in waits)
    assert len(set(waits)) > 100


@pytest.mark.parametrize("seconds", [0.0, 1.0, 7.5, 600.0])
def test_a_servers_wish_is_obeyed_and_never_undercut(seconds: float) -> None:
    waits = [POLICY.wait(TransientError("busy", retry_after=seconds), 1, 0.0) for _ in range(200)]
    assert all(wait is not None and seconds <= wait <= seconds + POLICY.first for wait in waits)


@pytest.mark.parametrize("seconds", [600.1, 1e9, 1e308])
def test_no_wish_is_obeyed_beyond_the_longest_wait(seconds: float) -> None:
    waits = [POLICY.wait(TransientError("busy", retry_after=seconds), 1, 0.0) for _ in range(200)]
    assert all(wait is not None and 600 <= wait <= 600 + POLICY.first for wait in waits)


@pytest.mark.parametrize("kind", ["server error", "malformed reply", "timeout"])
def test_what_may_be_the_requests_fault_is_tried_so_often_and_no_more(kind: str) -> None:
    assert POLICY.wait(TransientError("busy", kind=kind), 5, 1e6) is not None
    assert POLICY.wait(TransientError("busy", kind=kind), 6, 0.0) is None
    assert POLICY.wait(TransientError("busy", kind=kind, retry_after=1), 6, 0.0) is None


@pytest.mark.parametrize(("kind", "least"), [("outage", 6), ("overload", 30), ("no connection", 6), ("rate limit", 30)])
def test_what_is_not_the_requests_fault_is_tried_as_long_as_there_is_patience(kind: str, least: int) -> None:
    error = TransientError("busy", kind=kind)
    assert POLICY.wait(error, 10_000, POLICY.patience - 1) is not None
    assert POLICY.wait(error, least - 1, POLICY.patience) is not None
    assert POLICY.wait(error, least, POLICY.patience) is None


def test_a_run_may_state_its_patience_and_its_longest_wait() -> None:
    assert policy_of(RunOptions(), POLICY) == POLICY
    stated = policy_of(RunOptions(patience=5, max_wait=7), POLICY)
    assert (stated.patience, stated.max_wait, stated.tries) == (5, 7, POLICY.tries)
