"""The real SDK against a real server, for Anthropic's messages."""

from collections.abc import Sequence
from typing import Any

import pytest

from harness.old.chat import resolve
from harness.old.errors import ChatError, TransientError
from harness.old.records import Message, Reply, Request, Sampling, Usage
from tests.old.chat.asking import replies_of
from tests.old.protocol_server import ProtocolServer, Said, bad_request, slow_drip

KEY = "sk-ant-0123456789"
HELLO = (Message("system", "Be brief."), Message("user", "Say hello."))
UNSTATED = Sampling()
OLD, NEW = "2023-06-01", "2026-10-21"


def ask_all(server: ProtocolServer, requests: Sequence[Request], **options: Any) -> list[Reply]:
    environ = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.anthropic_url}
    return replies_of(resolve("claude-x", environ=environ, **options), requests, environ)


def ask(server: ProtocolServer, sampling: Sampling = UNSTATED, messages: tuple[Message, ...] = HELLO) -> Reply:
    return ask_all(server, [Request(messages, sampling)])[0]


def test_the_protocol_is_spoken_as_the_sdk_of_today_does() -> None:
    with ProtocolServer(api_key=KEY) as server:
        reply = ask(server)
    (asked,) = server.requests
    assert asked.path == "/v1/messages"
    assert asked.headers["anthropic-version"] == NEW
    assert asked.body == {
        "model": "claude-x",
        "max_tokens": 4096,
        "system": "Be brief.",
        "messages": [{"role": "user", "content": "Say hello."}],
    }
    assert reply.applied == {"max_tokens": 4096}
    assert reply.finish_reason == "stop"


def test_a_gateway_also_gets_the_key_in_the_older_header() -> None:
    with ProtocolServer() as server:
        ask(server)
    headers = server.requests[0].headers
    assert (headers["authorization"], headers["x-api-key"]) == (f"Bearer {KEY}", KEY)


def test_a_temperature_goes_out_under_the_version_that_had_it() -> None:
    with ProtocolServer() as server:
        reply = ask(server, Sampling(temperature=0.5, top_p=0.9, max_tokens=7, seed=1))
    (asked,) = server.requests
    assert asked.headers["anthropic-version"] == OLD
    assert (asked.body["temperature"], asked.body["top_p"], asked.body["max_tokens"]) == (0.5, 0.9, 7)
    assert "seed" not in asked.body
    assert reply.applied == {"temperature": 0.5, "top_p": 0.9, "max_tokens": 7}


def test_a_model_that_takes_no_temperature_is_asked_without_in_the_new_version() -> None:
    request = Request(HELLO, Sampling(temperature=0.5, max_tokens=7))
    with ProtocolServer(refuses={"temperature"}) as server:
        found = ask_all(server, [request] * 10)
    assert server.statuses == {400: 1, 200: 10}
    assert [asked.headers["anthropic-version"] for asked in server.requests] == [OLD] + [NEW] * 10
    assert all(reply.applied == {"max_tokens": 7} for reply in found)


def test_a_service_that_drops_the_old_version_is_asked_in_the_new_one() -> None:
    refusal = bad_request("anthropic-version: 2023-06-01 is not a valid version")

    def plan(asked: Any) -> Any:
        return refusal if asked.headers["anthropic-version"] == OLD else None

    with ProtocolServer(faults=plan) as server:
        assert ask(server, Sampling(temperature=0.5, top_p=0.9)).applied == {"max_tokens": 4096}
    assert server.statuses == {400: 2, 200: 1}


def test_the_limit_is_never_left_out() -> None:
    with ProtocolServer(refuses={"max_tokens"}) as server, pytest.raises(ChatError, match="max_tokens") as caught:
        ask(server)
    assert (caught.value.kind, len(server.requests)) == ("bad request", 1)


def test_a_great_limit_needs_no_streaming() -> None:
    with ProtocolServer() as server:
        assert ask(server, Sampling(max_tokens=60_000)).applied == {"max_tokens": 60_000}


def test_roles_take_turns_and_no_message_is_empty() -> None:
    messages = (
        Message("user", "one"),
        Message("assistant", ""),
        Message("user", "two"),
        Message("user", "three \ud800"),
    )
    with ProtocolServer() as server:
        ask(server, messages=messages)
    body = server.requests[0].body
    assert "system" not in body
    assert body["messages"] == [
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": "(no reply)"},
        {"role": "user", "content": "two\n\nthree \ufffd"},
    ]


def test_a_reply_has_everything_that_the_server_said() -> None:
    usage = {
        "input_tokens": 3,
        "cache_read_input_tokens": 4,
        "cache_creation_input_tokens": 5,
        "output_tokens": 6,
        "output_tokens_details": {"thinking_tokens": 2},
    }
    with ProtocolServer(lambda asked: Said("four", reasoning="2+2", usage=usage, model="claude-x-1")) as server:
        reply = ask(server)
    assert (reply.text, reply.reasoning, reply.model) == ("four", "2+2", "claude-x-1")
    assert reply.usage == Usage(12, 6, 2, 4, 5)
    assert reply.seconds is not None


@pytest.mark.parametrize(
    ("said", "text", "finish"),
    [
        pytest.param(Said("x", finish="stop_sequence"), "x", "stop", id="stop sequence"),
        pytest.param(Said("x", finish="max_tokens"), "x", "length", id="limit"),
        pytest.param(Said("x", finish="model_context_window_exceeded"), "x", "length", id="context"),
        pytest.param(Said("", finish="refusal"), "", "refused", id="refusal"),
        pytest.param(Said("x", finish="new_reason"), "x", "unstated", id="a new reason"),
        pytest.param(Said(content=[]), "", "empty", id="no blocks"),
        pytest.param(Said(content=[{"type": "thinking", "thinking": "hm"}]), "", "empty", id="thought"),
        pytest.param(
            Said(content=[{"type": "text", "text": "a"}, {"type": "new"}, {"type": "text", "text": "b"}]),
            "ab",
            "stop",
            id="several blocks",
        ),
        pytest.param(Said("a\0\udfff"), "a\ufffd\ufffd", "stop", id="cannot be stored"),
    ],
)
def test_text_and_end_are_read(said: Said, text: str, finish: str) -> None:
    with ProtocolServer(lambda asked: said) as server:
        reply = ask(server)
    assert (reply.text, reply.finish_reason) == (text, finish)


def test_without_a_key_none_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-not-for-you")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "sk-ant-not-for-you")
    with ProtocolServer() as server:
        replies_of(resolve("claude-x", environ={"ANTHROPIC_BASE_URL": server.url}), [Request(HELLO)])
    assert server.requests[0].key is None
    assert "not-for-you" not in str(server.requests[0].headers)


def test_the_time_limit_holds_for_the_whole_call() -> None:
    with (
        ProtocolServer(faults={0: slow_drip(0.05)}) as server,
        pytest.raises(TransientError, match=r"did not answer within 0\.2 s"),
    ):
        ask_all(server, [Request(HELLO)], timeout=0.2)


def test_what_other_requests_begin_with_is_marked_for_the_cache_once_it_is_long_enough() -> None:
    contents = []
    for text in ("x" * 5000, "x" * 500):
        with ProtocolServer() as server:
            ask_all(server, [Request((Message("user", f"{text} Criterion: wit"),), UNSTATED, shared=len(text))])
        contents.append(server.requests[0].body["messages"][0]["content"])
    head = {"type": "text", "text": "x" * 5000, "cache_control": {"type": "ephemeral"}}
    assert contents[0] == [head, {"type": "text", "text": " Criterion: wit"}]
    assert contents[1] == "x" * 500 + " Criterion: wit"
