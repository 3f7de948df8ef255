"""What the bar says after a Ctrl-C."""

from harness.old.running.bar import told
from harness.old.running.watch import Tally


def test_it_says_that_the_run_ends_with_the_calls_in_flight_and_how_to_end_it_at_once() -> None:
    tally = Tally(in_flight=3, stopping=True)
    assert told(tally) == "stopping, Ctrl-C again to stop at once, in flight 3"
    tally.in_flight = 0
    assert told(tally) == ""
