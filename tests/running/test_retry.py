"""Which failures are tried again, and after which wait."""

import pytest

from harness.errors import TransientError
from harness.running.retry import RetryPolicy

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
    waits = [POLICY.wait(TransientError("busy"), failed) for _ in range(200)]
    assert all(wait is not None and least <= wait <= most for wait in waits)
    assert len(set(waits)) > 100


@pytest.mark.parametrize("seconds", [0.0, 1.0, 7.5, 600.0])
def test_a_servers_wish_is_obeyed_and_never_undercut(seconds: float) -> None:
    waits = [POLICY.wait(TransientError("busy", retry_after=seconds), 1) for _ in range(200)]
    assert all(wait is not None and seconds <= wait <= seconds + POLICY.first for wait in waits)


def test_after_the_last_try_there_is_no_wait() -> None:
    assert POLICY.wait(TransientError("busy"), 5) is not None
    assert POLICY.wait(TransientError("busy"), 6) is None
    assert POLICY.wait(TransientError("busy", retry_after=1), 6) is None
