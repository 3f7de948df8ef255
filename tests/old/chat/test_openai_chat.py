"""The real SDK against a real server: what is sent, what is read, and what is learnt, for chat completions."""

import asyncio
import dataclasses
import json
from typing import Any

import pytest

from harness.old.chat import Endpoint, open_chat_model, resolve
from harness.old.chat import openai_chat as provider
from harness.old.chat.openai_chat import limit_name
from harness.old.errors import ChatError, EndpointError, TransientError
from harness.old.records import Message, Reply, Request, Sampling, Usage
from tests.old.chat.asking import replies_of
from tests.old.protocol_server import ProtocolServer, Said, bad_request, dropped, raw, slow_drip

KEY = "sk-test-0123456789"
ENVIRON = {"MY_KEY": KEY}
HELLO = Request((Message("system", "Be brief."), Message("user", "Say hello.")))


def endpoint_of(server: ProtocolServer, **options: Any) -> Endpoint:
    return resolve("test-model", base_url=server.openai_url, api_key_env="MY_KEY", environ=ENVIRON, **options)


def ask(server: ProtocolServer, request: Request = HELLO, **options: Any) -> Reply:
    return replies_of(endpoint_of(server, **options), [request], ENVIRON)[0]


def test_only_what_is_stated_is_sent() -> None:
    with ProtocolServer() as server:
        reply = ask(server)
        ask(server, Request(HELLO.messages, Sampling(temperature=0, max_tokens=5, top_p=0.5, seed=3)))
    bare, full = (asked.body for asked in server.requests)
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Say hello."}]
    assert bare == {"model": "test-model", "messages": messages}
    assert full == {**bare, "temperature": 0, "max_tokens": 5, "top_p": 0.5, "seed": 3}
    assert reply.applied == {}


def test_a_reply_has_everything_that_the_server_said() -> None:
    usage = {
        "prompt_tokens": 7,
        "completion_tokens": 5,
        "total_tokens": 12,
        "completion_tokens_details": {"reasoning_tokens": 2},
        "prompt_tokens_details": {"cached_tokens": 4},
    }
    with ProtocolServer(lambda asked: Said("Hello!", usage=usage, model="test-model-2026")) as server:
        reply = ask(server, Request(HELLO.messages, Sampling(temperature=0.7)))
    assert reply.text == "Hello!"
    assert (reply.finish_reason, reply.model, reply.reasoning) == ("stop", "test-model-2026", None)
    assert reply.usage == Usage(7, 5, 2, 4)
    assert reply.applied == {"temperature": 0.7}
    assert reply.seconds is not None
    assert 0 < reply.seconds < 10


@pytest.mark.parametrize(
    ("said", "text", "reasoning", "finish"),
    [
        pytest.param(Said("four", reasoning="2+2"), "four", "2+2", "stop", id="reasoning_content"),
        pytest.param(Said("four", message={"reasoning": "2+2"}), "four", "2+2", "stop", id="reasoning"),
        pytest.param(Said("four", message={"reasoning": {"a": 1}}), "four", None, "stop", id="reasoning is no text"),
        pytest.param(Said("<think>2+2</think>\nfour"), "four", "2+2", "stop", id="leading tags"),
        pytest.param(Said("<think>2+2", finish="length"), "", "2+2", "length", id="cut while thinking"),
        pytest.param(Said("2+2</think>four"), "four", "2+2", "stop", id="lone closing tag"),
        pytest.param(
            Said(content=[{"type": "thinking", "thinking": "2+2"}, {"type": "text", "text": "four"}]),
            "four",
            "2+2",
            "stop",
            id="blocks",
        ),
        pytest.param(Said("fo", finish="length"), "fo", None, "length", id="cut"),
        pytest.param(Said("", finish="content_filter"), "", None, "refused", id="filtered"),
        pytest.param(Said(None, finish="content_filter"), "", None, "refused", id="filtered, no content"),
        pytest.param(Said(None, refusal="I can't."), "I can't.", None, "refused", id="refusal"),
        pytest.param(Said(None), "", None, "empty", id="no content"),
        pytest.param(Said(" \n"), " \n", None, "empty", id="blank"),
        pytest.param(Said("x", finish="strange"), "x", None, "unstated", id="a word of its own"),
        pytest.param(Said("a\0b\ud800c"), "a\ufffdb\ufffdc", None, "stop", id="cannot be stored"),
        pytest.param(Said("a\U0001f600"), "a\U0001f600", None, "stop", id="a pair of surrogates on the wire"),
    ],
)
def test_text_reasoning_and_end_are_told_apart(said: Said, text: str, reasoning: str | None, finish: str) -> None:
    with ProtocolServer(lambda asked: said) as server:
        reply = ask(server)
    assert (reply.text, reply.reasoning, reply.finish_reason) == (text, reasoning, finish)


def test_usage_of_any_shape_is_survived() -> None:
    usage = {"prompt_tokens": "7", "completion_tokens": -1, "completion_tokens_details": None}
    with ProtocolServer(lambda asked: Said("x", usage=usage)) as server:
        assert ask(server).usage == Usage()


def test_a_question_with_half_a_character_is_sent_without_it() -> None:
    with ProtocolServer() as server:
        ask(server, Request((Message("user", "a\ud800b"),)))
    assert server.requests[0].texts == ["a\ufffdb"]


# Keys


def test_a_named_key_is_sent_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-for-you")
    with ProtocolServer(api_key=KEY) as server:
        ask(server)
    assert server.requests[0].key == KEY


def test_without_a_key_nothing_says_who_is_asking(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "sk-not-for-you")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer sk-not-for-you")
    with ProtocolServer() as server:
        replies_of(resolve("m", base_url=server.openai_url, environ={}), [HELLO], ENVIRON)
    assert server.requests[0].key is None
    assert "sk-not-for-you" not in str(server.requests[0].headers)


def test_a_refused_key_stops_the_run_and_is_not_repeated() -> None:
    with (
        ProtocolServer(api_key="another") as server,
        pytest.raises(EndpointError, match=r"401: Incorrect API key .*check the key in MY_KEY") as caught,
    ):
        ask(server)
    assert KEY not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_a_proxy_is_not_used_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with ProtocolServer() as server:
        assert ask(server).text


# The limit on tokens


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("https://api.openai.com/v1", "max_completion_tokens"),
        ("https://eu.api.openai.com/v1", "max_completion_tokens"),
        ("http://localhost:8000/v1", "max_tokens"),
        ("https://api.openai.com.example.org/v1", "max_tokens"),
    ],
)
def test_the_limit_has_the_name_that_the_address_knows(address: str, name: str) -> None:
    assert limit_name(address) == name


def test_the_providers_own_address_is_used_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "")
    with ProtocolServer() as server:
        own = dataclasses.replace(provider.SERVICE, address=server.openai_url)
        monkeypatch.setattr(provider, "SERVICE", own)
        environ = {"OPENAI_API_KEY": KEY}
        replies_of(resolve("gpt-4o", environ=environ), [HELLO], environ)
    assert (server.requests[0].path, server.requests[0].model) == ("/v1/chat/completions", "gpt-4o")


# Refused parameters


def test_a_model_that_takes_no_temperature_just_works() -> None:
    request = Request(HELLO.messages, Sampling(temperature=0.7, max_tokens=5))
    with ProtocolServer(refuses={"temperature", "max_tokens"}) as server:
        first, *others = replies_of(endpoint_of(server), [request] * 30, ENVIRON)
    repaired = [asked for asked in server.requests if asked.tries == 0]
    assert len(repaired) == 3
    assert server.statuses[200] == 30
    assert all(reply.applied == {"max_completion_tokens": 5} for reply in (first, *others))


def test_a_refusal_that_the_name_makes_likely_is_met_by_one_lone_call() -> None:
    request = Request(HELLO.messages, Sampling(temperature=0.7))
    with ProtocolServer(refuses={"temperature"}) as server:
        endpoint = dataclasses.replace(endpoint_of(server), model="gpt-5-mini")
        replies_of(endpoint, [request] * 30, ENVIRON)
    assert server.statuses == {400: 1, 200: 30}


def test_many_refused_calls_wait_for_the_one_that_is_repaired() -> None:
    request = Request(HELLO.messages, Sampling(temperature=0.7))
    with ProtocolServer(lambda asked: Said("ok", latency=0.05), refuses={"temperature"}) as server:
        found = replies_of(endpoint_of(server), [request] * 20, ENVIRON)
    repaired = [asked for asked in server.requests if "temperature" not in asked.body]
    assert server.statuses[400] > 1
    assert len(found) == len(repaired) == 20
    assert repaired[0].answered is not None
    assert all(asked.arrived >= repaired[0].answered for asked in repaired[1:])


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        pytest.param(bad_request("temperature must be at most 2", param="temperature"), "bad request", id="value"),
        pytest.param(bad_request("messages: wrong"), "bad request", id="something else"),
        pytest.param(bad_request("temperature is not supported", status=422), "bad request", id="not a 400"),
    ],
)
def test_no_other_bad_request_is_tried_again(fault: Any, kind: str) -> None:
    with ProtocolServer(faults={0: fault}) as server, pytest.raises(ChatError) as caught:
        ask(server, Request(HELLO.messages, Sampling(temperature=3)))
    assert type(caught.value) is ChatError
    assert (caught.value.kind, len(server.requests)) == (kind, 1)


def test_a_transient_error_of_the_repaired_call_keeps_the_repair() -> None:
    request = Request(HELLO.messages, Sampling(temperature=0.7))
    with ProtocolServer(refuses={"temperature"}, faults={1: dropped()}) as server:

        async def scene() -> Reply:
            model = open_chat_model(endpoint_of(server), environ=ENVIRON)
            with pytest.raises(TransientError):
                await model.reply(request)
            reply = await model.reply(request)
            await model.close()
            return reply

        assert asyncio.run(scene()).applied == {}
    assert server.statuses == {400: 1, 0: 1, 200: 1}


# Time, connections, concurrency


def test_the_time_limit_holds_for_the_whole_call() -> None:
    with (  # each byte comes in time, the whole does not
        ProtocolServer(faults={0: slow_drip(0.05)}) as server,
        pytest.raises(TransientError, match=r"did not answer within 0\.2 s") as caught,
    ):
        ask(server, timeout=0.2)
    assert caught.value.kind == "timeout"


def test_a_silent_server_is_a_timeout() -> None:
    with (
        ProtocolServer(lambda asked: Said("late", latency=30)) as server,
        pytest.raises(TransientError, match="did not answer") as caught,
    ):
        ask(server, timeout=0.2)
    assert (caught.value.kind, caught.value.connected) == ("timeout", True)


def test_hundreds_of_calls_share_their_connections() -> None:
    requests = [Request((Message("user", f"question {number}"),)) for number in range(300)]

    async def scene(server: ProtocolServer) -> list[Reply]:
        model = open_chat_model(endpoint_of(server), environ=ENVIRON)
        first = await asyncio.gather(*(model.reply(request) for request in requests))
        again = await asyncio.gather(*(model.reply(request) for request in requests))
        await model.close()
        assert [reply.text for reply in first] == [reply.text for reply in again]
        return first

    with ProtocolServer() as server:
        texts = {reply.text for reply in asyncio.run(scene(server))}
    assert len(texts) == 300
    assert server.statuses == {200: 600}
    assert server.connections <= 300


def test_a_cancelled_call_leaves_the_model_usable() -> None:
    async def scene(server: ProtocolServer) -> str:
        model = open_chat_model(endpoint_of(server), environ=ENVIRON)
        call = asyncio.create_task(model.reply(HELLO))
        while not server.requests:
            await asyncio.sleep(0.001)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        reply = await model.reply(HELLO)
        await model.close()
        await model.close()
        return reply.text

    with ProtocolServer(lambda asked: Said("ok", latency=30 if asked.number == 0 else 0)) as server:
        assert asyncio.run(scene(server)) == "ok"


def test_both_transports_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    from harness.old.chat import wire

    with ProtocolServer(lambda asked: "ok") as server:
        assert ask(server).text == "ok"
        monkeypatch.setattr(wire, "has_aiohttp", lambda: False)
        assert ask(server).text == "ok"
    first, second = server.requests
    assert first.body == second.body


def test_a_body_of_another_kind_is_no_reply() -> None:
    with (
        ProtocolServer(faults={0: raw(json.dumps([1, 2]).encode())}) as server,
        pytest.raises(TransientError) as caught,
    ):
        ask(server)
    assert caught.value.kind == "malformed reply"


# A forgotten /v1


@pytest.mark.parametrize("template", [None, "vicuna_v1.1"])
def test_a_forgotten_v1_is_tried_and_said_once(template: str | None, caplog: pytest.LogCaptureFixture) -> None:
    with ProtocolServer() as server:
        endpoint = resolve("m", base_url=server.url, conv_template=template)
        asked = [Request((Message("user", f"Say {number}."),)) for number in range(8)]
        with caplog.at_level("WARNING", "turnbench"):
            said = replies_of(endpoint, asked, ENVIRON)
        assert len(said) == 8
        found = [each.path for each in server.requests]
        (line,) = caplog.messages
        assert line == f"m: nothing answers at {server.url}; using {server.openai_url}, which --base-url should name"
    assert len([path for path in found if path.startswith("/v1/")]) == 8


def test_where_that_helps_nothing_both_places_are_named() -> None:
    with ProtocolServer(models=["other"]) as server:
        with pytest.raises(EndpointError, match="check the model's name") as caught:
            replies_of(resolve("m", base_url=server.url), [HELLO], ENVIRON)
        assert f"nothing answers at {server.openai_url} either" in str(caught.value)
        assert len(server.requests) == 2


def test_an_address_with_a_path_is_taken_at_its_word() -> None:
    with ProtocolServer() as server, pytest.raises(EndpointError):
        replies_of(resolve("m", base_url=f"{server.url}/api"), [HELLO], ENVIRON)
    assert len(server.requests) == 1
