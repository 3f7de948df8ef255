"""The number of calls at once finds its place, against endpoints played with a clock of their own."""

import heapq
from collections.abc import Callable

import pytest

from harness.old.running.limiter import MOST, START, Limiter, fixed


def play(limiter: Limiter, seconds: Callable[[int], float], calls: int, *, at_most: float = float("inf")) -> float:
    """Return the time that so many calls take; `seconds` says how long one takes with so many in flight.

    With more than `at_most` in flight a call is pushed back after a hundredth of a second, and made again.
    """
    now, begun, done = 0.0, 0, 0
    flying: list[tuple[float, float, bool]] = []
    while done < calls:
        while len(flying) < limiter.limit and begun < calls:
            begun += 1
            over = len(flying) >= at_most
            heapq.heappush(flying, (now + (0.01 if over else seconds(len(flying) + 1)), now, over))
        full = len(flying) >= limiter.limit
        now, began, over = heapq.heappop(flying)
        if over:
            limiter.pushed_back(began, now, len(flying) + 1)
            begun -= 1
        else:
            done += 1
            limiter.replied(began, now, full=full and begun < calls)
    return now


def test_it_doubles_in_a_round_trip_up_to_the_most() -> None:
    limiter = Limiter()
    limits = []
    for trip in range(6):
        limits.append(limiter.limit)
        for _ in range(limiter.limit):
            limiter.replied(float(trip), trip + 1.0, full=True)
    assert limits == [START, 32, 64, 128, MOST, MOST]


def test_a_steady_server_is_used_almost_as_well_as_with_the_best_fixed_number() -> None:
    def steady(in_flight: int) -> float:
        return max(1.0, in_flight / 100)

    best = play(fixed(100), steady, 4000)
    assert play(Limiter(), steady, 4000) < 1.1 * best


def test_it_stops_growing_where_more_calls_bring_no_more_replies() -> None:
    limiter = Limiter()
    play(limiter, lambda in_flight: in_flight / 20, 3000)
    assert limiter.limit <= 2 * START


def test_it_goes_on_growing_where_replies_slow_down_but_become_more() -> None:
    limiter = Limiter()
    play(limiter, lambda in_flight: 1 + in_flight / 200, 4000)
    assert limiter.limit > 150


def test_it_does_not_grow_unused() -> None:
    limiter = Limiter()
    for n in range(1000):
        limiter.replied(n, n + 1, full=False)
    assert limiter.limit == START


def test_it_is_halved_once_for_the_calls_that_were_in_flight_together() -> None:
    limiter = Limiter(start=64)
    for number in range(10):
        limiter.pushed_back(began=0.0, now=1.0 + number / 100, in_flight=64)
    assert limiter.limit == 32
    limiter.pushed_back(began=1.05, now=2.0, in_flight=32)
    assert limiter.limit == 16


def test_refused_again_below_what_was_taken_it_grows_by_a_sixteenth_in_a_round_trip() -> None:
    limiter = Limiter(start=64)
    limiter.pushed_back(0.0, 1.0, 64)
    limiter.pushed_back(1.5, 2.0, 32)
    for _ in range(16):
        limiter.replied(2.0, 3.0, full=True)
    assert limiter.limit in (17, 18)


def test_it_never_falls_below_one() -> None:
    limiter = Limiter(start=2)
    for n in range(9):
        limiter.pushed_back(n, n + 0.5, 2)
    assert limiter.limit == 1


def test_a_server_that_pushes_back_is_kept_busy_near_what_it_takes() -> None:
    limiter = Limiter()
    best = play(fixed(50), lambda _: 1.0, 3000)
    assert play(limiter, lambda _: 1.0, 3000, at_most=50) < 1.5 * best
    assert 20 <= limiter.limit <= 60


@pytest.mark.parametrize("parallel", [1, 32, 1000])
def test_a_fixed_number_stays(parallel: int) -> None:
    limiter = fixed(parallel)
    limiter.pushed_back(0.0, 1.0, parallel)
    for _ in range(100):
        limiter.replied(1.0, 2.0, full=True)
    assert limiter.limit == parallel
