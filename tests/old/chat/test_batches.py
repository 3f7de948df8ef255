"""Which chat models take batches, and that a batch holds the very body of a direct call."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from harness.old.chat import ChatModel, open_chat_model, resolve
from harness.old.chat.batches import Batches, Found, Handed, open_batches
from harness.old.errors import EndpointError, TransientError, TurnbenchError, UsageError
from harness.old.records import Message, Reply, Request, Sampling
from tests.old.protocol_server import BatchDesk, ProtocolServer, Script, on_the_wire, raw

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


async def every_call(server: ProtocolServer, kind: str, timeout: float = 600.0) -> dict[str, TurnbenchError | None]:
    """Return what becomes of each call about batches, by its name; None: it brought what it should."""
    found: dict[str, TurnbenchError | None] = {}
    model = opened(server, kind)
    taker = open_batches(model)
    taker.model.endpoint = replace(taker.model.endpoint, timeout=timeout)

    async def results() -> None:
        async for _ in taker.results("batches/b", {}):
            pass

    calls: dict[str, Callable[[], Awaitable[Any]]] = {
        "check": taker.check,
        "submit": partial(taker.submit, "t", [taker.prepare("t-0", REQUESTS[1])]),
        "find": partial(taker.find, "t", 1, 0.0, ()),
        "progress": partial(taker.progress, "batches/b"),
        "results": results,
        "cancel": partial(taker.cancel, "batches/b"),
    }
    try:
        for name, call in calls.items():
            try:
                found[name] = None
                await call()
            except TurnbenchError as error:
                found[name] = error
    finally:
        await model.close()
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_a_call_that_comes_in_drops_is_given_up(kind: str) -> None:
    def drops(_: bytes) -> Iterator[bytes | float]:
        yield b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99999\r\n\r\n"
        while True:
            yield b"\n"
            yield 0.01

    with ProtocolServer(faults=lambda asked: on_the_wire(drops)) as server:
        found = asyncio.run(every_call(server, kind, timeout=0.15))
    assert {name: getattr(error, "kind", None) for name, error in found.items()} == dict.fromkeys(found, "timeout")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "body",
    [
        b"[]",
        b"null",
        b'"x"',
        b"[[1]]",
        b'{"id": 5, "name": 5, "data": [5, null, {"id": []}], "operations": [5], "has_more": true}',
        b'{"id": "b", "status": "completed", "request_counts": "x", "output_file_id": 5, "metadata": [1]}',
        b'{"id": "b", "status": "failed", "errors": {"data": [5, null]}, "request_counts": {"completed": "1"}}',
        b'{"id": "b", "processing_status": "ended", "request_counts": 5, "archived_at": 5}',
        b'{"name": "batches/b", "metadata": {"state": "BATCH_STATE_SUCCEEDED", "batchStats": [1], "output": [5]}}',
    ],
)
def test_an_answer_of_another_shape_fails_its_call(body: bytes, kind: str) -> None:
    with ProtocolServer(faults=lambda asked: raw(body)) as server:
        found = asyncio.run(every_call(server, kind))
    checked = found.pop("check")  # where there is no list of batches, a server is taken to have none
    assert checked is None or isinstance(checked, TransientError) or "has no batches" in str(checked)
    assert all(error is None or isinstance(error, TransientError) for error in found.values()), found


def test_a_list_of_results_without_end_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_end(_: bytes) -> Iterator[bytes]:
        yield b"HTTP/1.1 200 OK\r\n\r\n"
        while True:
            yield b'{"custom_id": "x"}\n' * 1000

    async def scene(server: ProtocolServer) -> None:
        model = opened(server, "anthropic")
        taker = open_batches(model)
        monkeypatch.setattr(taker, "most_requests", 5000)
        try:
            with pytest.raises(TransientError, match="more results than a batch can have"):
                async for _ in taker.results("b", {}):
                    pass
        finally:
            await model.close()

    with ProtocolServer(faults=lambda asked: on_the_wire(without_end)) as server:
        asyncio.run(scene(server))
