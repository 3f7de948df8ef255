"""What goes to which server, and that one odd answer is one failed call: real SDKs, a real socket, both transports."""

import asyncio
import dataclasses
import functools
import gzip
import json
import tracemalloc
from typing import Any

import pytest

from harness.old.chat import Endpoint, open_chat_model, resolve, wire
from harness.old.chat.batches import open_batches
from harness.old.chat.standing import Standing
from harness.old.errors import ChatError, EndpointError, TransientError, UsageError
from harness.old.records import Message, Reply, Request
from tests.old.protocol_server import Asked, Fault, ProtocolServer, Said, rate_limited, raw

KEY = "sk-secret-0123456789"
HELLO = Request((Message("user", "Hello?"),))
PROVIDERS = ("openai", "anthropic", "completions", "azure", "gemini")


@pytest.fixture(params=["aiohttp", "httpx2"])
def transport(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the test on either transport of the SDKs."""
    if request.param == "httpx2":
        monkeypatch.setattr(wire, "has_aiohttp", lambda: False)


def endpoint_at(url: str, provider: str) -> Endpoint:
    """Return an endpoint whose address its own variable gives, so that all the environment holds may be sent there."""
    environ = {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY, "AZURE_OPENAI_API_KEY": KEY}
    environ |= {"OPENAI_BASE_URL": f"{url}/v1", "ANTHROPIC_BASE_URL": url, "AZURE_OPENAI_ENDPOINT": url}
    environ |= {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": url}
    if provider == "azure":
        return Endpoint("m", "azure", "m", url, "AZURE_OPENAI_API_KEY", api_version="2024-10-21")
    name = {"anthropic": "claude-x", "gemini": "gemini-x"}.get(provider, "test-model")
    return resolve(name, conv_template="vicuna_v1.1" if provider == "completions" else None, environ=environ)


ENVIRON = {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY, "AZURE_OPENAI_API_KEY": KEY, "MY_KEY": KEY}
ENVIRON |= {"GEMINI_API_KEY": KEY}


def ask(endpoint: Endpoint) -> Reply:
    async def scene() -> Reply:
        model = open_chat_model(endpoint, environ=ENVIRON)
        try:
            return await model.reply(HELLO)
        finally:
            await model.close()

    return asyncio.run(scene())


def failing(fault: Fault, provider: str = "openai") -> ChatError:
    with ProtocolServer(faults={0: fault}) as server, pytest.raises(ChatError) as caught:
        ask(endpoint_at(server.url, provider))
    return caught.value


# Whither


@pytest.mark.usefixtures("transport")
@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_redirect_is_followed_and_the_error_says_where_it_pointed(status: int, provider: str) -> None:
    with ProtocolServer() as other:
        there = f"{other.url}/v1/elsewhere?token=hidden"
        with ProtocolServer(faults=lambda asked: Fault(status, headers={"location": there})) as server:
            with pytest.raises(EndpointError, match="redirect to") as caught:
                ask(endpoint_at(server.url, provider))
            assert len(server.requests) == 1
        assert (other.connections, other.requests) == (0, [])
    assert f"{other.url}/v1/elsewhere, which is not followed" in str(caught.value)
    assert "hidden" not in str(caught.value)


@pytest.mark.parametrize("location", ["http://[::1", "//", "", "http://user:hidden@host/x", "\x01"])
def test_a_redirect_to_nowhere_is_the_same_error(location: str) -> None:
    error = failing(Fault(307, headers={"location": location}))
    assert isinstance(error, EndpointError)
    assert "hidden" not in str(error)


@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini"])
def test_no_redirect_of_a_batch_is_followed(provider: str) -> None:
    async def scene(url: str) -> list[ChatError]:
        model = open_chat_model(endpoint_at(url, provider), environ=ENVIRON)
        batches = open_batches(model)
        errors = []
        prepared = [batches.prepare("t-0", HELLO)]
        calls: list[Any] = [batches.check, batches.submit, batches.find, batches.progress, batches.cancel]
        arguments: list[Any] = [(), ("t", prepared), ("t", 1, 0.0, ()), ("batches/b",), ("batches/b",)]
        try:
            for call, given in zip(calls, arguments, strict=True):
                with pytest.raises(ChatError) as caught:
                    await call(*given)
                errors.append(caught.value)
            with pytest.raises(ChatError) as caught:
                async for _ in batches.results("batches/b", {}):
                    pass
            return [*errors, caught.value]
        finally:
            await model.close()

    with ProtocolServer() as other:
        there = Fault(307, headers={"location": f"{other.url}/v1/batches"})
        with ProtocolServer(faults=lambda asked: there) as server:
            errors = asyncio.run(scene(server.url))
        assert other.connections == 0
    assert all(isinstance(error, EndpointError) and "redirect to" in str(error) for error in errors)


@pytest.mark.parametrize("provider", ["openai", "completions"])
def test_headers_of_the_environment_go_only_where_the_environment_says(
    provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = "X-Gateway-Token: hidden-gateway-token\nAuthorization: Bearer hidden-authorization"
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", headers)
    monkeypatch.setenv("OPENAI_ORG_ID", "hidden-org")
    template = "vicuna_v1.1" if provider == "completions" else None
    with ProtocolServer() as server:
        url = server.openai_url
        ask(resolve("m", base_url=url, conv_template=template))
        ask(resolve("m", base_url=url, api_key_env="MY_KEY", conv_template=template, environ=ENVIRON))
        ask(endpoint_at(server.url, provider))
        bare, keyed, own = (asked.headers for asked in server.requests)
    assert not [value for value in (*bare.values(), *keyed.values()) if "hidden" in value]
    assert "authorization" not in bare
    assert keyed["authorization"] == f"Bearer {KEY}"
    assert own["x-gateway-token"] == "hidden-gateway-token"


@pytest.mark.parametrize("headers", ["X-Ä: hidden", "X-Gate: hidden-ä", "X-Gate: hidden\x01", "X Gate: hidden"])
def test_a_header_of_the_environment_that_cannot_be_sent_is_named_and_not_shown(
    headers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", headers)
    with pytest.raises(UsageError, match="OPENAI_CUSTOM_HEADERS is not a header") as caught:
        ask(endpoint_at("http://127.0.0.1:9", "openai"))
    assert "hidden" not in str(caught.value)


@pytest.mark.parametrize("value", ["hidden-ä", "hidden\nhidden"])
def test_an_organization_of_the_environment_that_cannot_be_sent_is_named_and_not_shown(
    value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", value)
    with pytest.raises(UsageError, match=r"the header OpenAI-Organization, .* cannot be sent") as caught:
        ask(endpoint_at("http://127.0.0.1:9", "openai"))
    assert "hidden" not in str(caught.value)


def test_anthropics_headers_of_the_environment_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Gateway-Token: hidden-gateway-token")
    file = tmp_path / "models.toml"
    with ProtocolServer() as server:
        file.write_text(f'[models.m]\nprovider = "anthropic"\nbase_url = "{server.url}"\napi_key_env = "MY_KEY"\n')
        ask(resolve("m", models=file, environ=ENVIRON))
        ask(endpoint_at(server.url, "anthropic"))
        stated, own = (asked.headers for asked in server.requests)
    assert "x-gateway-token" not in stated
    assert stated["x-api-key"] == KEY
    assert own["x-gateway-token"] == "hidden-gateway-token"


def test_a_header_of_the_environment_is_not_repeated_by_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    headers = "X-Gateway-Token: hidden-gateway-token\nX-Cookie: session=hidden-session; a=b\nX-Auth: Basic hidden-basic"
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", headers)
    said = str(failing(Fault(401, "hidden-gateway-token is no token, nor hidden-session or hidden-basic")))
    assert "hidden" not in said
    assert "is no token" in said


@pytest.mark.parametrize("url", ["http://host/v1?api-key=hidden", "http://host/v1#hidden"])
def test_a_key_in_an_address_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(UsageError, match="put a key into a variable") as caught:
        resolve("m", base_url=url)
    with pytest.raises(UsageError, match="OPENAI_BASE_URL") as also:
        resolve("m", environ={"OPENAI_BASE_URL": url})
    assert "hidden" not in str(caught.value) + str(also.value)


@pytest.mark.usefixtures("transport")
@pytest.mark.parametrize(
    "proxy",
    [
        "http://[::1",
        ":::",
        "socks9://hidden",
        "http://user:hidden@[x",
        "http://h:99999999",
        "socks5://[hidden",
        "x y",
        "http://999.9.9.9",
    ],
)
def test_a_proxy_that_is_none_is_named_by_its_variable(proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", proxy)
    with pytest.raises(UsageError, match="the proxy that HTTPS_PROXY names is not valid") as caught:
        ask(endpoint_at("https://host.invalid", "openai"))
    assert "hidden" not in str(caught.value)


# One odd answer is one failed call

DEEP = b"[" * 100_000 + b"]" * 100_000
DIGITS = b"9" * 5000


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    "body",
    [
        pytest.param(DEEP, id="deep JSON"),
        pytest.param(b'{"choices": ' + DEEP + b', "content": ' + DEEP + b"}", id="deep choices"),
        pytest.param(b'{"choices": [' * 900 + b"]}" * 900, id="not quite too deep"),
        pytest.param(b'{"usage": {"prompt_tokens": ' + DIGITS + b"}}", id="a number of 5,000 digits"),
        pytest.param(b'{"error": ' + DEEP + b"}", id="a deep error"),
    ],
)
@pytest.mark.parametrize("status", [200, 400, 500])
def test_no_body_does_more_than_fail_its_call(body: bytes, status: int, provider: str) -> None:
    error = failing(raw(body, status=status), provider)
    if status == 200:
        assert (type(error), error.kind) in [(TransientError, "malformed reply")]


def test_a_number_of_tokens_that_no_reply_has_is_none() -> None:
    usage = {"prompt_tokens": 10**400, "completion_tokens": 10**300}
    with ProtocolServer(lambda asked: Said("x", usage=usage)) as server:
        reply = ask(endpoint_at(server.url, "openai"))
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (None, None)


@functools.cache
def bomb() -> bytes:
    """Return a few hundred bytes that become 200 MiB, packed twice."""
    return gzip.compress(gzip.compress(bytes(200 * 2**20), 1), 9)


@pytest.mark.usefixtures("transport")
@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("status", [200, 500])
def test_a_bomb_is_not_unpacked(status: int, provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "MOST_BYTES", 2**20)
    fault = Fault(status, body=bomb(), headers={"content-encoding": "gzip, gzip", "content-type": "application/json"})
    tracemalloc.start()
    error = failing(fault, provider)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert isinstance(error, TransientError)
    assert most < 64 * 2**20
    assert "more than 1 MiB" in str(error) or status == 500


def test_a_packed_reply_is_read() -> None:
    packed = gzip.compress(json.dumps({"choices": [{"message": {"content": "four"}}]}).encode())
    headers = {"content-encoding": "gzip", "content-type": "application/json"}
    with ProtocolServer(faults={0: Fault(200, body=packed, headers=headers)}) as server:
        assert ask(endpoint_at(server.url, "openai")).text == "four"


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("content_type", ["text/plain", "application/octet-stream", "text/html; charset=utf-8"])
def test_json_is_read_whatever_the_server_calls_it(content_type: str, provider: str) -> None:
    reply = {"choices": [{"text": "four", "message": {"content": "four"}}]}
    gemini = {"candidates": [{"content": {"parts": [{"text": "four"}]}}]}
    body = json.dumps({**reply, **gemini, "content": [{"type": "text", "text": "four"}]}).encode()
    with ProtocolServer(faults={0: raw(body, content_type=content_type)}) as server:
        assert ask(endpoint_at(server.url, provider)).text == "four"


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    "word",
    [
        pytest.param("a" * 60_000, id="one word"),
        pytest.param("a-" * 30_000 + "**", id="nearly a key"),
        pytest.param("*" * 60_000, id="stars"),
        pytest.param("sk-" * 20_000, id="beginnings of keys"),
        pytest.param("too many " * 7_000, id="beginnings of a phrase"),
        pytest.param("max_tokens " * 6_000 + "unsupported", id="a parameter, often"),
    ],
)
def test_a_long_error_is_searched_in_no_time(word: str, provider: str) -> None:
    import time

    with ProtocolServer(faults={0: Fault(400, word)}) as server:
        endpoint = endpoint_at(server.url, provider)
        began = time.thread_time()
        with pytest.raises(ChatError):
            ask(endpoint)
        assert time.thread_time() - began < 5  # it was more than a minute of computing
    assert len(server.requests) <= 2


@pytest.mark.parametrize(
    "wish",
    [
        pytest.param("1e308", id="the largest number"),
        pytest.param("9" * 400, id="400 digits"),
        pytest.param("Fri, 31 Dec 9999 23:59:59 -2359", id="beyond the calendar"),
        pytest.param("Fri, 31 Dec 99999 23:59:59 GMT", id="a year of five digits"),
        pytest.param("Fri, 31 Dec 2026 99:99:99 GMT", id="no time of day"),
        pytest.param("-9999", id="before the call"),
    ],
)
def test_an_odd_wish_fails_one_call(wish: str) -> None:
    error = failing(rate_limited(wish))
    assert isinstance(error, TransientError)
    assert error.retry_after is None or 0 <= error.retry_after < float("inf")


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param({"x-ratelimit-reset-requests": "9" * 400}, id="400 digits"),
        pytest.param({"x-ratelimit-reset-requests": "9" * 400 + "s"}, id="400 digits of seconds"),
        pytest.param({"x-ratelimit-reset-requests": "1" * 8000}, id="8,000 digits"),
        pytest.param({"x-ratelimit-reset-requests": "0001-01-01T00:00:00+23:59"}, id="the first day"),
        pytest.param({"x-ratelimit-reset-requests": "9999-12-31T23:59:59-23:59"}, id="the last day"),
        pytest.param(
            {"x-ratelimit-reset-requests": "2027-01-01T00:00:00Z", "date": "Fri, 31 Dec 9999 23:59:59 -2359"},
            id="a date beyond the calendar",
        ),
        pytest.param({"x-ratelimit-reset-requests": "1s", "x-ratelimit-remaining-requests": "9" * 400}, id="left"),
    ],
)
def test_odd_limits_do_not_fail_a_call(headers: dict[str, str]) -> None:
    body = json.dumps({"choices": [{"message": {"content": "four"}}]}).encode()
    headers = {"x-ratelimit-remaining-requests": "0", **headers, "content-type": "application/json"}
    with ProtocolServer(faults={0: Fault(200, body=body, headers=headers)}) as server:
        assert ask(endpoint_at(server.url, "openai")).text == "four"


@pytest.mark.usefixtures("transport")
@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_server_that_never_sends_a_byte_is_not_waited_for_as_long_as_a_reply_may_take(provider: str) -> None:
    async def never(asked: Asked) -> str:
        await asyncio.Event().wait()
        return "unreached"

    with ProtocolServer(never) as server:
        endpoint = dataclasses.replace(endpoint_at(server.url, provider), silence=0.02)
        with pytest.raises(TransientError, match=r"sent nothing for 0\.02 s; a longer timeout may help") as caught:
            ask(endpoint)
    assert caught.value.kind == "timeout"


@pytest.mark.usefixtures("transport")
@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_server_that_has_answered_may_take_the_whole_limit_until_the_first_byte(
    provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reply comes in one piece: to wait less for its first byte would be to wait less for the reply."""
    limits = []
    sent = wire.Guard.request

    async def request(guard: wire.Guard, request: Any) -> None:
        await sent(guard, request)
        limits.append(request.extensions["timeout"]["read"])

    monkeypatch.setattr(wire.Guard, "request", request)

    async def scene(endpoint: Endpoint) -> None:
        model = open_chat_model(endpoint, environ=ENVIRON)
        try:
            with pytest.raises(TransientError):
                await model.reply(HELLO)
            await model.reply(HELLO)
        finally:
            await model.close()

    with ProtocolServer(faults={0: rate_limited()}) as server:
        asyncio.run(scene(endpoint_at(server.url, provider)))
    assert limits == [240, 600]


def test_a_stated_time_limit_counts_for_the_first_byte_too() -> None:
    endpoint = resolve("m", base_url="http://host/v1", timeout=1800)
    assert (endpoint.timeout, endpoint.silence) == (1800, 1800)


# Errors that look like replies


WHOLE: dict[str, dict[str, Any]] = {
    "openai": {"choices": [{"message": {"content": "fo"}, "finish_reason": "stop"}]},
    "azure": {"choices": [{"message": {"content": "fo"}}]},
    "completions": {"choices": [{"text": "fo"}]},
    "anthropic": {"content": [{"type": "text", "text": "fo"}]},
    "gemini": {"candidates": [{"content": {"parts": [{"text": "fo"}]}}]},
}


@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_error_beside_a_reply_is_tried_again_and_is_no_answer(provider: str) -> None:
    error = failing(raw(json.dumps({"error": {"message": "Upstream"}, **WHOLE[provider]}).encode()), provider)
    assert isinstance(error, TransientError)
    assert str(error).endswith("answered with status 200 and an error: Upstream")


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_reply_that_calls_itself_an_error_is_no_answer(provider: str) -> None:
    body = {**WHOLE[provider], "object": "error", "message": "Upstream"}
    error = failing(raw(json.dumps(body).encode()), provider)
    assert isinstance(error, TransientError)
    assert str(error).endswith("answered with status 200 and an error: Upstream")


@pytest.mark.parametrize("provider", ["openai", "azure", "completions"])
@pytest.mark.parametrize(
    "end",
    [
        pytest.param({"finish_reason": "error"}, id="ended with error"),
        pytest.param({"finish_reason": "ERROR"}, id="ended with ERROR"),
        pytest.param({"finish_reason": "abort"}, id="aborted"),
        pytest.param({"finish_reason": None, "native_finish_reason": "error"}, id="ended in the provider's words"),
        pytest.param({"object": "error", "message": "Upstream"}, id="a choice that is an error"),
        pytest.param({"finish_reason": "stop", "error": {"code": 502}}, id="error in the choice"),
    ],
)
def test_a_reply_that_was_broken_off_is_tried_again_and_is_no_answer(end: dict[str, Any], provider: str) -> None:
    body = {"choices": [{**WHOLE[provider]["choices"][0], **end}]}
    error = failing(raw(json.dumps(body).encode()), provider)
    assert isinstance(error, TransientError)
    assert error.kind == "malformed reply"


@pytest.mark.parametrize(
    ("provider", "body"),
    [
        pytest.param("anthropic", {**WHOLE["anthropic"], "stop_reason": "error"}, id="a gateway's"),
        pytest.param("gemini", {"candidates": [{"content": {"parts": []}, "finishReason": "ERROR"}]}, id="Google's"),
        pytest.param("gemini", {"candidates": [1]}, id="a candidate that is a number"),
        pytest.param("openai", {"choices": [{"message": {"content": "fo", "error": "x"}}]}, id="error in the message"),
        pytest.param("openai", {"choices": [{"message": "fo"}]}, id="a message that is a text"),
        pytest.param("openai", {"choices": [{"message": {"content": {"a": 1}}}]}, id="content that is an object"),
        pytest.param("openai", {"choices": [{"message": {"content": True}}]}, id="content that is a truth value"),
    ],
)
def test_what_no_sound_server_sends_is_no_empty_answer(provider: str, body: dict[str, Any]) -> None:
    error = failing(raw(json.dumps(body).encode()), provider)
    assert (type(error), error.kind) == (TransientError, "malformed reply")


@pytest.mark.parametrize("provider", ["openai", "completions", "anthropic"])
def test_an_error_that_is_null_is_none(provider: str) -> None:
    body: dict[str, Any] = {"error": None, "choices": [{"text": "four", "message": {"content": "four"}, "error": None}]}
    body["content"] = [{"type": "text", "text": "four"}]
    with ProtocolServer(faults={0: raw(json.dumps(body).encode())}) as server:
        assert ask(endpoint_at(server.url, provider)).text == "four"


def test_what_is_trusted_is_read_once_and_again_where_the_environment_names_another_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def trusts(address: str) -> Any:
        guard = wire.Guard(Standing(), None, (), lambda: wire.time_limits(1.0))
        return wire.http_client(lambda **options: options, guard, address, timeout=1.0)["verify"]

    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)
    assert trusts("https://a.example") is trusts("https://b.example") is trusts("http://localhost:1")
    monkeypatch.setenv("SSL_CERT_FILE", "gone.pem")
    with pytest.raises(FileNotFoundError):
        trusts("https://a.example")
    assert trusts("http://localhost:1") is trusts("http://127.0.0.1:1")
