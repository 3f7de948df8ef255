"""Schemas and log-probabilities over the wire: what is sent, what is read, and what is done about a refusal."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from harness.old.chat import resolve
from harness.old.chat.structured import strict
from harness.old.errors import ChatError, EndpointError, TransientError
from harness.old.records import Message, Reply, Request, TokenLogprobs
from tests.old.chat.asking import replies_of
from tests.old.protocol_server import ProtocolServer, Said, bad_request, rate_limited, verdict

SCHEMA = {"type": "object", "properties": {"why": {"type": "string"}, "score": {"type": "integer"}}}
CLOSED = {**SCHEMA, "required": ["why", "score"], "additionalProperties": False}
ASKED = (Message("user", "Grade it."),)
LIKELY = Said("4", logprobs=[("4", {"4": 0.5, "5": 0.25, "3": 0.125})])


def ask(server: ProtocolServer, requests: Sequence[Request], *, provider: str = "openai") -> list[Reply]:
    """Return the replies of one model object, asked one after another."""
    environ = {"ANTHROPIC_API_KEY": "sk-ant-0123456789", "ANTHROPIC_BASE_URL": server.anthropic_url}
    endpoint = {
        "openai": lambda: resolve("test-model", base_url=server.openai_url, environ=environ),
        "anthropic": lambda: resolve("claude-x", environ=environ),
        "completions": lambda: resolve(
            "test-model", base_url=server.openai_url, conv_template="vicuna_v1.1", environ=environ
        ),
    }[provider]()
    return replies_of(endpoint, requests, environ, in_turn=True)


def test_a_schema_is_closed_at_every_depth() -> None:
    inner = {"type": "object", "properties": {"a": {"type": "array", "items": SCHEMA}}}
    assert strict(SCHEMA) == CLOSED
    assert strict(inner)["properties"]["a"]["items"] == CLOSED
    assert strict({"anyOf": [SCHEMA, {"type": "null"}]}) == {"anyOf": [CLOSED, {"type": "null"}]}
    assert "required" not in SCHEMA


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_a_schema_is_sent_and_the_reply_says_that_it_was(provider: str) -> None:
    with ProtocolServer(verdict) as server:
        (reply,) = ask(server, [Request(ASKED, schema=SCHEMA)], provider=provider)
    body = server.requests[0].body
    if provider == "openai":
        form = {"name": "verdict", "strict": True, "schema": CLOSED}
        assert body["response_format"] == {"type": "json_schema", "json_schema": form}
    else:
        assert body["output_config"] == {"format": {"type": "json_schema", "schema": CLOSED}}
    assert json.loads(reply.text)["score"] in range(1, 6)
    assert reply.applied["structured"] is True
    assert not {"response_format", "output_config"} & reply.applied.keys()


@pytest.mark.parametrize(
    ("provider", "fault"),
    [
        pytest.param("openai", bad_request("Unknown parameter: 'response_format'."), id="unknown"),
        pytest.param("openai", bad_request("This response_format type is unavailable now"), id="unavailable"),
        pytest.param(
            "openai",
            bad_request(
                "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
                param="response_format",
            ),
            id="type not supported",
        ),
        pytest.param("anthropic", bad_request("output_config.format: Extra inputs are not permitted"), id="Anthropic"),
    ],
)
def test_a_refused_schema_falls_back_to_words_once(provider: str, fault: Any) -> None:
    with ProtocolServer(faults={0: fault}) as server:
        first, second = ask(server, [Request(ASKED, schema=SCHEMA)] * 2, provider=provider)
    assert [("response_format" in asked.body or "output_config" in asked.body) for asked in server.requests] == [
        True,
        False,
        False,
    ]
    for reply in (first, second):
        assert reply.applied["structured"] is False
        assert "takes no JSON schema" in (reply.note or "")


def test_without_a_schema_nothing_is_said_of_one() -> None:
    with ProtocolServer() as server:
        (reply,) = ask(server, [Request(ASKED)])
    assert "structured" not in reply.applied
    assert reply.note is None


@pytest.mark.parametrize("provider", ["openai", "completions"])
def test_log_probabilities_are_asked_for_and_read(provider: str) -> None:
    with ProtocolServer(lambda asked: LIKELY) as server:
        (reply,) = ask(server, [Request(ASKED, top_logprobs=2)], provider=provider)
    body = server.requests[0].body
    asked = {"logprobs": True, "top_logprobs": 2} if provider == "openai" else {"logprobs": 2}
    assert {name: body[name] for name in asked} == asked
    assert reply.logprobs is not None
    (token,) = reply.logprobs
    assert isinstance(token, TokenLogprobs)
    assert token.token == "4"
    assert token.logprob == pytest.approx(-0.6931, abs=1e-4)
    assert [name for name, _ in token.top] == ["4", "5"]
    assert reply.applied["top_logprobs"] == 2


def test_log_probabilities_that_nobody_asked_for_are_not_sent() -> None:
    with ProtocolServer(lambda asked: LIKELY) as server:
        (reply,) = ask(server, [Request(ASKED)])
    assert "logprobs" not in server.requests[0].body
    assert reply.logprobs is None


@pytest.mark.parametrize(
    ("options", "requests"),
    [
        pytest.param({"responder": lambda asked: "4"}, 1, id="ignored"),
        pytest.param({"refuses": {"logprobs"}}, 1, id="refused"),
        pytest.param({"refuses": {"top_logprobs"}}, 1, id="top refused"),
        pytest.param(
            {"faults": {0: bad_request("You are not allowed to request logprobs from this model.", status=403)}},
            1,
            id="not allowed",
        ),
        pytest.param({"faults": {0: bad_request("top_logprobs must be at most 5")}}, 1, id="too many"),
    ],
)
def test_an_endpoint_without_log_probabilities_is_refused_by_name(options: dict[str, Any], requests: int) -> None:
    with (
        ProtocolServer(**options) as server,
        pytest.raises(EndpointError, match=r"test-model at http://127.* no log-probabilities.*score_method text"),
    ):
        ask(server, [Request(ASKED, top_logprobs=5)])
    assert len(server.requests) == requests


def test_anthropic_is_refused_before_any_call() -> None:
    with ProtocolServer() as server, pytest.raises(EndpointError, match=r"claude-x .*returns no log-probabilities"):
        ask(server, [Request(ASKED, top_logprobs=5)], provider="anthropic")
    assert not server.requests


def test_an_empty_reply_is_not_held_against_the_endpoint() -> None:
    with ProtocolServer(lambda asked: Said("", finish="content_filter")) as server:
        (reply,) = ask(server, [Request(ASKED, top_logprobs=5)])
    assert (reply.logprobs, reply.finish_reason) == (None, "refused")


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        pytest.param(rate_limited(), TransientError, id="transient"),
        pytest.param(bad_request("messages: wrong"), ChatError, id="something else"),
    ],
)
def test_other_failures_stay_what_they_are(fault: Any, kind: type[ChatError]) -> None:
    with ProtocolServer(faults={0: fault}) as server, pytest.raises(ChatError) as caught:
        ask(server, [Request(ASKED, top_logprobs=5)])
    assert type(caught.value) is kind


@pytest.mark.parametrize(
    "given",
    [
        {"content": [{"token": 4}]},
        {"content": [{"token": "4", "logprob": None}]},
        {"content": "x"},
        {"content": []},
        [],
        "x",
    ],
)
def test_log_probabilities_of_another_shape_are_none(given: Any) -> None:
    from types import SimpleNamespace

    from harness.old.chat.structured import token_logprobs

    places = given.get("content") if isinstance(given, dict) else None
    content = [SimpleNamespace(**place) for place in places] if isinstance(places, list) else places
    assert token_logprobs(content) is None
    assert token_logprobs(given) is None
