"""A call that takes too long is ended, whatever holds it up, and the next one is answered."""

import os
import re
import threading
import time

import pytest

from viewer.old.limited import Limited, TooLong


def backtracking(text: str) -> str:
    """Match a pattern that takes exponential time on a text of a's and a b."""
    return str(bool(re.match(r"(a|a)*$", text)))


def own_process(_: str) -> int:
    """Return the number of the process."""
    return os.getpid()


def failing(text: str) -> str:
    """Raise an error."""
    raise ValueError(text)


def ending(text: str) -> str:
    """End the process, if asked to."""
    if text:
        os._exit(3)
    return "here"


def test_a_call_returns_what_the_function_returns_and_its_processor_time() -> None:
    made, seconds = Limited(backtracking).call("aaa", 5.0)
    assert made == "True"
    assert 0 <= seconds < 5


def test_a_pattern_that_backtracks_without_end_is_ended_and_the_next_call_answered() -> None:
    limited = Limited(backtracking)
    with pytest.raises(TooLong):
        limited.call("a" * 60 + "b", 0.2)
    assert limited.call("aa", 5.0).made == "True"


def test_other_threads_run_while_a_call_takes_long() -> None:
    limited, turns = Limited(backtracking), 0

    def call() -> None:
        with pytest.raises(TooLong):
            limited.call("a" * 60 + "b", 0.3)

    long = threading.Thread(target=call)
    long.start()
    while long.is_alive():
        turns += 1
        time.sleep(0.001)
    assert turns > 20


def test_one_process_answers_all_calls() -> None:
    limited = Limited(own_process)
    first = limited.call("", 5.0).made
    assert first != os.getpid()
    assert limited.call("", 5.0).made == first


def test_an_error_is_raised_where_the_call_was_made() -> None:
    with pytest.raises(ValueError, match="such a text"):
        Limited(failing).call("such a text", 5.0)


def test_a_process_that_ends_by_itself_is_replaced() -> None:
    limited = Limited(ending)
    with pytest.raises(TooLong):
        limited.call("end", 5.0)
    assert limited.call("", 5.0).made == "here"
