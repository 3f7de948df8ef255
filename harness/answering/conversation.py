"""One conversation: each turn sees the model's own earlier replies, or given ones.

Reasoning is kept in the row and not sent back, but for what a provider requires with a reply.
"""

from collections.abc import Generator, Sequence
from typing import TypeAlias

import msgspec
from msgspec import Struct

from harness.answering.sampling import with_seed
from harness.answering.users import Player
from harness.running import uncut
from harness.types import (
    Choice,
    Detail,
    Facts,
    Message,
    Question,
    Reply,
    Request,
    Sampling,
    total_usage,
)

Talk: TypeAlias = Generator[Request, Reply, Choice]


class Asking(Struct, frozen=True, kw_only=True):
    """How one model is asked one question."""

    question: Question
    sampling: Sampling
    system: str | None = None
    template: str = "{question}"
    retry_cut: float = 1.0
    history: Sequence[str] = ()
    """Replies to all turns but the last, from which the model continues in place of its own."""
    reference: Sequence[str] | None = None
    """What a built-in model may reply with."""
    player: Player | None = None
    num_choices: int = 1
    """Conversations with each sample of a played user."""


def converse(asking: Asking, index: int) -> Talk:
    """Hold conversation number `index`."""
    return _played(asking, index) if asking.question.user else _fixed(asking, index)


def _fixed(asking: Asking, index: int) -> Talk:
    """Ask every turn that the question does not answer itself.

    With a history each turn is asked after the history's replies; the first has none before it.
    """
    question, messages, replies = asking.question, _begin(asking), list[Reply]()
    for number, turn in enumerate(question.turns, 1):
        messages.append(_user(asking, turn))
        given = question.given(number)
        if given is None:
            reference = None if asking.reference is None else list(asking.reference)
            reply = yield from _ask(asking, messages, index, Facts(question, number, reference))
        else:
            reply = Reply(text=given, detail=Detail(given="question"))
        replies.append(reply)
        if number <= len(asking.history):
            messages.append(Message("assistant", asking.history[number - 1]))
        else:
            messages.append(Message("assistant", reply.text))
    return Choice(
        index=index,
        turns=[reply.text for reply in replies],
        details=[reply.detail for reply in replies],
        history=list(asking.history),
    )


def _played(asking: Asking, index: int) -> Talk:
    """Let a chat model play the user; a message that ends the conversation is not answered."""
    question, player = asking.question, asking.player
    assert question.user is not None
    assert player is not None
    sample = index // asking.num_choices
    opening = question.turns[0] if question.turns != [question.user.goal] else None
    messages, said, replies = _begin(asking), list[Reply](), list[Reply]()
    for number in range(1, player.turns(question.user) + 1):
        if number == 1 and opening is not None:
            said.append(Reply(text=opening, detail=Detail(given="question")))
        else:
            before = [player.prompt.without_stop(reply.text) for reply in said]
            texts = [reply.text for reply in replies]
            said.append((yield player.request(question, before, texts, sample)))
        if number > 1 and player.prompt.ends(said[-1].text):
            break
        text = player.prompt.without_stop(said[-1].text)
        messages.append(_user(asking, text or question.user.goal))
        replies.append((yield from _ask(asking, messages, index, Facts(question, number))))
        messages.append(Message("assistant", replies[-1].text))
    return Choice(
        index=index,
        turns=[reply.text for reply in replies],
        details=[reply.detail for reply in replies],
        user=[reply.text for reply in said],
        user_details=[reply.detail for reply in said],
    )


def _begin(asking: Asking) -> list[Message]:
    return [Message("system", asking.system)] if asking.system else []


def _user(asking: Asking, text: str) -> Message:
    return Message("user", asking.template.replace("{question}", text))


def _ask(
    asking: Asking, messages: list[Message], index: int, facts: Facts
) -> Generator[Request, Reply, Reply]:
    """Ask for the next reply; its tokens are those of all tries."""
    sampling = with_seed(asking.sampling, index)
    request = Request(messages=list(messages), sampling=sampling, facts=facts)
    tries = yield from uncut(request, asking.retry_cut)
    reply = tries[-1]
    if len(tries) > 1:
        usage = total_usage([each.detail.usage for each in tries])
        reply.detail = msgspec.structs.replace(reply.detail, usage=usage)
    return reply
