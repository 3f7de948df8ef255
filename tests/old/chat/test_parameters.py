"""Refused parameters are repaired once, by one lone call, and remembered."""

import asyncio
from typing import Any

import pytest

from harness.old.chat.parameters import ParameterMemory, Parameters, RefusedParameterError, refused_parameter

SAMPLING = {"temperature": 0.7, "max_tokens": 9, "seed": 1}
REPAIRABLE = frozenset({"temperature", "top_p", "seed", "max_tokens", "max_completion_tokens"})


class Server:
    """Takes calls, refuses what it is told to, and answers when it is let."""

    def __init__(self, *refused: str, slow: bool = False) -> None:
        self.refused = refused
        self.calls: list[Parameters] = []
        self.go = asyncio.Event()
        if not slow:
            self.go.set()

    async def send(self, sent: Parameters) -> str:
        self.calls.append(sent)
        for name in self.refused:
            if name in sent:
                await asyncio.sleep(0)
                raise RefusedParameterError(f"no {name}", parameter=name)
        await self.go.wait()
        return "ok"


async def settled() -> None:
    """Let everything run that can run."""
    for _ in range(50):
        await asyncio.sleep(0)


def test_a_refused_parameter_is_left_out_and_remembered() -> None:
    async def scene() -> None:
        server, memory = Server("temperature"), ParameterMemory(REPAIRABLE)
        assert await memory.call(SAMPLING, server.send) == ("ok", {"max_tokens": 9, "seed": 1})
        assert await memory.call(SAMPLING, server.send) == ("ok", {"max_tokens": 9, "seed": 1})
        assert [("temperature" in call) for call in server.calls] == [True, False, False]

    asyncio.run(scene())


@pytest.mark.parametrize(
    ("asked", "other"), [("max_tokens", "max_completion_tokens"), ("max_completion_tokens", "max_tokens")]
)
def test_the_limit_is_renamed_either_way(asked: str, other: str) -> None:
    async def scene() -> None:
        server, memory = Server(asked), ParameterMemory(REPAIRABLE)
        assert (await memory.call({asked: 9}, server.send)).sent == {other: 9}

    asyncio.run(scene())


def test_several_refusals_are_repaired_one_after_the_other() -> None:
    async def scene() -> None:
        server, memory = Server("max_tokens", "temperature", "seed"), ParameterMemory(REPAIRABLE)
        assert (await memory.call(SAMPLING, server.send)).sent == {"max_completion_tokens": 9}
        assert len(server.calls) == 4

    asyncio.run(scene())


def test_a_limit_refused_under_both_names_is_an_error() -> None:
    async def scene() -> None:
        server, memory = Server("max_tokens", "max_completion_tokens"), ParameterMemory(REPAIRABLE)
        with pytest.raises(RefusedParameterError, match="no max_completion_tokens") as caught:
            await memory.call(SAMPLING, server.send)
        assert caught.value.kind == "bad request"
        assert len(server.calls) == 2

    asyncio.run(scene())


def test_what_may_not_be_left_out_is_an_error_at_once() -> None:
    async def scene() -> None:
        server, memory = Server("max_tokens"), ParameterMemory(frozenset({"temperature"}))
        with pytest.raises(RefusedParameterError):
            await memory.call(SAMPLING, server.send)
        assert len(server.calls) == 1

    asyncio.run(scene())


def test_the_first_call_is_alone_until_it_is_answered() -> None:
    async def scene() -> None:
        server, memory = Server(slow=True), ParameterMemory(REPAIRABLE, "gpt-5")
        calls = [asyncio.create_task(memory.call(SAMPLING, server.send)) for _ in range(20)]
        await settled()
        assert len(server.calls) == 1
        server.go.set()
        await asyncio.gather(*calls)
        assert len(server.calls) == 20

    asyncio.run(scene())


@pytest.mark.parametrize(
    ("model", "asked"),
    [
        pytest.param("gpt-4o", SAMPLING, id="a model that is known to take it"),
        pytest.param("my-gpt-5", SAMPLING, id="a name of one's own"),
        pytest.param("o3", {"max_tokens": 9, "seed": 1}, id="nothing doubtful asked"),
    ],
)
def test_nobody_waits_where_no_refusal_is_likely(model: str, asked: Parameters) -> None:
    async def scene() -> None:
        server, memory = Server(slow=True), ParameterMemory(REPAIRABLE, model)
        calls = [asyncio.create_task(memory.call(asked, server.send)) for _ in range(20)]
        await settled()
        assert len(server.calls) == 20
        server.go.set()
        await asyncio.gather(*calls)

    asyncio.run(scene())


def test_a_quick_refusal_is_met_by_one_lone_call() -> None:
    async def scene() -> None:
        server, memory = Server("temperature"), ParameterMemory(REPAIRABLE, "o3")
        await asyncio.gather(*(memory.call(SAMPLING, server.send) for _ in range(20)))
        assert sum("temperature" in call for call in server.calls) == 1
        assert len(server.calls) == 21

    asyncio.run(scene())


def test_a_refused_schema_is_met_by_one_lone_call() -> None:
    async def scene() -> None:
        asked = {**SAMPLING, "response_format": {"type": "json_schema"}}
        server, memory = Server("response_format"), ParameterMemory(REPAIRABLE | {"response_format"}, "my-model")
        await asyncio.gather(*(memory.call(asked, server.send) for _ in range(20)))
        assert sum("response_format" in call for call in server.calls) == 1

    asyncio.run(scene())


def test_of_many_refused_calls_one_is_repaired_first() -> None:
    async def scene() -> None:
        server, memory = Server("temperature", slow=True), ParameterMemory(REPAIRABLE)
        calls = [asyncio.create_task(memory.call(SAMPLING, server.send)) for _ in range(20)]
        await settled()
        assert [("temperature" in call) for call in server.calls] == [True] * 20 + [False]
        late = asyncio.create_task(memory.call(SAMPLING, server.send))
        await settled()
        assert len(server.calls) == 21
        server.go.set()
        outcomes = await asyncio.gather(*calls, late)
        assert all(outcome.sent == {"max_tokens": 9, "seed": 1} for outcome in outcomes)
        assert len(server.calls) == 20 + 21

    asyncio.run(scene())


def test_a_cancelled_first_call_lets_the_others_go() -> None:
    async def scene() -> None:
        server, memory = Server(slow=True), ParameterMemory(REPAIRABLE, "gpt-5")
        first, second = (asyncio.create_task(memory.call(SAMPLING, server.send)) for _ in range(2))
        await settled()
        first.cancel()
        await settled()
        assert len(server.calls) == 2
        server.go.set()
        assert (await second).value == "ok"

    asyncio.run(scene())


def test_another_error_of_the_first_call_is_its_own() -> None:
    async def scene() -> None:
        async def fail(sent: Parameters) -> str:
            raise ValueError("boom")

        memory = ParameterMemory(REPAIRABLE)
        with pytest.raises(ValueError, match="boom"):
            await memory.call(SAMPLING, fail)
        assert (await memory.call(SAMPLING, Server().send)).value == "ok"

    asyncio.run(scene())


@pytest.mark.parametrize(
    ("error", "name"),
    [
        pytest.param(
            {"param": "max_tokens", "code": "unsupported_parameter", "message": "Use 'max_completion_tokens' instead."},
            "max_tokens",
            id="by param and code",
        ),
        pytest.param(
            {"param": "temperature", "code": "unsupported_value", "message": "does not support 0.7 with this model"},
            "temperature",
            id="an unsupported value",
        ),
        pytest.param({"message": "Unrecognized request argument supplied: seed"}, "seed", id="by words"),
        pytest.param({"message": "`temperature` is deprecated for this model."}, "temperature", id="deprecated"),
        pytest.param(
            {"code": "400", "message": "temperature: Extra inputs are not permitted"}, "temperature", id="extra input"
        ),
        pytest.param({"param": "body.seed", "code": "extra_forbidden", "message": "no"}, "seed", id="with its path"),
        pytest.param({"message": "seed and max_tokens are not supported"}, "seed", id="the first of two"),
        pytest.param({"message": "top_p is not supported"}, None, id="one that was not sent"),
        pytest.param({"message": "max_completion_tokens is not supported"}, None, id="a longer name"),
        pytest.param({"param": "messages", "message": "temperature not supported"}, None, id="another param"),
        pytest.param(
            {"param": "max_tokens", "message": "max_tokens is too large: 9. This model supports at most 8."},
            None,
            id="too large a value",
        ),
        pytest.param(
            {"param": "temperature", "code": "decimal_above_max_value", "message": "Unsupported: above maximum"},
            None,
            id="another code",
        ),
        pytest.param({"param": "temperature", "message": "temperature must be a number"}, None, id="a wrong type"),
    ],
)
def test_only_an_unsupported_parameter_counts_as_refused(error: dict[str, Any], name: str | None) -> None:
    assert refused_parameter(SAMPLING, **{"param": None, "code": None, **error}) == name


def test_a_refused_header_stands_for_its_parameter() -> None:
    also = (("anthropic-version", "temperature"), ("anthropic-version", "top_p"))
    message = "anthropic-version: 2023-06-01 is not a valid version"
    assert refused_parameter({"top_p": 1}, param=None, code=None, message=message, also=also) == "top_p"
