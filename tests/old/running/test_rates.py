"""No minute has more calls or tokens than allowed."""

import math
import random

import pytest

from harness.old.chat.endpoint import Limits
from harness.old.records import Message, Request, Sampling
from harness.old.running.rates import LATENESS, Window, most_tokens, rates_of


def begun(window: Window, amounts: list[float]) -> list[float]:
    """Return when calls of these amounts begin, each as soon as it may."""
    now, times = 0.0, []
    for amount in amounts:
        now = max(now, window.ready_at(amount, now))
        window.take(amount, now)
        times.append(now)
    return times


def test_as_many_as_allowed_begin_at_once_and_the_next_a_minute_later() -> None:
    assert begun(Window(3), [1] * 7) == [0, 0, 0, 60, 60, 60, 120]


def test_no_minute_has_more_than_allowed() -> None:
    draw = random.Random(1)
    window, now = Window(100), 0.0
    taken: list[tuple[float, float]] = []
    for _ in range(500):
        amount = float(draw.randint(1, 60))
        now = max(now + draw.random(), window.ready_at(amount, now))
        if window.ready_at(amount, now) > now:
            continue
        window.take(amount, now)
        taken.append((now, amount))
    assert len(taken) > 400
    for start, _ in taken:
        assert sum(amount for at, amount in taken if start <= at < start + 60) <= 100


def test_what_is_larger_than_the_whole_runs_alone() -> None:
    assert begun(Window(100), [50, 500, 50]) == [0, 60, 120]


def test_what_was_not_used_is_given_back() -> None:
    window = Window(100)
    first = window.take(100, 0)
    assert window.ready_at(50, 1) == 60
    window.settle(first, 30)
    assert window.ready_at(50, 1) == 1
    assert window.ready_at(80, 1) == 60


def test_a_call_that_ends_after_its_minute_changes_nothing() -> None:
    window = Window(100)
    late = window.take(100, 0)
    assert window.ready_at(100, 61) == 61
    window.take(100, 61)
    window.settle(late, 10)
    assert window.ready_at(1, 62) == 121


def test_less_than_one_call_in_a_minute_is_one_in_several() -> None:
    assert begun(Window(0.5), [1, 1]) == [0, 120]


def test_the_least_limits_that_are_taken_let_a_call_wait_for_a_day_or_so() -> None:
    rates = rates_of(Limits(rpm=0.0006, tpm=1), rpm=None, tpm=None)
    rates.begin(9000, 0)
    assert rates.ready_at(9000, 1) == pytest.approx(28 * 3600, rel=0.01)
    assert rates.tokens.ready_at(9000, 1) == 60 + LATENESS


@pytest.mark.parametrize(
    ("limits", "rpm", "tpm", "found"),
    [
        pytest.param(Limits(), None, None, (math.inf, math.inf), id="none"),
        pytest.param(Limits(rpm=5), 9, None, (5, math.inf), id="the endpoint's is narrower"),
        pytest.param(Limits(rpm=50, tpm=7), 9, 8, (9, 7), id="the run's is narrower"),
    ],
)
def test_the_narrower_limit_holds(
    limits: Limits, rpm: float | None, tpm: float | None, found: tuple[float, float]
) -> None:
    rates = rates_of(limits, rpm=rpm, tpm=tpm)
    assert (rates.calls.most, rates.tokens.most) == found


def test_calls_and_tokens_hold_together() -> None:
    rates = rates_of(Limits(), rpm=2, tpm=100)
    taken = rates.begin(90, 0)
    assert rates.ready_at(20, 1) == 60 + LATENESS
    rates.tokens.settle(taken, 10)
    assert rates.ready_at(20, 1) == 1
    rates.begin(20, 1)
    assert rates.ready_at(1, 2) == 60 + LATENESS


def test_a_call_counts_its_prompt_and_the_longest_reply() -> None:
    request = Request((Message("user", "x" * 3600),), Sampling(max_tokens=500))
    assert most_tokens(request) == pytest.approx(1500)
