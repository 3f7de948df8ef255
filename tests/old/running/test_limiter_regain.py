"""What an endpoint takes at once is found by its refusals, regained after each of them, and kept for a while."""

import itertools

from harness.old.running.limiter import HOLD, Limiter, fixed
from tests.old.running.test_limiter import play


def trip(limiter: Limiter, now: float) -> None:
    """Play a round trip of a second in which every call in flight is answered."""
    for _ in range(limiter.limit):
        limiter.replied(now, now + 1.0, full=True)


def refused(limiter: Limiter, now: float, in_flight: int, over: int, pause: float = 0.0) -> None:
    for number in range(over):
        limiter.pushed_back(now - 0.5, now, in_flight - number, pause)


def test_what_was_taken_is_regained_in_a_round_trip_and_not_exceeded() -> None:
    limiter = Limiter(start=64)
    refused(limiter, 1.0, 64, over=24)
    assert limiter.limit == 32
    limits = []
    for second in range(10):
        trip(limiter, 1.0 + second)
        limits.append(limiter.limit)
    assert limits == [40] * 10


def test_a_higher_number_is_tried_after_the_hold_and_a_second_refusal_doubles_it() -> None:
    limiter = Limiter(start=64)
    refused(limiter, 1.0, 64, over=24)
    held = []
    for now in range(1, 200):
        trip(limiter, float(now))
        if limiter.limit > 40:
            refused(limiter, now + 0.9, limiter.limit, over=limiter.limit - 40)
            held.append(now)
    waits = [late - early for early, late in itertools.pairwise(held)]
    assert held[0] in range(HOLD, HOLD + 4)
    assert waits[0] in range(2 * HOLD, 2 * HOLD + 4)
    assert waits[1] in range(4 * HOLD, 4 * HOLD + 4)


def test_the_longer_the_pause_asked_for_the_later_a_higher_number_is_tried() -> None:
    limiter = Limiter(start=64)
    refused(limiter, 1.0, 64, over=24, pause=3.0)
    for now in range(1, 60):
        trip(limiter, float(now))
    assert limiter.limit == 40
    for now in range(60, 70):
        trip(limiter, float(now))
    assert limiter.limit > 40


def test_refusals_that_are_not_about_the_number_of_calls_do_not_hold_it_down() -> None:
    limiter = Limiter(start=64)
    for now in (1, 3, 5, 7):
        limiter.pushed_back(now - 0.5, float(now), limiter.limit)
        trip(limiter, float(now))
    for now in range(8, 80):
        trip(limiter, float(now))
    assert limiter.limit > 100


def test_a_server_that_refuses_a_33rd_call_is_used_as_with_32() -> None:
    best = play(fixed(32), lambda _: 0.2, 400)
    assert play(Limiter(), lambda _: 0.2, 400, at_most=32) < 1.1 * best
    best = play(fixed(32), lambda _: 0.2, 4000)
    assert play(Limiter(), lambda _: 0.2, 4000, at_most=32) < 1.1 * best
