"""Built-in models: deterministic, without a key, in English and Chinese."""

import asyncio

import pytest

from harness.errors import UsageError
from harness.models import resolve
from harness.types import Facts, Question, Reply, Request, Sampling, User
from tests.models.asking import request


def reply(name: str, message: Request) -> Reply:
    return asyncio.run(resolve(name).open().reply(message))


QUESTION = Question(question_id=1, category="writing", turns=["Write a poem.", "Shorten it."])


def test_the_reference_model_gives_the_reference_answer_of_the_turn() -> None:
    facts = Facts(question=QUESTION, turn=2, reference=["A poem.", "Short."])
    assert reply("builtin/reference", request("Write.", facts=facts)).text == "Short."
    without = reply("builtin/reference", request("Write a poem of 4 lines."))
    assert without.text == reply("builtin/outline", request("Write a poem of 4 lines.")).text
    assert "no reference answer" in (without.detail.note or "")


def test_outline_restates_what_is_asked() -> None:
    text = reply("builtin/outline", request("I have 30 euros. What can I cook for 4?")).text
    assert 'The request is: "What can I cook for 4?"' in text
    assert "The figures named are 30 euros, 4." in text


def test_outline_answers_chinese_in_chinese() -> None:
    assert "要求是" in reply("builtin/outline", request("请写一首关于春天的诗。")).text


def test_eliza_reflects_and_remembers() -> None:
    first = reply("builtin/eliza", request("I am worried about my exam."))
    assert "you" in first.text.lower()
    second = reply(
        "builtin/eliza", request("I am worried about my exam.", first.text, "Please go on.")
    )
    assert "Earlier you spoke of your exam" in second.text


def test_a_reply_is_cut_at_the_limit_and_counted() -> None:
    cut = reply("builtin/outline", request("Write a poem.", sampling=Sampling(max_tokens=5)))
    assert (cut.detail.finish_reason, cut.detail.usage.completion_tokens) == ("length", 5)
    assert cut.detail.provider_model == "builtin/outline"


PLAYED = User(
    persona="a baker",
    goal="plan an order",
    done="the order is planned",
    knows=["I need forty loaves.", "The shop opens at six."],
)


def say(turn: int, messages: list[str], replies: list[str]) -> str:
    question = Question(question_id=7, category="x", turns=[""], user=PLAYED)
    facts = Facts(
        question=question, turn=turn, answers=[replies] if replies else [], form="[[END]]"
    )
    texts = [text for pair in zip(replies, messages, strict=False) for text in pair]
    return reply("builtin/user", request(*texts, "?", facts=facts)).text


def test_the_played_user_tells_what_it_knows_and_ends() -> None:
    messages = [say(1, [], [])]
    replies: list[str] = []
    for turn in range(2, 6):
        replies.append("When does the shop open?")
        messages.append(say(turn, messages, replies))
        if "[[END]]" in messages[-1]:
            break
    assert "help" in messages[0]
    assert "The shop opens at six." in messages[1]
    assert all(any(fact in text for text in messages) for fact in PLAYED.knows)
    assert "[[END]]" in messages[-1]


def test_the_played_user_answers_no_questions() -> None:
    with pytest.raises(UsageError, match="answers none"):
        reply("builtin/user", request("Hi."))
