"""Bodies of answers in whatever framing, read as the same reply."""

import json
from typing import Any

import pytest

from harness.errors import TransientError
from harness.models.decoding import decoded
from tests.models.asking import ask, request
from tests.servers import Call, Rule, Server, chunks_of, reply_of

CALL = Call("/v1/chat/completions", {}, {"model": "m", "stream_options": {"include_usage": True}})


def stream(*events: Any, end: str = "\n\n", done: bool = True) -> str:
    """Return events as a server sends them."""
    lines = [f"data: {json.dumps(event)}" for event in events]
    return "".join(line + end for line in [*lines, *(["data: [DONE]"] if done else [])])


def chat(**rule: Any) -> list[dict[str, Any]]:
    return chunks_of(CALL, Rule(say="The Danube.", **rule))


@pytest.mark.parametrize("end", ["\n\n", "\r\n\r\n"])
@pytest.mark.parametrize("kind", ["text/event-stream", "application/json", "text/plain"])
def test_a_stream_that_nobody_asked_for_is_read(end: str, kind: str) -> None:
    text = ": keep-alive" + end + stream(*chat(reasoning="Which?", finish="length"), end=end)
    with Server(Rule(content=text, headers={"Content-Type": kind})) as server:
        reply = ask(server, request("Hi."))
    assert (reply.text, reply.detail.reasoning) == ("The Danube.", "Which?")
    assert (reply.detail.finish_reason, reply.detail.usage.completion_tokens) == ("length", 2)


@pytest.mark.parametrize("kind", ["text/plain", "text/html", "application/octet-stream"])
def test_json_is_read_whatever_it_is_called(kind: str) -> None:
    body = "\ufeff" + json.dumps(reply_of(CALL, Rule(say="The Danube.")))
    with Server(Rule(content=body, headers={"Content-Type": kind})) as server:
        assert ask(server, request("Hi.")).text == "The Danube."


def test_a_whole_reply_in_one_event_is_read() -> None:
    with Server(Rule(content=stream(reply_of(CALL, Rule(say="The Danube."))))) as server:
        assert ask(server, request("Hi.")).text == "The Danube."


@pytest.mark.parametrize("text", [stream(*chat()[:-2], done=False), "data: \n\n", "data: {\n\n"])
def test_a_stream_without_an_end_is_no_reply(text: str) -> None:
    with Server(Rule(content=text)) as server, pytest.raises(TransientError):
        ask(server, request("Hi."))


def test_a_stream_of_completions_is_read() -> None:
    events = [
        {"choices": [{"text": "The ", "finish_reason": None}]},
        {"choices": [{"text": "Danube.", "finish_reason": "stop"}]},
    ]
    with Server(Rule(content=stream(*events))) as server:
        reply = ask(server, request("Hi."), provider="completions", conv_template="zero_shot")
    assert reply.text == "The Danube."


def test_a_stream_of_responses_is_read() -> None:
    call = Call("/v1/responses", {}, {"model": "m"})
    whole = reply_of(call, Rule(say="The Danube."))
    events = [
        {"type": "response.created", "response": {"status": "in_progress"}},
        {"type": "response.output_text.delta", "delta": "The Danube."},
        {"type": "response.completed", "response": whole},
    ]
    with Server(Rule(content=stream(*events))) as server:
        assert ask(server, request("Hi."), provider="openai_responses").text == "The Danube."
    with Server(Rule(content=stream(*events[:2]))) as server, pytest.raises(TransientError):
        ask(server, request("Hi."), provider="openai_responses")


def test_a_stream_of_anthropics_messages_is_read() -> None:
    def block(number: int, kind: str, *pieces: str) -> list[dict[str, Any]]:
        deltas = [{"type": f"{kind}_delta", kind: piece} for piece in pieces]
        start = {
            "type": "content_block_start",
            "index": number,
            "content_block": {"type": kind, kind: ""},
        }
        return [
            start,
            *({"type": "content_block_delta", "index": number, "delta": d} for d in deltas),
        ]

    events = [
        {"type": "message_start", "message": {"model": "m", "usage": {"input_tokens": 7}}},
        *block(0, "thinking", "Which", "?"),
        *block(1, "text", "The ", "Danube."),
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn"},
            "usage": {"output_tokens": 3},
        },
        {"type": "message_stop"},
    ]
    text = "".join(f"event: {event['type']}\n{stream(event, done=False)}" for event in events)
    with Server(Rule(content=text)) as server:
        reply = ask(server, request("Hi."), provider="anthropic")
    assert (reply.text, reply.detail.reasoning) == ("The Danube.", "Which?")
    usage = reply.detail.usage
    assert (usage.prompt_tokens, usage.completion_tokens) == (7, 3)


def test_a_line_separator_within_json_ends_no_event() -> None:
    event = {"choices": [{"delta": {"content": "a\u2028b"}, "finish_reason": "stop"}]}
    text = f"data: {json.dumps(event, ensure_ascii=False)}\n\n"
    assert decoded(text.encode())["choices"][0]["message"]["content"] == "a\u2028b"
