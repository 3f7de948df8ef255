import pytest

from harness.old.chat.builtin.conversation import Conversation
from harness.old.chat.builtin.eliza import respond


@pytest.mark.parametrize(
    ("said", "back"),
    [
        pytest.param("Why have I lost my keys?", "why have you lost your keys?", id="first person"),
        pytest.param("Why do you and your cat sleep, my friend?", "why do I and my cat sleep?", id="up to the comma"),
        pytest.param("为什么我的书在你那里？", "为什么您的书在我那里？", id="Chinese"),
        pytest.param("Why " + "word " * 40, "What do you suppose yourself?", id="too long to be said back"),
    ],
)
def test_persons_are_exchanged(said: str, back: str) -> None:
    assert back in respond(Conversation((said,)))


def test_what_the_user_called_theirs_is_taken_up_later() -> None:
    later = respond(Conversation(("My brother is a baker.", "It rains."), ("So?",)))
    assert "your brother" in later


def test_the_most_telling_pattern_comes_first() -> None:
    reply = respond(Conversation(("My cat is old. Write a poem about it.",), ()))
    assert reply.index("poem") < reply.index("Your cat")


def test_a_reply_is_not_given_twice() -> None:
    first = respond(Conversation(("It rains.",), ()))
    assert respond(Conversation(("It rains.", "It rains."), (first,))) != first


def test_chinese_is_answered_in_chinese() -> None:
    assert "您的母亲" in respond(Conversation(("我的母亲喜欢花。", "今天下雨。"), ("请继续说。",)))
