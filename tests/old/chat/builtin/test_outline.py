import pytest

from harness.old.chat.builtin.conversation import Conversation
from harness.old.chat.builtin.outline import key_terms, sections

SUBJECT = (
    "We keep forty beehives beside the railway near Ljubljana, and the verge is mown every 14 days. Is that enough?"
)


def reply_to(*asked: str, replies: tuple[str, ...] = ()) -> str:
    return "\n\n".join(sections(Conversation(asked, replies)))


def test_the_request_and_its_figures_are_restated() -> None:
    text = reply_to(SUBJECT)
    assert 'The request is: "Is that enough?"' in text
    assert "The figures named are 14 days." in text


def test_key_terms_come_from_the_conversation_the_current_message_first() -> None:
    terms = key_terms(Conversation((SUBJECT, "And what does the sowing of clover cost?")))
    assert terms[:3] == ("sowing", "clover", "cost")
    assert {"beehives", "railway", "Ljubljana"} <= set(terms)


def test_a_follow_up_quotes_the_earlier_reply() -> None:
    text = reply_to(SUBJECT, "What does that cost in a year?", replies=("The town should spare the verge.",))
    assert "The town should spare the verge." in text


def test_it_says_that_it_knows_nothing() -> None:
    assert "I do not know" in reply_to("Who painted the ceiling of the cathedral?")


@pytest.mark.parametrize("replies", [(), ("铁路旁的蜜蜂需要野花。",)], ids=["first turn", "second turn"])
def test_chinese_is_answered_in_chinese(replies: tuple[str, ...]) -> None:
    text = reply_to("我们在铁路旁养了40箱蜜蜂。请说明如何过冬。", replies=replies)
    assert "要求是：“请说明如何过冬。”" in text
    assert "我并不知道" in text
    assert all(reply in text for reply in replies)
