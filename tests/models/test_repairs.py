"""What an endpoint refuses is repaired, remembered for the endpoint, and noted in the reply."""

import pytest

from harness.errors import ChatError, EndpointError
from harness.types import Sampling
from tests.models.asking import ask, error_bodies, request
from tests.servers import Rule, Server


@pytest.mark.parametrize(("status", "body"), error_bodies("system role"))
def test_a_template_without_system_role_gets_the_text_in_the_first_user_message(
    status: int, body: object
) -> None:
    refusal = Rule(when=lambda call: call.has_system, status=status, body=body)
    with Server(refusal, Rule(say="[[7]]")) as server:
        first, second = ask(server, *[request("Grade.", system="Be strict.")] * 2)
    assert first.text == second.text == "[[7]]"
    assert server.calls[-1].messages == [("user", "Be strict.\n\nGrade.")]
    assert len(server.calls) == 3  # the second call asks without a system message at once
    assert "system message" in first.detail.note


def refuses(name: str, status: int, body: object) -> Rule:
    return Rule(when=lambda call: name in call.body, status=status, body=body)


@pytest.mark.parametrize(("status", "body"), error_bodies("parameter"))
def test_a_parameter_that_a_4xx_names_is_left_out(status: int, body: object) -> None:
    with Server(refuses("seed", status, body)) as server:
        sampling = Sampling(seed=7, temperature=0.5)
        first, _ = ask(server, *[request("Hi.", sampling=sampling)] * 2)
    assert first.detail.sampling_applied == {"temperature": 0.5}
    assert "seed left out" in first.detail.note
    assert len(server.calls) == 3


@pytest.mark.parametrize(("status", "body"), error_bodies("parameter"))
def test_a_parameter_that_the_user_typed_ends_the_run_with_its_flag(
    status: int, body: object
) -> None:
    with (
        Server(refuses("seed", status, body)) as server,
        pytest.raises(EndpointError, match="does not take --seed: leave it out"),
    ):
        ask(server, request("Hi.", sampling=Sampling(seed=7)), typed=["seed"])


def test_a_parameter_of_the_project_file_is_named_as_such() -> None:
    body = {"error": {"message": "top_k is not supported"}}
    sampling = Sampling(top_k=5)
    with (
        Server(refuses("top_k", 400, body)) as server,
        pytest.raises(EndpointError, match=r"does not take top_k in sampling of \[models.m\]"),
    ):
        ask(server, request("Hi.", sampling=sampling), sampling=sampling)


BOTH = {
    "type": "error",
    "error": {
        "type": "invalid_request_error",
        "message": "`temperature` and `top_p` cannot both be specified for this model.",
    },
}


@pytest.mark.parametrize(
    ("typed", "sent"),
    [
        pytest.param(["top_p"], {"top_p"}, id="typed-top-p"),
        pytest.param(["temperature"], {"temperature"}, id="typed-temperature"),
        pytest.param([], {"temperature"}, id="neither-typed"),
    ],
)
def test_of_two_that_exclude_each_other_the_typed_one_is_kept(
    typed: list[str], sent: set[str]
) -> None:
    both = Rule(
        when=lambda call: {"temperature", "top_p"} <= call.body.keys(), status=400, body=BOTH
    )
    with Server(both) as server:
        sampling = Sampling(temperature=0.7, top_p=0.9)
        reply = ask(server, request("Hi.", sampling=sampling), provider="anthropic", typed=typed)
    assert reply.text == "Fine."
    assert {"temperature", "top_p"} & server.calls[-1].body.keys() == sent


def test_two_typed_ones_that_exclude_each_other_end_the_run_with_both_flags() -> None:
    flags = "--temperature with --top-p: leave one of them out"
    both = request("Hi.", sampling=Sampling(temperature=0.7, top_p=0.9))
    with Server(Rule(status=400, body=BOTH)) as server, pytest.raises(EndpointError, match=flags):
        ask(server, both, provider="anthropic", typed=["temperature", "top_p"])


def test_a_field_of_the_body_that_the_user_gave_is_named() -> None:
    body = {"error": {"message": "Unknown field: chat_template_kwargs"}}
    sampling = Sampling(extra_body={"chat_template_kwargs": {"enable_thinking": False}})
    refusal = refuses("chat_template_kwargs", 400, body)
    with (
        Server(refusal) as server,
        pytest.raises(EndpointError, match=r"extra_body\.chat_template_kwargs: leave it out"),
    ):
        ask(server, request("Hi.", sampling=sampling), typed=["extra_body"])


def test_refused_log_probabilities_end_the_run_with_the_reason() -> None:
    body = {"error": {"message": "top_logprobs must be at most 3", "param": "top_logprobs"}}
    with (
        Server(refuses("top_logprobs", 400, body)) as server,
        pytest.raises(EndpointError, match="at most 3; scoring by log-probabilities") as error,
    ):
        ask(server, request("Grade.", top_logprobs=20))
    assert error.value.kind == "no log-probabilities"


def test_a_version_of_anthropics_protocol_that_is_refused_takes_both_along() -> None:
    body = {"error": {"message": "anthropic-version: 2023-06-01 is no longer supported"}}
    old = Rule(
        when=lambda call: call.headers["anthropic-version"] == "2023-06-01", status=400, body=body
    )
    with Server(old) as server:
        sampling = Sampling(temperature=0.7, top_p=0.9)
        reply = ask(server, request("Hi.", sampling=sampling), provider="anthropic")
    assert reply.detail.sampling_applied == {"max_tokens": 4096}


def test_the_limit_on_tokens_takes_its_other_name() -> None:
    message = (
        "Unsupported parameter: 'max_tokens' is not supported with this model."
        " Use 'max_completion_tokens' instead."
    )
    body = {"error": {"message": message, "code": "unsupported_parameter", "param": "max_tokens"}}
    with Server(refuses("max_tokens", 400, body)) as server:
        reply = ask(server, request("Hi.", sampling=Sampling(max_tokens=99)), typed=["max_tokens"])
    assert reply.detail.sampling_applied == {"max_completion_tokens": 99}


@pytest.mark.parametrize(("status", "body", "most"), error_bodies("limit", "most"))
def test_a_limit_that_is_too_large_is_lowered_to_what_the_error_states(
    status: int, body: object, most: int
) -> None:
    too_large = Rule(when=lambda call: call.body["max_tokens"] > most, status=status, body=body)
    with Server(too_large) as server:
        reply = ask(server, request("Hi.", sampling=Sampling(max_tokens=4096)))
    assert reply.detail.sampling_applied == {"max_tokens": most}
    assert f"lowered from 4096 to {most}" in reply.detail.note


def test_a_limit_that_is_refused_although_the_error_states_it_is_lowered_further() -> None:
    message = "maximum context length is 4096 tokens and your request has 60 input tokens"
    too_large = Rule(
        when=lambda call: call.body["max_tokens"] > 4000, status=400, body={"message": message}
    )
    with Server(too_large) as server:
        reply = ask(server, request("Hi.", sampling=Sampling(max_tokens=4096)))
    assert reply.detail.sampling_applied == {"max_tokens": 3027}


def test_a_conversation_without_room_for_a_reply_is_too_long() -> None:
    message = (
        "'max_tokens' or 'max_completion_tokens' is too large: 512. This model's maximum context"
        " length is 4096 tokens and your request has 5000 input tokens"
    )
    with (
        Server(Rule(status=400, body={"message": message})) as server,
        pytest.raises(ChatError, match="too long for this model") as error,
    ):
        ask(server, request("Hi.", sampling=Sampling(max_tokens=512)))
    assert error.value.kind == "context too long"


def only_streams(status: int = 400, body: object = "stream must be set to true") -> Rule:
    return Rule(when=lambda call: not call.body.get("stream"), status=status, body=body)


@pytest.mark.parametrize(("status", "body"), error_bodies("stream only"))
def test_an_endpoint_that_only_streams_is_asked_for_a_stream(status: int, body: object) -> None:
    answer = Rule(say="The Danube flows there.", reasoning="Which river?", finish="length")
    with Server(only_streams(status, body), answer) as server:
        first, second = ask(server, request("Which river?"), request("And now?"))
    assert first.text == second.text == "The Danube flows there."
    assert first.detail.reasoning == "Which river?"
    assert first.detail.finish_reason == "length"
    assert first.detail.usage.completion_tokens == 4
    assert first.detail.sampling_applied == {}
    assert len(server.calls) == 3


def test_a_stream_that_breaks_off_is_no_reply() -> None:
    with (
        Server(only_streams(), Rule(say="word " * 300, drop="within")) as server,
        pytest.raises(ChatError, match="closed the connection"),
    ):
        ask(server, request("Hi."))


def test_an_error_within_a_stream_is_sorted_as_any_other() -> None:
    event = 'data: {"error": {"message": "too many requests", "code": 429}}\n\n'
    broken = Rule(content=event, headers={"Content-Type": "text/event-stream"})
    with (
        Server(only_streams(), broken) as server,
        pytest.raises(ChatError, match="too many") as error,
    ):
        ask(server, request("Hi."))
    assert error.value.kind == "rate limit"


def test_a_schema_that_is_refused_is_left_out_and_the_reply_says_so() -> None:
    schema = {"type": "object", "properties": {"grade": {"type": "integer"}}}
    body = {"error": {"message": "response_format json_schema is not supported"}}
    with Server(refuses("response_format", 400, body)) as server:
        reply = ask(server, request("Grade.", schema=schema))
    assert reply.detail.sampling_applied == {"structured": False}
    assert "response_format left out" in reply.detail.note


def test_a_model_that_has_only_responses_is_named_with_what_calls_it() -> None:
    message = "This model is only supported in v1/responses and not in v1/chat/completions."
    body = {"error": {"message": message, "type": "invalid_request_error", "param": "model"}}
    with (
        Server(Rule(status=404, body=body)) as server,
        pytest.raises(EndpointError, match='provider = "openai_responses"'),
    ):
        ask(server, request("Hi."))


def test_only_the_refused_value_of_a_parameter_is_left_out() -> None:
    body = {"error": "Input validation error: `temperature` must be strictly positive"}
    rule = Rule(when=lambda call: call.body.get("temperature") == 0, status=422, body=body)
    with Server(rule) as server:
        cold, warm = (request("Hi.", sampling=Sampling(temperature=t)) for t in (0.0, 0.7))
        replies = ask(server, cold, warm, cold)
    applied = [reply.detail.sampling_applied for reply in replies]
    assert applied == [{}, {"temperature": 0.7}, {}]
    assert len(server.calls) == 4


def test_a_parameter_of_which_three_values_are_refused_is_left_out() -> None:
    with Server(refuses("seed", 400, {"error": {"message": "seed is not supported"}})) as server:
        ask(server, *(request("Hi.", sampling=Sampling(seed=n)) for n in range(6)))
    assert len(server.calls) == 9


def test_a_schema_that_a_500_refuses_is_left_out() -> None:
    message = (
        "[{'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), 'msg': \"Input"
        " should be 'text' or 'json_object'\", 'input': 'json_schema'}]"
    )
    body = {"error": {"message": message, "type": "internal_server_error", "code": None}}
    with Server(refuses("response_format", 500, body)) as server:
        reply = ask(server, request("Grade.", schema={"type": "object", "properties": {}}))
    assert reply.detail.sampling_applied == {"structured": False}


def test_a_limit_that_reasoning_used_up_is_a_cut_reply() -> None:
    message = "Could not finish the message because max_tokens or model output limit was reached."
    with Server(Rule(status=400, body={"error": {"message": message}})) as server:
        reply = ask(server, request("Hi.", sampling=Sampling(max_tokens=9)))
    assert (reply.text, reply.detail.finish_reason) == ("", "length")
    assert reply.detail.sampling_applied == {"max_tokens": 9}


def test_a_limit_that_counts_the_prompt_leaves_room_for_it() -> None:
    message = "max_tokens=4096cannot be greater than max_model_len=max_total_tokens=1100."
    rule = Rule(
        when=lambda call: call.body["max_tokens"] > 1099, status=400, body={"message": message}
    )
    with Server(rule) as server:
        reply = ask(server, request("Hi.", sampling=Sampling(max_tokens=4096)))
    assert reply.detail.sampling_applied == {"max_tokens": 825}


def test_calls_in_flight_together_learn_of_one_refusal() -> None:
    body = {"error": {"message": "seed is not supported", "param": "seed"}}
    rule = refuses("seed", 400, body)
    rule.delay = 0.05
    with Server(rule, Rule(say="Yes.")) as server:
        requests = [request(f"Question {n}.", sampling=Sampling(seed=1)) for n in range(8)]
        replies = ask(server, *requests, at_once=True)
    assert [reply.text for reply in replies] == ["Yes."] * 8
    assert len(server.calls) == 16
