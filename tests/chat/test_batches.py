"""Which chat models take batches, and that a batch holds the very body of a direct call."""

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from harness.chat import ChatModel, open_chat_model, resolve
from harness.chat.batches import Batches, Found, Handed, open_batches
from harness.errors import EndpointError, TransientError, UsageError
from harness.records import Message, Reply, Request, Sampling
from tests.protocol_server import BatchDesk, ProtocolServer, Script

KINDS = ["openai", "anthropic", "gemini"]
REQUESTS = [
    Request((Message("system", "Be kind."), Message("user", "Grüße, \u2028 and a lone \ud800.")), Sampling(0.5, 100)),
    Request((Message("user", "One"), Message("assistant", ""), Message("user", "Two")), Sampling(max_tokens=7)),
    Request((Message("user", "A form"),), Sampling(0.0, 50), schema={"type": "object", "properties": {}}),
]


def opened(server: ProtocolServer, kind: str) -> ChatModel:
    if kind == "openai":
        return open_chat_model(resolve("m", base_url=server.openai_url))
    if kind == "gemini":
        environ = {"GEMINI_API_KEY": "k", "GOOGLE_GEMINI_BASE_URL": server.url}
        return open_chat_model(resolve("gemini-x", environ=environ), environ=environ)
    environ = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.anthropic_url}
    return open_chat_model(resolve("claude-sonnet-4", environ=environ), environ=environ)


async def through_batches(taker: Batches[Any], token: str) -> dict[str, Any]:
    """Return what became of the requests, submitted together as far as they can be."""
    prepared = {f"{token}-{n}": (taker.prepare(f"{token}-{n}", one), one) for n, one in enumerate(REQUESTS)}
    came: dict[str, Any] = {}
    for headers in {one.headers for one, _ in prepared.values()}:
        together = {name: both for name, both in prepared.items() if both[0].headers == headers}
        batch = await taker.submit(token, [one for one, _ in together.values()])
        assert (await taker.progress(batch)).ended
        handed = {name: Handed(request, one.names) for name, (one, request) in together.items()}
        came |= {name: outcome async for name, outcome in taker.results(batch, handed)}
    return came


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_holds_the_bodies_of_direct_calls_and_brings_their_replies(kind: str) -> None:
    async def both() -> tuple[list[Reply], dict[str, Any]]:
        model = opened(server, kind)
        try:
            direct = [await model.reply(request) for request in REQUESTS]
            return direct, await through_batches(open_batches(model), "t")
        finally:
            await model.close()

    with ProtocolServer() as server:
        direct, came = asyncio.run(both())
    calls = [asked.body for asked in server.requests if asked.protocol in ("chat", "messages", "gemini")]
    batched = {one: asked.body for made in server.batches.made for one, asked in made.requests}
    assert [batched[f"t-{n}"] for n in range(3)] == calls
    assert [replace(came[f"t-{n}"], batch=False) for n in range(3)] == [replace(one, seconds=None) for one in direct]
    assert all(reply.batch for reply in came.values())


def test_requests_of_another_protocol_version_are_a_batch_of_their_own() -> None:
    with ProtocolServer() as server:
        taker = open_batches(opened(server, "anthropic"))
        headers = [taker.prepare("t-0", request).headers for request in REQUESTS]
    assert headers == [(("anthropic-version", "2023-06-01"),), (), (("anthropic-version", "2023-06-01"),)]


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_is_found_by_its_token_alone(kind: str) -> None:
    async def look() -> list[Found]:
        model = opened(server, kind)
        taker = open_batches(model)
        try:
            names = [
                await taker.submit(token, [taker.prepare(f"{token}-0", REQUESTS[1])]) for token in ("aaa", "bbb", "ccc")
            ]
            return [
                await taker.find("bbb", 1, since, others)
                for since, others in ((0.0, ()), (0.0, names[1:2]), (4e12, ()))
            ] + [await taker.find("ddd", 1, 0.0, ())]
        finally:
            await model.close()

    with ProtocolServer() as server:
        there, known, later, never = asyncio.run(look())
        second = server.batches.made[1].name
    assert there == Found(second)
    assert never == Found(None)
    if kind == "anthropic":  # which has no label to tell
        assert (known, later) == (Found(None), Found(None))


def test_a_batch_of_the_size_that_goes_on_may_be_the_one() -> None:
    async def look() -> Found:
        model = opened(server, "anthropic")
        taker = open_batches(model)
        try:
            await taker.submit("aaa", [taker.prepare("aaa-0", REQUESTS[1])])
            return await taker.find("aaa", 1, 0.0, ())
        finally:
            await model.close()

    with ProtocolServer(batches=BatchDesk(Script(polls=9))) as server:
        assert asyncio.run(look()) == Found(None, certain=False)


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_that_the_provider_does_not_know_is_told_so(kind: str) -> None:
    async def look() -> None:
        model = opened(server, kind)
        try:
            await open_batches(model).progress("batches/99")
        finally:
            await model.close()

    with ProtocolServer() as server, pytest.raises(EndpointError, match="batch batches/99 is not known at http"):
        asyncio.run(look())


def test_only_chat_completions_and_messages_take_batches() -> None:
    for model in (
        open_chat_model(resolve("builtin/eliza")),
        open_chat_model(resolve("m", base_url="http://localhost:1/v1", conv_template="vicuna_v1.1")),
    ):
        with pytest.raises(UsageError, match="leave out --batch"):
            open_batches(model)


def test_a_line_is_one_line_whatever_the_text_holds() -> None:
    with ProtocolServer() as server:
        line = open_batches(opened(server, "openai")).prepare("t-0", REQUESTS[0]).line
    assert line.count(b"\n") == 1
    assert json.loads(line)["body"]["messages"][0]["content"] == "Be kind."


@pytest.mark.parametrize("kind", ["openai", "gemini"])
def test_an_error_beside_a_result_is_tried_again_and_is_no_answer(kind: str) -> None:
    whole = {"choices": [{"message": {"content": "fo"}}], "candidates": [{"content": {"parts": [{"text": "fo"}]}}]}
    error = {"code": 13, "message": "Upstream"}
    line = {"response": {"status_code": 200, "body": whole, **whole}, "error": error}
    with ProtocolServer() as server:
        outcome = open_batches(opened(server, kind)).result(line, Handed(REQUESTS[1], ()))
    assert isinstance(outcome, TransientError)
    assert str(outcome).endswith("answered 500: Upstream")
