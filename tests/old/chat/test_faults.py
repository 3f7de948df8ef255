"""Whatever goes wrong at the other end becomes one line of our own: with every protocol, on both transports."""

import socket
from email.utils import formatdate
from typing import Any

import pytest

from harness.old.chat import Endpoint, resolve, wire
from harness.old.chat.faults import redacted, retry_after
from harness.old.errors import ChatError, EndpointError, TransientError
from harness.old.records import Message, Request
from tests.old.chat.asking import replies_of
from tests.old.protocol_server import (
    Fault,
    ProtocolServer,
    bad_request,
    cut_json,
    dropped,
    error_in_200,
    html_page,
    no_choices,
    no_credit,
    outage,
    overloaded,
    rate_limited,
    raw,
)

ENVIRON = {"K": "sk-secret-0123456789", "ANTHROPIC_API_KEY": "sk-secret-0123456789"}
HELLO = Request((Message("user", "Hello?"),))


@pytest.fixture(params=["aiohttp", "httpx2"])
def transport(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the test on either transport of the SDKs."""
    if request.param == "httpx2":
        monkeypatch.setattr(wire, "has_aiohttp", lambda: False)


@pytest.fixture(params=["openai", "anthropic", "completions"])
def provider(request: pytest.FixtureRequest) -> str:
    """Run the test with every protocol."""
    return str(request.param)


def endpoint_at(url: str, provider: str) -> Endpoint:
    if provider == "anthropic":
        return resolve("claude-x", environ={**ENVIRON, "ANTHROPIC_BASE_URL": url})
    template = "vicuna_v1.1" if provider == "completions" else None
    return resolve("test-model", base_url=f"{url}/v1", api_key_env="K", conv_template=template, environ=ENVIRON)


def fail(url: str, provider: str) -> ChatError:
    """Return the error that a call ends in."""
    with pytest.raises(ChatError) as caught:
        replies_of(endpoint_at(url, provider), [HELLO], ENVIRON)
    error = caught.value
    assert "\n" not in str(error)
    assert "sk-secret" not in str(error)
    assert error.__cause__ is None
    assert error.__context__ is None
    return error


@pytest.mark.usefixtures("transport")
@pytest.mark.parametrize(
    ("fault", "error", "kind", "words"),
    [
        pytest.param(outage(500), TransientError, "server error", "answered 500: The server had an error", id="500"),
        pytest.param(outage(502), TransientError, "outage", "502", id="502"),
        pytest.param(outage(503), TransientError, "overload", "503", id="503"),
        pytest.param(overloaded(), TransientError, "overload", "529: Overloaded", id="529"),
        pytest.param(html_page(502), TransientError, "outage", "502: an HTML page", id="502 in html"),
        pytest.param(Fault(408, "slow"), TransientError, "server error", "408", id="408"),
        pytest.param(Fault(409, "conflict"), TransientError, "server error", "409", id="409"),
        pytest.param(rate_limited(), TransientError, "rate limit", "429: Rate limit", id="429"),
        pytest.param(dropped(), TransientError, "outage", "closed the connection", id="dropped"),
        pytest.param(cut_json(), TransientError, "malformed reply", "cut or is no JSON", id="cut json"),
        pytest.param(html_page(), TransientError, "malformed reply", "an HTML page", id="200 html"),
        pytest.param(raw(b""), TransientError, "malformed reply", "answered with", id="200 empty"),
        pytest.param(raw(b"null"), TransientError, "malformed reply", "answered with", id="200 null"),
        pytest.param(raw(b'"text"'), TransientError, "malformed reply", "answered with", id="200 string"),
        pytest.param(raw(b"[]"), TransientError, "malformed reply", "answered with", id="200 list"),
        pytest.param(raw(b'{"choices":[null]}'), TransientError, "malformed reply", "answered with", id="null choice"),
        pytest.param(raw(b'{"choices":[{}]}'), TransientError, "malformed reply", "answered with", id="bare choice"),
        pytest.param(raw(b'{"choices":["a"]}'), TransientError, "malformed reply", "answered with", id="odd choice"),
        pytest.param(raw(b"\xff\xfe\xff"), TransientError, "malformed reply", "answered with", id="200 no text"),
        pytest.param(error_in_200(), TransientError, "malformed reply", "Upstream failed", id="200 error"),
        pytest.param(no_choices(), TransientError, "malformed reply", "without", id="no choices"),
        pytest.param(no_credit(), EndpointError, "no credit", "top it up", id="no quota"),
        pytest.param(Fault(402, "Pay."), EndpointError, "no credit", "402: Pay", id="402"),
        pytest.param(Fault(401, "No."), EndpointError, "key refused", "check the key in ", id="401"),
        pytest.param(Fault(403, "No."), EndpointError, "key refused", "403: No", id="403"),
        pytest.param(Fault(404, "No such model."), EndpointError, "unknown model", "check the model's name", id="404"),
        pytest.param(Fault(405, "No."), EndpointError, "wrong address", "check the base URL", id="405"),
        pytest.param(bad_request("Bad."), ChatError, "bad request", "400: Bad", id="400"),
        pytest.param(Fault(413, "Too big."), ChatError, "bad request", "413", id="413"),
        pytest.param(Fault(422, "Odd."), ChatError, "bad request", "422", id="422"),
        pytest.param(
            raw(b'{"detail": [{"loc": ["body"], "msg": "odd"}]}', status=422),
            ChatError,
            "bad request",
            "odd",
            id="list",
        ),
        pytest.param(raw(b'{"error": "Plain."}', status=400), ChatError, "bad request", "400: Plain", id="bare error"),
        pytest.param(raw(b"", status=400), ChatError, "bad request", "400", id="400 without a word"),
        pytest.param(
            bad_request("prompt is too long: 300000 tokens > 200000 maximum"),
            ChatError,
            "context too long",
            "too long for this model",
            id="prompt too long",
        ),
        pytest.param(
            bad_request("'max_tokens' is too large: 9. This model's maximum context length is 4 tokens."),
            ChatError,
            "context too long",
            "too long",
            id="limit over the context",
        ),
        pytest.param(
            bad_request("The response was filtered due to our content management policy."),
            ChatError,
            "content filter",
            "filtered",
            id="content filter",
        ),
    ],
)
def test_every_fault_has_its_error(fault: Fault, error: type[ChatError], kind: str, words: str, provider: str) -> None:
    with ProtocolServer(faults={0: fault}) as server:
        found = fail(server.url, provider)
        assert len(server.requests) == 1
    assert (type(found), found.kind) == (error, kind)
    assert words in str(found)
    if isinstance(found, TransientError):
        assert found.connected


@pytest.mark.parametrize("code", ["context_length_exceeded", "content_filter", "model_not_found"])
def test_a_code_decides_before_words(code: str) -> None:
    kinds = {"context_length_exceeded": "context too long", "content_filter": "content filter"}
    with ProtocolServer(faults={0: bad_request("Something.", code=code)}) as server:
        assert fail(server.url, "openai").kind == kinds.get(code, "unknown model")


@pytest.mark.usefixtures("transport")
def test_nobody_at_the_address_is_no_connection(provider: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        found = fail(f"http://127.0.0.1:{taken.getsockname()[1]}", provider)
    assert isinstance(found, TransientError)
    assert (found.kind, found.connected) == ("no connection", False)
    assert "cannot connect to http://127.0.0.1:" in str(found)
    assert "is the server running" in str(found)


@pytest.mark.usefixtures("transport")
def test_a_server_that_speaks_something_else_is_an_outage(provider: str) -> None:
    found = fail_against_bytes(b"SSH-2.0-OpenSSH_9.9\r\n", provider)
    assert isinstance(found, TransientError)
    assert (found.kind, found.connected) == ("outage", True)


@pytest.mark.usefixtures("transport")
def test_a_body_shorter_than_announced_is_an_outage(provider: str) -> None:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 999\r\n\r\n"
    found = fail_against_bytes(head + b'{"id": "x"', provider)
    assert isinstance(found, TransientError)
    assert (found.kind, found.connected) == ("outage", True)


@pytest.mark.usefixtures("transport")
def test_a_redirect_in_circles_is_the_endpoints_fault() -> None:
    with ProtocolServer(faults=lambda asked: Fault(308, headers={"location": asked.path})) as server:
        assert isinstance(fail(server.url, "openai"), ChatError)


def fail_against_bytes(answer: bytes, provider: str) -> ChatError:
    """Return the error of a call whose answer is these bytes and a closed connection."""
    import threading

    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            return fail(f"http://127.0.0.1:{listener.getsockname()[1]}", provider)
        finally:
            thread.join()


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        pytest.param({}, None, id="none"),
        pytest.param({"retry-after": "7"}, 7.0, id="seconds"),
        pytest.param({"retry-after": "0.5"}, 0.5, id="part of a second"),
        pytest.param({"retry-after": "7", "retry-after-ms": "250"}, 0.25, id="milliseconds first"),
        pytest.param({"retry-after": "300"}, 300.0, id="longer than the SDK would wait"),
        pytest.param({"retry-after": "-1"}, None, id="negative"),
        pytest.param({"retry-after": "nan"}, None, id="not a number"),
        pytest.param({"retry-after": "soon"}, None, id="a word"),
        pytest.param({"retry-after": formatdate(0, usegmt=True)}, 0.0, id="a date gone by"),
    ],
)
def test_the_servers_wish_is_read(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds
    fault = Fault(429, "Slow down.", headers=headers)
    with ProtocolServer(faults={0: fault}) as server:
        found = fail(server.url, "openai")
    assert isinstance(found, TransientError)
    assert found.retry_after == seconds


def test_a_date_to_come_is_so_many_seconds() -> None:
    import time

    wish = retry_after({"retry-after": formatdate(time.time() + 60, usegmt=True)})
    assert wish is not None
    assert 50 < wish <= 61


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("key my-own-key, please", "key [key], please", id="the key"),
        pytest.param("Incorrect: sk-ab***************xyz.", "Incorrect: [key]", id="the key with stars"),
        pytest.param("sk-proj-abcdefgh is wrong", "[key] is wrong", id="another key"),
        pytest.param("two\nlines\x1b[31m", "two lines [31m", id="control characters"),
        pytest.param("x" * 400, "x" * 299 + "…", id="too long"),
    ],
)
def test_a_servers_words_are_made_fit_to_print(text: str, said: str) -> None:
    assert redacted(text, ["my-own-key"]) == said


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500])
def test_an_echoed_key_is_never_repeated(status: int, provider: str) -> None:
    def echo(asked: Any) -> Fault:
        return Fault(status, f"You sent {asked.headers.get('authorization')} {asked.key}")

    with ProtocolServer(faults=echo) as server:
        assert "You sent Bearer [key] [key]" in str(fail(server.url, provider))
