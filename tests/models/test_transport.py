"""A transport that is handed to a chat model makes its calls."""

import asyncio
from typing import Any

import pytest

from harness.errors import ChatError
from harness.models.endpoint import Endpoint
from harness.models.errors import Problem, Wire
from harness.models.openai import OpenAIChat
from harness.types import Message, Reply, Request, Sampling
from tests.servers import Call, Rule, reply_of

ENDPOINT = Endpoint(
    name="m", provider="openai", model="m", base_url="http://x/v1", api_key_env="NO_SUCH_KEY"
)


def ask(send: Any) -> Reply:
    async def work() -> Reply:
        model = OpenAIChat(ENDPOINT, send=send)
        reply = await model.reply(
            Request(messages=[Message("user", "Q")], sampling=Sampling(temperature=0.5))
        )
        await model.close()
        return reply

    return asyncio.run(work())


def test_it_needs_no_key_here_and_what_it_refuses_is_learned() -> None:
    bodies: list[dict[str, Any]] = []

    async def send(wire: Wire) -> Any:
        bodies.append(wire.body)
        if "temperature" in wire.body:
            raise Problem("parameter", "no temperature", 400, parameters=("temperature",))
        return reply_of(Call("/chat/completions", {}, wire.body), Rule("Fine."))

    reply = ask(send)
    assert reply.text == "Fine."
    assert ["temperature" in body for body in bodies] == [True, False]
    assert "temperature left out" in (reply.detail.note or "")


def test_its_problems_and_errors_are_those_of_a_direct_call() -> None:
    async def refuse(wire: Wire) -> Any:
        raise Problem("bad request", "no such thing", 400)

    async def fail(wire: Wire) -> Any:
        raise ChatError("the worker is gone")

    with pytest.raises(ChatError, match="answered 400: no such thing"):
        ask(refuse)
    with pytest.raises(ChatError, match="the worker is gone"):
        ask(fail)
