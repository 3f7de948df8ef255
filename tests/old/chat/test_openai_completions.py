"""The real SDK against a real server, for `/v1/completions` with an fschat template."""

import pytest

from harness.old.chat import resolve
from harness.old.chat.openai_completions import check_template, prompt_of
from harness.old.errors import UsageError
from harness.old.records import Message, Reply, Request, Sampling, Usage
from tests.old.chat.asking import replies_of
from tests.old.protocol_server import ProtocolServer, Said

TALK = (
    Message("system", "Be brief."),
    Message("user", "one"),
    Message("assistant", "two"),
    Message("user", "three"),
)


def ask(server: ProtocolServer, template: str = "vicuna_v1.1", sampling: Sampling | None = None) -> Reply:
    endpoint = resolve("v", base_url=server.openai_url, conv_template=template, environ={})
    return replies_of(endpoint, [Request(TALK, sampling or Sampling())])[0]


def test_the_prompt_is_the_templates() -> None:
    assert prompt_of("vicuna_v1.1", TALK) == "Be brief. USER: one ASSISTANT: two</s>USER: three ASSISTANT:"
    assert prompt_of("zephyr", TALK[1:2]).endswith("<|user|>\none</s>\n<|assistant|>\n")


def test_the_templates_own_system_message_stays_unless_there_is_one() -> None:
    assert prompt_of("vicuna_v1.1", TALK[1:]).startswith("A chat between")


def test_an_empty_earlier_reply_stands_as_a_placeholder() -> None:
    messages = (Message("user", "one"), Message("assistant", ""), Message("user", "two"))
    assert "ASSISTANT: (no reply)</s>" in prompt_of("vicuna_v1.1", messages)


def test_a_call_has_prompt_stops_and_a_limit() -> None:
    with ProtocolServer() as server:
        reply = ask(server, "zephyr", Sampling(temperature=0.2))
    (asked,) = server.requests
    assert asked.path == "/v1/completions"
    assert asked.body == {
        "model": "v",
        "prompt": prompt_of("zephyr", TALK),
        "max_tokens": 1024,
        "temperature": 0.2,
        "stop": ["</s>"],
        "stop_token_ids": [2],
    }
    assert reply.applied["max_tokens"] == 1024
    assert reply.applied["temperature"] == 0.2


def test_a_template_with_several_stops_sends_them_all() -> None:
    with ProtocolServer() as server:
        ask(server, "aquila-chat")
    assert server.requests[0].body["stop"] == ["###", "</s>", "[UNK]"]


def test_a_server_that_knows_no_stop_tokens_is_asked_without() -> None:
    with ProtocolServer(refuses={"stop_token_ids"}) as server:
        assert "stop_token_ids" not in ask(server, "zephyr").applied
    assert server.statuses == {400: 1, 200: 1}


@pytest.mark.parametrize(
    ("said", "text", "reasoning", "finish"),
    [
        pytest.param(Said(" four \n"), "four", None, "stop", id="blank space around it"),
        pytest.param(Said(" <think>2+2</think> four"), "four", "2+2", "stop", id="thought"),
        pytest.param(Said(" fo", finish="length"), "fo", None, "length", id="cut"),
        pytest.param(Said(""), "", None, "empty", id="nothing"),
    ],
)
def test_the_reply_is_the_text_alone(said: Said, text: str, reasoning: str | None, finish: str) -> None:
    with ProtocolServer(lambda asked: said) as server:
        reply = ask(server)
    assert (reply.text, reply.reasoning, reply.finish_reason) == (text, reasoning, finish)
    assert reply.usage != Usage()


def test_all_templates_of_chat_models_build_prompts() -> None:
    from fastchat.conversation import conv_templates

    refused = []
    for name in conv_templates:
        try:
            check_template(name)
        except UsageError:
            refused.append(name)
    assert sorted(refused) == ["bard", "chatgpt", "gemini", "pplxai", "steerlm"]
