"""The real SDK against a real server, for Google's Gemini."""

import base64
import importlib.metadata
import json
import pathlib
from collections.abc import Sequence
from typing import Any

import pytest

from harness.old.answering import AnswerOptions, plan_answers, run_answers
from harness.old.chat import open_chat_model, resolve
from harness.old.chat.providers import check_parameters
from harness.old.errors import ChatError, EndpointError, MissingError, TransientError, UsageError
from harness.old.records import Message, Reply, Request, Sampling, Usage
from harness.old.running.pending import reply_from_kept, reply_to_kept
from tests.old.chat.asking import replies_of
from tests.old.protocol_server import Fault, ProtocolServer, Said, bad_request, rate_limited
from tests.old.small_bench import small_bench

KEY = "AIzaSy-0123456789abcdef"
HELLO = (Message("system", "Be brief."), Message("user", "Say hello."))
UNSTATED = Sampling()


def ask_all(server: ProtocolServer, requests: Sequence[Request], **options: Any) -> list[Reply]:
    environ = {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": server.url}
    return replies_of(resolve("gemini-x", environ=environ, **options), requests, environ)


def ask(server: ProtocolServer, sampling: Sampling = UNSTATED, messages: tuple[Message, ...] = HELLO) -> Reply:
    return ask_all(server, [Request(messages, sampling)])[0]


def test_the_protocol_is_spoken_as_the_sdk_does() -> None:
    with ProtocolServer(api_key=KEY) as server:
        reply = ask(server)
    (asked,) = server.requests
    assert asked.path == "/v1/models/gemini-x:generateContent"
    assert asked.headers["x-goog-api-key"] == KEY
    assert asked.body == {
        "systemInstruction": {"parts": [{"text": "Be brief."}], "role": "user"},
        "contents": [{"parts": [{"text": "Say hello."}], "role": "user"}],
        "generationConfig": {"thinkingConfig": {"include_thoughts": True}},
    }
    assert (reply.applied, reply.finish_reason, reply.model) == ({"include_thoughts": True}, "stop", "gemini-x")


def test_parameters_go_out_by_the_services_names() -> None:
    stated = Sampling(
        0.5, 70, 0.9, 3, "low", 20, 5, None, 0.1, 0.2, None, ("END",), {"safetySettings": []}, {"x-a": "b"}
    )
    with ProtocolServer() as server:
        reply = ask(server, stated)
    (asked,) = server.requests
    assert asked.body["generationConfig"] == {
        "temperature": 0.5,
        "maxOutputTokens": 70,
        "topP": 0.9,
        "seed": 3,
        "topK": 5,
        "stopSequences": ["END"],
        "frequencyPenalty": 0.1,
        "presencePenalty": 0.2,
        "thinkingConfig": {"include_thoughts": True, "thinking_budget": 20, "thinking_level": "LOW"},
    }
    assert (asked.body["safetySettings"], asked.headers["x-a"]) == ([], "b")
    assert (reply.applied["thinking_budget"], reply.applied["thinking_level"]) == (20, "low")


def test_what_it_cannot_take_or_would_clash_is_said_before_a_call() -> None:
    endpoint = resolve("gemini-x", environ={"GEMINI_API_KEY": KEY})
    for sampling, words in (
        (Sampling(min_p=0.1), "takes no min_p"),
        (Sampling(extra_body={"contents": []}), r"extra_body\.contents would replace"),
        (Sampling(extra_body={"generationConfig": {"maxOutputTokens": 9}}), "maxOutputTokens would replace"),
    ):
        with pytest.raises(UsageError, match=words):
            check_parameters(endpoint, sampling)


def test_thoughts_are_kept_apart_and_counted() -> None:
    with ProtocolServer(lambda asked: Said("four", reasoning="2 and 2 is four, I think")) as server:
        reply = ask(server)
    assert (reply.text, reply.reasoning) == ("four", "2 and 2 is four, I think")
    assert reply.usage.reasoning_tokens == 7
    assert reply.usage.completion_tokens == 7 + 2


def test_without_a_budget_no_thoughts_are_asked_for() -> None:
    with ProtocolServer(lambda asked: Said("four", reasoning="hm")) as server:
        reply = ask(server, Sampling(thinking_budget=0))
    assert server.requests[0].body["generationConfig"] == {"thinkingConfig": {"thinking_budget": 0}}
    assert reply.reasoning is None


def test_usage_is_read_with_what_came_from_the_cache() -> None:
    usage = {"promptTokenCount": 50, "cachedContentTokenCount": 40, "candidatesTokenCount": 6, "thoughtsTokenCount": 4}
    with ProtocolServer(lambda asked: Said("four", usage=usage)) as server:
        assert ask(server).usage == Usage(50, 10, 4, 40)


@pytest.mark.parametrize(
    ("said", "text", "finish"),
    [
        pytest.param(Said("x", finish="MAX_TOKENS"), "x", "length", id="limit"),
        pytest.param(Said("", finish="MAX_TOKENS"), "", "length", id="limit, all thought"),
        pytest.param(Said("", finish="SAFETY"), "", "refused", id="safety"),
        pytest.param(Said("", finish="RECITATION"), "", "refused", id="recitation"),
        pytest.param(Said("x", finish="PROHIBITED_CONTENT"), "x", "refused", id="prohibited"),
        pytest.param(Said(refusal="SAFETY"), "", "refused", id="the prompt is blocked"),
        pytest.param(Said("x", finish="A_NEW_REASON"), "x", "unstated", id="a new reason"),
        pytest.param(Said(content=[]), "", "empty", id="no parts"),
        pytest.param(Said(content=[{"text": "a"}, {"new": {}}, {"text": "b"}]), "ab", "stop", id="several parts"),
        pytest.param(Said(content=[{"text": "hm", "thought": True}]), "", "empty", id="only thought"),
    ],
)
def test_text_and_end_are_read(said: Said, text: str, finish: str) -> None:
    with ProtocolServer(lambda asked: said) as server:
        reply = ask(server)
    assert (reply.text, reply.finish_reason) == (text, finish)


def test_a_reply_that_broke_off_is_tried_again() -> None:
    with (
        ProtocolServer(lambda asked: Said("x", finish="MALFORMED_RESPONSE")) as server,
        pytest.raises(TransientError, match="ended with MALFORMED_RESPONSE"),
    ):
        ask(server)


def test_the_next_turn_carries_what_is_sealed_and_no_thought(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    bench = small_bench(tmp_path)
    with ProtocolServer(lambda asked: Said("four", reasoning="secret thoughts")) as server:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.url)
        assert run_answers(plan_answers(["gemini-x"], bench, AnswerOptions())).complete
    firsts = {asked.texts[-1]: asked for asked in server.requests if len(asked.body["contents"]) == 1}
    seconds = [asked for asked in server.requests if len(asked.body["contents"]) == 3]
    assert len(firsts) == len(seconds) > 0
    for asked in seconds:
        own = asked.body["contents"][1]
        first = firsts[asked.body["contents"][0]["parts"][0]["text"]]
        sealed = base64.b64encode(f"sealed {first.digest}".encode()).decode()
        assert own == {"role": "model", "parts": [{"text": "four", "thoughtSignature": sealed}]}
        assert "secret" not in json.dumps(asked.body)
    row = json.loads(bench.answer_file("gemini-x").read_text().splitlines()[0])
    assert row["choices"][0]["details"][0]["reasoning"] == "secret thoughts"


def test_what_the_next_turn_carries_is_kept_for_a_run_that_goes_on() -> None:
    reply = Reply("four", carried='[{"text": "four", "thoughtSignature": "c2Vh"}]')
    assert reply_from_kept(json.loads(json.dumps(reply_to_kept(reply)))) == reply


def test_an_empty_earlier_reply_is_sent_as_a_placeholder() -> None:
    with ProtocolServer() as server:
        ask(server, messages=(Message("user", "one"), Message("assistant", ""), Message("user", "two \ud800")))
    texts = [content["parts"][0]["text"] for content in server.requests[0].body["contents"]]
    assert texts == ["one", "(no reply)", "two \ufffd"]


def test_a_model_that_does_not_think_is_asked_without_thoughts_and_that_is_remembered() -> None:
    request = Request(HELLO, Sampling(max_tokens=7))
    with ProtocolServer(refuses={"includeThoughts"}) as server:
        found = ask_all(server, [request] * 5)
        more = ask_all(server, [request])
    assert server.statuses[200] == 6
    assert all(reply.applied == {"max_output_tokens": 7} for reply in [*found, *more])


def test_a_schema_is_asked_for_and_left_out_where_it_is_refused() -> None:
    request = Request(HELLO, schema={"type": "object", "properties": {"score": {"type": "integer"}}})
    with ProtocolServer(lambda asked: '{"score": 4}') as server:
        assert ask_all(server, [request])[0].applied["structured"] is True
    config = server.requests[0].body["generationConfig"]
    assert config["responseMimeType"] == "application/json"
    assert config["responseJsonSchema"]["required"] == ["score"]
    with ProtocolServer(refuses={"responseJsonSchema"}) as server:
        assert ask_all(server, [request])[0].applied["structured"] is False
    assert server.statuses == {400: 1, 200: 1}


def test_log_probabilities_are_read_and_their_lack_ends_the_run() -> None:
    request = Request(HELLO, top_logprobs=2)
    said = Said("A", logprobs=[("A", {"A": 0.9, "B": 0.1})])
    with ProtocolServer(lambda asked: said) as server:
        logprobs = ask_all(server, [request])[0].logprobs
    assert logprobs is not None
    assert [token for token, _ in logprobs[0].top] == ["A", "B"]
    refusal = bad_request("Logprobs is not enabled for models/gemini-x")
    with ProtocolServer(faults=lambda asked: refusal) as server, pytest.raises(EndpointError, match="log-prob"):
        ask_all(server, [request])


@pytest.mark.parametrize(
    ("fault", "kind", "words"),
    [
        pytest.param(
            Fault(400, "API key not valid.", code="API_KEY_INVALID"), "key refused", "GEMINI_API_KEY", id="key"
        ),
        pytest.param(Fault(403, "denied"), "key refused", "check the key", id="permission"),
        pytest.param(Fault(404, "models/x is not found"), "unknown model", "gemini-x", id="model"),
        pytest.param(Fault(400, "Bad."), "bad request", "Bad", id="bad request"),
        pytest.param(
            Fault(400, "The input token count (9) exceeds the maximum"), "context too long", "too long", id="too long"
        ),
        pytest.param(Fault(500, "oops"), "server error", "500", id="outage"),
        pytest.param(Fault(503, "overloaded"), "overload", "503", id="overload"),
    ],
)
def test_errors_are_told_by_their_status(fault: Fault, kind: str, words: str) -> None:
    with ProtocolServer(faults={0: fault}) as server, pytest.raises(ChatError, match=words) as caught:
        ask(server)
    assert caught.value.kind == kind
    assert len(server.requests) == 1


def test_a_full_quota_says_when_to_come_back_in_its_body() -> None:
    fault = rate_limited(34)
    body = json.dumps(
        {"error": {"code": 429, "message": "Quota", "details": [{"retryDelay": "34.5s", "@type": "RetryInfo"}]}}
    ).encode()
    fault = Fault(429, body=body)
    with ProtocolServer(faults={0: fault}) as server, pytest.raises(TransientError) as caught:
        ask(server)
    assert (caught.value.kind, caught.value.retry_after) == ("rate limit", 34.5)


@pytest.mark.parametrize("body", [b"[]", b"null", b'"text"', b"7", b"<html>", b'{"candidates": {"a": 1}}', b"{}"])
def test_a_body_of_another_shape_is_one_failed_call(body: bytes) -> None:
    with ProtocolServer(faults={0: Fault(200, body=body)}) as server, pytest.raises(TransientError) as caught:
        ask(server)
    assert caught.value.kind == "malformed reply"


@pytest.mark.filterwarnings("default")
def test_nobody_there_and_silence_are_told_apart() -> None:
    with ProtocolServer() as server:
        url = server.url
    environ = {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": url}
    with pytest.raises(TransientError, match="cannot connect") as caught:
        replies_of(resolve("gemini-x", environ=environ), [Request(HELLO)], environ)
    assert not caught.value.connected
    with ProtocolServer(latency=5) as server, pytest.raises(TransientError) as late:
        ask_all(server, [Request(HELLO)], timeout=0.2)
    assert late.value.kind == "timeout"


def test_either_variable_holds_the_key_and_the_sdk_says_nothing_of_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
    both = {"GEMINI_API_KEY": KEY, "GOOGLE_API_KEY": "AIza-other-0123456789"}
    for name, value in both.items():
        monkeypatch.setenv(name, value)
    with ProtocolServer() as server:
        for environ in (both, {"GOOGLE_API_KEY": both["GOOGLE_API_KEY"]}):
            monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.url)
            found = resolve("gemini-x", environ={**environ, "GOOGLE_GEMINI_BASE_URL": server.url})
            replies_of(found, [Request(HELLO)], environ)
    assert [asked.key for asked in server.requests] == [KEY, both["GOOGLE_API_KEY"]]
    assert capsys.readouterr().err == ""
    with pytest.raises(MissingError, match="GEMINI_API_KEY"):
        resolve("gemini-x", environ={})


def test_to_an_address_of_the_users_only_a_named_key_is_sent(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    file = tmp_path / "models.toml"
    with ProtocolServer() as server:
        file.write_text(f'[models.mine]\nprovider = "gemini"\nmodel = "gemini-x"\nbase_url = "{server.url}"\n')
        replies_of(resolve("mine", models=file), [Request(HELLO)])
    assert server.requests[0].key is None
    assert KEY not in str(server.requests[0].headers)


def test_without_the_package_one_line_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(package: str) -> str:
        raise importlib.metadata.PackageNotFoundError(package)

    monkeypatch.setattr(importlib.metadata, "version", missing)
    environ = {"GEMINI_API_KEY": KEY}
    with pytest.raises(MissingError, match=r"google-genai is not installed; install it: pip install 'google-genai>=3'"):
        open_chat_model(resolve("gemini-x", environ=environ), environ=environ)
