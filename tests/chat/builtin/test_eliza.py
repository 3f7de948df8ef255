import pytest

from harness.chat.builtin.conversation import Conversation
from harness.chat.builtin.eliza import exchanged, respond


@pytest.mark.parametrize(
    ("said", "back"),
    [
        pytest.param("I lost my keys", "you lost your keys", id="first person"),
        pytest.param("you and your car, my friend", "I and my car", id="second person, up to the comma"),
        pytest.param("我的书在你那里", "您的书在我那里", id="Chinese"),
        pytest.param("word " * 40, "", id="too long to be said back"),
    ],
)
def test_persons_are_exchanged(said: str, back: str) -> None:
    assert exchanged(said) == back


def test_what_the_user_called_theirs_is_taken_up_later() -> None:
    later = respond(Conversation(("My brother is a baker.", "It rains."), ("So?",), ""))
    assert "your brother" in later


def test_the_keyword_of_the_highest_rank_comes_first() -> None:
    reply = respond(Conversation(("My cat is old. Write a poem about it.",), (), ""))
    assert reply.index("poem") < reply.index("Your cat")


def test_a_reply_is_not_given_twice() -> None:
    first = respond(Conversation(("It rains.",), (), ""))
    assert respond(Conversation(("It rains.", "It rains."), (first,), "")) != first


def test_chinese_is_answered_in_chinese() -> None:
    assert "您的母亲" in respond(Conversation(("我的母亲喜欢花。", "今天下雨。"), ("请继续说。",), ""))
