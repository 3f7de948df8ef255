"""What is sent in each protocol, and what is read of its answers, by the real SDKs."""

import json
from typing import Any

import pytest

from harness.errors import EndpointError, UsageError
from harness.models import FREE
from harness.models.prices import cost_of
from harness.types import Request, Sampling, TokenLogprobs
from tests.models.asking import KEY, ask, request
from tests.servers import Call, Rule, Server

PROVIDERS: dict[str, dict[str, Any]] = {
    "openai": {},
    "openai_responses": {},
    "anthropic": {},
    "gemini": {},
    "azure": {"api_version": "2024-10-21"},
    "completions": {"conv_template": "zero_shot"},
}
SCHEMA = {"type": "object", "properties": {"grade": {"type": "integer"}}}
STRICT = {**SCHEMA, "required": ["grade"], "additionalProperties": False}


def sent(provider: str, message: Request, rule: Rule | None = None, **config: Any) -> Call:
    """Return the call that a request becomes."""
    with Server(*([rule] if rule else [])) as server:
        ask(server, message, provider=provider, **{**PROVIDERS[provider], **config})
    return server.calls[-1]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_conversation_of_two_turns_goes_and_comes(provider: str) -> None:
    conversation = request("One?", "1", "Two?", system="Count.", sampling=Sampling(max_tokens=64))
    rule = Rule(say="2", usage={})
    with Server(rule) as server:
        reply = ask(server, conversation, provider=provider, **PROVIDERS[provider])
    if provider == "completions":
        prompt = "Count.\n### Human: One?\n### Assistant: 1\n### Human: Two?\n### Assistant:"
        assert server.calls[0].body["prompt"] == prompt
    else:
        messages = [("system", "Count."), ("user", "One?"), ("assistant", "1"), ("user", "Two?")]
        assert server.calls[0].messages == messages
    assert (reply.text, reply.detail.finish_reason) == ("2", "stop")
    assert reply.detail.usage.prompt_tokens > 0
    assert reply.detail.usage.completion_tokens == 1
    assert reply.detail.seconds > 0
    assert 64 in reply.detail.sampling_applied.values()


@pytest.mark.parametrize(
    ("provider", "header", "value"),
    [
        ("openai", "authorization", f"Bearer {KEY}"),
        ("openai_responses", "authorization", f"Bearer {KEY}"),
        ("anthropic", "x-api-key", KEY),
        ("gemini", "x-goog-api-key", KEY),
        ("azure", "api-key", KEY),
    ],
)
def test_the_named_key_goes_and_nothing_else_from_the_environment(
    provider: str, header: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "the-providers-own")
    monkeypatch.setenv("OPENAI_ORG_ID", "our-organization")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Proxy-Secret: s3cret")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "the-providers-own")
    monkeypatch.setenv("GEMINI_API_KEY", "the-providers-own")
    call = sent(provider, request("Hi."))
    assert call.headers[header] == value
    with_none = sent(provider, request("Hi."), api_key_env=None) if provider != "azure" else call
    text = json.dumps([dict(call.headers), dict(with_none.headers)])
    assert not any(word in text for word in ("own", "our-", "s3cret"))
    assert provider == "azure" or KEY not in json.dumps(dict(with_none.headers))


def test_azure_asks_the_deployment() -> None:
    path = "/openai/deployments/my-deployment/chat/completions?api-version=2024-10-21"
    assert sent("azure", request("Hi."), model="my-deployment").path == path


def test_further_fields_and_headers_are_sent() -> None:
    sampling = Sampling(
        top_k=5,
        extra_body={"chat_template_kwargs": {"enable_thinking": False}},
        extra_headers={"X-Route": "b"},
    )
    call = sent("openai", request("Hi.", sampling=sampling))
    assert call.body["chat_template_kwargs"] == {"enable_thinking": False}
    assert (call.body["top_k"], call.headers["x-route"]) == (5, "b")


@pytest.mark.parametrize(
    ("provider", "sampling", "expected"),
    [
        pytest.param("openai", Sampling(reasoning_effort="low"), {"reasoning_effort": "low"}),
        pytest.param(
            "openai_responses",
            Sampling(reasoning_effort="low", max_tokens=9),
            {"reasoning": {"effort": "low"}, "max_output_tokens": 9, "store": False},
        ),
        pytest.param(
            "anthropic",
            Sampling(thinking_budget=1024, temperature=0.7, max_tokens=4096),
            {"thinking": {"type": "enabled", "budget_tokens": 1024}, "max_tokens": 4096},
        ),
        pytest.param(
            "anthropic",
            Sampling(reasoning_effort="low", stop=["#"]),
            {"output_config": {"effort": "low"}, "stop_sequences": ["#"], "max_tokens": 4096},
        ),
        pytest.param(
            "gemini",
            Sampling(thinking_budget=0, max_tokens=9, top_p=0.5),
            {"generationConfig": {
                "thinkingConfig": {"thinking_budget": 0}, "maxOutputTokens": 9, "topP": 0.5
            }},
        ),
        pytest.param("completions", Sampling(), {"stop": ["###"], "max_tokens": 1024}),
    ],
)  # fmt: skip
def test_parameters_have_the_protocols_names(
    provider: str, sampling: Sampling, expected: dict[str, Any]
) -> None:
    body = sent(provider, request("Hi.", sampling=sampling)).body
    assert {name: body.get(name) for name in expected} == expected
    assert "temperature" not in body


def test_a_temperature_goes_to_anthropic_under_the_version_that_has_it() -> None:
    call = sent("anthropic", request("Hi.", sampling=Sampling(temperature=0.7)))
    assert (call.body["temperature"], call.headers["anthropic-version"]) == (0.7, "2023-06-01")
    without = sent("anthropic", request("Hi."))
    assert without.headers["anthropic-version"] != "2023-06-01"


@pytest.mark.parametrize(
    ("provider", "place"),
    [
        ("openai", ["response_format", "json_schema", "schema"]),
        ("openai_responses", ["text", "format", "schema"]),
        ("anthropic", ["output_config", "format", "schema"]),
        ("gemini", ["generationConfig", "responseJsonSchema"]),
    ],
)
def test_a_schema_is_enforced(provider: str, place: list[str]) -> None:
    schema: Any = sent(provider, request("Grade.", schema=SCHEMA)).body
    for name in place:
        schema = schema[name]
    assert schema == STRICT


LOGPROBS = [("7", -0.1, [("8", -2.0), ("7", -0.1)])]


@pytest.mark.parametrize("provider", ["openai", "openai_responses"])
def test_log_probabilities_are_read_the_likeliest_first(provider: str) -> None:
    with Server(Rule(say="7", logprobs=LOGPROBS)) as server:
        reply = ask(server, request("Grade.", top_logprobs=5), provider=provider)
    assert server.calls[0].body["top_logprobs"] == 5
    assert reply.logprobs == [TokenLogprobs("7", -0.1, [("7", -0.1), ("8", -2.0)])]
    assert reply.detail.sampling_applied == {"top_logprobs": 5}


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_an_endpoint_without_log_probabilities_ends_the_run(provider: str) -> None:
    with Server() as server, pytest.raises(EndpointError, match="sent no log-probabilities"):
        ask(server, request("Grade.", top_logprobs=5), provider=provider)


@pytest.mark.parametrize("provider", ["openai", "openai_responses", "anthropic", "gemini"])
def test_reasoning_of_a_field_of_its_own_is_kept_apart(provider: str) -> None:
    with Server(Rule(say="4", reasoning="2 and 2")) as server:
        reply = ask(server, request("2 + 2?"), provider=provider)
    assert (reply.text, reply.detail.reasoning) == ("4", "2 and 2")


@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_empty_earlier_reply_goes_out_as_a_stand_in(provider: str) -> None:
    call = sent(provider, request("One?", " ", "Two?"))
    text = call.body["prompt"] if provider == "completions" else call.messages[1][1]
    assert "(no reply)" in text


@pytest.mark.parametrize("provider", PROVIDERS)
def test_that_no_stream_is_wanted_is_said(provider: str) -> None:
    body = sent(provider, request("Hi.")).body
    assert body.get("stream") == (None if provider == "gemini" else False)


def test_top_k_goes_to_anthropic_under_the_version_that_has_it() -> None:
    call = sent("anthropic", request("Hi.", sampling=Sampling(top_k=5)))
    assert (call.body["top_k"], call.headers["anthropic-version"]) == (5, "2023-06-01")


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ({"prompt_tokens": 32, "completion_tokens": 9, "total_tokens": 135}, 103),
        ({"prompt_tokens": 32, "completion_tokens": 9, "total_tokens": 41}, 9),
        ({"prompt_tokens": 32, "completion_tokens": 9, "total_tokens": None}, 9),
    ],
)
def test_reasoning_outside_of_the_replys_tokens_is_counted(
    usage: dict[str, Any], tokens: int
) -> None:
    with Server(Rule(usage=usage)) as server:
        assert ask(server, request("Hi.")).detail.usage.completion_tokens == tokens


@pytest.mark.parametrize(
    "rule",
    [Rule(headers={"x-litellm-response-cost": "0.25"}), Rule(usage={"cost": 0.25})],
    ids=["litellm", "openrouter"],
)
def test_a_cost_that_the_server_reports_counts(rule: Rule) -> None:
    with Server(rule) as server:
        detail = ask(server, request("Hi.")).detail
    assert cost_of(detail, FREE) == 0.25


def test_text_in_the_field_for_reasoning_only_is_an_empty_reply_and_said_so() -> None:
    with Server(Rule(say="", reasoning="Paris.")) as server:
        detail = ask(server, request("Hi.")).detail
    assert detail.finish_reason == "empty"
    assert "the field for reasoning" in detail.note


@pytest.mark.parametrize("provider", ["openai", "anthropic", "completions"])
def test_a_stop_text_that_the_server_leaves_is_cut(provider: str) -> None:
    config = PROVIDERS[provider]
    with Server(Rule(say="Paris. ###")) as server:
        asked = request("Hi.", sampling=Sampling(stop=["###"]))
        assert ask(server, asked, provider=provider, **config).text == "Paris."


def test_a_reply_ends_at_a_template_mark_and_says_so() -> None:
    with Server(Rule(say="Paris.<|im_end|>\n<|im_start|>user", finish="length")) as server:
        reply = ask(server, request("Hi."))
    assert (reply.text, reply.detail.finish_reason) == ("Paris.", "stop")
    assert "<|im_end|>" in reply.detail.note


@pytest.mark.parametrize(
    ("provider", "finish", "ours"),
    [
        ("openai", "length", "length"),
        ("openai", "content_filter", "refused"),
        ("openai_responses", "max_output_tokens", "length"),
        ("openai_responses", "content_filter", "refused"),
        ("anthropic", "max_tokens", "length"),
        ("anthropic", "refusal", "refused"),
        ("gemini", "MAX_TOKENS", "length"),
        ("gemini", "SAFETY", "refused"),
    ],
)
def test_finish_reasons_are_ours(provider: str, finish: str, ours: str) -> None:
    with Server(Rule(finish=finish)) as server:
        reply = ask(server, request("Hi."), provider=provider)
    assert reply.detail.finish_reason == ours


def test_a_refusal_in_a_field_of_its_own_is_the_text() -> None:
    with Server(Rule(message={"content": None, "refusal": "I cannot."})) as server:
        reply = ask(server, request("Hi."))
    assert (reply.text, reply.detail.finish_reason) == ("I cannot.", "refused")


def test_a_reply_without_text_is_empty() -> None:
    with Server(Rule(message={"content": None})) as server:
        assert ask(server, request("Hi.")).detail.finish_reason == "empty"


def test_a_prompt_that_gemini_blocks_is_refused() -> None:
    body = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 3}}
    with Server(Rule(body=body)) as server:
        reply = ask(server, request("Hi."), provider="gemini")
    assert (reply.text, reply.detail.finish_reason) == ("", "refused")
    assert "SAFETY" in reply.detail.note


def test_anthropic_caches_what_other_prompts_begin_with() -> None:
    head = "A long answer to judge. " * 100
    call = sent("anthropic", request(head + "By clarity.", shared=len(head)))
    marked, rest = call.body["messages"][-1]["content"]
    assert (marked["text"], marked["cache_control"]) == (head, {"type": "ephemeral"})
    assert rest["text"] == "By clarity."
    short = sent("anthropic", request("Short. By clarity.", shared=7))
    assert short.body["messages"][-1]["content"] == "Short. By clarity."


def test_cached_tokens_count_as_part_of_the_prompt() -> None:
    counts = {"input_tokens": 5, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 10}
    with Server(Rule(usage=counts)) as server:
        usage = ask(server, request("Hi."), provider="anthropic").detail.usage
    assert (usage.prompt_tokens, usage.cached_tokens, usage.written_tokens) == (35, 20, 10)


def test_half_characters_and_nul_reach_neither_server_nor_file() -> None:
    with Server(Rule(say="a\0b\ud800")) as server:
        reply = ask(server, request("Half: \ud83d"))
    assert reply.text == "a\ufffdb\ufffd"
    assert server.calls[0].messages == [("user", "Half: \ufffd")]


def test_a_template_that_fschat_does_not_have_is_named_with_near_ones() -> None:
    with pytest.raises(UsageError, match=r"no conversation template 'vicuna'.*vicuna_v1.1"):
        ask("http://127.0.0.1:9", request("Hi."), provider="completions", conv_template="vicuna")
