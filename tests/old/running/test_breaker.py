"""An endpoint that only fails is left alone, probed, and in the end lost."""

import math

import pytest

from harness.old.running.breaker import FAILURES, SECONDS, Breaker
from harness.old.running.retry import RetryPolicy


@pytest.fixture
def breaker() -> Breaker:
    return Breaker(RetryPolicy(patience=100.0))


def opened(breaker: Breaker) -> Breaker:
    for _ in range(FAILURES):
        breaker.begin()
        breaker.failed(100.0, probe=False)
    return breaker


def test_only_failures_in_a_row_open_it(breaker: Breaker) -> None:
    for _ in range(5):
        for _ in range(FAILURES - 1):
            breaker.failed(1.0, probe=False)
        breaker.replied()
    assert (breaker.open, breaker.ready_at()) == (False, -math.inf)


def test_when_open_one_probe_goes_through_after_a_pause(breaker: Breaker) -> None:
    opened(breaker)
    assert breaker.ready_at() == 105.0
    assert breaker.begin()
    assert breaker.ready_at() == math.inf


def test_a_probe_that_is_answered_closes_it(breaker: Breaker) -> None:
    opened(breaker).begin()
    breaker.replied()
    assert (breaker.open, breaker.failures, breaker.begin()) == (False, 0, False)


def test_the_pause_grows_with_each_probe_until_patience_is_over(breaker: Breaker) -> None:
    opened(breaker)
    pauses, now = [5.0], 105.0
    while not breaker.lost:
        assert breaker.begin()
        breaker.failed(now, probe=True)
        pauses.append(breaker.ready_at() - now)
        now = breaker.ready_at()
    assert pauses == [5.0, 10.0, 20.0, 30.0, 30.0, 5.0, 30.0]  # the last probe is when patience ends
    assert (breaker.since, now) == (100.0, 230.0)


def test_few_failures_over_a_minute_open_it_too(breaker: Breaker) -> None:
    breaker.failed(100.0, probe=False)
    assert not breaker.open
    breaker.failed(100.0 + SECONDS, probe=False)
    assert (breaker.open, breaker.since) == (True, 100.0)


def test_a_reply_begins_the_count_of_time_anew(breaker: Breaker) -> None:
    breaker.failed(100.0, probe=False)
    breaker.replied()
    breaker.failed(1000.0, probe=False)
    assert (breaker.open, breaker.since) == (False, 1000.0)


def test_failures_of_calls_begun_before_it_opened_count_as_no_probe(breaker: Breaker) -> None:
    opened(breaker)
    for _ in range(50):
        breaker.failed(104.0, probe=False)
    assert (breaker.probes, breaker.ready_at()) == (0, 105.0)


def test_a_probe_that_is_broken_off_lets_another_go(breaker: Breaker) -> None:
    opened(breaker).begin()
    breaker.undecided(probe=True)
    assert breaker.ready_at() == 105.0
    assert breaker.begin()
