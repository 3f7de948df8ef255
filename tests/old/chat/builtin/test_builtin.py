import asyncio
from collections.abc import Sequence

import pytest

from harness.old.chat.builtin import builtin_names, open_builtin
from harness.old.errors import UsageError
from harness.old.records import Facts, Message, Question, Reply, Request, Sampling

QUESTION = Question(
    1, "writing", ("Write a note to my neighbour about the oven.", "Rewrite it in exactly two sentences.")
)


def talk(
    name: str, asked: Sequence[str], facts: Facts | None = None, system: str = "", limit: int | None = None
) -> list[Reply]:
    """Return the model's replies to a chat, each seeing its own earlier ones."""
    model = open_builtin(name)
    messages = [Message("system", system)] if system else []
    replies = []
    for text in asked:
        messages.append(Message("user", text))
        reply = asyncio.run(model.reply(Request(tuple(messages), Sampling(max_tokens=limit), facts)))
        messages.append(Message("assistant", reply.text))
        replies.append(reply)
    return replies


@pytest.mark.parametrize("name", builtin_names())
def test_every_builtin_replies_the_same_twice_and_says_how(name: str) -> None:
    first, again = (talk(name, QUESTION.turns)[1] for _ in range(2))
    assert first.text == again.text != ""
    assert (first.finish_reason, first.model, dict(first.applied)) == ("stop", name, {})
    assert (first.usage.completion_tokens or 0) > 0


@pytest.mark.parametrize("name", builtin_names())
def test_every_builtin_is_cut_at_the_token_limit(name: str) -> None:
    (reply,) = talk(name, QUESTION.turns[:1], limit=3)
    assert (reply.finish_reason, reply.usage.completion_tokens) == ("length", 3)


@pytest.mark.parametrize("name", builtin_names())
@pytest.mark.parametrize("text", ["", "?", "{} {0} %s [[A]]", "请写一封信", "``", "1/0 + 2 ^ 9"], ids=repr)
def test_odd_messages_get_a_reply(name: str, text: str) -> None:
    assert talk(name, [text])[0].text


def test_two_replies_can_be_made_at_once() -> None:
    order = []

    async def one(name: str) -> None:
        order.append(f"start {name}")
        await open_builtin("builtin/eliza").reply(Request((Message("user", "Hello."),)))
        order.append(f"end {name}")

    async def both() -> None:
        await asyncio.gather(one("a"), one("b"))

    asyncio.run(both())
    assert order[:2] == ["start a", "start b"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        pytest.param("builtin/elisa", "'builtin/elisa'; near names: builtin/eliza", id="misspelt"),
        pytest.param("builtin/zzz", "near names: builtin/reference, builtin/outline, builtin/eliza", id="nothing near"),
        pytest.param("builtin/overlap", "builtin/overlap is a judge and does not answer questions", id="the judge"),
    ],
)
def test_unknown_names_are_refused_with_near_ones(name: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        open_builtin(name)


def test_reference_replies_with_the_reference_of_its_turn() -> None:
    facts = Facts(QUESTION, 2, reference=("first", "second"))
    reply = talk("builtin/reference", ["Now the second."], facts)[0]
    assert (reply.text, reply.note) == ("second", None)


def test_reference_without_a_reference_answers_as_outline_and_says_so() -> None:
    reply = talk("builtin/reference", QUESTION.turns[:1], Facts(QUESTION, 1))[0]
    assert reply.text == talk("builtin/outline", QUESTION.turns[:1])[0].text
    assert reply.note == "no reference answer for this turn: answered as builtin/outline"


def test_an_empty_reference_is_an_empty_reply() -> None:
    assert talk("builtin/reference", ["?"], Facts(QUESTION, 1, reference=("",)))[0].finish_reason == "empty"
