"""Messages are one line, of bounded length, whatever they repeat; errors come back from other processes."""

import pickle

import pytest

from harness.old.errors import (
    MOST_CHARACTERS,
    ChatError,
    DataError,
    MissingError,
    TransientError,
    TurnbenchError,
    UsageError,
)


def test_a_message_is_one_line() -> None:
    assert str(UsageError("a\nb\r\n  c")) == "a b c"


def test_of_a_long_message_the_place_and_what_to_do_stay() -> None:
    error = DataError("[" * 20_000 + " is no number; write one", path="a.csv", line=2)
    assert str(error).startswith("a.csv:2: [[[")
    assert str(error).endswith("[[[ is no number; write one")
    assert len(str(error)) == MOST_CHARACTERS + 3


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(MissingError("nothing is there"), id="plain"),
        pytest.param(DataError("no number", path="a.jsonl", line=3), id="with a place"),
        pytest.param(ChatError("no", kind="bad request"), id="with a kind"),
        pytest.param(TransientError("later", retry_after=2.0), id="with more"),
    ],
)
def test_an_error_comes_back_from_another_process_as_it_was(error: TurnbenchError) -> None:
    back = pickle.loads(pickle.dumps(error))
    assert (type(back), str(back), back.__dict__) == (type(error), str(error), error.__dict__)
