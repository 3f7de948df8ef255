"""What in the records can be false: the hashes, and the pair behind a game."""

import pytest

from harness.old.judgments.judgment import Match
from harness.old.records import Message, Question, Request, Sampling, content_hash


def test_a_content_hash_never_changes() -> None:
    """It is on the disk of users: another one would make every row superseded."""
    assert content_hash("writing", ["Name three rivers.", "é 模"]) == "8f775e10332b3541"


def test_equal_json_has_equal_hashes() -> None:
    assert content_hash({"a": 1, "b": (2, 3)}) == content_hash({"b": [2, 3], "a": 1})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param((["a", "b"],), (["ab"],), id="joined"),
        pytest.param(("a", "b"), (["a", "b"],), id="nested"),
        pytest.param((1,), ("1",), id="number-and-text"),
        pytest.param((None,), ("null",), id="null-and-text"),
        pytest.param(("a",), ("a ",), id="space"),
        pytest.param(("\ud800",), ("?",), id="half-a-character"),
    ],
)
def test_what_differs_has_another_hash(one: tuple[object, ...], other: tuple[object, ...]) -> None:
    assert content_hash(*one) != content_hash(*other)


def test_a_question_is_its_category_and_turns() -> None:
    question = Question(1, "stem", ("What melts ice?", "And why?"))
    assert question.content == Question("x", "stem", question.turns, ("salt",), {"note": 1}).content
    assert question.content != Question(1, "math", question.turns).content
    assert question.content != Question(1, "stem", question.turns[:1]).content


def test_a_request_is_its_messages_and_sampling() -> None:
    messages = (Message("user", "Hello"),)
    request = Request(messages, Sampling(temperature=0.0))
    assert request.content == Request(messages, Sampling(temperature=0.0)).content
    assert request.content != Request(messages, Sampling()).content
    assert request.content != Request((Message("system", "Hello"),), Sampling(temperature=0.0)).content


def test_zero_is_stated_and_none_is_not() -> None:
    assert Sampling(temperature=0.0, seed=0).stated() == {"temperature": 0.0, "seed": 0}


def test_both_games_of_a_pair_name_it_alike() -> None:
    question = Question(1, "stem", ("What melts ice?",))
    assert Match(question, 1, ("x", "y")).pair == Match(question, 1, ("y", "x"), game=2).pair == ("x", "y")
